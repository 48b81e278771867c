"""Formulas and purposes of the flocking behaviors."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.swarm.neighbor_tables import neighbor, neighbor_table, vehicle

from kittiwake import load
from kittiwake.core.kinematics import Start
from kittiwake.environment.obstacles.round import Sphere
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.swarm.alignment import Alignment
from kittiwake.swarm.cohesion import Cohesion
from kittiwake.swarm.follow_leader import FollowLeader
from kittiwake.swarm.formation import Formation
from kittiwake.swarm.informed_avoid import InformedAvoid
from kittiwake.swarm.olfati_saber import OlfatiSaber
from kittiwake.swarm.separation import Separation
from kittiwake.swarm.targeting import Targeting

WORLD = load("hover-os4").scenario.world
SHAPES = ("line", "column", "wedge", "circle", "grid")


def proposed_velocity(behavior, own, neighbors):
    return np.asarray(behavior.desired_velocity_world_mps(own, neighbors).array)


def limited_velocity(behavior, own, neighbors):
    return np.asarray(behavior.limited_world_mps(own, neighbors).array)


def test_separation_is_inverse_to_distance_within_its_radius():
    own = vehicle((1.0, 0.0, 0.0))
    others = neighbor_table(
        neighbor((3.0, 0.0, 0.0)), neighbor((1.0, -1.0, 0.0), teammate=False), neighbor((1, 0, 4.0))
    )
    np.testing.assert_allclose(
        proposed_velocity(Separation(3.0, 2.0), own, others), [-1.0, 2.0, 0.0]
    )


def test_separation_of_two_pushes_both_alike():
    one, other = (0.0, 0.0, 0.0), (0.7, 0.2, -0.1)
    pushed = proposed_velocity(Separation(), vehicle(one), neighbor_table(neighbor(other)))
    back = proposed_velocity(Separation(), vehicle(other), neighbor_table(neighbor(one)))
    np.testing.assert_allclose(pushed, -back)


def test_alignment_goes_to_the_mean_velocity_of_mates():
    own = vehicle(velocity=(1.0, 0.0, 0.0))
    others = neighbor_table(
        neighbor((1, 1, 1), (3.0, 2.0, 0.0)),
        neighbor((2, 1, 1), (1.0, 0.0, -2.0)),
        neighbor((3, 1, 1), (50.0, 0.0, 0.0), teammate=False),
    )
    np.testing.assert_allclose(proposed_velocity(Alignment(0.5), own, others), [0.5, 0.5, -0.5])
    np.testing.assert_array_equal(
        proposed_velocity(Alignment(), own, neighbor_table()), np.zeros(3)
    )


def test_cohesion_and_targeting_count_the_vehicle_itself_to_the_middle():
    own = vehicle((0.0, 0.0, 0.0))
    others = neighbor_table(
        neighbor((3.0, 0.0, 0.0)), neighbor((0.0, 6.0, 0.0)), neighbor((99, 9, 9), teammate=False)
    )
    np.testing.assert_allclose(proposed_velocity(Cohesion(0.5), own, others), [0.5, 1.0, 0.0])
    target = Targeting(target_world_m=Vec3(1.0, 2.0, 4.0), gain_hz=0.5)
    np.testing.assert_allclose(proposed_velocity(target, own, others), [0.0, 0.0, 2.0])


def test_targeting_is_equal_for_mutual_neighbors():
    positions = [(0.0, 0.0, 0.0), (3.0, 1.0, 0.0), (-2.0, 5.0, 1.0)]
    target = Targeting(target_world_m=Vec3(5.0, 5.0, 5.0))
    velocities = [
        proposed_velocity(
            target, vehicle(own), neighbor_table(*(neighbor(p) for p in positions if p != own))
        )
        for own in positions
    ]
    np.testing.assert_allclose(velocities, [velocities[0]] * 3)


def test_limit_keeps_the_direction():
    cohesion = Cohesion(10.0, limit_mps=0.5)
    wanted = limited_velocity(cohesion, vehicle(), neighbor_table(neighbor((6.0, 8.0, 0.0))))
    np.testing.assert_allclose(wanted, [0.3, 0.4, 0.0])


def test_follower_goes_to_its_offset_at_the_velocity_of_the_leader():
    own, leader = vehicle((1.0, 0.0, 0.0)), neighbor((5.0, 0.0, 2.0), (1.0, 0.5, 0.0))
    follow = FollowLeader(Vec3(-2.0, 0.0, 0.0), 0.5)
    np.testing.assert_allclose(
        proposed_velocity(follow, own, neighbor_table(leader=leader)), [2.0, 0.5, 1.0]
    )
    np.testing.assert_array_equal(
        proposed_velocity(follow, own, neighbor_table(neighbor((5.0, 0.0, 2.0)))), np.zeros(3)
    )


def test_olfati_saber_is_at_rest_at_its_distance_and_attracts_or_repels_otherwise():
    flock, own = OlfatiSaber(3.0), vehicle((0.0, 0.0, 0.0), (0.4, 0.0, 0.0))

    def pull(distance_m):
        teammate = neighbor((distance_m, 0.0, 0.0), (0.4, 0.0, 0.0))
        return proposed_velocity(flock, own, neighbor_table(teammate))[0] - 0.4

    assert pull(3.0) == pytest.approx(0.0, abs=1e-12)
    assert pull(2.5) < -0.1
    assert pull(3.3) > 0.01
    # behind r = 1.2 d nothing is left, and just before it nearly nothing
    assert pull(3.6) == 0.0
    assert 0.0 < pull(3.599) < 1e-3


def test_olfati_saber_brings_velocities_together_and_goes_to_its_target():
    own = vehicle((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    # of two at the distance of the lattice only velocities differ: a_ij (v_j - v_i)
    beside = proposed_velocity(
        OlfatiSaber(3.0), own, neighbor_table(neighbor((0.0, 3.0, 0.0), (0.0, 0.0, 0.0)))
    )
    assert 0.0 < 1.0 - beside[0] < 0.5
    alone = OlfatiSaber(
        target_world_m=Vec3(0.0, 10.0, 0.0),
        position_gain_hz2=0.1,
        velocity_gain_hz=0.6,
        response_s=0.5,
    )
    np.testing.assert_allclose(proposed_velocity(alone, own, neighbor_table()), [0.7, 0.5, 0.0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 12])
def test_formation_positions_are_centered_and_separated(shape, size):
    formation = Formation(shape, 2.0, heading_rad=0.4)
    positions = np.array([formation.offset_world_m(i, size).array for i in range(size)])
    np.testing.assert_allclose(positions.mean(axis=0), 0.0, atol=1e-9)
    distances_m = np.linalg.norm(positions[:, None] - positions[None], axis=2) + 1e9 * np.eye(size)
    if size > 1:
        assert distances_m.min() == pytest.approx(2.0)


def test_formation_front_points_along_its_heading():
    line = Formation("line", 2.0, heading_rad=np.pi / 2)
    first, last = (np.asarray(line.offset_world_m(i, 3).array) for i in (0, 2))
    # looking north, the first is on the left, which is west
    np.testing.assert_allclose([first, last], [[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]], atol=1e-12)
    wedge = Formation("wedge", 2.0)
    ahead = [float(wedge.offset_world_m(i, 5).x) for i in range(5)]
    assert ahead[0] > ahead[1] > ahead[3]
    assert ahead[1::2] == pytest.approx(ahead[2::2])


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_members_in_formation_stay_and_others_return_to_their_positions(shape):
    size, formation = 5, Formation(shape, 2.0)
    positions = [np.asarray(formation.offset_world_m(i, size).array) + 7.0 for i in range(size)]

    def wanted(own, at):
        teammates = [
            neighbor(tuple(positions[i]), index_in_team=i) for i in range(size) if i != own
        ]
        return proposed_velocity(
            formation, vehicle(tuple(at)), neighbor_table(*teammates, index_in_team=own, size=size)
        )

    for i in range(size):
        np.testing.assert_allclose(wanted(i, positions[i]), 0.0, atol=1e-9)
    astray = wanted(2, positions[2] + [1.0, 0.0, 0.0])
    # a displaced member moves the center, too, by its share
    np.testing.assert_allclose(astray, [-0.6 * (1.0 - 1.0 / size), 0.0, 0.0], atol=1e-9)


def test_head_on_vehicles_both_evade_to_the_right():
    avoid = InformedAvoid(2.0)
    east = proposed_velocity(
        avoid, vehicle((0, 0, 5), (1.0, 0, 0)), neighbor_table(neighbor((3, 0, 5), (-1.0, 0, 0)))
    )
    west = proposed_velocity(
        avoid, vehicle((3, 0, 5), (-1.0, 0, 0)), neighbor_table(neighbor((0, 0, 5), (1.0, 0, 0)))
    )
    np.testing.assert_allclose(east, [0.0, -2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(west, [0.0, 2.0, 0.0], atol=1e-12)


def test_vehicles_above_each_other_evade_sideways():
    avoid = InformedAvoid(2.0)
    down = proposed_velocity(
        avoid, vehicle((0, 0, 5), (0, 0, -1.0)), neighbor_table(neighbor((0, 0, 4)))
    )
    assert np.abs(down[:2]).sum() > 1.0


@pytest.mark.parametrize(
    ("place", "velocity"),
    [((20.0, 0.0, 5.0), (-1.0, 0.0, 0.0)), ((3.0, 0.0, 5.0), (2.0, 0.0, 0.0))],
    ids=["beyond the horizon", "away"],
)
def test_vehicles_that_stay_clear_are_not_avoided(place, velocity):
    own = vehicle((0.0, 0.0, 5.0), (1.0, 0.0, 0.0))
    assert not proposed_velocity(
        InformedAvoid(1.5, 2.0), own, neighbor_table(neighbor(place, velocity))
    ).any()


def test_evasion_is_proportional_to_the_missing_clearance():
    # it passes 1 m to the north in 2 s
    avoid, own = InformedAvoid(1.5, horizon_s=4.0, gain_hz=2.0), vehicle((0, 0, 5), (1.0, 0, 0))
    wanted = proposed_velocity(
        avoid, own, neighbor_table(neighbor((4.0, 1.0, 5.0), (-1.0, 0.0, 0.0)))
    )
    np.testing.assert_allclose(wanted, [0.0, -1.0, 0.0], atol=1e-12)


@pytest.mark.slow
def test_map_shows_obstacles_and_the_ground():
    ball = Sphere(center_world_m=Vec3(4.0, 0.5, 10.0), radius_m=1.0)
    there = BuildContext(dataclasses.replace(WORLD, obstacles=(ball,)), None, Start(), {})
    avoid = InformedAvoid(1.5, horizon_s=3.0).prepare(there)
    past = proposed_velocity(avoid, vehicle((0.0, -1.0, 10.0), (1.0, 0.0, 0.0)), neighbor_table())
    assert past[1] < -0.05
    assert not proposed_velocity(
        avoid, vehicle((0.0, -9.0, 10.0), (1.0, 0.0, 0.0)), neighbor_table()
    ).any()
    down = proposed_velocity(avoid, vehicle((0.0, -9.0, 2.0), (0.0, 0.0, -1.0)), neighbor_table())
    assert down[2] > 0.5
    np.testing.assert_allclose(down[:2], 0.0, atol=1e-12)


@pytest.mark.slow
def test_velocities_have_finite_gradients_where_vehicles_coincide():
    own, others = vehicle((1.0, 2.0, 3.0)), neighbor_table(neighbor((1.0, 2.0, 3.0)))
    for behavior in (
        Separation(),
        Cohesion(),
        Alignment(),
        OlfatiSaber(),
        InformedAvoid(),
        Formation(),
    ):
        slope = jax.grad(lambda o, b=behavior: jnp.sum(b.limited_world_mps(o, others).array))(own)
        assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(slope))
