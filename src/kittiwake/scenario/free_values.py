"""Numbers of a scenario that an optimizer may change, by their paths, with their present values."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import equinox as eqx

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.units import USER_UNITS, stored_name
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.problems import KeyPath, Plain
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.variations import NUMBER

LIMITS = re.compile(rf"({NUMBER}):({NUMBER})")
WILDCARD = "*"
AXES = ("x", "y", "z")
MAX_FREE = 100


class FreeValue(NamedTuple):
    """A number that may change.

    Attributes:
        path: its path in the scenario; that of a component of a vector ends with its index.
        start: its value at the beginning.
        low: its least value; None without a limit.
        high: its largest value; None without a limit.
    """

    path: str
    start: float
    low: float | None
    high: float | None


def parse_free(given: Iterable[str]) -> dict[str, tuple[float, float] | None]:
    """Return free keys with their limits, each as ``KEY`` or ``KEY=low:high``.

    Raises:
        ScenarioError: for another form.
    """
    found: dict[str, tuple[float, float] | None] = {}
    for item in given:
        path, equals, text = item.partition("=")
        match = LIMITS.fullmatch(text.strip())
        if not path.strip() or (equals and not match):
            message = f"--free {item}: write a key, or a key and its limits, KEY=low:high"
            raise ScenarioError(message)
        found[path.strip()] = (float(match[1]), float(match[2])) if match else None
    return found


def free_values(
    scenario: Scenario, given: Mapping[str, tuple[float, float] | None]
) -> tuple[FreeValue, ...]:
    """Return the free numbers of a scenario.

    A key with ``*`` stands for all numbers other than zero whose paths it matches, where ``*`` is
    any text.

    Raises:
        ScenarioError: for a key without a number, wrong limits, and too many numbers.
    """
    present = present_values(scenario)
    found: dict[str, FreeValue] = {}
    for key, limits in given.items():
        if limits is not None and not limits[0] < limits[1]:
            message = f"free: {key}: got {limits[0]:g}:{limits[1]:g}; low must be less than high"
            raise ScenarioError(message)
        for path in _matching(key, present, limited=limits is not None):
            start = _value_at(path, present)
            if start is None and limits is None:
                advice = did_you_mean(path, [*present])
                message = f"free: {path}: there is no number. {advice} Or write KEY=low:high"
                raise ScenarioError(message)
            found[path] = _free_value(path, start, limits)
    if not found:
        message = "nothing is free; name a number, such as vehicles.drone.parameters.mass_kg"
        raise ScenarioError(message)
    if len(found) > MAX_FREE:
        message = f"{len(found)} numbers are free; at most {MAX_FREE}"
        raise ScenarioError(message)
    return tuple(found.values())


def _matching(key: str, present: Mapping[str, float], *, limited: bool) -> list[str]:
    if WILDCARD not in key:
        return [key]
    paths = [
        path for path, value in present.items() if fnmatchcase(path, key) and (value or limited)
    ]
    if not paths:
        message = f"free: {key}: no number of the scenario other than zero has such a path"
        raise ScenarioError(message)
    return paths


def _free_value(path: str, start: float | None, limits: tuple[float, float] | None) -> FreeValue:
    if limits is None:
        if not start:
            message = f"free: {path}: is 0, which gives no scale; write its limits, KEY=low:high"
            raise ScenarioError(message)
        return FreeValue(path, start, None, None)
    low, high = limits
    middle = (low * high) ** 0.5 if low > 0.0 else (low + high) / 2.0
    begin = middle if start is None else start
    if not low <= begin <= high:
        message = f"free: {path}: is {begin:g}, which is not between {low:g} and {high:g}"
        raise ScenarioError(message)
    return FreeValue(path, begin, low, high)


def items_at(
    present: Mapping[str, float], free: Iterable[FreeValue], values: Iterable[float]
) -> list[str]:
    """Return values of free numbers as overrides of a scenario; vectors are written whole.

    ``present`` are the scenario's ``present_values``.
    """
    vectors: dict[str, list[float]] = {}
    items: list[str] = []
    for one, value in zip(free, values, strict=True):
        stem, _, last = one.path.rpartition(".")
        places = [f"{stem}.{axis}" for axis in range(len(AXES))]
        if last.isdigit() and all(_value_at(place, present) is not None for place in places):
            vector = vectors.setdefault(stem, [_value_at(each, present) or 0.0 for each in places])
            vector[int(last)] = float(value)
        else:
            items.append(f"{one.path}={float(value)!r}")
    return [*items, *(f"{path}={vector}" for path, vector in vectors.items())]


def _value_at(path: str, present: Mapping[str, float]) -> float | None:
    """Return a present value, in the unit of its key."""
    if path in present:
        return present[path]
    stem, _, key = path.rpartition(".")
    for user, (stored, factor) in USER_UNITS.items():
        if key.endswith(user) and stored_name(key) == key.removesuffix(user) + stored:
            value = present.get(f"{stem}.{stored_name(key)}")
            return None if value is None else value / factor
    return None


def present_values(scenario: Scenario) -> dict[str, float]:
    """Return the numbers of a scenario's world and vehicles by path, defaults included.

    What the scenario writes has the unit of its key, all else is in SI units and radians.
    """
    found: dict[str, float] = {}
    world = scenario.world
    for name, part in (("wind", world.wind), ("atmosphere", world.atmosphere)):
        found |= _numbers(part, f"world.{name}")
    found["world.gravity_mps2"] = float(world.gravity_mps2)
    for name, entry in scenario.document.data["vehicles"].items():
        vehicle = scenario.vehicles.get(name) or scenario.vehicles.get(f"{name}-1")
        if vehicle is not None:
            found |= _numbers(vehicle.turbulence.component, "world.turbulence")
            found |= _of_vehicle(vehicle, entry, f"vehicles.{name}")
    written = {key: scenario.document.data.get(key) for key in ("world", "vehicles")}
    return found | dict(_written(written, ()))


def _of_vehicle(vehicle: AssembledVehicle, entry: Mapping[str, Any], path: str) -> dict[str, float]:
    given = entry.get("controller")
    several = len(given) if isinstance(given, list) else None
    controllers = (
        {"controller": vehicle.cascade[0].component}
        if several is None and vehicle.cascade
        else {f"controller.{i}": vehicle.cascade[i].component for i in range(several or 0)}
    )
    parts = {
        "parameters": vehicle.dynamics,
        "estimator": vehicle.estimator.component,
        "guidance": vehicle.guidance.component,
        **controllers,
        **{f"sensors.{name}": sensor.component.sensor for name, sensor in vehicle.sensors.items()},
    }
    found: dict[str, float] = {}
    for name, part in parts.items():
        found |= _numbers(part, f"{path}.{name}")
    return found


def _numbers(part: Any, path: str) -> dict[str, float]:
    """Return the numbers of a component and of its parts by path."""
    found: dict[str, float] = {}
    for field in dataclasses.fields(part) if dataclasses.is_dataclass(part) else ():
        if not field.init:
            continue
        value, place = getattr(part, field.name), f"{path}.{field.name}"
        if isinstance(value, Vec3):
            found |= {f"{place}.{i}": float(getattr(value, axis)) for i, axis in enumerate(AXES)}
        elif isinstance(value, eqx.Module):
            found |= _numbers(value, place)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[place] = float(value)
    return found


def _written(node: Plain, path: KeyPath) -> Iterator[tuple[str, float]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _written(value, (*path, str(key)))
    elif isinstance(node, list):
        for place, value in enumerate(node):
            yield from _written(value, (*path, place))
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield ".".join(map(str, path)), float(node)
