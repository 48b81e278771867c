"""Comparing controllers: which are put where, that each gets the same, and what is refused."""

import json
from io import StringIO
from math import inf

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from rich.console import Console

import kittiwake as kw
from kittiwake.analysis.comparison_metrics import OF_STEP, SHOWN, Spread, summaries
from kittiwake.analysis.comparison_table import comparison_pages
from kittiwake.analysis.plots.comparison import draw_comparison
from kittiwake.cli.comparison_table import comparison_tables
from kittiwake.control.euler_attitude import EulerAttitude
from kittiwake.core.commands import PositionYaw
from kittiwake.core.errors import KittiwakeError, LogError, ScenarioError
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.runtime.comparison_flights import compare
from kittiwake.scenario.variants import noise_items, variants

# in the air feet change nothing but the time to compile
SCENARIO = """
name: hops
time: {rate_hz: 100, duration_s: 3}
seed: 7
vehicles:
  tern:
    model: rigid-body
    parameters: {landing_gear: null}
    start: {position_world_m: [0, 0, 5]}
    controller: {type: position, natural_frequency_radps: 2.0}
    guidance: {type: hold, position_world_m: [0.5, 0, 5.5]}
"""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    file = tmp_path_factory.mktemp("compared") / "hops.yaml"
    file.write_text(SCENARIO)
    return str(file)


@pytest.fixture(scope="module")
def trials(scenario):
    noise = {"position_m": 0.01}
    return compare(scenario, ["position", "euler-attitude"], seeds=2, noise=noise)


@pytest.mark.slow
def test_each_controller_is_flown_with_each_seed_from_the_scenarios_on(trials):
    flown = [(trial.controllers, trial.seed) for trial in trials]
    assert flown == [(name, seed) for name in ("position", "euler-attitude") for seed in (7, 8)]
    assert {trial.status for trial in trials} == {"completed"}


@pytest.mark.slow
def test_seeds_differ_by_the_noise_and_controllers_meet_the_same_noise(trials):
    said = {
        (trial.controllers, trial.seed): trial.table.part(("estimate.x_m",))[0, 0]
        for trial in trials
    }
    assert said["position", 7] == said["euler-attitude", 7] != said["position", 8]


def test_the_scenarios_controllers_and_gains_are_kept_if_they_fit(scenario):
    vehicle = variants(scenario, ["euler-attitude"])["euler-attitude"].vehicles["tern"]
    levels = [level.component for level in vehicle.cascade]
    path = cascade_path(levels, PositionYaw, vehicle.dynamics.command_type)
    position, _, attitude = (levels[i] for i in path)
    assert position.natural_frequency_radps == 2.0
    assert type(attitude) is EulerAttitude


@pytest.mark.slow
def test_without_noise_the_scenarios_estimator_is_kept(scenario):
    (trial,) = compare(scenario, ["position"], overrides=["time.duration_s=0.1"])
    np.testing.assert_array_equal(trial.table.part(("estimate.x_m",)), trial.table.part(("x_m",)))


@pytest.mark.slow
def test_overrides_are_a_mapping_or_a_list(scenario):
    flown = [
        compare(scenario, ["position"], overrides=given)[0].table.values.shape
        for given in ({"time.duration_s": 0.1}, ["time.duration_s=0.1"])
    ]
    assert flown[0] == flown[1]


@pytest.mark.slow
def test_overrides_change_what_is_fixed_in_flight(scenario):
    overrides = {"time.duration_s": 0.1, "time.rate_hz": 200}
    (trial,) = compare(kw.Scenario.load(scenario), ["position"], overrides=overrides)
    assert len(trial.table.values) == 21


def test_commands_without_a_range_have_an_effort_but_no_bound(trials):
    assert all(0.0 < trial.response.effort_percent < 100.0 for trial in trials)
    assert {trial.response.saturated_percent for trial in trials} == {None}


@pytest.mark.parametrize(
    ("controller", "said"),
    [
        ("kemperr", "Did you mean 'kemper'?"),
        (
            "rates",
            "does not use rates, which leads from ThrustRates to ThrustTorque, in its cascade from",
        ),
        ("rates", "missing that leads from PositionYaw to ThrustRates: write attitude-rates+rates"),
        ("vessel-position", "no controller that leads from HeadingSpeed to ThrustTorque"),
        ("lee+position", "compare them with ',' instead of '+'"),
        ("lee: {mass_kg: 2}", "gains cannot be given here"),
        ("vessel-position", "vessel-position"),
        ("position+mixer", "mixer"),
    ],
)
def test_a_controller_that_cannot_fly_the_vehicle_is_refused_by_name(controller, said, scenario):
    with pytest.raises(KittiwakeError) as refused:
        compare(scenario, [controller])
    assert said in str(refused.value)
    assert controller.split("+")[-1] in str(refused.value)


