"""Units of recorded columns, and those of Kittiwake's columns by the end of their names."""

from kittiwake.core.errors import did_you_mean
from kittiwake.core.units import (
    DEGREE_RAD,
    FOOT_M,
    GAUSS_T,
    HECTOPASCAL_PA,
    KNOT_MPS,
    MICROTESLA_T,
    RPM_RADPS,
    STANDARD_GRAVITY_MPS2,
)

# end of a column's name -> units that it can be recorded in, and their factors
UNITS: dict[str, dict[str, float]] = {
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "m": {"m": 1.0, "mm": 1e-3, "cm": 1e-2, "km": 1e3, "ft": FOOT_M},
    "mps": {"m/s": 1.0, "mm/s": 1e-3, "cm/s": 1e-2, "km/h": 1.0 / 3.6, "kn": KNOT_MPS},
    "mps2": {"m/s2": 1.0, "cm/s2": 1e-2, "g": STANDARD_GRAVITY_MPS2},
    "rad": {"rad": 1.0, "mrad": 1e-3, "crad": 1e-2, "deg": DEGREE_RAD, "cdeg": 1e-2 * DEGREE_RAD},
    "radps": {"rad/s": 1.0, "mrad/s": 1e-3, "deg/s": DEGREE_RAD, "rpm": RPM_RADPS},
    "radps2": {"rad/s2": 1.0, "deg/s2": DEGREE_RAD},
    "n": {"N": 1.0, "mN": 1e-3, "kN": 1e3},
    "nm": {"N m": 1.0, "mN m": 1e-3},
    "v": {"V": 1.0, "mV": 1e-3},
    "a": {"A": 1.0, "mA": 1e-3, "cA": 1e-2},
    "w": {"W": 1.0, "mW": 1e-3, "kW": 1e3},
    "hz": {"Hz": 1.0, "kHz": 1e3},
    "pa": {"Pa": 1.0, "hPa": HECTOPASCAL_PA, "mbar": HECTOPASCAL_PA, "kPa": 1e3},
    "t": {"T": 1.0, "uT": MICROTESLA_T, "mG": 1e-3 * GAUSS_T, "G": GAUSS_T},
    "k": {"K": 1.0},
}
# units of a column whose name has none
NUMBERS = {"1": 1.0, "%": 0.01}
TIMES = UNITS["s"]


def units_of(column: str) -> dict[str, float]:
    """Return the units that a column can be recorded in, the column's own first."""
    _, separator, end = column.rpartition(".")[2].rpartition("_")
    return UNITS.get(end, NUMBERS) if separator else NUMBERS


def unit_problem(unit: str, allowed: dict[str, float], owner: str) -> str | None:
    """Return what is wrong with a unit; None if it is allowed."""
    if unit in allowed:
        return None
    known = {name for units in (*UNITS.values(), NUMBERS) for name in units}
    problem = f"cannot be the unit of {owner}" if unit in known else "unknown unit"
    return f"got {unit}; {problem}. {did_you_mean(unit, allowed)}"
