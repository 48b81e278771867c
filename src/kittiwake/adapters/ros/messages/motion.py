"""Odometry, transform, path and battery messages of a vehicle.

An estimator's covariance is that of position and velocity in world axes, and of a rotation vector
in world axes (``core.estimator.Uncertainty``). The latter is what ROS calls rotations about fixed
axes, so its block is copied to the covariance of a pose. No estimator reports a covariance of the
angular velocity: that block is zero.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float64

from kittiwake.adapters.ros.messages.plain import (
    Placement,
    PlainMessage,
    header,
    inverse,
    pose,
    rotate,
    stamp_ns,
    transform,
    xyz,
)
from kittiwake.adapters.ros.messages.topic import Columns, Row
from kittiwake.analysis.table import STATE_COLUMNS
from kittiwake.sim.record import ERRORS

ODOMETRY, PATH, BATTERY = "nav_msgs/Odometry", "nav_msgs/Path", "sensor_msgs/BatteryState"

# prefixes of the columns of the estimated and the true motion
ESTIMATE, TRUTH = "estimate.", ""
# errors of a pose among those of an estimator, in the order of ROS
POSE_ERRORS = ("x", "y", "z", "rx", "ry", "rz")
VELOCITY_ERRORS = ("vx", "vy", "vz")
UNKNOWN = [0.0] * 36
# initial time between two points of a path
PATH_STEP_S = 0.2
COULOMBS_PER_AMPERE_HOUR = 3600.0
CHARGING, DISCHARGING, GOOD, DEAD, LITHIUM_POLYMER = 1, 2, 1, 3, 3
NOT_MEASURED = float("nan")


class MotionMessages:
    """Messages of the estimated or true motion of a vehicle, from its rows.

    Args:
        column_index: index of each column in a row, by name.
        prefix: of the column names: ``ESTIMATE`` or ``TRUTH``.
        frames: the world's frame and the vehicle's frame.
        in_body: if True, velocities are published in body axes, otherwise in world axes.
    """

    def __init__(
        self,
        column_index: Mapping[str, int],
        prefix: str,
        frames: tuple[str, str],
        *,
        in_body: bool,
    ) -> None:
        self._world, self._child = frames
        self._in_body = in_body
        self._state = np.array([column_index[prefix + column] for column in STATE_COLUMNS[1:]])
        known = prefix == ESTIMATE and f"{ESTIMATE}cov_x_x" in column_index
        self._pose_covariance = _covariance_columns(column_index, POSE_ERRORS) if known else None
        self._velocity_covariance = (
            _covariance_columns(column_index, VELOCITY_ERRORS) if known else None
        )

    def placement(self, row: Row) -> Placement:
        """Return the vehicle's position and attitude in the world."""
        x, y, z, qw, qx, qy, qz = row.take(self._state[:7]).tolist()
        return Placement((x, y, z), (qw, qx, qy, qz))

    def transform(self, row: Row, ns: int) -> PlainMessage:
        """Return the ``geometry_msgs/TransformStamped`` from the world to the vehicle."""
        return transform(ns, self._world, self._child, self.placement(row))

    def odometry(self, row: Row, ns: int) -> PlainMessage:
        """Return a ``nav_msgs/Odometry``."""
        x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz = row.take(self._state).tolist()
        q, linear, angular = (qw, qx, qy, qz), (vx, vy, vz), (wx, wy, wz)
        if self._in_body:
            linear = rotate(inverse(q), linear)
        else:
            angular = rotate(q, angular)
        pose_covariance, twist_covariance = UNKNOWN, UNKNOWN
        if self._pose_covariance is not None and self._velocity_covariance is not None:
            pose_covariance = row.take(self._pose_covariance).tolist()
            twist_covariance = self._twist_covariance(row.take(self._velocity_covariance), q)
        return {
            "header": header(ns, self._world),
            "child_frame_id": self._child,
            "pose": {"pose": pose(Placement((x, y, z), q)), "covariance": pose_covariance},
            "twist": {
                "twist": {"linear": xyz(linear), "angular": xyz(angular)},
                "covariance": twist_covariance,
            },
        }

    def _twist_covariance(
        self, covariance: Float64[np.ndarray, "_"], q: tuple[float, float, float, float]
    ) -> list[float]:
        """Return the 6 x 6 covariance of a twist in its published axes.

        ``covariance`` is that of the velocity in world axes.
        """
        if self._in_body:
            body_from_world = np.array([rotate(q, axis) for axis in np.eye(3).tolist()])
            covariance = body_from_world @ covariance.reshape(3, 3) @ body_from_world.T
            covariance = covariance.ravel()
        a, b, c, d, e, f, g, h, i = covariance.tolist()
        zeros = [0.0] * 3
        return [a, b, c, *zeros, d, e, f, *zeros, g, h, i, *zeros, *[0.0] * 18]


