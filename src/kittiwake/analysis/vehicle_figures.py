"""Figures of one vehicle's flight, from its log."""

from math import isfinite

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.table import (
    CONTACT,
    LANDINGS,
    NEAREST_OBSTACLE,
    POSITION_WORLD_M,
    SETPOINT_WORLD_M,
    TOUCH_OFFSET,
    TOUCH_SPEED,
    TOUCHED_DECK,
    Table,
    lies_on_its_back,
)

Rows = Float64[np.ndarray, "rows part"]


def final_speed_mps(velocity_mps: Rows) -> float:
    """Return the speed in the last row; NaN without rows."""
    return float(np.linalg.norm(velocity_mps[-1])) if len(velocity_mps) else np.nan


def distance_m(position_m: Rows) -> float:
    """Return the length of the straight segments between the logged positions."""
    return float(np.linalg.norm(np.diff(position_m, axis=0), axis=1).sum())


def max_tilt_rad(q_world_from_body: Rows) -> float:
    """Return the largest angle between the z axes of body and world; NaN without rows.

    Half of it has the sine sqrt(x^2 + y^2) and the cosine sqrt(w^2 + z^2). Their arctangent is
    exact near upright, unlike an arccosine, and independent of the quaternion's norm.
    """
    w, x, y, z = q_world_from_body.T
    tilt_rad = 2.0 * np.arctan2(np.hypot(x, y), np.hypot(w, z))
    return float(tilt_rad.max(initial=-np.inf))


def tracking_rms_m(table: Table) -> float:
    """Return the RMS distance to the setpoint; NaN if none was logged."""
    squares = np.square(table.part(POSITION_WORLD_M) - table.part(SETPOINT_WORLD_M)).sum(axis=1)
    known = squares[np.isfinite(squares)]
    return float(np.sqrt(known.mean())) if known.size else np.nan


def contacts(table: Table) -> int | None:
    """Return the number of times at which contact began; None if contact was not logged."""
    if CONTACT not in table.columns:
        return None
    touching = table.part((CONTACT,))[:, 0] > 0.0
    return int(np.count_nonzero(touching[1:] & ~touching[:-1]))


def least_clearance_m(table: Table) -> float:
    """Return the minimum distance between a vehicle's body and an obstacle."""
    free_m = table.part((NEAREST_OBSTACLE,))[:, 0]
    return float(free_m[np.isfinite(free_m)].min(initial=np.inf))


def touchdown(table: Table) -> dict[str, float | None] | None:
    """Return time, speed and offset of the last landing; None without a landing.

    The speed is relative to the landing surface; the offset, None on the ground, is from the center
    of the deck.
    """
    landings = table.part((LANDINGS,))[:, 0]
    if not len(landings) or not landings[-1] > 0.0:
        return None
    row = int(np.argmax(landings == landings[-1]))
    parts = ("time_s", TOUCH_SPEED, TOUCHED_DECK, TOUCH_OFFSET)
    time_s, speed_mps, on_deck, offset_m = table.part(parts)[row]
    return {
        "time_s": finite(time_s),
        "speed_mps": finite(speed_mps),
        "offset_m": finite(offset_m) if on_deck else None,
    }


def turned_over_s(table: Table) -> float | None:
    """Return when a vehicle first touched a surface with its z axis down; None for never."""
    if CONTACT not in table.columns:
        return None
    rows = np.flatnonzero(lies_on_its_back(table.part(("qx", "qy", CONTACT))))
    return float(table.part(("time_s",))[rows[0], 0]) if rows.size else None


def finite(value: float) -> float | None:
    """Return a number; None if it is not finite."""
    return float(value) if isfinite(value) else None
