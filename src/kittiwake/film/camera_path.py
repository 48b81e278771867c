"""Camera path of a film, which keeps all vehicles in view and drifts slowly around them.

The camera looks down at the center of all vehicles at a constant angle. It is far enough away to
show them and their recent positions; a single vehicle is not smaller than ``LEAST_FILLED``, unless
it would leave the picture. Center and distance are smoothed over the film; the distance
grows ahead of time, so that nothing leaves the picture.
"""

from collections.abc import Sequence
from math import cos, radians, sin, tan

import numpy as np
from jaxtyping import Float64
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from kittiwake.rendering.view import View
from kittiwake.scene.log_playback import TRAIL_S, LogPlayback
from kittiwake.scene.moving_bodies import MovingBodies
from kittiwake.scene.viewpoint import clearest

HEIGHT_RAD = 0.7
AZIMUTH_RAD, DRIFT_RADPS = radians(-130.0), radians(3.0)
# elevation of the camera for one vehicle and for ``MANY``
LOW_RAD, HIGH_RAD, MANY = radians(17.0), radians(27.0), 20
# shares of half the picture: filled by a single vehicle, and free as margin
FILLED, FREE = 0.27, 0.2
# least share of half the picture that a single vehicle's radius fills: 60 of 1280 pixels across
LEAST_FILLED = 60.0 / 1280.0 * 16.0 / 9.0
# film time of the smoothing, and by which the distance grows ahead
SMOOTH_S, AHEAD_S = 0.8, 1.6
# number of azimuths and of times at which obstacles in the view are counted
SIDES, GLANCES = 12, 10
# radius of a vehicle without shape
MIN_SIZE_M = 0.15


def camera_path(
    playback: LogPlayback,
    bodies: MovingBodies,
    times_s: Sequence[float] | Float64[np.ndarray, " times"],
    *,
    aspect: float,
    fps: float,
    follow: str | None = None,
    drifting: bool = True,
) -> list[View]:
    """Return a view for each picture of a film, of all vehicles or of the one to ``follow``."""
    times = np.asarray(times_s, float)
    names = list(playback.tracks) if follow is None else [follow]
    now = _positions(playback, names, times)
    past = _positions(playback, names, times - 0.5 * TRAIL_S)
    low, high = now.min(axis=1), now.max(axis=1)
    center = _smooth(0.5 * (low + high), fps)
    body = body_m(bodies, names)
    turns = (DRIFT_RADPS / fps) * np.arange(len(times)) * drifting
    rise = LOW_RAD + (HIGH_RAD - LOW_RAD) * min(1.0, (len(names) - 1) / MANY)
    points = np.concatenate([now, past], axis=1) - center[:, None]

    def to_eye_m(azimuth_rad: float) -> Float64[np.ndarray, "times 3"]:
        axes = _axes(turns + azimuth_rad, rise)
        least = body / (FILLED * _half())
        distance = _distance_m(points, axes, body, aspect)
        if len(names) == 1:
            present = _distance_m(points[:, :1], axes, body, aspect)
            distance = np.maximum(present, np.minimum(distance, body / (LEAST_FILLED * _half())))
        distance = np.maximum(distance, least)
        size = 2 * round(AHEAD_S * fps) + 1
        distance = _smooth(maximum_filter1d(distance, size, mode="nearest"), fps)
        return -distance[:, None] * axes[:, 2]

    azimuths = AZIMUTH_RAD + np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    looked = np.unique(np.linspace(0, len(times) - 1, GLANCES).round().astype(int))
    ways = [to_eye_m(azimuth)[looked] for azimuth in azimuths]
    best = clearest(playback.flight, center[looked], ways)
    eyes = center + to_eye_m(azimuths[best])
    return [View(eye, at, HEIGHT_RAD) for eye, at in zip(eyes, center, strict=True)]


def body_m(bodies: MovingBodies, names: Sequence[str]) -> float:
    """Return the radius of the largest of some vehicles."""
    chosen = set(names)
    reach = [
        float(np.linalg.norm(part.mesh.vertices_m, axis=1).max(initial=0.0))
        for part in bodies.parts
        if chosen.intersection(part.vehicles)
    ]
    return max(reach, default=MIN_SIZE_M)


def _positions(
    playback: LogPlayback, names: Sequence[str], times: Float64[np.ndarray, " times"]
) -> Float64[np.ndarray, "times vehicles 3"]:
    """Return the positions of vehicles; a lost vehicle keeps its last one."""
    found = [_known(playback.tracks[name].positions_world_m(times)) for name in names]
    kept = [positions for positions in found if positions is not None]
    return np.stack(kept or [np.zeros((len(times), 3))], axis=1)


def _known(positions: Float64[np.ndarray, "times 3"]) -> Float64[np.ndarray, "times 3"] | None:
    """Fill unknown positions with the last known one; return None if none is known."""
    known = np.isfinite(positions).all(axis=1)
    if not known.any():
        return None
    last = np.maximum.accumulate(np.where(known, np.arange(len(positions)), int(np.argmax(known))))
    return positions[last]


def _axes(azimuths_rad: np.ndarray, rise_rad: float) -> Float64[np.ndarray, "times 3 3"]:
    """Return the right, up and forward axes of cameras at some azimuths."""
    c, s, flat = np.cos(azimuths_rad), np.sin(azimuths_rad), np.zeros(len(azimuths_rad))
    level, steep = cos(rise_rad), sin(rise_rad)
    right = np.stack([-s, c, flat], axis=1)
    up = np.stack([-steep * c, -steep * s, flat + level], axis=1)
    ahead = np.stack([-level * c, -level * s, flat - steep], axis=1)
    return np.stack([right, up, ahead], axis=1)


def _distance_m(
    points_m: np.ndarray, axes: np.ndarray, body: float, aspect: float
) -> Float64[np.ndarray, " times"]:
    """Return the distance from which all points are in the picture."""
    right, up, ahead = np.einsum("tij,tpj->itp", axes, points_m)
    half = _half() * (1.0 - FREE)
    needed = np.maximum((np.abs(right) + body) / (aspect * half), (np.abs(up) + body) / half)
    return (needed - ahead).max(axis=1)


def _half() -> float:
    return tan(0.5 * HEIGHT_RAD)


def _smooth(values: np.ndarray, fps: float) -> np.ndarray:
    return gaussian_filter1d(values, SMOOTH_S * fps, axis=0, mode="nearest")
