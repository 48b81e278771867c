import jax
import numpy as np
import pytest
from tests.unit.sensors.sample_series import seen, series, standard_errors_off

from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.anchor_ranging import AnchorRanging

PLACE = (3.0, -2.0, 4.0)
STEPS, SEEDS = 400, 20
SENSOR = AnchorRanging()


def anchors():
    return np.array([np.asarray(anchor.array) for anchor in SENSOR.anchors_world_m])


def test_anchors_take_turns_and_noise_is_evenly_spread():
    told = series(SENSOR, seen(Start(Vec3(*PLACE))), STEPS, SEEDS, 1.0 / 16.0)
    np.testing.assert_array_equal(told.anchor, np.tile(np.arange(STEPS) % 8, (SEEDS, 1)))
    noise = told.range_m - np.linalg.norm(np.array(PLACE) - anchors(), axis=1)[told.anchor]
    assert np.abs(noise).max() <= 0.1
    # of 8000 draws some come within a hundredth of the bound
    assert np.abs(noise).max() > 0.099
    assert abs(standard_errors_off(noise.ravel(), 0.0)) < 4.0
    assert abs(standard_errors_off(noise.ravel() ** 2, 0.1**2 / 3.0)) < 4.0
    assert told.valid.all()


def test_ideal_reading_is_the_distance_of_the_same_anchor():
    inputs, key = seen(Start(Vec3(*PLACE))), jax.random.key(0)
    state = SENSOR.init(key)
    for anchor in anchors():
        state, _, ideal = SENSOR.step_with_ideal(state, inputs, 0.1, key)
        # one square root
        assert float(ideal.range_m) == pytest.approx(np.linalg.norm(PLACE - anchor), rel=1e-15)
    assert int(state) == 0


@pytest.mark.parametrize(("z_m", "valid"), [(99.0, True), (101.5, False)])
def test_anchor_out_of_range_does_not_answer(z_m, valid):
    far = AnchorRanging((Vec3(0.0, 0.0, 0.0),) * 4)
    key = jax.random.key(1)
    _, measured = far.step(far.init(key), seen(Start(Vec3(0.0, 0.0, z_m))), 0.1, key)
    assert bool(measured.valid) is valid
    assert float(measured.range_m) == pytest.approx(min(z_m, 100.0), abs=0.1)


def test_three_anchors_are_refused():
    with pytest.raises(ValueError, match="anchors_world_m: got 3 anchors.*write at least 4"):
        AnchorRanging(SENSOR.anchors_world_m[:3])
