"""The drone of the Matlab simulator for ultrasonic sensors, flown by the generic controllers."""

from pathlib import Path

from kittiwake.control.acceleration import Acceleration
from kittiwake.core.component import AbstractController, AbstractDynamics
from kittiwake.geometry.scalar import Real
from kittiwake.physics.angle_velocity import AngleVelocity
from kittiwake.vehicles.model import VehicleModel


def _bridges(dynamics: AbstractDynamics, gravity_mps2: Real) -> tuple[AbstractController, ...]:
    assert isinstance(dynamics, AngleVelocity)
    return (
        Acceleration(
            mass_kg=dynamics.mass_kg,
            max_thrust_n=dynamics.max_thrust_n,
            gravity_mps2=gravity_mps2,
        ),
    )


ANGLE_VELOCITY = VehicleModel(
    dynamics=AngleVelocity,
    data=Path(__file__).with_name("data") / "angle-velocity.toml",
    bridges=_bridges,
    default_controller="position",
)
