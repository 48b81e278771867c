"""Boxes that push or blow: how much of a vehicle is inside, and where what is inside lies."""

import dataclasses
import itertools
import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.environment.regions import MIN_HALF_M, ForceRegion, WindRegion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.world.surroundings import Air, Surroundings

LOW, HIGH = Vec3(-1.0, -2.0, 0.5), Vec3(2.0, 1.0, 3.0)
SIZE = Vec3(0.6, 0.5, 0.2)
FORCE, WIND = Vec3(3.0, -2.0, 1.0), Vec3(4.0, 3.0, -2.0)
CALM = Surroundings(9.81, Air(288.15, 101325.0, 1.225), Vec3.zero(), 5.0, math.inf)
MIDDLE = Vec3(0.5, -0.5, 1.75)
# partly outside along one, two and three axes, at low and high faces, and wholly in or out
PLACES = {
    "inside": MIDDLE,
    "through the west face": Vec3(-1.1, -0.5, 1.75),
    "through the east face": Vec3(1.9, -0.5, 1.75),
    "through the top": Vec3(0.5, -0.5, 3.05),
    "over an edge": Vec3(1.85, 0.9, 1.75),
    "over a corner": Vec3(-0.9, -2.1, 0.45),
    "outside": Vec3(5.0, 0.0, 1.0),
}
ATTITUDES = {"level": (0.0, 0.0, 0.0), "turned": (0.0, 0.0, 0.6), "tilted": (0.5, -0.4, 2.0)}
PUSH = ForceRegion(LOW, HIGH, FORCE)
BREEZE = WindRegion(LOW, HIGH, WIND)


def motion(place, attitude=(0.0, 0.0, 0.0)):
    return Start(place, *attitude).kinematics()


def half_sides(attitude, size=SIZE):
    """Of the smallest upright box around the vehicle's own, by its eight corners."""
    q = motion(Vec3.zero(), attitude).q_world_from_body
    corners = [
        q.rotate(Vec3(0.5 * i * size.x, 0.5 * j * size.y, 0.5 * k * size.z)).array
        for i, j, k in itertools.product((-1.0, 1.0), repeat=3)
    ]
    return np.max(corners, axis=0)


def points_in(half, count=100):
    """The middles of equal cells of a box about the origin."""
    axis = (np.arange(count) + 0.5) * (2.0 / count) - 1.0
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    return grid.reshape(-1, 3) * half


def felt(region, x, y, z, size=SIZE, attitude=(0.0, 0.0, 0.0)):
    return region.apply(motion(Vec3(x, y, z), attitude), size, CALM)


def force_and_torque(x, y, z):
    wrench = felt(PUSH, x, y, z).external_wrench
    return jnp.concatenate([wrench.force_world_n.array, wrench.torque_world_nm.array])


def wind_at(around, point):
    """The wind at a place beside a vehicle's center."""
    extra = [shear.wind_mps * shear.slope_pm.dot(point) for shear in around.shears_world]
    return sum(extra, start=around.wind_world_mps).array


def winds_at_the_rim(x, y, z):
    around = felt(BREEZE, x, y, z)
    half = 0.5 * SIZE.array
    return jnp.concatenate(
        [
            wind_at(around, Vec3.of(half * np.array(signs)))
            for signs in itertools.product((-1.0, 1.0), repeat=3)
        ]
    )


forces_and_torques = jax.jit(jax.vmap(force_and_torque))
winds_at_rims = jax.jit(jax.vmap(winds_at_the_rim))


# how much is inside


@pytest.mark.slow
@pytest.mark.parametrize("attitude", ATTITUDES.values(), ids=ATTITUDES)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_share_and_lever_and_slope_are_those_of_counted_points(place, attitude):
    points = points_in(half_sides(attitude))
    there = points + place.array
    inside = ((there > LOW.array) & (there < HIGH.array)).all(axis=1)
    found = PUSH.overlap(motion(place, attitude), SIZE)
    # a face cuts cells of a hundredth of a side: half of one along each axis is miscounted
    assert float(found.share) == pytest.approx(inside.mean(), abs=0.015)
    moments = (inside[:, None] * points).mean(axis=0)
    np.testing.assert_allclose(
        found.share * found.lever_world_m.array, moments, rtol=0, atol=0.015 * points.max()
    )
    # the slope of a least-squares fit to what is one inside and zero outside
    columns = np.column_stack([np.ones(len(points)), points])
    fitted = np.linalg.lstsq(columns, inside.astype(float), rcond=None)[0]
    half = half_sides(attitude)
    np.testing.assert_allclose(found.slope_world_pm.array * half, fitted[1:] * half, atol=0.03)
    assert float(found.share) == pytest.approx(fitted[0], abs=0.015)


