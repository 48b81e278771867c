"""Tuning: better flights, also with other seeds, by values within their limits."""

import json
import sys

import numpy as np
import pytest
import yaml

import kittiwake as kw
from kittiwake.core.errors import LogError, MissingExtraError, ScenarioError
from kittiwake.runtime.tuning.least_squares import TrackingErrors, tracked_vehicles
from kittiwake.runtime.tuning.objective import scores, value_of
from kittiwake.runtime.tuning.search_space import SearchSpace
from kittiwake.scenario.free_values import free_values, left_out, parse_free, present_values

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


@pytest.mark.slow
def test_the_gradient_makes_flights_better_also_with_other_seeds(tuned):
    assert tuned.method == "gradient"
    for before, after in (tuned.seeds, tuned.unseen):
        assert after.value < 0.6 * before.value
        assert after.failures == 0
    assert tuned.seeds[0].flights == 2
    assert tuned.unseen[0].flights == 3
    slope, quotient = tuned.gradient
    assert quotient == pytest.approx(slope, rel=0.05)
    assert 1 < len(tuned.evaluations) <= 8
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
    with pytest.raises(LogError, match="is not empty: it holds scenario.yaml, tuned.yaml"):
        kw.tune("eight-ar-drone", TWO, overrides=SLACK, out=tuned.folder)


@pytest.mark.slow
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


def test_a_value_that_begins_at_zero_does_not_belong_to_the_structure():
    scenario = kw.load("hover-hummingbird").scenario
    key = "vehicles.hummingbird.parameters.rotor.min_speed_radps"
    space = SearchSpace(scenario, free_values(scenario, {key: (0.0, 100.0)}))
    programs = [space.simulation(np.array([at])).program for at in (0.0, 0.3)]
    assert programs[0].fits(programs[1].fleet)
    assert len(programs[0].numbers.packed) == len(programs[1].numbers.packed)
    assert space.number_slopes(space.start, 0).max() == pytest.approx(100.0)


@pytest.mark.slow
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


@pytest.mark.slow
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
        (
            {f"{LOOPS}.velocity.proportional": (30, 40)},
            {},
            "not between 30 and 40; give limits around it, or begin elsewhere, --set",
        ),
        ({f"{LOOPS}.*.gain": None}, {}, "frees no number. Did you mean"),
        ({f"{DRONE}.kontroller.*": None}, {}, r"Did you mean 'vehicles.ar-drone.controller.\*'"),
        ({f"{LOOPS}.velocity.integral*": None}, {}, "frees no number. .* is 0, which gives no"),
        ({f"{DRONE}.start.position_world_m.5": (0, 1)}, {}, "there is no number. Did you mean"),
        ({f"{DRONE}.start.yaw_deg": (0, 9), f"{DRONE}.start.yaw_rad": (0, 1)}, {}, "free twice"),
        (
            {f"{DRONE}.start.yaw_deg": (0, 9)},
            {"overrides": {f"randomize.{DRONE}.start.yaw_deg": {"uniform": [0, 9]}}},
            "yaw_deg: is drawn from each seed",
        ),
        *(
            ({f"{LOOPS}.velocity.proportional": wrong}, {}, "must be two finite numbers, such as")
            for wrong in ((0.5, 1, 2), 1.0, ("a", "b"), (0.5, None), (1, np.inf))
        ),
        ("vehicles.*", {}, "`free`: got 'vehicles.*'; must be several keys"),
        ([5], {}, "`free`: got 5; must be text"),
        (TWO, {"overrides": ["a=1"]}, "`overrides`: got .*; must be a mapping"),
        (TWO, {"maximize": "yes"}, "`maximize`: got 'yes'; must be True or False"),
        ({}, {}, "nothing is free"),
        (TWO, {"objective": "ar-drone.distance"}, "no summary has 'ar-drone.distance'"),
        (TWO, {"objective": "ar-drone.distance_m", "method": "gradient"}, "write cma-es"),
        (TWO, {"method": ["gradient"]}, "`method`: got .*; must be text"),
        (TWO, {"method": "newton"}, "allowed: gradient, cma-es"),
        (TWO, {"seeds": 0}, "must be a whole number that is at least 1"),
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
    for wrong in ("a=", "=1:2", "a=1", "a=1:2:3", "a=1:inf"):
        with pytest.raises(ScenarioError, match="KEY=low:high, with two finite numbers"):
            parse_free([wrong])


def test_each_number_is_free_once_in_the_unit_in_which_it_is_written():
    scenario = kw.Scenario.load("hover-pelican")
    (yaw,) = free_values(scenario, {"vehicles.pelican.guidance.yaw_*": None})
    assert (yaw.path, yaw.start) == ("vehicles.pelican.guidance.yaw_deg", 30.0)
    (yaw,) = free_values(scenario, {"vehicles.pelican.guidance.yaw_rad": None})
    assert yaw.start == pytest.approx(np.radians(30.0))


def test_asterisks_leave_out_zeros_whole_numbers_and_draws():
    mass = "vehicles.otter.parameters.mass_kg"
    turned = {f"randomize.{mass}": {"uniform": [60, 70]}}
    scenario = kw.Scenario.load("cruise-otter", turned)
    given = {"vehicles.otter.parameters.*": None}
    found, reasons = free_values(scenario, given), left_out(scenario, given)
    assert reasons["vehicles.otter.parameters.cross_flow.strips"] == "is a whole number"
    assert reasons["vehicles.otter.parameters.payload_kg"].startswith("is 0, which gives no scale")
    assert reasons[mass] == "is drawn from each seed"
    assert not {one.path for one in found} & {*reasons}
    payload = "vehicles.otter.parameters.payload_kg"
    assert payload not in left_out(scenario, given | {payload: (0, 5)})
    fleet = kw.Scenario.load("hover-pelican", {"vehicles.pelican.count": 2})
    assert left_out(fleet, {"vehicles.pelican.c*": None})["vehicles.pelican.count"]


