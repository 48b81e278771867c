"""Orbits that are known at any time, and SP3 files of them."""

from datetime import UTC, datetime, timedelta

import numpy as np

GRAVITATION_M3PS2, EARTH_RATE_RADPS = 3.986004418e14, 7.2921151467e-5
BEGINS_GPS = datetime(2026, 3, 1, 6, tzinfo=UTC)


def place_ecef_m(number, time_s):
    """An ellipse with the ripples that the flattened Earth makes, in axes that turn with it."""
    a, eccentricity = 26_560e3 + 1e3 * number, 0.002 * (number % 5 + 1)
    node = 1.1 * number - EARTH_RATE_RADPS * time_s
    mean = np.sqrt(GRAVITATION_M3PS2 / a**3) * time_s + 2.3 * number
    anomaly = mean
    for _ in range(20):
        anomaly = mean + eccentricity * np.sin(anomaly)
    true = 2.0 * np.arctan(
        np.sqrt((1.0 + eccentricity) / (1.0 - eccentricity)) * np.tan(anomaly / 2.0)
    )
    u = true + 0.7 * number + 4e-6 * np.sin(2.0 * mean)
    radius = a * (1.0 - eccentricity * np.cos(anomaly)) + 300.0 * np.cos(2.0 * u)
    tilt = np.radians(55.0 + number % 3)
    along, across = np.cos(u), np.sin(u) * np.cos(tilt)
    return np.stack(
        [
            radius * (along * np.cos(node) - across * np.sin(node)),
            radius * (along * np.sin(node) + across * np.cos(node)),
            radius * np.sin(u) * np.sin(tilt),
        ],
        axis=-1,
    )


def sp3_lines(
    numbers=(1, 2, 5, 9, 17), times=24, interval_s=900, version="d", begins_gps=BEGINS_GPS
):
    """A file with the positions rounded as such files have them, to a millimeter."""
    lines = [
        f"#{version}P{begins_gps:%Y %m %d %H %M}  0.00000000 {times:7d} ORBIT IGS20 FIT  XXX",
        "## 2408  21600.00000000   900.00000000 61100 0.2500000000000",
        f"+   {len(numbers):2d}   " + "".join(f"G{number:02d}" for number in numbers),
        "%c G  cc GPS ccc cccc cccc cccc cccc ccccc ccccc ccccc ccccc",
        "%c cc cc ccc ccc cccc cccc cccc cccc ccccc ccccc ccccc ccccc",
        "%f  1.2500000  1.025000000  0.00000000000  0.000000000000000",
        "/* made of smooth orbits",
    ]
    for count in range(times):
        time_s = float(count * interval_s)
        now = begins_gps + timedelta(seconds=time_s)
        lines.append(f"*  {now:%Y %m %d %H %M} {now.second:11.8f}")
        for number in numbers:
            x, y, z = place_ecef_m(number, time_s) / 1000.0
            lines.append(f"PG{number:02d}{x:14.6f}{y:14.6f}{z:14.6f}    123.456789")
    return [*lines, "EOF"]
