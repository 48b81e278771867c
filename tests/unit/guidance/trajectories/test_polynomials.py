"""Splines of least snap, jerk and acceleration, against closed forms and a quadratic program."""

from math import perm

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import solve
from scipy.optimize import LinearConstraint, minimize

from kittiwake.guidance.trajectories.polynomials import DERIVATIVE, Pieces, spline
from kittiwake.guidance.trajectories.time_allocation import (
    allocated_times,
    best_shares,
    cost_and_slopes,
    leg_times,
    peaks,
)

CLOSED_FORMS = {
    "minimum-snap": lambda s: 35 * s**4 - 84 * s**5 + 70 * s**6 - 20 * s**7,
    "minimum-jerk": lambda s: 10 * s**3 - 15 * s**4 + 6 * s**5,
    "cubic-spline": lambda s: 3 * s**2 - 2 * s**3,
}
TIMES_S = np.array([0.0, 1.3, 2.1, 4.0, 5.2])
PLACES = np.array([[0, 0, 1], [2, 1, 3], [3, -1, 2], [6, 0, 2.5], [5, 4, 1]], float)
shapes = pytest.mark.parametrize("shape", DERIVATIVE)


def power_rows(s, derivative, powers):
    """Of one polynomial, what its coefficients are multiplied by for a derivative at s."""
    return np.array([perm(p, derivative) * s ** max(p - derivative, 0) for p in range(powers)])


def program(times_s, values, m):
    """The cost's matrix and the constraints on the coefficients by time, written out anew."""
    powers, pieces = 2 * m, len(times_s) - 1
    lengths = np.diff(times_s)
    cost = np.zeros((powers * pieces, powers * pieces))
    rows, right = [], []

    def on(piece, row):
        full = np.zeros(powers * pieces)
        full[piece * powers : (piece + 1) * powers] = row
        return full

    for k, length in enumerate(lengths):
        block = slice(k * powers, (k + 1) * powers)
        for i in range(m, powers):
            for j in range(m, powers):
                both = i + j - 2 * m + 1
                cost[block, block][i, j] = perm(i, m) * perm(j, m) * length**both / both
        rows += [on(k, power_rows(0.0, 0, powers)), on(k, power_rows(length, 0, powers))]
        right += [values[k], values[k + 1]]
    for n in range(1, m):
        rows += [
            on(0, power_rows(0.0, n, powers)),
            on(pieces - 1, power_rows(lengths[-1], n, powers)),
        ]
        right += [0.0, 0.0]
        # free at the places between, and the same on both sides; the rest is up to the optimum
        for k in range(pieces - 1):
            rows.append(
                on(k, power_rows(lengths[k], n, powers)) - on(k + 1, power_rows(0.0, n, powers))
            )
            right.append(0.0)
    return cost, np.array(rows), np.array(right)


@shapes
@pytest.mark.parametrize("duration_s", [1e-2, 1.0, 3.7, 1e4])
def test_one_piece_from_rest_to_rest_is_the_closed_form(shape, duration_s):
    piece = spline(np.array([0.0, duration_s]), np.array([[1.0], [4.0]]), shape)
    s = np.linspace(0.0, 1.0, 50)
    expected = 1.0 + 3.0 * CLOSED_FORMS[shape](s)
    np.testing.assert_allclose(piece.sampled(s, 0)[0, :, 0], expected, rtol=0, atol=1e-9)


@shapes
def test_pieces_through_waypoints_solve_the_quadratic_program(shape):
    m = DERIVATIVE[shape]
    found = spline(TIMES_S, PLACES, shape)
    by_time = found.coefficients / np.diff(TIMES_S)[:, None, None] ** np.arange(2 * m)[:, None]
    for axis in range(3):
        cost, rows, right = program(TIMES_S, PLACES[:, axis], m)
        count = len(rows)
        # Karush, Kuhn, Tucker: the optimum of a convex program under equalities
        matrix = np.block([[2.0 * cost, rows.T], [rows, np.zeros((count, count))]])
        solution = solve(matrix, np.concatenate([np.zeros(len(cost)), right]))[: len(cost)]
        np.testing.assert_allclose(by_time[:, :, axis].ravel(), solution, rtol=0, atol=1e-6)


