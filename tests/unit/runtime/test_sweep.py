"""Sweeps: each run once, the same whoever flies it, and flown again alone."""

import json
import os
import shutil
import signal
from concurrent.futures.process import BrokenProcessPool
from itertools import product

import numpy as np
import pandas as pd
import pytest
import yaml
from tests.selection import slow_besides

import kittiwake as kw
from kittiwake import simd
from kittiwake.analysis.plots.sweep_bands import draw_bands
from kittiwake.analysis.run_folder import locked
from kittiwake.core.errors import LogError, ScenarioError
from kittiwake.runtime import side_by_side
from kittiwake.runtime.sweeps import workers as sweep_workers
from kittiwake.runtime.sweeps.plan import SweepPlan, simulation_of
from kittiwake.runtime.sweeps.rows import require_columns
from kittiwake.runtime.sweeps.store import SweepStore

SHORT = {"time.duration_s": 0.2}
START = "vehicles.pelican.start.position_world_m"
MASS, YAW = "vehicles.pelican.parameters.mass_kg", "vehicles.pelican.start.yaw_deg"
WIND = {"world.wind": {"type": "shear", "speed_at_6m_mps": 1, "from_deg": 0}}
VARIED = {
    "world.wind.from_deg": [0, 90],
    START: {"uniform": [[-5, -5, 8], [5, 5, 12]]},
}

MINE = """
import kittiwake as kw

class Mine:
    def update(self, t_s, setpoint, estimate):
        return kw.ThrustTorque(7.0, kw.Vec3(0.0, 0.0, 0.0))
"""


def swept(folder, vary=None, **others):
    given = {"overrides": {**SHORT, **WIND}, "seeds": 3, **others}
    return kw.sweep("hover-pelican", vary or VARIED, out=folder, **given)


@pytest.mark.slow
def test_a_row_has_what_varied_what_was_drawn_and_the_summary(tmp_path):
    table = swept(tmp_path / "s").table
    assert table["run"].tolist() == [*range(6)]
    assert table["seed"].tolist() == [0, 1, 2] * 2
    assert table["world.wind.from_deg"].tolist() == [0] * 3 + [90] * 3
    heights = table[f"{START}.2"].to_numpy()
    # seeds are the same in each combination
    np.testing.assert_array_equal(heights[:3], heights[3:])
    assert len(set(heights)) == 3
    assert (table["status"] == "completed").all()
    assert (table["pelican.distance_m"] > 0.0).all()
    assert not {"wall_s", "compile_s", "realtime_factor"} & {*table.columns}


@pytest.mark.slow
def test_any_run_is_flown_again_alone_to_the_same_bits(tmp_path):
    results = swept(tmp_path / "s")
    plan = SweepPlan.read(results.folder)
    run = plan.run(4)
    log = simulation_of(results.folder, plan, run).run(seed=run.seed)
    row = results.table.iloc[4]
    assert row["pelican.distance_m"] == log.summary["vehicles"]["pelican"]["distance_m"]
    assert row[f"{START}.0"] == log.summary["drawn"][START][0]


@pytest.mark.slow
@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_runs_compile_once(tmp_path, monkeypatch, count):
    compiled = []
    for name in ("compile_jaxpr", "compile_hoisted"):
        own = getattr(simd, name)
        monkeypatch.setattr(
            simd, name, lambda *given, own=own, name=name: compiled.append(name) or own(*given)
        )
    vary = {"vehicles.pelican.parameters.mass_kg": {"uniform": [1.4, 1.9]}}
    swept(tmp_path / "s", vary, seeds=count, overrides={"time.duration_s": 0.02})
    # the step, the start and the limits, or less if another test has compiled them
    assert len(compiled) <= 3
    assert compiled.count("compile_hoisted") <= 1


@pytest.mark.parametrize("count", slow_besides([2], [2, 5]))
def test_the_rows_do_not_depend_on_the_workers(tmp_path, count):
    one, many = swept(tmp_path / "one"), swept(tmp_path / "many", workers=count)
    pd.testing.assert_frame_equal(one.table, many.table)


