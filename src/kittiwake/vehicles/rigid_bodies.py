"""Vehicles that are rigid bodies: with four rotors, or with thrust and torque as asked for."""

from pathlib import Path

from kittiwake.physics.multirotor import Multirotor
from kittiwake.physics.wrench_body import WrenchBody
from kittiwake.vehicles.model import VehicleModel

DATA = Path(__file__).with_name("data")


def multirotor(data: Path) -> VehicleModel:
    """The four-rotor vehicle that a data file describes."""
    return VehicleModel(Multirotor, data, ("acceleration", "attitude", "mixer"), "position")


def wrench_body(data: Path) -> VehicleModel:
    """The body that a data file describes."""
    return VehicleModel(WrenchBody, data, ("acceleration", "attitude", "rates"), "position")


AR_DRONE = multirotor(DATA / "ar-drone.toml")
CRAZYFLIE = multirotor(DATA / "crazyflie.toml")
HUMMINGBIRD = multirotor(DATA / "hummingbird.toml")
LEE_2010 = wrench_body(DATA / "lee-2010.toml")
OS4 = multirotor(DATA / "os4.toml")
UAV_GAZEBO = wrench_body(DATA / "uav-gazebo.toml")
RIGID_BODY = wrench_body(DATA / "rigid-body.toml")
