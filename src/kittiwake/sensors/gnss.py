"""Satellite receiver: pseudoranges, and the position that fits them best.

The pseudorange to satellite i is ``rho_i = |s_i - p| + e_i + n_i + b``, with the error e_i of the
world, which all receivers share, white noise n_i of the receiver's own, and the error b of its
clock. b is solved for with p, so that the fix is the same whatever it is; here it is zero. Position
and clock are found by least squares, by Gauss-Newton's method from the origin on, in differences to
the distances from there: ``|s - p| - |s| = (p p - 2 s p) / (|s - p| + |s|)``, which in single
precision too is good to a tenth of a millimeter at 1 km. Directions u_i from the receiver form the
rows ``(-u_i, 1)`` of a matrix G; the dilutions of precision are roots of sums of the diagonal of
``(G' G)^-1`` (Misra and Enge, 2011, section 6.1). With b eliminated its block for the position is
the inverse of ``S = sum (u_i - u)(u_i - u)'``, u being the mean; that for the clock is ``1 / n + u'
S^-1 u``.

As in QRSim (2013) the position is that of one period ago, the velocity is the difference of two
fixes, and the number of tracked satellites can be drawn for each flight. Neglected: the time that
the signal travels, while satellite and Earth move; a real receiver corrects for it. Elevations are
those above the origin's horizon: correct to 0.01 deg at 1 km from there.
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, UInt32
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, Bounds
from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.core.measurements import GnssMeasurement
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import Module, field
from kittiwake.world.satellites import SKY, Sky
from kittiwake.world.world import WorldModel

UNKNOWNS = 4
# each squares the error over the distance of the satellites: 1,000 km are a nanometer after four
ITERATIONS = 6
# beyond, satellites lie nearly in one plane
MAX_PDOP = 100.0
# keeps the inverse regular without them; slows convergence and does not change the solution
DAMPING = 1e-6
RIGHT_ANGLE_RAD = 1.5707963267948966


class GnssState(Module):
    """State of a receiver.

    Attributes:
        pick: seed of the order in which it prefers satellites.
        channels: number of satellites that it can track.
        past: positions of the last periods, the latest first.
        initialized: true once the past positions are known.
        last: last measurement.
    """

    pick: UInt32[Array, ""]
    channels: Integer
    past: tuple[Vec3, ...]
    initialized: Flag
    last: GnssMeasurement


class Gnss(AbstractSensor[GnssState, GnssMeasurement]):
    """Satellite receiver at the center of mass.

    ``satellites_tracked`` is the range of the number that it tracks, drawn for each flight; without
    it, all satellites above the mask. A mask of -90 deg sees through the Earth, as QRSim does.

    Attributes:
        noise_m: standard deviation of the white noise on each distance.
        elevation_mask_rad: elevation below which satellites are not tracked; -90 deg sees through
            the Earth.
        satellites_tracked: range of the largest number, drawn once for each flight; all in view
            without it.
        delay_periods: age of the measured position, in periods.
    """

    noise_m: Annotated[Real, NOT_NEGATIVE] = 0.002
    elevation_mask_rad: Annotated[Real, Bounds(-RIGHT_ANGLE_RAD, RIGHT_ANGLE_RAD)] = 0.0872665
    satellites_tracked: tuple[int, int] | None = field(static=True, default=None)
    delay_periods: Annotated[int, Bounds(0.0, 100.0)] = field(static=True, default=1)

    measures: ClassVar[type] = GnssMeasurement
    default_rate_hz: ClassVar[float | None] = 5.0

    def __post_init__(self) -> None:
        """Raise ValueError if the range of satellites is empty."""
        if self.satellites_tracked is not None:
            low, high = self.satellites_tracked
            if not 1 <= low <= high:
                message = (
                    f"satellites_tracked: got [{low}, {high}]; must be at least 1, with the "
                    "lower number first. Write for example [10, 13]"
                )
                raise ValueError(message)

    @override
    def check(self, world: WorldModel) -> None:
        if SKY not in world.processes:
            message = (
                "the world has no satellites; write satellites: nominal under world, or "
                "satellites: {type: sp3, file: ...}"
            )
            raise ScenarioError(message)
        if self.satellites_tracked is not None and self.satellites_tracked[1] < UNKNOWNS:
            low, high = self.satellites_tracked
            message = (
                f"satellites_tracked: got [{low}, {high}]; a fix requires {UNKNOWNS} "
                "satellites. Write more, such as [10, 13], or omit it for all in view"
            )
            raise ScenarioError(message)

    @override
    def unpowered(self) -> "Gnss":
        return replace(self, elevation_mask_rad=RIGHT_ANGLE_RAD)

    @override
    def init(self, key: PRNGKeyArray) -> GnssState:
        channels, pick = jax.random.split(key)
        low, high = self.satellites_tracked or (0, 0)
        zero = jnp.zeros(())
        unknown = Vec3(zero, zero, zero)
        return GnssState(
            pick=jax.random.bits(pick, (), jnp.uint32),
            channels=jax.random.randint(channels, (), low, high + 1, jnp.int32),
            past=(unknown,) * self.delay_periods,
            initialized=jnp.asarray(False),
            last=GnssMeasurement(
                position_world_m=unknown,
                velocity_world_mps=unknown,
                satellites=jnp.asarray(0, jnp.int32),
                hdop=zero,
                vdop=zero,
                pdop=zero,
                tdop=zero,
                valid=jnp.asarray(False),
            ),
        )

    @override
    def step(
        self, state: GnssState, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[GnssState, GnssMeasurement]:
        now = inputs.truth.position_world_m
        past = tuple(tree_where(state.initialized, position, now) for position in state.past)
        position = past[-1] if past else now
        sky: Sky = inputs.processes[SKY]
        noise = jax.random.normal(key, (len(sky.numbers),), jnp.result_type(float))
        ranges = _range_differences(sky.positions_world_m, _array(position)) + sky.range_errors_m
        tracked = self._tracked(state, sky, position)
        fix = _solve(sky.positions_world_m, ranges + self.noise_m * noise, tracked)
        measurement = _with_velocity(fix, state.last, dt_s)
        next_state = GnssState(
            pick=state.pick,
            channels=state.channels,
            past=(now, *past)[: self.delay_periods],
            initialized=jnp.asarray(True),
            last=measurement,
        )
        return next_state, measurement

    @override
    def ideal(self, inputs: SensorInputs) -> GnssMeasurement:
        truth = inputs.truth
        sky: Sky = inputs.processes[SKY]
        position = truth.position_world_m
        seen = self._seen(sky, position)
        directions = _directions(sky.positions_world_m, _array(position))
        return _fix(position, truth.velocity_world_mps, _Geometry.of(directions, seen))

    def _seen(self, sky: Sky, position: Vec3) -> Bool[Array, " satellites"]:
        upwards = _directions(sky.positions_world_m, _array(position))[:, 2]
        return upwards >= jnp.sin(self.elevation_mask_rad)

    def _tracked(self, state: GnssState, sky: Sky, position: Vec3) -> Bool[Array, " satellites"]:
        """Return the satellites that it tracks: the first ones in view, in its own random order."""
        seen = self._seen(sky, position)
        if self.satellites_tracked is None:
            return seen
        own = jax.random.fold_in(seed_key(0), state.pick)
        numbers = jnp.asarray(sky.numbers, jnp.uint32)
        draws = jax.vmap(lambda n: jax.random.uniform(jax.random.fold_in(own, n)))(numbers)
        before = seen[None, :] & (draws[None, :] < draws[:, None])
        return seen & (before.sum(axis=1, dtype=jnp.int32) < state.channels)

    @override
    def noise_deviations(self, period_s: float) -> dict[str, Real]:
        del period_s
        # for a dilution of precision of 1
        return {"position_world_m": self.noise_m}

    @classmethod
    @override
    def examples(cls) -> dict[str, "Gnss"]:
        return {
            "all in view": cls(),
            "some, at once": cls(satellites_tracked=(5, 7), delay_periods=0),
            "through the Earth, late": cls(elevation_mask_rad=-math.pi / 2, delay_periods=2),
            "without a fix": cls(satellites_tracked=(3, 3)),
        }


def _array(position: Vec3) -> Float[Array, "3"]:
    return jnp.asarray(position.array)


def _range_differences(
    satellites_m: Float[Array, "satellites 3"], position_m: Float[Array, "3"]
) -> Float[Array, " satellites"]:
    """Return the distances of satellites from a position less those from the origin."""
    distances = jnp.linalg.norm(satellites_m - position_m[None], axis=1)
    squares = position_m @ position_m - 2.0 * (satellites_m @ position_m)
    return squares / (distances + jnp.linalg.norm(satellites_m, axis=1))


def _directions(
    satellites_m: Float[Array, "satellites 3"], position_m: Float[Array, "3"]
) -> Float[Array, "satellites 3"]:
    away = satellites_m - position_m[None]
    return away / jnp.linalg.norm(away, axis=1, keepdims=True)


class _Geometry(NamedTuple):
    """Geometry of the tracked satellites: centered directions, and their mean.

    Attributes:
        centered: directions less their mean; zeros for satellites that are not tracked.
        mean: mean direction of the tracked satellites.
        inverse: inverse of the sum of squares, the position block of ``(G' G)^-1``.
        number: number of tracked satellites.
    """

    centered: Float[Array, "satellites 3"]
    mean: Float[Array, "3"]
    inverse: Float[Array, "3 3"]
    number: Integer

    @classmethod
    def of(
        cls, directions: Float[Array, "satellites 3"], tracked: Bool[Array, " satellites"]
    ) -> "_Geometry":
        number = tracked.sum(dtype=jnp.int32)
        count = jnp.maximum(number, 1).astype(directions.dtype)
        mean = jnp.where(tracked[:, None], directions, 0.0).sum(axis=0) / count
        centered = jnp.where(tracked[:, None], directions - mean[None], 0.0)
        square = centered.T @ centered + DAMPING * jnp.eye(3, dtype=mean.dtype)
        cofactors = jnp.cross(jnp.roll(square, -1, axis=0), jnp.roll(square, -2, axis=0))
        return cls(centered, mean, cofactors.T / (square[0] @ cofactors[0]), number)

    def dilutions(self) -> tuple[Real, Real, Real, Real]:
        """Return the dilutions of precision: horizontal, vertical, position and time."""
        x, y, z = jnp.diagonal(self.inverse)
        count = jnp.maximum(self.number, 1).astype(z.dtype)
        time = 1.0 / count + self.mean @ self.inverse @ self.mean
        return jnp.sqrt(x + y), jnp.sqrt(z), jnp.sqrt(x + y + z), jnp.sqrt(time)


def _fix(position: Vec3, velocity: Vec3, geometry: _Geometry) -> GnssMeasurement:
    """Return a measurement with its dilutions, valid if the geometry is good enough."""
    found = geometry.dilutions()
    valid = (geometry.number >= UNKNOWNS) & (found[2] < MAX_PDOP)
    # the method may diverge among the satellites themselves
    valid = valid & jnp.isfinite(_array(position).sum())
    hdop, vdop, pdop, tdop = (jnp.where(valid, dilution, 0.0) for dilution in found)
    return GnssMeasurement(position, velocity, geometry.number, hdop, vdop, pdop, tdop, valid)


def _solve(
    satellites_m: Float[Array, "satellites 3"],
    ranges_m: Float[Array, " satellites"],
    tracked: Bool[Array, " satellites"],
) -> GnssMeasurement:
    """Return the fix from differences of ranges to those from the origin, without velocity."""

    def improve(guess: Float[Array, "3"], _: None) -> tuple[Float[Array, "3"], None]:
        geometry = _Geometry.of(_directions(satellites_m, guess), tracked)
        residual = ranges_m - _range_differences(satellites_m, guess)
        return guess - geometry.inverse @ (geometry.centered.T @ residual), None

    start = jnp.zeros(3, ranges_m.dtype)
    found, _ = jax.lax.scan(improve, start, None, length=ITERATIONS)
    geometry = _Geometry.of(_directions(satellites_m, found), tracked)
    return _fix(Vec3.of(found), Vec3.zero(), geometry)


def _with_velocity(fix: GnssMeasurement, last: GnssMeasurement, dt_s: Real) -> GnssMeasurement:
    """Return the fix with its velocity; without a valid fix the last position is held."""
    position = tree_where(fix.valid, fix.position_world_m, last.position_world_m)
    moved = (position - last.position_world_m) / dt_s
    velocity = tree_where(fix.valid & last.valid, moved, last.velocity_world_mps)
    return replace(fix, position_world_m=position, velocity_world_mps=velocity)
