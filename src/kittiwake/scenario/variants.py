"""A scenario with other controllers, or with noise on what they are told."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from kittiwake.control import CONTROLLERS
from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.core.ladder import ladder_path
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.vehicle_builder import written_controllers
from kittiwake.vehicles import VEHICLES

# between controllers that are to be flown together
AND = "+"


def noise_items(scenario: Scenario, noise: Iterable[str]) -> list[str]:
    """Overrides that tell every vehicle the truth with noise of these deviations.

    Raises:
        ScenarioError: for one that is not written ``KEY=VALUE``.
    """
    given: dict[str, Any] = {"type": "noisy-truth"}
    for item in noise:
        key, equals, value = item.partition("=")
        if not equals:
            message = f"--noise {item}: write KEY=VALUE, such as position_m=0.05"
            raise ScenarioError(message)
        given[key] = _number(value)
    return [f"vehicles.{name}.estimator={json.dumps(given)}" for name in _entries(scenario)]


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
    names = controllers.split(AND)
    entries = _entries(load_scenario(scenario, items))
    for name in names:
        CONTROLLERS.find(name)
    refusal: KittiwakeError | None = None
    for helped in (False, True):
        chosen = [
            f"vehicles.{vehicle}.controller={json.dumps(_ladder(entry, names, helped=helped))}"
            for vehicle, entry in entries.items()
        ]
        try:
            variant = load_scenario(scenario, [*items, *chosen])
            _refuse_idle(variant, names)
        except KittiwakeError as error:
            refusal = refusal or error
        else:
            return variant
    message = f"{controllers}: {refusal}"
    raise ScenarioError(message) from None


def _ladder(entry: dict[str, Any], names: Sequence[str], *, helped: bool) -> list[Any]:
    default = VEHICLES.find(entry["model"]).default_controller
    # the scenario's own gains, if it names the controller as well
    own = {one["type"] if isinstance(one, dict) else one: one for one in written_controllers(entry)}
    first = [*names, default] if helped else list(names)
    return [*(own.pop(name, name) for name in dict.fromkeys(first)), *own.values()]


def _refuse_idle(scenario: Scenario, names: Sequence[str]) -> None:
    """Refuses controllers that no vehicle's way down the ladder leads through."""
    for name, vehicle in scenario.vehicles.items():
        signal, native = vehicle.guidance.component.signal_type(), vehicle.dynamics.native
        rungs = [rung.component for rung in vehicle.ladder]
        used = [CONTROLLERS.name_of(type(rungs[i])) for i in ladder_path(rungs, signal, native)]
        idle = [wanted for wanted in names if wanted not in used]
        if idle:
            message = (
                f"{name} does not come through {', '.join(idle)} on its way from "
                f"{signal.__name__} to {native.__name__}: {' > '.join(used)}. Add a controller "
                f"that leads there with '{AND}', such as position{AND}{idle[0]}"
            )
            raise ScenarioError(message)
