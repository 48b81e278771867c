"""Drone of a Matlab simulator for ultrasonic sensors, flown by the generic controllers."""

from pathlib import Path

from kittiwake.physics.angle_velocity import AngleVelocity
from kittiwake.vehicles.model import VehicleModel

ANGLE_VELOCITY = VehicleModel(
    dynamics=AngleVelocity,
    data=Path(__file__).with_name("data") / "angle-velocity.toml",
    bridges=("acceleration",),
    default_controller="position",
)
