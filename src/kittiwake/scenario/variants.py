"""A scenario with other controllers, or with noise on what they are told."""

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

# between controllers that are to be flown together
AND = "+"
NOISY = "noisy-truth"


def variants(
    scenario: str,
    controllers: Sequence[str],
    overrides: Sequence[str] = (),
    noise: Sequence[str] | None = None,
) -> dict[str, Scenario]:
    """The scenario with each of these controllers, by their names, and with noise if there is any.

    Raises:
        ScenarioError: if a vehicle cannot be flown by one of them, or for noise that is none.
    """
    items = list(overrides)
    if noise is not None:
        items += noise_items(load_scenario(scenario, overrides, logged=True), noise)
    return {name: with_controllers(scenario, name, items) for name in controllers}


def noise_items(scenario: Scenario, noise: Iterable[str]) -> list[str]:
    """Overrides that tell every vehicle the truth with noise of these deviations.

    Raises:
        ScenarioError: for one that is not written ``KEY=VALUE``, is given twice, or cannot be.
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
        return text  # which is refused with its key


def with_controllers(scenario: str, controllers: str, items: Sequence[str]) -> Scenario:
    """A scenario with these controllers, joined by ``+``, before what its vehicles have.

    Where they do not lead on from the scenario's own controllers, those that vehicles have by
    default come to their help.

    Raises:
        ScenarioError: if a vehicle cannot be flown by them.
    """
    _refuse_gains(controllers)
    names = controllers.split(AND)
    entries = _entries(load_scenario(scenario, items, logged=True))
    for name in names:
        CONTROLLERS.find(name)
    refusal: KittiwakeError | None = None
    for helped in (False, True):
        chosen = [
            f"vehicles.{vehicle}.controller={json.dumps(_cascade(entry, names, helped=helped))}"
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


def _cascade(entry: dict[str, Any], names: Sequence[str], *, helped: bool) -> list[Any]:
    default = VEHICLES.find(entry["model"]).default_controller
    # the scenario's own gains, if it names the controller as well
    own = {one["type"] if isinstance(one, dict) else one: one for one in written_controllers(entry)}
    first = [*names, default] if helped else list(names)
    return [*(own.pop(name, name) for name in dict.fromkeys(first)), *own.values()]


def _refuse_gains(controllers: str) -> None:
    if set(controllers) & set("{}:="):
        message = (
            f"{controllers}: controllers are compared by their names, such as position or "
            f"position{AND}indi; gains cannot be given here. Those that the scenario gives a "
            "controller under 'controller' are kept"
        )
        raise ScenarioError(message)


def _refuse_idle(scenario: Scenario, names: Sequence[str]) -> None:
    """Refuses controllers that no vehicle's way down the ladder leads through."""
    for name, vehicle in scenario.vehicles.items():
        signals, native = vehicle.guidance.component.command_types(), vehicle.dynamics.command_type
        signal, *_ = signals
        levels = [level.component for level in vehicle.cascade]
        ways = [i for start in signals for i in cascade_path(levels, start, native)]
        used = [CONTROLLERS.name_of(type(levels[i])) for i in dict.fromkeys(ways)]
        idle = [wanted for wanted in names if wanted not in used]
        if idle:
            kind = CONTROLLERS.find(idle[0])
            message = (
                f"{name} does not come through {idle[0]}, which leads from "
                f"{kind.consumes.__name__} to {kind.produces.__name__}, on its way from "
                f"{signal.__name__} to {native.__name__}: {' > '.join(used)}. "
                f"{_what_to_write(names, kind, levels, signal, native)}"
            )
            raise ScenarioError(message)


def _what_to_write(
    names: Sequence[str],
    idle: type[AbstractController],
    levels: Sequence[AbstractController],
    signal: type,
    native: type,
) -> str:
    """Why the way does not lead through a controller, and what would lead there."""
    for start, end in ((signal, idle.consumes), (idle.produces, native)):
        if _way(levels, start, end) is None:
            from_to = f"from {start.__name__} to {end.__name__}"
            known = [CONTROLLERS.find(name) for name in CONTROLLERS.names()]
            way = _way([*levels, *known], start, end)
            if way is None:
                return f"There is no controller that leads {from_to}: write another"
            missing = [CONTROLLERS.name_of(kind) for kind in way if kind in known]
            together = AND.join([*missing, *names])
            return f"A controller is missing that leads {from_to}: write {together}"
    return f"The others are taken before it: compare them with ',' instead of '{AND}'"


def _way(
    levels: Sequence[ControllerOrType], start: type, end: type
) -> list[ControllerOrType] | None:
    try:
        return [levels[i] for i in cascade_path(levels, start, end)]
    except CascadeError:
        return None
