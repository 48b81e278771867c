"""How a vehicle moves, as messages: odometry, its frame, where it has been, its battery.

An estimator's covariance is that of position and velocity in the world and of a rotation vector in
the world's axes (``core.estimator.Uncertainty``). The last is what ROS calls rotations about fixed
axes, so that its block of a pose's covariance is taken as it is. How sure an estimator is of its
angular velocity nobody tells: that block is zero.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kittiwake.adapters.ros.messages.plain import (
    Placement,
    PlainMessage,
    header,
    inverse,
    pose,
    rotated,
    stamp_ns,
    transform,
    xyz,
)
from kittiwake.adapters.ros.messages.topic import Row
from kittiwake.analysis.table import STATE_COLUMNS
from kittiwake.sim.record import ERRORS

ODOMETRY, PATH, BATTERY = "nav_msgs/Odometry", "nav_msgs/Path", "sensor_msgs/BatteryState"

BELIEF, TRUTH = "estimate.", ""
# of an estimator's errors those of a pose, in the order of ROS
POSE_ERRORS = ("x", "y", "z", "rx", "ry", "rz")
VELOCITY_ERRORS = ("vx", "vy", "vz")
UNKNOWN = [0.0] * 36
# how close the places of a path are at first
PATH_STEP_S = 0.2
COULOMBS_PER_AMPERE_HOUR = 3600.0
CHARGING, DISCHARGING, GOOD, DEAD, LITHIUM_POLYMER = 1, 2, 1, 3, 3
NOT_MEASURED = float("nan")


class MotionMessages:
    """What a vehicle believes of its motion, or its true one, read off its rows.

    Args:
        places: of all columns of a row, by name.
        prefix: before the names of the motion's columns.
        frames: that of the world, and that of the vehicle.
        in_body: whether velocities are told in the axes of the body.
    """

    def __init__(
        self, places: Mapping[str, int], prefix: str, frames: tuple[str, str], *, in_body: bool
    ) -> None:
        self._world, self._child = frames
        self._in_body = in_body
        self._state = np.array([places[prefix + column] for column in STATE_COLUMNS[1:]])
        known = prefix == BELIEF and f"{BELIEF}cov_x_x" in places
        self._pose_errors = _pairs(places, POSE_ERRORS) if known else None
        self._velocity_errors = _pairs(places, VELOCITY_ERRORS) if known else None

    def placement(self, row: Row) -> Placement:
        """Where the vehicle is in the world, and how it lies there."""
        x, y, z, qw, qx, qy, qz = row.take(self._state[:7]).tolist()
        return Placement((x, y, z), (qw, qx, qy, qz))

    def transform(self, row: Row, ns: int) -> PlainMessage:
        """``geometry_msgs/TransformStamped`` from the world to the vehicle."""
        return transform(ns, self._world, self._child, self.placement(row))

    def odometry(self, row: Row, ns: int) -> PlainMessage:
        """``nav_msgs/Odometry``."""
        x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz = row.take(self._state).tolist()
        q, linear, angular = (qw, qx, qy, qz), (vx, vy, vz), (wx, wy, wz)
        if self._in_body:
            linear = rotated(inverse(q), linear)
        else:
            angular = rotated(q, angular)
        pose_errors, velocity_errors = UNKNOWN, UNKNOWN
        if self._pose_errors is not None and self._velocity_errors is not None:
            pose_errors = row.take(self._pose_errors).tolist()
            velocity_errors = self._spread(row.take(self._velocity_errors), q)
        return {
            "header": header(ns, self._world),
            "child_frame_id": self._child,
            "pose": {"pose": pose(Placement((x, y, z), q)), "covariance": pose_errors},
            "twist": {
                "twist": {"linear": xyz(linear), "angular": xyz(angular)},
                "covariance": velocity_errors,
            },
        }

    def _spread(self, errors: Any, q: tuple[float, float, float, float]) -> list[float]:
        """Of a velocity in the world, as the covariance of a twist in the axes that are told."""
        if self._in_body:
            turn = np.array([rotated(q, axis) for axis in np.eye(3).tolist()])
            errors = (turn @ errors.reshape(3, 3) @ turn.T).ravel()
        a, b, c, d, e, f, g, h, i = errors.tolist()
        none = [0.0] * 3
        return [a, b, c, *none, d, e, f, *none, g, h, i, *none, *[0.0] * 18]


class Trail:
    """Where a vehicle has been: of a longer flight fewer places a second, never more than some."""

    def __init__(self, motion: MotionMessages, frame: str, most: int) -> None:
        self._motion, self._frame, self._most = motion, frame, most
        self._poses: list[PlainMessage] = []
        self._step_s, self._next_s = PATH_STEP_S, 0.0

    def follow(self, row: Row, time_s: float) -> None:
        """Notes where the vehicle is, if it is time to."""
        if time_s < self._next_s:
            return
        if len(self._poses) == self._most:
            self._poses = self._poses[::2]
            self._step_s *= 2.0
        where = pose(self._motion.placement(row))
        self._poses.append({"header": header(stamp_ns(time_s), self._frame), "pose": where})
        self._next_s = time_s + self._step_s - 1e-9

    def message(self, row: Row, ns: int) -> PlainMessage:
        """``nav_msgs/Path`` up to a row that was noted."""
        del row
        return {"header": header(ns, self._frame), "poses": list(self._poses)}


class Battery:
    """What is left in a vehicle's battery; ``capacity_c`` is None where nobody knows."""

    def __init__(self, places: Mapping[str, int], frame: str, capacity_c: float | None) -> None:
        names = ("v", "a", "charge", "empty")
        self._places = np.array([places[f"act_battery_{name}"] for name in names])
        self._frame = frame
        known = capacity_c is not None
        self._capacity = capacity_c / COULOMBS_PER_AMPERE_HOUR if known else NOT_MEASURED

    @staticmethod
    def there_is(places: Mapping[str, int]) -> bool:
        """Whether rows tell of one."""
        return "act_battery_charge" in places

    def message(self, row: Row, ns: int) -> PlainMessage:
        """``sensor_msgs/BatteryState``, whose current is negative while it is drawn."""
        volts, drawn, share, empty = row.take(self._places).tolist()
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


def _pairs(places: Mapping[str, int], errors: tuple[str, ...]) -> Any:
    """The columns of a covariance, row by row; of a pair a row has one."""
    order = {error: number for number, error in enumerate(ERRORS)}
    pairs = [sorted((one, other), key=order.__getitem__) for one in errors for other in errors]
    return np.array([places[f"{BELIEF}cov_{one}_{other}"] for one, other in pairs])
