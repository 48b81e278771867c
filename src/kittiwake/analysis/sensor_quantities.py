"""What a log holds of sensors: which columns are one quantity, and how each is best shown."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.overview.inputs import UNITS
from kittiwake.analysis.probed import field_of
from kittiwake.core.errors import LogError, did_you_mean
from kittiwake.sensors.round_robin import SENSORS

FRESH, VALID = "fresh", "valid"
# of which a probe's unit is that of its field
VALUE = "value"
TURN_DEG = 360.0
# red, green and blue
COLORS = 3
# x, y, z or a place in an array, between two words or at the end
PART = re.compile(r"_(?:[wxyz]|\d+(?:_\d+)*)(?=_|$)")

Samples = Float64[np.ndarray, "samples parts"]


@dataclass(frozen=True, eq=False)
class Quantity:
    """What a sensor said of one quantity, in the unit in which it is shown.

    It holds the rows of the log in which something was new since the row before. ``parts`` are the
    names of its numbers, none for a quantity of one; of an image, ``shape`` is how many rows and
    columns there are, and how many colors of a picture. ``ideal`` is None where no sensor without
    errors could be said to say anything. ``valid`` and ``ideal_valid`` are False where either says
    itself that its number means nothing.
    """

    title: str
    parts: tuple[str, ...]
    time_s: Float64[np.ndarray, " samples"]
    measured: Samples
    ideal: Samples | None
    valid: Bool[np.ndarray, "samples parts"]
    ideal_valid: Bool[np.ndarray, "samples parts"]
    unit: str = ""
    shape: tuple[int, ...] | None = None

    @property
    def whole(self) -> bool:
        """Whether it is a flag, a count or a class, which differs or not but has no error."""
        known = (self.measured,) if self.ideal is None else (self.measured, self.ideal)
        return not self.unit and all(bool((part == np.round(part)).all()) for part in known)

    @property
    def flag(self) -> bool:
        """Whether it is never more than yes or no."""
        return self.whole and bool(((self.measured == 0.0) | (self.measured == 1.0)).all())

    @property
    def error(self) -> Samples | None:
        """Of what has one; NaN where either is not finite or not valid.

        Angles differ by half a turn at most: 179 degrees are 2 away from -179.
        """
        if self.ideal is None or self.whole:
            return None
        known = np.isfinite(self.measured) & np.isfinite(self.ideal)
        known &= self.valid & self.ideal_valid
        error = np.where(known, self.measured, np.nan) - np.where(known, self.ideal, np.nan)
        return error - TURN_DEG * np.round(error / TURN_DEG) if self.unit == "deg" else error

    @property
    def series(self) -> tuple[Samples, Samples | None]:
        """What was measured, and what is ideal; NaN where that means nothing."""
        if self.whole:
            return self.measured, self.ideal
        measured = np.where(self.valid, self.measured, np.nan)
        ideal = self.ideal
        return measured, None if ideal is None else np.where(self.ideal_valid, ideal, np.nan)


def check_sensors(log: Log, wanted: Collection[str]) -> None:
    """Refuses sensors that no vehicle has.

    Raises:
        LogError: with the sensors that there are, and the nearest name.
    """
    known = {sensor for name in log.names for sensor in _grouped(log.columns(name))}
    for sensor in wanted:
        if sensor not in known:
            hint = did_you_mean(sensor, sorted(known))
            message = f"--sensor {sensor}: no vehicle in this log has it. {hint}"
            raise LogError(message)


def quantities(log: Log, vehicle: str, wanted: Collection[str] = ()) -> list[Quantity]:
    """What a vehicle's sensors measured, or those that are wanted, in the order of its columns."""
    # a camera has thousands of columns
    places = {column: place for place, column in enumerate(log.columns(vehicle))}
    found = (
        _quantity(log, vehicle, places, (sensor, base), names)
        for sensor, bases in _grouped(log.columns(vehicle)).items()
        if not wanted or sensor in wanted
        for base, names in bases.items()
    )
    return [_of_one_color(quantity) for quantity in found]


def _of_one_color(quantity: Quantity) -> Quantity:
    """An image of flags of which all pixels always agree is one flag over time."""
    if quantity.shape is None or not quantity.flag:
        return quantity
    first = quantity.measured[:, :1]
    told = (quantity.measured,) if quantity.ideal is None else (quantity.measured, quantity.ideal)
    if any((flags != flags[:, :1]).any() for flags in told):
        return quantity
    return replace(
        quantity,
        parts=("",),
        shape=None,
        measured=first,
        ideal=None if quantity.ideal is None else quantity.ideal[:, :1],
        valid=quantity.valid[:, :1],
        ideal_valid=quantity.ideal_valid[:, :1],
    )


