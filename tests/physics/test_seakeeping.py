"""A vessel in waves: what it follows, what it feels, and that it stays with the water."""

import dataclasses
import math
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.physics.pelican_dynamics import rows_of
from tests.physics.strider_dynamics import around, sailing, strider

import kittiwake as kw
from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.commands import RudderThrust
from kittiwake.core.kinematics import Start
from kittiwake.environment.waves.irregular import JonswapSea
from kittiwake.environment.waves.regular import RegularWaves
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.seakeeping import Oscillation, SecondOrderResponse
from kittiwake.world.water import Waterplane
from kittiwake.world.waves import WaveProcess

G, DT_S = 9.81, 0.01
# nothing but the waves moves it
BARE = {
    "hull": dict.fromkeys(("y_v_kgps", "y_r_kgmps", "n_v_kgmps", "n_r_kgm2ps"), 0.0),
    "rudder": {"max_lift_coefficient": 0.0},
    "air_drag_surge_kgpm": 0.0,
    "air_drag_sway_kgpm": 0.0,
}
ADDED = {"added_mass": {"surge_kg": 0.4, "sway_kg": 6.0, "yaw_kgm2": 0.4}}
DAMPED = {"hull": {"x_u_kgps": -4.0}}


def felt(model, waves, motion):
    """The surroundings of a vessel at a place."""
    place, yaw = motion.position_world_m, motion.euler_world_from_body.yaw_rad
    size = model.size_body_m
    return dataclasses.replace(
        around(), water=waves.under(Waterplane(place.x, place.y, yaw, size.x, size.y))
    )


@eqx.filter_jit
def _ridden(model, sea, start, steps, rudder_rad, dt_s):
    key = jax.random.key(0)
    begun = as_arrays(sea.init(key))

    def here(motion, tick):
        time_s = jnp.asarray(tick, float) * dt_s
        return felt(model, sea.step(begun, time_s, dt_s, key)[1], motion)

    def step(state, tick):
        world = here(model.kinematics(state), tick)
        command = RudderThrust(jnp.asarray(rudder_rad, float), jnp.zeros(()))
        later = match_dtypes(model.step(state, command, world, dt_s, key), state)
        return later, (model.kinematics(state), world.water)

    motion = start.kinematics()
    first = as_arrays(model.init(motion, here(motion, 0)))
    return jax.lax.scan(step, first, jnp.arange(steps))[1]


def ridden(kind, seconds, model=None, start=None, rudder_rad=0.0, dt_s=DT_S):
    """Motion and water at each step."""
    model = strider() if model is None else model
    start = sailing(0.0) if start is None else start
    return _ridden(
        model,
        WaveProcess(kind, G),
        as_arrays(start),
        round(seconds / dt_s),
        rudder_rad,
        float(dt_s),
    )


# heave, roll and pitch


def test_resonance_is_as_high_as_the_damping_lets_it():
    w, zeta, dt = 10.0, 0.2, 1e-3
    response, times = SecondOrderResponse(w, zeta), jnp.arange(0.0, 20.0, 1e-3)

    def step(swing, time_s):
        later = response.next(swing, jnp.sin(w * time_s), dt)
        return later, later.displacement

    swings = jax.lax.scan(step, Oscillation(jnp.zeros(()), jnp.zeros(())), times)[1]
    # the trapezoidal rule sees the frequency (w dt)^2 / 12 off; e^-40 of the start is left
    assert float(jnp.abs(swings[-2000:]).max()) == pytest.approx(1.0 / (2.0 * zeta), rel=1e-3)


def test_response_settles_and_never_diverges_at_any_step():
    for dt in (1e-3, 0.1, 10.0):
        swing = Oscillation(jnp.asarray(0.3), jnp.asarray(-2.0))
        for _ in range(60):
            swing = SecondOrderResponse(12.0, 0.5).next(swing, 1.0, dt)
            assert abs(float(swing.displacement)) < 3.0
    settled = jax.lax.fori_loop(
        0, 1000, lambda _, s: SecondOrderResponse(12.0, 0.5).next(s, 1.0, 0.02), swing
    )
    assert float(settled.displacement) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("yaw", [0.0, 0.8, -2.0])
