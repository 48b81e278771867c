"""Beliefs of a plume's sources, from the reference locations and from measurements."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.environment.plumes.dispersion import DispersedCloud
from kittiwake.environment.plumes.downwind import Downwind
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.library.plume_sources import (
    PUFFS,
    SOURCES,
    STEADY,
    Axes,
    SourceBeliefs,
    mean_concentration,
    puff_pattern,
)
from kittiwake.tasks.library.reference_locations import reference_locations
from kittiwake.world.world import FlightArea

AREA = FlightArea((-140.0, 140.0), (-140.0, 140.0), (0.0, 80.0))
TURN = 0.7
WIND = Vec3(3.0 * np.cos(TURN), 3.0 * np.sin(TURN), 0.0)
KEY = scenes.keys(1)[0]


def cloud(sources, emissions):
    downwind = Downwind(3.0, np.cos(TURN), np.sin(TURN), 0.0, 0.33, 0.86)
    return DispersedCloud(jnp.asarray(sources), jnp.asarray(emissions), downwind)


def initial_beliefs(true):
    places = reference_locations(true, AREA, 100, KEY)
    return places, SourceBeliefs.initial(places, WIND, 0.0, STEADY, KEY)


def test_mean_concentration_equals_that_of_the_plume():
    true = cloud([[10.0, -20.0, 15.0]], [1.0])
    places = jnp.asarray([[14.0, -17.0, 15.5], [40.0, 4.0, 12.0], [0.0, -20.0, 15.0]])
    for place in places:
        wanted = true.concentration(Vec3.of(place), 0.0)
        own = mean_concentration(Axes.of(WIND), true.sources_world_m, place, 0.0)[0]
        assert float(own) == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.slow
def test_reference_locations_give_number_and_rough_positions_of_sources():
    true = cloud([[10.0, -20.0, 15.0], [-60.0, 30.0, 40.0]], [1.0, 2.0])
    _, beliefs = initial_beliefs(true)
    assert int(beliefs.exists.sum()) == 2
    axes = Axes.of(WIND)
    found = np.asarray(axes.to_wind_axes(beliefs.sources_world_m()[np.asarray(beliefs.exists)]))
    for source in np.asarray(axes.to_wind_axes(true.sources_world_m)):
        nearest = found[np.argmin(((found - source) ** 2).sum(axis=1))]
        # along the wind only the first location bounds it; across, the mean of some forty
        assert abs(nearest[0] - source[0]) < 20.0
        assert np.abs(nearest[1:] - source[1:]).max() < 2.5


def test_measurements_give_the_emission_of_a_source():
    true = cloud([[10.0, -20.0, 15.0]], [2.0])
    places, beliefs = initial_beliefs(true)
    axes, rng = Axes.of(WIND), np.random.default_rng(0)
    after = jax.jit(lambda b, place, z, key: b.update(place, z, WIND, 0.0, STEADY, key))

    def wrong(beliefs):
        expected = beliefs.concentrations(places, WIND, 0.0).sum(axis=0)
        return float(((expected - dense) ** 2).sum())

    dense = jax.vmap(lambda place: true.concentration(Vec3.of(place), 0.0))(places)
    before = wrong(beliefs)
    start = axes.to_wind_axes(true.sources_world_m)[0]
    for key in scenes.keys(60):
        off = np.array([rng.uniform(2.0, 12.0), *rng.normal(0.0, 1.0, 2)])
        place = axes.to_world_axes((start + off)[None])[0]
        measured = true.concentration(Vec3.of(place), 0.0) + 0.01 * rng.normal()
        beliefs = after(beliefs, place, measured, key)
    weights = beliefs.shares()
    own = int(np.argmax(beliefs.exists))
    assert float((weights * beliefs.emissions).sum(axis=1)[own]) == pytest.approx(2.0, rel=0.2)
    np.testing.assert_allclose(beliefs.sources_world_m()[own], true.sources_world_m[0], atol=1.5)
    # before, the prior mean of the emission is expected, and the places are a guess
    assert wrong(beliefs) < 0.25 * before


@pytest.mark.slow
def test_sampled_puffs_average_to_the_mean_concentration():
    axes, sources = Axes.of(WIND), jnp.zeros((SOURCES, 3))
    places = axes.to_world_axes(jnp.asarray([[5.0, 0.0, 0.0], [30.0, 0.0, 0.0]]))
    times = jnp.linspace(0.0, 5000.0, 40001)
    seen = jax.vmap(lambda time_s: puff_pattern(axes, sources, places, time_s))(times)
    np.testing.assert_allclose(seen.mean(axis=0), 1.0, rtol=0.1)
    # near the source they are apart
    assert (np.median(seen[:, :, 0], axis=0) < 0.1).all()
    assert PUFFS.mean < STEADY.mean
