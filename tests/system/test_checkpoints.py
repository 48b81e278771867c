"""A run that is killed is continued from its checkpoint by another process, to the same bits."""

import json
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.system.commands import kittiwake_does

import kittiwake as kw
from kittiwake.core.errors import LogError, StateError

# Flies as the command does, until a step at which the process is killed.
KILLED = """
import os, signal, sys
from kittiwake.cli import main
from kittiwake.runtime.flight_record import FlightRecord

tick, sys.argv = int(sys.argv[1]), ["kittiwake", *sys.argv[2:]]
write = FlightRecord.write

def write_until_killed(record, sink, block, *, ended):
    write(record, sink, block, ended=ended)
    if record.tick >= tick:
        os.kill(os.getpid(), signal.SIGKILL)

FlightRecord.write = write_until_killed
main()
"""
SCENARIO = """
name: patrol
seed: 5
time: {rate_hz: 50, duration_s: 280, log_rate_hz: 5}
lost_vehicle: continue
world:
  area: {x_m: [-90, 90], y_m: [-90, 90], z_m: [-1, 60]}
  wind: {type: shear, speed_at_6m_mps: 3, from_deg: 200}
  turbulence: {type: dryden, speed_at_6m_mps: 3}
vehicles:
  gull:
    model: pelican
    start: {position_world_m: [0, 0, 3]}
    sensors:
      imu: {type: imu, rate_hz: 25}
      below:
        type: ultrasonic
        direction_body: [0, 0, -1]
        errors: [{type: noise, deviation: 0.03}, {type: dropout, probability: 0.2}]
    guidance:
      type: mission
      steps:
        - name: there
          do:
            type: waypoints
            positions_world_m: [[0, 0, 3], [6, 0, 4], [6, 6, 4], [0, 0, 3]]
            acceptance_radius_m: 3
          timeout_s: 60
          on_timeout: there
        - name: again
          do: {type: waypoints, positions_world_m: [[3, 3, 5]], acceptance_radius_m: 3}
          then: there
  tern:
    model: pelican
    count: 2
    start: {position_world_m: [0, 20, 10]}
    spacing_m: [5, 0, 0]
    guidance: {type: hold, position_world_m: [0, 22, 11]}
"""
# of a controller in plain Python, with noise of its own and with a state
OWN = """
import numpy as np
import kittiwake as kw

class Spring:
    rate_hz = 50

    def reset(self, vehicle, rng):
        self.rng, self.sum_m = rng, np.zeros(3)

    def update(self, t_s, setpoint, estimate):
        error_m = (setpoint.position_world_m - estimate.position_world_m).array
        self.sum_m = self.sum_m + 0.02 * error_m
        pull = 3.0 * error_m + 0.1 * self.sum_m + 0.1 * self.rng.standard_normal(3)
        return kw.AccelerationYaw(pull - 2.0 * estimate.velocity_world_mps.array, 0.0)

    def state(self):
        return {"sum_m": self.sum_m}

    def restore(self, state):
        self.sum_m = state["sum_m"]

class Forgetful:
    def update(self, t_s, setpoint, estimate):
        return kw.AccelerationYaw([0.0, 0.0, 0.0], 0.0)
"""
OWN_SCENARIO = """
name: own
time: {rate_hz: 100, duration_s: 12, log_rate_hz: 50}
vehicles:
  h:
    model: hummingbird
    start: {position_world_m: [0, 0, 2]}
    guidance: {type: hold, position_world_m: [1, 0, 2]}
    controller: [{file: own.py, class: Spring}]
"""


