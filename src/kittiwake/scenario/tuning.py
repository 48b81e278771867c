"""Other gains for a vehicle that is built already, possibly flying."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kittiwake.control import CONTROLLERS
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, written
from kittiwake.scenario.merging import merged
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.vehicle_builder import written_controllers


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
    if not gains:
        message = f"no gain of '{controller}' is given; write its name and value, such as damping=1"
        raise ScenarioError(message)
    controllers = _with_gains(entries[vehicle], controller, gains)
    item = f"vehicles.{vehicle}.controller={written(controllers)}"
    try:
        changed = build(apply_overrides(scenario.document, [item]), scenario.folder)
    except ScenarioError as error:
        message = f"gains of '{controller}' for '{vehicle}': {_without_place(str(error))}"
        raise ScenarioError(message) from None
    kind = CONTROLLERS.find(controller)
    members = _members(vehicle, entries[vehicle])
    vehicles = {
        name: replace(after, cascade=_kept_in_order(name, scenario.vehicles[name], after, kind))
        if members.fullmatch(name)
        else scenario.vehicles[name]
        for name, after in changed.vehicles.items()
    }
    return replace(changed, vehicles=vehicles)


def _members(vehicle: str, entry: Mapping[str, Any]) -> re.Pattern[str]:
    """The names of an entry's vehicles: its own, or with numbers."""
    numbered = r"-\d+" if entry.get("count") is not None else ""
    return re.compile(re.escape(vehicle) + numbered)


def _without_place(said: str) -> str:
    """What is wrong, without the override by which it was tried."""
    return "\n".join(
        re.sub(r"^--set .*?controller\.\d+\.?", "", line) for line in said.splitlines()
    )


def _with_gains(entry: Mapping[str, Any], controller: str, gains: Mapping[str, Any]) -> list[Any]:
    """The controllers as a scenario names them; one that the vehicle brings is named as well."""
    listed = [one if isinstance(one, dict) else {"type": one} for one in written_controllers(entry)]
    if not any(one["type"] == controller for one in listed):
        listed.append({"type": controller})
    return [merged(one, gains) if one["type"] == controller else one for one in listed]


def _kept_in_order(name: str, before: Vehicle, after: Vehicle, kind: type) -> tuple[Any, ...]:
    """The ladder as it was, with the changed controller in the place of the first of its kind."""
    kinds = [type(level.component) for level in before.cascade]
    if kind not in kinds:
        has = ", ".join(map(CONTROLLERS.name_of, kinds))
        message = f"'{name}' is not flown by {CONTROLLERS.name_of(kind)}. Its controllers: {has}"
        raise ScenarioError(message)
    changed = next(level for level in after.cascade if type(level.component) is kind)
    place = kinds.index(kind)
    return (*before.cascade[:place], changed, *before.cascade[place + 1 :])
