"""Sensor quantities in a log: groups of columns with units, flags and ideal values."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from kittiwake.analysis.column_labels import UNITS
from kittiwake.analysis.log import Log
from kittiwake.analysis.probed import field_of
from kittiwake.core.errors import LogError, did_you_mean
from kittiwake.sensors.round_robin import SENSORS

FRESH, VALID = "fresh", "valid"
# quantity of a probe whose unit is that of its field
VALUE = "value"
TURN_DEG = 360.0
# red, green and blue
COLORS = 3
# w, x, y, z or an array index, between two words or at the end
PART = re.compile(r"_(?:[wxyz]|\d+(?:_\d+)*)(?=_|$)")

Samples = Float64[np.ndarray, "samples parts"]


@dataclass(frozen=True, eq=False)
class SensorQuantity:
    """Samples of one quantity of a sensor, in the unit of the plot.

    It has the rows of the log with a new sample. ``parts`` are the names of its numbers, one empty
    name for a scalar. ``shape`` is rows and columns of an image, and colors of a color image.
    ``ideal`` has the values without errors, or None if they are undefined. ``valid`` and
    ``ideal_valid`` are False where the sensor flags a value as invalid.
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
        """True if it is a flag, a count or a class, which has no numeric error."""
        known = (self.measured,) if self.ideal is None else (self.measured, self.ideal)
        return not self.unit and all(bool((part == np.round(part)).all()) for part in known)

    @property
    def flag(self) -> bool:
        """True if all values are 0 or 1."""
        return self.whole and bool(((self.measured == 0.0) | (self.measured == 1.0)).all())

    @property
    def error(self) -> Samples | None:
        """Measured minus ideal values, or None; NaN if either is not finite or not valid.

        Angles are wrapped to half a turn: 179 degrees differ from -179 by 2.
        """
        if self.ideal is None or self.whole:
            return None
        known = np.isfinite(self.measured) & np.isfinite(self.ideal)
        known &= self.valid & self.ideal_valid
        error = np.where(known, self.measured, np.nan) - np.where(known, self.ideal, np.nan)
        return error - TURN_DEG * np.round(error / TURN_DEG) if self.unit == "deg" else error

    def validates(self, other: "SensorQuantity") -> bool:
        """Return True if these flags only tell where another quantity has gaps.

        Flags that differ from those without errors tell more.
        """
        return (
            other is not self
            and (self.ideal is None or np.array_equal(self.measured, self.ideal))
            and self.title.split(": ") == [other.title.split(": ")[0], VALID]
            and self.measured.shape == other.valid.shape
            and bool(((self.measured > 0.0) == other.valid).all())
        )

    @property
    def series(self) -> tuple[Samples, Samples | None]:
        """Measured and ideal values; NaN where they are invalid."""
        if self.whole:
            return self.measured, self.ideal
        measured = np.where(self.valid, self.measured, np.nan)
        ideal = self.ideal
        return measured, None if ideal is None else np.where(self.ideal_valid, ideal, np.nan)


def check_sensors(log: Log, wanted: Collection[str]) -> None:
    """Refuse sensors that no vehicle has.

    Raises:
        LogError: with the known sensors and the nearest name.
    """
    known = {sensor for name in log.names for sensor in _grouped(log.columns(name))}
    for sensor in wanted:
        if sensor not in known:
            hint = did_you_mean(sensor, sorted(known))
            message = f"--sensor {sensor}: no vehicle in this log has it. {hint}"
            raise LogError(message)


def quantities(log: Log, vehicle: str, wanted: Collection[str] = ()) -> list[SensorQuantity]:
    """Return the quantities of a vehicle's sensors, or of the wanted ones, in column order."""
    # a dictionary, as a camera has thousands of columns
    places = {column: place for place, column in enumerate(log.columns(vehicle))}
    found = (
        _quantity(log, vehicle, places, (sensor, base), names)
        for sensor, bases in _grouped(log.columns(vehicle)).items()
        if not wanted or sensor in wanted
        for base, names in bases.items()
    )
    return [_uniform_as_flag(quantity) for quantity in found]


