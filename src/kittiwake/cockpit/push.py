"""Push of a vehicle by dragging its body with the mouse: an impulse along the drag."""

from typing import Any

import numpy as np
from viser import SceneNodeDragEvent

from kittiwake.core.errors import KittiwakeError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.live_executor import LiveExecutor

# change of velocity for a drag over the length of the vehicle, and the largest one
GAIN_MPS, MAX_MPS = 1.0, 6.0
MIN_SIZE_M = 0.1


def push(executor: LiveExecutor, vehicle: str, drag: SceneNodeDragEvent[Any]) -> str:
    """Push a vehicle along a drag; return the error that prevents it, if any."""
    dynamics = executor.scenario.vehicles[vehicle].dynamics
    size_m = max(float(dynamics.size_body_m.x), MIN_SIZE_M)
    gained_mps = GAIN_MPS * np.subtract(drag.end_position, drag.start_position) / size_m
    speed_mps = float(np.linalg.norm(gained_mps))
    if not 0.0 < speed_mps < np.inf:
        return ""
    try:
        impulse_ns = dynamics.collider().mass_kg * min(1.0, MAX_MPS / speed_mps) * gained_mps
        executor.push(vehicle, Vec3(*impulse_ns.tolist()))
    except KittiwakeError as error:
        return str(error)
    return ""
