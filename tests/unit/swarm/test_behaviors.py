"""What each behavior wants, beside its formula and what the formula is for."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.swarm.companies import company, peer, vehicle

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


def wish(behavior, own, peers):
    return np.asarray(behavior.desired_velocity_world_mps(own, peers).array)


def limited(behavior, own, peers):
    return np.asarray(behavior.limited_world_mps(own, peers).array)


def test_separation_is_inverse_to_the_distance_and_only_from_those_that_are_near():
    own = vehicle((1.0, 0.0, 0.0))
    others = company(peer((3.0, 0.0, 0.0)), peer((1.0, -1.0, 0.0), mate=False), peer((1, 0, 4.0)))
    np.testing.assert_allclose(wish(Separation(3.0, 2.0), own, others), [-1.0, 2.0, 0.0])


def test_separation_of_two_pushes_both_alike():
    one, other = (0.0, 0.0, 0.0), (0.7, 0.2, -0.1)
    pushed = wish(Separation(), vehicle(one), company(peer(other)))
    back = wish(Separation(), vehicle(other), company(peer(one)))
    np.testing.assert_allclose(pushed, -back)


def test_alignment_goes_to_the_mean_velocity_of_mates():
    own = vehicle(velocity=(1.0, 0.0, 0.0))
    others = company(
        peer((1, 1, 1), (3.0, 2.0, 0.0)),
        peer((2, 1, 1), (1.0, 0.0, -2.0)),
        peer((3, 1, 1), (50.0, 0.0, 0.0), mate=False),
    )
    np.testing.assert_allclose(wish(Alignment(0.5), own, others), [0.5, 0.5, -0.5])
    np.testing.assert_array_equal(wish(Alignment(), own, company()), np.zeros(3))


def test_cohesion_and_targeting_count_the_vehicle_itself_to_the_middle():
    own = vehicle((0.0, 0.0, 0.0))
    others = company(peer((3.0, 0.0, 0.0)), peer((0.0, 6.0, 0.0)), peer((99, 9, 9), mate=False))
    np.testing.assert_allclose(wish(Cohesion(0.5), own, others), [0.5, 1.0, 0.0])
    target = Targeting(target_world_m=Vec3(1.0, 2.0, 4.0), gain_hz=0.5)
    np.testing.assert_allclose(wish(target, own, others), [0.0, 0.0, 2.0])


def test_targeting_is_the_same_for_all_who_know_each_other():
    places = [(0.0, 0.0, 0.0), (3.0, 1.0, 0.0), (-2.0, 5.0, 1.0)]
    target = Targeting(target_world_m=Vec3(5.0, 5.0, 5.0))
    wishes = [
        wish(target, vehicle(own), company(*(peer(p) for p in places if p != own)))
        for own in places
    ]
    np.testing.assert_allclose(wishes, [wishes[0]] * 3)


def test_limit_keeps_the_direction():
    cohesion = Cohesion(10.0, limit_mps=0.5)
    wanted = limited(cohesion, vehicle(), company(peer((6.0, 8.0, 0.0))))
    np.testing.assert_allclose(wanted, [0.3, 0.4, 0.0])


def test_follower_goes_to_its_offset_at_the_velocity_of_the_leader():
    own, leader = vehicle((1.0, 0.0, 0.0)), peer((5.0, 0.0, 2.0), (1.0, 0.5, 0.0))
    follow = FollowLeader(Vec3(-2.0, 0.0, 0.0), 0.5)
    np.testing.assert_allclose(wish(follow, own, company(leader=leader)), [2.0, 0.5, 1.0])
    np.testing.assert_array_equal(wish(follow, own, company(peer((5.0, 0.0, 2.0)))), np.zeros(3))


def test_olfati_saber_wants_no_change_at_its_distance_and_pulls_and_pushes_beside_it():
    flock, own = OlfatiSaber(3.0), vehicle((0.0, 0.0, 0.0), (0.4, 0.0, 0.0))

    def pull(distance_m):
        mate = peer((distance_m, 0.0, 0.0), (0.4, 0.0, 0.0))
        return wish(flock, own, company(mate))[0] - 0.4

    assert pull(3.0) == pytest.approx(0.0, abs=1e-12)
    assert pull(2.5) < -0.1
    assert pull(3.3) > 0.01
    # behind r = 1.2 d nothing is left, and just before it nearly nothing
    assert pull(3.6) == 0.0
    assert 0.0 < pull(3.599) < 1e-3


def test_olfati_saber_brings_velocities_together_and_goes_to_its_target():
    own = vehicle((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    # of two at the distance of the lattice only velocities differ: a_ij (v_j - v_i)
    beside = wish(OlfatiSaber(3.0), own, company(peer((0.0, 3.0, 0.0), (0.0, 0.0, 0.0))))
    assert 0.0 < 1.0 - beside[0] < 0.5
    alone = OlfatiSaber(
        target_world_m=Vec3(0.0, 10.0, 0.0),
        position_gain_hz2=0.1,
        velocity_gain_hz=0.6,
        response_s=0.5,
    )
    np.testing.assert_allclose(wish(alone, own, company()), [0.7, 0.5, 0.0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 12])
def test_places_of_a_formation_are_about_its_middle_and_apart(shape, size):
    formation = Formation(shape, 2.0, heading_rad=0.4)
    places = np.array([formation.place_world_m(i, size).array for i in range(size)])
    np.testing.assert_allclose(places.mean(axis=0), 0.0, atol=1e-9)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 1e9 * np.eye(size)
    if size > 1:
        assert apart.min() == pytest.approx(2.0)


def test_formations_front_is_along_its_heading():
    line = Formation("line", 2.0, heading_rad=np.pi / 2)
    first, last = (np.asarray(line.place_world_m(i, 3).array) for i in (0, 2))
    # of those who look north the first is on the left, which is west
    np.testing.assert_allclose([first, last], [[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]], atol=1e-12)
    wedge = Formation("wedge", 2.0)
    ahead = [float(wedge.place_world_m(i, 5).x) for i in range(5)]
    assert ahead[0] > ahead[1] > ahead[3]
    assert ahead[1::2] == pytest.approx(ahead[2::2])


@pytest.mark.parametrize("shape", SHAPES)
def test_those_in_formation_stay_and_others_come_to_their_places(shape):
    size, formation = 5, Formation(shape, 2.0)
    places = [np.asarray(formation.place_world_m(i, size).array) + 7.0 for i in range(size)]

    def wanted(own, at):
        mates = [peer(tuple(places[i]), number=i) for i in range(size) if i != own]
        return wish(formation, vehicle(tuple(at)), company(*mates, number=own, size=size))

    for i in range(size):
        np.testing.assert_allclose(wanted(i, places[i]), 0.0, atol=1e-9)
    astray = wanted(2, places[2] + [1.0, 0.0, 0.0])
    # what is out of place moves the middle too, by its part
    np.testing.assert_allclose(astray, [-0.6 * (1.0 - 1.0 / size), 0.0, 0.0], atol=1e-9)


def test_two_that_fly_at_each_other_both_go_to_their_right():
    avoid = InformedAvoid(2.0)
    east = wish(avoid, vehicle((0, 0, 5), (1.0, 0, 0)), company(peer((3, 0, 5), (-1.0, 0, 0))))
    west = wish(avoid, vehicle((3, 0, 5), (-1.0, 0, 0)), company(peer((0, 0, 5), (1.0, 0, 0))))
    np.testing.assert_allclose(east, [0.0, -2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(west, [0.0, 2.0, 0.0], atol=1e-12)


def test_one_above_the_other_is_gone_aside_of_too():
    avoid = InformedAvoid(2.0)
    down = wish(avoid, vehicle((0, 0, 5), (0, 0, -1.0)), company(peer((0, 0, 4))))
    assert np.abs(down[:2]).sum() > 1.0


@pytest.mark.parametrize(
    ("place", "velocity"),
    [((20.0, 0.0, 5.0), (-1.0, 0.0, 0.0)), ((3.0, 0.0, 5.0), (2.0, 0.0, 0.0))],
    ids=["beyond the horizon", "away"],
)
def test_what_will_not_come_near_is_not_avoided(place, velocity):
    own = vehicle((0.0, 0.0, 5.0), (1.0, 0.0, 0.0))
    assert not wish(InformedAvoid(1.5, 2.0), own, company(peer(place, velocity))).any()


def test_a_passing_vehicle_is_avoided_by_what_is_missing():
    # it passes 1 m to the north in 2 s
    avoid, own = InformedAvoid(1.5, horizon_s=4.0, gain_hz=2.0), vehicle((0, 0, 5), (1.0, 0, 0))
    wanted = wish(avoid, own, company(peer((4.0, 1.0, 5.0), (-1.0, 0.0, 0.0))))
    np.testing.assert_allclose(wanted, [0.0, -1.0, 0.0], atol=1e-12)


def test_map_shows_obstacles_and_the_ground():
    ball = Sphere(center_world_m=Vec3(4.0, 0.5, 10.0), radius_m=1.0)
    there = BuildContext(dataclasses.replace(WORLD, obstacles=(ball,)), None, Start(), {})
    avoid = InformedAvoid(1.5, horizon_s=3.0).prepare(there)
    past = wish(avoid, vehicle((0.0, -1.0, 10.0), (1.0, 0.0, 0.0)), company())
    assert past[1] < -0.05
    assert not wish(avoid, vehicle((0.0, -9.0, 10.0), (1.0, 0.0, 0.0)), company()).any()
    down = wish(avoid, vehicle((0.0, -9.0, 2.0), (0.0, 0.0, -1.0)), company())
    assert down[2] > 0.5
    np.testing.assert_allclose(down[:2], 0.0, atol=1e-12)


def test_wishes_have_finite_gradients_where_vehicles_meet():
    own, others = vehicle((1.0, 2.0, 3.0)), company(peer((1.0, 2.0, 3.0)))
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
