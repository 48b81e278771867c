"""Warnings of angles that are likely meant in degrees."""

from collections.abc import Iterator, Mapping
from math import pi

from kittiwake.scenario.problems import Plain

# nobody writes an angle of several turns by intention
MOST_RAD = 4.0 * pi


def angle_warnings(data: Plain, path: str = "") -> Iterator[str]:
    """Yield a warning about each key in radians with a value of more than two turns."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            name = str(key)
            place = f"{path}.{name}" if path else name
            if name.endswith("_rad") and (largest := _largest(value)) > MOST_RAD:
                in_degrees = f"{name.removesuffix('_rad')}_deg"
                yield (
                    f"{place}: {largest:g} rad are {largest / (2.0 * pi):.1f} turns; write "
                    f"{in_degrees} for degrees"
                )
            else:
                yield from angle_warnings(value, place)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from angle_warnings(value, f"{path}.{index}")


def _largest(value: Plain) -> float:
    """Return the largest size of a number or of those in a list; 0 for anything else."""
    if isinstance(value, list):
        return max(map(_largest, value), default=0.0)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return abs(float(value)) if is_number else 0.0
