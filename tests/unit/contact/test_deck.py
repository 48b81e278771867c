"""Decks: coverage, distance and motion."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.contact.deck import DEPTH_M, Deck, DeckState
from kittiwake.core.kinematics import Start
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.surroundings import MARGIN_M, Air, Surroundings

CENTER = Vec3(10.0, -5.0, 2.0)


def support(roll=0.0, pitch=0.0, yaw=0.0, velocity=None, omega=None):
    return DeckState(
        CENTER,
        Quaternion.from_euler(EulerZYX(roll, pitch, yaw)),
        velocity or Vec3.zero(),
        omega or Vec3.zero(),
        length_m=4.0,
        width_m=2.0,
    )


def around(height_m):
    air = Air(288.15, 101325.0, 1.225)
    return Surroundings(9.81, air, Vec3.zero(), height_m, math.inf)


@pytest.mark.parametrize(
    ("along", "across", "up", "covered"),
    [
        (1.99, 0.99, 100.0, True),
        (2.01, 0.0, 0.0, False),
        (0.0, -1.01, 0.0, False),
        (-1.99, -0.99, -0.99 * DEPTH_M, True),
        (0.0, 0.0, -1.01 * DEPTH_M, False),
    ],
)
@pytest.mark.parametrize("angles", [(0.0, 0.0, 0.0), (0.2, -0.3, 1.2)], ids=["level", "tilted"])
def test_a_deck_covers_points_above_and_slightly_below_it(along, across, up, covered, angles):
    deck = support(*angles)
    point = CENTER + deck.q_world_from_deck.rotate(Vec3(along, across, up))
    there = deck.to_deck_axes(point)
    np.testing.assert_allclose(there.array, [along, across, up], atol=1e-13)
    assert bool(deck.covers(point)) is covered


@pytest.mark.parametrize(
    ("place", "distance_m"),
    [
        ((0.5, 0.5, 3.0), 3.0),
        ((0.5, 0.5, -3.0), 3.0),
        ((5.0, 0.0, 0.0), 3.0),
        ((5.0, 5.0, 12.0), 13.0),
    ],
)
def test_the_distance_of_a_deck_is_that_of_its_nearest_point(place, distance_m):
    deck = support(0.2, -0.3, 1.2)
    point = CENTER + deck.q_world_from_deck.rotate(Vec3(*place))
    assert float(deck.distance2_m2(point)) == pytest.approx(distance_m**2, rel=1e-12)


def test_a_point_of_a_turning_deck_moves_around_its_center():
    deck = support(velocity=Vec3(1.0, 2.0, 3.0), omega=Vec3(0.0, 0.0, 0.5))
    velocity = deck.velocity_at(CENTER + Vec3(2.0, 0.0, 0.0))
    np.testing.assert_allclose(velocity.array, [1.0, 2.0 + 0.5 * 2.0, 3.0])


def test_a_vessel_carries_its_deck_along():
    motion = Start(
        Vec3(1.0, 2.0, 0.5), yaw_rad=math.pi / 2, velocity_world_mps=Vec3(0.0, 1.0, 0.0)
    ).kinematics()
    omega = Vec3(0.0, 0.0, 0.3)
    turning = Start(
        Vec3(1.0, 2.0, 0.5),
        yaw_rad=math.pi / 2,
        velocity_world_mps=Vec3(0.0, 1.0, 0.0),
        angular_velocity_body_radps=omega,
    ).kinematics()
    deck = Deck(Vec3(-2.0, 0.0, 0.35), 0.6, 0.5)
    for moving, swing in ((motion, 0.0), (turning, 0.3)):
        carried = deck.carried_by(moving)
        # two meters aft of a vessel that heads north
        np.testing.assert_allclose(carried.center_world_m.array, [1.0, 0.0, 0.85], atol=1e-12)
        found = carried.velocity_world_mps.array
        np.testing.assert_allclose(found, [2.0 * swing, 1.0, 0.0], atol=1e-12)
        assert float(carried.angular_velocity_world_radps.z) == swing
        assert (carried.length_m, carried.width_m) == (0.6, 0.5)


def test_height_above_surface_refers_to_the_deck_below_else_to_the_ground():
    deck = support()
    over, beside = CENTER + Vec3(0.0, 0.0, 1.5), CENTER + Vec3(3.0, 0.0, 1.5)
    here = around(3.5)
    assert here.height_above_surface_m == 3.5
    assert float(here.with_decks((deck,), over).height_above_surface_m) == 1.5
    assert float(here.with_decks((deck,), beside).height_above_surface_m) == 3.5


@pytest.mark.parametrize(("excess_m", "near"), [(-1e-3, True), (1e-3, False)])
def test_a_surface_is_near_when_a_step_may_lead_to_it(excess_m, near):
    reach_m, dt_s = 0.2, 0.01
    # its velocity and twice its acceleration, here that of gravity
    way_m = reach_m + MARGIN_M + dt_s * (2.0 * 3.0 + 2.0 * dt_s * 9.81) + excess_m

    def falling(place):
        return Start(place, velocity_world_mps=Vec3(0.0, 0.0, -3.0)).kinematics()

    ground = around(way_m)
    assert bool(ground.surface_within(reach_m, falling(Vec3(0.0, 0.0, way_m)), dt_s)) is near
    # and a deck that rises at 1 m/s is reached from farther away
    deck = support(velocity=Vec3(0.0, 0.0, 1.0))
    place = CENTER + Vec3(0.0, 0.0, way_m + 2.0 * dt_s)
    high = around(100.0).with_decks((deck,), place)
    assert bool(high.surface_within(reach_m, falling(place), dt_s)) is near
    assert jnp.isinf(high.with_decks((deck,), place + Vec3(9.0, 0.0, 0.0)).height_above_deck_m)
