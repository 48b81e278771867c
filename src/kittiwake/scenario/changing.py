"""A scenario with other values, for a flight of it that goes on."""

from collections.abc import Iterable

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.build import build
from kittiwake.scenario.document import Override, apply_overrides
from kittiwake.scenario.scenario import Scenario


def with_changes(scenario: Scenario, items: Iterable[str | Override]) -> Scenario:
    """The scenario with values replaced, each as ``path.to.key=value``.

    Raises:
        ScenarioError: for a value that is not allowed, and for one that a flight cannot change on
            the way: its vehicles and its rate.
    """
    other = build(apply_overrides(scenario.document, items), scenario.folder)
    if [*other.vehicles] != [*scenario.vehicles]:
        message = "vehicles cannot come or go in flight; change the scenario and begin anew"
        raise ScenarioError(message)
    if other.rate_hz != scenario.rate_hz:
        message = "time.rate_hz cannot be changed in flight; begin anew with it"
        raise ScenarioError(message)
    return other
