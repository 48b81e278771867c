"""A satellite receiver: pseudoranges, and the position that fits them best.

The pseudorange to satellite i is ``rho_i = |s_i - p| + e_i + n_i + b``, with the error e_i of the
world, which all receivers share, white noise n_i of the receiver's own, and the error b of its
clock. b is solved for with p, so that the fix is the same whatever it is; here it is zero. Position
and clock are found by least squares, by Gauss-Newton's method from the origin on, in differences to
the distances from there: ``|s - p| - |s| = (p p - 2 s p) / (|s - p| + |s|)``, which in single
precision too is good to a tenth of a millimeter at 1 km. Directions u_i from the receiver make the
rows ``(-u_i, 1)`` of a matrix G; the dilutions of precision are roots of sums of the diagonal of
``(G' G)^-1`` (Misra and Enge, 2011, section 6.1). With b eliminated its block for the position is
the inverse of ``S = sum (u_i - u)(u_i - u)'``, u being the mean; that for the clock is ``1 / n + u'
S^-1 u``.

As in QRSim (2013) the position is that of one period ago, the velocity the difference of two fixes,
and how many satellites are tracked can be drawn for each flight. Neglected: the time that the
signal travels, in which satellite and Earth move on, which a real receiver corrects for. Elevations
are those over the origin's horizon: right to 0.01 deg at 1 km from there.
"""

from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, UInt32
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, Bounds
from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.core.measurements import GnssMeasurement
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.world.satellites import SKY, Sky

UNKNOWNS = 4
# each squares the error over the distance of the satellites: 1,000 km are a nanometre after four
ITERATIONS = 6
# beyond, satellites lie nearly in one plane
MAX_PDOP = 100.0
# keeps what is inverted regular without them; it slows the method and does not move what it finds
DAMPING = 1e-6
RIGHT_ANGLE_RAD = 1.5707963267948966


class GnssState(eqx.Module):
    """What a receiver remembers.

    Attributes:
        pick: from which it follows which satellites it prefers.
        channels: how many of them it can track.
        past: the places of the last periods, the latest first.
        begun: whether these are known.
        last: its last measurement.
    """

    pick: UInt32[Array, ""]
    channels: Count
    past: tuple[Vec3, ...]
    begun: Flag
    last: GnssMeasurement


