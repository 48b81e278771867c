"""Scenario as a playground: it neither ends after its duration nor when a vehicle is lost."""

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.changing import rebuilt
from kittiwake.scenario.scenario import Scenario

LOST_KEY, DURATION_KEY = ("lost_vehicle",), ("time", "duration_s")
WORDS = "the playground of 'kittiwake view'"
# durations from the longest one; the first whose log fits into memory is flown
DURATIONS_S = (86_400.0, 21_600.0, 7_200.0, 1_800.0, 600.0)


def as_playground(scenario: Scenario, *, endless: bool = True) -> Scenario:
    """Return a scenario that goes on after its duration, and when a vehicle is lost.

    A file that says what a lost vehicle does is followed.

    Args:
        scenario: the scenario as written.
        endless: whether its duration is replaced by the longest one that is possible.
    """
    document = scenario.document
    if LOST_KEY[0] not in document.data:
        document = document.with_value(LOST_KEY, "continue", WORDS)
    duration_s = _longest_s(scenario) if endless else None
    if duration_s is not None:
        document = document.with_value(DURATION_KEY, duration_s, WORDS)
    return scenario if document is scenario.document else rebuilt(scenario, document)


def _longest_s(scenario: Scenario) -> float | None:
    """Return the longest duration that is possible; None if that is the scenario's."""
    for duration_s in DURATIONS_S:
        try:
            scenario.check_flight(duration_s)
        except ScenarioError:
            continue
        return duration_s if duration_s > scenario.duration_s else None
    return None
