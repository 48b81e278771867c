"""Artificial horizon and compass with wind arrow, as SVG images.

Body axes point forward, left and up: a positive roll lowers the right side, a positive pitch the
nose. Headings are clockwise from north, the world's y axis.
"""

from math import atan2, degrees, hypot, isfinite

# dial in units of the image, and pixels of a degree of pitch
RADIUS = 46.0
PIXELS_PER_DEG = 1.0
# marks of pitch in degrees
PITCH_LINES_DEG = (-30, -20, -10, 10, 20, 30)
# the ground must fill the dial at any pitch
FAR = 400
POINTS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
# slower winds have no direction
LEAST_WIND_MPS = 0.05
UNKNOWN_STYLE = "opacity:.3"


def heading_deg(yaw_rad: float) -> float:
    """Return the heading of a yaw, from 0 up to 360 degrees clockwise from north."""
    return (90.0 - degrees(yaw_rad)) % 360.0


def wind_from_deg(east_mps: float, north_mps: float) -> float:
    """Return the direction from which a wind blows, clockwise from north."""
    return degrees(atan2(-east_mps, -north_mps)) % 360.0


def compass_point(direction_deg: float) -> str:
    """Return the nearest of the eight points of the compass."""
    return POINTS[round(direction_deg / 45.0) % 8]


def horizon_svg(roll_rad: float, pitch_rad: float) -> str:
    """Return an artificial horizon; a pale one if an angle is not finite."""
    known = isfinite(roll_rad) and isfinite(pitch_rad)
    roll_deg, pitch_deg = (degrees(roll_rad), degrees(pitch_rad)) if known else (0.0, 0.0)
    bars = "".join(
        f'<path class="kw-tick" d="M-{9 if mark % 20 else 15} {mark * PIXELS_PER_DEG:g}h'
        f'{18 if mark % 20 else 30}"/>'
        for mark in PITCH_LINES_DEG
    )
    turn = f"rotate({-roll_deg:z.1f}) translate(0 {-pitch_deg * PIXELS_PER_DEG:z.1f})"
    return _dial(
        f'<clipPath id="kw-clip"><circle r="{RADIUS:g}"/></clipPath>'
        f'<g clip-path="url(#kw-clip)"><g transform="{turn}">'
        f'<path class="kw-sky" d="M-{FAR}-{FAR}h{2 * FAR}v{FAR}h-{2 * FAR}z"/>'
        f'<path class="kw-earth" d="M-{FAR} 0h{2 * FAR}v{FAR}h-{2 * FAR}z"/>'
        f'<path class="kw-tick" d="M-{FAR} 0h{2 * FAR}"/>{bars}</g></g>'
        '<path class="kw-self" d="M-28 0h16l5 6M28 0h-16l-5 6M0-1v2"/>',
        "Artificial horizon",
        known=known,
    )


def compass_svg(yaw_rad: float, wind_world_mps: tuple[float, float] | None = None) -> str:
    """Return a compass with the heading at the top, and the wind blowing across it.

    Args:
        yaw_rad: yaw of the vehicle.
        wind_world_mps: east and north components of the wind; None if it is not known.
    """
    known = isfinite(yaw_rad)
    heading = heading_deg(yaw_rad) if known else 0.0
    letters = "".join(
        f'<text transform="rotate({90 * place}) translate(0 -32)" dy="5">{POINTS[2 * place]}</text>'
        for place in range(4)
    )
    ticks = "".join(f'<path class="kw-tick" d="M0-46v6" transform="rotate({a})"/>' for a in _TICKS)
    arrow = ""
    if wind_world_mps is not None and hypot(*wind_world_mps) >= LEAST_WIND_MPS:
        blows = wind_from_deg(*wind_world_mps)
        arrow = f'<path class="kw-wind" transform="rotate({blows:.0f})" d="M0-24v46l-6-9m6 9l6-9"/>'
    return _dial(
        f'<g transform="rotate({-heading:z.0f})">{ticks}{letters}{arrow}</g>'
        '<path class="kw-self" d="M0-8l6 16l-6-4l-6 4zM0-46v9"/>',
        "Compass with wind",
        known=known,
    )


_TICKS = (30, 60, 120, 150, 210, 240, 300, 330)


def _dial(content: str, title: str, *, known: bool) -> str:
    pale = "" if known else f' style="{UNKNOWN_STYLE}"'
    return (
        f'<svg class="kw-dial" viewBox="-50 -50 100 100" role="img" aria-label="{title}"{pale}>'
        f'<circle class="kw-rim" r="{RADIUS:g}"/>{content}</svg>'
    )
