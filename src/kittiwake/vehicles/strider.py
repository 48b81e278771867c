"""The Strider V1.0, a small catamaran with a rudder."""

from pathlib import Path

from kittiwake.control.vessel_heading_speed import VesselHeadingSpeed
from kittiwake.core.component import AbstractController, AbstractDynamics
from kittiwake.geometry.scalar import Real
from kittiwake.physics.surface_vessel import SurfaceVessel
from kittiwake.vehicles.model import VehicleModel


def _bridges(dynamics: AbstractDynamics, gravity_mps2: Real) -> tuple[AbstractController, ...]:
    del gravity_mps2
    assert isinstance(dynamics, SurfaceVessel)
    return (
        VesselHeadingSpeed(
            max_rudder_rad=dynamics.rudder.max_angle_rad, max_thrust_n=dynamics.max_thrust_n
        ),
    )


STRIDER = VehicleModel(
    dynamics=SurfaceVessel,
    data=Path(__file__).with_name("data") / "strider.toml",
    bridges=_bridges,
    default_controller="vessel-position",
)
