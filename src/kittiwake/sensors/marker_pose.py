"""Where a marker is, out of the picture of a camera: found and solved by OpenCV.

The edges of an AprilTag are lines through the largest gradients, and its corners where they meet;
the pose of the square follows from these (IPPE: Collins and Bartoli 2014, "Infinitesimal
plane-based pose estimation"), refined by least squares.
"""

from functools import cache
from math import tan
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, UInt8

from kittiwake.core.extras import optional

# in whose axes z is along the optical axis, x to the right and y down
FORWARD, LEFT, UP = 2, 0, 1
ASIDE_PX = 1e-3


class MarkerPose(NamedTuple):
    """Of a marker in the camera's axes (x along the optical axis, y left, z up)."""

    position_m: Float64[np.ndarray, "3"]
    along: Float64[np.ndarray, "3"]


def pose_of(
    picture: UInt8[np.ndarray, "rows columns 3"], field_rad: float, side_m: float, number: int
) -> MarkerPose | None:
    """Of the marker with this number and side; None if it is not found."""
    cv2 = optional("cv2", "camera")
    corners, numbers, _ = _detector().detectMarkers(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY))
    found = [] if numbers is None else np.ravel(numbers).tolist()
    if number not in found:
        return None
    seen = np.reshape(corners[found.index(number)], (4, 2)).astype(float)
    height, width = picture.shape[:2]
    focal = 0.5 * width / tan(0.5 * field_rad)
    # whole numbers are on the edges of pixels, as this refinement gives them
    middle = (0.5 * width, 0.5 * height)
    matrix = np.array([[focal, 0.0, middle[0]], [0.0, focal, middle[1]], [0.0, 0.0, 1.0]])
    half = 0.5 * side_m
    square = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
    corners_m = np.concatenate([square, np.zeros((4, 1))], axis=1)
    # of a square seen exactly straight on IPPE finds no pose
    aside = seen + np.array([[ASIDE_PX], [0.0], [0.0], [0.0]])
    solved, turn, place = cv2.solvePnP(
        corners_m, aside, matrix, None, flags=cv2.SOLVEPNP_IPPE_SQUARE
    )
    if not solved:
        return None
    # the first pose can be beside the marker by a tenth of its offset in the picture
    turn, place = cv2.solvePnPRefineLM(corners_m, seen, matrix, None, turn, place)
    if not (np.isfinite(turn).all() and np.isfinite(place).all()):
        return None
    rotation, _ = cv2.Rodrigues(turn)
    return MarkerPose(_from_optical(np.ravel(place)), _from_optical(rotation[:, 0]))


def _from_optical(v: np.ndarray) -> np.ndarray:
    return np.array([v[FORWARD], -v[LEFT], -v[UP]])


@cache
def _detector() -> Any:
    aruco = optional("cv2", "camera").aruco
    how = aruco.DetectorParameters()
    how.cornerRefinementMethod = aruco.CORNER_REFINE_APRILTAG
    family = aruco.getPredefinedDictionary(aruco.DICT_APRILTAG_36h11)
    return aruco.ArucoDetector(family, how)
