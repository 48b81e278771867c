"""Battery: voltage, power and remaining charge."""

import dataclasses
import math
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from kittiwake.actuators.battery import LithiumPolymer
from kittiwake.core.arrays import as_arrays

CELLS, CAPACITY_C, RESISTANCE_OHM = 3, 3600.0, 0.06
BATTERY = LithiumPolymer(CELLS, CAPACITY_C, RESISTANCE_OHM, 0.7, 3.0)
# what it gives at most in the state in which it begins
STRONGEST_W = BATTERY.init().voltage_v ** 2 / (4.0 * RESISTANCE_OHM)


def at_rest_v(charge):
    """Chen and Rincon-Mora's equation 2 for a cell, in plain numbers."""
    return (
        -1.031 * math.exp(-35.0 * charge)
        + 3.685
        + 0.2156 * charge
        - 0.1178 * charge**2
        + 0.3201 * charge**3
    )


@eqx.filter_jit
def discharged(battery, power_w, dt_s, steps):
    """Return the states over steps at constant power."""

    def once(state, _):
        later = battery.step(state, power_w, dt_s)
        return later, later

    return jax.lax.scan(once, as_arrays(battery.init()), None, length=steps)[1]


def charged(charge):
    return dataclasses.replace(BATTERY, charge=charge)


@pytest.mark.parametrize("charge", [0.0, 0.02, 0.1, 0.5, 1.0])
def test_voltage_at_rest_is_that_of_the_source(charge):
    assert math.isclose(float(charged(charge).init().voltage_v), CELLS * at_rest_v(charge))


def test_a_full_cell_has_4_1_volts_and_an_empty_one_2_7():
    assert math.isclose(at_rest_v(1.0), 4.103, abs_tol=5e-4)
    assert math.isclose(at_rest_v(0.0), 2.654, abs_tol=5e-4)
    assert math.isclose(float(BATTERY.init().voltage_v) / CELLS, 4.103, abs_tol=5e-4)


@pytest.mark.parametrize("power_w", [0.0, 1e-6, 40.0, 0.69 * STRONGEST_W])
def test_current_times_voltage_is_the_power(power_w):
    state = BATTERY.step(BATTERY.init(), power_w, 0.01)
    drawn_w = power_w / 0.7 + 3.0
    # below 0.99 of the strongest power nothing cancels but the root, whose argument is above 0.01
    assert math.isclose(float(state.voltage_v * state.current_a), drawn_w, rel_tol=1e-13)
    sag_v = float(BATTERY.init().voltage_v - state.voltage_v)
    assert math.isclose(sag_v, RESISTANCE_OHM * float(state.current_a), rel_tol=1e-12)


def test_a_small_current_is_exact_in_single_precision(single_precision):
    state = BATTERY.step(BATTERY.init(), 0.0, 0.01)
    # the root's textbook form loses four digits here; this one none
    assert math.isclose(float(state.voltage_v * state.current_a), 3.0, rel_tol=5e-7)


def test_excess_power_is_limited_at_half_the_voltage():
    for power_w in (STRONGEST_W, 1e3 * STRONGEST_W):
        state = BATTERY.step(BATTERY.init(), power_w, 0.01)
        # a millionth below the strongest power, the root is a thousandth of the voltage
        assert math.isclose(
            float(state.voltage_v), float(BATTERY.init().voltage_v) / 2.0, rel_tol=2e-3
        )
        given_w = float(state.voltage_v * state.current_a)
        assert math.isclose(given_w, float(STRONGEST_W), rel_tol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.69999, 0.7, 1.0, 1e6])
