"""The output-error method on a linear problem, whose solution is known."""

import numpy as np
import pytest

from kittiwake.runtime.identification.measured import MeasuredQuantity
from kittiwake.runtime.identification.output_error import FleetAt, OutputError, estimate
from kittiwake.runtime.identification.windows import FlownWindow, MeasuredStart, Window
from kittiwake.sim.structure import Numbers

TRUE = np.array([0.7, -0.2])
SAMPLES, COUNT, NOISE = 60, 12, 0.05
FREE = (np.full(2, -np.inf), np.full(2, np.inf))


class LinearFlights:
    """Windows that follow y = A p + B s, with starts s of their own."""

    def __init__(self, seed=0, *, blind=False):
        rng = np.random.default_rng(seed)
        self.by_parameter = rng.normal(size=(COUNT, SAMPLES, 2))
        self.by_start = rng.normal(size=(COUNT, SAMPLES, 3))
        if blind:
            self.by_parameter[:, :, 1] = self.by_parameter[:, :, 0]
        starts = rng.normal(size=(COUNT, 3))
        self.measured = np.stack(
            [
                a @ TRUE + b @ s + NOISE * rng.normal(size=SAMPLES)
                for a, b, s in zip(self.by_parameter, self.by_start, starts, strict=True)
            ]
        )

    def windows(self):
        times_s = np.linspace(0.0, 1.0, SAMPLES)
        return [
            Window(float(k), (MeasuredQuantity(("y",), ("y",), times_s, own[:, None]),))
            for k, own in enumerate(self.measured)
        ]

    def fly(self, window, start, numbers, slopes):
        k = int(window.begin_s)
        simulated = self.by_parameter[k] @ numbers.packed + self.by_start[k] @ start
        return FlownWindow(
            simulated - self.measured[k], self.by_start[k], self.by_parameter[k] @ slopes.T
        )


def problem_of(flights):
    def fleet_at(point):
        return FleetAt(Numbers(point, ()), np.eye(2), {})

    starts = [MeasuredStart(np.zeros(3), np.full(3, np.inf)) for _ in range(COUNT)]
    return OutputError(flights, flights.windows(), starts, fleet_at, {"y": 1.0}, lambda _: None)


def joint_solution(flights):
    """Least squares over parameters and all starts together."""
    matrix = np.zeros((COUNT * SAMPLES, 2 + 3 * COUNT))
    for k in range(COUNT):
        rows = slice(k * SAMPLES, (k + 1) * SAMPLES)
        matrix[rows, :2] = flights.by_parameter[k]
        matrix[rows, 2 + 3 * k : 5 + 3 * k] = flights.by_start[k]
    solution, squares, *_ = np.linalg.lstsq(matrix, flights.measured.ravel(), rcond=None)
    variance = squares[0] / (matrix.shape[0] - matrix.shape[1])
    return solution[:2], variance * np.linalg.inv(matrix.T @ matrix)[:2, :2]


def test_parameters_and_covariance_are_those_of_the_joint_problem():
    flights = LinearFlights()
    found = estimate(problem_of(flights), np.zeros(2), FREE, {"y": 1.0}, 20)
    point, covariance = joint_solution(flights)
    np.testing.assert_allclose(found.point, point, rtol=1e-6)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-5)
    assert found.noise["y"] == pytest.approx(NOISE, rel=0.1)


@pytest.mark.slow
def test_deviations_cover_the_truth():
    scores = []
    for seed in range(60):
        found = estimate(problem_of(LinearFlights(seed)), np.zeros(2), FREE, {"y": 1.0}, 20)
        scores.append((found.point - TRUE) / np.sqrt(np.diag(found.covariance)))
    inside = np.mean(np.abs(scores) < 2.0)
    assert 0.88 <= inside <= 0.99
    assert np.std(scores) == pytest.approx(1.0, abs=0.2)


def test_windows_give_a_similar_covariance_for_white_noise():
    flights = LinearFlights(3)
    found = estimate(problem_of(flights), np.zeros(2), FREE, {"y": 1.0}, 20)
    ratio = np.sqrt(np.diag(found.window_covariance) / np.diag(found.covariance))
    assert (ratio > 0.4).all()
    assert (ratio < 2.0).all()


def test_parameters_that_the_log_cannot_tell_apart_have_infinite_deviations():
    found = estimate(problem_of(LinearFlights(blind=True)), np.zeros(2), FREE, {"y": 1.0}, 20)
    assert np.isinf(np.diag(found.covariance)).all()
    assert found.point.sum() == pytest.approx(TRUE.sum(), abs=0.05)


def test_limits_hold():
    limits = (np.array([-1.0, -0.1]), np.array([0.5, 1.0]))
    found = estimate(problem_of(LinearFlights()), np.zeros(2), limits, {"y": 1.0}, 20)
    assert found.point[0] == pytest.approx(0.5, abs=1e-3)
    assert found.point[1] == pytest.approx(-0.1, abs=1e-3)


def test_a_quantity_without_noise_keeps_a_finite_weight():
    flights = LinearFlights()
    flights.measured = np.stack([a @ TRUE for a in flights.by_parameter])
    found = estimate(problem_of(flights), np.zeros(2), FREE, {"y": 1.0}, 20)
    np.testing.assert_allclose(found.point, TRUE, atol=1e-9)
    assert found.noise["y"] > 0.0
