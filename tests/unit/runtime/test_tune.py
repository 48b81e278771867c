"""Tuning: better flights, also with other seeds, by values within their limits."""

import json

import numpy as np
import pytest
import yaml

import kittiwake as kw
from kittiwake.core.errors import LogError, ScenarioError
from kittiwake.runtime.tuning.least_squares import TrackingErrors
from kittiwake.runtime.tuning.objective import scores, value_of
from kittiwake.runtime.tuning.search_space import SearchSpace
from kittiwake.scenario.free_values import free_values, parse_free, present_values

DRONE = "vehicles.ar-drone"
LOOPS = f"{DRONE}.controller"
SHORT = {"time.duration_s": 3}
# gains without which the drone lags far behind
SLACK = {**SHORT, f"{LOOPS}.velocity.proportional": 6.0, f"{LOOPS}.position.proportional": 0.8}
TWO = {f"{LOOPS}.velocity.proportional": (2.0, 60.0), f"{LOOPS}.position.proportional": None}


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned") / "t"
    return kw.tune(
        "eight-ar-drone", TWO, overrides=SLACK, seeds=2, unseen=3, evaluations=8, out=folder
    )


def test_the_gradient_makes_flights_better_also_with_other_seeds(tuned):
    assert tuned.method == "gradient"
    for before, after in (tuned.seeds, tuned.unseen):
        assert after.value < 0.6 * before.value
        assert after.failures == 0
    assert tuned.seeds[0].flights == 2
    assert tuned.unseen[0].flights == 3
    slope, quotient = tuned.gradient
    assert quotient == pytest.approx(slope, rel=0.05)
    assert 1 < len(tuned.evaluations) <= 9
    assert 2.0 <= tuned.values[f"{LOOPS}.velocity.proportional"] <= 60.0


