"""Curves: position, derivatives, and feed-forward levels."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.trajectories.curve import Curve
from kittiwake.interfaces.guidance import GuidanceInputs

KEY = jax.random.key(0)
HELIX = Curve(
    center_world_m=Vec3(1.0, -2.0, 5.0),
    amplitude_world_m=Vec3(2.0, 1.5, 0.3),
    angular_rates_radps=Vec3(0.7, 0.7, 1.4),
    phases_rad=Vec3(1.5, 0.1, -0.4),
    drift_world_mps=Vec3(0.0, 0.2, 0.4),
    yaw_rad=3.0,
    yaw_rate_radps=0.5,
)


def setpoint_at(curve, time_s):
    inputs = GuidanceInputs(time_s, 0, Start().kinematics())
    return curve.step((), inputs, 0.01, KEY)[1]


def place(time_s):
    return setpoint_at(HELIX, time_s).position_world_m.array


def test_position_is_the_sum_of_center_drift_and_harmonics():
    expected = [
        1.0 + 2.0 * np.sin(0.7 * 2.5 + 1.5),
        -2.0 + 0.2 * 2.5 + 1.5 * np.sin(0.7 * 2.5 + 0.1),
        5.0 + 0.4 * 2.5 + 0.3 * np.sin(1.4 * 2.5 - 0.4),
    ]
    np.testing.assert_allclose(place(2.5), expected, rtol=0, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("time_s", [0.0, 1.3, 40.0])
def test_feed_forward_equals_the_derivatives_of_the_position(time_s):
    setpoint = setpoint_at(HELIX, jnp.asarray(time_s))
    velocity = jax.jacfwd(place)
    acceleration = jax.jacfwd(velocity)
    for found, derivative in (
        (setpoint.velocity_world_mps, velocity),
        (setpoint.acceleration_world_mps2, acceleration),
        (setpoint.jerk_world_mps3, jax.jacfwd(acceleration)),
    ):
        np.testing.assert_allclose(found.array, derivative(time_s), rtol=0, atol=1e-12)


def test_yaw_turns_endlessly_and_stays_wrapped():
    yaws = np.array([float(setpoint_at(HELIX, t).yaw_rad) for t in np.linspace(0.0, 40.0, 81)])
    assert (np.abs(yaws) <= np.pi).all()
    np.testing.assert_allclose(np.diff(np.unwrap(yaws)), 0.25, atol=1e-12)


@pytest.mark.parametrize(
    ("level", "known"), [("position", 0), ("velocity", 1), ("acceleration", 2), ("jerk", 3)]
)
def test_feed_forward_contains_only_the_selected_derivatives(level, known):
    signal = setpoint_at(
        Curve(
            Vec3(0.0, 0.0, 1.0),
            Vec3(1.0, 1.0, 1.0),
            Vec3(1.0, 1.0, 1.0),
            Vec3(0.4, 0.4, 0.4),
            yaw_rate_radps=1.0,
            feed_forward=level,
        ),
        1.0,
    )
    derivatives = [
        signal.velocity_world_mps,
        signal.acceleration_world_mps2,
        signal.jerk_world_mps3,
    ]
    assert [bool(np.any(v.array)) for v in derivatives] == [number <= known for number in (1, 2, 3)]
    assert bool(signal.yaw_rate_radps) == (known > 0)
