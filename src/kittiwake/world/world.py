"""World shared by all vehicles of a scenario."""

from dataclasses import replace
from datetime import UTC, datetime
from math import pi
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from kittiwake.core.bounds import Bounds
from kittiwake.core.component import Scheduled
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.limit import Limit
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field
from kittiwake.world.clearance import Body
from kittiwake.world.environment import (
    AbstractAtmosphere,
    AbstractCurrent,
    AbstractInteraction,
    AbstractPlatform,
    AbstractProcess,
    AbstractRegion,
    AbstractWind,
)
from kittiwake.world.radio import AbstractRadio
from kittiwake.world.ray import AbstractObstacle, Nearest, nearest_obstacle
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.water import Waterplane, Waves

# longest side of an area from which random positions are drawn
MAX_RANDOM_SIDE_M = 2e4
# name of the clearance between a vehicle and an obstacle in limits and logs
NEAREST_OBSTACLE = "nearest_obstacle_m"
# numbers of positions that are checked together before a flight, so that few programs are compiled
BATCHES = (64, 4096)


class FlightArea(Module):
    """Box in which vehicles may fly; a vehicle that leaves it is lost."""

    x_m: tuple[Real, Real] = (-1e5, 1e5)
    y_m: tuple[Real, Real] = (-1e5, 1e5)
    z_m: tuple[Real, Real] = (-1e5, 1e5)

    def __post_init__(self) -> None:
        """Raise ValueError if the box is empty."""
        for name in ("x_m", "y_m", "z_m"):
            low, high = getattr(self, name)
            if not low < high:
                message = (
                    f"{name}: got [{low}, {high}], which is empty; write the lower limit first"
                )
                raise ValueError(message)

    def check_drawable(self, sides: tuple[str, ...] = ("x_m", "y_m", "z_m")) -> None:
        """Raise ScenarioError for an area too large for random positions."""
        for name in sides:
            low, high = getattr(self, name)
            if high - low > MAX_RANDOM_SIDE_M:
                message = (
                    "random positions are drawn from world.area, which is "
                    f"{(high - low) / 1e3:g} km long in {name}; write world.area, "
                    "such as {x_m: [-50, 50], y_m: [-50, 50], z_m: [0, 40]}, or the positions"
                )
                raise ScenarioError(message)

    def limits(self, position_world_m: Vec3) -> tuple[Limit, Limit, Limit]:
        """Return the limits of a vehicle's coordinates."""
        return (
            Limit("x_m", "world.area.x_m", position_world_m.x, *self.x_m),
            Limit("y_m", "world.area.y_m", position_world_m.y, *self.y_m),
            Limit("z_m", "world.area.z_m", position_world_m.z, *self.z_m),
        )


class Origin(Module):
    """Position of the world's zero on the Earth (WGS-84)."""

    latitude_rad: Annotated[Real, Bounds(-pi / 2, pi / 2)] = 0.0
    longitude_rad: Annotated[Real, Bounds(-pi, pi)] = 0.0
    altitude_m: Real = 0.0


