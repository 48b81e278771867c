"""Flights in somebody's hands, flown block by block without waiting for any clock."""

from pathlib import Path

import pytest
from tests.unit.runtime.hands import Hands

from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.load import load_scenario


@pytest.fixture(scope="session")
def in_hands():
    """Makes live flights, of library scenarios by name or of written ones."""
    made = []

    def make(scenario, *overrides):
        if "\n" in scenario:
            found = build(parse_document(scenario, "live.yaml"), Path())
        else:
            found = load_scenario(scenario, overrides)
        made.append(Hands(found))
        return made[-1]

    yield make
    for hands in made:
        hands.executor.__exit__()
