import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.guidance.point_mass import DT_S, KEY, inputs_at

from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.maneuvers.goto import Goto
from kittiwake.guidance.maneuvers.return_home import ReturnHome

START, PLACE = Vec3(1.0, 2.0, 3.0), Vec3(9.0, -4.0, 3.0)


def set_points(guidance, times):
    """From where it began, whatever the vehicle does then."""
    state, _ = guidance.step(guidance.init(KEY), inputs_at(START), DT_S, KEY)
    with jax.enable_x64(True):
        state = as_arrays(jax.tree.map(np.asarray, state))
        return jax.vmap(lambda t: guidance.step(state, inputs_at(START, t), DT_S, KEY)[1])(
            jnp.asarray(times)
        )


def test_goto_without_a_speed_commands_the_position_at_once():
    _, setpoint = Goto(PLACE).step(Goto(PLACE).init(KEY), inputs_at(START), DT_S, KEY)
    assert setpoint.position_world_m == PLACE


@pytest.mark.slow
def test_goto_with_a_speed_is_the_minimum_jerk_motion():
    # 10 m at 2 m/s: the time is 15 d / (8 v)
    duration_s, times = 9.375, np.linspace(0.0, 9.375, 41)
    setpoint = set_points(Goto(PLACE, speed_mps=2.0, acceleration_mps2=5.0), times)
    t = times / duration_s
    share = 10 * t**3 - 15 * t**4 + 6 * t**5
    np.testing.assert_allclose(setpoint.position_world_m.x, 1 + 8 * share, rtol=0, atol=1e-9)
    np.testing.assert_allclose(setpoint.position_world_m.y, 2 - 6 * share, rtol=0, atol=1e-9)
    derivative = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])
    for order, vector in enumerate(
        (setpoint.velocity_world_mps, setpoint.acceleration_world_mps2, setpoint.jerk_world_mps3),
        start=1,
    ):
        expected = derivative.deriv(order)(t) * 8 / duration_s**order
        inside = slice(1, -1)  # at its ends the jerk jumps to zero
        np.testing.assert_allclose(vector.x[inside], expected[inside], rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("speed", "acceleration"), [(2.0, 100.0), (100.0, 0.5), (1.0, 1.0)])
def test_neither_limit_is_exceeded_and_one_is_reached(speed, acceleration):
    guidance = Goto(PLACE, speed_mps=speed, acceleration_mps2=acceleration)
    setpoint = set_points(guidance, np.linspace(0.0, 30.0, 3001))
    fastest = float(jnp.max(jax.vmap(Vec3.norm)(setpoint.velocity_world_mps)))
    hardest = float(jnp.max(jax.vmap(Vec3.norm)(setpoint.acceleration_world_mps2)))
    # of the peaks, a grid of 10 ms misses less than a thousandth
    assert fastest <= speed * (1 + 1e-9)
    assert hardest <= acceleration * (1 + 1e-9)
    assert max(fastest / speed, hardest / acceleration) > 0.999


def test_goto_is_finished_inside_the_radius_only():
    guidance = Goto(PLACE, radius_m=0.5)
    state = guidance.init(KEY)
    for place, arrived in [(START, False), (PLACE + Vec3(0.6, 0.0, 0.0), False), (PLACE, True)]:
        state, _ = guidance.step(state, inputs_at(place), DT_S, KEY)
        assert bool(guidance.finished(state)) is arrived


def test_goto_keeps_the_initial_yaw():
    state = Goto(PLACE).init(KEY)
    state, first = Goto(PLACE).step(state, inputs_at(START), DT_S, KEY)
    assert isinstance(first, PositionYaw)
    assert float(first.yaw_rad) == 0.0
    assert Goto(PLACE, yaw_rad=1.0).step(state, inputs_at(START), DT_S, KEY)[1].yaw_rad == 1.0


@pytest.mark.parametrize(("height", "flown"), [(None, 3.0), (12.0, 12.0)])
def test_return_home_flies_to_the_given_position_and_height(height, flown):
    guidance = ReturnHome(Vec3(7.0, 8.0, 0.0), height)
    _, setpoint = guidance.step(guidance.init(KEY), inputs_at(START), DT_S, KEY)
    place = setpoint.position_world_m
    assert (float(place.x), float(place.y), float(place.z)) == (7.0, 8.0, flown)
