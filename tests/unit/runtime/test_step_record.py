"""A loop of steps is recorded: its log, its observations, and vehicles that are set elsewhere."""

import dataclasses

import jax
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import (
    CommandError,
    LogError,
    ScenarioError,
    StateError,
    UnknownVehicleError,
)

ULTRASONIC = {
    "type": "ultrasonic",
    "direction_body": [0, 0, -1],
    "errors": [
        {"type": "noise", "deviation": 0.03},
        {"type": "dropout", "probability": 0.2},
    ],
}
# vehicles of two structures, with random streams in their air and their sensors, and with events
WINDY = {
    "name": "windy",
    "seed": 5,
    "time": {"rate_hz": 50, "duration_s": 12, "log_rate_hz": 10},
    "lost_vehicle": "continue",
    "world": {
        "area": {"x_m": [-50, 50], "y_m": [-50, 50], "z_m": [-1, 60]},
        "wind": {"type": "shear", "speed_at_6m_mps": 3, "from_deg": 200},
        "turbulence": {"type": "dryden", "speed_at_6m_mps": 3},
    },
    "vehicles": {
        "gull": {
            "model": "pelican",
            "start": {"position_world_m": [0, 0, 3]},
            "sensors": {"imu": {"type": "imu", "rate_hz": 25}, "below": ULTRASONIC},
            "guidance": {"type": "waypoints", "positions_world_m": [[0, 0, 3], [3, 0, 4]]},
        },
        "tern": {
            "model": "pelican",
            "count": 2,
            "start": {"position_world_m": [0, 20, 10]},
            "spacing_m": [5, 0, 0],
            "guidance": {"type": "hold", "position_world_m": [0, 22, 11]},
        },
    },
}
STEPS = 60
# takes it through the floor of the area
DIVE = {"tern-1": kw.AttitudeThrottle(0.0, 0.0, 0.0, 0.0, 12.0)}
TILT = {"tern-2": kw.AttitudeThrottle(0.03, 0.02, 0.7, 0.1, 12.0)}


@pytest.fixture(scope="module")
def windy():
    return kw.load(WINDY)


@pytest.fixture(scope="module")
def strict():
    """A scenario in which a lost vehicle is a failure."""
    return kw.load({**WINDY, "lost_vehicle": "fail"})


def stepped(simulation, steps, commands=None, seed=None):
    """Step a flight from its start; return its log."""
    simulation.reset(seed)
    for _ in range(steps):
        simulation.step(commands)
    return simulation.log()


def assert_same_bits(one, other):
    assert one.names == other.names
    for name in one.names:
        assert one.columns(name) == other.columns(name)
        assert one.quantities(name) == other.quantities(name)
        assert one.values(name).shape == other.values(name).shape
        assert one.values(name).tobytes() == other.values(name).tobytes(), name
    assert one.events == other.events


def without_times(summary):
    """A summary without the numbers that depend on the machine."""
    return {
        key: value
        for key, value in summary.items()
        if key not in {"wall_s", "compile_s", "realtime_factor"}
    }


@pytest.mark.bits
def test_the_log_of_a_whole_loop_is_that_of_a_run(windy):
    run = windy.run()
    windy.reset()
    while not windy.done:
        windy.step()
    assert windy.time_s == 12.0
    log = windy.log()
    assert_same_bits(log, run)
    assert without_times(log.summary) == without_times(run.summary)
    assert log.scenario == run.scenario
    assert log.portable == run.portable
    # what could have been missed: rows between those of the log's rate, and samples between rows
    assert {"reached waypoint 1"} <= {event.event for event in log.events}
    assert len(log.values("tern-1")) < 13 * 10
    assert log.column("gull", "sensor.below.fresh").sum() > 0


