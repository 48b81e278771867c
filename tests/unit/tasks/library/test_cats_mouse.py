"""CatsMouse: starts, flight of the mouse, and reward of all cats."""

from itertools import combinations

import jax
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.tasks.library.cats_mouse import CatsMouse
from kittiwake.tasks.make import make

PLACES = [(9.0, 1.0, 10.0), (-4.0, 7.0, 11.0), (-2.0, -6.5, 9.5)]
MOUSE = (0.5, -0.5, 10.0)


@pytest.fixture(scope="module")
def flights():
    env = make("cats-mouse", conditions="noiseless", overrides={"time.duration_s": 60})
    return scenes.Flights(env)


def scene(*, last):
    cats = [scenes.agent(place) for place in PLACES]
    return scenes.scene(cats, others={"mouse": scenes.agent(MOUSE)}, last=last)


@pytest.mark.slow
def test_final_reward_counts_all_cats():
    away = np.linalg.norm(np.array(PLACES) - MOUSE, axis=1)
    wanted = -(np.maximum(away - 4.0, 0.0) ** 2).sum()
    for own in (scenes.agent(place) for place in PLACES):
        got = CatsMouse().reward(None, own, scene(last=True))
        assert float(got) == pytest.approx(wanted, abs=1e-9)


def test_reward_is_zero_before_the_end():
    assert float(CatsMouse().reward(None, scenes.agent(PLACES[0]), scene(last=False))) == 0.0


def test_mouse_flees_more_from_near_cats_than_from_far_ones():
    ways = (np.array(MOUSE) - PLACES)[:, :2]
    push = (ways / (ways**2).sum(axis=1, keepdims=True)).sum(axis=0)
    signal = CatsMouse().others(None, scene(last=False))["mouse"]
    got = [float(signal.velocity_x_world_mps), float(signal.velocity_y_world_mps)]
    np.testing.assert_allclose(got, 3.0 * push / np.linalg.norm(push), rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_cats_begin_around_the_mouse_and_apart(flights):
    starts = flights.begun(200)
    motions = flights.env.fleet
    places = np.asarray(jax.vmap(lambda s: scenes.positions(motions, s))(starts.fleet))
    cats, mouse = places[:, :3], places[:, 3]
    np.testing.assert_allclose(mouse, np.tile([0.0, 0.0, 10.0], (200, 1)), atol=1e-6)
    away = np.linalg.norm(cats[..., :2], axis=2)
    assert 14.0 - 1e-5 < away.min() < 14.5
    assert 19.5 < away.max() < 20.0 + 1e-5
    for i, j in combinations(range(3), 2):
        assert np.linalg.norm(cats[:, i] - cats[:, j], axis=1).min() > 22.0 - 1e-5
    np.testing.assert_allclose(cats[..., 2], 10.0, atol=1e-5)
    bearings = np.arctan2(cats[:, 0, 1], cats[:, 0, 0])
    assert np.histogram(bearings, 4, (-np.pi, np.pi))[0].min() > 20