def test_noise_that_was_not_given_is_zero(scenario):
    base = kw.Scenario.load(scenario)
    (item,) = noise_items(base, ["attitude_deg=1"])
    path, _, estimator = item.partition("=")
    assert path == "vehicles.tern.estimator"
    assert json.loads(estimator) == {"type": "noisy-truth", "attitude_deg": 1.0} | dict.fromkeys(
        ("position_m", "velocity_mps", "rate_radps"), 0.0
    )


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        (["position_m"], "write KEY=VALUE"),
        (["position_m=-1"], "must be at least 0"),
        (["positoin_m=1"], "Did you mean 'position_m'?"),
        (["position_m=a"], "must be a number"),
        (["attitude_rad=1", "attitude_deg=2"], "attitude_rad is given twice"),
        ({"position_m": "far"}, "must be a number"),
    ],
)
def test_invalid_noise_is_refused_with_its_text(noise, said, scenario):
    with pytest.raises(ScenarioError) as refused:
        compare(scenario, ["position"], noise=noise)
    assert str(refused.value).startswith("--noise ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"controllers": "position,lee"}, '["position", "lee"]'),
        ({"overrides": "time.duration_s=8"}, '{"time.duration_s": 20}'),
        ({"noise": "position_m=1"}, '{"position_m": 0.1}'),
    ],
)
def test_a_string_in_place_of_a_list_is_refused_with_an_example(given, said, scenario):
    with pytest.raises(ScenarioError) as refused:
        compare(scenario, **({"controllers": ["position"]} | given))
    assert said in str(refused.value)


class Spring:
    """A damped spring that takes positions alone."""

    def update(self, t_s, setpoint, estimate):
        error = setpoint.position_world_m - estimate.position_world_m
        return kw.AccelerationYaw(error * 2.0 - 2.0 * estimate.velocity_world_mps, 0.0)


def step(t_s, setpoint, estimate):
    del t_s, setpoint, estimate


@pytest.fixture(scope="module")
def own_scenario():
    vehicle = kw.Vehicle(model="hummingbird", controllers=[Spring()])
    return kw.Scenario(vehicles={"h": vehicle}, rate_hz=500, duration_s=0.1)


def test_a_controller_of_ones_own_is_compared_on_the_scenario_that_it_flies(own_scenario):
    compared = variants(own_scenario, {"mine": Spring(), "lee": kw.control.Lee()})
    cascades = {
        name: [type(level.component).__name__ for level in one.vehicles["h"].cascade]
        for name, one in compared.items()
    }
    assert cascades["mine"][0] == "Spring"
    assert cascades["lee"][0] == "Lee"
    assert "Spring" not in cascades["lee"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"controllers": [kw.control.Lee(), Spring(), "position"]},
            "`controllers`: objects need names: {'lee': kw.control.Lee(...), "
            "'spring': Spring(...), 'position': 'position'}",
        ),
        ({"controllers": ["mine.py"]}, "mine.py: write mine.py:CLASS, such as mine.py:MyPD"),
        ({"controllers": {"mine": Spring}}, "got the class Spring; write an object of it"),
        ({"controllers": {"mine": step}}, "step has no update(t_s, setpoint, estimate)"),
        ({"controllers": {"vessel": "vessel-position"}}, "leads from HeadingSpeed to RotorSpeeds"),
        (
            {"controllers": ["lee"], "overrides": {"time.duraion_s": 1}},
            "overrides={'time.duraion_s': ...}: time.duraion_s: there is no such key",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words_of_python(given, said, own_scenario):
    with pytest.raises(ScenarioError) as refused:
        compare(own_scenario, **given)
    assert said in str(refused.value)
    assert "--set" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (kw.control.Position(natural_frequency_radps=-1.0), "is not allowed; must be above 0"),
        (kw.control.Position(rate_hz=333.0), "333"),
        ({"type": "position", "natural_frequenzy_radps": 3.0}, "'natural_frequency_radps'"),
    ],
)
def test_an_invalid_controller_is_not_replaced_by_the_default_of_its_type(given, said):
    scenario = kw.Scenario(vehicles={"h": kw.Vehicle(model="hummingbird")}, duration_s=1.0)
    with pytest.raises(ScenarioError, match=said):
        variants(scenario, {"mine": given})


