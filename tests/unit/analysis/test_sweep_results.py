"""Rates of success, causes of failures and worst runs of a table of runs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kittiwake.analysis.plots.style import PAPER
from kittiwake.analysis.plots.sweep import draw_sweep
from kittiwake.analysis.sweep_results import SweepResults, wilson
from kittiwake.core.errors import LogError, ScenarioError

TABLE = pd.DataFrame(
    {
        "run": range(6),
        "seed": [0, 1, 2] * 2,
        "world.wind.from_deg": [0.0] * 3 + [90.0] * 3,
        "status": ["completed", "failed", "completed", "completed", "failed", "completed"],
        "reason": [None, "drone lost: z_m at 3.2 s", None, None, "drone lost: z_m at 4.7 s", None],
        "drone.tracking_rms_m": [0.1, 0.5, 0.4, 0.2, None, 0.3],
        "drone.touchdown.offset_m": [0.3, None, 0.1, 0.2, None, None],
    }
)


@pytest.fixture
def results(tmp_path):
    return SweepResults(tmp_path, {"world.wind.from_deg": [0.0, 90.0]}, TABLE)


# by hand, from p and z = 1.959964
@pytest.mark.parametrize(
    ("successes", "runs", "low", "high"),
    [(0, 10, 0.0, 0.277533), (10, 10, 0.722467, 1.0), (1, 10, 0.017876, 0.404150), (0, 0, 0, 1)],
)
def test_intervals_are_those_of_the_score_test(successes, runs, low, high):
    rate = wilson(successes, runs)
    np.testing.assert_allclose((rate.low, rate.high), (low, high), atol=2e-6)


def test_success_is_completion_and_a_condition(results):
    assert results.success().successes == 4
    assert results.succeeded("drone.touchdown.offset_m <= 0.2").tolist() == [
        *(False, False, True, True, False, False)
    ]
    assert results.success("drone.touchdown.offset_m > 5").share == 0.0


def test_a_run_in_which_a_vehicle_turned_over_is_no_success_by_itself(tmp_path):
    table = TABLE.assign(**{"turned_over_s.drone": [None, 2.7, None, None, None, 0.0]})
    overturned = SweepResults(tmp_path, {"world.wind.from_deg": [0.0, 90.0]}, table)
    assert overturned.succeeded().tolist() == [True, False, True, True, False, False]
    assert overturned.failures()["completed, but turned over"] == 1
    assert overturned.success("drone.tracking_rms_m <= 0.3").successes == 3


def test_worst_runs_are_failures_and_then_the_largest_values(results):
    assert results.worst(3)["run"].tolist() == [4, 1, 2]
    condition = "drone.touchdown.offset_m <= 0.2"
    assert results.worst(4, condition=condition)["run"].tolist() == [1, 4, 5, 0]
    assert results.worst(1, by="seed")["run"].tolist() == [1]


@pytest.mark.parametrize(
    ("condition", "order"),
    [
        ("x >= 1", [1, 0, 2, 3]),
        ("x > 1", [1, 0, 2, 3]),
        ("x <= 2.5", [3, 2, 0, 1]),
        ("x == 2", [1, 3, 0, 2]),
    ],
)
def test_worst_runs_meet_a_condition_by_the_least(tmp_path, condition, order):
    table = pd.DataFrame({"run": range(4), "seed": 0, "status": "completed", "reason": None})
    results = SweepResults(tmp_path, {}, table.assign(x=[0.9, 0.1, 2.0, 3.5]))
    assert results.worst(4, condition=condition)["run"].tolist() == order


def test_runs_without_a_value_have_no_influence(tmp_path):
    table = pd.DataFrame(
        {
            "run": range(100),
            "seed": 0,
            "status": ["completed"] * 60 + ["refused"] * 40,
            "reason": None,
            "vehicles.a.yaw_deg": [*np.linspace(0, 90, 60), *[np.nan] * 40],
            "vehicles.a.mass_kg": [1.0] * 60 + [np.nan] * 40,
        }
    )
    results = SweepResults(tmp_path, {}, table)
    assert results.influences() == {"vehicles.a.yaw_deg": 0.0}
    assert sum(rate.runs for rate in results.rates("vehicles.a.yaw_deg").values()) == 60
    few = SweepResults(tmp_path, {}, table[50:70])
    assert len(few.plot().axes) == 2


def test_compared_controllers_have_rates_and_a_panel(tmp_path):
    table = TABLE.copy()
    table.insert(2, "controllers", ["lee", "lee", "lee", "position", "position", None])
    results = SweepResults(tmp_path, {}, table)
    rates = results.rates("controllers")
    assert {name: rate[:2] for name, rate in rates.items()} == {"lee": (2, 3), "position": (1, 2)}
    assert {*results.influences()} == {"controllers", "world.wind.from_deg"}
    panels = {ax.get_xlabel(): ax for ax in results.plot().axes[:2]}
    labels = [text.get_text() for text in panels["Controllers"].get_xticklabels()]
    assert labels == ["lee", "position"]


def test_causes_are_counted_without_their_numbers(results):
    assert results.failures() == {"failed: drone lost: z_m at … s": 2}


def test_causes_keep_what_belongs_to_names_and_refusals(tmp_path):
    reasons = ["drone2 lost: gravity_mps2 at 3.2 s", "a.gravity_mps2: -5 is not allowed"]
    table = TABLE[:2].assign(status=["failed", "refused"], reason=reasons)
    assert [*SweepResults(tmp_path, {}, table).failures()] == [
        "failed: drone2 lost: gravity_mps2 at … s",
        "refused: a.gravity_mps2: -5 is not allowed",
    ]


def test_worst_runs_are_a_positive_number(results):
    with pytest.raises(ScenarioError, match="`count`: got -1; must be a whole number"):
        results.worst(-1)


def test_varied_columns_are_found(results):
    assert results.varied() == ["world.wind.from_deg"]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("touchdown <= 1", "there is no column 'touchdown'"),
        ("drone.touchdown.offset_m", "write a column, a comparison and a number"),
        ("drone.touchdown.offset_m <= much", "write a column, a comparison and a number"),
    ],
)
def test_other_conditions_are_refused(results, condition, message):
    with pytest.raises(LogError, match=message):
        results.success(condition)


@pytest.mark.parametrize("condition", [None, "drone.touchdown.offset_m <= 0.2"])
def test_the_page_of_a_sweep_is_drawn(results, condition):
    page = results.plot(condition)
    assert "succeeded" in page.get_suptitle()
    labels = [ax.get_xlabel() for ax in page.axes]
    assert labels[0] == "wind: from [deg]"


def test_results_are_drawn_where_success_tells_nothing(tmp_path):
    table = TABLE.assign(status="completed")
    page = SweepResults(tmp_path, {"world.wind.from_deg": [0.0, 90.0]}, table).plot()
    (rates, histogram) = page.axes
    assert rates.get_ylabel() == histogram.get_xlabel() == "drone: tracking rms [m]"
    np.testing.assert_allclose(rates.lines[0].get_ydata(), [0.4, 0.25])
    assert histogram.get_legend() is None


def test_a_page_for_a_paper_is_a_column_without_a_title(results):
    page = draw_sweep(results, style=PAPER)
    assert page.get_suptitle() == ""
    lefts = {round(ax.get_position().x0, 3) for ax in page.axes}
    assert len(lefts) == 1


def test_a_page_without_any_result_is_drawn(tmp_path):
    empty = TABLE.assign(**{"drone.tracking_rms_m": np.nan, "status": "refused"})
    page = SweepResults(Path(tmp_path), {}, empty).plot()
    assert "0.0% succeeded" in page.get_suptitle()


def test_the_number_that_matters_comes_first(tmp_path):
    draws = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "run": range(2000),
            "seed": range(2000),
            "vehicles.a.idle": draws.uniform(size=2000),
            "vehicles.a.decisive": draws.uniform(size=2000),
            "vehicles.a.half": draws.uniform(size=2000),
        }
    )
    good = table["vehicles.a.decisive"] + 0.4 * table["vehicles.a.half"] < 0.7
    table["status"] = np.where(good, "completed", "failed")
    table["reason"] = None
    results = SweepResults(tmp_path, {}, table)
    influences = results.influences()
    assert [*influences] == ["vehicles.a.decisive", "vehicles.a.half", "vehicles.a.idle"]
    assert 0.6 < influences["vehicles.a.decisive"] < 1.0
    # without an effect nothing but chance is left
    assert influences["vehicles.a.idle"] < 0.01
    # the map is that of the first two
    labels = [ax.get_xlabel() for ax in results.plot().axes]
    assert labels[:4] == ["a: decisive", "a: half", "a: idle", "a: decisive"]
    assert set(results.influences("vehicles.a.idle >= 0").values()) == set(influences.values())
    always = SweepResults(tmp_path, {}, table.assign(status="completed"))
    assert set(always.influences().values()) == {0.0}