def _grouped(columns: Collection[str]) -> dict[str, dict[str, list[str]]]:
    """By sensor and by quantity the names of its numbers."""
    grouped: dict[str, dict[str, list[str]]] = {}
    for column in columns:
        kind, _, rest = column.partition(".")
        sensor, _, name = rest.partition(".")
        if kind == "sensor" and name != FRESH:
            base = PART.sub("", name, count=1)
            grouped.setdefault(sensor, {}).setdefault(base, []).append(name)
    return grouped


def _quantity(
    log: Log, vehicle: str, places: Mapping[str, int], which: tuple[str, str], names: list[str]
) -> Quantity:
    sensor, base = which
    values = log.values(vehicle)
    fresh: Bool[np.ndarray, " rows"] = values[:, places[f"sensor.{sensor}.{FRESH}"]] > 0.0

    def read(kind: str) -> Samples:
        return values[:, [places[f"{kind}.{sensor}.{name}"] for name in names]][fresh]

    words, _, ending = base.rpartition("_")
    unit, factor = UNITS.get(ending, ("", 1.0)) if words else ("", 1.0)
    if base == VALUE and _kind(log.scenario, vehicle, sensor) == "probe":
        words, unit = base, field_of(log, vehicle, sensor)[1]
    said = f"{words} ({unit})" if unit else base
    numbers = [_numbers(name) for name in names]
    known = f"ideal.{sensor}.{names[0]}" in places
    flags = ["_".join([VALID, *map(str, place)]) for place in numbers]

    def read_flags(kind: str) -> Bool[np.ndarray, "samples parts"]:
        if not all(f"{kind}.{sensor}.{flag}" in places for flag in flags):
            return np.ones((int(fresh.sum()), len(names)), bool)
        return values[:, [places[f"{kind}.{sensor}.{flag}"] for flag in flags]][fresh] > 0.0

    return Quantity(
        title=f"{sensor}: {said.replace('_', ' ')}",
        parts=_parts(names, numbers, _kind(log.scenario, vehicle, sensor)),
        time_s=values[fresh, places["time_s"]],
        measured=factor * read("sensor"),
        ideal=factor * read("ideal") if known else None,
        valid=read_flags("sensor"),
        ideal_valid=read_flags("ideal"),
        unit=unit,
        shape=_shape(numbers),
    )


def _numbers(name: str) -> tuple[int, ...]:
    """The place of a number in its array; empty for ``x`` and for what is alone."""
    found = PART.search(name)
    words = [] if found is None else found.group()[1:].split("_")
    return tuple(int(word) for word in words if word.isdigit())


def _parts(names: list[str], numbers: list[tuple[int, ...]], kind: str) -> tuple[str, ...]:
    if len(names) == 1 and not numbers[0]:
        return ("",)
    if kind == "ultrasonic-array" and len(names) == len(SENSORS):
        return SENSORS
    found = [PART.search(name) for name in names]
    letters = ["" if part is None else part.group()[1:] for part in found]
    return tuple(
        letter if not place else f"beam {place[0]}" if len(place) == 1 else f"pixel {place}"
        for letter, place in zip(letters, numbers, strict=True)
    )


def _shape(numbers: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Rows and columns of what is an image, and colors of what is a picture."""
    axes = {len(place) for place in numbers}
    if axes not in ({2}, {3}):
        return None
    shape = tuple(max(along) + 1 for along in zip(*numbers, strict=True))
    is_whole = prod(shape) == len(numbers) and shape[2:] in ((), (COLORS,))
    return shape if is_whole else None


def _kind(scenario: Mapping[str, Any], vehicle: str, sensor: str) -> str:
    """Of what kind a sensor is, as far as the scenario says."""
    # one of several vehicles of an entry is named with a number
    entry: Any = scenario.get("vehicles")
    for keys in ((vehicle, vehicle.rpartition("-")[0]), ("sensors",), (sensor,)):
        entry = entry if isinstance(entry, Mapping) else {}
        entry = next((entry[key] for key in keys if key in entry), None)
    kind = entry.get("type") if isinstance(entry, Mapping) else entry
    return kind if isinstance(kind, str) else sensor