class WorldModel(Module):
    """World shared by all vehicles.

    Attributes:
        ground_z_m: height of the ground, a horizontal plane.
        collision_distance_m: vehicles closer to each other are lost, if an interaction computes
            their distances.
        obstacles: obstacles for rays and collisions, in addition to the ground.
        processes: parts of the world that evolve by themselves, by name.
        magnetic_field_world_t: None where the field is unknown.
        no_field_reason: why the magnetic field is unknown.
        solid: true if contact exerts forces, and does not count as a collision.
        radio: radio link between the vehicles.
    """

    gravity_mps2: Real
    ground_z_m: Real
    origin: Origin
    atmosphere: AbstractAtmosphere
    wind: AbstractWind
    current: AbstractCurrent
    area: FlightArea
    collision_distance_m: Real
    interactions: tuple[AbstractInteraction, ...]
    regions: tuple[AbstractRegion, ...] = ()
    platforms: tuple[AbstractPlatform, ...] = ()
    obstacles: tuple[AbstractObstacle, ...] = ()
    obstacle_names: tuple[str, ...] = field(static=True, default=())
    platform_names: tuple[str, ...] = field(static=True, default=())
    magnetic_field_world_t: Vec3 | None = Vec3(0.0, 0.0, 0.0)
    no_field_reason: str = field(static=True, default="")
    solid: bool = field(static=True, default=False)
    start_utc: datetime = field(static=True, default=datetime(2026, 1, 1, 12, tzinfo=UTC))
    processes: dict[str, Scheduled[AbstractProcess]] = field(default_factory=dict)
    radio: Scheduled[AbstractRadio] | None = None

    def surroundings(
        self,
        kinematics: Kinematics,
        size_body_m: Vec3,
        waves: Waves | None = None,
        air_height_m: Real | None = None,
        time_s: Real = 0.0,
    ) -> Surroundings:
        """Return the surroundings of a vehicle without gusts, decks and other vehicles.

        The wind is that at the vehicle, or at ``air_height_m`` above the water at its position.
        """
        up = kinematics.position_world_m.z
        height = up - self.ground_z_m
        around = Surroundings(
            gravity_mps2=jnp.asarray(self.gravity_mps2, jnp.result_type(up)),
            air=self.atmosphere.air(up + self.origin.altitude_m),
            wind_world_mps=self.wind.velocity_world_mps(height, time_s),
            height_above_ground_m=height,
            nearest_vehicle_m=jnp.asarray(jnp.inf, jnp.result_type(up)),
            current_world_mps=self.current.velocity_world_mps(kinematics.position_world_m),
        )
        if waves is not None:
            position, yaw = kinematics.position_world_m, kinematics.euler_world_from_body.yaw_rad
            waterplane = Waterplane(position.x, position.y, yaw, size_body_m.x, size_body_m.y)
            around = replace(around, water=waves.under(waterplane))
        if air_height_m is not None:
            water_m = 0.0 if around.water is None else around.water.height_world_m
            wind = self.wind.velocity_world_mps(height - water_m + air_height_m, time_s)
            around = replace(around, wind_world_mps=wind)
        if self.obstacles:
            clearance_m = self.nearest(kinematics, size_body_m).distance_m
            around = replace(around, nearest_obstacle_m=clearance_m)
        for region in self.regions:
            around = region.apply(kinematics, size_body_m, around)
        return around

    def nearest(self, kinematics: Kinematics, size_body_m: Vec3) -> Nearest:
        """Return the obstacle with the smallest clearance from a vehicle of a size."""
        body = Body(kinematics.q_world_from_body, size_body_m)
        return nearest_obstacle(self.obstacles, kinematics.position_world_m, body)

    def clearances(
        self, points_world_m: Float[np.ndarray, "points 3"]
    ) -> tuple[Float[np.ndarray, " points"], Int[np.ndarray, " points"]]:
        """Return distances of positions from obstacles, and the indices of the nearest obstacles.

        For use before a flight; in double precision, even within a function that is being compiled.
        """
        distances, indices = np.empty(len(points_world_m)), np.empty(len(points_world_m), int)
        batch = next((size for size in BATCHES if len(points_world_m) <= size), BATCHES[-1])
        for begin in range(0, len(points_world_m), batch):
            part = points_world_m[begin : begin + batch]
            with jax.enable_x64(True), jax.ensure_compile_time_eval():  # noqa: FBT003  JAX's own
                near = _nearest(self.obstacles, jnp.asarray(np.resize(part, (batch, 3)), float))
            distances[begin : begin + batch] = np.asarray(near.distance_m)[: len(part)]
            indices[begin : begin + batch] = np.asarray(near.index)[: len(part)]
        return distances, indices

    def obstacle_called(self, index: int) -> str:
        """Return the name of an obstacle in the scenario, or its number from one if it has none."""
        names = self.obstacle_names
        return f"world.obstacles.{names[index]}" if names else f"obstacle {index + 1}"

    def limits(self, kinematics: Kinematics, surroundings: Surroundings) -> tuple[Limit, ...]:
        """Return the limits of a vehicle's position and its distances from others and obstacles."""
        separation = Limit(
            "nearest_vehicle_m",
            "world.collision_distance_m",
            surroundings.nearest_vehicle_m,
            low=0.0 if self.solid else self.collision_distance_m,
            own=False,
        )
        clearance = None if self.solid else surroundings.nearest_obstacle_m
        obstacle = (
            ()
            if clearance is None
            else (Limit(NEAREST_OBSTACLE, "world.obstacles", clearance, 0.0),)
        )
        return (*self.area.limits(kinematics.position_world_m), separation, *obstacle)


@jax.jit
def _nearest(
    obstacles: tuple[AbstractObstacle, ...], points_world_m: Float[Array, "points 3"]
) -> Nearest:
    """Return the nearest obstacle of each position; compiled once for a world."""

    def nearest(point: Float[Array, "3"]) -> Nearest:
        return nearest_obstacle(obstacles, Vec3(point[0], point[1], point[2]))

    return jax.vmap(nearest)(points_world_m)
