"""Waves against thousands of their points: where rays meet them, and how near they are."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.environment.obstacles.waves import WavySheet
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.ray import Ray, cast_ray

ORIGIN = Vec3(0.0, 0.0, 0.0)
SEA = WavySheet(ORIGIN, 0.5, 3.0, 8.0, 6.0)
STEEP = WavySheet(ORIGIN, 2.0, 1.0, 8.0, 6.0)


def met(sheet, origins, directions):
    """Distances and normals."""

    def one(origin, direction):
        hit = cast_ray([sheet], Ray(Vec3.of(origin), Vec3.of(direction)))
        return hit.distance_m, hit.normal_world.array

    found = jax.jit(jax.vmap(one))(jnp.asarray(origins), jnp.asarray(directions))
    return map(np.asarray, found)


def height_over(sheet, points):
    k = 2.0 * math.pi / sheet.wavelength_m
    return points[..., 2] - sheet.amplitude_m * np.sin(k * points[..., 0])


def within(points):
    return (np.abs(points[..., 0]) <= 4.0) & (np.abs(points[..., 1]) <= 3.0)


def random_rays(count=400):
    rng = np.random.default_rng(8)
    origins = rng.uniform(-1.0, 1.0, (count, 3)) * [5.0, 4.0, 3.0]
    # to somewhere among the waves; half of them nearly level, which pass many of them
    ways = rng.uniform(-1.0, 1.0, (count, 3)) * [4.0, 3.0, 0.5] - origins
    origins[::2, 2] *= 0.3
    ways[::2, 2] *= 0.1
    return origins, ways / np.linalg.norm(ways, axis=1)[:, None]


@pytest.mark.slow
@pytest.mark.parametrize("sheet", [SEA, STEEP], ids=["gentle", "steep"])
def test_rays_meet_the_first_of_the_points_that_dense_sampling_finds(sheet):
    origins, ways = random_rays()
    distance, normal = met(sheet, origins, ways)
    t = np.linspace(0.0, 16.0, 40_001)
    for o, d, found, n in zip(origins, ways, distance, normal, strict=True):
        points = o + t[:, None] * d
        over, on = height_over(sheet, points), within(points)
        crossed = np.flatnonzero((over[:-1] * over[1:] <= 0.0) & on[:-1] & on[1:])
        if not np.isfinite(found):
            assert crossed.size == 0
            continue
        place = o + found * d
        # on the sheet, to the rounding of a height that changes at most by 13 a meter
        assert abs(height_over(sheet, place)) < 1e-12
        assert within(place)
        # a step of 0.4 mm is missed only where a ray touches a wave for less than that
        if crossed.size:
            assert found <= t[crossed[0] + 1] + 1e-9
        before = (t < found - 1e-3) & on
        assert (np.sign(over[before]) == np.sign(over[before][:1])).all()
        slope = 2.0 * math.pi / sheet.wavelength_m
        slope *= sheet.amplitude_m * math.cos(2.0 * math.pi / sheet.wavelength_m * place[0])
        across = np.array([-slope, 0.0, 1.0]) / math.hypot(slope, 1.0)
        np.testing.assert_allclose(abs(across @ n), 1.0, atol=1e-9)
    assert 100 < np.isfinite(distance).sum() < 400


@pytest.mark.slow
@pytest.mark.parametrize(
    ("origin", "way", "expected"),
    [
        pytest.param([0.75, 0.0, 2.0], [0.0, 0.0, -1.0], 1.5, id="down on a crest"),
        pytest.param([-0.75, 1.0, -2.0], [0.0, 0.0, 1.0], 1.5, id="up into a valley"),
        pytest.param([0.0, 2.0, 0.0], [-1.0, 0.0, 0.0], 0.0, id="from the surface itself"),
        pytest.param([0.75, 0.0, 0.25], [1.0, 0.0, 0.0], 0.5, id="from within a wave to its side"),
        pytest.param([0.0, 9.0, 0.0], [0.0, -1.0, 0.0], 6.0, id="along a line without height"),
        pytest.param([0.0, 0.0, 0.6], [1.0, 0.0, 0.0], math.inf, id="over the crests"),
        pytest.param([4.1, 0.0, 2.0], [0.0, 0.0, -1.0], math.inf, id="beside it"),
    ],
)
def test_distances_written_down_by_hand(origin, way, expected):
    (distance,), _ = met(SEA, [origin], [way])
    assert distance == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("sheet", [SEA, STEEP], ids=["gentle", "steep"])
def test_clearance_is_that_of_the_nearest_of_many_points(sheet):
    points = np.random.default_rng(5).uniform(-1.0, 1.0, (300, 3)) * [6.0, 4.0, 4.0]
    found = jax.jit(jax.vmap(lambda p: sheet.clearance_m(Vec3.of(p))))(jnp.asarray(points))
    x = np.linspace(-4.0, 4.0, 80_001)
    z = sheet.amplitude_m * np.sin(2.0 * math.pi / sheet.wavelength_m * x)
    best = np.array([np.min((x - p[0]) ** 2 + (z - p[2]) ** 2) for p in points])
    aside = np.maximum(np.abs(points[:, 1]) - 3.0, 0.0)
    expected = np.sqrt(best + aside**2)
    # points are up to 1.3 mm apart along the steep one, so a near one may miss by half of that
    np.testing.assert_array_less(found, expected + 1e-9)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=7e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "place", [(0.75, 0.0, 0.5), (0.75, 0.0, 3.0), (-0.7, 0.0, 5.0), (9.0, 9.0, 0.0)]
)
def test_clearance_has_finite_derivatives_on_the_surface_over_crests_and_valleys_and_beside(place):
    def clearance_m(sheet, point):
        return sheet.clearance_m(point)

    traced = jax.tree.map(jnp.asarray, (SEA, Vec3.of(place)))
    slopes = jax.jit(jax.grad(clearance_m, argnums=(0, 1)))(*traced)
    assert all(np.isfinite(slope) for slope in jax.tree.leaves(slopes))
    length = np.linalg.norm(slopes[1].array)
    # away from the surface a meter of way is one of distance
    assert length == pytest.approx(0.0 if place[2] == 0.5 else 1.0, abs=1e-9)


def test_range_has_the_derivatives_of_the_surface_and_none_where_nothing_is_met():
    def range_m(height, amplitude, aside):
        sheet = WavySheet(ORIGIN, amplitude, 3.0, 8.0, 6.0)
        hit = cast_ray([sheet], Ray(Vec3(aside, 0.0, height), Vec3(0.0, 0.0, -1.0)))
        return hit.range_m(20.0)

    slopes = jax.jit(jax.grad(range_m, argnums=(0, 1, 2)))
    k = 2.0 * math.pi / 3.0
    expected = [1.0, -math.sin(k * 0.4), -0.5 * k * math.cos(k * 0.4)]
    np.testing.assert_allclose(slopes(2.0, 0.5, 0.4), expected, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(slopes(2.0, 0.5, 4.5), 0.0)
