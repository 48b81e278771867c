"""States of objects in plain Python are kept for checkpoints and restored."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import OwnComponentError
from kittiwake.sim.plain_python.hosts import (
    host_states,
    require_host_states,
    restore_host_states,
)


class Integrating:
    """A spring with noise and an integral of the error."""

    rate_hz = 100

    def reset(self, vehicle, rng):
        self.rng, self.sum_m = rng, np.zeros(3)

    def update(self, t_s, setpoint, estimate):
        error = (setpoint.position_world_m - estimate.position_world_m).array
        self.sum_m = self.sum_m + 0.01 * error
        noise = 0.1 * self.rng.standard_normal(3)
        pull = 3.0 * error + self.sum_m + noise
        return kw.AccelerationYaw(pull - 2.0 * estimate.velocity_world_mps.array, 0.0)

    def state(self):
        return {"sum_m": self.sum_m}

    def restore(self, state):
        self.sum_m = state["sum_m"]


def flown(controller):
    vehicle = kw.Vehicle(
        model="hummingbird",
        start={"position_world_m": [0, 0, 2]},
        guidance={"type": "hold", "position_world_m": [1, 0, 2]},
        controllers=[controller],
    )
    return kw.Scenario(vehicles={"h": vehicle}, rate_hz=500, duration_s=0.2)


def steps(simulation, state, count):
    for _ in range(count):
        state = simulation.advance(state)
    return state


def numbers(leaf):
    return jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf


@pytest.mark.slow
def test_a_flight_continues_from_a_restored_state_with_the_same_bits():
    scenario = flown(Integrating())
    one, other = kw.Simulation(scenario), kw.Simulation(scenario)
    middle = steps(one, one.init(kw.seed_key(3)), 23)
    kept = host_states(one.fleet)
    whole = steps(one, middle, 20)
    assert kept["h"]["controller.0"]["next"] == 5
    assert json.loads(kept["h"]["controller.0"]["generator"])["bit_generator"] == "PCG64"
    restore_host_states(other.fleet, kept)
    again = steps(other, middle, 20)
    for one_leaf, other_leaf in zip(*map(jax.tree.leaves, (whole, again)), strict=True):
        np.testing.assert_array_equal(numbers(one_leaf), numbers(other_leaf))


def test_what_lacks_a_state_is_refused_by_its_class():
    class Forgetful(Integrating):
        state = None

    fleet = kw.Simulation(flown(Forgetful())).fleet
    message = r"Forgetful of 'h' has no method state\(self\)"
    for refused in (host_states, require_host_states):
        with pytest.raises(OwnComponentError, match=message):
            refused(fleet)


def test_a_missing_state_is_named():
    fleet = kw.Simulation(flown(Integrating())).fleet
    with pytest.raises(OwnComponentError, match="no state of Integrating, controller.0 of 'h'"):
        restore_host_states(fleet, {})
