"""Ways around obstacles: their clearance, measured independently, their length, refusals."""

import dataclasses
import math
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Start
from kittiwake.environment.obstacles.boxes import Box
from kittiwake.environment.obstacles.sheets import Plane
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.planning.free_space import FreeSpace
from kittiwake.guidance.planning.path_search import length_m, shortest_path
from kittiwake.guidance.planning.plan_path import PlanPath
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.scenario.load import load_scenario
from kittiwake.world.world import FlightArea

AREA = FlightArea((-1.0, 11.0), (-6.0, 6.0), (0.0, 4.0))
HERE, THERE = Vec3(0.0, 0.0, 1.5), Vec3(10.0, 0.0, 1.5)
CLEARANCE_M = 0.6


def wall(x_m, from_y_m, to_y_m):
    """Thin, from the ground up to the top of the area."""
    return Box(Vec3(x_m, 0.5 * (from_y_m + to_y_m), 2.0), Vec3(0.2, to_y_m - from_y_m, 4.0))


GAP = {"south": wall(5.0, -6.0, 1.0), "north": wall(5.0, 3.0, 6.0)}
ENDS = [(2.0, 3.5), (4.0, -3.5), (6.0, 3.5), (8.0, -3.5)]
MAZE = {
    f"wall {i}": wall(x, -6.0, y) if y > 0.0 else wall(x, y, 6.0) for i, (x, y) in enumerate(ENDS)
}


def scattered_boxes(seed):
    draw = np.random.default_rng(seed)
    return {
        f"box {i}": Box(
            Vec3(*draw.uniform([1.5, -3.0, 0.5], [8.5, 3.0, 3.0]).tolist()),
            Vec3(*draw.uniform(0.4, 2.0, 3).tolist()),
            float(draw.uniform(0.0, 1.5)),
        )
        for i in range(14)
    }


@pytest.fixture(scope="module")
def os4():
    return load_scenario("hover-os4")


def context(os4, obstacles, start=HERE, **changes):
    plain = os4.world
    found = {"area": AREA, "obstacles": tuple(obstacles.values()), **changes}
    world = dataclasses.replace(plain, obstacle_names=tuple(obstacles), **found)
    return BuildContext(world, os4.vehicles["os4"].dynamics, Start(start), {})


def distances_m(boxes, points_m):
    """Of points from the nearest of some yawed boxes."""
    least = np.full(len(points_m), np.inf)
    for box in boxes:
        off = points_m - np.array(
            [box.center_world_m.x, box.center_world_m.y, box.center_world_m.z]
        )
        turn = np.exp(-1j * float(box.yaw_rad)) * (off[:, 0] + 1j * off[:, 1])
        half = 0.5 * np.array([box.sides_m.x, box.sides_m.y, box.sides_m.z])
        beyond = np.abs(np.column_stack([turn.real, turn.imag, off[:, 2]])) - half
        least = np.minimum(least, np.linalg.norm(np.maximum(beyond, 0.0), axis=1))
    return least


def flown(guidance):
    """Places along a prepared trajectory, at most some millimeters apart."""
    return guidance.plan.pieces.sampled(np.linspace(0.0, 1.0, 1000), 0)[..., :3].reshape(-1, 3)


def taut_m(corners, clearance_m):
    """The length of a thread around ends of thin walls, pulled alternately to either side."""
    ends = [(x + side * 0.1, y) for x, y in corners for side in (-1.0, 1.0)]
    points = [(0.0, 0.0), *ends, (10.0, 0.0)]
    signs = [0.0, *(math.copysign(1.0, y) for _, y in ends), 0.0]
    headings, total = [], 0.0
    for ((x, y), s), ((u, v), t) in pairwise(zip(points, signs, strict=True)):
        # from a circle above (1) or below (-1) which the thread passes, or a point, to another
        away, rise = math.hypot(u - x, v - y), clearance_m * (t - s)
        headings.append(math.atan2(v - y, u - x) + math.asin(rise / away))
        total += math.sqrt(away**2 - rise**2)
    return total + clearance_m * sum(abs(a - b) for a, b in pairwise(headings))


@pytest.mark.slow
@pytest.mark.parametrize(("obstacles", "corners"), [(GAP, [(5.0, 1.0)]), (MAZE, ENDS)])
def test_path_is_as_short_as_a_taut_thread(os4, obstacles, corners):
    ends = np.array([[0.0, 0.0, 1.5], [10.0, 0.0, 1.5]])
    space = FreeSpace.around(context(os4, obstacles).world, ends, CLEARANCE_M)
    way = shortest_path(space, ends, CLEARANCE_M, 0.25)
    expected = taut_m(corners, CLEARANCE_M)
    # corners stand outside of the arcs that a thread would make
    assert expected < length_m(way) < 1.01 * expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "obstacles",
    [
        GAP,
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in (MAZE, scattered_boxes(3), scattered_boxes(4))
        ),
    ],
    ids=["gap", "maze", "boxes", "other boxes"],
)
def test_trajectory_keeps_clearance_and_area(os4, obstacles):
    there = context(os4, obstacles)
    guidance = PlanPath(THERE, clearance_m=CLEARANCE_M).prepare(there)
    places = flown(guidance)
    np.testing.assert_allclose(places[[0, -1]], [[0, 0, 1.5], [10, 0, 1.5]], atol=1e-9)
    assert distances_m(obstacles.values(), places).min() >= CLEARANCE_M
    assert (places >= [-1.0, -6.0, 0.0]).all()
    assert (places <= [11.0, 6.0, 4.0]).all()
    speeds = np.linalg.norm(guidance.plan.pieces.sampled(np.linspace(0, 1, 300), 1), axis=-1)
    assert speeds.max() <= 3.0
    straight = shortest_path(
        FreeSpace.around(there.world, places[[0, -1]], CLEARANCE_M),
        *(places[[0, -1]], CLEARANCE_M, 0.2),
    )
    # it keeps up to a fifth more of the clearance, and swings
    assert length_m(places) < 1.08 * length_m(straight)


