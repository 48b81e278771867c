import jax
import numpy as np
import pytest
from tests.contract.operating_points import CRUISING
from tests.contract.surroundings import PARTNER, to_measure

from kittiwake.sensors.beacon import Beacon

KEYS = jax.random.split(jax.random.key(1), 4000)


def messages(beacon):
    inputs = to_measure(CRUISING, 0)
    return jax.vmap(lambda key: beacon.step((), inputs, 0.05, key)[1])(KEYS)


def apart(measured, true):
    return [getattr(measured, axis) - getattr(true, axis) for axis in "xyz"]


@pytest.mark.slow
def test_beacon_without_deviations_transmits_the_truth():
    beacon = Beacon(0.0, 0.0, 0.0)
    measured = messages(beacon)
    np.testing.assert_allclose(measured.position_world_m.x, PARTNER.center_world_m.x, atol=1e-12)
    np.testing.assert_allclose(
        measured.velocity_world_mps.z, PARTNER.velocity_world_mps.z, atol=1e-12
    )
    yaw_rad = PARTNER.q_world_from_deck.to_euler().yaw_rad
    np.testing.assert_allclose(measured.yaw_rad, yaw_rad, atol=1e-12)


@pytest.mark.slow
def test_errors_have_their_deviations_and_zero_mean():
    beacon = Beacon(0.03, 0.05, 0.02)
    measured, true = messages(beacon), beacon.ideal(to_measure(CRUISING, 0))
    errors = {
        0.03: apart(measured.position_world_m, true.position_world_m),
        0.05: apart(measured.velocity_world_mps, true.velocity_world_mps),
        0.02: [measured.yaw_rad - true.yaw_rad],
    }
    for deviation, found in errors.items():
        for error in found:
            # of 4000 messages the mean is known to 1.6 % of the deviation, that itself to 1.1 %
            assert abs(np.mean(error)) < 0.065 * deviation
            assert abs(np.std(error) / deviation - 1.0) < 0.045


def test_yaw_stays_within_half_a_turn():
    assert np.abs(messages(Beacon(yaw_deviation_rad=3.0)).yaw_rad).max() <= np.pi
