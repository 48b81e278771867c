"""The only place that knows units other than SI and radians."""

import math

FOOT_M = 0.3048
KNOT_MPS = 1852.0 / 3600.0
HECTOPASCAL_PA = 100.0
DEGREE_RAD = math.pi / 180.0
RPM_RADPS = 2.0 * math.pi / 60.0

# ending of a user's key -> (ending of the stored name, factor)
USER_UNITS = {
    "_deg": ("_rad", DEGREE_RAD),
    "_degps": ("_radps", DEGREE_RAD),
    "_rpm": ("_radps", RPM_RADPS),
    "_kn": ("_mps", KNOT_MPS),
    "_hpa": ("_pa", HECTOPASCAL_PA),
    "_ft": ("_m", FOOT_M),
}
