"""HoldingPattern: the reward by its formula, and who begins where."""

import jax
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.tasks.holding_pattern import HoldingPattern
from kittiwake.tasks.make import make

PLACES = np.array([[48.0, 9.0, 20.0], [-40.0, 25.0, 21.0], [0.0, -70.0, 19.5]])
VELOCITIES = np.array([[0.0, 2.5, 0.1], [-1.0, -1.0, 0.0], [3.0, 0.2, -0.2]])


def test_speed_ring_and_distances_count_as_written():
    pairs = zip(PLACES, VELOCITIES, strict=True)
    agents = [scenes.agent(tuple(map(float, p)), tuple(map(float, v))) for p, v in pairs]
    world = scenes.scene(agents)
    for number in range(3):
        own = jax.tree.map(lambda leaf, at=number: leaf[at], world.agents)
        speed, radius = (np.hypot(*row[number][:2]) for row in (VELOCITIES, PLACES))
        apart = [np.linalg.norm(PLACES[number] - PLACES[j]) for j in range(3) if j != number]
        wanted = np.exp(-((speed - 2.0) ** 2)) * np.exp(-(((radius - 50.0) / 10.0) ** 2))
        wanted -= 2.5 * sum(1 / d for d in apart)
        got = HoldingPattern().reward(None, own, world)
        assert float(got) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.usefixtures("single_precision")
def test_they_begin_beside_each_other_within_the_area():
    flights = scenes.Flights(make("holding-pattern", conditions="noiseless"))
    states = flights.begun(50)
    places = np.asarray(jax.vmap(lambda s: scenes.positions(flights.env.fleet, s))(states.fleet))
    np.testing.assert_allclose(np.diff(places[..., 0], axis=1), 30.0, atol=1e-3)
    assert np.abs(places[..., :2]).max() <= 61.0
    assert np.ptp(places[:, 0, 1]) > 90.0
