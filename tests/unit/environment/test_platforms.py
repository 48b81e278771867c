"""Platforms: where they are, and whether they say themselves how they move on."""

import dataclasses
import math

import numpy as np
import pytest

from kittiwake.environment import PLATFORMS
from kittiwake.environment.platforms import FixedPlatform, MovingPlatform
from kittiwake.geometry.vec3 import Vec3

SAILING = MovingPlatform(
    Vec3(1.0, 2.0, 3.0),
    *(4.0, 2.0, 0.4),
    velocity_world_mps=Vec3(1.0, -0.5, 0.1),
    yaw_rate_radps=0.2,
    heave_m=0.3,
    heave_period_s=4.0,
    roll_rad=0.2,
    roll_period_s=5.0,
    pitch_rad=0.15,
    pitch_period_s=6.0,
)
POINT = Vec3(1.3, -0.7, 0.0)


@pytest.mark.parametrize("time_s", [0.0, 1.234, 60.5])
def test_velocities_are_the_rates_of_places(time_s):
    h = 1e-5

    def place(t):
        deck = SAILING.deck_state(t)
        return (deck.center_world_m + deck.q_world_from_deck.rotate(POINT)).array

    now = SAILING.deck_state(time_s)
    difference = (place(time_s + h) - place(time_s - h)) / (2.0 * h)
    found = now.velocity_at(now.center_world_m + now.q_world_from_deck.rotate(POINT)).array
    # h^2 / 6 times third derivatives below 10, and rounding of 1e-14 over h
    np.testing.assert_allclose(found, difference, atol=2e-9)


def test_a_platform_heaves_rolls_and_pitches_with_its_amplitudes_and_periods():
    still = dataclasses.replace(SAILING, velocity_world_mps=Vec3.zero(), yaw_rate_radps=0.0)
    at = {t: still.deck_state(t) for t in (0.0, 1.0, 2.5, 3.0)}
    heights = [float(at[t].center_world_m.z) for t in (0.0, 1.0, 3.0)]
    np.testing.assert_allclose(heights, [3.0, 3.3, 2.7], atol=1e-12)
    rolls = [float(at[t].q_world_from_deck.to_euler().roll_rad) for t in (0.0, 2.5)]
    np.testing.assert_allclose(rolls, [0.2, -0.2], atol=1e-12)
    pitches = [float(at[t].q_world_from_deck.to_euler().pitch_rad) for t in (0.0, 3.0)]
    np.testing.assert_allclose(pitches, [0.15, -0.15], atol=1e-12)


def test_a_platform_sails_and_turns():
    later = SAILING.deck_state(20.0)
    np.testing.assert_allclose(later.center_world_m.array, [21.0, -8.0, 5.0], atol=1e-9)
    assert float(later.q_world_from_deck.to_euler().yaw_rad) == pytest.approx(
        0.4 + 4.0 - 2.0 * math.pi, abs=1e-9
    )


def test_a_fixed_platform_has_its_tilt_and_is_at_rest():
    fixed = FixedPlatform(Vec3(1.0, 2.0, 3.0), 4.0, 2.0, yaw_rad=0.4, roll_rad=0.1, pitch_rad=-0.2)
    early, late = fixed.deck_state(0.0), fixed.deck_state(100.0)
    euler = early.q_world_from_deck.to_euler()
    found = [euler.roll_rad, euler.pitch_rad, euler.yaw_rad]
    np.testing.assert_allclose(found, [0.1, -0.2, 0.4], atol=1e-12)
    assert late.center_world_m == early.center_world_m == Vec3(1.0, 2.0, 3.0)
    assert float(early.velocity_at(Vec3(9.0, 9.0, 9.0)).norm()) == 0.0


def test_both_platforms_are_registered():
    assert PLATFORMS.names() == ["fixed", "moving"]