@pytest.mark.parametrize("inside", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_share_of_a_level_vehicle_is_the_part_of_its_way_through_a_face(inside):
    place = Vec3(-1.0 - 0.3 + 0.6 * inside, -0.5, 1.75)
    found = PUSH.overlap(motion(place), SIZE)
    assert float(found.share) == pytest.approx(inside, abs=1e-14)
    lever = 0.5 * 0.6 * (1.0 - inside) if inside else 0.0
    assert float(found.lever_world_m.x) == pytest.approx(lever, abs=1e-14)
    assert float(found.lever_world_m.y) == float(found.lever_world_m.z) == 0.0


def test_a_region_within_a_vehicle_takes_its_part_of_it():
    found = ForceRegion(Vec3(-0.5, -1, -0.1), Vec3(0.5, 1, 0.1), FORCE).overlap(
        motion(Vec3.zero()), Vec3(2.0, 4.0, 1.0)
    )
    assert float(found.share) == pytest.approx(0.5 * 0.5 * 0.2, abs=1e-15)
    np.testing.assert_allclose(found.lever_world_m.array, 0.0, atol=1e-15)
    np.testing.assert_allclose(found.slope_world_pm.array, 0.0, atol=1e-15)


@pytest.mark.parametrize("beyond", [-1.01, 1.01])
def test_a_vehicle_without_a_size_crosses_a_face_within_a_millimeter(beyond):
    around = felt(PUSH, -1.0 + beyond * MIN_HALF_M, -0.5, 1.75, Vec3.zero())
    expected = np.zeros(3) if beyond < 0.0 else FORCE.array
    np.testing.assert_allclose(around.external_wrench.force_world_n.array, expected, rtol=1e-12)


def test_a_vehicle_without_a_size_feels_one_wind_all_over():
    around = felt(BREEZE, -1.0, -0.5, 1.75, Vec3.zero())
    np.testing.assert_allclose(wind_at(around, Vec3.zero()), 0.5 * WIND.array, rtol=1e-12)
    far = wind_at(around, Vec3(0.3, 0.2, 0.1))
    np.testing.assert_array_equal(far, wind_at(around, Vec3.zero()))


# crossing the faces


def crossings():
    """Dense samples about each of the places where a level vehicle's box meets a face's plane."""
    half = 0.5 * SIZE.array
    for i, axis in enumerate("xyz"):
        for face, side in itertools.product((LOW.array[i], HIGH.array[i]), (-1.0, 1.0)):
            # beside the middle, half over a neighboring edge
            start = np.array([0.4, 0.8, 2.9])
            line = np.tile(start, (41, 1))
            line[:, i] = face + side * half[i] + 1e-6 * np.arange(-20, 21)
            yield pytest.param(line, id=f"{axis} = {face:g} {side * half[i]:+g}")


@pytest.mark.parametrize("line", list(crossings()))
def test_force_and_torque_do_not_jump_where_a_vehicle_meets_a_face(line):
    found = forces_and_torques(*line.T)
    # the share changes by a micrometre over a side of 0.2 m at least, levers are up to 0.3 m long:
    # a jump would be of the size of the force and of the lever
    steepest = FORCE.norm() * 1e-6 / 0.2
    assert np.abs(np.diff(found, axis=0)).max() <= 1.5 * steepest
    assert np.abs(found).max() > 0.0 or line[:, 0].mean() < -1.29


@pytest.mark.parametrize("line", list(crossings()))
def test_wind_does_not_jump_at_any_place_of_a_vehicle_that_meets_a_face(line):
    found = winds_at_rims(*line.T)
    # at the rim along one axis it is phi + 3 phi (1 - phi), along three at most thrice as steep
    steepest = WIND.norm() * 1e-6 / 0.2
    assert np.abs(np.diff(found, axis=0)).max() <= 12.0 * steepest


def test_force_is_the_same_on_the_way_in_and_on_the_way_out():
    depth = np.linspace(0.0, 0.6, 13)
    level = np.full_like(depth, 1.0)
    inwards = forces_and_torques(-1.3 + depth, -0.5 * level, 1.75 * level)
    outwards = forces_and_torques(2.3 - depth, -0.5 * level, 1.75 * level)
    np.testing.assert_allclose(inwards[:, :3], outwards[:, :3], rtol=0, atol=1e-13)
    # what is inside lies on the other side of the center
    np.testing.assert_allclose(inwards[:, 3:], -outwards[:, 3:], rtol=0, atol=1e-13)


# what is felt


def test_a_force_does_not_turn_what_is_wholly_inside():
    wrench = PUSH.apply(motion(MIDDLE, ATTITUDES["tilted"]), SIZE, CALM).external_wrench
    np.testing.assert_allclose(wrench.force_world_n.array, FORCE.array, rtol=1e-15)
    np.testing.assert_array_equal(wrench.torque_world_nm.array, np.zeros(3))


def test_a_force_turns_what_is_half_inside_by_the_lever_of_its_middle():
    wrench = felt(PUSH, -1.0, -0.5, 1.75).external_wrench
    np.testing.assert_allclose(wrench.force_world_n.array, 0.5 * FORCE.array, rtol=1e-14)
    torque = np.cross([0.15, 0.0, 0.0], 0.5 * FORCE.array)
    np.testing.assert_allclose(wrench.torque_world_nm.array, torque, rtol=1e-13)


def test_outside_nothing_is_felt():
    place = PLACES["outside"]
    around = BREEZE.apply(motion(place), SIZE, PUSH.apply(motion(place), SIZE, CALM))
    for felt_there in (
        around.external_wrench.force_world_n,
        around.external_wrench.torque_world_nm,
    ):
        np.testing.assert_array_equal(felt_there.array, np.zeros(3))
    np.testing.assert_array_equal(wind_at(around, Vec3(0.3, 0.2, 0.1)), np.zeros(3))


def test_wind_of_a_region_comes_on_top_of_the_worlds():
    around = BREEZE.apply(motion(MIDDLE), SIZE, CALM.with_gust(Vec3(1.0, 1.0, 1.0)))
    np.testing.assert_allclose(around.wind_world_mps.array, WIND.array + 1.0, rtol=1e-14)


def test_wind_over_a_vehicle_half_inside_goes_from_nothing_to_all():
    around = felt(BREEZE, -1.0, -0.5, 1.75)
    reach = 0.3 * 2.0 / 3.0
    np.testing.assert_allclose(wind_at(around, Vec3(-reach, 0.0, 0.0)), 0.0, atol=1e-14)
    np.testing.assert_allclose(wind_at(around, Vec3.zero()), 0.5 * WIND.array, rtol=1e-14)
    np.testing.assert_allclose(wind_at(around, Vec3(reach, 0.0, 0.0)), WIND.array, rtol=1e-13)


def test_several_regions_add():
    beside = motion(Vec3(-0.95, -0.5, 1.75))
    other = ForceRegion(Vec3(-5.0, -5.0, 0.0), Vec3(-0.8, 5.0, 5.0), Vec3(0.0, 1.0, 5.0))
    gust = WindRegion(Vec3(-5.0, -5.0, 0.0), Vec3(-0.8, 5.0, 5.0), Vec3(0.0, 1.0, 5.0))
    alone = [region.apply(beside, SIZE, CALM) for region in (PUSH, other, BREEZE, gust)]
    together = CALM
    for region in (PUSH, BREEZE, other, gust):
        together = region.apply(beside, SIZE, together)
    for name in ("force_world_n", "torque_world_nm"):
        expected = sum(getattr(one.external_wrench, name).array for one in alone[:2])
        np.testing.assert_allclose(
            getattr(together.external_wrench, name).array, expected, rtol=1e-14
        )
    place = Vec3(0.2, -0.1, 0.05)
    expected = wind_at(alone[2], place) + wind_at(alone[3], place)
    np.testing.assert_allclose(wind_at(together, place), expected, rtol=1e-14)


def quarter(v):
    """Turned about the vertical by 90 degrees: boxes along the axes stay so."""
    return Vec3(-v.y, v.x, v.z)


def moved(v):
    return v + Vec3(10.0, -20.0, 5.0)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_region_that_is_turned_and_moved_with_the_vehicle_does_the_same(place):
    low, high = quarter(LOW), quarter(HIGH)
    low, high = Vec3(high.x, low.y, low.z), Vec3(low.x, high.y, high.z)
    roll, pitch, yaw = ATTITUDES["tilted"]
    there = motion(moved(quarter(place)), (roll, pitch, yaw + 0.5 * math.pi))
    here = motion(place, (roll, pitch, yaw))
    wrench = PUSH.apply(here, SIZE, CALM).external_wrench
    other = (
        ForceRegion(moved(low), moved(high), quarter(FORCE))
        .apply(there, SIZE, CALM)
        .external_wrench
    )
    # 20 m of coordinates, over sides of half a meter
    for name in ("force_world_n", "torque_world_nm"):
        expected = quarter(getattr(wrench, name)).array
        np.testing.assert_allclose(getattr(other, name).array, expected, rtol=0, atol=1e-13)
    around = BREEZE.apply(here, SIZE, CALM)
    blown = WindRegion(moved(low), moved(high), quarter(WIND)).apply(there, SIZE, CALM)
    point = Vec3(0.2, -0.1, 0.05)
    expected = quarter(Vec3.of(wind_at(around, point))).array
    np.testing.assert_allclose(wind_at(blown, quarter(point)), expected, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ForceRegion, WindRegion])
