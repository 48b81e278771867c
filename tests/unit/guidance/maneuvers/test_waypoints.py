"""Visiting places: when one counts as reached."""

import jax
import jax.numpy as jnp
import pytest

from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.maneuvers.waypoints import Waypoints
from kittiwake.interfaces.guidance import GuidanceInputs

DT_S = 0.02
HERE = Vec3(0.0, 0.0, 10.0)
FAR = Vec3(50.0, 0.0, 10.0)


def ticks_until_reached(guidance, places):
    """The tick at which the first leg is done, given where the vehicle is at each."""
    state = guidance.init(jax.random.key(0))
    for tick, place in enumerate(places):
        inputs = GuidanceInputs(tick * DT_S, tick, Start(place).kinematics())
        state, _ = guidance.step(state, inputs, DT_S, jax.random.key(0))
        if int(guidance.waypoints_reached(state)):
            return tick
    return None


@pytest.mark.slow
@pytest.mark.parametrize(("wait_s", "tick"), [(0.0, 0), (0.02, 1), (0.05, 3), (1.0, 50)])
def test_waiting_time_counts_from_the_step_of_arrival(wait_s, tick):
    guidance = Waypoints((HERE, FAR), wait_s=wait_s)
    assert ticks_until_reached(guidance, [HERE] * 60) == tick


def test_leaving_the_waypoint_restarts_the_waiting_time():
    guidance = Waypoints((HERE, FAR), wait_s=0.1)
    assert ticks_until_reached(guidance, [HERE, HERE, FAR, *[HERE] * 20]) == 3 + 5


def test_next_waypoint_is_commanded_at_once():
    guidance = Waypoints((HERE, FAR))
    state = guidance.init(jax.random.key(0))
    inputs = GuidanceInputs(0.0, 0, Start(HERE).kinematics())
    _, wanted = guidance.step(state, inputs, DT_S, jax.random.key(0))
    assert float(jnp.asarray(wanted.position_world_m.x)) == FAR.x
