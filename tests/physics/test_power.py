"""Motors and battery in flight: lag and limits, power, endurance, sag, and what is left of it."""

import math
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq
from tests.physics.body_dynamics import KEY, airborne, around, numbers_as_arrays

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.commands import RotorSpeeds
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.vehicles import VEHICLES

ALOFT = Start(Vec3(0.0, 0.0, 500.0))
GRAVITY, DENSITY = 9.81, 1.225
# as docs/power.md has them
CRAZYFLIE = {
    "type": "lithium-polymer",
    "cells": 1,
    "capacity_c": 900.0,
    "resistance_ohm": 0.1,
    "motor_efficiency": 0.35,
    "electronics_w": 0.5,
}
FOERSTER_TORQUE_NMS2 = 1.719e-10
AR_DRONE = {
    "type": "lithium-polymer",
    "cells": 3,
    "capacity_c": 3600.0,
    "resistance_ohm": 0.06,
    "motor_efficiency": 0.7,
    "electronics_w": 3.0,
}


@cache
def crazyflie(**battery):
    rotor = {**vehicle_parameters("crazyflie")["rotor"], "torque_nms2": FOERSTER_TORQUE_NMS2}
    return airborne("crazyflie", rotor=rotor, battery={**CRAZYFLIE, **battery})


@cache
def ar_drone(**battery):
    return airborne("ar-drone", battery={**AR_DRONE, **battery})


def vehicle_parameters(name):
    return VEHICLES.find(name).parameters()


# steps of programs that tests share
LENGTH = 1000


