"""Strider V1.0, a small catamaran with a rudder."""

from pathlib import Path

from kittiwake.physics.surface_vessel import SurfaceVessel
from kittiwake.vehicles.model import VehicleModel

STRIDER = VehicleModel(
    dynamics=SurfaceVessel,
    data=Path(__file__).with_name("data") / "strider.toml",
    bridges=("vessel-heading-speed",),
    default_controller="vessel-position",
)
