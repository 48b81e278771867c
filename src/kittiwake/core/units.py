"""Conversion of other units to SI and radians, at the boundaries of the program."""

import math
from functools import lru_cache

FOOT_M = 0.3048
KNOT_MPS = 1852.0 / 3600.0
HECTOPASCAL_PA = 100.0
MILLIAMPERE_HOUR_C = 3.6
DEGREE_RAD = math.pi / 180.0
RPM_RADPS = 2.0 * math.pi / 60.0
MICROTESLA_T = 1e-6
GAUSS_T = 1e-4
STANDARD_GRAVITY_MPS2 = 9.80665

# ending of a user's key -> (ending of the stored name, factor)
USER_UNITS: dict[str, tuple[str, float]] = {
    "_deg": ("_rad", DEGREE_RAD),
    "_degps": ("_radps", DEGREE_RAD),
    "_rpm": ("_radps", RPM_RADPS),
    "_kn": ("_mps", KNOT_MPS),
    "_hpa": ("_pa", HECTOPASCAL_PA),
    "_ft": ("_m", FOOT_M),
    "_mah": ("_c", MILLIAMPERE_HOUR_C),
    "_ut": ("_t", MICROTESLA_T),
    "_gauss": ("_t", GAUSS_T),
    "_degps_per_rthz": ("_radps_per_rthz", DEGREE_RAD),
    "_ug_per_rthz": ("_mps2_per_rthz", 1e-6 * STANDARD_GRAVITY_MPS2),
}

# ending of a stored name -> how its unit is written
UNIT_SYMBOLS: dict[str, str] = {
    "rad": "rad",
    "radps": "rad/s",
    "m": "m",
    "mps": "m/s",
    "mps2": "m/s²",
    "mps3": "m/s³",
    "n": "N",
    "nm": "N m",
    "v": "V",
    "a": "A",
    "w": "W",
    "hz": "Hz",
    "pa": "Pa",
    "k": "K",
    "s": "s",
    "t": "T",
}


def stored_name(key: str) -> str:
    """Return the name under which a user's key is stored: ``yaw_rad`` for ``yaw_deg``."""
    for user, (stored, _) in USER_UNITS.items():
        stem = key.removesuffix(user)
        if stem != key and not stem.endswith("_per"):
            return stem + stored
    return key


@lru_cache(maxsize=4096)  # compared for each run of a sweep
def stored_path(path: str) -> str:
    """Return a path of keys, joined by dots, with the names under which they are stored."""
    return ".".join(map(stored_name, path.split(".")))


def unit_factor(path: str) -> float:
    """Return the factor from a number at a path of keys to the stored one."""
    return math.prod(
        factor
        for key in path.split(".")
        for user, (_, factor) in USER_UNITS.items()
        if key.endswith(user) and stored_name(key) != key
    )
