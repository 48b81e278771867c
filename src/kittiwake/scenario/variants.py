"""Variants of a scenario: other controllers, or noise on their state estimates."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from kittiwake.control import CONTROLLERS
from kittiwake.core.errors import CascadeError, KittiwakeError, ScenarioError
from kittiwake.core.units import stored_name
from kittiwake.estimation import ESTIMATORS
from kittiwake.interfaces.cascade import ControllerOrType, cascade_path
from kittiwake.interfaces.controller import AbstractController
from kittiwake.scenario.build import build
from kittiwake.scenario.cascade_builder import written_controllers
from kittiwake.scenario.changing import rebuilt
from kittiwake.scenario.definition import as_plain
from kittiwake.scenario.document import Override, apply_overrides
from kittiwake.scenario.load import AllowedCode, load_scenario
from kittiwake.scenario.own_components.code_files import COLON, from_file, parse_class
from kittiwake.scenario.own_components.entries import (
    CONTROLLER,
    FILE,
    OwnComponent,
    holds_own,
)
from kittiwake.scenario.parameters import build_component
from kittiwake.scenario.problems import Plain
from kittiwake.scenario.scenario import Scenario
from kittiwake.vehicles import VEHICLES

KEY = "controller"
# separator of controllers that are flown together
AND = "+"
NOISY = "noisy-truth"


def variants(
    scenario: str | Scenario,
    controllers: Sequence[str] | Mapping[str, Any],
    overrides: Sequence[str | Override] = (),
    noise: Sequence[str] | None = None,
    allow_code: AllowedCode = None,
) -> dict[str, Scenario]:
    """Return the scenario with each of these controllers, by name, with noise if given.

    Args:
        scenario: a library name, the path of a file, or a scenario.
        controllers: the controllers as written, joined by ``+``, each a registered name or
            ``FILE.py:CLASS``; or controllers by names of one's own, as for a ``Vehicle``.
        overrides: changes to the scenario.
        noise: deviations of ``noisy-truth``.
        allow_code: the folders whose Python files the scenario may load. Files that ``controllers``
            name need no permission.

    Raises:
        ScenarioError: if one of them cannot fly a vehicle, or if the noise is invalid.
    """
    base = _base(scenario, overrides, noise, allow_code)
    if isinstance(controllers, Mapping):
        given = {name: _as_list(as_plain(one)) for name, one in controllers.items()}
    else:
        _refuse_unnamed(controllers)
        given = {name: _parsed(name) for name in controllers}
    return {name: with_controllers(base, name, chosen) for name, chosen in given.items()}


def _refuse_unnamed(controllers: Sequence[Any]) -> None:
    if all(isinstance(one, str) for one in controllers):
        return
    named = ", ".join(f"'{_name(one).lower()}': {_expression(one)}" for one in controllers)
    message = f"`controllers`: objects need names: {{{named}}}"
    raise ScenarioError(message)


def _name(given: Plain) -> str:
    return given if isinstance(given, str) else type(given).__name__


def _expression(given: Plain) -> str:
    """Return a controller as it is written in Python, without its arguments."""
    if isinstance(given, str):
        return repr(given)
    known = {CONTROLLERS.find(name).__name__ for name in CONTROLLERS.names()}
    package = "kw.control." if _name(given) in known else ""
    return f"{package}{_name(given)}(...)"


def _base(
    scenario: str | Scenario,
    overrides: Sequence[str | Override],
    noise: Sequence[str] | None,
    allow_code: AllowedCode,
) -> Scenario:
    """Return the scenario with overrides, and with noise if given."""
    if isinstance(scenario, Scenario):
        document = apply_overrides(scenario.document, overrides)
        base = rebuilt(scenario, document) if overrides else scenario
        if noise is None:
            return base
        return rebuilt(base, apply_overrides(base.document, noise_items(base, noise)))
    base = load_scenario(scenario, overrides, logged=True, allow_code=allow_code)
    if noise is None:
        return base
    items = [*overrides, *noise_items(base, noise)]
    return load_scenario(scenario, items, logged=True, allow_code=allow_code)


def _as_list(value: Plain) -> list[Plain]:
    return value if isinstance(value, list) else [value]


def _parsed(controllers: str) -> list[Plain]:
    """Return the entries of controllers that are joined by ``+``.

    Raises:
        ScenarioError: for something else than registered names and classes of files.
    """
    return [_parsed_one(controllers, name) for name in controllers.split(AND)]


def _parsed_one(controllers: str, name: str) -> str | OwnComponent:
    if name.endswith(".py"):
        message = f"{controllers}: write {name}:CLASS, such as {name}:MyPD"
        raise ScenarioError(message)
    if COLON in name and not set(name) & set("{}= "):
        entry = parse_class(name)
        return from_file(Path(entry[FILE]), entry, CONTROLLER)
    _refuse_gains(controllers)
    CONTROLLERS.find(name)
    return name


def noise_items(scenario: Scenario, noise: Iterable[str]) -> list[str]:
    """Return overrides that give each vehicle the true state plus noise of these deviations.

    Deviations that are not given are zero, unlike those of the estimator in a scenario.

    Raises:
        ScenarioError: for an item that is not ``KEY=VALUE``, is given twice, or is invalid.
    """
    given: dict[str, float | str] = {}
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
    noisy = ESTIMATORS.find(NOISY)
    build_component(
        noisy,
        given,
        lambda path: f"--noise {origins.get(str(path[0]), '') if path else ''}".rstrip(),
    )
    stored = [*map(stored_name, given)]
    others = {field.name: 0.0 for field in fields(noisy) if field.name not in stored}
    estimator = json.dumps({"type": NOISY, **given, **others})
    return [f"vehicles.{name}.estimator={estimator}" for name in _entries(scenario)]


def _entries(scenario: Scenario) -> dict[str, Plain]:
    return scenario.document.data["vehicles"]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # refused later, with its key


def with_controllers(scenario: Scenario, name: str, chosen: Sequence[Plain]) -> Scenario:
    """Return a scenario with these controllers before those of its vehicles.

    If they form no cascade with the scenario's own controllers, the vehicles' default controllers
    are added. If these do not help, components of the user's own are left out, which may not take
    the commands of the compared controllers.

    Args:
        scenario: the scenario.
        name: their name in messages.
        chosen: the controllers as in a scenario's data.

    Raises:
        ScenarioError: if a vehicle cannot be flown by them.
    """
    refusal: KittiwakeError | None = None
    has_own = any(holds_own(entry.get(KEY)) for entry in _entries(scenario).values())
    choices = [(True, False), (True, True), *([(False, False), (False, True)] if has_own else [])]
    for with_own, with_default in choices:
        document = scenario.document
        for vehicle, entry in _entries(scenario).items():
            cascade = _cascade(entry, chosen, with_own=with_own, with_default=with_default)
            words = f"controllers {', '.join(map(_title, cascade))}"
            document = document.with_value(("vehicles", vehicle, KEY), cascade, words)
        try:
            variant = build(document, scenario.folder, logged=True)
            _refuse_idle(variant, [_title(one) for one in chosen])
        except KittiwakeError as error:
            # without the user's own, the reason is that of what is compared
            refusal = error if refusal is None or not (with_own or with_default) else refusal
        else:
            return variant
    message = f"{name}: {refusal}"
    raise ScenarioError(message) from None


def _cascade(
    entry: dict[str, Plain], chosen: Sequence[Plain], *, with_own: bool, with_default: bool
) -> list[Plain]:
    default = VEHICLES.find(entry["model"]).default_controller
    # the scenario's own gains, if it names the controller as well
    own = {
        _title(one): one
        for one in written_controllers(entry)
        if with_own or not isinstance(one, OwnComponent)
    }
    first = {_title(one): one for one in chosen}
    if with_default:
        first.setdefault(_title(default), default)
    kept = {title: own.pop(title, one) for title, one in first.items()}
    # a name alone stands for them
    given = [one if not isinstance(one, str) else kept[title] for title, one in first.items()]
    return [*given, *own.values()]


def _title(entry: Plain) -> str:
    """Return the name of a controller's type or class."""
    if isinstance(entry, OwnComponent):
        return entry.title
    if not isinstance(entry, dict | str):
        return _name(entry)  # refused later, with its place
    return entry["type"] if isinstance(entry, dict) else entry


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
        used = [_name_of(levels[i]) for i in dict.fromkeys(path)]
        idle = [wanted for wanted in names if wanted not in used]
        if idle:
            unused = next(type(level) for level in levels if _name_of(level) == idle[0])
            message = (
                f"{name} does not use {idle[0]}, which leads from "
                f"{unused.consumes.__name__} to {unused.produces.__name__}, in its cascade from "
                f"{command_type.__name__} to {native.__name__}: {' > '.join(used)}. "
                f"{_advice(names, unused, levels, command_type, native)}"
            )
            raise ScenarioError(message)


def _name_of(controller: AbstractController) -> str:
    return CONTROLLERS.registered_name(type(controller)) or type(controller).__name__


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
