"""How vehicles move: equations of motion, the integrators that solve them, and contact."""

from kittiwake.core.registry import Registry, RegistryEntry

DYNAMICS = Registry(
    "dynamics",
    "kind of dynamics",
    {
        "attitude-response": RegistryEntry(
            "kittiwake.physics.attitude_response:AttitudeResponse",
            "identified response of a quadrotor with its autopilot (QRSim)",
        ),
        "angle-velocity": RegistryEntry(
            "kittiwake.physics.angle_velocity:AngleVelocity",
            "angles that lag behind their commands, velocity by linear drag (Matlab simulator)",
        ),
        "multirotor": RegistryEntry(
            "kittiwake.physics.multirotor:Multirotor",
            "rigid body with four lagging rotors and other forces",
        ),
        "wrench-body": RegistryEntry(
            "kittiwake.physics.wrench_body:WrenchBody",
            "rigid body that takes thrust and torque as asked for (uav_gazebo)",
        ),
        "surface-vessel": RegistryEntry(
            "kittiwake.physics.surface_vessel:SurfaceVessel",
            "surge, sway and yaw of a vessel with rudder and propeller (Fossen)",
        ),
        "marine-vessel": RegistryEntry(
            "kittiwake.physics.marine_vessel:MarineVessel",
            "all six motions of a vessel with two propellers, in waves too (Fossen)",
        ),
    },
)

PHYSICS = Registry(
    "physics",
    "kind of physics",
    {
        "compliant": RegistryEntry(
            "kittiwake.physics.compliant:Compliant",
            "feet that yield, each vehicle by itself: fast, in batches, differentiable",
        ),
        "mujoco": RegistryEntry(
            "kittiwake.physics.mujoco_engine:Mujoco",
            "rigid bodies that touch and push each other, by MuJoCo",
        ),
    },
)
