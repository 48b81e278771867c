"""Physics of vehicles: equations of motion, integrators and contact."""

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace

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
            "first-order lags of the angles, velocity with linear drag (Matlab simulator)",
        ),
        "multirotor": RegistryEntry(
            "kittiwake.physics.multirotor:Multirotor",
            "rigid body with rotors, with lags, and other forces",
        ),
        "wrench-body": RegistryEntry(
            "kittiwake.physics.wrench_body:WrenchBody",
            "rigid body with thrust and torque as commanded (uav_gazebo)",
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
            "compliant feet of each vehicle: fast, in batches, differentiable",
        ),
        "mujoco": RegistryEntry(
            "kittiwake.physics.mujoco_engine:Mujoco",
            "rigid-body contact of all vehicles and obstacles, by MuJoCo",
        ),
    },
)

__getattr__, __dir__ = namespace(__name__, PHYSICS)
