from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.core.measurements import AnchorMeasurement
from kittiwake.estimation.anchor_ekf import AnchorEkf
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.scenario.load import load_scenario
from kittiwake.sensors.anchor_ranging import AnchorRanging

KEY = jax.random.key(2)
ANCHORS = AnchorRanging().anchors_world_m
FILTER = AnchorEkf(anchors_world_m=ANCHORS)
START = Start(Vec3(2.0, 1.0, 3.0), yaw_rad=0.4, velocity_world_mps=Vec3(1.0, -2.0, 0.5))
DT_S = 0.01
MOVED = "vehicles.ar-drone.estimator.anchors_world_m"


def initialized(estimator=FILTER):
    return as_arrays(estimator.init(as_arrays(START.kinematics()), KEY))


def told(range_m, anchor, *, fresh=True, valid=True):
    said = AnchorMeasurement(jnp.asarray(range_m), jnp.asarray(anchor), jnp.asarray(valid))
    truth = as_arrays(START.kinematics())
    return EstimatorInputs(truth, {"anchor-ranging": said}, {"anchor-ranging": jnp.asarray(fresh)})


def after(steps, estimator=FILTER):
    """The last state and estimate."""
    state, estimate = initialized(estimator), None
    for inputs in steps:
        state, estimate = estimator.step(state, inputs, DT_S, KEY)
    return state, estimate


def second_order(x, p, range_m, anchor, variance):
    """The update by a range as in books, with sums over the parts of the curvature."""
    away = x[:3] - np.asarray(ANCHORS[anchor].array)
    d = np.linalg.norm(away)
    h = np.concatenate([away / d, np.zeros(3)])
    curve = np.zeros((6, 6))
    curve[:3, :3] = (np.eye(3) - np.outer(away, away) / d**2) / d
    expected = d + 0.5 * np.sum(curve * p)
    spread = h @ p @ h + variance + 0.5 * np.sum((curve @ p) * (curve @ p).T)
    gain = p @ h / spread
    return x + gain * (range_m - expected), p - np.outer(gain, gain) * spread


@pytest.mark.slow
def test_two_steps_are_those_of_a_filter_from_the_books():
    state = initialized()
    x, p = np.asarray(state.motion), np.asarray(state.covariance)
    x, p = second_order(x, p, 3.2, 0, 0.0577**2)
    f = np.eye(6) + DT_S * np.eye(6, k=3)
    q = 25.0 / 16.0 / 3.0
    # an acceleration that is white for a step, by its integrals
    ways = [np.array([(DT_S - u), 1.0]) for u in (np.arange(2000) + 0.5) * DT_S / 2000]
    noise = q * sum(np.outer(way, way) for way in ways) * DT_S / 2000
    x, p = f @ x, f @ p @ f.T + np.kron(noise, np.eye(3))
    x, p = second_order(x, p, 2.9, 7, 0.0577**2)
    found, _ = after([told(3.2, 0), told(2.9, 7)])
    # the integral above is good to the square of 1 / 2000
    np.testing.assert_allclose(found.motion, x, rtol=1e-6)
    np.testing.assert_allclose(found.covariance, p, rtol=1e-5, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("no_range", [{"fresh": False}, {"valid": False}])
def test_no_range_leaves_the_velocity_and_lets_the_doubt_grow(no_range):
    first = initialized()
    state, estimate = after([told(100.0, 3, **no_range)] * 3)
    moved = np.asarray(first.motion[:3] + 2.0 * DT_S * first.motion[3:])
    np.testing.assert_allclose(np.asarray(estimate.position_world_m.array), moved, rtol=1e-12)
    np.testing.assert_array_equal(state.motion[3:], first.motion[3:])
    assert (np.diagonal(state.covariance) > np.diagonal(first.covariance)).all()


def test_outlier_is_rejected():
    calm, _ = after([told(3.2, 0, fresh=False)])
    state, _ = after([told(40.0, 0)])
    np.testing.assert_array_equal(state.motion, calm.motion)


def test_steps_in_between_do_not_change_the_doubt():
    fine, coarse = initialized(), initialized()
    for _ in range(5):
        fine, _ = FILTER.step(fine, told(0.0, 0, fresh=False), DT_S, KEY)
    for dt_s in (DT_S, 4.0 * DT_S):
        coarse, _ = FILTER.step(coarse, told(0.0, 0, fresh=False), dt_s, KEY)
    # sums of powers of the steps
    np.testing.assert_allclose(fine.covariance, coarse.covariance, rtol=1e-12, atol=1e-18)


def test_all_but_place_and_velocity_is_the_other_estimators():
    _, estimate = after([told(3.2, 0)])
    assert float(estimate.euler_world_from_body.yaw_rad) == pytest.approx(0.4)
    turned = estimate.q_world_from_body.rotate(estimate.velocity_body_mps)
    # a rotation forth and back
    np.testing.assert_allclose(
        np.asarray(turned.array), np.asarray(estimate.velocity_world_mps.array), rtol=1e-12
    )


def test_uncertainty_is_that_of_place_and_velocity_alone():
    state = initialized()
    said = FILTER.uncertainty(state).covariance
    np.testing.assert_array_equal(said[:6, :6], state.covariance)
    assert not said[6:].any()
    assert not said[:, 6:].any()


@pytest.mark.slow
def test_slopes_are_finite_on_an_anchor():
    state = initialized()
    there = replace(state, motion=state.motion.at[:3].set(jnp.asarray(ANCHORS[0].array)))
    slope = jax.grad(
        lambda motion: FILTER.step(replace(there, motion=motion), told(0.1, 0), DT_S, KEY)[
            0
        ].motion.sum()
    )(there.motion)
    assert np.isfinite(slope).all()


def test_anchors_are_where_the_sensor_has_them_unless_others_are_given():
    flown = load_scenario("anchors").vehicles["ar-drone"]
    there = flown.sensors["anchor-ranging"].component.sensor.anchors_world_m
    assert flown.estimator.component.anchors_world_m == there
    others = [f"{MOVED}={[[i, 0, 1] for i in range(8)]}"]
    wrong = load_scenario("anchors", others).vehicles["ar-drone"].estimator.component
    assert wrong.anchors_world_m[3] == Vec3(3.0, 0.0, 1.0)


def test_other_number_of_anchors_is_refused():
    few = [f"{MOVED}=[[0, 0, 0], [1, 0, 0]]"]
    with pytest.raises(ScenarioError, match="anchors_world_m: got 2 positions.* the sensor .* 8"):
        load_scenario("anchors", few)


def test_vehicle_without_ranges_is_refused_with_what_to_write():
    with pytest.raises(ScenarioError, match="write anchor-ranging: anchor-ranging under sensors"):
        AnchorEkf().check({})
