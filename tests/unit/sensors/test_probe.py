"""Probes: where they are in the water, how they lag, what they see from above."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.sensors.sample_series import first, seen, world

from kittiwake.core.component import Scheduled
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.environment.fields.patches import FieldPatch, Patches
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.probe import Probe, ViewBelow
from kittiwake.world.field import FIELD, AbstractField, FieldProcess

FLAT = Patches("K", 10.0, trend_per_m=0.5)
KEY = jax.random.key(0)


class Bowl(AbstractField):
    """A field that grows with the square of the distance from (3, 4)."""

    unit: str = ""
    trend_per_m: Real = 0.0
    drift_world_mps: Vec3 = Vec3(0.0, 0.0, 0.0)

    def at_surface(self, drawn, east_m, north_m):
        return (east_m - 3.0) ** 2 + (north_m - 4.0) ** 2


def around(z=0.0, start=None, **fields):
    """What there is to measure at a height over a world with these fields."""
    named = {FIELD + name: Scheduled(FieldProcess(kind)) for name, kind in fields.items()}
    inputs = seen(start or Start(Vec3(3.0, 4.0, z)), processes=named)
    drawn = {name: part.component.init(KEY) for name, part in named.items()}
    return replace(inputs, processes=drawn)


def measured(probe, *inputs, dt_s=1.0):
    """What it says of one after the other."""
    state, values = first(probe.init(KEY)), []
    for given in inputs:
        state, measurement = probe.step(state, given, dt_s, KEY)
        values.append((float(measurement.value), bool(measurement.valid)))
    return values


def test_probe_measures_in_its_depths_and_holds_the_last_value_elsewhere():
    at = [around(z, heat=FLAT) for z in (5.0, -2.0, 1.0, -21.0, -20.0, 0.0)]
    expected = [(0.0, False), (9.0, True), (9.0, False), (9.0, False), (0.0, True), (10.0, True)]
    assert measured(Probe(), *at) == expected


def test_probe_is_at_its_mounting_position():
    # turned by half a turn: what is ahead and to the left lies to the west and south
    start = Start(Vec3(3.0, 4.0, -0.5), yaw_rad=math.pi)
    probe = Probe(position_body_m=Vec3(2.0, 1.0, -0.5))
    [(value, valid)] = measured(probe, around(start=start, bowl=Bowl(trend_per_m=2.0)))
    assert valid
    assert value == pytest.approx(2.0**2 + 1.0**2 - 2.0 * 1.0, rel=1e-12)


@pytest.mark.parametrize("dt_s", [0.1, 1.0])
def test_lag_is_of_first_order_at_any_rate(dt_s):
    """A step of 9 to 10 in a lag of 4 s: 10 - e^(-t / T), whatever the steps."""
    probe, deep, high = Probe(time_constant_s=4.0), around(-2.0, heat=FLAT), around(0.0, heat=FLAT)
    count = round(6.0 / dt_s)
    values = measured(probe, deep, *[high] * count, dt_s=dt_s)
    assert values[0] == (9.0, True)
    times = dt_s * np.arange(1, count + 1)
    expected = 10.0 - np.exp(-times / 4.0)
    np.testing.assert_allclose([value for value, _ in values[1:]], expected, rtol=1e-12)


def test_ideal_measurement_has_no_lag():
    ideal = Probe(time_constant_s=4.0).ideal(around(-2.0, heat=FLAT))
    assert (float(ideal.value), bool(ideal.valid)) == (9.0, True)


@pytest.mark.parametrize("height", [0.5, 10.0, 40.0])
def test_footprint_measures_the_mean_over_its_disc(height):
    """Of the square of the distance the mean over a disc of radius R is R^2 / 2."""
    probe = Probe(footprint=ViewBelow(0.1, 50.0))
    [(value, valid)] = measured(probe, around(height, bowl=Bowl()))
    assert valid
    assert value == pytest.approx(0.5 * (height * math.tan(0.1)) ** 2, rel=1e-12)


def test_a_patch_as_wide_as_the_disc_is_measured_to_a_percent():
    """Of exp(-r^2 / 2 s^2) the mean over a disc of radius s is 2 (1 - exp(-1 / 2))."""
    kind = Patches("", 0.0, (FieldPatch(Vec3(3.0, 4.0, 0.0), 5.0, 1.0),))
    [(value, _)] = measured(Probe(footprint=ViewBelow(math.atan(0.5))), around(10.0, patch=kind))
    assert value == pytest.approx(2.0 * (1.0 - math.exp(-0.5)), rel=0.01)


def test_footprint_is_valid_up_to_its_height_and_above_the_water():
    at = [around(z, heat=FLAT) for z in (-0.5, 50.0, 50.5)]
    valid = [valid for _, valid in measured(Probe(footprint=ViewBelow(0.1, 50.0)), *at)]
    assert valid == [False, True, False]


def test_named_field_is_measured():
    fields = {"heat": FLAT, "algae": Patches("ug/l", 3.0)}
    assert measured(Probe("algae"), around(0.0, **fields)) == [(3.0, True)]


@pytest.mark.parametrize(
    ("probe", "fields", "message"),
    [
        (Probe(), (), "no field; write fields: {algae: from-seed} under world"),
        (Probe(), ("heat", "algae"), "field is missing; write one of heat, algae"),
        (Probe("haet"), ("heat",), "no field 'haet'. .*Did you mean 'heat'"),
    ],
)
def test_a_world_without_its_field_is_refused(probe, fields, message):
    processes = {FIELD + name: Scheduled(FieldProcess(FLAT)) for name in fields}
    with pytest.raises(ScenarioError, match=message):
        probe.check(replace(world(), processes=processes))


def test_depths_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match=r"depth_range_m: got \[5, 1\]; write the smaller"):
        Probe(depth_range_m=(5.0, 1.0))


@pytest.mark.parametrize("lag_s", [0.0, 2.0])
def test_gradients_are_finite_with_and_without_a_lag(lag_s):
    inputs = around(0.0, bowl=Bowl())

    def value(lag, x):
        truth = replace(inputs.truth, position_world_m=Vec3(x, 0.0, -1.0))
        probe = Probe(time_constant_s=lag)
        return probe.step(first(probe.init(KEY)), replace(inputs, truth=truth), 1.0, KEY)[1].value

    slopes = jax.jit(jax.grad(value, (0, 1)))(jnp.asarray(lag_s), jnp.asarray(2.0))
    assert np.isfinite(slopes).all()