class PathHistory:
    """Past poses of a vehicle.

    When there are ``max_points``, every second one is dropped and the time between two doubles.
    """

    def __init__(self, motion: MotionMessages, frame: str, max_points: int) -> None:
        self._motion, self._frame, self._max_points = motion, frame, max_points
        self._poses: list[PlainMessage] = []
        self._step_s, self._next_s = PATH_STEP_S, 0.0

    def append(self, row: Row, time_s: float) -> None:
        """Append the vehicle's pose if the next point is due."""
        if time_s < self._next_s:
            return
        if len(self._poses) == self._max_points:
            self._poses = self._poses[::2]
            self._step_s *= 2.0
        current = pose(self._motion.placement(row))
        self._poses.append({"header": header(stamp_ns(time_s), self._frame), "pose": current})
        self._next_s = time_s + self._step_s - 1e-9

    def message(self, row: Row, ns: int) -> PlainMessage:
        """Return a ``nav_msgs/Path`` up to the last appended pose."""
        del row
        return {"header": header(ns, self._frame), "poses": list(self._poses)}


class Battery:
    """Messages of a vehicle's battery.

    Args:
        column_index: index of each column in a row, by name.
        frame: the vehicle's frame.
        capacity_c: in coulombs; None if unknown.
    """

    def __init__(
        self, column_index: Mapping[str, int], frame: str, capacity_c: float | None
    ) -> None:
        names = ("v", "a", "charge", "empty")
        self._columns = np.array([column_index[f"act_battery_{name}"] for name in names])
        self._frame = frame
        known = capacity_c is not None
        self._capacity = capacity_c / COULOMBS_PER_AMPERE_HOUR if known else NOT_MEASURED

    @staticmethod
    def is_logged(column_index: Mapping[str, int]) -> bool:
        """Return True if rows have the columns of a battery."""
        return "act_battery_charge" in column_index

    def message(self, row: Row, ns: int) -> PlainMessage:
        """Return a ``sensor_msgs/BatteryState``; its current is negative while discharging."""
        volts, drawn, share, empty = row.take(self._columns).tolist()
        return {
            "header": header(ns, self._frame),
            "voltage": volts,
            "temperature": NOT_MEASURED,
            "current": -drawn,
            "charge": share * self._capacity,
            "capacity": self._capacity,
            "design_capacity": self._capacity,
            "percentage": share,
            "power_supply_status": CHARGING if drawn < 0.0 else DISCHARGING,
            "power_supply_health": DEAD if empty else GOOD,
            "power_supply_technology": LITHIUM_POLYMER,
            "present": True,
        }


def _covariance_columns(column_index: Mapping[str, int], errors: tuple[str, ...]) -> Columns:
    """Return the columns of a symmetric covariance, row by row; rows log its upper triangle."""
    order = {error: number for number, error in enumerate(ERRORS)}
    pairs = [sorted((one, other), key=order.__getitem__) for one in errors for other in errors]
    return np.array([column_index[f"{ESTIMATE}cov_{one}_{other}"] for one, other in pairs])
