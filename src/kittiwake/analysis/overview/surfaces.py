"""Surfaces of obstacles that are larger than the map, such as a slope."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from kittiwake.analysis.overview.look import SMALL
from kittiwake.analysis.overview.static_objects import Corner, Obstacle

# points along each side of the map at which a surface's height is computed
GRID = 33
CONTOURS = 6
FACE_ALPHA, EDGE_ALPHA, EDGE_WIDTH = 0.12, 0.3, 0.3
CONTOUR: dict[str, Any] = {"linewidths": 0.6, "linestyles": "-", "alpha": 0.6, "zorder": 1.1}

Points = Float64[np.ndarray, "points 3"]


@dataclass(frozen=True, eq=False)
class Surface:
    """Heights of a surface over a grid; NaN outside the map."""

    x_m: Float64[np.ndarray, " east"]
    y_m: Float64[np.ndarray, " north"]
    z_m: Float64[np.ndarray, "north east"]


def large_obstacles(
    obstacles: Sequence[Obstacle], low: Corner, high: Corner
) -> tuple[Obstacle, ...]:
    """Return the obstacles whose outline is not inside a box, so that lines hardly show them."""
    return tuple(
        obstacle
        for obstacle in obstacles
        if (obstacle.points_world_m < low).any() or (obstacle.points_world_m > high).any()
    )


def heights_below(obstacle: Obstacle, points_world_m: Points) -> Float64[np.ndarray, " points"]:
    """Return the height at which a vertical ray from each point hits it; NaN without a hit."""
    import jax
    import jax.numpy as jnp

    from kittiwake.geometry.vec3 import Vec3
    from kittiwake.world.ray import Ray

    def distance_m(x: Any, y: Any, z: Any) -> Any:
        return jnp.asarray(obstacle.shape.distance_m(Ray(Vec3(x, y, z), Vec3(0.0, 0.0, -1.0))))

    found = jax.jit(jax.vmap(distance_m))(*jnp.asarray(points_world_m).T)
    distances_m = np.asarray(found, float)
    return np.where(np.isfinite(distances_m), points_world_m[:, 2] - distances_m, np.nan)


def surfaces_in(obstacles: Sequence[Obstacle], low: Corner, high: Corner) -> list[Surface]:
    """Return the upper surfaces of obstacles that pass through a box."""
    x_m, y_m = (np.linspace(low[axis], high[axis], GRID) for axis in (0, 1))
    across, up = np.meshgrid(x_m, y_m)
    points = np.stack([across.ravel(), up.ravel(), np.full(across.size, high[2])], axis=1)
    surfaces = []
    for obstacle in obstacles:
        z_m = heights_below(obstacle, points).reshape(across.shape)
        z_m = np.where((z_m >= low[2]) & (z_m <= high[2]), z_m, np.nan)
        if np.isfinite(z_m).any():
            surfaces.append(Surface(x_m, y_m, z_m))
    return surfaces


def draw_surfaces_in_space(axes: Axes3D, surfaces: Sequence[Surface], color: str) -> None:
    """Draw translucent cells whose corners are all inside the map."""
    look: dict[str, Any] = {
        "facecolor": to_rgba(color, FACE_ALPHA),
        "edgecolor": to_rgba(color, EDGE_ALPHA),
    }
    for surface in surfaces:
        corners = np.stack([*np.meshgrid(surface.x_m, surface.y_m), surface.z_m], axis=-1)
        ring = (corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:], corners[1:, :-1])
        cells = np.stack(ring, axis=2).reshape(-1, 4, 3)
        known = cells[np.isfinite(cells).all(axis=(1, 2))]
        axes.add_collection3d(Poly3DCollection(list(known), linewidth=EDGE_WIDTH, **look))


def draw_surfaces_from_above(axes: Axes, surfaces: Sequence[Surface], color: str) -> None:
    """Draw contour lines with their heights, except for level surfaces."""
    limits = axes.get_xlim(), axes.get_ylim()
    for surface in surfaces:
        if np.nanmax(surface.z_m) > np.nanmin(surface.z_m):
            heights = np.ma.masked_invalid(surface.z_m)
            lines = axes.contour(
                surface.x_m, surface.y_m, heights, CONTOURS, colors=color, **CONTOUR
            )
            axes.clabel(lines, fontsize=SMALL, fmt="%g m")
    axes.set(xlim=limits[0], ylim=limits[1])