class Gnss(AbstractSensor):
    """A receiver at the center of mass.

    ``satellites_tracked`` is from how many to how many it tracks, drawn for each flight; without
    it all above the mask. A mask of -90 deg sees through the Earth, as QRSim does.
    """

    noise_m: Annotated[Real, NOT_NEGATIVE] = 0.002
    elevation_mask_rad: Annotated[Real, Bounds(-RIGHT_ANGLE_RAD, RIGHT_ANGLE_RAD)] = 0.0872665
    satellites_tracked: tuple[int, int] | None = eqx.field(static=True, default=None)
    delay_periods: Annotated[int, Bounds(0.0, 100.0)] = eqx.field(static=True, default=1)

    measures: ClassVar[type] = GnssMeasurement
    default_rate_hz: ClassVar[float | None] = 5.0

    def __check_init__(self) -> None:
        """Refuses a range of satellites that holds no number."""
        if self.satellites_tracked is not None:
            low, high = self.satellites_tracked
            if not 1 <= low <= high:
                message = (
                    f"satellites_tracked: [{low}, {high}] is not allowed; write at least 1 and the "
                    "lower number first, such as [10, 13]"
                )
                raise ValueError(message)

    @override
    def check(self, world: Any) -> None:
        if SKY not in world.processes:
            message = (
                "the world has no satellites to receive; write satellites: nominal under world, or "
                "satellites: {type: sp3, file: ...}"
            )
            raise ScenarioError(message)
        if self.satellites_tracked is not None and self.satellites_tracked[1] < UNKNOWNS:
            low, high = self.satellites_tracked
            message = (
                f"satellites_tracked: [{low}, {high}] is not allowed; a fix takes {UNKNOWNS} "
                "satellites; write more, such as [10, 13], or leave it out for all that are seen"
            )
            raise ScenarioError(message)

    @override
    def failed(self) -> "Gnss":
        return replace(self, elevation_mask_rad=RIGHT_ANGLE_RAD)

    @override
    def init(self, key: PRNGKeyArray) -> GnssState:
        channels, pick = jax.random.split(key)
        low, high = self.satellites_tracked or (0, 0)
        zero = jnp.zeros(())
        nowhere = Vec3(zero, zero, zero)
        return GnssState(
            pick=jax.random.bits(pick, (), jnp.uint32),
            channels=jax.random.randint(channels, (), low, high + 1, jnp.int32),
            past=(nowhere,) * self.delay_periods,
            begun=jnp.asarray(False),
            last=GnssMeasurement(
                *(nowhere, nowhere, jnp.asarray(0, jnp.int32), zero, zero, zero, zero),
                valid=jnp.asarray(False),
            ),
        )

    @override
    def step(
        self, state: GnssState, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[GnssState, GnssMeasurement]:
        now = inputs.truth.position_world_m
        past = tuple(tree_where(state.begun, place, now) for place in state.past)
        place = past[-1] if past else now
        sky: Sky = inputs.processes[SKY]
        noise = jax.random.normal(key, (len(sky.numbers),), jnp.result_type(float))
        ranges = _nearer(sky.positions_world_m, _array(place)) + sky.range_errors_m
        tracked = self._tracked(state, sky, place)
        fix = _solved(sky.positions_world_m, ranges + self.noise_m * noise, tracked)
        measurement = _continued(fix, state.last, dt_s)
        later = GnssState(
            pick=state.pick,
            channels=state.channels,
            past=(now, *past)[: self.delay_periods],
            begun=jnp.asarray(True),
            last=measurement,
        )
        return later, measurement

    @override
    def ideal(self, inputs: SensorInputs) -> GnssMeasurement:
        truth = inputs.truth
        sky: Sky = inputs.processes[SKY]
        place = truth.position_world_m
        seen = self._seen(sky, place)
        directions = _directions(sky.positions_world_m, _array(place))
        return _fix(place, truth.velocity_world_mps, _Geometry.of(directions, seen))

    def _seen(self, sky: Sky, place: Vec3) -> Bool[Array, " satellites"]:
        upwards = _directions(sky.positions_world_m, _array(place))[:, 2]
        return upwards >= jnp.sin(self.elevation_mask_rad)

    def _tracked(self, state: GnssState, sky: Sky, place: Vec3) -> Bool[Array, " satellites"]:
        """The first ones that it sees, in an order of its own."""
        seen = self._seen(sky, place)
        if self.satellites_tracked is None:
            return seen
        own = jax.random.fold_in(seed_key(0), state.pick)
        numbers = jnp.asarray(sky.numbers, jnp.uint32)
        draws = jax.vmap(lambda n: jax.random.uniform(jax.random.fold_in(own, n)))(numbers)
        before = seen[None, :] & (draws[None, :] < draws[:, None])
        return seen & (before.sum(axis=1, dtype=jnp.int32) < state.channels)


def _array(place: Vec3) -> Float[Array, "3"]:
    return jnp.asarray(place.array)


def _nearer(
    satellites_m: Float[Array, "satellites 3"], place_m: Float[Array, "3"]
) -> Float[Array, " satellites"]:
    """How much farther satellites are from a place than from the origin."""
    apart = jnp.linalg.norm(satellites_m - place_m[None], axis=1)
    squares = place_m @ place_m - 2.0 * (satellites_m @ place_m)
    return squares / (apart + jnp.linalg.norm(satellites_m, axis=1))


def _directions(
    satellites_m: Float[Array, "satellites 3"], place_m: Float[Array, "3"]
) -> Float[Array, "satellites 3"]:
    away = satellites_m - place_m[None]
    return away / jnp.linalg.norm(away, axis=1, keepdims=True)


class _Geometry(NamedTuple):
    """The tracked satellites' directions without their mean, and the mean.

    Attributes:
        centered: zeros for satellites that do not count.
        inverse: of the sum of their squares, which is the position's part of ``(G' G)^-1``.
    """

    centered: Float[Array, "satellites 3"]
    mean: Float[Array, "3"]
    inverse: Float[Array, "3 3"]
    number: Count

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
        """Horizontal, vertical, in space and of time."""
        x, y, z = jnp.diagonal(self.inverse)
        count = jnp.maximum(self.number, 1).astype(z.dtype)
        time = 1.0 / count + self.mean @ self.inverse @ self.mean
        return jnp.sqrt(x + y), jnp.sqrt(z), jnp.sqrt(x + y + z), jnp.sqrt(time)


def _fix(place: Vec3, velocity: Vec3, geometry: _Geometry) -> GnssMeasurement:
    """A measurement with its dilutions, if satellites stand well enough for it."""
    found = geometry.dilutions()
    valid = (geometry.number >= UNKNOWNS) & (found[2] < MAX_PDOP)
    # among the satellites themselves the method may run away
    valid = valid & jnp.isfinite(_array(place).sum())
    hdop, vdop, pdop, tdop = (jnp.where(valid, dilution, 0.0) for dilution in found)
    return GnssMeasurement(place, velocity, geometry.number, hdop, vdop, pdop, tdop, valid)


def _solved(
    satellites_m: Float[Array, "satellites 3"],
    ranges_m: Float[Array, " satellites"],
    tracked: Bool[Array, " satellites"],
) -> GnssMeasurement:
    """The fix by the differences of ranges to those from the origin, without its velocity."""

    def improve(guess: Float[Array, "3"], _: None) -> tuple[Float[Array, "3"], None]:
        geometry = _Geometry.of(_directions(satellites_m, guess), tracked)
        left = ranges_m - _nearer(satellites_m, guess)
        return guess - geometry.inverse @ (geometry.centered.T @ left), None

    start = jnp.zeros(3, ranges_m.dtype)
    found, _ = jax.lax.scan(improve, start, None, length=ITERATIONS)
    geometry = _Geometry.of(_directions(satellites_m, found), tracked)
    return _fix(Vec3.of(found), Vec3.zero(), geometry)


def _continued(fix: GnssMeasurement, last: GnssMeasurement, dt_s: Real) -> GnssMeasurement:
    """The fix with its velocity, or the last one's place where there is none."""
    place = tree_where(fix.valid, fix.position_world_m, last.position_world_m)
    moved = (place - last.position_world_m) / dt_s
    velocity = tree_where(fix.valid & last.valid, moved, last.velocity_world_mps)
    return replace(fix, position_world_m=place, velocity_world_mps=velocity)