@pytest.mark.parametrize("size", [SIZE, Vec3.zero()], ids=["sized", "point"])
@pytest.mark.parametrize("x", [-1.3, -1.0, -0.7, 2.3])
def test_gradients_are_finite_at_the_faces(kind, size, x):
    def total(numbers):
        place, corner, other, what = (Vec3.of(numbers[i : i + 3]) for i in (0, 3, 6, 9))
        around = kind(corner, other, what).apply(motion(place), size, CALM)
        parts = [around.wind_world_mps, around.external_wrench, around.shears_world]
        return sum(jnp.sum(jnp.asarray(leaf)) for leaf in jax.tree.leaves(parts))

    numbers = jnp.concatenate([v.array for v in (Vec3(x, -0.5, 1.75), LOW, HIGH, FORCE)])
    slopes = jax.jit(jax.grad(total))(numbers)
    assert jnp.isfinite(slopes).all()


@pytest.mark.slow
def test_gradient_inside_a_face_is_that_of_finite_differences():
    place = np.array([-1.1, 0.9, 2.95])
    found = jax.jacfwd(lambda p: force_and_torque(*p))(place)
    steps = 1e-6 * np.eye(3)
    ends = [force_and_torque(*(place + s)) - force_and_torque(*(place - s)) for s in steps]
    # rounding of numbers of 3 over steps of a micrometre
    np.testing.assert_allclose(found, np.column_stack(ends) / 2e-6, rtol=0, atol=1e-8)


