"""KeepSpot and its variants: rewards of QRSim."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.tasks.library.keep_spot import KeepSpotWithoutReward
from kittiwake.tasks.make import make

WEIGHTS = np.array([2 / np.pi, 2 / np.pi, 0.5, 1.0])
REST = np.array([0.0, 0.0, 0.59, 0.0])
ACTIONS = np.array([[0.1, -0.2, 0.05, 0.3], [-0.1, 0.2, 0.0, -2.0], [0.02, 0.0, 0.01, 0.0]])


def cost(action):
    """Return the control cost of an action in 1/s."""
    u = np.clip(action, -1, 1) * np.array([0.9, 0.9, 0.59, 4.5]) + REST
    return ((WEIGHTS * (u - REST)) ** 2).sum()


RUNNING_PER_S = 3.0


@pytest.fixture(scope="module", params=[0.0, RUNNING_PER_S])
def running_per_s(request):
    return request.param


@pytest.fixture(scope="module")
def ten(running_per_s):
    overrides = {"time.duration_s": 0.06, "task.running_per_s": running_per_s}
    given = {"conditions": "noiseless", "precision": "float64", "overrides": overrides}
    with jax.enable_x64(True):
        return scenes.Flights(make("keep-spot-10", **given))


@pytest.mark.slow
def test_total_reward_of_ten_is_the_sum_of_their_costs(ten, running_per_s):
    """Effort counts in each step; the squared distance in the last of three steps."""
    state, _ = ten.reset(scenes.keys(1)[0])
    spots = [start[0] for start in ten.truths(state).values()]
    for number, action in enumerate(ACTIONS):
        rows = np.roll(np.tile(action, (10, 1)), 1, axis=1) * np.linspace(0, 1, 10)[:, None]
        step = ten.step(scenes.keys(1)[0], state, rows.reshape(-1))
        state, places = step.state, [p for p, _ in ten.truths(step.state).values()]
        away = [((p - spot) ** 2).sum() for p, spot in zip(places, spots, strict=True)]
        per_m2 = running_per_s * 0.02 + (number == len(ACTIONS) - 1)
        wanted = [-cost(row) * 0.02 - per_m2 * far for row, far in zip(rows, away, strict=True)]
        np.testing.assert_allclose(step.rewards, wanted, rtol=0, atol=1e-9, err_msg=str(number))
        assert float(step.reward) == pytest.approx(sum(wanted), abs=1e-9)
        assert bool(step.truncated) is (number == len(ACTIONS) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_penalty_of_a_loss_is_shared(count):
    overrides = {"vehicles.pelican.count": count, "world.area.z_m": [9.99, 20]}
    env = make("keep-spot-10", conditions="noiseless", overrides=overrides)
    falling = jnp.tile(jnp.asarray([0.0, 0.0, -1.0, 0.0], jnp.float32), count)

    def fallen(state, key):
        step = env.step(key, state, falling)
        return step.state, (step.terminated, step.reward, step.rewards)

    with env.precision_context():
        fly = jax.jit(lambda key: jax.lax.scan(fallen, env.reset(key)[0], scenes.keys(40))[1])
        ended, together, each = map(np.asarray, fly(scenes.keys(1)[0]))
    first = np.flatnonzero(ended)[0]
    np.testing.assert_allclose(each[first], -1000 / count, rtol=1e-6)
    assert together[first] == pytest.approx(-1000, rel=1e-6)


def test_variant_without_reward_gives_zero():
    task = KeepSpotWithoutReward()
    own = scenes.agent((1.0, 2.0, 3.0), command=scenes.sticks(pitch=0.5))
    world = scenes.scene([own])
    assert task.reward(None, own, world) == 0.0


@pytest.mark.slow
def test_ten_begin_in_a_row_with_zero_offsets(ten):
    state, seen = ten.reset(scenes.keys(1)[0])
    places = [place for place, _ in ten.truths(state).values()]
    np.testing.assert_allclose(places, [(0, y, 10) for y in range(-80, 101, 20)], atol=1e-9)
    np.testing.assert_allclose(np.reshape(seen, (10, -1))[:, :3], 0.0, atol=1e-12)