@pytest.mark.slow
def test_a_sweep_that_was_cut_off_flies_what_is_missing(tmp_path, monkeypatch):
    folder = tmp_path / "s"
    added = []

    def add_twice(self, rows, own=SweepStore.add):
        if len(added) == 2:
            raise KeyboardInterrupt
        added.extend(row["run"] for row in rows[:1])
        own(self, rows)

    monkeypatch.setattr(SweepStore, "add", add_twice)
    with pytest.raises(KeyboardInterrupt) as stopped:
        swept(folder)
    monkeypatch.undo()
    assert len(SweepStore(folder).flown()) == 2
    assert stopped.value.__notes__ == [
        f"2 of 6 runs are flown. To go on: kittiwake sweep --resume {folder}, in Python "
        f"kw.resume_sweep('{folder}', ...)"
    ]
    counted = []
    results = kw.resume_sweep(folder, progress=lambda flown, runs: counted.append((flown, runs)))
    assert counted[0] == (2, 6)
    assert counted[-1] == (6, 6)
    whole = swept(tmp_path / "whole")
    pd.testing.assert_frame_equal(results.table, whole.table)
    assert sorted(path.name for path in folder.glob("*.parquet")) == ["runs.parquet"]
    # a complete one stays as it is
    pd.testing.assert_frame_equal(kw.resume_sweep(folder).table, whole.table)


def end_worker_once(flights, part):
    """Fly a part; the first time the worker ends as if it was killed."""
    mark = flights.folder / "ended"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return flights.rows(part)


def end_worker_always(flights, part):
    """End the worker for one of the runs."""
    if 2 in part:
        os.kill(os.getpid(), signal.SIGKILL)
    return flights.rows(part)


@pytest.mark.slow
def test_runs_of_a_killed_worker_are_flown_again(tmp_path, monkeypatch):
    whole = swept(tmp_path / "whole")
    monkeypatch.setattr(sweep_workers, "_fly", end_worker_once)
    results = swept(tmp_path / "s", workers=2)
    assert (tmp_path / "s" / "ended").exists()
    pd.testing.assert_frame_equal(results.table, whole.table)


@pytest.mark.slow
def test_a_run_that_ends_its_worker_each_time_has_a_row_that_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_workers, "_fly", end_worker_always)
    results = swept(tmp_path / "s", workers=2)
    assert results.table["status"].tolist() == ["completed"] * 2 + ["lost"] + ["completed"] * 3
    assert "its worker ended 3 times" in results.table["reason"][2]
    # with what it draws, as the same seed in the other combination
    assert results.table[f"{START}.2"][2] == results.table[f"{START}.2"][5]


class EndingPool:
    """Pool of workers whose second part finds a worker ended while it is submitted."""

    ended = False

    def __init__(self, pool):
        self._pool, self._parts = pool, 0

    def submit(self, *given):
        self._parts += 1
        if self._parts == 2 and not EndingPool.ended:
            EndingPool.ended = True
            raise BrokenProcessPool
        return self._pool.submit(*given)

    def shutdown(self, **how):
        self._pool.shutdown(**how)


@pytest.mark.slow
def test_a_part_that_no_worker_takes_is_flown_by_others(tmp_path, monkeypatch):
    own = sweep_workers._pool
    monkeypatch.setattr(sweep_workers, "_pool", lambda workers: EndingPool(own(workers)))
    results = swept(tmp_path / "s", workers=2)
    assert EndingPool.ended
    assert results.table["run"].tolist() == [*range(6)]


def test_a_sweep_in_the_folder_of_another_flies_its_own_scenario(tmp_path):
    distances = []
    for speed in (2, 9):
        overrides = {**SHORT, "world.wind": {**WIND["world.wind"], "speed_at_6m_mps": speed}}
        results = swept(tmp_path / "s", {START: VARIED[START]}, seeds=1, overrides=overrides)
        distances.append(results.table["pelican.distance_m"][0])
        shutil.rmtree(tmp_path / "s")
    assert distances[0] != distances[1]


def test_each_log_of_flights_side_by_side_has_the_row_of_its_own_run(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_workers, "PARTS_PER_WORKER", 1)
    tiles = []
    own = side_by_side._fly_tile
    monkeypatch.setattr(
        side_by_side, "_fly_tile", lambda given: tiles.append(len(given)) or own(given)
    )
    results = swept(tmp_path / "s", seeds=8)
    assert tiles == [8, 8]
    plan = SweepPlan.read(results.folder)
    for number in (1, 6, 11):
        run = plan.run(number)
        log = simulation_of(results.folder, plan, run).run(seed=run.seed)
        distance_m = log.summary["vehicles"]["pelican"]["distance_m"]
        assert results.table["pelican.distance_m"][number] == distance_m


