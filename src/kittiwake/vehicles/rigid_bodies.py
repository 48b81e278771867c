"""Vehicles that are rigid bodies, with rotors or with commanded thrust and torque."""

from pathlib import Path

from kittiwake.physics.multirotor import Multirotor
from kittiwake.physics.wrench_body import WrenchBody
from kittiwake.vehicles.model import VehicleModel

DATA = Path(__file__).with_name("data")


def multirotor(data: Path) -> VehicleModel:
    """Return the vehicle model of a body with rotors of a data file."""
    return VehicleModel(Multirotor, data, ("acceleration", "attitude", "mixer"), "position")


def wrench_body(data: Path) -> VehicleModel:
    """Return the vehicle model of a body with commanded thrust and torque of a data file."""
    return VehicleModel(WrenchBody, data, ("acceleration", "attitude", "rates"), "position")


AR_DRONE = multirotor(DATA / "ar-drone.toml")
CRAZYFLIE = multirotor(DATA / "crazyflie.toml")
HUMMINGBIRD = multirotor(DATA / "hummingbird.toml")
LEE_2010 = wrench_body(DATA / "lee-2010.toml")
OS4 = multirotor(DATA / "os4.toml")
UAV_GAZEBO = wrench_body(DATA / "uav-gazebo.toml")
RIGID_BODY = wrench_body(DATA / "rigid-body.toml")
