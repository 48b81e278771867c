"""AscTec Pelican of University College London, as identified for QRSim."""

from pathlib import Path

from kittiwake.physics.attitude_response import AttitudeResponse
from kittiwake.vehicles.model import VehicleModel

PELICAN = VehicleModel(
    dynamics=AttitudeResponse,
    data=Path(__file__).with_name("data") / "pelican.toml",
    bridges=("acceleration", "stick-inversion"),
    default_controller="qrsim-waypoint",
)
