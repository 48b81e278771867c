"""Position to velocity: law, limit and feed-forward."""

import jax
import numpy as np

from kittiwake.control.position_velocity import PositionVelocity
from kittiwake.core.commands import PositionYaw
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3

KEY = jax.random.key(0)


def output_of(place, **fed_forward):
    wanted = PositionYaw(place, 0.4, **fed_forward)
    return PositionVelocity().step((), (wanted, Start().kinematics()), 0.01, KEY)[1]


def test_the_velocity_is_proportional_to_the_error_and_limited():
    near, far = output_of(Vec3(1.0, -2.0, 0.5)), output_of(Vec3(30.0, 40.0, 0.0))
    np.testing.assert_allclose(near.velocity_world_mps.array, [0.6, -1.2, 0.3], atol=1e-12)
    np.testing.assert_allclose(far.velocity_world_mps.array, [1.8, 2.4, 0.0], atol=1e-12)
    assert near.yaw_rad == 0.4


def test_feed_forward_is_added_without_limit():
    moving = output_of(
        Vec3(30.0, 40.0, 0.0),
        velocity_world_mps=Vec3(1.0, 2.0, 3.0),
        acceleration_world_mps2=Vec3(4.0, 5.0, 6.0),
        yaw_rate_radps=0.7,
    )
    np.testing.assert_allclose(moving.velocity_world_mps.array, [2.8, 4.4, 3.0], atol=1e-12)
    np.testing.assert_allclose(moving.acceleration_world_mps2.array, [4.0, 5.0, 6.0])
    assert moving.yaw_rate_radps == 0.7
