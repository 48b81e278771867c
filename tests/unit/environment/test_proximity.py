"""The distance of the nearest vehicle, with vehicles that meet and vehicles that are nowhere."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Start
from kittiwake.environment.proximity import Proximity
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.interaction_input import NO_WAKE, InteractionInput
from kittiwake.world.surroundings import Air, Surroundings

ALONE = Surroundings(9.81, Air(288.15, 101325.0, 1.225), Vec3.zero(), 5.0, math.inf)


def nearest_m(*places):
    vehicles = [as_arrays(InteractionInput(Start(place).kinematics(), NO_WAKE)) for place in places]
    together = jax.tree.map(lambda *leaves: jnp.stack(leaves), *vehicles)
    air = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(places)), as_arrays(ALONE))
    return Proximity()(together, air).nearest_vehicle_m


@pytest.mark.slow
def test_each_vehicle_gets_the_distance_of_its_nearest():
    found = nearest_m(Vec3(0.0, 0.0, 0.0), Vec3(3.0, 4.0, 0.0), Vec3(3.0, 4.0, 2.0))
    np.testing.assert_allclose(found, [5.0, 2.0, 2.0], rtol=1e-15)


@pytest.mark.slow
def test_a_vehicle_alone_is_infinitely_far_from_others():
    assert float(nearest_m(Vec3.zero())[0]) == math.inf


def test_a_diverged_vehicle_has_no_neighbors():
    found = nearest_m(Vec3.zero(), Vec3(0.0, 0.0, 7.0), Vec3(0.0, math.nan, 1.0))
    np.testing.assert_array_equal(found, [7.0, 7.0, math.inf])


@pytest.mark.slow
def test_the_distance_has_finite_gradients_where_vehicles_meet():
    def total(x):
        return nearest_m(Vec3.zero(), Vec3(x, 0.0, 0.0), Vec3(0.0, 4.0, 0.0)).sum()

    assert float(total(0.0)) == 4.0
    # the third's nearest is one of the other two, at a right angle
    assert float(jax.grad(total)(0.0)) == 0.0
    assert float(jax.grad(total)(3.0)) == 2.0