@pytest.mark.slow
def test_overrides_change_what_is_fixed_in_flight(tmp_path):
    overrides = {**SHORT, "time.rate_hz": 200, "vehicles.pelican.count": 2}
    for scenario in ("hover-pelican", kw.Scenario.load("hover-pelican")):
        results = kw.sweep(scenario, {}, overrides=overrides, out=tmp_path / "s")
        assert results.table["steps"].tolist() == [40]
        assert "pelican-2.distance_m" in results.table
        shutil.rmtree(tmp_path / "s")


def test_any_run_of_a_large_grid_is_found_at_once():
    grid = {name: [*range(9000)] for name in "abc"}
    plan = SweepPlan("large", 2 * 9000**3, 2, 5, grid)
    assert plan.run(plan.runs - 1) == (plan.runs - 1, 6, "", dict.fromkeys("abc", 8999))
    small = SweepPlan("small", 24, 2, 0, {"a": [1, 2, 3], "b": [4, 5]}, ("x", "y"))
    runs = [small.run(number) for number in range(24)]
    assert [(run.controllers, *run.values.values(), run.seed) for run in runs] == [
        *product("xy", [1, 2, 3], [4, 5], [0, 1])
    ]
    assert [*runs[0].values] == ["a", "b"]


def test_a_run_that_cannot_be_flown_has_its_reason_and_stops_nothing(tmp_path):
    results = swept(tmp_path / "s", {MASS: [-1.0, 1.5, 1.6]}, seeds=1)
    assert results.table["status"].tolist() == ["refused", "completed", "completed"]
    (reason,) = results.failures()
    assert reason.startswith(f"refused: vary {MASS}=-1.0: {MASS}: -1.0 is not allowed; must be")
    assert results.worst(1)[MASS].item() == -1.0
    assert results.flown()["run"].tolist() == [1, 2]


def test_a_refused_run_has_the_values_that_it_draws(tmp_path):
    results = swept(tmp_path / "s", {MASS: {"choice": [-1.0, 1.5]}}, seeds=None, runs=6)
    refused = results.table[results.table["status"] == "refused"]
    assert 0 < len(refused) < 6
    assert (refused[MASS] == -1.0).all()
    assert f"which cannot be flown: drawn {MASS}=-1.0: " in refused["reason"].iloc[0]


def test_a_run_of_a_refused_combination_has_the_values_that_it_draws(tmp_path):
    results = swept(tmp_path / "s", {**VARIED, MASS: [-1.0, 1.5]}, seeds=1)
    assert results.table["status"].tolist() == ["refused", "completed"] * 2
    assert len(set(results.table[f"{START}.2"])) == 1


@pytest.mark.slow
def test_controllers_are_swept_too(tmp_path):
    results = kw.sweep(
        *("goto-waypoint", {}),
        controllers=["qrsim-waypoint", "position"],
        seeds=2,
        overrides=SHORT,
        out=tmp_path / "s",
    )
    assert results.table["controllers"].tolist() == ["qrsim-waypoint"] * 2 + ["position"] * 2
    assert results.varied() == ["controllers"]