def test_gradients_are_finite_at_any_power(share):
    def voltage(battery, power_w):
        return battery.step(battery.init(), power_w, 0.01).voltage_v

    traced = jax.tree.map(jnp.asarray, BATTERY)
    slopes = jax.grad(voltage, argnums=(0, 1))(traced, jnp.asarray(share * STRONGEST_W))
    assert all(bool(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(slopes))


def test_charge_falls_by_the_current_over_the_capacity():
    states = discharged(BATTERY, 40.0, 0.5, 600)
    drawn_c = float(jnp.sum(states.current_a)) * 0.5
    left = float(states.charge[-1])
    # Kahan's sum keeps the rounding of all steps below that of one
    assert math.isclose(left, 1.0 - drawn_c / CAPACITY_C, rel_tol=1e-14)


def test_energy_drawn_is_the_motors_over_their_efficiency_and_the_electronics():
    states = discharged(BATTERY, 40.0, 0.5, 600)
    drawn_j = float(jnp.sum(states.voltage_v * states.current_a)) * 0.5
    assert math.isclose(drawn_j, 300.0 * (40.0 / 0.7 + 3.0), rel_tol=1e-12)


def endurance_s(power_w):
    """Return the endurance by numerical integration of charge over current."""
    drawn_w = power_w / 0.7 + 3.0

    def per_charge_s(charge):
        voltage = CELLS * at_rest_v(charge)
        root = math.sqrt(voltage**2 - 4.0 * RESISTANCE_OHM * drawn_w)
        return CAPACITY_C * (voltage + root) / (2.0 * drawn_w)

    return quad(per_charge_s, 0.0, 1.0)[0]


@pytest.mark.parametrize("power_w", [10.0, 40.0, 100.0])
def test_a_constant_power_lasts_as_long_as_the_closed_form_says(power_w):
    steps_of_s = 0.05
    states = discharged(BATTERY, power_w, steps_of_s, int(1.1 * endurance_s(power_w) / steps_of_s))
    lasted_s = steps_of_s * (int(np.argmax(np.asarray(states.charge) <= 0.0)) + 1)
    # Euler's rule holds the voltage of a step's beginning; found: within a step
    assert abs(lasted_s - endurance_s(power_w)) < 2.0 * steps_of_s


def test_single_precision_lasts_as_long_as_double(single_precision):
    battery = LithiumPolymer(1, 3600.0 * 50.0, 0.01, 1.0, 4.0)
    states = discharged(battery, 0.0, 1e-3, 200_000)
    current_a = 4.0 / 4.1
    lost = 1.0 - float(states.charge[-1])
    assert states.charge.dtype == jnp.float32
    # a step takes 5e-9 of the charge, the last bit of which is 6e-8: a plain sum would lose nothing
    assert math.isclose(lost, 200.0 * current_a / battery.capacity_c, rel_tol=2e-3)


def test_an_empty_battery_supplies_nothing_and_stays_empty():
    state = charged(1e-6).init()
    for _ in range(3):
        state = BATTERY.step(state, 100.0, 0.1)
    assert float(state.charge) == 0.0
    assert float(state.current_a) == 0.0
    assert float(BATTERY.speed_ratio(state)) == 0.0
    assert float(BATTERY.readings(state)["battery_empty"]) == 1.0


def test_fastest_speed_is_in_proportion_to_the_voltage():
    assert float(BATTERY.speed_ratio(BATTERY.init())) == 1.0
    loaded = BATTERY.step(BATTERY.init(), 40.0, 0.01)
    share = float(loaded.voltage_v) / (CELLS * at_rest_v(1.0))
    assert 0.9 < share < 1.0
    assert math.isclose(float(BATTERY.speed_ratio(loaded)), share, rel_tol=1e-14)


@pytest.mark.slow
def test_a_batch_of_batteries_equals_a_loop():
    powers = jnp.asarray([0.0, 40.0, 100.0])
    step = partial(BATTERY.step, as_arrays(BATTERY.init()), dt_s=0.01)
    together = jax.vmap(step)(powers)
    for i, power_w in enumerate(powers):
        alone = jax.jit(step)(power_w)
        for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
            # the carried remainder is itself a rounding error
            assert math.isclose(float(a[i]), float(b), rel_tol=1e-14, abs_tol=1e-18)


def test_a_charger_charges_up_to_full():
    charger_a, dt_s, steps = 2.0, 0.01, 1000
    battery = dataclasses.replace(BATTERY, electronics_w=0.0, charge=0.5, charging_a=charger_a)

    def once(state, _):
        return battery.step(state, jnp.asarray(0.0), dt_s, charged=True), None

    initial = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), battery.init())
    later, _ = jax.lax.scan(once, initial, None, length=steps)
    gained = charger_a * dt_s * steps / CAPACITY_C
    assert later.charge - 0.5 == pytest.approx(gained, rel=1e-12)
    assert later.current_a == -charger_a
    assert float(battery.speed_ratio(later)) <= 1.0
    full, _ = jax.lax.scan(once, dataclasses.replace(later, charge=jnp.asarray(0.9999999)), None, 2)
    assert full.charge == 1.0
    assert full.current_a == 0.0
    assert float(full.voltage_v) == pytest.approx(CELLS * at_rest_v(1.0), rel=1e-12)
