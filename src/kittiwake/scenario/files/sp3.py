"""Reader of precise orbits in the format SP3, versions a to d (Hilla, NGS/IGS, 2016).

Only positions of GPS satellites are read; clocks, velocities, accuracies and satellites of other
systems are ignored. A position of three zeros means that there is none.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.satellites.precise import OrbitTable
from kittiwake.scenario.problems import shortened

MAX_BYTES = 64 * 1024 * 1024
MAX_TIMES = 20_000
FIRST_LINE = re.compile(r"#[abcd][PV]")
# ignored lines: header, comments, velocities and correlations
IGNORED = ("#", "+", "%", "/*", "V", "EP", "EV")
# names of GPS time or of equal time scales; CCC is a placeholder in the versions before c
TIME_SCALES = ("GPS", "GAL", "QZS", "CCC", "ccc")
# allowed distance from the center of the Earth in kilometers
LOWEST_KM, HIGHEST_KM = 6_400.0, 100_000.0


@dataclass
class _Epoch:
    """Epoch of the file: a time, and the positions by satellite number."""

    time_gps: datetime
    positions_km: dict[int, tuple[float, float, float]] = field(default_factory=dict)


def read_sp3(path: Path) -> OrbitTable:
    """Return the orbits of the GPS satellites in a file.

    Raises:
        ScenarioError: if the file is missing, too large, damaged or too short, with the line.
    """
    epochs = _epochs(path)
    numbers = tuple(sorted({number for epoch in epochs for number in epoch.positions_km}))
    if not numbers:
        message = f"{path.name}: has no position of a GPS satellite"
        raise ScenarioError(message)
    first = epochs[0].time_gps
    nowhere = (math.nan, math.nan, math.nan)
    positions_km = [[e.positions_km.get(number, nowhere) for number in numbers] for e in epochs]
    return OrbitTable(
        source=path.name,
        begins_gps=first,
        numbers=numbers,
        time_s=np.array([(e.time_gps - first).total_seconds() for e in epochs]),
        positions_ecef_m=np.array(positions_km) * 1000.0,
    )


def _epochs(path: Path) -> list[_Epoch]:
    epochs: list[_Epoch] = []
    for number, line in _lines(path):
        try:
            _read_line(number, line, epochs)
        except ValueError as error:
            message = f"{path.name}:{number}: {error}"
            raise ScenarioError(message) from None
    if not epochs:
        message = f"{path.name}: has no epoch (a line that starts with *)"
        raise ScenarioError(message)
    return epochs


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines up to the end of the file or the line EOF."""
    try:
        if path.stat().st_size > MAX_BYTES:
            message = f"{path.name}: larger than {MAX_BYTES // 2**20} MiB, the most that is read"
            raise ScenarioError(message)
        # comments may have any encoding; all other lines are ASCII
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("EOF"):
            return
        yield number, line


def _read_line(number: int, line: str, epochs: list[_Epoch]) -> None:
    """Add the content of one line to the epochs; raise a ValueError for a mistake in it."""
    if number == 1:
        _refuse_other_formats(line)
    elif line.startswith("%c"):
        _refuse_other_time_scales(line)
    elif line.startswith("*"):
        _begin(line, epochs)
    elif line.startswith("P"):
        _place(line, epochs)
    elif line.strip() and not line.startswith(IGNORED):
        message = f"{shortened(line)} is not a line of an SP3 file"
        raise ValueError(message)


def _refuse_other_formats(line: str) -> None:
    if not FIRST_LINE.match(line):
        message = f"an SP3 file begins with #a, #b, #c or #d, then P or V; got {shortened(line)}"
        raise ValueError(message)


def _refuse_other_time_scales(line: str) -> None:
    """Refuse another time scale; only the first of the two %c lines names one."""
    named = line[9:12]
    if named.strip() and named not in TIME_SCALES:
        message = f"its time scale is {shortened(named)}; only GPS time can be read"
        raise ValueError(message)


def _begin(line: str, epochs: list[_Epoch]) -> None:
    try:
        year, month, day, hour, minute, second = line[1:].split()[:6]
        whole = datetime(*map(int, (year, month, day, hour, minute)), tzinfo=UTC)
        time_gps = whole + timedelta(seconds=float(second))
    except (ValueError, TypeError, OverflowError):
        message = (
            f"{shortened(line[1:].strip())} is not a time such as 2010  8 31 15  0  0.00000000"
        )
        raise ValueError(message) from None
    if epochs and time_gps <= epochs[-1].time_gps:
        message = "its time must be later than the one before it"
        raise ValueError(message)
    if len(epochs) == MAX_TIMES:
        message = f"more than {MAX_TIMES} times, the limit of the reader"
        raise ValueError(message)
    epochs.append(_Epoch(time_gps))


def _place(line: str, epochs: list[_Epoch]) -> None:
    if line[1:2] not in ("G", " "):
        return
    try:
        satellite = int(line[2:4])
        if satellite < 1:
            raise ValueError
        x, y, z = (float(line[at : at + 14]) for at in (4, 18, 32))
    except ValueError:
        message = (
            f"{shortened(line)} is not a position; write P, G and the number, then x, y and z in "
            "kilometers, 14 characters each"
        )
        raise ValueError(message) from None
    if not epochs:
        message = "there is no time before the first position"
        raise ValueError(message)
    known = epochs[-1].positions_km
    if satellite in known:
        message = f"satellite {satellite} has two positions at one time"
        raise ValueError(message)
    if x == y == z == 0.0:
        return
    if not LOWEST_KM <= math.hypot(x, y, z) <= HIGHEST_KM:
        message = (
            f"{math.hypot(x, y, z):g} km from the Earth's center is not an orbit; positions are in "
            f"kilometers, from {LOWEST_KM:g} to {HIGHEST_KM:g}"
        )
        raise ValueError(message)
    known[satellite] = (x, y, z)