def test_a_general_solver_finds_no_lower_cost():
    m = DERIVATIVE["minimum-jerk"]
    cost, rows, right = program(TIMES_S, PLACES[:, 0], m)
    along_x = PLACES * [1.0, 0.0, 0.0]
    least = cost_and_slopes(np.diff(TIMES_S), along_x, "minimum-jerk")[0]
    found = minimize(
        lambda c: c @ cost @ c,
        np.zeros(len(cost)),
        jac=lambda c: 2.0 * cost @ c,
        constraints=LinearConstraint(rows, right, right),
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    # of a solver that stops at its own tolerance
    assert found.fun == pytest.approx(least, rel=1e-5)


@shapes
def test_derivatives_are_continuous_up_to_two_m_less_two(shape):
    m = DERIVATIVE[shape]
    pieces = spline(TIMES_S, PLACES, shape)
    ends = np.array([0.0, 1.0])
    for n in range(2 * m - 1):
        values = pieces.sampled(ends, n)
        scale = np.abs(values).max()
        np.testing.assert_allclose(values[:-1, 1], values[1:, 0], rtol=0, atol=1e-10 * scale)
        if 0 < n < m:
            at_rest = np.stack([values[0, 0], values[-1, 1]])
            np.testing.assert_allclose(at_rest, 0.0, atol=1e-10 * scale)


@pytest.mark.slow
@shapes
def test_setpoints_are_the_planned_ones_with_true_derivatives(shape):
    pieces = spline(TIMES_S, PLACES, shape)
    times_s = np.array([0.1, 1.29, 1.31, 3.0, 5.1])
    flown = jax.jit(jax.vmap(lambda t: pieces.at(t, 3)))(times_s)
    for n, values in enumerate(flown):
        np.testing.assert_allclose(values, pieces.along(times_s, n), rtol=1e-12, atol=1e-12)
    slopes = jax.vmap(jax.jacfwd(lambda t: pieces.at(t, 2)))(times_s)
    for slope, value in zip(slopes, flown[1:], strict=True):
        np.testing.assert_allclose(slope, value, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("time_s", [-3.0, -1e7, 5.2, 1e7])
def test_position_is_at_rest_before_and_after(time_s):
    place, *rates = spline(TIMES_S, PLACES, "cubic-spline").at(jnp.asarray(time_s), 3)
    np.testing.assert_allclose(place, PLACES[0 if time_s < 0.0 else -1], atol=1e-12)
    assert not any(np.any(rate) for rate in rates)


@pytest.mark.slow
def test_single_precision_holds_a_long_trajectory():
    times_s = np.arange(40.0) * 25.0
    places = np.stack([np.sin(times_s), np.cos(times_s), 0.01 * times_s], axis=1) * 20.0
    exact = spline(times_s, places)
    with jax.enable_x64(False):
        rounded = Pieces(
            exact.times_s.astype(np.float32), exact.coefficients.astype(np.float32)
        ).at(jnp.float32(733.25), 2)
    for n, value in enumerate(rounded):
        expected = exact.along(np.array([733.25]), n)[0]
        # 24 bits of 40 m, and of the time within a piece
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-4)


@shapes
def test_cost_gradient_matches_finite_differences(shape):
    durations = np.diff(TIMES_S)
    _, slopes = cost_and_slopes(durations, PLACES, shape)
    step = 1e-5
    for leg, slope in enumerate(slopes):
        one, other = (
            cost_and_slopes(durations + side * step * np.eye(4)[leg], PLACES, shape)[0]
            for side in (1.0, -1.0)
        )
        # second order in the step, of a function that falls like the seventh power
        assert (one - other) / (2.0 * step) == pytest.approx(slope, rel=1e-6)


@shapes
def test_no_other_time_shares_cost_less(shape):
    lengths = np.linalg.norm(np.diff(PLACES, axis=0), axis=1)
    first = leg_times(lengths, 3.0, 2.0)
    best = best_shares(first, PLACES, shape)
    assert best.sum() == pytest.approx(first.sum())
    least = cost_and_slopes(best, PLACES, shape)[0]
    assert least < cost_and_slopes(first, PLACES, shape)[0]
    for one in range(4):
        moved = best * (1.0 + 0.03 * np.eye(4)[one])
        assert cost_and_slopes(moved * best.sum() / moved.sum(), PLACES, shape)[0] > least


@pytest.mark.slow
@shapes
@pytest.mark.parametrize("limits", [(3.0, 100.0), (100.0, 2.0), (2.0, 1.0)])
def test_limits_hold_and_one_of_them_is_reached(shape, limits):
    times_s = allocated_times(PLACES, shape, *limits)
    curve = spline(times_s, PLACES, shape)
    fine = np.linspace(0.0, times_s[-1], 100_003)
    speed, acceleration = (np.linalg.norm(curve.along(fine, n), axis=1).max() for n in (1, 2))
    assert speed <= limits[0]
    assert acceleration <= limits[1]
    assert max(speed / limits[0], acceleration / limits[1]) > 0.999
    assert peaks(curve) == pytest.approx((speed, acceleration), rel=1e-4)


def test_legs_have_trapezoidal_speed_profiles():
    # speeding up to 2 m/s and braking takes 4 m and 4 s at 1 m/s^2
    times_s = leg_times(np.array([1.0, 4.0, 10.0]), 2.0, 1.0)
    np.testing.assert_allclose(times_s, [2.0, 4.0, 4.0 + 6.0 / 2.0], rtol=1e-12)


def test_quadratic_program_of_this_test_matches_the_closed_form():
    cost, _, _ = program(np.array([0.0, 1.0]), np.zeros(2), 2)
    coefficients = np.array([0.0, 0.0, 3.0, -2.0])
    # the integral of (6 - 12 s)^2
    assert coefficients @ cost @ coefficients == pytest.approx(12.0)