@pytest.mark.slow
def test_a_log_may_be_made_in_the_middle_and_again_later(windy):
    windy.reset(seed=3)
    for _ in range(STEPS // 2):
        windy.step()
    middle = windy.log()
    before = {name: middle.values(name).copy() for name in middle.names}
    again = windy.log()
    for _ in range(STEPS // 2):
        windy.step()
    later = windy.log()
    whole = stepped(windy, STEPS, seed=3)
    assert_same_bits(middle, again)
    assert_same_bits(later, whole)
    for name in before:
        np.testing.assert_array_equal(middle.values(name), before[name])
        times = middle.column(name, "time_s")
        assert times[0] == 0.0
        assert times[-1] == 0.6
        # its last row is one of the end, which the log of the whole flight thins out
        rows = np.isin(times, later.column(name, "time_s"))
        np.testing.assert_array_equal(
            middle.column(name, "x_m")[rows], later.column(name, "x_m")[: rows.sum()]
        )
    assert middle.summary["duration_s"] == pytest.approx(0.6)
    assert later.summary["duration_s"] == pytest.approx(1.2)


@pytest.mark.slow
def test_a_log_before_the_first_step_has_the_start(windy):
    log = stepped(windy, 0)
    assert [len(log.values(name)) for name in log.names] == [1, 1, 1]
    assert log.column("gull", "z_m")[0] == 3.0


@pytest.mark.slow
def test_commands_in_steps_are_in_the_log(windy):
    windy.reset()
    for _ in range(20):
        windy.step()
    for _ in range(20):
        windy.step(TILT)
    log = windy.log()
    times, given = log.column("tern-2", "time_s"), (0.03, 0.02, 0.7, 0.1, 12.0)
    names = ("cmd_pitch_rad", "cmd_roll_rad", "cmd_throttle", "cmd_yaw_rate_radps", "cmd_battery_v")
    for name, value in zip(names, given, strict=True):
        # the row at a time shows the command that is obeyed from there on
        assert (log.column("tern-2", name)[times >= 0.4] == value).all()
        if name != "cmd_battery_v":
            assert not (log.column("tern-2", name)[times < 0.4] == value).any()
            assert not (log.column("tern-1", name) == value).any()
    # the setpoints of guidance continue
    np.testing.assert_array_equal(log.column("tern-2", "setpoint.position_z_world_m"), 11.0)


@pytest.mark.slow
def test_a_flight_that_is_not_recorded_has_no_log(windy):
    windy.reset(record=False)
    windy.step()
    with pytest.raises(LogError, match=r"nothing was recorded; call reset\(\) without record"):
        windy.log()


@pytest.mark.bits
def test_a_flight_is_the_same_recorded_or_not(windy):
    ends = []
    for record in (True, False):
        windy.reset(seed=2, record=record)
        for _ in range(STEPS):
            windy.step()
        ends.append(windy.observe()["gull"].truth)
    assert ends[0] == ends[1]


@pytest.mark.slow
def test_a_task_has_the_return_of_a_run():
    simulation = kw.load("keep-spot", {"time.duration_s": 1.0})
    expected = simulation.run().summary["metrics"]["task"]
    assert expected["return"] < 0.0
    simulation.reset()
    returns = []
    while not simulation.done:
        simulation.step()
        if simulation.time_s in (0.5, 0.9):
            returns.append(simulation.log().summary["metrics"]["task"]["return"])
    found = simulation.log().summary["metrics"]["task"]
    assert found == pytest.approx(expected, abs=1e-9)
    assert 0.0 > returns[0] > returns[1] > found["return"]
    # commands count as they were given
    simulation.reset()
    while not simulation.done:
        simulation.step({"pelican": kw.AttitudeThrottle(0.3, 0.0, 0.59, 0.0, 12.0)})
    assert simulation.log().summary["metrics"]["task"]["return"] < found["return"]
    simulation.set_state("pelican", yaw_deg=10)
    unknown = simulation.log().summary["metrics"]["task"]
    assert unknown["return"] is None
    assert "changed beside its commands" in unknown["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("ends", [True, False])
def test_a_lost_vehicle_ends_a_loop_where_the_scenario_says_so(windy, strict, ends):
    simulation = strict if ends else windy
    simulation.reset()
    steps = 0
    while not simulation.done and steps < 200:
        simulation.step(DIVE)
        steps += 1
    log = simulation.log()
    (lost,) = [event for event in log.events if event.event.startswith("lost")]
    assert lost.vehicle == "tern-1"
    assert (steps < 200) is ends
    if not ends:
        assert log.summary["status"] == "completed"
        return
    assert log.summary["status"] == "failed"
    assert log.summary["reason"].startswith("tern-1 lost: ")
    assert log.end_s == lost.time_s
    # later steps add nothing to it
    simulation.step(DIVE)
    assert_same_bits(simulation.log(), log)


def test_a_loop_ends_at_the_scenarios_duration(windy):
    windy.reset()
    assert not windy.done
    windy.state = dataclasses.replace(windy.state, tick=windy.state.tick + 599)
    assert not windy.done
    windy.step()
    assert windy.done


# observations


@pytest.mark.slow
def test_observations_are_computed_when_they_are_read(windy, monkeypatch):
    windy.reset()
    looked = []
    real = windy._stepper._look
    monkeypatch.setattr(
        windy._stepper, "_look", lambda *place: looked.append(place) or real(*place)
    )
    seen = [windy.step() for _ in range(3)]
    assert looked == []
    assert [one["gull"].time_s for one in seen] == [0.02, 0.04, 0.06]
    assert seen[1]["tern-1"].time_s == 0.04
    assert len(looked) == 3


def test_a_step_returns_what_observe_does(windy):
    windy.reset(seed=1)
    for _ in range(10):
        seen = windy.step()
    again = windy.observe()
    assert list(seen) == list(again) == ["gull", "tern-1", "tern-2"]
    assert len(seen) == 3
    assert repr(seen) == repr(again)
    assert seen["gull"].truth == again["gull"].truth
    # of another time, as it was asked for then
    for _ in range(5):
        windy.step()
    assert seen["gull"].time_s == 0.2


def test_an_unknown_vehicle_is_answered_with_the_nearest_one(windy):
    seen = windy.reset()
    with pytest.raises(UnknownVehicleError, match="there is no vehicle 'gul'. Did you mean 'gull'"):
        seen["gul"]
    assert "gul" not in seen
    assert seen.get("gul") is None


# state


def test_a_state_can_be_set_again(windy):
    windy.reset(seed=4)
    for _ in range(10):
        windy.step()
    there = windy.state
    ends = []
    for _ in range(2):
        windy.state = there
        assert windy.time_s == pytest.approx(0.2)
        for _ in range(10):
            seen = windy.step()
        assert seen["gull"].time_s == pytest.approx(0.4)
        ends.append(seen["gull"].truth)
    assert ends[0] == ends[1]


def test_the_log_begins_again_at_a_state_of_another_time(windy):
    windy.reset(seed=4)
    start = windy.state
    for _ in range(10):
        windy.step()
    windy.state = start
    for _ in range(10):
        windy.step()
    times = windy.log().column("gull", "time_s")
    np.testing.assert_allclose(times, [0.0, 0.1, 0.2])


@pytest.mark.slow
def test_a_state_of_other_vehicles_is_refused(windy, strict):
    other = kw.load(WINDY, {"vehicles.tern.count": 3})
    with pytest.raises(
        StateError, match=r"`state\.groups.*: got the shape \(3,\) of other vehicles"
    ):
        windy.state = other.init(kw.seed_key(0))


def add_to_floats(state, convert):
    def moved(leaf):
        is_float = jax.numpy.issubdtype(leaf.dtype, jax.numpy.floating)
        return convert(leaf) + 0.5 if is_float else leaf

    return jax.tree.map(moved, state)


def test_a_state_is_changed_with_numpy_in_any_mode_of_jax(windy):
    windy.reset(seed=4)
    before = windy.observe()["tern-1"].truth.position_world_m
    with jax.enable_x64(False):
        windy.state = add_to_floats(windy.state, np.asarray)
    after = windy.observe()["tern-1"].truth.position_world_m
    assert after.x - before.x == pytest.approx(0.5, abs=1e-12)


def test_a_state_that_jax_has_rounded_is_refused_with_the_remedy(windy):
    windy.reset(seed=4)
    # as JAX's functions round outside of its 64-bit mode, with a warning
    rounded = add_to_floats(windy.state, lambda leaf: np.asarray(leaf, np.float32))
    words = r"`state\.groups\[0\].*`: got float32; must be float64\. .*with NumPy, or inside"
    with pytest.raises(StateError, match=words):
        windy.state = rounded


@pytest.mark.parametrize("given", ["here", None, {}, kw.Start()])
def test_what_is_no_state_is_refused(windy, given):
    with pytest.raises(StateError, match="`state`: got .*; must be a state of this simulation"):
        windy.state = given


# placement


@pytest.mark.bits
def test_a_vehicle_that_is_set_elsewhere_leaves_the_others_and_all_streams(windy):
    logs, states = [], []
    for place in (False, True):
        windy.reset(seed=6)
        for tick in range(STEPS):
            if place and tick == 20:
                windy.set_state("tern-1", position_world_m=[-20, -20, 30])
            windy.step()
        logs.append(windy.log())
        states.append(windy.state)
    untouched, placed = logs
    for name in ("gull", "tern-2"):
        assert untouched.values(name).tobytes() == placed.values(name).tobytes()
    times = placed.column("tern-1", "time_s")
    before, after = times < 0.4, times >= 0.4
    assert untouched.values("tern-1")[before].tobytes() == placed.values("tern-1")[before].tobytes()
    assert placed.column("tern-1", "x_m")[after][0] == pytest.approx(-20.0)
    assert placed.column("tern-1", "z_m")[after][0] == pytest.approx(30.0)


def test_what_is_not_set_stays(windy):
    windy.reset(seed=6)
    for _ in range(20):
        windy.step()
    before = windy.observe()["tern-2"].truth
    windy.set_state("tern-2", yaw_deg=np.degrees(1.0))
    after = windy.observe()["tern-2"].truth
    np.testing.assert_allclose(after.position_world_m, before.position_world_m)
    np.testing.assert_allclose(after.velocity_world_mps, before.velocity_world_mps, atol=1e-12)
    assert after.euler_world_from_body.yaw_rad == pytest.approx(1.0)
    assert after.euler_world_from_body.roll_rad == pytest.approx(
        before.euler_world_from_body.roll_rad
    )


@pytest.mark.parametrize(
    ("vehicle", "motion", "message"),
    [
        ("gul", {"yaw_rad": 1.0}, "Did you mean 'gull'"),
        (
            "gull",
            {"position_m": [0, 0, 1]},
            "position_m: there is no such key. Did you mean 'posit",
        ),
        ("gull", {"position_world_m": [0, 0, 100]}, "'gull' cannot be placed there: "),
        ("gull", {"position_world_m": [0, 0, np.nan]}, "nan is not allowed; must be a finite"),
        ("gull", {"position_world_m": [0, 0]}, "must be a list of exactly 3 numbers"),
        ("gull", {"yaw_deg": "north"}, "sim.set_state: yaw_deg: 'north' is not allowed"),
        ("gull", {"yaw_deg": 10, "yaw_rad": 0.1}, "yaw_rad is given as well; give one of them"),
    ],
)
def test_an_impossible_place_is_refused_and_changes_nothing(windy, vehicle, motion, message):
    windy.reset()
    before = windy.observe()["gull"].truth
    with pytest.raises((CommandError, ScenarioError), match=message) as refused:
        windy.set_state(vehicle, **motion)
    assert "\n" not in str(refused.value)
    assert windy.observe()["gull"].truth == before


# logs in folders


@pytest.fixture(scope="module")
def log(windy):
    return stepped(windy, STEPS)


@pytest.mark.slow
def test_a_saved_log_is_read_again(log, tmp_path):
    log.save(tmp_path / "there")
    again = kw.Log.read(tmp_path / "there")
    assert_same_bits(again, log)
    assert again.summary == log.summary
    assert again.scenario["name"] == "windy"
    assert again.complete
    assert {path.name for path in (tmp_path / "there").iterdir()} >= {
        "log.mcap",
        "scenario.yaml",
        "summary.json",
        "overview.png",
    }
    # and a second time over the first
    again.save(tmp_path / "there")
    again.save(tmp_path / "copy")
    for name in ("there", "copy"):
        assert_same_bits(kw.Log.read(tmp_path / name), log)
    flown = kw.load(tmp_path / "copy" / "scenario.yaml").scenario
    assert flown.duration_s == pytest.approx(STEPS / 50)


@pytest.mark.parametrize("name", ["log.mcap", "scenario.yaml", "summary.json", "overview.png"])
def test_a_log_is_not_saved_over_foreign_files(log, tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(LogError, match=f"{name}' was not written by a run") as refused:
        log.save(tmp_path)
    assert "\n" not in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_log_is_not_saved_where_there_is_a_file(log, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(LogError, match="file"):
        log.save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.bits
def test_a_saved_flight_with_a_data_file_is_flown_again(tmp_path):
    simulation = kw.load("pelican-playback")
    simulation.reset()
    for _ in range(50):
        simulation.step()
    first = simulation.log()
    first.save(tmp_path / "first")
    again = kw.load(tmp_path / "first" / "scenario.yaml").run()
    assert_same_bits(again, first)
    kw.Log.read(tmp_path / "first").save(tmp_path / "second")
    files = {path.name for path in (tmp_path / "second").glob("*.csv")}
    assert files == {path.name for path in (tmp_path / "first").glob("*.csv")}
    assert len(files) == 1


@pytest.mark.slow
def test_run_writes_the_folder_of_its_log(windy, tmp_path):
    times = []
    log = windy.run(duration_s=2, seed=9, out=tmp_path / "out", progress=times.append)
    assert_same_bits(kw.Log.read(tmp_path / "out"), log)
    assert log.summary["seed"] == 9
    assert times[-1] == 2.0
    assert (tmp_path / "out" / "overview.png").is_file()
    assert not (tmp_path / "out" / "checkpoint.npz").exists()


@pytest.mark.parametrize("every_s", [0.0, -1.0, float("nan")])
def test_checkpoints_without_an_interval_or_a_folder_are_refused(windy, tmp_path, every_s):
    for given in ({"out": tmp_path, "checkpoint_every_s": every_s}, {"checkpoint_every_s": 1.0}):
        with pytest.raises(ScenarioError, match="checkpoint_every_s"):
            windy.run(duration_s=1, **given)
    assert list(tmp_path.iterdir()) == []
