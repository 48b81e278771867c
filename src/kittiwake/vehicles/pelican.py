"""The AscTec Pelican of University College London, as QRSim identified it."""

from pathlib import Path

from kittiwake.control.acceleration import Acceleration
from kittiwake.control.stick_inversion import StickInversion
from kittiwake.core.component import AbstractController, AbstractDynamics
from kittiwake.geometry.scalar import Real
from kittiwake.physics.attitude_response import AttitudeResponse
from kittiwake.vehicles.model import VehicleModel


def _bridges(dynamics: AbstractDynamics, gravity_mps2: Real) -> tuple[AbstractController, ...]:
    assert isinstance(dynamics, AttitudeResponse)
    return (
        Acceleration(dynamics.mass_kg, sum(dynamics.thrust_polynomial_n), gravity_mps2),
        StickInversion(
            attitude_gain=dynamics.attitude_gain,
            yaw_rate_gain=dynamics.yaw_rate_gain_per_s / dynamics.yaw_rate_damping_per_s,
            thrust_polynomial_n=dynamics.thrust_polynomial_n,
        ),
    )


PELICAN = VehicleModel(
    dynamics=AttitudeResponse,
    data=Path(__file__).with_name("data") / "pelican.toml",
    bridges=_bridges,
    default_controller="qrsim-waypoint",
)