def _uniform_as_flag(quantity: SensorQuantity) -> SensorQuantity:
    """Return an image of flags as one flag over time if all pixels always agree."""
    if quantity.shape is None or not quantity.flag:
        return quantity
    first = quantity.measured[:, :1]
    known = (quantity.measured,) if quantity.ideal is None else (quantity.measured, quantity.ideal)
    if any((flags != flags[:, :1]).any() for flags in known):
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
    """Return the names of numbers by sensor and quantity."""
    grouped: dict[str, dict[str, list[str]]] = {}
    for column in columns:
        prefix, _, rest = column.partition(".")
        sensor, _, name = rest.partition(".")
        if prefix == "sensor" and name != FRESH:
            base = PART.sub("", name, count=1)
            grouped.setdefault(sensor, {}).setdefault(base, []).append(name)
    return grouped


def _quantity(
    log: Log, vehicle: str, places: Mapping[str, int], which: tuple[str, str], names: list[str]
) -> SensorQuantity:
    sensor, base = which
    values = log.values(vehicle)
    fresh: Bool[np.ndarray, " rows"] = values[:, places[f"sensor.{sensor}.{FRESH}"]] > 0.0

    def read(prefix: str) -> Samples:
        return values[:, [places[f"{prefix}.{sensor}.{name}"] for name in names]][fresh]

    words, _, ending = base.rpartition("_")
    unit, factor = UNITS.get(ending, ("", 1.0)) if words else ("", 1.0)
    if base == VALUE and _sensor_type(log.scenario, vehicle, sensor) == "probe":
        words, unit = base, field_of(log, vehicle, sensor)[1]
    label = f"{words} ({unit})" if unit else base
    numbers = [_numbers(name) for name in names]
    known = f"ideal.{sensor}.{names[0]}" in places
    flags = ["_".join([VALID, *map(str, place)]) for place in numbers]

    def read_flags(prefix: str) -> Bool[np.ndarray, "samples parts"]:
        if not all(f"{prefix}.{sensor}.{flag}" in places for flag in flags):
            return np.ones((int(fresh.sum()), len(names)), bool)
        return values[:, [places[f"{prefix}.{sensor}.{flag}"] for flag in flags]][fresh] > 0.0

    return SensorQuantity(
        title=f"{sensor}: {label.replace('_', ' ')}",
        parts=_parts(names, numbers, _sensor_type(log.scenario, vehicle, sensor)),
        time_s=values[fresh, places["time_s"]],
        measured=factor * read("sensor"),
        ideal=factor * read("ideal") if known else None,
        valid=read_flags("sensor"),
        ideal_valid=read_flags("ideal"),
        unit=unit,
        shape=_shape(numbers),
    )


def _numbers(name: str) -> tuple[int, ...]:
    """Return the index of a number in its array; empty for ``x`` and for scalars."""
    found = PART.search(name)
    words = [] if found is None else found.group()[1:].split("_")
    return tuple(int(word) for word in words if word.isdigit())


def _parts(names: list[str], numbers: list[tuple[int, ...]], sensor_type: str) -> tuple[str, ...]:
    if len(names) == 1 and not numbers[0]:
        return ("",)
    if sensor_type == "ultrasonic-array" and len(names) == len(SENSORS):
        return SENSORS
    found = [PART.search(name) for name in names]
    letters = ["" if part is None else part.group()[1:] for part in found]
    return tuple(
        letter if not place else f"beam {place[0]}" if len(place) == 1 else f"pixel {place}"
        for letter, place in zip(letters, numbers, strict=True)
    )


def _shape(numbers: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return rows and columns of an image, and the number of colors; None for other data."""
    axes = {len(place) for place in numbers}
    if axes not in ({2}, {3}):
        return None
    shape = tuple(max(along) + 1 for along in zip(*numbers, strict=True))
    is_whole = prod(shape) == len(numbers) and shape[2:] in ((), (COLORS,))
    return shape if is_whole else None


def _sensor_type(scenario: Mapping[str, Any], vehicle: str, sensor: str) -> str:
    """Return the type of a sensor in the scenario; its name if the type is unknown."""
    # vehicles of a counted entry have a number in their names
    entry: Any = scenario.get("vehicles")
    for keys in ((vehicle, vehicle.rpartition("-")[0]), ("sensors",), (sensor,)):
        entry = entry if isinstance(entry, Mapping) else {}
        entry = next((entry[key] for key in keys if key in entry), None)
    sensor_type = entry.get("type") if isinstance(entry, Mapping) else entry
    return sensor_type if isinstance(sensor_type, str) else sensor
