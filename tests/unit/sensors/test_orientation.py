"""QRSim's orientation: true angles with errors of their own."""

import math
from functools import cache

import jax
import numpy as np
import pytest
from tests.unit.sensors.sample_series import seen, series, standard_errors_off

from kittiwake.core.kinematics import Start
from kittiwake.sensors.orientation import Orientation

TURNED = Start(roll_rad=0.2, pitch_rad=-0.3, yaw_rad=2.0)
ANGLES = {"roll_rad": 0.2, "pitch_rad": -0.3, "yaw_rad": 2.0}
DEVIATION = 0.0035355


@cache
def errors(dt_s, steps, seeds):
    with jax.enable_x64(True):
        found = series(Orientation(), seen(TURNED), steps, seeds, dt_s)
    return {name: getattr(found, name) - angle for name, angle in ANGLES.items()}


def test_the_ideal_reading_is_the_true_angles():
    found = Orientation().ideal(seen(TURNED))
    for name, angle in ANGLES.items():
        assert float(getattr(found, name)) == pytest.approx(angle, abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("angle", ANGLES)
def test_errors_have_their_deviation_from_the_first_sample_on(angle):
    off = errors(1.0, 1000, 300)[angle]
    assert abs(standard_errors_off(off[:, 0] ** 2, DEVIATION**2)) < 3.0
    assert abs(standard_errors_off(np.mean(off**2, axis=1), DEVIATION**2)) < 3.0
    assert abs(standard_errors_off(np.mean(off, axis=1), 0.0)) < 3.0


@pytest.mark.parametrize("lag", [10, 100, 250])
@pytest.mark.parametrize("angle", ANGLES)
def test_errors_decay_within_a_hundred_seconds(angle, lag):
    off = errors(1.0, 1000, 300)[angle]
    products = np.mean(off[:, lag:] * off[:, :-lag], axis=1)
    assert abs(standard_errors_off(products, DEVIATION**2 * math.exp(-lag / 100.0))) < 3.0


def test_errors_of_different_angles_are_independent():
    off = errors(1.0, 1000, 300)
    for one, other in (("roll_rad", "pitch_rad"), ("pitch_rad", "yaw_rad")):
        product = np.mean(off[one] * off[other], axis=1)
        assert abs(standard_errors_off(product, 0.0)) < 3.0


@pytest.mark.slow
def test_a_step_of_qrsim_adds_what_it_adds_in_the_original():
    off = np.concatenate(list(errors(0.02, 2000, 20).values()))
    innovation = off[:, 1:] - off[:, :-1] * math.exp(-0.02 / 100.0)
    # 7.07e-5 rad for s = 5e-4 and b = 0.01/s
    assert abs(standard_errors_off(np.mean(innovation**2, axis=1), 7.0707e-5**2)) < 3.0


@pytest.mark.slow
def test_single_precision_keeps_the_innovations(single_precision):
    found = series(Orientation(), seen(), 2000, 50, 0.02).yaw_rad
    assert found.dtype == np.float32
    steps = np.diff(found.astype(float), axis=1)
    assert abs(standard_errors_off(np.mean(steps**2, axis=1), 7.0707e-5**2)) < 3.0
