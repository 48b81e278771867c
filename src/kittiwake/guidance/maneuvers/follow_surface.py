"""Following of a surface by the range of a head that faces it: along it, or at rest before it.

With the range r along the head's direction d in the body, the position l of its sensor there and
the estimated attitude R, at each valid measurement::

    n = -R d                   normal of the surface, towards the vehicle
    distance = r + d l         of the vehicle's center of mass across the surface

which hold until the next one. The speed up the steepest line changes to the desired one with a
limited acceleration, from its value when the surface comes into sight.

Without a valid measurement the last one is used for ``hold_s``. After that, and before the first
one, the vehicle holds its position and yaw; it continues with the next measurement. If there is
none for ``give_up_s``, the surface is lost, and the vehicle stays there.

After a path length or a time, whichever is first, the task is done: the vehicle comes to rest at
its distance. Without both it has no end.

Source of the task: R. Coronel Loza, dronSimulatorMatlab (public). Its distance is that of the
sensor, which is 0.22 m ahead of the center of mass; d and l make it independent of the tilt here.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import CommandChoice, PositionYaw, SurfaceMotion
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.interfaces.head import AbstractHead, HeadMeasurement
from kittiwake.pytree import Module, field, replace_unchecked

LOOKING, UNSEEN, LOST, FOLLOWING, DONE = range(5)
# a normal with a smaller horizontal part is that of a level surface
MIN_HORIZONTAL = 0.02


class SurfaceSighting(Module):
    """Last valid measurement of the surface, its age, and whether it is used."""

    distance_m: Real
    normal_world: Vec3
    age_s: Real
    used: Flag

    def renewed(self, distance_m: Real, normal_world: Vec3, seen: Flag) -> "SurfaceSighting":
        """Return the sighting with a new measurement, if it is valid."""
        normal = Vec3(
            *(
                jnp.where(seen, getattr(normal_world, a), getattr(self.normal_world, a))
                for a in "xyz"
            )
        )
        return SurfaceSighting(
            jnp.where(seen, distance_m, self.distance_m),
            normal,
            jnp.where(seen, 0.0, self.age_s),
            self.used | seen,
        )


class FollowSurfaceState(Module):
    """Phase, surface, last pose while following, speed, and path length."""

    part: Int[Array, ""]
    sight: SurfaceSighting
    last: InitialPose
    speed_mps: Real
    way_m: Real


class FollowSurface(AbstractGuidance[FollowSurfaceState]):
    """Keeps a distance from the surface that a head faces, and moves along it.

    Attributes:
        sensor: name of the head among the vehicle's sensors.
        distance_m: distance of the center of mass, across the surface.
        speed_mps: speed up the steepest line, ahead if it is level; negative is down or back.
        acceleration_mps2: acceleration of speed changes.
        way_m: path length along the surface after which it is done.
        duration_s: time after which it is done.
        hold_s: time for which the last measurement is used.
        give_up_s: time without a measurement after which the surface is lost.
    """

    tracked: ClassVar[bool] = False

    sensor: str = field(static=True)
    distance_m: Annotated[Real, POSITIVE] = 1.0
    speed_mps: Real = 0.5
    acceleration_mps2: Annotated[Real, POSITIVE] = 0.5
    way_m: Annotated[Real, POSITIVE] | None = None
    duration_s: Annotated[Real, POSITIVE] | None = None
    hold_s: Annotated[Real, NOT_NEGATIVE] = 0.5
    give_up_s: Annotated[Real, POSITIVE] = 5.0
    position_body_m: Vec3 | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Raise an error for a path without speed, and for a loss before the end of ``hold_s``."""
        plain = all(isinstance(each, int | float) for each in (self.hold_s, self.give_up_s))
        if plain and not self.give_up_s > self.hold_s:
            message = f"`give_up_s`: got {self.give_up_s:g}; must be above hold_s, {self.hold_s:g}"
            raise ValueError(message)
        if (
            self.way_m is not None
            and isinstance(self.speed_mps, int | float)
            and not self.speed_mps
        ):
            message = "`way_m`: not reached at speed_mps: 0; write duration_s instead"
            raise ValueError(message)

    @property
    @override
    def ends(self) -> bool:
        return self.way_m is not None or self.duration_s is not None

    @override
    def prepare(self, context: BuildContext) -> "FollowSurface":
        heads = {n: s for n, s in context.sensors.items() if isinstance(s, AbstractHead)}
        if self.sensor not in heads:
            raise ScenarioError(_no_head(self.sensor, list(heads)))
        head = heads[self.sensor]
        if not head.min_range_m < self.distance_m < head.max_range_m:
            message = (
                f"`distance_m`: got {self.distance_m:g}; must be between {head.min_range_m:g} and "
                f"{head.max_range_m:g}, the range of '{self.sensor}'"
            )
            raise ScenarioError(message)
        place = head.position_body_m
        return replace_unchecked(self, position_body_m=place)

    @override
    def command_types(self) -> tuple[type, type]:
        return (SurfaceMotion, PositionYaw)

    @override
    def init(self, key: PRNGKeyArray) -> FollowSurfaceState:
        del key
        zero = jnp.asarray(0.0)
        level = Vec3(zero, zero, jnp.asarray(1.0))
        wanted = jnp.asarray(self.distance_m, zero.dtype)
        return FollowSurfaceState(
            part=jnp.asarray(LOOKING, jnp.int32),
            sight=SurfaceSighting(wanted, level, zero, jnp.asarray(False)),
            last=InitialPose.unknown(),
            speed_mps=zero,
            way_m=zero,
        )

    @override
    def step(
        self, state: FollowSurfaceState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[FollowSurfaceState, CommandChoice]:
        del key
        estimate = inputs.estimate
        sight = self._updated_sight(state, inputs, dt_s)
        part = self._part(state, sight, inputs.time_s)
        follows = sight.used & (part != LOST)
        present = _up_the_surface(sight.normal_world, estimate).dot(estimate.velocity_world_mps)
        before = jnp.where(state.sight.used, state.speed_mps, present)
        change = jnp.where(part == DONE, 0.0, self.speed_mps) - before
        step = self.acceleration_mps2 * dt_s
        speed = before + jnp.clip(change, -step, step)
        ahead = present * jnp.sign(self.speed_mps) * dt_s
        last = replace(state.last, known=state.last.known & ~follows).updated(estimate)
        later = FollowSurfaceState(
            part=part,
            sight=sight,
            last=last,
            speed_mps=jnp.where(follows, speed, 0.0),
            way_m=state.way_m + jnp.where(part == FOLLOWING, ahead, 0.0),
        )
        along = SurfaceMotion(sight.distance_m, self.distance_m, sight.normal_world, speed)
        still = PositionYaw(last.position_world_m, last.yaw_rad)
        return later, CommandChoice((along, still), jnp.where(follows, 0, 1))

    @override
    def finished(self, state: FollowSurfaceState) -> Flag:
        return state.part == DONE

    @override
    def phases(self) -> tuple[str, ...]:
        parts = (
            "looking for the surface",
            "stays, the surface is out of sight",
            "lost the surface",
            "following the surface",
        )
        return (*parts, "at rest before the surface") if self.ends else parts

    @override
    def phase(self, state: FollowSurfaceState) -> Int[Array, ""]:
        return state.part

    def _updated_sight(
        self, state: FollowSurfaceState, inputs: GuidanceInputs, dt_s: Real
    ) -> SurfaceSighting:
        """Return the sighting after the present measurement."""
        reading: HeadMeasurement = inputs.measurements[self.sensor]
        direction = reading.direction_body
        lever = Vec3.zero() if self.position_body_m is None else self.position_body_m
        normal = -inputs.estimate.q_world_from_body.rotate(direction)
        seen = inputs.fresh[self.sensor] & reading.valid
        older = replace(state.sight, age_s=state.sight.age_s + dt_s)
        older = replace(older, used=older.used & (older.age_s <= self.hold_s))
        return older.renewed(reading.range_m + direction.dot(lever), normal, seen)

    def _part(
        self, state: FollowSurfaceState, sight: SurfaceSighting, time_s: Real
    ) -> Int[Array, ""]:
        """Return the phase of the task."""
        part = jnp.where(sight.used, FOLLOWING, jnp.where(state.part == LOOKING, LOOKING, UNSEEN))
        part = jnp.where((state.part == LOST) | (sight.age_s > self.give_up_s), LOST, part)
        over = jnp.asarray(False)
        if self.way_m is not None:
            over = over | (state.way_m >= self.way_m)
        if self.duration_s is not None:
            over = over | (time_s >= self.duration_s)
        done = (state.part == DONE) | ((part == FOLLOWING) & over)
        return jnp.where(done, DONE, part).astype(jnp.int32)

    @classmethod
    @override
    def examples(cls) -> dict[str, "FollowSurface"]:
        return {
            "for ever": cls("ultrasonic-head", hold_s=0.0, give_up_s=0.01),
            "for a while": cls("ultrasonic-head", way_m=0.01, duration_s=0.02),
        }


def _up_the_surface(normal_world: Vec3, estimate: Kinematics) -> Vec3:
    """Return the unit vector up the steepest line, or ahead if the surface is level."""
    n, (sine, cosine) = normal_world, sin_cos(estimate.euler_world_from_body.yaw_rad)
    across = Vec3(n.x, n.y, 0.0).norm()
    slanting = across > MIN_HORIZONTAL
    scale = 1.0 / jnp.where(slanting, across, 1.0)
    return Vec3(
        jnp.where(slanting, -n.x * n.z * scale, cosine),
        jnp.where(slanting, -n.y * n.z * scale, sine),
        jnp.where(slanting, across, 0.0),
    )


def _no_head(given: str, heads: list[str]) -> str:
    if not heads:
        return (
            f"`sensor`: '{given}' is not a surface head, and the vehicle has none; write "
            f"sensors: {{{given}: ultrasonic-head}}"
        )
    return f"`sensor`: '{given}' is not a surface head; write {' or '.join(heads)}"
