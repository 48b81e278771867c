"""Sheet with sinusoidal waves: z = A sin(k x), k = 2 pi / wavelength.

Along a ray o + t d the height above it is f(t) = o_z + t d_z - A sin(k (o_x + t d_x)). Its extrema
are at cos(k x) = d_z / (A k d_x); between two of them f is monotonic, so that it has a zero there
if its sign changes, and no other one. They are examined in order, while the ray is between z = -A
and A and above the rectangle; the first zero is found by bisection to rounding.

The point nearest to x_0 is within a wavelength of it, or of the end beyond which x_0 lies, as any
other one has an equivalent, a wavelength nearer. On either side the best of ``SAMPLES`` points is
taken, and between its neighbors the zero of the squared distance's derivative, by bisection.

The search is not differentiated: a step of Newton's method from the zero gives a range its
derivatives, and those of a smallest distance are the ones at a fixed point.
"""

from collections.abc import Callable
from math import tau
from typing import Annotated

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.contact.solid import Solid, strips
from kittiwake.core.arrays import as_arrays
from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.obstacles.intersections import span
from kittiwake.environment.obstacles.nearest import BISECTIONS
from kittiwake.environment.obstacles.outlines import STEPS
from kittiwake.environment.obstacles.placed import AbstractPlaced
from kittiwake.geometry.scalar import Flag, Integer, Real, Reals
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import NORTH, Clearance, between, prism
from kittiwake.world.ray import MIN_SLOPE, Ray

# per wavelength, on either side; the squared distance has at most two harmonics of it
SAMPLES = 64


class WavySheet(AbstractPlaced):
    """Sheet z = amplitude sin(2 pi x / wavelength) over a rectangle of x and y.

    Attributes:
        amplitude_m: amplitude.
        wavelength_m: wavelength along its x axis.
        length_m: side along its x axis.
        width_m: side along its y axis.
    """

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
        crosses = found & (jnp.abs(slope) > MIN_SLOPE)
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
        one, other = (self.to_world(rim) for rim in self.outline()[:2])
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

    def _height_m(self, x: Reals) -> Reals:
        return self.amplitude_m * jnp.sin(tau / self.wavelength_m * x)

    def _slope(self, x: Real) -> Real:
        k = tau / self.wavelength_m
        return self.amplitude_m * k * jnp.cos(k * x)

    def _first(self, ray: Ray) -> tuple[Flag, Real]:
        """Return True if there is a zero along a ray, and the first one."""
        o, d, k = ray.origin_m, ray.direction, tau / self.wavelength_m
        enters, leaves = _inside(
            ray, Vec3(0.5 * self.length_m, 0.5 * self.width_m, self.amplitude_m)
        )

        def height(t: Real) -> Real:
            return o.z + t * d.z - self._height_m(o.x + t * d.x)

        # forwards along x; a ray in the opposite direction sees inverted waves
        rate = k * jnp.abs(d.x)
        steep = self.amplitude_m * k * d.x
        waves = jnp.abs(steep) > jnp.maximum(jnp.abs(d.z), MIN_SLOPE)
        extreme = jnp.arccos(jnp.where(waves, d.z / jnp.where(waves, steep, 1.0), 0.0))
        begin = jnp.where(d.x < 0.0, -k * o.x, k * o.x)
        turn = jnp.floor((begin + rate * enters) / tau)

        def end_of(piece: Integer) -> Real:
            phase_start = tau * (turn + jnp.asarray(piece // 2, turn.dtype))
            phase = phase_start + jnp.where(piece % 2 == 0, extreme, tau - extreme)
            t = (phase - begin) / jnp.where(waves, rate, 1.0)
            return jnp.where(waves, jnp.clip(t, enters, leaves), leaves)

        def unfinished(piece: tuple[Integer, Real, Real]) -> Flag:
            _, low, high = piece
            return (height(low) * height(high) > 0.0) & (high < leaves)

        def advance(piece: tuple[Integer, Real, Real]) -> tuple[Integer, Real, Real]:
            number, _, high = piece
            return number + 1, high, end_of(number + 1)

        zero = jnp.asarray(0, jnp.int32)
        _, low, high = jax.lax.while_loop(unfinished, advance, (zero, enters, end_of(zero)))
        found = (enters <= leaves) & (height(low) * height(high) <= 0.0)
        rises = height(low) <= 0.0
        return found, _bisect(lambda t: (height(t) < 0.0) == rises, low, high)

    def _nearest_x(self, x0: Real, z0: Real, side: float) -> Real:
        """Return the x of the nearest point within a wavelength to one side."""
        half = 0.5 * self.length_m
        foot = jnp.clip(x0, -half, half)
        step = side * self.wavelength_m / SAMPLES
        points = jnp.clip(foot + step * jnp.arange(SAMPLES + 1.0, dtype=foot.dtype), -half, half)
        dx, dz = points - x0, self._height_m(points) - z0
        best = points[jnp.argmin(dx * dx + dz * dz)]
        one, other = jnp.clip(best - step, -half, half), jnp.clip(best + step, -half, half)

        def before(x: Real) -> Flag:
            return (x - x0) + self._slope(x) * (self._height_m(x) - z0) < 0.0

        return _bisect(before, jnp.minimum(one, other), jnp.maximum(one, other))

    @classmethod
    @override
    def examples(cls) -> dict[str, "WavySheet"]:
        return {
            "sea": cls(
                center_world_m=Vec3(4.0, 2.0, 10.0),
                amplitude_m=0.4,
                wavelength_m=3.0,
                length_m=20.0,
                width_m=20.0,
                yaw_rad=0.3,
                pitch_rad=0.1,
            )
        }


def _inside(ray: Ray, half_m: Vec3) -> tuple[Real, Real]:
    """Return where a ray enters a box about the origin, or begins in it, and where it leaves."""
    enters, leaves = span(ray, half_m)
    enters = jnp.maximum(enters, 0.0)
    hit = enters <= leaves
    # finite numbers in reverse order for a ray that misses
    return jnp.where(hit, enters, 1.0), jnp.where(hit, leaves, 0.0)


def _bisect(before: Callable[[Real], Flag], low: Real, high: Real) -> Real:
    """Return the point between two ends where ``before`` becomes false, by bisection."""

    def half(_: Integer, ends: tuple[Real, Real]) -> tuple[Real, Real]:
        low, high = ends
        middle = 0.5 * (low + high)
        early = before(middle)
        return jnp.where(early, middle, low), jnp.where(early, high, middle)

    low, high = jax.lax.fori_loop(0, BISECTIONS, half, (low, high))
    return 0.5 * (low + high)
