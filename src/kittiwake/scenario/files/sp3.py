"""Files of precise orbits in the format SP3, versions a to d (Hilla, NGS/IGS, 2016).

Read are the positions of GPS satellites; their clocks, velocities, accuracies and the satellites of
other systems are passed over. A position of three zeros is none.
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
# lines that are not read: the header's, comments, velocities and correlations
PASSED_OVER = ("#", "+", "%", "/*", "V", "EP", "EV")
# CCC, a placeholder, is that of the versions before c
TIMES_OF_GPS = ("GPS", "GAL", "QZS", "CCC", "ccc")
# of an orbit around the Earth, in kilometers
LOWEST_KM, HIGHEST_KM = 6_400.0, 100_000.0


@dataclass
class _Epoch:
    """A time of the file, and by satellite the positions then."""

    time_gps: datetime
    positions_km: dict[int, tuple[float, float, float]] = field(default_factory=dict)


def read_sp3(path: Path) -> OrbitTable:
    """The orbits of the GPS satellites in a file.

    Raises:
        ScenarioError: if the file is missing, too large, broken or too short, with the line.
    """
    epochs = _epochs(path)
    numbers = tuple(sorted({number for epoch in epochs for number in epoch.positions_km}))
    if not numbers:
        message = f"{path.name}: holds no position of a GPS satellite"
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
        message = f"{path.name}: holds no time (a line that starts with *)"
        raise ScenarioError(message)
    return epochs


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Up to the end of the file or the line that says so."""
    try:
        if path.stat().st_size > MAX_BYTES:
            message = f"{path.name}: larger than {MAX_BYTES // 2**20} MiB, the most that is read"
            raise ScenarioError(message)
        # comments may be in any encoding; what is read is ASCII
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("EOF"):
            return
        yield number, line


def _read_line(number: int, line: str, epochs: list[_Epoch]) -> None:
    """Takes one line in; raises a ValueError that says what is wrong with it."""
    if number == 1:
        _refuse_other_formats(line)
    elif line.startswith("%c"):
        _refuse_other_times(line)
    elif line.startswith("*"):
        _begin(line, epochs)
    elif line.startswith("P"):
        _place(line, epochs)
    elif line.strip() and not line.startswith(PASSED_OVER):
        message = f"{shortened(line)} is no line of an SP3 file"
        raise ValueError(message)


def _refuse_other_formats(line: str) -> None:
    if not FIRST_LINE.match(line):
        message = f"an SP3 file begins with #a, #b, #c or #d, then P or V; it is {shortened(line)}"
        raise ValueError(message)


def _refuse_other_times(line: str) -> None:
    """Of the two lines of this kind only the first one names the times."""
    named = line[9:12]
    if named.strip() and named not in TIMES_OF_GPS:
        message = f"its times are those of {shortened(named)}; only those of GPS can be read"
        raise ValueError(message)


def _begin(line: str, epochs: list[_Epoch]) -> None:
    try:
        year, month, day, hour, minute, second = line[1:].split()[:6]
        whole = datetime(*map(int, (year, month, day, hour, minute)), tzinfo=UTC)
        time_gps = whole + timedelta(seconds=float(second))
    except (ValueError, TypeError, OverflowError):
        message = f"{shortened(line[1:].strip())} is no time such as 2010  8 31 15  0  0.00000000"
        raise ValueError(message) from None
    if epochs and time_gps <= epochs[-1].time_gps:
        message = "its time must be later than the one before it"
        raise ValueError(message)
    if len(epochs) == MAX_TIMES:
        message = f"more than {MAX_TIMES} times, the most that are read"
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
            f"{shortened(line)} is no position; write P, G and the number, then x, y and z in "
            "kilometers, 14 characters each"
        )
        raise ValueError(message) from None
    if not epochs:
        message = "a position before the first time"
        raise ValueError(message)
    known = epochs[-1].positions_km
    if satellite in known:
        message = f"satellite {satellite} has two positions at one time"
        raise ValueError(message)
    if x == y == z == 0.0:
        return
    if not LOWEST_KM <= math.hypot(x, y, z) <= HIGHEST_KM:
        message = (
            f"{math.hypot(x, y, z):g} km from the Earth's center is no orbit; positions are in "
            f"kilometers, from {LOWEST_KM:g} to {HIGHEST_KM:g}"
        )
        raise ValueError(message)
    known[satellite] = (x, y, z)