# what is refused

TEXT = """\
name: boxes
time: {rate_hz: 50, duration_s: 1}
world:
  regions:
    gust:
      type: wind
      from_world_m: [0, 0, 0]
      to_world_m: [1, 1, 1]
      wind_world_mps: [1, 0, 0]
    shove:
      type: force
      from_world_m: [0, 0, 0]
      to_world_m: [1, 1, 1]
      force_world_n: [1, 0, 0]
vehicles:
  gull: {model: hummingbird}
"""


def refusal(text):
    with pytest.raises(ScenarioError) as refused:
        build(parse_document(text, "test.yaml"), Path())
    return str(refused.value)


def test_regions_are_built_in_their_order():
    world = build(parse_document(TEXT, "test.yaml"), Path()).world
    assert [type(region) for region in world.regions] == [WindRegion, ForceRegion]
    assert world.regions[0].wind_world_mps.x == 1.0


@pytest.mark.parametrize("line", [8, 13])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_corners_in_the_wrong_order_are_refused_with_their_line(line, axis):
    corner = [1, 1, 1]
    corner[axis] = 0
    lines = TEXT.splitlines()
    lines[line - 1] = f"      to_world_m: {corner}"
    said = refusal("\n".join(lines))
    name = "gust" if line == 8 else "shove"
    assert said == (
        f"test.yaml:{line - 3}: world.regions.{name}: from_world_m: got {'xyz'[axis]} = 0; must be "
        "below that of to_world_m, 0. Write the corner with the smaller coordinates first"
    )


