"""Change of controller gains in a built scenario, also during its flight."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kittiwake.control import CONTROLLERS
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.build import build
from kittiwake.scenario.cascade_builder import written_controllers
from kittiwake.scenario.definition import as_plain
from kittiwake.scenario.merging import merged
from kittiwake.scenario.scenario import Scenario


def with_gains(
    scenario: Scenario, vehicle: str, controller: str, gains: Mapping[str, Any]
) -> Scenario:
    """Return the scenario with these gains, also in its document.

    The order of controllers in the cascade is kept, so that their states still fit.

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
    key = ("vehicles", vehicle, "controller")
    try:
        words = f"--set {'.'.join(key)}"
        document = scenario.document.with_value(key, as_plain(controllers), words)
        changed = build(document, scenario.folder)
    except ScenarioError as error:
        message = f"gains of '{controller}' for '{vehicle}': {_without_place(str(error))}"
        raise ScenarioError(message) from None
    controller_type = CONTROLLERS.find(controller)
    pattern = _entry_vehicle_pattern(vehicle, entries[vehicle])
    vehicles = {
        name: replace(
            after, cascade=_kept_in_order(name, scenario.vehicles[name], after, controller_type)
        )
        if pattern.fullmatch(name)
        else scenario.vehicles[name]
        for name, after in changed.vehicles.items()
    }
    return changed.with_parts(vehicles=vehicles, added=scenario.added)


def _entry_vehicle_pattern(vehicle: str, entry: Mapping[str, Any]) -> re.Pattern[str]:
    """Return a pattern of the names of an entry's vehicles: its own name, or numbered."""
    numbered = r"-\d+" if entry.get("count") is not None else ""
    return re.compile(re.escape(vehicle) + numbered)


def _without_place(message: str) -> str:
    """Return a message without the override that it names."""
    return "\n".join(
        re.sub(r"^--set .*?controller\.\d+\.?", "", line) for line in message.splitlines()
    )


def _with_gains(entry: Mapping[str, Any], controller: str, gains: Mapping[str, Any]) -> list[Any]:
    """Return the controllers as scenario entries, including one of the vehicle model."""
    listed = [{"type": one} if isinstance(one, str) else one for one in written_controllers(entry)]
    if not any(_is_of_type(one, controller) for one in listed):
        listed.append({"type": controller})
    return [merged(one, gains) if _is_of_type(one, controller) else one for one in listed]


def _is_of_type(entry: Any, controller: str) -> bool:
    return isinstance(entry, dict) and entry.get("type") == controller


def _kept_in_order(
    name: str, before: AssembledVehicle, after: AssembledVehicle, controller_type: type
) -> tuple[Any, ...]:
    """Return the original cascade with the first controller of this type replaced."""
    controller_types = [type(level.component) for level in before.cascade]
    if controller_type not in controller_types:
        has = ", ".join(
            CONTROLLERS.registered_name(one) or one.__name__ for one in controller_types
        )
        missing = CONTROLLERS.name_of(controller_type)
        message = f"'{name}' has no controller {missing}. Its controllers: {has}"
        raise ScenarioError(message)
    changed = next(level for level in after.cascade if type(level.component) is controller_type)
    place = controller_types.index(controller_type)
    return (*before.cascade[:place], changed, *before.cascade[place + 1 :])
