"""Assemblies of parts with their parameters; one data file or one assembly a vehicle."""

from kittiwake.core.registry import Entry, Registry

VEHICLES = Registry(
    "vehicles",
    "vehicle",
    {
        "pelican": Entry(
            "kittiwake.vehicles.pelican:PELICAN",
            "AscTec Pelican as identified for QRSim: attitude response, throttle, battery ceiling",
        ),
    },
)