def test_the_files_hold_the_tuned_scenario(tuned):
    fragment = yaml.safe_load((tuned.folder / "tuned.yaml").read_text())
    controller = fragment["vehicles"]["ar-drone"]["controller"]
    assert controller["type"] == "uav-usv-cascade"
    assert controller["position"]["proportional"] == tuned.values[f"{LOOPS}.position.proportional"]
    # the written scenario flies as the score says
    logs = [kw.load(tuned.folder / "scenario.yaml").run(seed=seed) for seed in range(2)]
    values = [value_of(log, "tracking_rms_m") for log in logs]
    assert np.mean(values) == tuned.seeds[1].value
    figures = json.loads((tuned.folder / "tuning.json").read_text())
    assert figures["after"] == tuned.values
    assert figures["unseen"][1]["value"] == tuned.unseen[1].value
    assert (tuned.folder / "tuning.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(LogError, match="another tuning"):
        kw.tune("eight-ar-drone", TWO, overrides=SLACK, out=tuned.folder)


def test_residuals_have_the_slope_of_differences_and_the_norm_of_the_objective():
    scenario = kw.Scenario.load("eight-ar-drone", SLACK)
    space = SearchSpace(scenario, free_values(scenario, TWO))
    errors = TrackingErrors(space, [0, 1], ["ar-drone"])
    at = np.array([0.1, -0.2])
    (score,) = scores([space.simulation(at)], [0, 1], "ar-drone.tracking_rms_m")
    # the objective is the mean of the roots, the residuals have the root of the mean
    assert np.linalg.norm(errors.residuals(at)) == pytest.approx(score.value, rel=0.02)
    slopes, step = errors.jacobian(at), 1e-5
    for place, axis in enumerate(np.eye(2)):
        ends = [errors.residuals(at + side * step * axis) for side in (-1.0, 1.0)]
        quotient = (ends[1] - ends[0]) / (2.0 * step)
        np.testing.assert_allclose(slopes[:, place], quotient, atol=1e-4 * np.abs(quotient).max())


def test_evolution_finds_what_has_no_derivative_and_repeats_itself(tmp_path):
    # the larger the eight, the longer the way
    free = {f"{DRONE}.guidance.amplitude_world_m.0": (1.0, 4.0)}
    given = {"overrides": {"time.duration_s": 1}, "seeds": 1, "unseen": 1, "evaluations": 20}
    results = [
        kw.tune(
            "eight-ar-drone",
            free,
            objective="ar-drone.distance_m",
            maximize=True,
            out=tmp_path / name,
            **given,
        )
        for name in ("one", "two")
    ]
    assert results[0].method == "cma-es"
    assert "only tracking errors" in results[0].reason
    assert results[0].values == results[1].values
    assert results[0].values[f"{DRONE}.guidance.amplitude_world_m.0"] > 3.7
    assert results[0].seeds[1].value > results[0].seeds[0].value


def test_failures_are_worse_than_any_error(tmp_path):
    # beyond a small start the drone is outside the flight area
    free = {f"{DRONE}.start.position_world_m.0": (0.0, 30.0)}
    overrides = {
        "time.duration_s": 0.5,
        "lost_vehicle": "fail",
        f"{DRONE}.start.position_world_m": [2, 0, 6],
    }
    result = kw.tune(
        "eight-ar-drone",
        free,
        objective="ar-drone.distance_m",
        maximize=True,
        overrides=overrides,
        seeds=1,
        unseen=1,
        evaluations=24,
        out=tmp_path / "t",
    )
    assert any(not np.isfinite(one.objective) for one in result.evaluations)
    assert result.seeds[1].failures == 0
    assert result.after[0] < 10.0


@pytest.mark.parametrize(
    ("free", "others", "message"),
    [
        ({f"{LOOPS}.velocity.proportionals": None}, {}, "Did you mean .*velocity.proportional"),
        ({f"{LOOPS}.velocity.integral_per_s": None}, {}, "is 0, which gives no scale"),
        ({f"{LOOPS}.velocity.proportional": (3, 2)}, {}, "low must be less than high"),
        ({f"{LOOPS}.velocity.proportional": (30, 40)}, {}, "which is not between 30 and 40"),
        ({f"{LOOPS}.*.gain": None}, {}, "no number of the scenario other than zero"),
        ({}, {}, "nothing is free"),
        (TWO, {"objective": "ar-drone.distance"}, "no summary has 'ar-drone.distance'"),
        (TWO, {"objective": "ar-drone.distance_m", "method": "gradient"}, "write cma-es"),
        (TWO, {"method": "newton"}, "allowed: gradient, cma-es"),
        (TWO, {"seeds": 0}, "must be at least 1"),
    ],
)
def test_wrong_requests_are_refused(tmp_path, free, others, message):
    given = {"overrides": {"time.duration_s": 0.1}, "seeds": 1, "unseen": 1, **others}
    with pytest.raises(ScenarioError, match=message):
        kw.tune("eight-ar-drone", free, out=tmp_path / "t", **given)
    assert not (tmp_path / "t").exists()


def test_free_values_are_found_in_files_and_in_defaults():
    scenario = kw.Scenario.load("eight-ar-drone", {f"{DRONE}.start.yaw_deg": 30})
    present = present_values(scenario)
    assert present[f"{DRONE}.start.yaw_deg"] == 30.0
    assert present[f"{LOOPS}.height.initial"] == 65.7
    assert present[f"{LOOPS}.roll.proportional"] == 0.3217
    assert present[f"{DRONE}.guidance.center_world_m.2"] == 6.0
    assert present["world.wind.speed_at_6m_mps"] == 3.0
    found = free_values(scenario, {f"{LOOPS}.*.proportional": None})
    assert len(found) == 6
    # in another unit of the same number
    (rate,) = free_values(scenario, {f"{LOOPS}.roll.filter_degps": None})
    assert rate.start == pytest.approx(np.degrees(100.0))


def test_free_numbers_of_the_command_line():
    assert parse_free(["a.b", "c=1:2.5", " d = -1e-3:4"]) == {
        "a.b": None,
        "c": (1.0, 2.5),
        "d": (-1e-3, 4.0),
    }
    for wrong in ("a=", "=1:2", "a=1", "a=1:2:3"):
        with pytest.raises(ScenarioError, match="KEY=low:high"):
            parse_free([wrong])
