"""A sheet with even waves: z = A sin(k x), k = 2 pi / wavelength.

Along a ray o + t d the height over it is f(t) = o_z + t d_z - A sin(k (o_x + t d_x)). Its extremes
lie where cos(k x) = d_z / (A k d_x); between two of them f rises or falls, so that it has a zero
there if its sign changes, and no other one. They are gone through in turn, as far as the ray is
between z = -A and A and over the rectangle, and the first zero is halved down to rounding.

The place nearest to x_0 is within a wavelength of it, or of the end beyond which x_0 lies, for any
other one has its like, a wavelength nearer. On either side the best of ``SAMPLES`` places is taken,
and between its neighbors the zero of the squared distance's derivative, by halving.

The search is not differentiated: a step of Newton's rule from the zero gives a range its
derivatives, and those of a least distance are the ones at a fixed place.
"""

from collections.abc import Callable
from math import tau
from typing import Annotated, Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.contact.solid import Solid, strips
from kittiwake.core.arrays import as_arrays
from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.obstacles.meetings import span
from kittiwake.environment.obstacles.nearest import HALVINGS
from kittiwake.environment.obstacles.outlines import STEPS
from kittiwake.environment.obstacles.placed import AbstractPlaced
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import NORTH, Clearance, between, prism
from kittiwake.world.ray import LEAST_SLOPE, Ray

Reals: TypeAlias = Real | Float[Array, "..."]

# in a wavelength, on either side; the squared distance has at most two harmonics of it
SAMPLES = 64


