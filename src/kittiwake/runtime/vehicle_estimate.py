"""State estimate of a vehicle in plain numbers, from its log row."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

PositionArray = Float64[np.ndarray, "3"]


class VehicleEstimate(NamedTuple):
    """State estimate of a vehicle; ``touching`` is None for a vehicle without contact sensing."""

    time_s: float
    motion: Kinematics
    touching: bool | None = None

    @property
    def position_m(self) -> PositionArray:
        """Position in the world."""
        return np.asarray(self.motion.position_world_m.array, np.float64)

    @property
    def yaw_rad(self) -> float:
        """Yaw angle."""
        return float(self.motion.euler_world_from_body.yaw_rad)


# columns of a log row that ``estimate_from_row`` reads
ESTIMATE_COLUMNS = frozenset(
    {
        "time_s",
        "contact",
        *(f"estimate.q{axis}" for axis in "wxyz"),
        *(f"estimate.{axis}_m" for axis in "xyz"),
        *(f"estimate.v{axis}_mps" for axis in "xyz"),
        *(f"estimate.w{axis}_radps" for axis in "xyz"),
    }
)


def estimate_from_row(row: Mapping[str, float]) -> VehicleEstimate:
    """Return a vehicle's state estimate from a row of its log."""
    q = Quaternion(*(row[f"estimate.q{part}"] for part in "wxyz"))
    velocity_world_mps = Vec3(*(row[f"estimate.v{axis}_mps"] for axis in "xyz"))
    motion = Kinematics(
        position_world_m=Vec3(*(row[f"estimate.{axis}_m"] for axis in "xyz")),
        q_world_from_body=q,
        euler_world_from_body=q.to_euler(),
        velocity_world_mps=velocity_world_mps,
        velocity_body_mps=q.inverse().rotate(velocity_world_mps),
        angular_velocity_body_radps=Vec3(*(row[f"estimate.w{axis}_radps"] for axis in "xyz")),
        specific_force_body_mps2=Vec3.zero(),
    )
    return VehicleEstimate(
        row["time_s"], motion, row["contact"] > 0.0 if "contact" in row else None
    )
