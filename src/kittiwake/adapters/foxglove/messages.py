"""Messages of Foxglove as JSON objects, from positions, quaternions (w, x, y, z) and meshes."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from kittiwake.geometry.geodesy import Geodetic
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.rotation import UPRIGHT

Message = dict[str, Any]
Vectors = Float[np.ndarray, "n 3"]
Quaternions = Float[np.ndarray, "n 4"]

WORLD = "world"
LINE_STRIP, LINE_LIST = 0, 2
FLOAT32 = 7
# a tenth of a millimeter, and the like of a quaternion
DECIMALS, TURN_DECIMALS = 4, 7


def timestamp(time_s: float) -> Message:
    """Return a time of the flight."""
    nanoseconds = round(time_s * 1e9)
    return {"sec": nanoseconds // 10**9, "nsec": nanoseconds % 10**9}


def vector(values: Float[np.ndarray, "3"]) -> Message:
    """Return a vector."""
    return dict(zip("xyz", np.round(values, DECIMALS).tolist(), strict=True))


def quaternion(wxyz: Float[np.ndarray, "4"]) -> Message:
    """Return a quaternion, whose parts Foxglove knows by name."""
    return dict(zip("wxyz", np.round(wxyz, TURN_DECIMALS).tolist(), strict=True))


def pose(position: Float[np.ndarray, "3"], q: Float[np.ndarray, "4"] = UPRIGHT) -> Message:
    """Return a pose."""
    return {"position": vector(position), "orientation": quaternion(q)}


def color(rgb: Sequence[int], opacity: float = 1.0) -> Message:
    """Return a color from parts up to 255."""
    return {**dict(zip("rgb", (round(part / 255.0, 3) for part in rgb), strict=True)), "a": opacity}


def transforms(time_s: float, frames: Sequence[str], positions: Vectors, q: Quaternions) -> Message:
    """Return the transforms from frames to the world."""
    return {
        "transforms": [
            {
                "timestamp": timestamp(time_s),
                "parent_frame_id": WORLD,
                "child_frame_id": frame,
                "translation": vector(place),
                "rotation": quaternion(turn),
            }
            for frame, place, turn in zip(frames, positions, q, strict=True)
        ]
    }


def poses_in_world(time_s: float, positions: Vectors, q: Quaternions) -> Message:
    """Return poses in the world."""
    found = [pose(place, turn) for place, turn in zip(positions, q, strict=True)]
    return {"timestamp": timestamp(time_s), "frame_id": WORLD, "poses": found}


def triangles(mesh: ColoredMesh, place: Message) -> Message:
    """Return a mesh at a pose."""
    return {
        "pose": place,
        "points": [vector(point) for point in mesh.vertices_m],
        "color": color(mesh.rgb, mesh.opacity),
        "colors": [],
        "indices": mesh.faces.ravel().tolist(),
    }


def lines(kind: int, points: Vectors, rgb: Sequence[int]) -> Message:
    """Return lines of constant width on the screen, of the kind ``LINE_STRIP`` or ``LINE_LIST``."""
    return {
        "type": kind,
        "pose": pose(np.zeros(3)),
        "thickness": 2.0,
        "scale_invariant": True,
        "points": [vector(point) for point in points],
        "color": color(rgb),
        "colors": [],
        "indices": [],
    }


def entity(
    time_s: float,
    frame: str,
    name: str,
    *,
    meshes: Sequence[Message] = (),
    strokes: Sequence[Message] = (),
) -> Message:
    """Return an object that moves with a frame until the end."""
    empty = {kind: [] for kind in ("metadata", "arrows", "cubes", "spheres", "cylinders", "texts")}
    return {
        "timestamp": timestamp(time_s),
        "frame_id": frame,
        "id": name,
        "lifetime": timestamp(0.0),
        "frame_locked": True,
        **empty,
        "models": [],
        "lines": list(strokes),
        "triangles": list(meshes),
    }


def point_cloud(time_s: float, points: Vectors) -> Message:
    """Return points in the world."""
    return {
        "timestamp": timestamp(time_s),
        "frame_id": WORLD,
        "pose": pose(np.zeros(3)),
        "point_stride": 12,
        "fields": [
            {"name": axis, "offset": 4 * number, "type": FLOAT32}
            for number, axis in enumerate("xyz")
        ],
        "data": base64.b64encode(points.astype("<f4").tobytes()).decode(),
    }


def location(time_s: float, frame: str, place: Geodetic) -> Message:
    """Return a position on the Earth without a covariance."""
    return {
        "timestamp": timestamp(time_s),
        "frame_id": frame,
        "latitude": float(np.degrees(place.latitude_rad)),
        "longitude": float(np.degrees(place.longitude_rad)),
        "altitude": place.altitude_m,
        "position_covariance": [0.0] * 9,
        "position_covariance_type": 0,
    }
