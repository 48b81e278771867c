"""How long a flight may be, and what fits into this machine's memory."""

import os
from math import ceil, isfinite

from kittiwake.core.errors import ScenarioError

# what a vehicle takes while it is compiled, stepped and logged: measured on the Pelican, rounded up
BYTES_PER_VEHICLE = 20_000
BYTES_PER_PAIR = 40
# sixty columns in double precision, twice while a log is read
BYTES_PER_ROW = 1_000
# of pictures, beside those: as they are flown, put together and summed up, and the column's name
BYTES_PER_NUMBER = 24
BYTES_PER_COLUMN = 160
MEMORY_SHARE = 0.5
MAX_STEPS = 2**31 - 1
# a log counts its channels in sixteen bits, and keeps one for events
MAX_LOGGED = 2**16 - 2
# each is read by itself, which takes milliseconds; one with a count is one entry
MAX_ENTRIES = 2_000
# forgives the rounding of a duration in decimals
STEP_TOLERANCE = 1e-6


def steps_in(duration_s: float, rate_hz: float) -> int:
    """How many steps a flight takes that lasts at least so long."""
    return ceil(duration_s * rate_hz - STEP_TOLERANCE)


def check_duration(duration_s: float, rate_hz: float) -> None:
    """Refuses a flight of no step, and one of more steps than can be counted.

    Raises:
        ScenarioError: with what is allowed.
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
    """Refuse more entries of vehicles than are read within seconds.

    Raises:
        ScenarioError: with how many vehicles are written as one entry.
    """
    if entries > MAX_ENTRIES:
        message = (
            f"{entries} entries, at most {MAX_ENTRIES} are read; write vehicles that are alike as "
            "one entry with count, and spacing_m and grid for their places"
        )
        raise ScenarioError(message)


def check_logged(vehicles: int) -> None:
    """Refuse more vehicles than a log has room for; flights without a log have no such limit.

    Raises:
        ScenarioError: with how many there may be.
    """
    if vehicles > MAX_LOGGED:
        message = (
            f"{vehicles} vehicles cannot be logged, at most {MAX_LOGGED}; use the functions of the "
            "Python API (init, advance, rollout) for more, which memory alone limits"
        )
        raise ScenarioError(message)


def check_fleet_size(vehicles: int, *, paired: bool) -> None:
    """Refuses more vehicles than fit; ``paired`` ones are compared each with each.

    Raises:
        ScenarioError: with what they would need.
    """
    needed = vehicles * BYTES_PER_VEHICLE + (vehicles**2 * BYTES_PER_PAIR if paired else 0)
    if needed > _available():
        message = (
            f"{vehicles} vehicles need about {needed / 1e9:.1f} GB of memory, more than the "
            f"{_available() / 1e9:.1f} GB that a run may take here"
        )
        raise ScenarioError(message)


def check_log_size(vehicles: int, duration_s: float, rate_hz: float, pictured: int = 0) -> None:
    """Refuses a log that does not fit, into memory or into its format.

    ``pictured`` is how many numbers a row of all vehicles has in pictures.

    Raises:
        ScenarioError: with the rate at which it would.
    """
    check_logged(vehicles)
    row = vehicles * BYTES_PER_ROW + pictured * BYTES_PER_NUMBER
    free = _available() - pictured * BYTES_PER_COLUMN
    needed = (duration_s * rate_hz + 1) * row
    if needed > free:
        crew = "one vehicle" if vehicles == 1 else f"{vehicles} vehicles"
        what = crew + (f", with {pictured} numbers in pictures," * (pictured > 0))
        advice = f"set time.log_rate_hz below {rate_hz * free / needed:.2g}, " * (free > row)
        pixels = "take pictures of fewer pixels, " * (pictured > 0)
        message = (
            f"the log of {what} over {duration_s:g} s needs about {needed / 1e9:.0f} GB of memory, "
            f"more than the {max(free, 0.0) / 1e9:.0f} GB that it may take here; {advice}{pixels}"
            "or fly a shorter time"
        )
        raise ScenarioError(message)


def _available() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * MEMORY_SHARE
