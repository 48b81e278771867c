"""Limits on the length of a flight and on its memory."""

import os
from math import ceil, isfinite

from kittiwake.core.errors import ScenarioError

# memory of a vehicle while it is compiled, stepped and logged: measured on the Pelican, rounded up
BYTES_PER_VEHICLE = 20_000
BYTES_PER_PAIR = 40
# sixty columns in double precision, twice while a log is read
BYTES_PER_ROW = 1_000
# memory of images: per number during flight, concatenation and summary; per column for its name
BYTES_PER_NUMBER = 24
BYTES_PER_COLUMN = 160
MEMORY_SHARE = 0.5
MAX_STEPS = 2**31 - 1
# a log has 16-bit channel numbers, of which one is for events
MAX_LOGGED = 2**16 - 2
# each entry takes milliseconds to read; vehicles with a count are one entry
MAX_ENTRIES = 2_000
# tolerance for rounding of a decimal duration
STEP_TOLERANCE = 1e-6


def steps_in(duration_s: float, rate_hz: float) -> int:
    """Return the number of steps of a flight of at least this duration."""
    return ceil(duration_s * rate_hz - STEP_TOLERANCE)


def check_duration(duration_s: float, rate_hz: float) -> None:
    """Refuse a flight without a step, and one with more steps than can be counted.

    Raises:
        ScenarioError: with the allowed durations.
    """
    if not (isfinite(duration_s) and duration_s * rate_hz >= 1.0 - STEP_TOLERANCE):
        message = (
            f"{duration_s:g} s is not allowed; must be at least one step, {1 / rate_hz:g} s at "
            f"{rate_hz:g} Hz"
        )
        raise ScenarioError(message)
    if duration_s * rate_hz > MAX_STEPS:
        message = (
            f"{duration_s:g} s at {rate_hz:g} Hz are {duration_s * rate_hz:.3g} steps; "
            f"at most {MAX_STEPS} can be counted"
        )
        raise ScenarioError(message)


def check_entries(entries: int) -> None:
    """Refuse more vehicle entries than can be read within seconds.

    Raises:
        ScenarioError: with the way to write many vehicles as one entry.
    """
    if entries > MAX_ENTRIES:
        message = (
            f"{entries} entries; at most {MAX_ENTRIES} are allowed; write equal vehicles as one "
            "entry with count, and spacing_m and grid for their positions"
        )
        raise ScenarioError(message)


def check_logged(vehicles: int) -> None:
    """Refuse more vehicles than a log can hold; flights without a log have no such limit.

    Raises:
        ScenarioError: with the maximum number.
    """
    if vehicles > MAX_LOGGED:
        message = (
            f"{vehicles} vehicles cannot be logged; at most {MAX_LOGGED} are allowed; for more, "
            "use the functions of the Python API (init, advance, rollout), limited by memory only"
        )
        raise ScenarioError(message)


def check_fleet_size(vehicles: int, *, paired: bool) -> None:
    """Refuse more vehicles than fit into memory; ``paired`` ones need memory for each pair.

    Raises:
        ScenarioError: with the required memory.
    """
    needed = vehicles * BYTES_PER_VEHICLE + (vehicles**2 * BYTES_PER_PAIR if paired else 0)
    if needed > _available():
        message = (
            f"{vehicles} vehicles need about {needed / 1e9:.1f} GB of memory; at most "
            f"{_available() / 1e9:.1f} GB are available for a run"
        )
        raise ScenarioError(message)


def check_log_size(
    vehicles: int, duration_s: float, rate_hz: float, image_numbers: int = 0
) -> None:
    """Refuse a log that does not fit into memory or into its format.

    ``image_numbers`` is the number of image values in a row of all vehicles.

    Raises:
        ScenarioError: with the highest possible log rate.
    """
    check_logged(vehicles)
    row = vehicles * BYTES_PER_ROW + image_numbers * BYTES_PER_NUMBER
    free = _available() - image_numbers * BYTES_PER_COLUMN
    needed = (duration_s * rate_hz + 1) * row
    if needed > free:
        noun = "one vehicle" if vehicles == 1 else f"{vehicles} vehicles"
        content = noun + (f", with {image_numbers} numbers in images," * (image_numbers > 0))
        advice = f"set time.log_rate_hz below {rate_hz * free / needed:.2g}, " * (free > row)
        pixels = "reduce the image resolution, " * (image_numbers > 0)
        message = (
            f"the log of {content} over {duration_s:g} s needs about {needed / 1e9:.0f} GB of "
            f"memory; at most {max(free, 0.0) / 1e9:.0f} GB are available; {advice}{pixels}"
            "or fly a shorter time"
        )
        raise ScenarioError(message)


def _available() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * MEMORY_SHARE