def test_path_without_obstacles_is_straight(os4):
    guidance = PlanPath(THERE).prepare(context(os4, {}))
    places = flown(guidance)
    assert np.abs(places[:, 1]).max() < 1e-9
    assert length_m(places) == pytest.approx(10.0, abs=1e-6)


def test_vehicle_on_the_ground_climbs_first(os4):
    start = Vec3(0.0, 0.0, 0.1)
    guidance = PlanPath(THERE, clearance_m=0.8).prepare(context(os4, {}, start))
    named = [tuple(round(float(n), 6) for n in p.array) for p in guidance.positions_world_m]
    assert named == [(0.0, 0.0, 0.1), (0.0, 0.0, 0.8), (10.0, 0.0, 1.5)]


def test_path_may_begin_elsewhere(os4):
    begin = Vec3(5.0, 5.0, 2.0)
    guidance = PlanPath(THERE, from_world_m=begin).prepare(context(os4, {}))
    np.testing.assert_allclose(flown(guidance)[0], [5.0, 5.0, 2.0], atol=1e-9)


def refused(os4, obstacles, goal=THERE, **given):
    changes = {key: given.pop(key) for key in ("area", "ground_z_m") if key in given}
    start = given.pop("start", HERE)
    with pytest.raises(ScenarioError) as error:
        PlanPath(goal, **given).prepare(context(os4, obstacles, start, **changes))
    return str(error.value)


def test_invalid_goals_are_refused_with_the_obstacle(os4):
    inside = refused(os4, GAP, Vec3(5.0, -2.0, 1.5))
    assert "goal_world_m: [5, -2, 1.5] is inside of world.obstacles.south, 0.1 m deep" in inside
    near = refused(os4, GAP, Vec3(5.4, -2.0, 1.5))
    assert "is 0.3 m from world.obstacles.south, less than clearance_m 0.7" in near
    outside = refused(os4, {}, Vec3(50.0, 0.0, 1.5))
    assert "goal_world_m: [50, 0, 1.5] is outside the area, where x is -1 to 11 m" in outside
    below = refused(os4, {}, Vec3(5.0, 0.0, 0.5), ground_z_m=1.0)
    assert "goal_world_m: [5, 0, 0.5] is below the ground, which is at z = 1" in below


def test_goal_behind_a_closed_wall_is_refused_with_its_name(os4):
    message = refused(os4, {"curtain": Plane(Vec3(5.0, 0.0, 0.0), Vec3(1.0, 0.0, 0.0))})
    assert "no path keeps a clearance of 0.7 m" in message
    assert "the first obstacle on the straight line is world.obstacles.curtain" in message
    # a gap of 2 m lets nothing pass that wants 1.2 m on both sides
    assert "world.obstacles.south" in refused(os4, GAP, clearance_m=1.2)


def test_invalid_parameters_are_refused_with_valid_ones(os4):
    assert "must be at least 0.55" in refused(os4, GAP, clearance_m=0.3)
    assert "write less" in refused(os4, {}, clearance_m=2.5)
    fine = refused(os4, GAP, resolution_m=0.02)
    assert "must be 300,000 at most: write 0." in fine
    coarse = float(fine.split("write ")[1].split(" ")[0])
    PlanPath(THERE, resolution_m=coarse).prepare(context(os4, GAP))
    assert "the start" in refused(os4, GAP, start=Vec3(4.6, -1.0, 1.5))


def test_segment_through_a_thin_sheet_is_not_clear(os4):
    # a sheet without thickness between two points of the grid
    space = FreeSpace.around(
        context(os4, {"sheet": Box(Vec3(5.0, 0.0, 2.0), Vec3(1e-6, 4.0, 4.0))}).world,
        np.array([[0.0, 0.0, 1.5], [10.0, 0.0, 1.5]]),
        0.1,
    )
    begins, ends = np.array([[4.0, 0.0, 2.0], [4.0, 3.0, 2.0]]), np.array([[6.0, 0.0, 2.0]] * 2)
    assert space.clear(begins, ends, 0.1).tolist() == [False, False]
    assert space.clear(begins[1:], np.array([[6.0, 3.0, 2.0]]), 0.1).tolist() == [True]


def rolled_course(seeds):
    """Positions and clearances of the OS4 on its pattern, for several seeds."""
    simulation = load_scenario("hallway-planner").fleet()

    @jax.jit
    @jax.vmap
    def fly(seed):
        def kept(snapshots):
            (snapshot,) = snapshots
            return snapshot.truth.position_world_m, snapshot.surroundings.nearest_obstacle_m

        steps = round(12.3 * simulation.rate_hz)
        return simulation.rollout(simulation.init(seed), steps, kept)[1]

    places, free_m = fly(jnp.stack([seed_key(seed) for seed in seeds]))
    return np.stack([places.x, places.y, places.z], axis=-1)[:, :, 0], np.asarray(free_m)[..., 0]


def arrives(places, free_m):
    """Within 0.2 m of the goal from before 12.3 s on, without a contact."""
    away = np.linalg.norm(places - np.array([12.0, 0.0, 5.0]), axis=-1)
    assert (away[:, -250:] < 0.2).all()
    assert (free_m > 1.0).all()


@pytest.mark.slow
def test_three_hallways_are_flown_in_a_tenth_of_the_published_time():
    arrives(*rolled_course([0]))


@pytest.mark.slow
def test_three_hallways_are_flown_with_every_gust_seed():
    arrives(*rolled_course(range(50)))