def test_runs_are_as_many_as_requested(tmp_path):
    results = swept(tmp_path / "s", seeds=None, runs=5)
    assert results.table["seed"].tolist() == [0, 1, 2, 0, 1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"vary": {"world.wnd.from_deg": [0, 1]}}, "Did you mean"),
        ({"vary": {"vehicles.pelican.start.yaw_dg": {"uniform": [0, 9]}}}, "Did you mean"),
        ({"vary": {"mass_kg": [1, 2]}}, f"^vary mass_kg=1: .* Did you mean {MASS}?"),
        ({"vary": {"mass_kg": {"uniform": [1, 2]}}}, f"no effect on the world .*; write {MASS}"),
        ({"overrides": {"vehicles.pelican.mass_kg": 1}}, r"Did you mean parameters.mass_kg\?"),
        ({"seeds": 2, "runs": 4}, "give one of both"),
        ({"seeds": 0}, "must be a whole number that is at least 1"),
        ({"workers": 0}, "must be a whole number that is at least 1"),
        ({"vary": {MASS: [-1.0]}}, f"^vary {MASS}=-1.0: "),
        ({"vary": {"seed": [1, 2]}}, "vary: seed: give the number of seeds, seeds=3 or --seeds 3"),
        (
            {"vary": {YAW: [0, 9]}, "overrides": {f"randomize.{YAW}": {"uniform": [0, 9]}}},
            f"vary: {YAW}: is drawn from each seed, as {YAW} is under randomize",
        ),
        (
            {"vary": {YAW: [0, 9], YAW.replace("deg", "rad"): {"uniform": [0, 1]}}},
            "is varied twice, also as .*yaw_rad",
        ),
        ({"controllers": "position"}, r"must be several names, such as \[\"position\", \"lee\"\]"),
        ({"overrides": ["a=1"]}, "`overrides`: got .*; must be a mapping"),
        (
            {"ray": "127.0.0.1"},
            "`ray`: got '127.0.0.1'; must be HOST:6379, the address of a cluster",
        ),
        ({"ray": "local", "allow_code": "."}, "code of a scenario is not sent"),
    ],
)
def test_what_no_run_can_fly_is_refused_and_leaves_nothing(tmp_path, given, message):
    with pytest.raises(ScenarioError, match=message):
        swept(tmp_path / "s", **given)
    assert not (tmp_path / "s").exists()