def killed(tick, *arguments):
    """Run a command until it is killed at a step."""
    answer = subprocess.run(
        [sys.executable, "-c", KILLED, str(tick), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert answer.returncode == -signal.SIGKILL, answer.stderr


def in_another_process(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "kittiwake", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )


def without_times(summary):
    return {
        key: value
        for key, value in summary.items()
        if key not in {"wall_s", "compile_s", "realtime_factor"}
    }


def assert_same_run(folder, other):
    one, two = kw.Log.read(folder), kw.Log.read(other)
    assert one.names == two.names
    for name in one.names:
        assert one.columns(name) == two.columns(name)
        assert one.values(name).shape == two.values(name).shape
        assert one.values(name).tobytes() == two.values(name).tobytes(), name
    assert one.events == two.events
    assert one.complete
    assert two.complete
    assert without_times(one.summary) == without_times(two.summary)
    assert (folder / "scenario.yaml").read_text() == (other / "scenario.yaml").read_text()


def header_of(folder):
    with np.load(folder / "checkpoint.npz") as archive:
        return json.loads(archive["header"].tobytes())


@pytest.fixture(scope="module")
def patrol(tmp_path_factory):
    """A run that was killed after its checkpoint, beyond 10,000 steps."""
    folder = tmp_path_factory.mktemp("patrol")
    (folder / "patrol.yaml").write_text(SCENARIO)
    out = folder / "killed"
    options = ("--seed", 8, "--checkpoint-every", "102.5", "--quiet", "--out", out)
    killed(12500, "run", folder / "patrol.yaml", *options)
    return out


@pytest.fixture
def cut_off(patrol, tmp_path):
    """A copy of it."""
    return shutil.copytree(patrol, tmp_path / "cut-off")


@pytest.mark.bits
def test_a_killed_run_continues_to_the_bits_of_one_that_was_not(patrol, tmp_path):
    record = header_of(patrol)["record"]
    assert 10_000 < record["tick"] < 12_500
    assert kw.Log.read(patrol).end_s > record["tick"] / 50
    folder = shutil.copytree(patrol, tmp_path / "resumed")
    answer = in_another_process("run", "--resume", folder, "--json")
    assert answer.returncode == 0, answer.stderr
    summary = json.loads(answer.stdout)
    assert summary["status"] == "completed"
    assert (summary["seed"], summary["steps"]) == (8, 14_000)
    whole = patrol.parent / "patrol.yaml"
    done = kittiwake_does("run", whole, "--seed", 8, "--quiet", "--out", tmp_path / "whole")
    assert done.status == 0, done.err
    assert_same_run(folder, tmp_path / "whole")
    events = [event.event for event in kw.Log.read(folder).events]
    assert len(events) > 20
    assert (folder / "overview.png").is_file()
    assert not (folder / "resumed-log.mcap").exists()
    # nothing is left to do
    again = kittiwake_does("run", "--resume", folder)
    assert again.status == 2
    assert "is complete; there is nothing to resume" in again.err


@pytest.mark.bits
@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_bits(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "own.yaml").write_text(OWN_SCENARIO)
    allowed = ("--allow-code", tmp_path)
    run = ("run", tmp_path / "own.yaml", *allowed)
    out = tmp_path / "killed"
    killed(500, *run, "--checkpoint-every", 2, "--out", out)
    shutil.copyfile(tmp_path / "own.py", out / "own.py")
    first = header_of(out)["record"]["tick"]
    killed(1001, "run", "--resume", out, "--allow-code", out)
    second = header_of(out)["record"]["tick"]
    assert 200 <= first < second < 1001
    answer = in_another_process("run", "--resume", out, "--allow-code", out, "--quiet")
    assert answer.returncode == 0, answer.stderr
    assert kittiwake_does(*run, "--quiet", "--out", tmp_path / "whole").status == 0
    assert_same_run(out, tmp_path / "whole")


@pytest.mark.slow
def test_a_controller_without_a_state_is_refused_before_the_flight(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "own.yaml").write_text(OWN_SCENARIO.replace("Spring", "Forgetful"))
    answer = kittiwake_does(
        "run",
        tmp_path / "own.yaml",
        *("--allow-code", tmp_path, "--checkpoint-every", 1, "--out", tmp_path / "out", "--quiet"),
    )
    assert answer.status == 2
    assert "Forgetful of 'h' has no method state(self)" in answer.err
    assert answer.err.strip().count("\n") == 0
    assert not (tmp_path / "out" / "log.mcap").exists()


# in one process


@pytest.fixture(scope="module")
def pelican():
    return kw.load("hover-pelican", {"time.log_rate_hz": 10})


class Stopped(Exception):
    """Ends a run as a killed process would."""


def stopped_run(simulation, folder, **options):
    def stop(time_s):
        if time_s > 15.0:
            raise Stopped

    with pytest.raises(Stopped):
        simulation.run(out=folder, progress=stop, checkpoint_every_s=5, **options)


@pytest.mark.slow
def test_a_run_is_continued_by_its_engine_and_by_no_other(pelican, tmp_path):
    by_xla = kw.load("hover-pelican", {"time.log_rate_hz": 10}, engine="xla")
    stopped_run(by_xla, tmp_path / "out", duration_s=25)
    with pytest.raises(StateError, match="flown by the engine 'xla', this simulation by 'simd'"):
        pelican.resume(tmp_path / "out")
    assert kw.resume(tmp_path / "out").summary["metrics"]["engine"] == "xla"


@pytest.mark.slow
def test_python_continues_a_run_by_its_folder(pelican, tmp_path):
    stopped_run(pelican, tmp_path / "out", seed=3, duration_s=25)
    shutil.copytree(tmp_path / "out", tmp_path / "other")
    logs = [pelican.resume(tmp_path / "out"), kw.resume(tmp_path / "other")]
    whole = pelican.run(seed=3, duration_s=25)
    for log in logs:
        assert log.summary["seed"] == 3
        assert log.summary["steps"] == 1250
        np.testing.assert_array_equal(
            log.column("pelican", "time_s"), whole.column("pelican", "time_s")
        )
        np.testing.assert_allclose(log.values("pelican"), whole.values("pelican"), atol=1e-9)
        assert log.events == whole.events


def test_a_flight_shorter_than_a_block_has_checkpoints(pelican, tmp_path):
    def stop(time_s):
        if time_s > 0.75:
            raise Stopped

    with pytest.raises(Stopped):
        pelican.run(out=tmp_path, progress=stop, checkpoint_every_s=0.2, duration_s=1.0)
    assert header_of(tmp_path)["record"]["tick"] == 30
    log, whole = pelican.resume(tmp_path), pelican.run(duration_s=1.0)
    # goes on to write them as often
    assert header_of(tmp_path)["record"]["tick"] == 50
    assert log.summary["steps"] == 50
    np.testing.assert_allclose(log.values("pelican"), whole.values("pelican"), atol=1e-9)


@pytest.mark.bits
def test_short_blocks_have_the_bits_of_long_ones(pelican, tmp_path):
    short = pelican.run(out=tmp_path, checkpoint_every_s=0.06, duration_s=1.0)
    whole = pelican.run(duration_s=1.0)
    assert short.values("pelican").tobytes() == whole.values("pelican").tobytes()


def test_the_scenario_of_another_simulation_is_refused(pelican, tmp_path):
    stopped_run(pelican, tmp_path)
    other = kw.load("hover-pelican", {"time.log_rate_hz": 10, "vehicles.pelican.start.yaw_deg": 9})
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(StateError, match="is not the scenario of this simulation"):
        other.resume(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_foreign_checkpoint_is_not_replaced(pelican, tmp_path):
    (tmp_path / "checkpoint.npz").write_text("mine")
    with pytest.raises(LogError, match=r"checkpoint\.npz' was not written by a run"):
        pelican.run(out=tmp_path, checkpoint_every_s=5)
    assert (tmp_path / "checkpoint.npz").read_text() == "mine"


@pytest.mark.slow
def test_another_run_into_the_folder_removes_the_checkpoint(pelican, tmp_path):
    stopped_run(pelican, tmp_path)
    assert (tmp_path / "checkpoint.npz").is_file()
    pelican.run(out=tmp_path, duration_s=1)
    assert not (tmp_path / "checkpoint.npz").exists()
    with pytest.raises(StateError, match=r"has no checkpoint\.npz"):
        pelican.resume(tmp_path)


def test_a_stepped_state_and_a_checkpoint_are_not_confused(pelican, tmp_path):
    stopped_run(pelican, tmp_path)
    pelican.reset()
    with pytest.raises(StateError, match=r"is a checkpoint of a run, which kw\.resume continues"):
        pelican.restore(tmp_path / "checkpoint.npz")
    pelican.save(tmp_path / "checkpoint.npz")
    with pytest.raises(StateError, match=r"is no checkpoint of a run; sim\.restore reads"):
        pelican.resume(tmp_path)


# refusals of the command


def refused(*arguments):
    answer = kittiwake_does("run", *arguments)
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.strip().count("\n") == 0, answer.err
    return answer.err


@pytest.mark.slow
def test_a_changed_scenario_is_refused(cut_off):
    scenario = cut_off / "scenario.yaml"
    scenario.write_text(scenario.read_text() + "# mine\n")
    assert "was changed after the checkpoint" in refused("--resume", cut_off) or (
        "is not the scenario" in refused("--resume", cut_off)
    )
    for text in ("seed: [1]\n", "name: x\n"):
        scenario.write_text(text)
        assert "scenario.yaml" in refused("--resume", cut_off)


@pytest.mark.slow
def test_a_folder_without_a_checkpoint_is_refused(cut_off, tmp_path):
    (cut_off / "checkpoint.npz").unlink()
    assert "has no checkpoint.npz; a run writes one with --checkpoint-every S" in refused(
        "--resume", cut_off
    )
    assert "has no log.mcap" in refused("--resume", tmp_path)
    assert "does not exist" in refused("--resume", tmp_path / "nowhere")


@pytest.mark.slow
def test_a_damaged_checkpoint_is_refused_and_the_log_kept(cut_off):
    before = (cut_off / "log.mcap").read_bytes()
    content = (cut_off / "checkpoint.npz").read_bytes()
    (cut_off / "checkpoint.npz").write_bytes(content[: len(content) // 2])
    assert "is no file of a state, or is damaged" in refused("--resume", cut_off)
    assert (cut_off / "log.mcap").read_bytes() == before


@pytest.mark.slow
def test_a_log_that_lacks_rows_is_refused(cut_off):
    log = (cut_off / "log.mcap").read_bytes()
    (cut_off / "log.mcap").write_bytes(log[: len(log) // 3])
    assert "lacks rows of " in refused("--resume", cut_off)


@pytest.mark.parametrize(
    "options",
    [
        ("--seed", 3),
        ("--duration", 3),
        ("--out", "elsewhere"),
        ("--set", "seed=3"),
        ("--live",),
        ("--speed", "2"),
        ("--port", "8000"),
        ("--host", "0.0.0.0"),
        ("--no-browser",),
        ("--joystick",),
    ],
)
def test_other_options_beside_resume_are_refused(tmp_path, options):
    assert f"`{options[0]}`: not allowed with --resume" in refused(*options, "--resume", tmp_path)


def test_a_scenario_beside_resume_is_refused(tmp_path):
    assert "`SCENARIO`: not allowed with --resume" in refused("keep-spot", "--resume", tmp_path)


@pytest.mark.parametrize("every", ["0", "-1", "often", "nan", "inf", "1e999"])
def test_an_interval_that_is_none_is_refused(tmp_path, every):
    message = f"`--checkpoint-every`: got {every}; must be a number of seconds above 0"
    assert message in refused("hover-pelican", "--checkpoint-every", every, "--out", tmp_path)
    assert message in refused("--resume", tmp_path, "--checkpoint-every", every)
    assert list(tmp_path.iterdir()) == []


def test_checkpoints_of_a_live_flight_are_refused(tmp_path):
    message = refused("hover-pelican", "--live", "--checkpoint-every", 3, "--out", tmp_path)
    assert "`--checkpoint-every`: not allowed with --live" in message


def test_a_checkpoint_is_a_numpy_archive_with_a_format(patrol):
    header = header_of(patrol)
    assert header["format"] == 1
    assert header["kind"] == "checkpoint"
    assert header["every_s"] == 102.5
    assert header["seed"] == 8
    assert (patrol / "checkpoint.npz").stat().st_size < 100_000