SHORT_HOVER = {"overrides": {"time.duration_s": 1}, "seeds": 1, "unseen": 1}
BRIEF = {**SHORT_HOVER, "overrides": {"time.duration_s": 0.1}}
HOVER = "vehicles.pelican.controller"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "limits"), [("natural_frequency_radps", (1.5, 4)), ("integral_gain_per_s2", (0, 2))]
)
def test_the_gradient_leaves_a_start_that_is_a_limit(tmp_path, key, limits):
    free = {f"{HOVER}.{key}": limits}
    result = kw.tune("hover-pelican", free, evaluations=4, out=tmp_path / "t", **SHORT_HOVER)
    assert result.method == "gradient"
    assert result.before[0] == limits[0]
    assert result.after[0] > 1.05 * limits[0]
    assert result.seeds[1].value < result.seeds[0].value


def test_slopes_at_a_limit_are_one_sided():
    scenario = kw.Scenario.load("hover-pelican", SHORT_HOVER["overrides"])
    key = f"{HOVER}.integral_gain_per_s2"
    spaces = [SearchSpace(scenario, free_values(scenario, {key: (low, 2)})) for low in (0, -2)]
    one_sided = spaces[0].number_slopes(spaces[0].start, 0)
    assert np.abs(one_sided).max() == pytest.approx(2.0, rel=1e-6)


@pytest.mark.slow
def test_a_number_without_effect_has_no_gradient(tmp_path):
    free = {"vehicles.pelican.parameters.max_yaw_rad": None}
    with pytest.raises(ScenarioError, match="no effect on the tracking errors; write cma-es"):
        kw.tune("hover-pelican", free, method="gradient", out=tmp_path / "t", **SHORT_HOVER)


@pytest.mark.slow
@pytest.mark.parametrize("evaluations", [1, 3, 6])
def test_no_more_candidates_are_flown_than_requested(tmp_path, evaluations):
    free = {f"{HOVER}.damping_ratio": (0.3, 2)}
    given = {"method": "cma-es", "evaluations": evaluations, "out": tmp_path / "t"}
    result = kw.tune("hover-pelican", free, **given, **BRIEF)
    assert len(result.evaluations) == evaluations


def test_values_without_an_effect_stay_as_they_are(tmp_path):
    free = {f"{HOVER}.damping_ratio": (0.3, 2)}
    given = {"objective": "steps", "evaluations": 4, "out": tmp_path / "t"}
    result = kw.tune("hover-pelican", free, **given, **BRIEF)
    assert result.after == result.before


@pytest.mark.slow
def test_overrides_change_what_is_fixed_in_flight(tmp_path):
    overrides = {**BRIEF["overrides"], "time.rate_hz": 200}
    given = {"method": "cma-es", "evaluations": 1, "out": tmp_path / "t"}
    result = kw.tune(
        "hover-pelican", [f"{HOVER}.damping_ratio"], **given, **BRIEF | {"overrides": overrides}
    )
    assert result.tuned.rate_hz == 200


def test_without_a_setpoint_of_position_there_is_no_tracking_error():
    simulation = kw.Simulation(kw.Scenario.load("formation"))
    assert tracked_vehicles(simulation, "tracking_rms_m") is None


def test_numbers_of_many_vehicles_and_of_controllers_in_a_list_are_free():
    many = kw.Scenario.load("hover-pelican", {"vehicles.pelican.count": 10})
    assert present_values(many)["vehicles.pelican.parameters.mass_kg"] > 0.0
    listed = kw.Scenario.load("circle")
    space = SearchSpace(listed, free_values(listed, {"vehicles.*.controller.*": None}))
    changed = space.changed(np.full(len(space.free), 0.01))
    for one in space.free:
        assert present_values(changed)[one.path] == pytest.approx(one.start * np.exp(0.01))


def test_a_vehicle_that_is_lost_at_the_start_has_no_derivative(tmp_path):
    overrides = {
        **BRIEF["overrides"],
        "world.area": {"x_m": [-2, 2], "y_m": [-2, 2], "z_m": [0, 20]},
        "vehicles.pelican.start.velocity_world_mps": [90, 0, 0],
    }
    given = {"method": "gradient", "out": tmp_path / "t"}
    with pytest.raises(ScenarioError, match="a vehicle is lost with the present values"):
        kw.tune(
            "hover-pelican", [f"{HOVER}.damping_ratio"], **given, **BRIEF | {"overrides": overrides}
        )


@pytest.mark.slow
def test_refused_candidates_are_counted_with_their_reason(tmp_path):
    free = {f"{HOVER}.damping_ratio": (-20, 2)}
    result = kw.tune(
        "hover-pelican", free, method="cma-es", evaluations=8, out=tmp_path / "t", **SHORT_HOVER
    )
    assert 0 < len(result.refusals) < len(result.evaluations) == 8
    assert "damping_ratio" in result.refusals[0]
    figures = json.loads((result.folder / "tuning.json").read_text())
    assert figures["refused"] == len(result.refusals)


def test_without_cmaes_the_error_says_why_it_is_needed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cmaes", None)
    given = {"objective": "pelican.max_tilt_rad", "out": tmp_path / "t", **SHORT_HOVER}
    words = "by cma-es, since only tracking errors .* have a derivative; this needs cmaes. Install"
    with pytest.raises(MissingExtraError, match=words):
        kw.tune("hover-pelican", [f"{HOVER}.damping_ratio"], **given)