def test_long_wave_is_followed_in_height_and_slope(yaw):
    kind = RegularWaves(4.0, 20.0, towards_rad=0.6, phase_rad=0.5 * math.pi)
    start = dataclasses.replace(sailing(0.0), yaw_rad=yaw)
    motion, water = ridden(kind, 25.0, strider(**BARE), start)
    # behind by 2 zeta / w_n = 0.05 s of a period of 20 s
    late = 1.3 * 0.071 * 2.0 * math.pi / 20.0
    height = np.asarray(water.height_world_m)
    np.testing.assert_allclose(motion.position_world_m.z, height, atol=2.0 * late)
    assert height.max() > 1.9
    deck = jax.vmap(strider().deck.carried_by)(motion)
    normal = rows_of(jax.vmap(lambda q: q.rotate(Vec3(0.0, 0.0, 1.0)))(deck.q_world_from_deck))
    slopes = np.stack([-water.slope_east, -water.slope_north], axis=1)
    assert np.hypot(*slopes.T).max() > 0.02
    steepest = 2.0 * (2.0 * math.pi / 20.0) ** 2 / G
    np.testing.assert_allclose(normal[:, :2] / normal[:, 2:], slopes, atol=steepest * late)


def test_short_wave_is_not_followed():
    # as long as a quarter of the hull
    kind = RegularWaves(0.02, math.sqrt(0.91 / 4.0 * 2.0 * math.pi / G), 0.5 * math.pi)
    motion, _ = ridden(kind, 5.0, start=sailing(0.0))
    assert np.abs(motion.position_world_m.z).max() < 1e-5
    assert np.abs(motion.euler_world_from_body.pitch_rad).max() < 1e-4


@cache
def tossed():
    """Under way in a short-crested sea, turning."""
    kind = JonswapSea(sea_state=2, towards_rad=0.6, spreading=5.0, components=16)
    return ridden(kind, 10.0, start=sailing(1.0), rudder_rad=0.2)


def test_rates_are_those_of_the_attitude():
    motion, _ = tossed()
    q = motion.q_world_from_body
    at = np.stack([q.w, q.x, q.y, q.z], axis=1)
    middle, rate = at[1:-1], (at[2:] - at[:-2]) / (2.0 * DT_S)
    w, x, y, z = middle.T
    # omega = 2 q* q'
    expected = 2.0 * np.stack(
        [
            w * rate[:, 1] - x * rate[:, 0] - y * rate[:, 3] + z * rate[:, 2],
            w * rate[:, 2] - y * rate[:, 0] - z * rate[:, 1] + x * rate[:, 3],
            w * rate[:, 3] - z * rate[:, 0] - x * rate[:, 2] + y * rate[:, 1],
        ],
        axis=1,
    )
    found = rows_of(motion.angular_velocity_body_radps)[1:-1]
    # the rates change by up to 20 rad/s^2, in corners at the steps; a hundredth of a second of that
    assert np.abs(found - expected).max() < 0.1
    assert np.abs(found[:, :2]).max() > 0.5
    assert np.corrcoef(found[:, 0], expected[:, 0])[0, 1] > 0.999


def test_velocity_is_that_of_the_place():
    motion, _ = tossed()
    place, velocity = rows_of(motion.position_world_m), rows_of(motion.velocity_world_mps)
    # both by rules of second order and more
    expected = 0.5 * (velocity[1:] + velocity[:-1])
    np.testing.assert_allclose(np.diff(place, axis=0) / DT_S, expected, atol=1e-3)
    assert np.abs(velocity[:, 2]).max() > 0.2
    turned = jax.vmap(lambda q, v: q.rotate(v))(motion.q_world_from_body, motion.velocity_body_mps)
    np.testing.assert_allclose(rows_of(turned), velocity, atol=1e-12)


def test_an_accelerometer_on_board_feels_what_the_velocity_gains():
    motion, _ = tossed()
    velocity = rows_of(motion.velocity_world_mps)
    gained = np.diff(velocity, axis=0) / DT_S + np.array([0.0, 0.0, G])
    felt_world = jax.vmap(lambda q, f: q.rotate(f))(
        motion.q_world_from_body, motion.specific_force_body_mps2
    )
    np.testing.assert_allclose(rows_of(felt_world)[1:], gained, atol=1e-9)
    assert np.abs(rows_of(motion.specific_force_body_mps2)[:, 0]).max() > 0.5


def test_vessel_that_lies_along_the_water_hardly_feels_a_side_force():
    # in a long wave the plumb line stands across the surface: pulled down the slope, tilted by it
    kind = RegularWaves(4.0, 20.0, towards_rad=0.5 * math.pi, phase_rad=0.5 * math.pi)
    motion, water = ridden(kind, 20.0, strider(**BARE))
    steepest = float(jnp.abs(water.slope_east).max())
    force = rows_of(motion.specific_force_body_mps2)
    assert np.abs(force[:, :2]).max() < 0.05 * steepest * G
    assert G * steepest > 0.15


# the horizontal motion