@pytest.mark.slow
def test_a_flight_that_ends_on_its_back_is_not_completed():
    scenario = kw.Scenario(
        vehicles={
            "h": kw.Vehicle(
                model="hummingbird",
                start=kw.Start(position_world_m=[0, 0, 0.5], roll_rad=3.1),
                computation_delay_s=0.3,
            )
        },
        rate_hz=500,
        duration_s=1.0,
    )
    compared = compare(scenario, ["position"])
    (trial,) = compared
    assert trial.status.startswith("turned over at 0.")
    assert trial.status in str(compared)


class Stuck(Spring):
    """A spring that fails on purpose."""

    def update(self, t_s, setpoint, estimate):
        if t_s > 0.05:
            message = "the valve is <stuck>"
            raise RuntimeError(message)
        return super().update(t_s, setpoint, estimate)


@pytest.mark.slow
def test_a_failed_flight_has_its_reason_below_the_table_and_no_metrics(own_scenario):
    compared = compare(own_scenario, {"mine": Spring(), "stuck": Stuck()})
    reason = "stuck, seed 0: Stuck of 'h' at 0.052 s: RuntimeError: the valve is <stuck> (test_comp"
    assert str(compared).splitlines()[-1].startswith(reason)
    assert "the valve is &lt;stuck&gt;" in compared._repr_html_()
    flown, failed = summaries(compared)
    assert flown["tracking_rms_m"] is not None
    assert failed["tracking_rms_m"] is None
    assert failed["completed"] == 0
    log = kw.Simulation(variants(own_scenario, {"stuck": Stuck()})["stuck"]).run()
    assert "failed: Stuck of 'h' at 0.052 s: RuntimeError" in repr(log)


def test_a_comparison_is_a_sequence_of_its_trials(trials):
    assert len(trials) == 4
    assert trials[0] is next(iter(trials))
    assert list(trials[1:]) == list(trials)[1:]
    assert repr(trials) == "<Comparison of position, euler-attitude: 4 trials>"


def test_a_comparison_is_printed_as_the_command_prints_it(trials, monkeypatch):
    for width in (80, 50):
        monkeypatch.setenv("COLUMNS", str(width))
        out = StringIO()
        Console(file=out, width=width).print(*comparison_tables(summaries(trials), width))
        assert [line.rstrip() for line in out.getvalue().splitlines()] == f"{trials}\n".splitlines()


def test_a_frame_has_the_metrics_of_each_trial_with_units(trials):
    frame = trials.frame()
    assert list(frame["seed"]) == [7, 8, 7, 8]
    assert {"rise_time_s", "overshoot_percent", "tracking_rms_m", "roughness_deg"} <= {*frame}
    assert frame["tracking_rms_m"][0] == trials[0].response.tracking_rms_m


@pytest.mark.slow
def test_a_plot_is_the_picture_of_the_command(trials):
    drawn = trials.plot()._repr_png_()
    assert drawn == trials.plot("tern")._repr_png_() == draw_comparison(trials)._repr_png_()
    with pytest.raises(LogError, match="no vehicle 'tren'. Did you mean 'tern'"):
        trials.plot("tren")


def test_a_notebook_shows_a_column_for_each_controller(trials):
    html = DisplayFormatter().format(trials)[0]["text/html"]
    for text in ("tern", "position", "euler-attitude", "tracking error, RMS (m)", "2 of 2"):
        assert f">{text}<" in html or f" {text}<" in html


@pytest.mark.parametrize(("known", "lines"), [("rise_time_s", 3), ("tracking_rms_m", 1)])
def test_a_step_that_does_not_settle_has_a_dash_and_no_step_has_no_line(known, lines):
    row = {"controllers": "lee", "vehicle": "h", "flights": 1, "completed": 1}
    (page,) = comparison_pages([row | dict.fromkeys(SHOWN) | {known: Spread(1.0, 0.0, 1)}], inf)
    assert len(page.lines) == lines + 1  # and how many were completed
    assert ((SHOWN["settling_time_s"], "-") in page.lines) == (known in OF_STEP)
