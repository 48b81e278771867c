"""Six-rotor vehicle that only the tests register."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kittiwake.core.registry import RegistryEntry
from kittiwake.vehicles import VEHICLES
from kittiwake.vehicles.model import VehicleModel

ROTORS = 6
HEXACOPTER = VehicleModel(Path(__file__).with_suffix(".toml"))


@contextmanager
def registered() -> Iterator[None]:
    """Make ``model: hexacopter`` known."""
    with pytest.MonkeyPatch.context() as patch:
        entry = RegistryEntry("tests.hexacopter:HEXACOPTER", "six rotors")
        patch.setitem(VEHICLES.entries, "hexacopter", entry)
        yield