@pytest.mark.parametrize("parameters", [{}, ADDED], ids=["plain", "added mass"])
def test_waves_push_down_the_slope(parameters):
    model = strider(**{**BARE, **parameters})
    kind = RegularWaves(0.2, 4.0, towards_rad=0.9, phase_rad=1.0)
    start = dataclasses.replace(sailing(0.0), yaw_rad=0.4)
    waves = WaveProcess(kind, G).init(jax.random.key(0))
    world = felt(model, waves, start.kinematics())
    state = model.init(start.kinematics(), world)
    gained = model.derivative(state.mechanical_state, 0.0, 0.0, world).velocities
    east, north = float(world.water.slope_east), float(world.water.slope_north)
    forward = math.cos(0.4) * east + math.sin(0.4) * north
    left = math.cos(0.4) * north - math.sin(0.4) * east
    # m g times the slope, whatever moves along
    assert float(gained.surge_mps) == pytest.approx(-G * forward, rel=1e-9)
    assert float(gained.sway_mps) == pytest.approx(-G * left, rel=1e-9)


def test_bare_vessel_goes_with_the_water():
    kind = RegularWaves(0.02, 4.0, towards_rad=0.5 * math.pi, phase_rad=0.5 * math.pi)
    motion, water = ridden(kind, 8.0, strider(**BARE, **ADDED))
    speed = np.asarray(motion.velocity_world_mps.x)
    # begun at rest as the water; the second order of a wave 1250 times as long as high, and half
    # a step by which the water is held
    expected, orbit = np.asarray(water.velocity_world_mps.x), 0.01 * 2.0 * math.pi / 4.0
    np.testing.assert_allclose(speed, expected, atol=0.02 * orbit)
    assert np.abs(expected).max() > 0.99 * orbit


def test_waves_carry_a_vessel_away_by_what_is_of_second_order_alone():
    def drift(height):
        kind = RegularWaves(height, 3.0, towards_rad=0.5 * math.pi, phase_rad=0.5 * math.pi)
        motion, _ = ridden(kind, 15.0, strider(**DAMPED))
        x = np.asarray(motion.position_world_m.x)
        return (x[1499] - x[600 - 1]) / 9.0

    small, large = drift(0.1), drift(0.2)
    # the Stokes drift w k a^2 of the water that it goes with
    stokes = 2.0 * math.pi / 3.0 * (2.0 * math.pi / 3.0) ** 2 / G * 0.1**2
    assert 0.0 < large < 1.5 * stokes
    assert large / small == pytest.approx(4.0, rel=0.1)


@pytest.mark.slow
def test_gradients_through_a_voyage_in_waves_are_finite():
    kind = JonswapSea(sea_state=2, spreading=5.0, components=5)

    def end(model, speed):
        motion, _ = _ridden(model, WaveProcess(kind, G), start_at(speed), 30, 0.1, DT_S)
        last = jax.tree.map(lambda leaf: leaf[-1], motion)
        return sum(jax.tree.leaves(last))

    def start_at(speed):
        zero = jnp.zeros(())
        return dataclasses.replace(as_arrays(Start()), velocity_world_mps=Vec3(speed, zero, zero))

    traced = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), strider())
    found = eqx.filter_grad(lambda both: end(*both))((traced, jnp.asarray(1.0)))
    leaves = jax.tree.leaves(found)
    assert leaves
    assert all(jnp.isfinite(leaf).all() for leaf in leaves)
    assert float(found[0].ride.roll.natural_frequency_radps) != 0.0


# a scenario in waves

SHORT = {"time.duration_s": 2.0}


@cache
def sailed(seed=0, count=1):
    changes = {"vehicles.strider.count": count} if count > 1 else {}
    log = kw.load("strider-in-waves", {**SHORT, **changes, "seed": seed}).run()
    return log.frame("strider" if count == 1 else "strider-1")


def test_library_voyage_is_logged_with_its_water():
    frame = sailed()
    height = frame["water_height_m"].to_numpy()
    assert 0.02 < np.abs(height).max() < 0.5
    # at the start it floats on the water, 2 zeta / w_n = 0.05 s behind
    assert frame["z_m"].to_numpy()[0] == pytest.approx(height[0], abs=0.05 * 0.5)
    calm = kw.load("cruise-strider", SHORT).run().frame("strider")
    assert "water_height_m" not in calm
    assert (calm["z_m"] == 0.0).all()


@pytest.mark.slow
def test_seed_of_the_scenario_makes_the_waves():
    one, other = sailed(), sailed(seed=1)
    again = kw.load("strider-in-waves", SHORT).run().frame("strider")
    np.testing.assert_array_equal(one["z_m"], again["z_m"])
    assert np.abs(one["z_m"] - other["z_m"]).max() > 0.01


@pytest.mark.slow
def test_one_of_many_sails_as_one_alone():
    alone, together = sailed(), sailed(count=3)
    for name in ("x_m", "z_m", "qx", "water_height_m"):
        # sums of the components in another order
        np.testing.assert_allclose(together[name], alone[name], rtol=0, atol=1e-11)
