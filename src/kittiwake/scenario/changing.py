"""Changes of a scenario's values, before and during its flight."""

from collections.abc import Iterable

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.build import build
from kittiwake.scenario.document import Document, Override, apply_overrides
from kittiwake.scenario.scenario import Scenario


def rebuilt(scenario: Scenario, document: Document) -> Scenario:
    """Return the scenario of another document, with the same vehicles added and values drawn.

    Raises:
        ScenarioError: for a value that is not allowed.
    """
    built = build(document, scenario.folder)
    return built.with_parts(added=scenario.added, draws=scenario.draws)


def with_changes(scenario: Scenario, items: Iterable[str | Override]) -> Scenario:
    """Return the scenario with values replaced, each given as ``path.to.key=value``.

    Raises:
        ScenarioError: for a value that is not allowed, and for values that cannot change during a
            flight: its vehicles and its rate.
    """
    other = rebuilt(scenario, apply_overrides(scenario.document, items))
    if [*other.vehicles] != [*scenario.vehicles]:
        message = "vehicles cannot be added or removed in flight; change the scenario and restart"
        raise ScenarioError(message)
    if other.rate_hz != scenario.rate_hz:
        message = "time.rate_hz cannot be changed in flight; restart with the new rate"
        raise ScenarioError(message)
    return other
