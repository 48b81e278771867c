import math
from dataclasses import replace

import jax
import numpy as np
import pytest
from tests.unit.sensors.sample_series import seen, series

from kittiwake.core.kinematics import Start
from kittiwake.environment.plumes.gaussian import GaussianCloud
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.plume_sensor import PlumeSensor
from kittiwake.world.plume import PLUME

CLOUDS = {
    f"{PLUME}{name}": GaussianCloud(Vec3(0.0, 0.0, 10.0), Vec3(3.0, 3.0, 3.0), 0.0, peak)
    for name, peak in (("smoke", 1.0), ("gas", 0.25))
}
INPUTS = replace(seen(Start(Vec3(3.0, 0.0, 10.0))), processes=CLOUDS)
# one deviation from the middle
SHARE = math.exp(-0.5)


def told(sensor):
    return float(sensor.ideal(INPUTS).concentration)


def test_a_named_plume_is_measured_and_by_default_all():
    assert told(PlumeSensor("smoke")) == pytest.approx(SHARE, rel=1e-12)
    assert told(PlumeSensor("gas")) == pytest.approx(0.25 * SHARE, rel=1e-12)
    assert told(PlumeSensor()) == pytest.approx(1.25 * SHARE, rel=1e-12)


def test_noise_is_white_with_its_deviation():
    steps, seeds = 1000, 20
    measured = series(PlumeSensor("smoke", 0.02), INPUTS, steps, seeds, 0.5).concentration
    off = measured - SHARE
    count = off.size
    assert abs(off.mean()) < 3.0 * 0.02 / math.sqrt(count)
    assert abs(off.std() / 0.02 - 1.0) < 3.0 / math.sqrt(2.0 * count)
    neighbors = (off[:, 1:] * off[:, :-1]).mean() / 0.02**2
    assert abs(neighbors) < 3.0 / math.sqrt(count)


def test_sensor_without_noise_measures_the_concentration():
    _, measurement = PlumeSensor("gas", 0.0).step((), INPUTS, 0.5, jax.random.key(0))
    assert np.asarray(measurement.concentration) == told(PlumeSensor("gas"))
