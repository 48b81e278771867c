"""Other gains for a vehicle that is built already, possibly flying."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kittiwake.control import CONTROLLERS
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.vehicle import Vehicle
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, written
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.vehicle_builder import merged, written_controllers


def tuned(scenario: Scenario, vehicle: str, controller: str, gains: Mapping[str, Any]) -> Scenario:
    """The scenario with these gains, also in what it writes of itself.

    The vehicles' ladders keep their order, so that a state of theirs still fits.

    Raises:
        ScenarioError: if there is no such vehicle, controller or gain.
    """
    entries: dict[str, Any] = scenario.document.data["vehicles"]
    if vehicle not in entries:
        message = f"the scenario has no vehicle '{vehicle}'. {did_you_mean(vehicle, list(entries))}"
        raise ScenarioError(message)
    controllers = _with_gains(entries[vehicle], controller, gains)
    item = f"vehicles.{vehicle}.controller={written(controllers)}"
    changed = build(apply_overrides(scenario.document, [item]), scenario.folder)
    kind = CONTROLLERS.find(controller)
    vehicles = {
        name: replace(after, ladder=_kept_in_order(name, scenario.vehicles[name], after, kind))
        if name == vehicle or name.startswith(f"{vehicle}-")
        else scenario.vehicles[name]
        for name, after in changed.vehicles.items()
    }
    return replace(changed, vehicles=vehicles)


def _with_gains(entry: Mapping[str, Any], controller: str, gains: Mapping[str, Any]) -> list[Any]:
    """The controllers as a scenario names them; one that the vehicle brings is named as well."""
    listed = [one if isinstance(one, dict) else {"type": one} for one in written_controllers(entry)]
    if not any(one["type"] == controller for one in listed):
        listed.append({"type": controller})
    return [merged(one, gains) if one["type"] == controller else one for one in listed]


def _kept_in_order(name: str, before: Vehicle, after: Vehicle, kind: type) -> tuple[Any, ...]:
    """The ladder as it was, with the changed controller in its place."""
    if not any(type(rung.component) is kind for rung in before.ladder):
        has = ", ".join(CONTROLLERS.name_of(type(rung.component)) for rung in before.ladder)
        message = f"'{name}' is not flown by {CONTROLLERS.name_of(kind)}. Its controllers: {has}"
        raise ScenarioError(message)
    changed = next(rung for rung in after.ladder if type(rung.component) is kind)
    return tuple(changed if type(rung.component) is kind else rung for rung in before.ladder)
