"""Numbers of a scenario that an optimizer may change, by their paths, with their present values."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from kittiwake.core.arguments import LIMITS, TEXT
from kittiwake.core.errors import ScenarioError, did_you_mean, listed
from kittiwake.core.units import stored_path, unit_factor
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module
from kittiwake.scenario.parameters import is_whole
from kittiwake.scenario.problems import KeyPath, Plain
from kittiwake.scenario.randomization import drawn_at, refuse_drawn
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import entry_vehicle_names
from kittiwake.scenario.variations import NUMBER

LIMITS_TEXT = re.compile(rf"({NUMBER}):({NUMBER})")
WILDCARD = "*"
NO_SCALE = "is 0, which gives no scale; write its limits, KEY=low:high"
AXES = ("x", "y", "z")
MAX_FREE = 100
# distance from a limit at which a value lies at it, as a share of the distance of both
AT_LIMIT = 1e-3


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

    def reached_limit(self, value: float) -> float | None:
        """Return the limit that a value lies at, to a thousandth of the range; None between."""
        low, high = self.low, self.high
        if low is not None and high is not None:
            tolerance = AT_LIMIT * (high - low)
        else:
            tolerance = AT_LIMIT * abs(self.start)
        reached = (own for own in (low, high) if own is not None and abs(value - own) <= tolerance)
        return next(reached, None)


def parse_free(given: Iterable[str]) -> dict[str, tuple[float, float] | None]:
    """Return free keys with their limits, each as ``KEY`` or ``KEY=low:high``.

    Raises:
        ScenarioError: for another form.
    """
    found: dict[str, tuple[float, float] | None] = {}
    for item in given:
        TEXT.require("free", item)
        path, equals, text = item.partition("=")
        limits = _parsed_limits(text)
        if not path.strip() or (equals and limits is None):
            message = (
                f"free: {item}: write a key, or a key and its limits, KEY=low:high, with two "
                "finite numbers"
            )
            raise ScenarioError(message)
        found[path.strip()] = limits
    return found


def _parsed_limits(text: str) -> tuple[float, float] | None:
    match = LIMITS_TEXT.fullmatch(text.strip())
    return None if match is None else (float(match[1]), float(match[2]))


def free_values(
    scenario: Scenario, given: Mapping[str, tuple[float, float] | None]
) -> tuple[FreeValue, ...]:
    """Return the free numbers of a scenario.

    A key with ``*`` stands for the numbers whose paths it matches, where ``*`` is any text, except
    those of ``left_out``.

    Raises:
        ScenarioError: for a key without a number, wrong limits, and too many numbers.
    """
    present = present_values(scenario)
    found: dict[str, FreeValue] = {}
    for key, limits in given.items():
        TEXT.require("free", key)
        LIMITS.require(f"free: {key}", limits)
        if limits is not None and not limits[0] < limits[1]:
            message = f"free: {key}: got {limits[0]:g}:{limits[1]:g}; low must be less than high"
            raise ScenarioError(message)
        for path in _matching(key, scenario, present, limited=limits is not None):
            refuse_drawn(scenario, path, "free: ")
            again = next((one for one in found if stored_path(one) == stored_path(path)), path)
            if again != path:
                message = f"free: {path}: is free twice, also as {again}; remove one of them"
                raise ScenarioError(message)
            found[path] = _free_value(path, present, limits)
    if not found:
        message = "nothing is free; name a number, such as vehicles.drone.parameters.mass_kg"
        raise ScenarioError(message)
    if len(found) > MAX_FREE:
        message = f"{len(found)} numbers are free; at most {MAX_FREE}"
        raise ScenarioError(message)
    return tuple(found.values())


def left_out(scenario: Scenario, given: Mapping[str, tuple[float, float] | None]) -> dict[str, str]:
    """Return the numbers that keys with ``*`` match but do not free, with the reason of each."""
    present = present_values(scenario)
    return {
        path: reason
        for key, limits in given.items()
        for path, reason in _matches(key, scenario, present, limited=limits is not None).items()
        if reason and path not in given
    }


def _matches(
    key: str, scenario: Scenario, present: Mapping[str, float], *, limited: bool
) -> dict[str, str]:
    """Return the paths that a key with ``*`` matches, with why one is not free; empty if it is."""
    if WILDCARD not in key:
        return {}

    def reason(path: str, value: float) -> str:
        if isinstance(value, int):
            return "is a whole number"
        if drawn_at(scenario, path) is not None:
            return "is drawn from each seed"
        return "" if value or limited else NO_SCALE

    return {path: reason(path, value) for path, value in present.items() if fnmatchcase(path, key)}


def _matching(
    key: str, scenario: Scenario, present: Mapping[str, float], *, limited: bool
) -> list[str]:
    if WILDCARD not in key:
        return [key]
    matches = _matches(key, scenario, present, limited=limited)
    paths = [path for path, reason in matches.items() if not reason]
    if not paths:
        reasons = [f"{path} {reason}" for path, reason in matches.items()]
        known = did_you_mean(key, _patterns(key, present))
        message = f"free: {key}: frees no number. {listed(reasons) if reasons else known}"
        raise ScenarioError(message)
    return paths


def _patterns(key: str, present: Iterable[str]) -> list[str]:
    """Return keys of the form of one with ``*`` that match present paths."""
    given = key.split(".")
    return [
        *{
            ".".join(
                own if WILDCARD in own else part
                for own, part in zip(given, path.split("."), strict=False)
            )
            for path in present
            if path.count(".") >= len(given) - 1
        }
    ]


def _free_value(
    path: str, present: Mapping[str, float], limits: tuple[float, float] | None
) -> FreeValue:
    """Return a free value.

    Raises:
        ScenarioError: if there is no such number, or it has no scale, or is outside its limits.
    """
    start = _value_at(path, present)
    stem, _, last = path.rpartition(".")
    # a number that is not written, and has no default, may be free between limits
    if start is None and (limits is None or (last.isdigit() and f"{stem}.0" in present)):
        advice = did_you_mean(path, [*present])
        between = " Or write KEY=low:high" if limits is None else ""
        message = f"free: {path}: there is no number. {advice}{between}"
        raise ScenarioError(message)
    if limits is None:
        if not start:
            message = f"free: {path}: {NO_SCALE}"
            raise ScenarioError(message)
        return FreeValue(path, start, None, None)
    low, high = map(float, limits)
    middle = (low * high) ** 0.5 if low > 0.0 else (low + high) / 2.0
    begin = middle if start is None else start
    if not low <= begin <= high:
        message = (
            f"free: {path}: is {begin:g}, which is not between {low:g} and {high:g}; give limits "
            f"around it, or begin elsewhere, --set {path}={middle:g} or overrides"
        )
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
    same = (other for other in present if stored_path(other) == stored_path(path))
    return next((present[own] * unit_factor(own) / unit_factor(path) for own in same), None)


def present_values(scenario: Scenario) -> dict[str, float]:
    """Return the numbers of a scenario's world and vehicles by path, defaults included.

    What the scenario writes has the unit of its key, all else is in SI units and radians. Whole
    numbers have the type int, all others float.
    """
    found: dict[str, float] = {}
    world = scenario.world
    for name, part in (("wind", world.wind), ("atmosphere", world.atmosphere)):
        found |= _numbers(part, f"world.{name}")
    found["world.gravity_mps2"] = float(world.gravity_mps2)
    for name, entry in scenario.document.data["vehicles"].items():
        vehicle = scenario.vehicles[entry_vehicle_names(name, entry.get("count"))[0]]
        found |= _numbers(vehicle.turbulence.component, "world.turbulence")
        found |= _of_vehicle(vehicle, entry, f"vehicles.{name}")
    given = {key: scenario.document.data.get(key) for key in ("world", "vehicles")}
    written = dict(_written(given, ()))
    stored = {stored_path(path): path for path in written}
    # each number once, as it is written
    return {path: found[path] for path in found if stored.get(stored_path(path), path) == path} | {
        path: type(found.get(path, 0.0))(value) for path, value in written.items()
    }


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
    # numbers of the entry itself, such as its count, are whole
    found: dict[str, float] = {
        f"{path}.{key}": value for key, value in entry.items() if type(value) is int
    }
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
        elif isinstance(value, Module):
            found |= _numbers(value, place)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[place] = int(value) if is_whole(field.type) else float(value)
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
