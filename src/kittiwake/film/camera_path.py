"""From where a film looks: all vehicles are in view, and the eye drifts slowly around them.

The eye looks down at the middle of all vehicles at a constant angle. It is as far as it takes to
hold them, and where they were a moment ago, in the picture. Both are smoothed over the film,
the distance ahead of time, so that nothing leaves the picture.
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
# above the horizon, of one vehicle and of many
LOW_RAD, HIGH_RAD, MANY = radians(17.0), radians(27.0), 20
# of half the picture, how much one vehicle fills, and how much is left free
FILLED, FREE = 0.27, 0.2
# of film
SMOOTH_S, AHEAD_S = 0.8, 1.6
# from so many sides it is looked whether obstacles hide vehicles, at so many times
SIDES, GLANCES = 12, 10
# of what has no size
LEAST_M = 0.15


def camera_path(
    reel: LogPlayback,
    cast: MovingBodies,
    times_s: Sequence[float] | Float64[np.ndarray, " times"],
    *,
    aspect: float,
    fps: float,
    follow: str | None = None,
    drifting: bool = True,
) -> list[View]:
    """A view for each picture of a film; of one vehicle alone if one is to be followed."""
    times = np.asarray(times_s, float)
    names = list(reel.tracks) if follow is None else [follow]
    now = _places(reel, names, times)
    past = _places(reel, names, times - 0.5 * TRAIL_S)
    low, high = now.min(axis=1), now.max(axis=1)
    center = _smooth(0.5 * (low + high), fps)
    body = body_m(cast, names)
    turns = (DRIFT_RADPS / fps) * np.arange(len(times)) * drifting
    rise = LOW_RAD + (HIGH_RAD - LOW_RAD) * min(1.0, (len(names) - 1) / MANY)
    points = np.concatenate([now, past], axis=1) - center[:, None]

    def to_eye_m(azimuth_rad: float) -> Float64[np.ndarray, "times 3"]:
        axes = _axes(turns + azimuth_rad, rise)
        least = body / (FILLED * _half())
        distance = np.maximum(_distance_m(points, axes, body, aspect), least)
        size = 2 * round(AHEAD_S * fps) + 1
        distance = _smooth(maximum_filter1d(distance, size, mode="nearest"), fps)
        return -distance[:, None] * axes[:, 2]

    azimuths = AZIMUTH_RAD + np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    looked = np.unique(np.linspace(0, len(times) - 1, GLANCES).round().astype(int))
    ways = [to_eye_m(azimuth)[looked] for azimuth in azimuths]
    best = clearest(reel.show, center[looked], ways)
    eyes = center + to_eye_m(azimuths[best])
    return [View(eye, at, HEIGHT_RAD) for eye, at in zip(eyes, center, strict=True)]


def body_m(cast: MovingBodies, names: Sequence[str]) -> float:
    """How far the largest of some vehicles reaches from its middle."""
    wanted = set(names)
    reach = [
        float(np.linalg.norm(part.look.vertices_m, axis=1).max(initial=0.0))
        for part in cast.parts
        if wanted.intersection(part.vehicles)
    ]
    return max(reach, default=LEAST_M)


def _places(
    reel: LogPlayback, names: Sequence[str], times: Float64[np.ndarray, " times"]
) -> Float64[np.ndarray, "times vehicles 3"]:
    """Where vehicles are; one that is lost is looked at where it was."""
    found = [_known(reel.tracks[name].places_world_m(times)) for name in names]
    kept = [places for places in found if places is not None]
    return np.stack(kept or [np.zeros((len(times), 3))], axis=1)


def _known(places: Float64[np.ndarray, "times 3"]) -> Float64[np.ndarray, "times 3"] | None:
    """With the last known place where there is none; None if there never is one."""
    known = np.isfinite(places).all(axis=1)
    if not known.any():
        return None
    last = np.maximum.accumulate(np.where(known, np.arange(len(places)), int(np.argmax(known))))
    return places[last]


def _axes(azimuths_rad: np.ndarray, rise_rad: float) -> Float64[np.ndarray, "times 3 3"]:
    """Right, up and ahead of eyes that look from azimuths down to a place."""
    c, s, flat = np.cos(azimuths_rad), np.sin(azimuths_rad), np.zeros(len(azimuths_rad))
    level, steep = cos(rise_rad), sin(rise_rad)
    right = np.stack([-s, c, flat], axis=1)
    up = np.stack([-steep * c, -steep * s, flat + level], axis=1)
    ahead = np.stack([-level * c, -level * s, flat - steep], axis=1)
    return np.stack([right, up, ahead], axis=1)


def _distance_m(
    points_m: np.ndarray, axes: np.ndarray, body: float, aspect: float
) -> Float64[np.ndarray, " times"]:
    """From which all points are in the picture."""
    right, up, ahead = np.einsum("tij,tpj->itp", axes, points_m)
    half = _half() * (1.0 - FREE)
    needed = np.maximum((np.abs(right) + body) / (aspect * half), (np.abs(up) + body) / half)
    return (needed - ahead).max(axis=1)


def _half() -> float:
    return tan(0.5 * HEIGHT_RAD)


def _smooth(values: np.ndarray, fps: float) -> np.ndarray:
    return gaussian_filter1d(values, SMOOTH_S * fps, axis=0, mode="nearest")
