"""Hover: the reward, and the actions and observations of the rotors."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.library.hover import Hover
from kittiwake.tasks.make import make

MOTIONS = [
    ((0.0, 0.0, 1.5), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.3, -0.4, 1.7), (0.2, 0.5, -0.1), (1.0, -3.0, 0.5)),
    ((2.0, 1.0, 0.2), (-3.0, 0.0, 1.0), (0.0, 0.0, 12.0)),
]


def falling(value, margin):
    """Return a Gaussian that is a tenth at the margin."""
    return 0.1 ** ((value / margin) ** 2)


@pytest.mark.parametrize(("place", "velocity", "rates"), MOTIONS)
def test_reward_follows_distance_speed_and_body_rate(place, velocity, rates):
    start = Start(
        Vec3.of(place),
        velocity_world_mps=Vec3.of(velocity),
        angular_velocity_body_radps=Vec3.of(rates),
    )
    own = scenes.agent(place)
    own = replace(own, truth=as_arrays(start.kinematics()))
    away, speed, turning = (
        np.linalg.norm(np.subtract(place, (0.0, 0.0, 1.5))),
        np.linalg.norm(velocity),
        np.linalg.norm(rates),
    )
    held = 0.6 + 0.2 * falling(speed, 1.0) + 0.2 * falling(turning, 5.0)
    reward = Hover().reward(None, own, scenes.scene([own]))
    assert float(reward) == pytest.approx(0.01 * falling(away, 1.0) * held, rel=0, abs=1e-9)


@pytest.mark.slow
def test_actions_are_the_speeds_of_four_rotors():
    env = make("hover")
    assert env.action_size == 4
    assert [name for name in env.space.names if name.startswith("speeds")] == [
        f"speeds_{i}_radps" for i in range(4)
    ]
