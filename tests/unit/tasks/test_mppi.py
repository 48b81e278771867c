"""Model predictive path integral control: the update on its own, in a task, and errors."""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.tasks.make import make
from kittiwake.tasks.mppi import Mppi, sample_plans, weighted_mean, weights

# attitude with a first-order lag, without rotors, at the rate of the plan
COARSE = {
    "time.rate_hz": 10,
    "task.rate_hz": 10,
    "vehicles.drone.model": "angle-velocity",
    "vehicles.drone.parameters": {
        "mass_kg": 0.441,
        "max_thrust_n": 9.9,
        "size_body_m": [0.451, 0.451, 0.12],
        "angle_time_constant_s": 0.1,
        "drag_forward_per_s": 0.59,
        "drag_sideways_per_s": 0.59,
        "drag_vertical_per_s": 0.59,
    },
    "vehicles.drone.sensors.lidar.deviation_m": 0,
}
RETURNS = np.array([1.0, 3.0, 2.0, 2.5])


def test_weights_are_normalized_exponentials_of_returns():
    found = weights(jnp.asarray(RETURNS), 0.7)
    raw = np.exp(RETURNS / 0.7)
    np.testing.assert_allclose(found, raw / raw.sum(), rtol=1e-12)


def test_weights_depend_on_differences_of_returns():
    # the rounding of a number near 1e6, divided by the temperature
    np.testing.assert_allclose(
        weights(jnp.asarray(RETURNS + 1e6), 0.7), weights(jnp.asarray(RETURNS), 0.7), atol=1e-9
    )


@pytest.mark.parametrize("returned", [[np.nan, 1.0, -np.inf], [-2e35, -1e35, np.nan]])
def test_samples_without_a_return_have_no_weight(returned):
    found = weights(jnp.asarray(returned, jnp.float32), 1e-4)
    np.testing.assert_array_equal(found, [0.0, 1.0, 0.0])


@pytest.mark.parametrize("temperature", [0.0, 1e-6])
def test_zero_temperature_takes_the_best_sample(temperature):
    np.testing.assert_array_equal(weights(jnp.asarray(RETURNS), temperature), [0.0, 1.0, 0.0, 0.0])


def test_high_temperature_gives_equal_weights():
    np.testing.assert_allclose(weights(jnp.asarray(RETURNS), 1e9), 0.25, rtol=1e-8)


def test_samples_are_clipped_and_the_first_is_the_plan():
    knots = jnp.asarray([[0.9, -0.2], [-1.0, 0.0]])
    found = sample_plans(knots, jnp.asarray([1.0, 0.0]), 50, seed_key(0))
    assert jnp.abs(found).max() <= 1.0
    np.testing.assert_array_equal(found[0], knots)
    # numbers without deviation are constant
    np.testing.assert_array_equal(found[..., 1], jnp.broadcast_to(knots[:, 1], (50, 2)))
    assert found[1:, :, 0].std() > 0.1


def test_plans_converge_to_the_maximum_of_a_quadratic():
    top = jnp.asarray([[0.4, -0.3], [0.0, 0.7], [-0.6, 0.1]])

    @jax.jit
    def better(knots, key):
        tried = sample_plans(knots, jnp.asarray(0.3), 512, key)
        return weighted_mean(tried, -((tried - top[None]) ** 2).sum((1, 2)), 0.05)

    knots = jnp.zeros_like(top)
    reached = []
    for key in jax.random.split(seed_key(0), 60):
        knots = better(knots, key)
        reached.append(knots)
    # Samples of deviation s about U, weighted_mean by exp(-|x - top|^2 / L), have the deviation
    # (1/s^2 + 2/L)^-1/2 = 0.14. Of 512 in six dimensions about 40 count.
    spread = 0.14 / 40**0.5
    np.testing.assert_allclose(reached[-1], top, atol=4.0 * spread)
    np.testing.assert_allclose(jnp.stack(reached[20:]).mean(0), top, atol=spread)


class Flown(NamedTuple):
    """Result of a flight along the hallway."""

    reached_m: float
    touched: bool
    arrived: bool


