"""A rotor near a surface: the ratios of Cheeseman and Bennett, and hovers over ground and decks."""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.physics.body_dynamics import KEY, around, vehicle

from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import RotorSpeeds
from kittiwake.core.kinematics import Start
from kittiwake.environment.platforms import FixedPlatform
from kittiwake.forces.ground_effect import CheesemanBennett
from kittiwake.geometry.vec3 import Vec3

EFFECT = CheesemanBennett()
BARE = {"forces": [], "landing_gear": None}
TYPE = {"type": "cheeseman-bennett"}


def hummingbird(**parameters):
    return vehicle("hummingbird", **BARE, **parameters)


RADIUS = hummingbird().rotor.disc_radius_m


def hovering_at(height_m):
    """Surroundings over the ground."""
    return dataclasses.replace(around(), height_above_ground_m=height_m)


def hover_speed_radps(dynamics):
    return math.sqrt(dynamics.mass_kg * 9.81 / (4.0 * dynamics.rotor.thrust_factor_ns2))


@eqx.filter_jit
def lift_n(dynamics, speed_radps, air, start):
    """The vertical force beside gravity on a body at rest whose rotors turn at a speed."""
    state = as_arrays(dynamics.init(start.kinematics(), air))
    speeds = (speed_radps,) * 4
    state = eqx.tree_at(
        lambda s: s.rigid_body.mechanical_state.velocities.speeds_radps, state, speeds
    )
    later = dynamics.step(state, RotorSpeeds(speeds), air, 1e-6, KEY)
    return dynamics.mass_kg * dynamics.kinematics(later).specific_force_body_mps2.z


def lifted(dynamics, speed_radps, air, start=None):
    return float(lift_n(dynamics, jnp.asarray(speed_radps), as_arrays(air), start or Start()))


@pytest.mark.parametrize(
    ("height", "ratio"),
    [(0.5, 4.0 / 3.0), (1.0, 16.0 / 15.0), (2.0, 64.0 / 63.0), (4.0, 256 / 255)],
)
def test_ratio_is_that_of_cheeseman_and_bennett(height, ratio):
    assert float(EFFECT.thrust_ratio(height * 0.1, 0.1)) == pytest.approx(ratio, rel=1e-14)


@pytest.mark.parametrize("height", [0.49, 0.25, 0.0, -3.0])
def test_nearer_than_half_a_radius_the_ratio_stays(height):
    assert float(EFFECT.thrust_ratio(height * 0.1, 0.1)) == pytest.approx(4.0 / 3.0, rel=1e-14)


def test_ratio_falls_with_the_height_to_that_of_free_air():
    ratio = jax.vmap(lambda height: EFFECT.thrust_ratio(height, 0.1))
    ratios = np.asarray(ratio(jnp.linspace(0.05, 3.0, 200)))
    assert (np.diff(ratios) < 0.0).all()
    assert float(EFFECT.thrust_ratio(math.inf, 0.1)) == 1.0


@pytest.mark.parametrize("height", [0.0, 0.05, 0.3, math.inf])
def test_gradients_are_finite(height):
    slopes = jax.grad(lambda h, r: EFFECT.thrust_ratio(h, r), argnums=(0, 1))(height, 0.1)
    assert all(jnp.isfinite(slope) for slope in slopes)


@pytest.mark.parametrize("over_radius", [0.5, 1.0, 2.0, 4.0])
def test_hover_near_the_ground_needs_the_root_less_speed(over_radius):
    near = hummingbird(ground_effect=TYPE)
    ratio = 1.0 / (1.0 - 1.0 / (4.0 * over_radius) ** 2)
    speed = hover_speed_radps(near) / math.sqrt(ratio)
    weight = near.mass_kg * 9.81
    air = hovering_at(over_radius * RADIUS)
    # in a microsecond it does not move
    assert lifted(near, speed, air) == pytest.approx(weight, rel=1e-6)
    assert lifted(hummingbird(), speed, air) == pytest.approx(weight / ratio, rel=1e-6)


def test_each_rotor_has_its_own_height():
    near = hummingbird(ground_effect=TYPE)
    air = hovering_at(0.2)
    roll = 0.3
    speed = hover_speed_radps(near)
    heights = [0.2 + hub.y * math.sin(roll) for hub in near.hubs_body_m]
    ratios = [float(EFFECT.thrust_ratio(height, RADIUS)) for height in heights]
    expected = near.mass_kg * 9.81 * sum(ratios) / 4.0
    assert lifted(near, speed, air, Start(roll_rad=roll)) == pytest.approx(expected, rel=1e-6)


PLATFORM = FixedPlatform(Vec3(0.0, 0.0, 2.0), length_m=1.0, width_m=2.0)


@pytest.mark.parametrize(
    ("place", "height"),
    [
        (Vec3(0.0, 0.0, 2.1), 0.1),
        (Vec3(0.49, 0.99, 2.1), 0.1),
        (Vec3(0.51, 0.0, 2.1), 2.1),
        (Vec3(0.0, 1.01, 2.1), 2.1),
        (Vec3(0.0, 0.0, 1.0), 1.0),
    ],
    ids=["over it", "over its corner", "beyond its end", "beyond its side", "under it"],
)
def test_a_platform_counts_as_the_surface_only_over_itself(place, height):
    air = hovering_at(place.z).with_decks((as_arrays(PLATFORM.deck_state(0.0)),), place)
    assert float(air.height_above_surface_m) == pytest.approx(height, abs=1e-14)
    near = hummingbird(ground_effect=TYPE)
    ratio = float(EFFECT.thrust_ratio(height, RADIUS))
    found = lifted(near, hover_speed_radps(near), air, Start(place))
    assert found == pytest.approx(near.mass_kg * 9.81 * ratio, rel=1e-6)


def test_the_torque_of_a_rotor_stays_that_of_free_air():
    near, free = (hummingbird(ground_effect=effect) for effect in (TYPE, None))
    air = as_arrays(hovering_at(0.1))
    rates = []
    for dynamics in (near, free):
        state = as_arrays(dynamics.init(Start().kinematics(), air))
        speeds = (500.0, 400.0, 500.0, 400.0)
        state = eqx.tree_at(
            lambda s: s.rigid_body.mechanical_state.velocities.speeds_radps,
            state,
            tuple(map(jnp.asarray, speeds)),
        )
        later = dynamics.step(state, RotorSpeeds(speeds), air, 1e-4, KEY)
        rates.append(
            float(later.rigid_body.mechanical_state.velocities.twist.angular_velocity_body_radps.z)
        )
    assert rates[0] == pytest.approx(rates[1], rel=1e-12)
    assert abs(rates[0]) > 1e-5


def test_a_hover_above_ground_has_finite_gradients():
    near = hummingbird(ground_effect=TYPE)

    def lift(height):
        return lift_n(near, jnp.asarray(460.0), as_arrays(hovering_at(height)), Start())

    slope = jax.grad(lift)(jnp.asarray(0.15))
    higher, lower = (lift(jnp.asarray(0.15 + step)) for step in (1e-5, -1e-5))
    # rounding of a force that follows from a microsecond's velocity
    assert float(slope) == pytest.approx(float((higher - lower) / 2e-5), rel=1e-3)
    assert slope < 0.0
