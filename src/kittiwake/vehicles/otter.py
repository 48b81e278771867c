"""Maritime Robotics Otter, a catamaran with two propellers."""

from pathlib import Path

from kittiwake.physics.marine_vessel import MarineVessel
from kittiwake.vehicles.model import VehicleModel

OTTER = VehicleModel(
    dynamics=MarineVessel,
    data=Path(__file__).with_name("data") / "otter.toml",
    bridges=("vessel-propellers",),
    default_controller="vessel-position",
)