class WavySheet(AbstractPlaced):
    """The points z = amplitude sin(2 pi x / wavelength) over a rectangle of x and y."""

    center_world_m: Vec3
    amplitude_m: Annotated[Real, POSITIVE]
    wavelength_m: Annotated[Real, POSITIVE]
    length_m: Annotated[Real, POSITIVE]
    width_m: Annotated[Real, POSITIVE]
    yaw_rad: Real = 0.0
    pitch_rad: Real = 0.0
    roll_rad: Real = 0.0

    @override
    def distance_along_m(self, ray_own: Ray) -> Real:
        fixed, ray = jax.lax.stop_gradient(as_arrays((self, ray_own)))
        found, zero = fixed._first(ray)
        o, d = ray_own.origin_m, ray_own.direction
        x = o.x + zero * d.x
        slope = d.z - self._slope(x) * d.x
        crosses = found & (jnp.abs(slope) > LEAST_SLOPE)
        newton = (o.z + zero * d.z - self._height_m(x)) / jnp.where(crosses, slope, 1.0)
        return jnp.where(found, zero - jnp.where(crosses, newton, 0.0), jnp.inf)

    @override
    def normal_at(self, point_own_m: Vec3) -> Vec3:
        return Vec3(-self._slope(point_own_m.x), 0.0, 1.0)

    @override
    def nearest(self, point_own_m: Vec3) -> list[Clearance]:
        fixed, x0, z0 = jax.lax.stop_gradient(as_arrays((self, point_own_m.x, point_own_m.z)))
        ends = between(point_own_m.y, 0.5 * self.width_m, NORTH)

        def near(side: float) -> Clearance:
            x = fixed._nearest_x(x0, z0, side)
            return Clearance.along(Vec3(x - point_own_m.x, 0.0, self._height_m(x) - point_own_m.z))

        return [prism(near(side), ends) for side in (1.0, -1.0)]

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        one, other = (self.placed(rim) for rim in self.outline()[:2])
        return strips(one, other)

    @override
    def outline(self) -> list[Float[np.ndarray, "points 3"]]:
        half, wide = 0.5 * float(self.length_m), 0.5 * float(self.width_m)
        quarter = 0.25 * float(self.wavelength_m)
        steps = max(STEPS, round(2.0 * half / quarter) * STEPS // 8)
        x = np.linspace(-half, half, steps + 1)
        turns = quarter * np.arange(1.0 - 2.0 * np.ceil(half / quarter), half / quarter, 2.0)
        across = [-half, *turns[np.abs(turns) < half].tolist(), half]

        def line(x: Float[np.ndarray, " points"], y: float) -> Float[np.ndarray, "points 3"]:
            z = float(self.amplitude_m) * np.sin(tau / float(self.wavelength_m) * x)
            return np.column_stack([x, np.full_like(x, y), z])

        lines = [np.concatenate([line(np.array([at]), y) for y in (-wide, wide)]) for at in across]
        return [line(x, -wide), line(x, wide), *lines]

    def _height_m(self, x: Reals) -> Any:
        return self.amplitude_m * jnp.sin(tau / self.wavelength_m * x)

    def _slope(self, x: Real) -> Real:
        k = tau / self.wavelength_m
        return self.amplitude_m * k * jnp.cos(k * x)

    def _first(self, ray: Ray) -> tuple[Flag, Real]:
        """Whether there is a zero along a ray, and where the first one is."""
        o, d, k = ray.origin_m, ray.direction, tau / self.wavelength_m
        enters, leaves = _inside(
            ray, Vec3(0.5 * self.length_m, 0.5 * self.width_m, self.amplitude_m)
        )

        def height(t: Real) -> Real:
            return o.z + t * d.z - self._height_m(o.x + t * d.x)

        # forwards along x, which for a ray against it are waves upside down
        rate = k * jnp.abs(d.x)
        steep = self.amplitude_m * k * d.x
        waves = jnp.abs(steep) > jnp.maximum(jnp.abs(d.z), LEAST_SLOPE)
        extreme = jnp.arccos(jnp.where(waves, d.z / jnp.where(waves, steep, 1.0), 0.0))
        begin = jnp.where(d.x < 0.0, -k * o.x, k * o.x)
        turn = jnp.floor((begin + rate * enters) / tau)

        def end_of(piece: Count) -> Real:
            turned = tau * (turn + jnp.asarray(piece // 2, turn.dtype))
            phase = turned + jnp.where(piece % 2 == 0, extreme, tau - extreme)
            t = (phase - begin) / jnp.where(waves, rate, 1.0)
            return jnp.where(waves, jnp.clip(t, enters, leaves), leaves)

        def goes_on(piece: tuple[Count, Real, Real]) -> Flag:
            _, low, high = piece
            return (height(low) * height(high) > 0.0) & (high < leaves)

        def onwards(piece: tuple[Count, Real, Real]) -> tuple[Count, Real, Real]:
            number, _, high = piece
            return number + 1, high, end_of(number + 1)

        zero = jnp.asarray(0, jnp.int32)
        _, low, high = jax.lax.while_loop(goes_on, onwards, (zero, enters, end_of(zero)))
        found = (enters <= leaves) & (height(low) * height(high) <= 0.0)
        rises = height(low) <= 0.0
        return found, _halved(lambda t: (height(t) < 0.0) == rises, low, high)

    def _nearest_x(self, x0: Real, z0: Real, side: float) -> Real:
        """Of the part within a wavelength to one side."""
        half = 0.5 * self.length_m
        foot = jnp.clip(x0, -half, half)
        step = side * self.wavelength_m / SAMPLES
        places = jnp.clip(foot + step * jnp.arange(SAMPLES + 1.0, dtype=foot.dtype), -half, half)
        aside, off = places - x0, self._height_m(places) - z0
        best = places[jnp.argmin(aside * aside + off * off)]
        one, other = jnp.clip(best - step, -half, half), jnp.clip(best + step, -half, half)

        def before(x: Real) -> Flag:
            return (x - x0) + self._slope(x) * (self._height_m(x) - z0) < 0.0

        return _halved(before, jnp.minimum(one, other), jnp.maximum(one, other))


def _inside(ray: Ray, half_m: Vec3) -> tuple[Real, Real]:
    """Where a ray enters a box about the origin, or begins in it, and where it leaves it."""
    enters, leaves = span(ray, half_m)
    enters = jnp.maximum(enters, 0.0)
    met = enters <= leaves
    # of a ray that misses, finite numbers that contradict each other
    return jnp.where(met, enters, 1.0), jnp.where(met, leaves, 0.0)


def _halved(before: Callable[[Real], Flag], low: Real, high: Real) -> Real:
    """The place from which on it is not before, between two ends."""

    def half(_: Count, ends: tuple[Real, Real]) -> tuple[Real, Real]:
        low, high = ends
        middle = 0.5 * (low + high)
        early = before(middle)
        return jnp.where(early, middle, low), jnp.where(early, high, middle)

    low, high = jax.lax.fori_loop(0, HALVINGS, half, (low, high))
    return 0.5 * (low + high)
