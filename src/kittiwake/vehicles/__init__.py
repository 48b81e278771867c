"""Vehicle models: dynamics with parameters from a data file, one per vehicle."""

from typing import Any

from typing_extensions import override

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace


class VehicleRegistry(Registry):
    """Registry whose own entries are data files in ``kittiwake/vehicles/data``."""

    @override
    def python_name(self, name: str) -> str:
        return name.replace("-", "_")

    @override
    def parameters_of(self, name: str) -> Any:
        return self.find(name).dynamics

    @override
    def unknown(self, name: str) -> str:
        if not name.endswith(".toml"):
            return super().unknown(name)
        return (
            f"'{name}' is a file; write the name of a model with the same dynamics, such as "
            "hummingbird, and the file's parameters at `parameters`; in Python "
            "dynamics=kw.vehicles.hummingbird(**tomllib.load(file)['parameters'])"
        )

    @override
    def find(self, name: str) -> Any:
        entry = self.entries.get(name)
        if entry is None or not entry.target.endswith(".toml"):
            return super().find(name)
        from kittiwake.vehicles.model import library_model

        return library_model(entry.target)


VEHICLES = VehicleRegistry(
    "vehicles",
    "vehicle",
    {
        "ar-drone": RegistryEntry("ar-drone.toml", "Parrot AR.Drone 2.0 with four rotors"),
        "crazyflie": RegistryEntry(
            "crazyflie.toml", "Bitcraze Crazyflie 2: 27 g, four rotors with drag"
        ),
        "hummingbird": RegistryEntry(
            "hummingbird.toml",
            "AscTec Hummingbird: 500 g, four rotors with drag, inflow and translational lift",
        ),
        "os4": RegistryEntry("os4.toml", "OS4 with rotors after blade-element theory"),
        "uav-gazebo": RegistryEntry(
            "uav-gazebo.toml", "the body of uav_gazebo: thrust and torque as commanded"
        ),
        "lee-2010": RegistryEntry(
            "lee-2010.toml",
            "quadrotor of Lee, Leok and McClamroch (2010): thrust and torque as commanded",
        ),
        "rigid-body": RegistryEntry(
            "rigid-body.toml", "a body of your own: mass, inertia and drag in the scenario"
        ),
        "pelican": RegistryEntry(
            "pelican.toml",
            "AscTec Pelican as identified for QRSim: attitude response, throttle, battery ceiling",
        ),
        "angle-velocity": RegistryEntry(
            "angle-velocity.toml",
            "drone of a Matlab simulator for ultrasonic sensors: lagging angles, linear drag",
        ),
        "strider": RegistryEntry(
            "strider.toml",
            "Strider V1.0 of the UAV-USV simulator: small catamaran with rudder and propeller",
        ),
        "otter": RegistryEntry(
            "otter.toml",
            "Maritime Robotics Otter: catamaran of 2 m with two propellers, in six motions",
        ),
    },
    entry_keys=("urdf",),
)

__getattr__, __dir__ = namespace(__name__, VEHICLES)
