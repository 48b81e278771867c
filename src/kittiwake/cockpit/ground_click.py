"""Point of the ground under a click into the scene."""

import numpy as np
import viser


def ground_point(event: viser.SceneClickEvent, ground_z_m: float) -> tuple[float, float] | None:
    """Return east and north of the clicked point; None if the click is not on the ground."""
    origin, ahead = np.array(event.ray_origin), np.array(event.ray_direction)
    if ahead[2] >= 0.0 or origin[2] <= ground_z_m:
        return None
    x, y, _ = origin + ahead * (ground_z_m - origin[2]) / ahead[2]
    return float(x), float(y)
