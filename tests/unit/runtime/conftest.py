"""Fixture of live flights that are flown block by block without waiting for the clock."""

from pathlib import Path

import pytest
from tests.unit.runtime.stepped_flight import SteppedFlight

from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.load import load_scenario


@pytest.fixture(scope="session")
def make_flight():
    """Return a function that creates live flights, by scenario name or text."""
    made = []

    def make(scenario, *overrides):
        if "\n" in scenario:
            found = build(parse_document(scenario, "live.yaml"), Path())
        else:
            found = load_scenario(scenario, overrides)
        made.append(SteppedFlight(found))
        return made[-1]

    yield make
    for flight in made:
        flight.executor.__exit__()
