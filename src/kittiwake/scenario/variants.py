"""Variants of a scenario: other controllers, or noise on their state estimates."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from kittiwake.control import CONTROLLERS
from kittiwake.core.errors import CascadeError, KittiwakeError, ScenarioError
from kittiwake.core.units import stored_name
from kittiwake.estimation import ESTIMATORS
from kittiwake.interfaces.cascade import ControllerOrType, cascade_path
from kittiwake.interfaces.controller import AbstractController
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.parameters import build_component
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.vehicle_builder import written_controllers
from kittiwake.vehicles import VEHICLES

# separator of controllers that are flown together
AND = "+"
NOISY = "noisy-truth"


def variants(
    scenario: str,
    controllers: Sequence[str],
    overrides: Sequence[str] = (),
    noise: Sequence[str] | None = None,
) -> dict[str, Scenario]:
    """Return the scenario with each of these controllers, by name, with noise if given.

    Raises:
        ScenarioError: if one of them cannot fly a vehicle, or if the noise is invalid.
    """
    items = list(overrides)
    if noise is not None:
        items += noise_items(load_scenario(scenario, overrides, logged=True), noise)
    return {name: with_controllers(scenario, name, items) for name in controllers}


def noise_items(scenario: Scenario, noise: Iterable[str]) -> list[str]:
    """Return overrides that give each vehicle the true state plus noise of these deviations.

    Raises:
        ScenarioError: for an item that is not ``KEY=VALUE``, is given twice, or is invalid.
    """
    given: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for item in noise:
        key, equals, value = item.partition("=")
        if not equals:
            message = f"--noise {item}: write KEY=VALUE, such as position_m=0.05"
            raise ScenarioError(message)
        if stored_name(key) in map(stored_name, given):
            message = f"--noise {item}: {stored_name(key)} is given twice; give it once"
            raise ScenarioError(message)
        given[key], origins[key] = _number(value), item
    build_component(
        ESTIMATORS.find(NOISY),
        given,
        lambda path: f"--noise {origins.get(str(path[0]), '') if path else ''}".rstrip(),
    )
    estimator = json.dumps({"type": NOISY, **given})
    return [f"vehicles.{name}.estimator={estimator}" for name in _entries(scenario)]


def _entries(scenario: Scenario) -> dict[str, Any]:
    return scenario.document.data["vehicles"]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # refused later, with its key


def with_controllers(scenario: str, controllers: str, items: Sequence[str]) -> Scenario:
    """Return a scenario with these controllers, joined by ``+``, before those of its vehicles.

    If they form no cascade with the scenario's own controllers, the vehicles' default controllers
    are added.

    Raises:
        ScenarioError: if a vehicle cannot be flown by them.
    """
    _refuse_gains(controllers)
    names = controllers.split(AND)
    entries = _entries(load_scenario(scenario, items, logged=True))
    for name in names:
        CONTROLLERS.find(name)
    refusal: KittiwakeError | None = None
    for with_default in (False, True):
        chosen = [
            f"vehicles.{vehicle}.controller="
            f"{json.dumps(_cascade(entry, names, with_default=with_default))}"
            for vehicle, entry in entries.items()
        ]
        try:
            variant = load_scenario(scenario, [*items, *chosen], logged=True)
            _refuse_idle(variant, names)
        except KittiwakeError as error:
            refusal = refusal or error
        else:
            return variant
    message = f"{controllers}: {refusal}"
    raise ScenarioError(message) from None


def _cascade(entry: dict[str, Any], names: Sequence[str], *, with_default: bool) -> list[Any]:
    default = VEHICLES.find(entry["model"]).default_controller
    # the scenario's own gains, if it names the controller as well
    own = {one["type"] if isinstance(one, dict) else one: one for one in written_controllers(entry)}
    first = [*names, default] if with_default else list(names)
    return [*(own.pop(name, name) for name in dict.fromkeys(first)), *own.values()]


def _refuse_gains(controllers: str) -> None:
    if set(controllers) & set("{}:="):
        message = (
            f"{controllers}: controllers are compared by their names, such as position or "
            f"position{AND}indi; gains cannot be given here. The gains of the scenario's "
            "'controller' are kept"
        )
        raise ScenarioError(message)


def _refuse_idle(scenario: Scenario, names: Sequence[str]) -> None:
    """Refuse controllers that are outside the control cascade of a vehicle."""
    for name, vehicle in scenario.vehicles.items():
        command_types = vehicle.guidance.component.command_types()
        native = vehicle.dynamics.command_type
        command_type, *_ = command_types
        levels = [level.component for level in vehicle.cascade]
        path = [i for start in command_types for i in cascade_path(levels, start, native)]
        used = [CONTROLLERS.name_of(type(levels[i])) for i in dict.fromkeys(path)]
        idle = [wanted for wanted in names if wanted not in used]
        if idle:
            unused = CONTROLLERS.find(idle[0])
            message = (
                f"{name} does not use {idle[0]}, which leads from "
                f"{unused.consumes.__name__} to {unused.produces.__name__}, in its cascade from "
                f"{command_type.__name__} to {native.__name__}: {' > '.join(used)}. "
                f"{_advice(names, unused, levels, command_type, native)}"
            )
            raise ScenarioError(message)


def _advice(
    names: Sequence[str],
    idle: type[AbstractController],
    levels: Sequence[AbstractController],
    command_type: type,
    native: type,
) -> str:
    """Return the reason why a cascade lacks a controller, and the controllers to add."""
    for start, end in ((command_type, idle.consumes), (idle.produces, native)):
        if _path(levels, start, end) is None:
            from_to = f"from {start.__name__} to {end.__name__}"
            known = [CONTROLLERS.find(name) for name in CONTROLLERS.names()]
            path = _path([*levels, *known], start, end)
            if path is None:
                return f"There is no controller that leads {from_to}: write another"
            missing = [
                CONTROLLERS.name_of(controller_type)
                for controller_type in path
                if controller_type in known
            ]
            together = AND.join([*missing, *names])
            return f"A controller is missing that leads {from_to}: write {together}"
    return f"The others have precedence: compare them with ',' instead of '{AND}'"


def _path(
    levels: Sequence[ControllerOrType], start: type, end: type
) -> list[ControllerOrType] | None:
    try:
        return [levels[i] for i in cascade_path(levels, start, end)]
    except CascadeError:
        return None