def flown(dynamics, speed_radps, dt_s, steps, every=1):
    """The state after each ``every`` steps at one command for all motors, in still air."""
    numbers = numbers_as_arrays((dynamics, float(speed_radps), dt_s))
    shared = -(-steps // LENGTH) * LENGTH if every == 1 else steps
    states = _flown(*numbers, shared, every)
    return jax.tree.map(lambda leaf: np.asarray(leaf)[: steps // every], states)


@eqx.filter_jit
def _flown(dynamics, speed_radps, dt_s, steps, every):
    state = as_arrays(dynamics.init(ALOFT.kinematics(), around()))
    command = RotorSpeeds((speed_radps,) * 4)

    def once(state, _):
        return match_dtypes(dynamics.step(state, command, around(), dt_s, KEY), state), None

    def block(state, _):
        later = jax.lax.scan(once, state, None, length=every)[0]
        return later, later

    return jax.lax.scan(block, state, None, length=steps // every)[1]


def hover_radps(dynamics):
    return math.sqrt(dynamics.mass_kg * GRAVITY / 4.0 / dynamics.rotor.thrust_factor_ns2)


def speed_of(states):
    return np.asarray(states.rigid_body.mechanical_state.velocities.speeds_radps[0])


def drawn_w(states):
    return np.asarray(states.battery.voltage_v * states.battery.current_a)


# motors


@eqx.filter_jit
def _stepped(dynamics, state, speed_radps, dt_s):
    return dynamics.step(state, RotorSpeeds((speed_radps,) * 4), around(), dt_s, KEY)


@pytest.mark.parametrize(("began", "wanted", "lag_s"), [(200.0, 500.0, 0.05), (500.0, 200.0, 0.08)])
def test_a_rotor_has_gone_63_percent_of_its_way_after_its_time_constant(began, wanted, lag_s):
    rotors = {"type": "lumped", "thrust_ns2": 1e-5, "torque_nms2": 1e-7, "radius_m": 0.1}
    rotors |= {"max_speed_radps": 800.0, "spin_up_s": 0.05, "spin_down_s": 0.08}
    dynamics = airborne("hummingbird", rotor=rotors)
    begun = as_arrays(dynamics.init(ALOFT.kinematics(), around()))
    state = eqx.tree_at(
        lambda s: s.rigid_body.mechanical_state.velocities.speeds_radps,
        begun,
        (jnp.asarray(began),) * 4,
    )
    for _ in range(50):
        state = match_dtypes(_stepped(dynamics, state, *as_arrays((wanted, lag_s / 50))), state)
    gone = (float(state.rigid_body.mechanical_state.velocities.speeds_radps[0]) - began) / (
        wanted - began
    )
    # RK4 at a fiftieth of the lag errs by (1/50)^4 / 120 of what is left
    assert math.isclose(gone, 1.0 - math.exp(-1.0), rel_tol=1e-8)


def test_commands_are_cut_to_the_motors_range():
    parameters = vehicle_parameters("hummingbird")
    rotor = {**parameters["rotor"], "min_speed_radps": 100.0}
    dynamics = airborne("hummingbird", rotor=rotor)
    taken = dynamics.limit_command(RotorSpeeds((-1e3, 99.0, 1499.0, 1e4)))
    assert [float(speed) for speed in taken.speeds_radps] == [100.0, 100.0, 1499.0, 1500.0]


# power


def test_hover_takes_torque_times_speed_of_every_rotor():
    drone = ar_drone()
    omega = hover_radps(drone)
    states = flown(drone, omega, 0.002, 5)
    mechanical_w = 4.0 * drone.rotor.torque_nms2 * omega**3
    np.testing.assert_allclose(drawn_w(states), mechanical_w / 0.7 + 3.0, rtol=1e-9)


def test_hover_with_blade_elements_takes_induced_and_profile_power():
    battery = {**AR_DRONE, "electronics_w": 0.0, "motor_efficiency": 1.0}
    os4 = airborne("os4", battery=battery)
    rotor, thrust_n = os4.rotor, os4.mass_kg * GRAVITY / 4.0
    omega, area = hover_radps(os4), math.pi * rotor.radius_m**2
    induced_w = thrust_n * math.sqrt(thrust_n / (2.0 * DENSITY * area))
    solidity = rotor.blades * rotor.chord_m / (math.pi * rotor.radius_m)
    tip_mps = omega * rotor.radius_m
    profile_w = DENSITY * area * solidity * rotor.profile_drag / 8.0 * tip_mps**3
    states = flown(os4, omega, 0.002, 5)
    assert 0.3 < profile_w / induced_w < 3.0
    np.testing.assert_allclose(drawn_w(states), 4.0 * (induced_w + profile_w), rtol=1e-9)


def test_energy_drawn_is_what_the_rotors_and_the_electronics_took():
    drone, dt_s = ar_drone(), 0.002
    states = flown(drone, 1.2 * hover_radps(drone), dt_s, 1000)
    speeds = np.concatenate([[hover_radps(drone)], speed_of(states)])
    rotors_w = 4.0 * drone.rotor.torque_nms2 * speeds**3
    took_j = np.trapezoid(rotors_w / 0.7 + 3.0, dx=dt_s)
    # the battery holds a step's first power; the rotors' lag is five steps long
    assert math.isclose(drawn_w(states).sum() * dt_s, took_j, rel_tol=1e-3)
    drawn_c = float(jnp.sum(states.battery.current_a)) * dt_s
    assert math.isclose(float(states.battery.charge[-1]), 1.0 - drawn_c / 3600.0, rel_tol=1e-13)


def test_a_rotor_that_the_air_drives_gives_nothing_back():
    os4 = airborne("os4", battery={**AR_DRONE, "electronics_w": 0.0})
    falling = Start(ALOFT.position_world_m, velocity_world_mps=Vec3(0.0, 0.0, -30.0))
    state = as_arrays(os4.init(falling.kinematics(), around()))
    later = os4.step(state, RotorSpeeds((hover_radps(os4),) * 4), around(), 0.002, KEY)
    assert float(later.battery.current_a) == 0.0
    assert float(later.battery.charge) == 1.0


# endurance


def at_rest_v(battery, charge):
    return float(battery._at_rest_v(jnp.asarray(charge)))


def current_a(battery, power_w, charge):
    voltage, resistance = at_rest_v(battery, charge), battery.resistance_ohm
    return (voltage - math.sqrt(voltage**2 - 4.0 * resistance * power_w)) / (2.0 * resistance)


def hover_endurance_s(dynamics):
    """How long the motors turn as fast as in hover: from full to where the voltage is too low."""
    battery, omega = dynamics.battery, hover_radps(dynamics)
    mechanical_w = 4.0 * dynamics.rotor.torque_nms2 * omega**3
    power_w = mechanical_w / battery.motor_efficiency + battery.electronics_w
    least_v = at_rest_v(battery, 1.0) * omega / dynamics.rotor.max_speed_radps

    def spare_v(charge):
        drop = battery.resistance_ohm * current_a(battery, power_w, charge)
        return at_rest_v(battery, charge) - drop - least_v

    last = brentq(spare_v, 1e-4, 1.0)
    charges = np.linspace(last, 1.0, 4001)
    currents = [current_a(battery, power_w, charge) for charge in charges]
    return np.trapezoid(battery.capacity_c / np.array(currents), charges)


@pytest.mark.parametrize(
    ("dynamics", "makers_s"),
    [(crazyflie(), 7 * 60), pytest.param(ar_drone(), 12 * 60, marks=pytest.mark.slow)],
    ids=["cf", "ar"],
)
def test_a_hover_lasts_as_the_closed_form_and_nearly_as_specified(dynamics, makers_s):
    every_s, omega = 0.2, hover_radps(dynamics)
    expected_s = hover_endurance_s(dynamics)
    states = flown(dynamics, omega, 0.02, int(1.1 * expected_s / 0.02), every=10)
    slowed = speed_of(states) < (1.0 - 1e-4) * omega
    lasted_s = every_s * (1 + int(np.argmax(slowed)))
    assert slowed.any()
    # seen every 0.2 s, and by a speed that lags by 0.05 s and has to fall first
    assert abs(lasted_s - expected_s) < 5e-3 * expected_s
    assert abs(lasted_s - makers_s) < 0.25 * makers_s


# sag


def top_speed_radps(dynamics, charge):
    """Where the motors' power and the voltage at which they take it agree."""
    battery, rotor = dynamics.battery, dynamics.rotor

    def spare(omega):
        mechanical_w = 4.0 * rotor.torque_nms2 * omega**3
        power_w = mechanical_w / battery.motor_efficiency + battery.electronics_w
        voltage = at_rest_v(battery, charge)
        voltage -= battery.resistance_ohm * current_a(battery, power_w, charge)
        return rotor.max_speed_radps * voltage / at_rest_v(battery, 1.0) - omega

    return brentq(spare, 10.0, rotor.max_speed_radps)


def test_sag_lowers_the_largest_thrust():
    ends = {}
    for charge in (1.0, 0.1):
        drone = ar_drone(charge=charge)
        states = flown(drone, drone.rotor.max_speed_radps, 0.002, 500)
        expected = top_speed_radps(drone, float(states.battery.charge[-1]))
        # the rotors lag behind a voltage that still falls
        assert math.isclose(speed_of(states)[-1], expected, rel_tol=1e-4)
        ends[charge] = (
            states.rigid_body.mechanical_state.configuration.position_world_m.z[-1],
            expected,
        )
    assert ends[1.0][1] < 0.97 * ar_drone().rotor.max_speed_radps
    assert ends[0.1][1] < 0.95 * ends[1.0][1]
    assert float(ends[0.1][0]) < float(ends[1.0][0]) - 0.3


def test_without_a_battery_nothing_sags():
    drone = airborne("ar-drone")
    states = flown(drone, drone.rotor.max_speed_radps, 0.002, 500)
    assert states.battery is None
    assert math.isclose(speed_of(states)[-1], drone.rotor.max_speed_radps, rel_tol=1e-12)


def test_an_empty_battery_stops_the_motors_and_the_vehicle_falls():
    flyer = crazyflie(charge=0.0)
    states = flown(flyer, hover_radps(flyer), 0.002, 500)
    # 20 time constants after
    assert speed_of(states)[-1] < 1e-5
    velocity = np.asarray(states.rigid_body.mechanical_state.velocities.twist.velocity_world_mps.z)
    # rotors that stand still push nothing and have no drag
    assert math.isclose((velocity[-1] - velocity[-101]) / 0.2, -GRAVITY, rel_tol=1e-6)
    readings = flyer.actuators(jax.tree.map(lambda leaf: leaf[-1], states))
    assert float(readings["battery_empty"]) == 1.0


# more than there is


def weak_height_m(dynamics, steps=200):
    states = flown(dynamics, 1e4, 0.002, steps)
    return states.rigid_body.mechanical_state.configuration.position_world_m.z[-1]


def test_a_battery_that_is_too_weak_browns_out_and_stays_finite():
    weak = crazyflie(resistance_ohm=2.0)
    states = flown(weak, weak.rotor.max_speed_radps, 0.002, 1000)
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(states))
    assert 0.2 < speed_of(states)[-1] / weak.rotor.max_speed_radps < 0.7
    # it does not swing from step to step
    assert np.abs(np.diff(speed_of(states)[-100:], n=2)).max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("resistance_ohm", "has_enough"), [(0.1, True), (2.0, False)])
def test_gradients_through_a_flight_on_the_battery_are_finite(resistance_ohm, has_enough):
    flyer = crazyflie(resistance_ohm=resistance_ohm)

    def height(numbers):
        changed = eqx.tree_at(
            lambda d: (d.battery.resistance_ohm, d.battery.capacity_c, d.battery.charge),
            flyer,
            numbers,
        )
        return weak_height_m(changed, 100)

    numbers = tuple(map(jnp.asarray, (resistance_ohm, 900.0, 1.0)))
    slopes = jax.grad(height)(numbers)
    assert all(bool(jnp.isfinite(slope)) for slope in slopes)
    # more resistance, less height; at its strongest it has half its voltage in any case
    assert (float(slopes[0]) < -1e-3) == has_enough


def test_single_precision_flies_the_same(single_precision):
    states = flown(ar_drone(), 450.0, 0.002, 2000)
    assert states.battery.charge.dtype == jnp.float32
    with jax.enable_x64(True):
        exact = flown(ar_drone(), 450.0, 0.002, 2000)
        left, expected = float(states.battery.charge[-1]), float(exact.battery.charge[-1])
        assert math.isclose(1.0 - left, 1.0 - expected, rel_tol=1e-4)
