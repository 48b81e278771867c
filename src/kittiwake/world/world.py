"""What all vehicles of a scenario share."""

from dataclasses import replace
from datetime import UTC, datetime
from math import pi
from typing import Annotated

import equinox as eqx
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

# of a side of an area, from which places are drawn
WIDEST_DRAWN_M = 2e4
# what is free between a vehicle and an obstacle, as limits and logs call it
NEAREST_OBSTACLE = "nearest_obstacle_m"
# so many places are looked at together before a flight, so that few programs are compiled
BATCHES = (64, 4096)


class FlightArea(eqx.Module):
    """The box in which vehicles may be; a vehicle that leaves it is lost."""

    x_m: tuple[Real, Real] = (-1e5, 1e5)
    y_m: tuple[Real, Real] = (-1e5, 1e5)
    z_m: tuple[Real, Real] = (-1e5, 1e5)

    def __check_init__(self) -> None:
        """Refuses a box without inside."""
        for name in ("x_m", "y_m", "z_m"):
            low, high = getattr(self, name)
            if not low < high:
                message = f"{name}: [{low}, {high}] is empty; write the lower limit first"
                raise ValueError(message)

    def check_drawable(self, sides: tuple[str, ...] = ("x_m", "y_m", "z_m")) -> None:
        """Refuses sides so long that nobody meets what is drawn from between them."""
        for name in sides:
            low, high = getattr(self, name)
            if high - low > WIDEST_DRAWN_M:
                message = (
                    "places are drawn from world.area, which is "
                    f"{(high - low) / 1e3:g} km long in {name}; write world.area, "
                    "such as {x_m: [-50, 50], y_m: [-50, 50], z_m: [0, 40]}, or the places"
                )
                raise ScenarioError(message)

    def limits(self, position_world_m: Vec3) -> tuple[Limit, Limit, Limit]:
        """What a vehicle's coordinates may be."""
        return (
            Limit("x_m", "world.area.x_m", position_world_m.x, *self.x_m),
            Limit("y_m", "world.area.y_m", position_world_m.y, *self.y_m),
            Limit("z_m", "world.area.z_m", position_world_m.z, *self.z_m),
        )


class Origin(eqx.Module):
    """Where the world's zero lies on the Earth (WGS-84)."""

    latitude_rad: Annotated[Real, Bounds(-pi / 2, pi / 2)] = 0.0
    longitude_rad: Annotated[Real, Bounds(-pi, pi)] = 0.0
    altitude_m: Real = 0.0


class World(eqx.Module):
    """What all vehicles share.

    Ground is the plane z = ``ground_z_m``. Vehicles nearer to each other than
    ``collision_distance_m`` are lost, if an interaction says how near they are. ``obstacles`` are
    what rays meet beside the ground, and vehicles must not touch; they may have names.
    ``processes`` are what evolves by itself, by name. The magnetic field is None where none is
    known, and ``no_field_because`` says to those who measure it why. In a ``solid`` world nothing
    is lost by touching: what is touched pushes back. By ``radio`` vehicles hear of each other.
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
    obstacle_names: tuple[str, ...] = eqx.field(static=True, default=())
    platform_names: tuple[str, ...] = eqx.field(static=True, default=())
    magnetic_field_world_t: Vec3 | None = Vec3(0.0, 0.0, 0.0)
    no_field_because: str = eqx.field(static=True, default="")
    solid: bool = eqx.field(static=True, default=False)
    start_utc: datetime = eqx.field(static=True, default=datetime(2026, 1, 1, 12, tzinfo=UTC))
    processes: dict[str, Scheduled[AbstractProcess]] = eqx.field(default_factory=dict)
    radio: Scheduled[AbstractRadio] | None = None

    def surroundings(
        self,
        kinematics: Kinematics,
        size_body_m: Vec3,
        waves: Waves | None = None,
        air_height_m: Real | None = None,
        time_s: Real = 0.0,
    ) -> Surroundings:
        """What a vehicle of a size feels of the world alone: no gusts, no decks, no others.

        It meets the wind where it is, or so high over its place on the water.
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
            place, yaw = kinematics.position_world_m, kinematics.euler_world_from_body.yaw_rad
            covered = Waterplane(place.x, place.y, yaw, size_body_m.x, size_body_m.y)
            around = replace(around, water=waves.under(covered))
        if air_height_m is not None:
            raised = 0.0 if around.water is None else around.water.height_world_m
            met = self.wind.velocity_world_mps(height - raised + air_height_m, time_s)
            around = replace(around, wind_world_mps=met)
        if self.obstacles:
            left_m = self.nearest(kinematics, size_body_m).distance_m
            around = replace(around, nearest_obstacle_m=left_m)
        for region in self.regions:
            around = region.felt(kinematics, size_body_m, around)
        return around

    def nearest(self, kinematics: Kinematics, size_body_m: Vec3) -> Nearest:
        """The obstacle that leaves the least free to a vehicle of a size."""
        body = Body(kinematics.q_world_from_body, size_body_m)
        return nearest_obstacle(self.obstacles, kinematics.position_world_m, body)

    def clearances(
        self, points_world_m: Float[np.ndarray, "points 3"]
    ) -> tuple[Float[np.ndarray, " points"], Int[np.ndarray, " points"]]:
        """Of places, before a flight: how far from obstacles, in m, and the nearest one's number.

        In double precision, also while a function around it is being compiled.
        """
        distances, numbers = np.empty(len(points_world_m)), np.empty(len(points_world_m), int)
        batch = next((size for size in BATCHES if len(points_world_m) <= size), BATCHES[-1])
        for begin in range(0, len(points_world_m), batch):
            part = points_world_m[begin : begin + batch]
            with jax.enable_x64(True), jax.ensure_compile_time_eval():  # noqa: FBT003  JAX's own
                near = _nearest(self.obstacles, jnp.asarray(np.resize(part, (batch, 3)), float))
            distances[begin : begin + batch] = np.asarray(near.distance_m)[: len(part)]
            numbers[begin : begin + batch] = np.asarray(near.place)[: len(part)]
        return distances, numbers

    def obstacle_called(self, number: int) -> str:
        """What a scenario calls an obstacle; it is counted from one where it has no name."""
        names = self.obstacle_names
        return f"world.obstacles.{names[number]}" if names else f"obstacle {number + 1}"

    def limits(self, kinematics: Kinematics, surroundings: Surroundings) -> tuple[Limit, ...]:
        """What a vehicle's place and its distance from others and from obstacles may be."""
        separation = Limit(
            "nearest_vehicle_m",
            "world.collision_distance_m",
            surroundings.nearest_vehicle_m,
            low=0.0 if self.solid else self.collision_distance_m,
            own=False,
        )
        beside = None if self.solid else surroundings.nearest_obstacle_m
        free = () if beside is None else (Limit(NEAREST_OBSTACLE, "world.obstacles", beside, 0.0),)
        return (*self.area.limits(kinematics.position_world_m), separation, *free)


@eqx.filter_jit
def _nearest(
    obstacles: tuple[AbstractObstacle, ...], points_world_m: Float[Array, "points 3"]
) -> Nearest:
    """The nearest obstacle of each place; compiled once for a world."""

    def nearest(point: Float[Array, "3"]) -> Nearest:
        return nearest_obstacle(obstacles, Vec3(point[0], point[1], point[2]))

    return jax.vmap(nearest)(points_world_m)
