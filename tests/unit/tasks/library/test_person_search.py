"""Search of persons: lanes, evidence of candidates in images, and stops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.sensors.person_camera import PersonCamera, PersonsMeasurement
from kittiwake.sensors.ranging_pose import mounted_pose
from kittiwake.tasks.library.person_search import (
    DESCEND_EVIDENCE,
    LANE_SPACING_M,
    LANES,
    SWEEP_M,
    SearchBeliefs,
    lanes,
)
from kittiwake.world.world import FlightArea

AREA = FlightArea((-120.0, 120.0), (-120.0, 120.0), (0.0, 80.0))
LOW, HIGH = np.array([-90.0, -90.0]), np.array([90.0, 90.0])
CAMERA = PersonCamera()
after = jax.jit(lambda beliefs, estimates, seen: beliefs.update(estimates, seen, 0.0, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("start", [(0.0, 0.0), (60.0, -20.0), (-85.0, 88.0), (110.0, 3.0)])
def test_lanes_are_parallel_and_in_the_rectangle(start):
    corners = np.asarray(lanes(jnp.asarray(start), jnp.asarray(LOW), jnp.asarray(HIGH)))
    assert corners.shape == (2 * LANES, 2)
    assert (corners >= LOW - 1e-9).all()
    assert (corners <= HIGH + 1e-9).all()
    np.testing.assert_allclose(corners[0], np.clip(start, LOW, HIGH), atol=1e-9)
    ways = corners[1::2] - corners[0::2]
    long = np.abs(ways).max(axis=1) > 1e-6
    # at 45 degrees, there and back in turn
    np.testing.assert_allclose(np.abs(ways[:, 0]), np.abs(ways[:, 1]), atol=1e-9)
    along = np.sign(ways[long][0])
    across = corners[0::2][long] @ [along[1], -along[0]] / np.sqrt(2.0)
    np.testing.assert_allclose(np.abs(np.diff(across)), LANE_SPACING_M, atol=1e-9)
    assert (np.sign(ways[long][:-1]) == -np.sign(ways[long][1:])).all()


def searching(*places):
    """Return estimates of searchers that hover at these positions, and their initial beliefs."""
    estimates = jax.tree.map(lambda *own: jnp.stack(own), *[scenes.motion(p) for p in places])
    return estimates, SearchBeliefs.initial(CAMERA, estimates, AREA)


def images(estimates, person, evidence, others=-4.0):
    """Return an image of each searcher with evidence for the cells at a position."""

    def of(estimate):
        seen = CAMERA.patches(mounted_pose(estimate, CAMERA.mount), 0.0)
        away = jnp.maximum(jnp.abs(seen.x_world_m - person[0]), jnp.abs(seen.y_world_m - person[1]))
        evidence_of_cells = jnp.where(away < 0.6, evidence, others)
        return PersonsMeasurement(evidence_of_cells, seen.x_world_m, seen.y_world_m, seen.valid)

    return jax.jit(jax.vmap(of))(estimates)


def velocity_of(beliefs, estimates, number=0):
    place = estimates.position_world_m
    here = jnp.stack([place.x, place.y, place.z], axis=-1)
    return np.asarray(beliefs.velocity_world_mps(number, here, 0.0))


@pytest.mark.slow
def test_evidence_accumulates_until_a_searcher_descends():
    estimates, beliefs = searching((0.0, 0.0, SWEEP_M))
    assert velocity_of(beliefs, estimates)[2] == pytest.approx(0.0, abs=1e-9)
    sums = []
    for _ in range(3):
        beliefs = after(beliefs, estimates, images(estimates, (3.0, 2.0), 4.0))
        sums.append(float(beliefs.evidence.max()))
    assert sums[0] == 4.0
    assert sums[1] <= DESCEND_EVIDENCE < sums[2]
    x, y, z = velocity_of(beliefs, estimates)
    assert z == -3.0
    # towards it, as far as a cell tells where it is
    assert (x, y) == pytest.approx((0.45 * 3.0, 0.45 * 2.0), abs=0.45 * 0.6)


@pytest.mark.slow
def test_negative_evidence_removes_a_candidate():
    estimates, beliefs = searching((0.0, 0.0, SWEEP_M))
    beliefs = after(beliefs, estimates, images(estimates, (3.0, 2.0), 4.0))
    assert jnp.isfinite(beliefs.evidence).any()
    beliefs = after(beliefs, estimates, images(estimates, (99.0, 99.0), 4.0))
    assert not jnp.isfinite(beliefs.evidence).any()


def test_searcher_continues_after_a_stop_and_does_not_return():
    estimates, beliefs = searching((0.0, 0.0, SWEEP_M))
    for _ in range(3):
        beliefs = after(beliefs, estimates, images(estimates, (0.2, 0.2), 4.0))
    low, _ = searching((0.0, 0.0, 3.0))
    none = images(low, (99.0, 99.0), 0.0, 0.0)
    for _ in range(2):
        beliefs = after(beliefs, low, none)
        # it stands, but for what the vertical loop still has to forget
        assert np.abs(velocity_of(beliefs, low)).max() < 0.2
    beliefs = after(beliefs, low, none)
    assert int(beliefs.stops) == 1
    assert velocity_of(beliefs, low)[2] > 1.0
    again = after(beliefs, estimates, images(estimates, (0.2, 0.2), 4.0))
    assert not jnp.isfinite(again.evidence).any()


@pytest.mark.slow
def test_nearest_searcher_takes_a_candidate_and_the_other_continues():
    estimates, beliefs = searching((0.0, 0.0, SWEEP_M), (40.0, 0.0, SWEEP_M + 3.0))
    for _ in range(3):
        beliefs = after(beliefs, estimates, images(estimates, (3.0, 2.0), 4.0))
    assert velocity_of(beliefs, estimates, 0)[2] < -2.0
    assert velocity_of(beliefs, estimates, 1)[2] == pytest.approx(0.0, abs=1e-6)