@pytest.fixture(scope="module")
def hallway():
    """Return an environment and a coarse model of it."""
    with jax.enable_x64(False):
        return make("hallway", overrides={"task.rate_hz": 50}), make("hallway", overrides=COARSE)


@pytest.fixture(scope="module")
def flight(hallway):
    """Return a function that flies with a number of samples from a seed."""
    env, model = hallway

    @cache
    def compiled(samples):
        mppi = Mppi(env, model, samples=samples)

        def once(carry):
            plan, state, over, key, _ = carry
            key, own = jax.random.split(key)
            plan, action = mppi.act(plan, state, own)
            step = env.step(own, state, action)
            ended = step.terminated | step.truncated
            return plan, step.state, over | ended, key, step.reward

        def fly(key):
            state, _ = env.reset(key)
            begun = (mppi.init_plan(), state, jnp.asarray(False), key, jnp.asarray(0.0))
            return jax.lax.while_loop(lambda carry: ~carry[2], once, begun)

        return jax.jit(fly)

    def fly(samples, seed):
        _, state, _, _, reward = compiled(samples)(seed_key(seed))
        reached = float(state.goal.x_m[0])
        return Flown(reached, float(reward) == env.task.lost_reward, reached >= env.task.end_m)

    return fly


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
@pytest.mark.parametrize(("samples", "seed"), [(1024, 0), *((256, seed) for seed in range(5))])
def test_the_hallway_is_flown_to_its_end_without_contact(flight, samples, seed):
    flown = flight(samples, seed)
    assert flown.arrived, flown
    assert not flown.touched


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_model_begins_at_the_estimated_motion(hallway):
    env, model = hallway
    step = jax.jit(env.step)
    state, _ = jax.jit(env.reset)(seed_key(3))
    for number in range(30):
        state = step(seed_key(number), state, jnp.asarray([0.8, 0.5])).state
    world = model.continue_episode(seed_key(0), env.estimates(state), state, env.elapsed_s(state))
    np.testing.assert_allclose(model.elapsed_s(world), 0.6, atol=1e-6)
    one, other = env.estimates(state), model.estimates(world)
    for leaf in ("position_world_m", "velocity_world_mps"):
        for axis in "xyz":
            found = getattr(getattr(other, leaf), axis)
            np.testing.assert_allclose(found, getattr(getattr(one, leaf), axis), atol=1e-5)
    assert jax.tree.all(jax.tree.map(jnp.array_equal, world.drawn, state.drawn))


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_shifted_plan_keeps_its_actions_in_time(hallway):
    mppi = Mppi(*hallway)
    plan = mppi.init_plan()
    steps = jnp.arange(plan.knots.size, dtype=plan.knots.dtype)
    plan = plan._replace(knots=jnp.sin(steps).reshape(plan.knots.shape))
    ahead_s = 1.0
    later = plan
    for _ in range(2 * mppi.steps_per_knot + 3):
        before, later = later, mppi.shift(later)
        np.testing.assert_allclose(
            mppi.action(later, ahead_s - 0.02), mppi.action(before, ahead_s), atol=1e-5
        )


@pytest.mark.slow
def test_a_model_of_another_task_is_refused(hallway):
    with jax.enable_x64(False):
        another = make("hover")
    with pytest.raises(ScenarioError, match="same task"):
        Mppi(hallway[0], another)


def test_model_with_other_vehicles_is_refused():
    env = make("cats-mouse", precision="float64")
    with pytest.raises(ScenarioError, match="all agents"):
        Mppi(env)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"samples": 0}, "samples: got 0; must be a whole number, 1 or more"),
        ({"knot_s": 0.0}, "knot_s: got 0.0; must be above 0"),
        (
            {"knot_s": 0.015},
            "1.5 control steps of 0.01 s; must be a whole number of steps, such as 0.02",
        ),
        ({"horizon_s": -1.0}, "horizon_s: got -1.0"),
        ({"temperature": -1.0}, "must be 0, for the best plan, or more"),
        ({"deviations": np.nan}, "must be one number, or 4, of 0 or more"),
        ({"deviations": [0.1, 0.2]}, "must be one number, or 4"),
    ],
)
def test_invalid_planner_parameters_are_refused(given, expected):
    with pytest.raises(ValueError, match=expected):
        Mppi(make("hover"), **given)