def test_a_folder_with_files_is_refused_and_stays_as_it_is(tmp_path):
    for name in ("scenario.yaml", "log.mcap", "tuning.json", "notes.txt"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text("mine")
        with pytest.raises(LogError, match=f"is not empty: it holds {name}"):
            swept(folder)
        assert [path.read_text() for path in folder.iterdir()] == ["mine"]


def test_success_and_worst_runs_are_kept_for_a_sweep_that_goes_on(tmp_path):
    folder = tmp_path / "s"
    column = f"{START}.2"
    given = {"success": f"{column} > 10", "worst_by": column}
    with pytest.raises(LogError, match="write a column, a comparison and a number"):
        swept(folder, success=f"{column} is large")
    assert not folder.exists()
    first = swept(folder, **given)
    assert 0 < first.succeeded().sum() < 6
    again = kw.resume_sweep(folder)
    assert again.success() == first.success()
    assert again.worst(1)[column].item() == first.column(column)[~first.succeeded()].max()
    assert kw.resume_sweep(folder, success=f"{column} > 0").success().successes == 6
    assert SweepPlan.read(folder).success == f"{column} > 0"
    for name in ("nonsense", "status"):
        with pytest.raises(LogError, match=name) as refused:
            kw.resume_sweep(folder, worst_by=name)
        (note,) = refused.value.__notes__
        assert "6 of 6 runs are flown. To judge them otherwise, with --success" in note
        assert f"kw.resume_sweep('{folder}', ...)" in note


@pytest.mark.parametrize(
    "given", [{"success": "pelican.distance <= 1"}, {"worst_by": "pelican.distance"}]
)
def test_a_misspelled_column_is_refused_after_the_first_runs_and_leaves_nothing(tmp_path, given):
    flown = []
    with pytest.raises(LogError, match="no column 'pelican.distance'. Did you mean 'pelican.dist"):
        swept(tmp_path / "s", seeds=8, progress=lambda done, runs: flown.append(done), **given)
    assert flown == [0]
    assert not (tmp_path / "s").exists()


@pytest.mark.slow
def test_a_column_that_only_other_runs_have_is_not_refused(tmp_path):
    vary, judged = {"vehicles.pelican.count": [1, 2]}, "pelican-2.distance_m"
    results = swept(tmp_path / "s", vary, seeds=1, worst_by=judged)
    assert results.worst(1)["vehicles.pelican.count"].item() == 1
    require_columns([{"drone.touchdown": None}], ["drone.touchdown.offset_m"])


def test_the_first_runs_of_each_value_are_found_without_all_combinations():
    plan = SweepPlan("small", 24, 2, 0, {"a": [1, 2, 3], "b": [4, 5]}, ("x", "y"))
    runs = [plan.run(number) for number in plan.first_of_each_value()]
    assert [(run.controllers, *run.values.values()) for run in runs] == [
        *[("x", 1, 4), ("x", 1, 5), ("x", 2, 4), ("x", 3, 4), ("y", 1, 4)]
    ]


def test_a_sweep_that_another_process_flies_is_not_resumed(tmp_path):
    swept(tmp_path / "s", seeds=1)
    with locked(tmp_path / "s"), pytest.raises(LogError, match="another run is active"):
        kw.resume_sweep(tmp_path / "s")


def test_objects_in_python_are_refused(tmp_path):
    class Mine:
        def update(self, t_s, setpoint, estimate):
            del t_s, setpoint, estimate
            return kw.ThrustTorque(5.0, kw.Vec3(0.0, 0.0, 0.0))

    vehicles = {"h": kw.Vehicle(model="hummingbird", controllers=[Mine()])}
    scenario = kw.Scenario(vehicles=vehicles, duration_s=1)
    with pytest.raises(
        ScenarioError, match="which a scenario file cannot hold; write file and class"
    ):
        kw.sweep(scenario, out=tmp_path / "s")


def test_a_folder_with_a_sweep_is_not_begun_anew(tmp_path):
    swept(tmp_path / "s", seeds=1)
    with pytest.raises(LogError, match="holds a sweep"):
        swept(tmp_path / "s", seeds=1)


def test_a_folder_without_a_sweep_or_with_another_format_is_refused(tmp_path):
    with pytest.raises(LogError, match="holds no sweep"):
        kw.resume_sweep(tmp_path)
    swept(tmp_path / "s", seeds=1)
    plan = tmp_path / "s" / "sweep.json"
    plan.write_text(json.dumps({**json.loads(plan.read_text()), "format": 2}))
    with pytest.raises(LogError, match="cannot be read"):
        kw.resume_sweep(tmp_path / "s")


@pytest.mark.slow
def test_a_folder_of_a_sweep_allows_no_code_by_itself(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    data = {
        "name": "own",
        "time": {"rate_hz": 100, "duration_s": 0.1},
        "vehicles": {
            "h": {"model": "hummingbird", "controller": {"file": "mine.py", "class": "Mine"}}
        },
    }
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(data))
    with pytest.raises(ScenarioError, match="allow_code"):
        kw.sweep(path, out=tmp_path / "refused")
    results = kw.sweep(path, seeds=2, out=tmp_path / "s", allow_code=tmp_path)
    assert (results.table["status"] == "completed").all()
    (tmp_path / "s" / "runs.parquet").unlink()
    assert set(kw.resume_sweep(tmp_path / "s").table["status"]) == {"refused"}


@pytest.mark.slow
def test_runs_that_are_flown_again_have_the_logs_of_their_rows(tmp_path):
    results = swept(tmp_path / "s", seeds=6)
    logs = dict(kw.sweep_logs(tmp_path / "s", [2, 11, 3]))
    assert {*logs} == {2, 3, 11}
    for number, log in logs.items():
        distance_m = log.summary["vehicles"]["pelican"]["distance_m"]
        assert results.table["pelican.distance_m"][number] == distance_m
        assert log.frame("pelican")["time_s"].iloc[-1] == pytest.approx(0.2)
    assert len([*kw.sweep_logs(tmp_path / "s")]) == 12
    # wrong requests are refused at once
    with pytest.raises(LogError, match="there is no run 12"):
        kw.sweep_logs(tmp_path / "s", [12])
    with pytest.raises(LogError, match="holds no sweep"):
        kw.sweep_logs(tmp_path)
    for wrong in (3, "3", [0.5]):
        with pytest.raises(ScenarioError, match="whole number"):
            kw.sweep_logs(tmp_path / "s", wrong)
    other = kw.load("hover-pelican", {**SHORT, "vehicles.pelican.count": 2}).run()
    page = draw_bands([logs[2], other])
    assert [ax.get_title(loc="left").partition(":")[0] for ax in page.axes[::3]] == [
        *("pelican", "pelican-1", "pelican-2")
    ]
    with pytest.raises(LogError, match="no run can be flown again"):
        draw_bands([])
    page = draw_bands(log for _, log in kw.sweep_logs(tmp_path / "s"))
    assert [ax.get_title(loc="left") for ax in page.axes] == [
        f"pelican: {name}" for name in ("height (m)", "speed (m/s)", "distance to the setpoint (m)")
    ]
