"""Vehicle models: dynamics with parameters from a data file, one per vehicle."""

from kittiwake.core.registry import Registry, RegistryEntry

VEHICLES = Registry(
    "vehicles",
    "vehicle",
    {
        "ar-drone": RegistryEntry(
            "kittiwake.vehicles.rigid_bodies:AR_DRONE", "Parrot AR.Drone 2.0 with four rotors"
        ),
        "crazyflie": RegistryEntry(
            "kittiwake.vehicles.rigid_bodies:CRAZYFLIE",
            "Bitcraze Crazyflie 2: 27 g, four rotors with drag",
        ),
        "hummingbird": RegistryEntry(
            "kittiwake.vehicles.rigid_bodies:HUMMINGBIRD",
            "AscTec Hummingbird: 500 g, four rotors with drag, inflow and translational lift",
        ),
        "os4": RegistryEntry(
            "kittiwake.vehicles.rigid_bodies:OS4", "OS4 with rotors after blade-element theory"
        ),
        "uav-gazebo": RegistryEntry(
            "kittiwake.vehicles.rigid_bodies:UAV_GAZEBO",
            "the body of uav_gazebo: thrust and torque as commanded",
        ),
        "lee-2010": RegistryEntry(
            "kittiwake.vehicles.rigid_bodies:LEE_2010",
            "quadrotor of Lee, Leok and McClamroch (2010): thrust and torque as commanded",
        ),
        "rigid-body": RegistryEntry(
            "kittiwake.vehicles.rigid_bodies:RIGID_BODY",
            "a body of your own: mass, inertia and drag in the scenario",
        ),
        "pelican": RegistryEntry(
            "kittiwake.vehicles.pelican:PELICAN",
            "AscTec Pelican as identified for QRSim: attitude response, throttle, battery ceiling",
        ),
        "angle-velocity": RegistryEntry(
            "kittiwake.vehicles.angle_velocity:ANGLE_VELOCITY",
            "drone of a Matlab simulator for ultrasonic sensors: lagging angles, linear drag",
        ),
        "strider": RegistryEntry(
            "kittiwake.vehicles.strider:STRIDER",
            "Strider V1.0 of the UAV-USV simulator: small catamaran with rudder and propeller",
        ),
        "otter": RegistryEntry(
            "kittiwake.vehicles.otter:OTTER",
            "Maritime Robotics Otter: catamaran of 2 m with two propellers, in six motions",
        ),
    },
)