def test_an_unknown_key_of_a_region_is_refused_with_its_line():
    said = refusal(TEXT.replace("wind_world_mps", "wind_mps"))
    assert "test.yaml:9: world.regions.gust.wind_mps" in said
    assert "wind_world_mps" in said


def test_an_unknown_kind_of_region_is_refused_with_those_there_are():
    said = refusal(TEXT.replace("type: force", "type: forse"))
    assert said.startswith("test.yaml:11: world.regions.shove.type: ")
    assert "Did you mean 'force'?" in said


@pytest.mark.parametrize("given", ["[1, 2]", "wind", "3"])
def test_regions_that_are_no_mapping_are_refused(given):
    head, _, tail = TEXT.partition("  regions:\n")
    tail = tail[tail.index("vehicles:") :]
    said = refusal(f"{head}  regions: {given}\n{tail}")
    assert said.startswith("test.yaml:4: world.regions: write a mapping of names, with a region")


def test_a_region_without_corners_is_refused():
    said = refusal(TEXT.replace("      to_world_m: [1, 1, 1]\n", ""))
    assert "world.regions.gust.to_world_m" in said
    assert "world.regions.shove.to_world_m" in said


# turned boxes


TURNS = [(0.0, 0.0, 0.6), (0.4, -0.7, 2.0), (3.0, 1.2, -1.0)]


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("angles", TURNS)
def test_world_vehicle_and_box_turned_together_give_the_turned_force_and_wind(angles, place):
    roll, pitch, yaw = angles
    turn = motion(Vec3.zero(), angles).q_world_from_body
    before = motion(place, (0.5, -0.4, 2.0))
    # the box turns about its middle, so that this is where the world turns about as well
    middle = (LOW + HIGH) * 0.5
    after = dataclasses.replace(
        before,
        position_world_m=middle + turn.rotate(place - middle),
        q_world_from_body=turn * before.q_world_from_body,
    )
    pushing = ForceRegion(LOW, HIGH, turn.rotate(FORCE), yaw, pitch, roll)
    blowing = WindRegion(LOW, HIGH, turn.rotate(WIND), yaw, pitch, roll)
    wrench, turned = (
        PUSH.apply(before, SIZE, CALM).external_wrench,
        pushing.apply(after, SIZE, CALM).external_wrench,
    )
    # 1e-12: some roundings of numbers of the order of one
    for kind in ("force_world_n", "torque_world_nm"):
        expected = turn.rotate(getattr(wrench, kind)).array
        np.testing.assert_allclose(getattr(turned, kind).array, expected, rtol=0, atol=1e-12)
    wind, other = BREEZE.apply(before, SIZE, CALM), blowing.apply(after, SIZE, CALM)
    for corner in (Vec3.zero(), Vec3(0.3, -0.2, 0.1)):
        expected = turn.rotate(Vec3.of(wind_at(wind, corner))).array
        found = wind_at(other, turn.rotate(corner))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_a_box_turned_by_a_quarter_is_the_box_with_its_sides_exchanged():
    turned = ForceRegion(Vec3(-2.0, -1.0, 0.0), Vec3(2.0, 1.0, 3.0), FORCE, yaw_rad=math.pi / 2)
    plain = ForceRegion(Vec3(-1.0, -2.0, 0.0), Vec3(1.0, 2.0, 3.0), FORCE)
    for place in (Vec3(0.0, 1.9, 1.0), Vec3(0.9, 0.0, 2.95), Vec3(1.9, 0.0, 1.0)):
        found, expected = (
            one.apply(motion(place), SIZE, CALM).external_wrench for one in (turned, plain)
        )
        for kind in ("force_world_n", "torque_world_nm"):
            np.testing.assert_allclose(
                getattr(found, kind).array, getattr(expected, kind).array, atol=1e-12
            )
    corners = turned.corners_world_m()
    np.testing.assert_allclose(corners.min(axis=0), [-1.0, -2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(corners.max(axis=0), [1.0, 2.0, 3.0], atol=1e-12)
