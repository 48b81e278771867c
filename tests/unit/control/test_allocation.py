"""Control allocation: exact if feasible, by priorities if not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from kittiwake.control.allocation import allocate, allocation_rows, effectiveness
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.vec3 import Vec3

KAPPA_M = 0.02
MAX_N = 5.0


def ring(number, *, stretched=1.0, first_rad=0.3):
    """Return rotors on an ellipse with alternating spins."""
    angles = first_rad + 2.0 * np.pi * np.arange(number) / number
    hubs = tuple(Vec3(stretched * 0.3 * np.cos(a), 0.3 * np.sin(a), 0.01) for a in angles)
    return hubs, (1.0, -1.0) * (number // 2)


RINGS = {number: ring(number) for number in (4, 6, 8)}
ROWS = {number: allocation_rows(*rotors, KAPPA_M) for number, rotors in RINGS.items()}
MATRICES = {number: effectiveness(*rotors, KAPPA_M) for number, rotors in RINGS.items()}
ALLOCATE = {
    number: jax.jit(lambda wrench, rows=rows: jnp.stack(shared(rows, wrench)))
    for number, rows in ROWS.items()
}
numbers = st.sampled_from(sorted(RINGS))
wrenches = st.tuples(
    st.floats(-10.0, 60.0), st.floats(-6.0, 6.0), st.floats(-6.0, 6.0), st.floats(-1.0, 1.0)
)


def shared(rows, wrench):
    return allocate(rows, wrench[0], Vec3(*wrench[1:]), MAX_N)


def given_wrench(number, wrench):
    return MATRICES[number] @ np.asarray(ALLOCATE[number](jnp.asarray(wrench)))


@pytest.mark.slow
@settings(deadline=None)
@given(numbers, st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4))
def test_a_feasible_wrench_is_allocated_exactly(number, shares):
    # of the thrusts of B^+, which span what it can give, those in the middle of the range
    wanted = MATRICES[number] @ np.full(number, 0.5 * MAX_N)
    wanted[1:] += (np.array(shares[1:]) - 0.5) * np.array([0.8, 0.8, 0.06])
    thrusts = np.linalg.pinv(MATRICES[number]) @ wanted
    assert thrusts.min() > 0.0
    assert thrusts.max() < MAX_N
    np.testing.assert_allclose(ALLOCATE[number](jnp.asarray(wanted)), thrusts, atol=1e-12)
    np.testing.assert_allclose(given_wrench(number, wanted), wanted, atol=1e-12)


@settings(deadline=None)
@given(numbers, wrenches)
def test_rotors_stay_in_their_range_and_the_torque_keeps_its_side(number, wrench):
    thrusts = np.asarray(ALLOCATE[number](jnp.asarray(wrench)))
    assert (thrusts >= 0.0).all()
    assert (thrusts <= MAX_N).all()
    found = MATRICES[number] @ thrusts
    wanted = np.array(wrench)
    tilt, given_tilt = wanted[1:3], found[1:3]
    # shortened, not turned
    assert tilt[0] * given_tilt[1] - tilt[1] * given_tilt[0] == pytest.approx(0.0, abs=1e-9)
    assert tilt @ given_tilt >= -1e-12
    assert np.linalg.norm(given_tilt) <= np.linalg.norm(tilt) + 1e-12
    assert found[3] * wanted[3] >= -1e-12
    assert abs(found[3]) <= abs(wanted[3]) + 1e-12


@settings(deadline=None)
@given(numbers, wrenches)
def test_yaw_is_reduced_before_thrust_and_thrust_before_tilt(number, wrench):
    found, wanted = given_wrench(number, wrench), np.array(wrench)
    lost = np.abs(found - wanted) > 1e-9
    inside = np.linalg.pinv(MATRICES[number])[:, :3] @ wanted[:3]
    if inside.min() > 0.0 and inside.max() < MAX_N:
        assert not lost[:3].any()
    shape = np.linalg.pinv(MATRICES[number])[:, 1:3] @ wanted[1:3]
    if np.ptp(shape) < MAX_N:
        assert not lost[1:3].any()


@pytest.mark.slow
@settings(deadline=None)
@given(wrenches)
def test_with_four_rotors_no_linear_program_is_better(wrench):
    """Compare with three linear programs, each constrained by the optima of the previous ones."""
    matrix, wanted, found = MATRICES[4], np.array(wrench), given_wrench(4, wrench)
    share = best_tilt(matrix, wanted)
    np.testing.assert_allclose(found[1:3], share * wanted[1:3], atol=1e-7)
    thrust = nearest_thrust(matrix, wanted, share)
    assert found[0] == pytest.approx(thrust, abs=1e-6)


def test_with_more_rotors_the_loss_is_near_that_of_a_linear_program():
    rng = np.random.Generator(np.random.PCG64(3))
    ratios = {6: [], 8: []}
    for number, kept in ratios.items():
        for direction in rng.uniform(0.0, 2.0 * np.pi, 40):
            wanted = np.array([10.0, 9.0 * np.cos(direction), 9.0 * np.sin(direction), 0.0])
            found = np.linalg.norm(given_wrench(number, wanted)[1:3]) / 9.0
            kept.append(found / best_tilt(MATRICES[number], wanted))
    # on a ring of six B^+ tilts as hard as any thrusts do, on one of eight by a factor of
    # 2 sqrt(2) - 2 less: it leaves the rotors beside the axis half idle
    np.testing.assert_allclose(ratios[6], 1.0, atol=1e-6)
    np.testing.assert_allclose(ratios[8], 2.0 * np.sqrt(2.0) - 2.0, atol=1e-6)


def best_tilt(matrix, wanted):
    """Return the largest feasible fraction of the tilt torque."""
    number = matrix.shape[1]
    equal = np.column_stack([matrix[1:3], -wanted[1:3]])
    yaw = np.append(matrix[3], 0.0)
    found = linprog(
        np.append(np.zeros(number), -1.0),
        A_eq=np.vstack([equal, yaw]),
        b_eq=np.zeros(3),
        bounds=[(0.0, MAX_N)] * number + [(0.0, 1.0)],
    )
    return found.x[-1]


def nearest_thrust(matrix, wanted, share):
    """Return the thrust nearest to the command with this fraction of the tilt and no yaw."""
    number = matrix.shape[1]
    # the last variable is at least the distance
    distance = np.vstack([np.append(matrix[0], -1.0), np.append(-matrix[0], -1.0)])
    # what the first program has found to its tolerance
    goal = np.append(share * (1.0 - 1e-9) * wanted[1:3], 0.0)
    found = linprog(
        np.append(np.zeros(number), 1.0),
        A_ub=distance,
        b_ub=[wanted[0], -wanted[0]],
        A_eq=np.column_stack([matrix[1:], np.zeros(3)]),
        b_eq=goal,
        bounds=[(0.0, MAX_N)] * number + [(0.0, None)],
    )
    return matrix[0] @ found.x[:-1]


# without a compiled function, the first call of each operation compiles that
@pytest.mark.slow
@settings(deadline=None)
@given(wrenches)
def test_rotors_off_their_ring_stay_in_range_and_hold_the_tilt_that_the_law_promises(wrench):
    hubs = (Vec3(0.3, 0.1, 0.0), Vec3(0.1, -0.3, 0.0), Vec3(-0.25, 0.0, 0.0), Vec3(0.0, 0.2, 0.0))
    rows = allocation_rows(hubs, (1.0, -1.0, 1.0, -1.0), KAPPA_M)
    matrix = effectiveness(hubs, (1.0, -1.0, 1.0, -1.0), KAPPA_M)
    thrusts = np.array(shared(rows, wrench))
    assert (thrusts >= 0.0).all()
    assert (thrusts <= MAX_N).all()
    found, wanted = matrix @ thrusts, np.array(wrench)
    assert found[1] * wanted[2] - found[2] * wanted[1] == pytest.approx(0.0, abs=1e-9)


def test_tilted_rotors_are_allocated_by_their_axes():
    hubs, spins = RINGS[6]
    lean = 0.2
    axes = tuple(
        Vec3(-lean * spin * hub.y / 0.3, lean * spin * hub.x / 0.3, 1.0) / np.hypot(1.0, lean)
        for hub, spin in zip(hubs, spins, strict=True)
    )
    matrix = effectiveness(hubs, spins, KAPPA_M, axes)
    rows = allocation_rows(hubs, spins, KAPPA_M, axes)
    np.testing.assert_allclose(matrix @ np.array(rows), np.eye(4), atol=1e-12)
    # what pushes sideways at the arm's end turns the body as the rotor turns, against its drag
    turning = (0.3 * lean - KAPPA_M) / np.hypot(1.0, lean)
    np.testing.assert_allclose(matrix[3], turning * np.array(spins), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted(RINGS))
@pytest.mark.parametrize("size", [0.0, 1.0, 1e6, -1e6])
def test_derivatives_are_finite_within_and_beyond_the_range(number, size):
    wrench = jnp.array([10.0, 0.3, -0.2, 0.05]) * size
    slopes = jax.jacrev(ALLOCATE[number])(wrench)
    assert np.isfinite(slopes).all()
    assert np.isfinite(ALLOCATE[number](wrench)).all()


def test_rotors_that_cannot_give_every_torque_are_rejected():
    hubs, _ = RINGS[4]
    with pytest.raises(ScenarioError, match="let opposite rotors turn the same way"):
        allocation_rows(hubs, (1.0, 1.0, 1.0, 1.0), 0.0)


def test_rotors_beside_the_center_of_mass_are_rejected():
    hubs, spins = RINGS[4]
    beside = tuple(hub + Vec3(1.0, 0.0, 0.0) for hub in hubs)
    with pytest.raises(ScenarioError, match="put the center of mass between them"):
        allocation_rows(beside, spins, KAPPA_M)
