"""Pose of a marker from a camera picture: detected and solved by OpenCV.

The edges of an AprilTag are lines through the largest gradients, and its corners their
intersections; the pose of the square follows from these (IPPE: Collins and Bartoli 2014,
"Infinitesimal plane-based pose estimation"), refined by least squares.
"""

from functools import cache
from math import tan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float64, UInt8

from kittiwake.core.extras import import_optional

if TYPE_CHECKING:
    import cv2

# OpenCV's axes: z along the optical axis, x to the right, y down
FORWARD, LEFT, UP = 2, 0, 1
OFFSET_PX = 1e-3


class MarkerPose(NamedTuple):
    """Position and x axis of a marker in camera axes (x along the optical axis, y left, z up)."""

    position_m: Float64[np.ndarray, "3"]
    along: Float64[np.ndarray, "3"]


def find_marker(
    picture: UInt8[np.ndarray, "rows columns 3"], field_rad: float, side_m: float, tag: int
) -> MarkerPose | None:
    """Return the pose of the marker with this tag and side; None if it is not found."""
    cv2 = import_optional("cv2", "camera")
    corners, numbers, _ = _detector().detectMarkers(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY))
    found = [] if numbers is None else np.ravel(numbers).tolist()
    if tag not in found:
        return None
    seen = np.reshape(corners[found.index(tag)], (4, 2)).astype(float)
    height, width = picture.shape[:2]
    focal = 0.5 * width / tan(0.5 * field_rad)
    # integer coordinates are on pixel edges, as in this refinement
    middle = (0.5 * width, 0.5 * height)
    matrix = np.array([[focal, 0.0, middle[0]], [0.0, focal, middle[1]], [0.0, 0.0, 1.0]])
    half = 0.5 * side_m
    square = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
    corners_m = np.concatenate([square, np.zeros((4, 1))], axis=1)
    # IPPE finds no pose of a square seen exactly straight on
    shifted = seen + np.array([[OFFSET_PX], [0.0], [0.0], [0.0]])
    solved, rotation_vector, translation = cv2.solvePnP(
        corners_m, shifted, matrix, None, flags=cv2.SOLVEPNP_IPPE_SQUARE
    )
    if not solved:
        return None
    # the first pose can be off by a tenth of the marker's offset in the picture
    rotation_vector, translation = cv2.solvePnPRefineLM(
        corners_m, seen, matrix, None, rotation_vector, translation
    )
    if not (np.isfinite(rotation_vector).all() and np.isfinite(translation).all()):
        return None
    rotation, _ = cv2.Rodrigues(rotation_vector)
    return MarkerPose(_from_optical(np.ravel(translation)), _from_optical(rotation[:, 0]))


def _from_optical(v: np.ndarray) -> np.ndarray:
    return np.array([v[FORWARD], -v[LEFT], -v[UP]])


@cache
def _detector() -> "cv2.aruco.ArucoDetector":
    aruco = import_optional("cv2", "camera").aruco
    parameters = aruco.DetectorParameters()
    parameters.cornerRefinementMethod = aruco.CORNER_REFINE_APRILTAG
    family = aruco.getPredefinedDictionary(aruco.DICT_APRILTAG_36h11)
    return aruco.ArucoDetector(family, parameters)
