"""Command line: files, outputs and exit statuses."""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import yaml
from matplotlib import image
from tests.system.commands import Answer, kittiwake_does

import kittiwake
import kittiwake.cli.flight_report
from kittiwake.analysis.log import Log
from kittiwake.analysis.output_file import WRITTEN_FILE
from kittiwake.cli import bench
from kittiwake.cli.list import REGISTRIES
from kittiwake.runtime.benchmark import CASES
from kittiwake.runtime.sweeps import sweep as sweeps
from kittiwake.runtime.sweeps.workers import Flights
from kittiwake.scenario import library

SOURCE = Path(__file__).parents[2] / "src"
PNG = b"\x89PNG\r\n\x1a\n"
STATE_COLUMNS = [
    *("time_s", "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz"),
    *("vx_mps", "vy_mps", "vz_mps", "wx_radps", "wy_radps", "wz_radps"),
]
COMMAND = [f"cmd_{x}" for x in ("pitch_rad", "roll_rad", "throttle", "yaw_rate_radps", "battery_v")]
INPUTS = """\
time_s,pitch_rad,roll_rad,throttle,yaw_rate_radps,battery_v
0,0,0,0.59,0,11
0.5,0.1,0,0.59,0,11
1,,,,,
"""
pytestmark = pytest.mark.usefixtures("compiled_programs_stay_with_the_tests")

# keep-spot with nothing but the truth, which compiles in half the time
PLAIN = (
    *("keep-spot", "--set", "vehicles.pelican.sensors={}"),
    *("--set", "vehicles.pelican.estimator=truth"),
)
FAR = "world.area={x_m: [-9000, 9000], y_m: [-9000, 9000], z_m: [-9000, 9000]}"


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    """Return a function that starts a command in another process."""
    cache = tmp_path_factory.mktemp("cache")

    def start(*arguments, python=(), before="", **options):
        environment = os.environ | {"PYTHONPATH": str(SOURCE), "XDG_CACHE_HOME": str(cache)}
        code = ["-c", f"{before}\nfrom kittiwake.cli import main; main()"]
        return subprocess.Popen(
            [sys.executable, *python, *code, *map(str, arguments)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    return start


def wait_for(running):
    out, err = running.communicate(timeout=120)
    return Answer(running.returncode, out, err)


@pytest.fixture(scope="module")
def spot(tmp_path_factory):
    """Return the folder and the output of a flight of two seconds."""
    folder = tmp_path_factory.mktemp("spot") / "run"
    answer = kittiwake_does(
        "run", "keep-spot", "--duration", 2, "--seed", 4, "--out", folder, "--json"
    )
    return folder, answer


@pytest.fixture(scope="module")
def row(tmp_path_factory):
    """Return the folder and the output of a flight of two vehicles with waypoints."""
    folder = tmp_path_factory.mktemp("row") / "run"
    tour = "{type: waypoints, positions_world_m: [[0, -80, 10]], acceptance_radius_m: 50}"
    count, guidance = "vehicles.pelican.count=2", f"vehicles.pelican.guidance={tour}"
    answer = kittiwake_does(
        *("run", "keep-spot-10", "--set", count, "--set", guidance, "--duration", 1),
        *("--set", "vehicles.pelican.sensors={}", "--set", "vehicles.pelican.estimator=truth"),
        *("--out", folder),
    )
    return folder, answer


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """Return the current folder and the output of a flight without options for either."""
    place = tmp_path_factory.mktemp("quiet")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        return place, kittiwake_does("run", *PLAIN, "--duration", 0.1, "--quiet")


# files of a run


@pytest.mark.slow
def test_a_run_leaves_scenario_log_summary_and_picture(spot):
    folder, answer = spot
    assert answer.status == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        WRITTEN_FILE,
        "log.mcap",
        "overview.png",
        "scenario.yaml",
        "summary.json",
    ]


@pytest.mark.slow
def test_the_picture_is_large_enough_for_a_report_and_not_empty(spot):
    content = (spot[0] / "overview.png").read_bytes()
    assert content.startswith(PNG)
    pixels = image.imread(io.BytesIO(content))
    assert min(pixels.shape[:2]) >= 800
    # a color as one number: rows are much slower to sort
    colors = np.rint(255.0 * pixels[..., :3]).astype(int) @ [1, 256, 65536]
    assert len(np.unique(colors)) > 20


def test_the_scenario_in_the_folder_is_the_one_that_was_flown(spot):
    written = yaml.safe_load((spot[0] / "scenario.yaml").read_text())
    assert (written["seed"], written["time"]["duration_s"]) == (4, 2.0)
    original = yaml.safe_load((library.FOLDER / "keep-spot.yaml").read_text())
    assert written["vehicles"] == original["vehicles"]
    assert written["world"] == original["world"]


def test_the_log_holds_every_step(spot):
    log = Log.read(spot[0])
    assert log.complete
    np.testing.assert_array_equal(log.column("pelican", "time_s"), np.arange(101) / 50)


@pytest.mark.slow
def test_default_folder_has_the_name_and_time_of_the_run(quiet):
    place, answer = quiet
    assert answer.status == 0
    (folder,) = (place / "runs").iterdir()
    assert folder.name.startswith("keep-spot-")
    assert (folder / "summary.json").is_file()


@pytest.mark.slow
def test_the_written_scenario_flies_again_to_the_bit(spot, tmp_path):
    folder, _ = spot
    answer = kittiwake_does("run", folder / "scenario.yaml", "--out", tmp_path, "--quiet")
    assert answer.status == 0
    again, first = Log.read(tmp_path), Log.read(folder)
    assert again.values("pelican").tobytes() == first.values("pelican").tobytes()
    assert (tmp_path / "scenario.yaml").read_text() == (folder / "scenario.yaml").read_text()


@pytest.mark.slow
def test_a_run_over_an_earlier_one_replaces_it(row, tmp_path):
    earlier, answer = row
    assert "replaced" not in answer.err
    shutil.copytree(earlier, tmp_path, dirs_exist_ok=True)
    for format_name in ("csv", "rosbag2"):
        assert kittiwake_does("export", tmp_path, "--to", format_name).status == 0
    assert {"pelican-1.csv", "rosbag2"} <= {path.name for path in tmp_path.iterdir()}
    # files that others have written, or changed since, stay
    others = {"notes.md", "film.mp4", "cat.csv", "sensors-notes.png"}
    for name in others:
        (tmp_path / name).write_text("of mine")
    again = kittiwake_does("run", *PLAIN, "--out", tmp_path, "--duration", 0.1)
    assert f"{tmp_path} holds a run" in again.err
    left = {path.name for path in tmp_path.iterdir()}
    own = {"log.mcap", "scenario.yaml", "summary.json", "overview.png", WRITTEN_FILE}
    assert left == own | others
    assert (tmp_path / "film.mp4").read_text() == "of mine"
    assert len(Log.read(tmp_path).values("pelican")) == 6
    assert json.loads((tmp_path / "summary.json").read_text())["duration_s"] == 0.1


def test_invalid_output_folder_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("in the way")
    answer = kittiwake_does("run", "keep-spot", "--out", tmp_path / "file" / "run")
    assert answer.status == 2
    assert "Name another with --out" in answer.err
    assert answer.out == ""


# the summary of a run

NUMBER = (int, float)
SUMMARY = {
    "format": int,
    "scenario": str,
    "seed": int,
    "status": str,
    "reason": (str, type(None)),
    "duration_s": float,
    "steps": int,
    "wall_s": float,
    "compile_s": float,
    "realtime_factor": float,
    "vehicles": dict,
    "min_separation_m": (float, type(None)),
    "events": list,
    "metrics": dict,
}
VEHICLE = {
    "model": str,
    "final_position_m": list,
    "final_speed_mps": float,
    "distance_m": float,
    "max_tilt_rad": float,
    "tracking_rms_m": (float, type(None)),
    "contacts": (int, type(None)),
    "touchdown": (dict, type(None)),
    "valid": bool,
}


def assert_has_exactly(record, kinds):
    assert list(record) == list(kinds)
    for key, kind in kinds.items():
        assert isinstance(record[key], kind), f"{key}: {record[key]!r}"


@pytest.mark.parametrize("flight", ["spot", "row"])
def test_the_summary_has_exactly_the_documented_keys_and_types(flight, request):
    folder, _ = request.getfixturevalue(flight)
    summary = json.loads((folder / "summary.json").read_text())
    assert_has_exactly(summary, SUMMARY)
    for vehicle in summary["vehicles"].values():
        assert_has_exactly(vehicle, VEHICLE)
        assert [type(x) for x in vehicle["final_position_m"]] == [float, float, float]
    for event in summary["events"]:
        assert_has_exactly(event, {"time_s": float, "vehicle": str, "event": str})


def test_the_summary_describes_the_flight(spot):
    summary = json.loads((spot[0] / "summary.json").read_text())
    assert summary["scenario"] == "keep-spot"
    assert (summary["seed"], summary["duration_s"], summary["steps"]) == (4, 2.0, 100)
    assert (summary["status"], summary["reason"], summary["events"]) == ("completed", None, [])
    assert summary["min_separation_m"] is None
    pelican = summary["vehicles"]["pelican"]
    assert pelican["model"] == "pelican"
    assert pelican["valid"] is True
    log = Log.read(spot[0])
    assert pelican["final_position_m"] == log.values("pelican")[-1, 1:4].tolist()


def test_the_summary_of_two_vehicles_has_separation_and_events(row):
    summary = json.loads((row[0] / "summary.json").read_text())
    assert list(summary["vehicles"]) == ["pelican-1", "pelican-2"]
    # they begin 20 m apart; in a second one comes a meter nearer to the other
    assert summary["min_separation_m"] == pytest.approx(19.0, abs=0.2)
    assert {(e["time_s"], e["vehicle"]) for e in summary["events"]} == {
        (0.0, "pelican-1"),
        (0.0, "pelican-2"),
    }
    assert all("reached" in event["event"] for event in summary["events"])


# output of a run


@pytest.mark.slow
def test_json_is_the_summary_alone_on_standard_output(process, tmp_path):
    running = process("run", *PLAIN, "--duration", 0.5, "--out", tmp_path, "--json")
    answer = wait_for(running)
    assert (answer.status, answer.err) == (0, "")
    assert json.loads(answer.out) == json.loads((tmp_path / "summary.json").read_text())
    assert len(answer.out.splitlines()) == 1


def test_brackets_in_the_name_of_a_folder_are_shown(row, capsys):
    folder, _ = row
    summary = json.loads((folder / "summary.json").read_text())
    kittiwake.cli.flight_report.show_summary(summary, Path("runs[b]"))
    assert "overview.png are in runs[b]" in capsys.readouterr().out


def test_run_prints_a_table_and_the_folder(row):
    folder, answer = row
    assert answer.status == 0
    assert "pelican-1" in answer.out
    assert "completed" in answer.out
    assert str(folder) in answer.out


def test_quiet_prints_nothing(quiet):
    assert quiet[1] == Answer(0, "", "")


# ends of a run


@pytest.mark.slow
def test_a_lost_vehicle_ends_with_status_1(tmp_path):
    answer = kittiwake_does(
        *("run", *PLAIN, "--duration", 5, "--out", tmp_path, "--json"),
        *("--set", "vehicles.pelican.start.velocity_world_mps=[4, 0, 0]"),
        *("--set", "world.area.x_m=[-1, 1]"),
    )
    summary = json.loads(answer.out)
    assert (answer.status, summary["status"]) == (1, "failed")
    assert "pelican" in summary["reason"]
    assert "x_m" in summary["reason"]
    assert summary["vehicles"]["pelican"]["valid"] is False
    assert summary["duration_s"] < 1.0
    assert (tmp_path / "overview.png").read_bytes().startswith(PNG)


@pytest.mark.slow
def test_a_diverging_vehicle_ends_with_status_1(tmp_path):
    answer = kittiwake_does(
        *("run", *PLAIN, "--duration", 5, "--out", tmp_path),
        *("--set", "vehicles.pelican.parameters.mass_kg=1e-320"),
        *("--set", "lost_vehicle=continue"),
    )
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (answer.status, summary["status"]) == (1, "diverged")
    assert "non-finite" in summary["reason"]
    assert summary["reason"] in answer.out
    assert (tmp_path / "overview.png").read_bytes().startswith(PNG)


@pytest.mark.slow
def test_a_loss_that_is_no_failure_ends_with_status_0(tmp_path):
    answer = kittiwake_does(
        *("run", *PLAIN, "--duration", 1, "--out", tmp_path, "--json"),
        *("--set", "world.area.x_m=[5, 6]", "--set", "lost_vehicle=continue"),
        *("--set", "vehicles.pelican.guidance=hold"),
    )
    summary = json.loads(answer.out)
    assert (answer.status, summary["status"], summary["duration_s"]) == (0, "completed", 1.0)
    assert [event["time_s"] for event in summary["events"]] == [0.0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["keep-spit"], "Did you mean 'keep-spot'?"),
        (["nothing.yaml"], "cannot read 'nothing.yaml'"),
        (["keep-spot", "--set", "vehicles.pelican.model=pelicn"], "Did you mean 'pelican'?"),
        (["keep-spot", "--set", "vehicles.pelicn.model=pelican"], "Did you mean 'pelican'?"),
        (
            ["keep-spot", "--set", "vehicles.pelican.controller=qrsim-waypont"],
            "Did you mean 'qrsim-waypoint'?",
        ),
        (["keep-spot", "--duration", "0"], "`--duration`: got 0; must be a number above"),
        (["keep-spot", "--duration", "long"], "`--duration`: got long; must be a number"),
        (["keep-spot", "--duration", "-3"], "`--duration`: got -3;"),
        (["keep-spot", "--duration", "nan"], "`--duration`: got nan;"),
        (["keep-spot", "--duration", "inf"], "`--duration`: got inf;"),
        (["keep-spot", "--duration", "1e12"], "steps"),
        (["keep-spot", "--seed", "-1"], "`--seed`: got -1; must be an integer from 0"),
        (["keep-spot", "--seed", "one"], "`--seed`: got one; must be an integer from"),
        (["keep-spot", "--seed", str(2**63)], f"must be an integer from 0 to {2**63 - 1}"),
        (["keep-spot", "--no-such-option"], "--no-such-option"),
    ],
)
def test_bad_input_ends_with_status_2_and_a_message(arguments, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = kittiwake_does("run", *arguments)
    assert (answer.status, answer.out) == (2, "")
    assert expected in answer.err
    assert "Traceback" not in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["compare", "hover", "--controllers", "lee", "--seeds", "0"], "`--seeds`: got 0; must be"),
        (["compare", "hover", "--controllers", "lee", "--seeds", "x"], "must be a whole number"),
        (["export", ".", "--to", "geotiff", "--cell", "0"], "must be at least 0.001"),
        (["view", "hover", "--port", "-1"], "`--port`: got -1; must be at least 0"),
        (["run", "hover", "--out", ""], "`--out`: got ''; must not be empty"),
        (["run", "hover", "--out="], "`--out`: got ''; must not be empty"),
        (["plot", ""], "`argument`: got ''; must not be empty"),
    ],
)
def test_invalid_option_gives_one_line_in_the_common_format(arguments, expected):
    answer = kittiwake_does(*arguments)
    assert (answer.status, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert expected in answer.err
    assert "Input should" not in answer.err


# overrides


@pytest.mark.slow
def test_set_reaches_scalars_lists_and_nested_records(tmp_path):
    answer = kittiwake_does(
        *("run", *PLAIN, "--out", tmp_path, "--quiet"),
        *("--set", "time.duration_s=0.1"),
        *("--set", "vehicles.pelican.start.position_world_m=[1, 2, 3]"),
        *("--set", "world.area.x_m.1=25"),
        *("--set", "world.wind={type: shear, speed_at_6m_mps: 1, from_deg: 0}"),
        *("--set", "world.turbulence.type=dryden"),
        *("--set", "world.turbulence.speed_at_6m_mps=1"),
        *("--set", "vehicles.pelican.parameters.mass_kg=1.7"),
    )
    assert answer.status == 0
    written = yaml.safe_load((tmp_path / "scenario.yaml").read_text())
    assert written["time"]["duration_s"] == 0.1
    assert written["world"]["area"]["x_m"] == [-10, 25]
    assert written["world"]["wind"]["type"] == "shear"
    assert written["world"]["turbulence"] == {"type": "dryden", "speed_at_6m_mps": 1}
    assert written["vehicles"]["pelican"]["parameters"] == {"mass_kg": 1.7}
    log = Log.read(tmp_path)
    assert log.values("pelican")[0, 1:4].tolist() == [1.0, 2.0, 3.0]
    assert log.column("pelican", "act_thrust_n")[0] == pytest.approx(1.7 * 9.81)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return the output and the folder of a flight of recorded inputs in the current folder."""
    place = tmp_path_factory.mktemp("inputs")
    (place / "mine.csv").write_text(INPUTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        item = "vehicles.pelican.guidance.file=mine.csv"
        return kittiwake_does("run", "pelican-playback", "--set", item, "--out", "run", "--json"), (
            place / "run"
        )


@pytest.mark.slow
def test_file_given_on_the_command_line_is_relative_to_the_working_directory(played):
    answer, folder = played
    assert answer.status == 0
    assert json.loads(answer.out)["duration_s"] == 1.0
    pitch = Log.read(folder).column("pelican", "cmd_pitch_rad")
    assert set(pitch[:25]) == {0.0}
    assert set(pitch[25:]) == {0.1}


@pytest.mark.slow
def test_a_run_keeps_its_recorded_inputs_and_flies_again_from_anywhere(played, tmp_path):
    _, folder = played
    answer = kittiwake_does("run", folder / "scenario.yaml", "--out", tmp_path, "--quiet")
    assert answer.status == 0
    again, first = Log.read(tmp_path), Log.read(folder)
    assert again.values("pelican").tobytes() == first.values("pelican").tobytes()


# list and check


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        ("scenarios", ["keep-spot", "keep-spot-10", "pelican-playback", "waypoint-tour"]),
        ("vehicles", ["pelican"]),
        ("sensors", []),
        ("estimators", ["truth"]),
        ("controllers", ["qrsim-velocity", "qrsim-waypoint"]),
        ("guidance", ["hold", "playback", "waypoints"]),
        ("rotors", ["blade-element", "lumped"]),
        ("forces", ["linear-drag", "quadratic-drag", "rotation-damping"]),
        ("currents", ["none", "uniform"]),
        ("behaviors", []),
        ("tasks", []),
    ],
)
def test_list_gives_each_kind_as_an_array_of_names(kind, known):
    answer = kittiwake_does("list", kind, "--json")
    names = json.loads(answer.out)
    assert (answer.status, answer.err) == (0, "")
    assert names == sorted(names)
    assert set(known) <= set(names)


def test_list_without_a_kind_shows_all_kinds_with_summaries():
    answer = kittiwake_does("list")
    for word in ("scenarios", "vehicles", "controllers", "keep-spot", "pelican", "AscTec"):
        assert word in answer.out


@pytest.mark.parametrize(
    ("word", "meant"),
    [("vehicle", "vehicles"), ("qrsim-waypont", "qrsim-waypoint"), ("keep-spt", "keep-spot")],
)
def test_list_of_an_unknown_word_names_the_nearest_kind_or_name(word, meant):
    answer = kittiwake_does("list", word)
    assert (answer.status, answer.out) == (2, "")
    assert f"called '{word}'" in answer.err
    assert f"Did you mean '{meant}'?" in answer.err


def test_list_of_a_controller_has_its_command_types_and_parameters():
    answer = kittiwake_does("list", "qrsim-waypoint")
    assert (answer.status, answer.err) == (0, "")
    assert "Consumes PositionYaw, produces AttitudeThrottle." in answer.out
    rows = {row[0]: row[1:] for line in answer.out.splitlines() if (row := line.split())}
    assert rows["max_speed_mps"] == ["5", "above", "0", "_kn"]
    assert rows["yaw.max_rate_radps"] == ["4.4", "above", "0", "_degps,", "_rpm"]
    assert rows["height.hover_throttle"] == ["0.59", "a", "number"]


def test_list_of_a_component_ends_with_its_equations():
    answer = " ".join(kittiwake_does("list", "hover").out.split())
    assert "the reward of a step is r = dt s(|p|; 1 m) (0.6 + 0.2 s(|v|; 1 m/s)" in answer
    assert answer.index("place_world_m") < answer.index("the reward of a step")


def test_list_of_a_list_of_records_has_the_keys_of_an_entry():
    parameters = json.loads(kittiwake_does("list", "mission", "--json").out)
    guidance = {key.removeprefix("guidance."): row for key, row in parameters.items()}
    assert guidance["steps"]["allowed"] == "a list; each entry has the keys below"
    assert "takeoff" in guidance["steps.N.do"]["allowed"]
    assert guidance["rules.N.when.above"]["allowed"] == "a number"


def test_list_of_a_vehicle_has_the_numbers_of_its_data_file():
    answer = kittiwake_does("list", "pelican")
    assert "command type is AttitudeThrottle" in answer.out
    parameters = json.loads(kittiwake_does("list", "pelican", "--json").out)
    assert parameters["mass_kg"] == {
        "default": 1.68,
        "required": False,
        "allowed": "above 0",
        "other_keys": [],
        "meaning": "total mass",
    }
    assert parameters["thrust_polynomial_n"]["default"] == [0.663881, 3.050826953, 40.26064275695]
    assert parameters["integrator"]["default"] == "heun"
    assert parameters["max_angle_rad"]["other_keys"] == ["max_angle_deg"]


def test_list_of_a_rotor_has_its_parameters():
    answer = kittiwake_does("list", "lumped")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("rotor lumped\n")
    parameters = json.loads(kittiwake_does("list", "lumped", "--json").out)
    assert parameters["thrust_ns2"]["required"] is True
    assert parameters["max_speed_radps"]["other_keys"] == [
        "max_speed_degps",
        "max_speed_rpm",
    ]
    assert parameters["inflow_ns2pm"]["default"] == 0.0


def test_list_marks_required_keys_and_lists():
    parameters = json.loads(kittiwake_does("list", "follow-trajectory", "--json").out)
    assert parameters["positions_world_m"]["required"] is True
    assert parameters["positions_world_m"]["allowed"] == "a list of [x, y, z]"
    assert parameters["max_speed_mps"]["default"] == 5.0
    answer = kittiwake_does("list", "follow-trajectory")
    assert "a list of [x, y, z]" in answer.out
    assert "required" in answer.out


@pytest.mark.parametrize(
    ("name", "key", "allowed"),
    [
        ("nominal", "numbers", "a list of whole numbers"),
        ("pour", "persons", "2 whole numbers, from 0 to 1000"),
        ("hallway", "obstacles.points_world_m", "a list of [x, y, z]"),
    ],
)
def test_list_has_length_and_type_of_lists(name, key, allowed):
    assert json.loads(kittiwake_does("list", name, "--json").out)[key]["allowed"] == allowed


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("gnss", 5.0),
        ("imu", None),
        ("ultrasonic-array", 16.0),
        ("nominal", 5.0),
        ("gaussian-puff-dispersion", 1.0),
        ("qrsim-waypoint", None),
    ],
)
def test_list_has_the_default_rate_of_a_component(name, default):
    rate = json.loads(kittiwake_does("list", name, "--json").out)["rate_hz"]
    assert rate["default"] == default
    assert rate["allowed"].startswith("above 0, a divisor of time.rate_hz")
    assert ("without it, every step" in rate["allowed"]) == (default is None)


@pytest.mark.parametrize("name", ["isa", "none", "second-order", "lumped"])
def test_list_has_no_rate_for_components_without_one(name):
    assert "rate_hz" not in json.loads(kittiwake_does("list", name, "--json").out)


@pytest.mark.parametrize("word", ["winds", "constant"])
def test_list_keeps_brackets_of_a_summary(word):
    # words may be on two lines of the table
    assert "[east, north, up]" in " ".join(kittiwake_does("list", word).out.split())


def test_list_of_a_scenario_has_the_paths_of_each_entry_of_a_list():
    found = json.loads(kittiwake_does("list", "wind-gust", "--json").out)
    assert {"world.wind.0.type", "world.wind.1.start_s"} <= set(found)
    assert "world.wind" not in found


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("hover-rigid-body", "vehicles.rigid-body.parameters.forces.0.type"),
        ("hover-from-shapes", "vehicles.of-shapes.parameters.inertia_kgm2.from.0.cuboid.mass_kg"),
    ],
)
def test_list_of_a_scenario_has_a_row_for_each_entry(name, key):
    assert key in json.loads(kittiwake_does("list", name, "--json").out)


def test_list_of_a_vehicle_has_the_alternatives_to_mass_and_inertia():
    found = json.loads(kittiwake_does("list", "rigid-body", "--json").out)
    assert {"urdf", "inertia_kgm2.from"} <= set(found)
    assert "urdf" not in json.loads(kittiwake_does("list", "pelican", "--json").out)


def test_list_of_a_name_in_several_families_describes_each():
    answer = kittiwake_does("list", "none")
    headings = [line for line in answer.out.splitlines() if line.endswith("none")]
    assert headings == [
        "wind none",
        "turbulence model none",
        "current none",
        "range error none",
    ]
    parameters = json.loads(kittiwake_does("list", "none", "--json").out)
    assert list(parameters) == ["turbulence.rate_hz"]


def test_list_of_a_scenario_has_the_paths_that_can_be_set():
    answer = kittiwake_does("list", "waypoint-tour")
    for words in ("five waypoints", "world.wind.speed_at_6m_mps", "waypoint-tour.yaml"):
        assert words in answer.out
    values = json.loads(kittiwake_does("list", "waypoint-tour", "--json").out)
    assert values["time.rate_hz"]["default"] == 50
    assert values["world.area.x_m"]["default"] == [-60, 60]


def every_name():
    registered = {name for registry in REGISTRIES for name in registry.entries}
    return sorted(registered | set(library.names()))


@pytest.mark.parametrize("name", every_name())
def test_list_of_any_name_fits_a_narrow_terminal_and_cuts_nothing_short(name):
    answer = kittiwake_does("list", name)
    assert (answer.status, answer.err) == (0, "")
    assert "…" not in answer.out
    assert max(len(line) for line in answer.out.splitlines() if "file:" not in line) <= 80
    for key in json.loads(kittiwake_does("list", name, "--json").out):
        # a name of several kinds has the kind as prefix in JSON, and as heading here
        assert key in answer.out or key.partition(".")[2] in answer.out


@pytest.mark.slow
@pytest.mark.parametrize("name", library.names())
def test_check_accepts_the_librarys_scenarios(name):
    answer = kittiwake_does("check", name)
    assert (answer.status, answer.err) == (0, "")
    assert f"{name}: can be flown" in answer.out


def test_check_reports_all_errors_at_once():
    answer = kittiwake_does(
        *("check", "keep-spot", "--set", "vehicles.pelican.guidance.type=hald"),
        *("--set", "vehicles.pelican.start.yaw_dg=1"),
    )
    assert (answer.status, answer.out) == (2, "")
    assert len(answer.err.splitlines()) == 2


# plot and export


@pytest.mark.slow
def test_plot_draws_the_picture_again(spot):
    folder, _ = spot
    picture = folder / "overview.png"
    before = picture.read_bytes()
    picture.unlink()
    answer = kittiwake_does("plot", folder)
    assert (answer.status, answer.err) == (0, "")
    assert str(picture) in answer.out
    assert picture.read_bytes() == before


@pytest.mark.slow
def test_plot_writes_only_named_panels_in_the_given_format_and_style(spot):
    folder, _ = spot
    options = ("--format", "pdf", "--style", "paper", "--only", "position,speed")
    answer = kittiwake_does("plot", folder, *options)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out == f"The picture is {folder / 'overview.pdf'}\n"
    assert (folder / "overview.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_plot_draws_a_second_run_over_the_first_one(spot, row):
    folder, _ = spot
    answer = kittiwake_does("plot", folder, folder)
    assert (answer.status, answer.err) == (0, "")
    assert (folder / f"overview-with-{folder.name}.png").read_bytes().startswith(PNG)
    answer = kittiwake_does("plot", folder, row[0])
    assert (answer.status, answer.out) == (2, "")
    assert f"{folder} has pelican; {row[0]} has pelican-1, pelican-2" in answer.err


def test_plot_refuses_a_sensor_that_the_log_does_not_have(spot):
    answer = kittiwake_does("plot", spot[0], "--sensor", "imuu")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(
        "--sensor imuu: no vehicle in this log has it. Did you mean 'imu'? Allowed: "
    )


def rank(column):
    """Return the index of a column's group in a CSV file."""
    groups = ("cmd_", "act_", "sensor.", "estimate.")
    return next((i for i, group in enumerate(groups) if column.startswith(group)), len(groups))


def test_csv_is_a_file_for_each_vehicle_with_the_documented_columns(row, tmp_path):
    answer = kittiwake_does("export", row[0], "--to", "csv", "-o", tmp_path / "tables")
    assert (answer.status, answer.err) == (0, "")
    files = sorted((tmp_path / "tables").iterdir())
    assert [path.name for path in files] == ["pelican-1.csv", "pelican-2.csv"]
    for path in files:
        assert str(path) in answer.out
        with path.open(newline="") as file:
            header, *rows = csv.reader(file)
        assert header[:14] == STATE_COLUMNS
        assert header[14:19] == COMMAND
        assert header[19] == "act_thrust_n"
        assert [rank(column) for column in header[14:]] == sorted(map(rank, header[14:]))
        expected = Log.read(row[0]).values(path.stem)
        assert np.array(rows, float).tobytes() == expected.tobytes()


def test_csv_of_one_vehicle_can_be_one_file(spot, tmp_path):
    answer = kittiwake_does("export", spot[0], "--to", "csv", "-o", tmp_path / "flight.csv")
    assert answer.status == 0
    assert (tmp_path / "flight.csv").read_text().startswith("time_s,x_m,y_m,z_m,qw,")


def test_parquet_holds_all_vehicles(row, tmp_path):
    import pandas

    answer = kittiwake_does("export", row[0], "--to", "parquet", "-o", tmp_path / "log.parquet")
    assert answer.status == 0
    frame = pandas.read_parquet(tmp_path / "log.parquet")
    assert list(frame["vehicle"].unique()) == ["pelican-1", "pelican-2"]
    assert len(frame) == 2 * 51


def test_mcap_can_be_read_by_others(row, tmp_path):
    from mcap.reader import make_reader

    answer = kittiwake_does("export", row[0], "--to", "mcap", "-o", tmp_path / "all.mcap")
    assert answer.status == 0
    with (tmp_path / "all.mcap").open("rb") as file:
        reader = make_reader(file)
        topics = {channel.topic for channel in reader.get_summary().channels.values()}
        attached = [attachment.name for attachment in reader.iter_attachments()]
    assert topics == {"/pelican-1/log", "/pelican-2/log", "/events"}
    assert attached == ["scenario.yaml", "summary.json"]


def test_bags_hold_the_messages_of_the_ros_bridge(row, tmp_path):
    reading = pytest.importorskip("rosbags.highlevel", reason="rosbags is not installed")
    wanted = {"rosbag1": ("flight.bag",), "rosbag2": ("flight", "--storage", "mcap")}
    for form, (name, *more) in wanted.items():
        out = tmp_path / name
        answer = kittiwake_does("export", row[0], "--to", form, "-o", out, *more)
        assert (answer.status, answer.err.strip()) == (0, "")
        assert answer.out == f"wrote {out}\n"
        with reading.AnyReader([out]) as reader:
            counts = {connection.topic: connection.msgcount for connection in reader.connections}
        assert counts["/pelican_1/odometry"] == counts["/pelican_2/odometry"] == 51
        assert counts["/clock"] == 51


@pytest.mark.parametrize("form", ["csv", "parquet", "mcap", "rosbag1", "rosbag2"])
@pytest.mark.slow
def test_a_log_is_exported_from_a_folder_with_a_name_outside_the_locale(
    form, spot, process, tmp_path
):
    folder = tmp_path / "Fläche ✈"
    shutil.copytree(spot[0], folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", "C")
        patch.setenv("PYTHONUTF8", "0")
        answer = wait_for(process("export", folder, "--to", form))
    assert answer.status == 0, answer.err
    assert len(list(folder.iterdir())) == len(list(spot[0].iterdir())) + 1


def test_storage_requires_rosbag2(row):
    answer = kittiwake_does("export", row[0], "--to", "csv", "--storage", "mcap")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == "`--storage`: only allowed with --to rosbag2, not with --to csv\n"
    answer = kittiwake_does("export", row[0], "--to", "rosbag2", "--storage", "mcapp")
    assert answer.err.startswith(
        "`--storage`: got mcapp; unknown. Did you mean 'mcap'? Allowed: mcap, sqlite3."
    )


def test_unwritable_output_file_is_bad_input(spot, tmp_path):
    out = tmp_path / "no" / "such" / "log.parquet"
    answer = kittiwake_does("export", spot[0], "--to", "parquet", "-o", out)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"there is no folder '{out.parent}'. Create it first")


@pytest.mark.parametrize("command", [("plot",), ("export", "--to", "csv")])
def test_a_folder_without_a_run_is_bad_input(command, tmp_path):
    name, *options = command
    for folder in (tmp_path / "nothing", tmp_path):
        answer = kittiwake_does(name, folder, *options)
        assert (answer.status, answer.out) == (2, "")
        assert str(folder) in answer.err
        assert "kittiwake run" in answer.err


def test_an_unknown_format_is_bad_input(spot):
    answer = kittiwake_does("export", spot[0], "--to", "parket")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == (
        "`--to`: got parket; unknown format. Did you mean 'parquet'? Allowed: csv, foxglove, "
        "geojson, geotiff, mat, mcap, parquet, rosbag1, rosbag2.\n"
    )


# help


def test_help_names_the_commands_and_imports_nothing_heavy(process):
    answer = wait_for(process("--help", python=["-X", "importtime"]))
    assert answer.status == 0
    for command in ("run", "list", "check", "plot", "export", "bench"):
        assert command in answer.out
    imported = {line.rpartition("|")[2].strip() for line in answer.err.splitlines()}
    assert "typer" in imported
    heavy = {"jax", "jaxlib", "numpy", "equinox", "pandas", "matplotlib", "pydantic", "yaml"}
    assert imported & heavy == set()


@pytest.mark.parametrize("command", ["run", "list", "check", "plot", "export", "bench"])
def test_each_command_has_help(command):
    answer = kittiwake_does(command, "--help")
    assert answer.status == 0
    assert command in answer.out


def test_version_is_printed():
    assert kittiwake_does("--version") == Answer(0, f"kittiwake {kittiwake.__version__}\n", "")


@pytest.mark.slow
def test_a_list_of_names_imports_no_jax(process):
    answer = wait_for(process("list", python=["-X", "importtime"]))
    assert answer.status == 0
    imported = {line.rpartition("|")[2].strip() for line in answer.err.splitlines()}
    assert imported & {"jax", "jaxlib", "equinox", "numpy"} == set()


def test_a_run_imports_no_library_that_it_does_not_need(process, tmp_path):
    flown = ("run", "hover-hummingbird", "--set", "time.duration_s=0.1", "--out", tmp_path / "run")
    answer = wait_for(process(*flown, python=["-X", "importtime"]))
    assert answer.status == 0
    imported = {line.rpartition("|")[2].strip() for line in answer.err.splitlines()}
    assert "matplotlib" in imported
    assert imported & {"scipy", "pandas", "pyarrow", "gymnasium", "mujoco", "viser"} == set()


# bench


def test_bench_help_names_exactly_the_existing_cases():
    assert tuple(CASES) == bench.NAMES
    text = kittiwake_does("bench", "--help").out
    assert all(name in text for name in CASES)


def test_an_unknown_case_is_refused_with_the_nearest_one():
    answer = kittiwake_does("bench", "rollout-1k")
    assert (answer.status, answer.out) == (2, "")
    assert "Did you mean 'rollout-1" in answer.err


def test_the_figures_of_all_cases_fit_a_narrow_terminal(monkeypatch):
    figures = {
        **{"compile_s": 123.45, "steps_per_s": 123456789.0, "realtime_factor": 1234567.0},
        **{"peak_memory_mb": 12345.0, "vehicle_bytes": 12345},
        **{"engine": "simd", "code_bytes": 9876543},
    }
    monkeypatch.setattr(bench, "_measure", lambda case: figures)
    answer = kittiwake_does("bench")
    assert answer.status == 0
    assert "…" not in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80
    for case, (words, _) in CASES.items():
        assert case in answer.out
        assert words.split()[-1] in answer.out
    assert answer.out.count("123,456,789") == answer.out.count("12.3") == len(CASES)
    assert len(re.findall(r"\bsimd +9877$", answer.out, re.MULTILINE)) == len(CASES)


@pytest.mark.slow
def test_a_failing_case_is_a_row_and_the_others_are_measured(monkeypatch):
    figures = {
        **{"compile_s": 1.0, "steps_per_s": 2e6, "realtime_factor": 3.0, "peak_memory_mb": 4.0},
        **{"vehicle_bytes": 5, "engine": "xla", "code_bytes": None},
    }
    refused = bench._measure("no-such-case")
    answers = {case: refused if case == "rollout-1" else figures for case in CASES}
    monkeypatch.setattr(bench, "_measure", answers.__getitem__)
    answer = kittiwake_does("bench")
    rows = [line.split() for line in answer.out.splitlines() if line.strip()]
    failed = next(words for words in rows if words[0] == "rollout-1")
    assert failed[-6:] == ["failed", "-", "-", "-", "-", "-"]
    assert answer.out.count("2,000,000") == len(CASES) - 1
    assert answer.err.startswith("rollout-1 failed:\n")
    assert "KeyError: 'no-such-case'" in answer.err
    assert answer.status == bench.FAILED
    answer = kittiwake_does("bench", "--json")
    assert json.loads(answer.out) == answers


# runs that are cut off


@pytest.fixture
def long_run(process, tmp_path):
    """Return process and folder of a run of a simulated day, after some written blocks."""
    folder = tmp_path / "run"
    running = process(
        *("run", *PLAIN, "--duration", 86_400, "--out", folder),
        *("--set", "time.log_rate_hz=1", "--set", FAR, "--set", "lost_vehicle=continue"),
    )
    log, began = folder / "log.mcap", time.monotonic()
    while not log.is_file() or log.stat().st_size < 100_000:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() - began < 60.0
        time.sleep(0.05)
    yield running, folder
    running.kill()
    running.communicate()


def interrupted_status(number):
    """Return the possible statuses of a command that a signal has ended.

    At a terminal, Ctrl-C ends the command by the signal itself; see ``kittiwake.cli``.
    """
    return {128 + number, -signal.SIGINT} if number == signal.SIGINT else {128 + number}


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_signal_ends_a_run_in_order(number, long_run):
    running, folder = long_run
    running.send_signal(number)
    answer = wait_for(running)
    assert answer.status in interrupted_status(number)
    assert "Traceback" not in answer.err
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "failed"
    assert summary["reason"].startswith("stopped by the user at ")
    assert summary["reason"] in answer.out
    log = Log.read(folder)
    assert log.complete
    assert 0.0 <= summary["duration_s"] - log.column("pelican", "time_s")[-1] < 1.0
    assert (folder / "overview.png").read_bytes().startswith(PNG)


@pytest.mark.slow
def test_a_stop_before_the_flight_says_that_nothing_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "kittiwake.runtime.flight_executor.CompiledExecutor.begin",
        Mock(side_effect=KeyboardInterrupt),
    )
    answer = kittiwake_does("run", *PLAIN, "--out", "here", "--quiet")
    assert answer.err.strip() == "stopped before the flight began; nothing was written"
    assert not (tmp_path / "here").exists()


@pytest.mark.slow
def test_a_second_signal_still_leaves_a_summary(long_run):
    running, folder = long_run
    for _ in range(3):
        running.send_signal(signal.SIGINT)
    answer = wait_for(running)
    assert answer.status in interrupted_status(signal.SIGINT)
    assert "Traceback" not in answer.err
    # signals that come together count as one, and the picture is drawn then
    assert f" in {folder}" in (answer.out + answer.err)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["reason"].startswith("stopped by the user at ")
    log = Log.read(folder)
    assert log.complete
    assert 0.0 <= summary["duration_s"] - log.column("pelican", "time_s")[-1] < 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", ["typer", "jax", "kittiwake.scenario.load", "kittiwake.sim.fleet"]
)
def test_ctrl_c_during_an_import_ends_without_output(module, process, tmp_path):
    press = f"""
import os, signal, sys
class Press:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Press())
"""
    answer = wait_for(process("run", "hover-pelican", "--out", "here", before=press, cwd=tmp_path))
    assert answer.status in interrupted_status(signal.SIGINT)
    assert (answer.out, answer.err) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_the_entry_point_handles_signals_before_heavy_imports(process):
    only = "import sys; before = {*sys.modules}; import kittiwake.cli"
    shown = "print(*sorted({*sys.modules} - before))"
    child = [sys.executable, "-c", f"{only}; {shown}"]
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    loaded = subprocess.run(child, env=environment, capture_output=True, text=True, check=True)
    assert {*loaded.stdout.split()} & {"typing", "dataclasses", "inspect", "threading"} == set()


def test_ctrl_c_before_signals_are_handled_ends_without_output(process, tmp_path):
    press = """
import os, signal, sys
class Press:
    def find_spec(self, name, *_):
        if name == "kittiwake.runtime.interrupt":
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Press())
"""
    answer = wait_for(process("list", before=press, cwd=tmp_path))
    assert answer.status in interrupted_status(signal.SIGINT)
    assert (answer.out, answer.err) == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_ctrl_c_leaves_a_replay_with_status_0_and_sigterm_with_143(number, status, spot, process):
    pytest.importorskip("viser")
    ready = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    running = process("view", spot[0], "--no-browser", "--port", "0", before=ready)
    try:
        line = "unread"
        while line and "http://" not in line:
            line = running.stderr.readline()
        running.send_signal(number)
        assert wait_for(running).status == status
    finally:
        running.kill()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "status"), [(("run", "--duration", "600", "--live"), 130), (("view",), 0)]
)
def test_a_live_flight_ends_at_once_while_a_program_is_compiled(command, status, process, tmp_path):
    command, *options = command
    running = process(
        *(command, "hover-hummingbird", *options, "--no-browser", "--port", "0"), cwd=tmp_path
    )
    try:
        line = "unread"
        while line and "http://" not in line:
            line = running.stderr.readline()
        # the program takes 10 s to compile, unless it is in the cache
        time.sleep(1.0)
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        answer = wait_for(running)
    finally:
        running.kill()
    # 2 s on an idle machine
    assert time.monotonic() - began < 6.0
    assert answer.status in {status, -signal.SIGINT if status else 0}
    assert "Traceback" not in answer.err
    folders = [*(tmp_path / "runs").glob("*/summary.json")]
    if command == "run" and not folders:
        assert "stopped before the flight began; nothing was written" in answer.err
    for summary in folders:
        assert json.loads(summary.read_text())["reason"].startswith("stopped by the user at ")
        assert (summary.parent / "overview.png").is_file()


@pytest.mark.slow
def test_a_full_disk_ends_the_run_and_keeps_the_log(process, tmp_path):
    small = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))"
    folder = tmp_path / "run"
    answer = wait_for(
        process(
            *("run", *PLAIN, "--duration", 86_400, "--out", folder, "--quiet"),
            *("--set", "time.log_rate_hz=1", "--set", FAR, "--set", "lost_vehicle=continue"),
            before=small,
        )
    )
    assert answer.status == 2
    assert answer.err.count("\n") == 1
    assert f"'{folder / 'log.mcap'}' cannot be written: File too large" in answer.err
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "failed"
    assert summary["reason"].startswith("the log could not be written any further at ")
    log = Log.read(folder)
    assert not log.complete
    assert log.end_s > 100.0
    assert all(path.stat().st_size > 0 for path in folder.iterdir())


@pytest.mark.slow
def test_the_log_of_a_killed_run_can_be_plotted_and_exported(long_run, tmp_path):
    running, folder = long_run
    running.kill()
    running.wait(timeout=60)
    assert not (folder / "summary.json").exists()
    plotted = kittiwake_does("plot", folder)
    assert plotted.status == 0
    assert re.search(r"the recording was cut off at \d+ s of 86400 s", plotted.err)
    assert (folder / "overview.png").read_bytes().startswith(PNG)
    for form in ("csv", "parquet", "mcap"):
        exported = kittiwake_does("export", folder, "--to", form)
        assert exported.status == 0
        assert exported.err == plotted.err
    with (folder / "pelican.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:14] == STATE_COLUMNS
    # every second of the flight from the start on, with nothing missing in between
    assert len(rows) > 100
    np.testing.assert_array_equal(np.array(rows, float)[:, 0], np.arange(len(rows)))
    again = kittiwake_does(
        "run", folder / "scenario.yaml", "--duration", 2, "--out", tmp_path / "again", "--quiet"
    )
    assert again.status == 0


# sweeps


SWEEP = ("sweep", "hover-pelican", "--set", "time.duration_s=0.2", "--seeds", 3)
VARIED = ("--vary", "vehicles.pelican.start.yaw_deg=0,90")


def test_a_sweep_prints_rates_and_runs_to_fly_again(tmp_path):
    folder = tmp_path / "s"
    answer = kittiwake_does(*SWEEP, *VARIED, "--out", folder)
    assert answer.status == 0
    assert "6 of 6 runs succeeded: 100.0%" in answer.out
    assert f"kittiwake run {folder} --run" in answer.out
    assert (folder / "sweep.png").read_bytes().startswith(PNG)
    (folder / "sweep.png").unlink()
    assert kittiwake_does("plot", folder, "--success", "pelican.distance_m < 9").status == 0
    assert (folder / "sweep.png").exists()
    assert (folder / "bands.png").read_bytes().startswith(PNG)
    (folder / "bands.png").unlink()
    assert kittiwake_does("plot", folder, "--runs", 0).status == 0
    assert not (folder / "bands.png").exists()
    again = kittiwake_does("run", folder, "--run", 4, "--out", tmp_path / "again", "--json")
    assert json.loads(again.out)["seed"] == 1
    resumed = kittiwake_does("sweep", "--resume", folder, "--json")
    figures = json.loads(resumed.out)
    assert (figures["successes"], figures["runs"], figures["failures"]) == (6, 6, {})
    assert set(figures["worst"]) <= {*range(6)}


@pytest.mark.slow
def test_a_sweep_of_controllers_prints_the_rate_of_each(tmp_path):
    given = ("sweep", "goto-waypoint", "--controllers", "qrsim-waypoint,position", "--seeds", 2)
    answer = kittiwake_does(*given, "--set", "time.duration_s=0.1", "--out", tmp_path / "s")
    assert "\n4 of 4 runs succeeded: 100.0%" in f"\n{answer.out}"
    for name in ("qrsim-waypoint", "position"):
        assert f"{name}: 2 of 2 runs succeeded: 100.0%" in answer.out


@pytest.mark.slow
def test_runs_of_bands_are_spread_over_a_sweep(tmp_path, monkeypatch):
    assert kittiwake_does(*SWEEP, *VARIED, "--out", tmp_path / "s").status == 0
    chosen = []
    own = sweeps.sweep_logs
    monkeypatch.setattr(
        sweeps,
        "sweep_logs",
        lambda folder, runs, **given: chosen.extend(runs) or own(folder, runs, **given),
    )
    assert kittiwake_does("plot", tmp_path / "s", "--runs", 4).status == 0
    assert chosen == [0, 1, 3, 4]


@pytest.mark.slow
def test_a_sweep_without_success_exits_with_its_status(tmp_path):
    limit = ("--success", "pelican.distance_m >= 1e6")
    answer = kittiwake_does(*SWEEP, *VARIED, *limit, "--out", tmp_path / "s")
    assert answer.status == 1
    assert "6 x completed, but not pelican.distance_m >= 1e6" in answer.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--vary", "vehicles.pelican.start.yaw_dg=0,90"), "yaw_dg"),
        (("--vary", "vehicles.pelican.start.yaw_deg"), "write a key and its values"),
        (("--runs", 4), "give one of both"),
        (("--resume", "."), "not allowed with --resume"),
        (("--success", "status is completed"), "write a column, a comparison and a number"),
        (("--ray", "127.0.0.1"), "must be HOST:6379, the address of a cluster, or local"),
    ],
)
def test_wrong_options_of_a_sweep_are_refused_and_leave_nothing(options, message, tmp_path):
    answer = kittiwake_does(*SWEEP, *options, "--out", tmp_path / "s")
    assert (answer.status, answer.out) == (2, "")
    assert message in answer.err
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("command", [SWEEP, ("tune", "hover-pelican", "--free", "world.*")])
def test_a_scenario_of_the_user_is_not_replaced(command, tmp_path):
    mine = tmp_path / "scenario.yaml"
    mine.write_text("# mine\n")
    answer = kittiwake_does(*command, "--out", tmp_path)
    assert (answer.status, answer.out) == (2, "")
    assert "is not empty: it holds scenario.yaml. Name another folder" in answer.err
    assert mine.read_text() == "# mine\n"


def test_a_sweep_whose_worst_column_has_no_numbers_says_how_to_go_on(tmp_path):
    missing = kittiwake_does(*SWEEP, "--worst-by", "nonsense", "--quiet", "--out", tmp_path / "s")
    assert (missing.status, missing.out) == (2, "")
    assert "there is no column 'nonsense'" in missing.err
    assert not (tmp_path / "s").exists()
    answer = kittiwake_does(*SWEEP, "--worst-by", "status", "--quiet", "--out", tmp_path / "s")
    assert (answer.status, answer.out) == (2, "")
    assert "the column 'status' has no numbers" in answer.err
    assert f"kittiwake sweep --resume {tmp_path / 's'}" in answer.err
    resumed = ("sweep", "--resume", tmp_path / "s", "--worst-by", "pelican.distance_m")
    assert kittiwake_does(*resumed).status == 0


def test_a_sweep_that_is_stopped_says_how_to_go_on(tmp_path, monkeypatch):
    def stop(flights, part, own=Flights.rows):
        if 0 not in part:
            raise KeyboardInterrupt
        return own(flights, part)

    monkeypatch.setattr(Flights, "rows", stop)
    answer = kittiwake_does(*SWEEP[:-2], "--runs", 16, "--out", tmp_path / "s")
    assert answer.status == 130
    assert f"runs are flown. To go on: kittiwake sweep --resume {tmp_path / 's'}" in answer.err


def test_refused_runs_show_their_values_and_are_not_proposed(tmp_path):
    gravity = ("--vary", "world.gravity_mps2=-5,9.8")
    answer = kittiwake_does(*SWEEP[:-2], *gravity, "--out", tmp_path / "s")
    assert answer.status == 0
    reason = "vary world.gravity_mps2=-5: world.gravity_mps2: -5 is not allowed; must be above 0"
    assert f"1 x refused: {reason}\n" in answer.out
    assert re.search(r"world.gravity_mps2 +│ -5 +│ 9.8 ", answer.out)
    assert f"kittiwake run {tmp_path / 's'} --run 1\n" in answer.out


def test_a_run_that_a_sweep_lacks_is_refused(tmp_path):
    assert kittiwake_does(*SWEEP, "--out", tmp_path / "s", "--quiet").status == 0
    answer = kittiwake_does("run", tmp_path / "s", "--run", 3)
    assert (answer.status, answer.out) == (2, "")
    assert "there is no run 3; the sweep has those from 0 to 2" in answer.err
    answer = kittiwake_does("run", tmp_path, "--run", 0)
    assert "holds no sweep" in answer.err
    for option in ("--seed", "--duration"):
        answer = kittiwake_does("run", tmp_path / "s", "--run", 2, option, 3)
        assert f"`{option}`: not allowed with --run" in answer.err
    answer = kittiwake_does("run", tmp_path / "s")
    assert "is the folder of a sweep. Fly one of its runs with --run N" in answer.err


# tuning


TUNE = (
    *("tune", "eight-ar-drone", "--set", "time.duration_s=1", "--seeds", 1, "--unseen", 2),
    *("--free", "vehicles.ar-drone.controller.velocity.proportional=2:60", "--evaluations", 3),
    *("--free", "vehicles.ar-drone.controller.velocity.*_s"),
)


@pytest.mark.slow
def test_a_tuning_prints_values_and_what_they_are_worth(tmp_path):
    folder = tmp_path / "t"
    answer = kittiwake_does(*TUNE, "--out", folder)
    assert answer.status == 0
    assert "1 tuning seeds" in answer.out
    assert "2 unseen seeds" in answer.out
    assert "by differences" in answer.out
    assert "Left out: vehicles.ar-drone.controller.velocity.integral_per_s is 0" in answer.out
    assert f"kittiwake run {folder / 'scenario.yaml'}" in answer.out
    flown = kittiwake_does("run", folder / "scenario.yaml", "--out", tmp_path / "r", "--json")
    figures = json.loads(kittiwake_does(*TUNE, "--out", tmp_path / "u", "--json").out)
    assert figures["method"] == "gradient"
    after = json.loads(flown.out)["vehicles"]["ar-drone"]["tracking_rms_m"]
    assert figures["seeds"][1]["value"] == after
    again = kittiwake_does(*TUNE, "--out", folder)
    assert (again.status, again.out) == (2, "")
    assert "is not empty: it holds scenario.yaml, tuned.yaml" in again.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--free", "vehicles.ar-drone.mass"), "there is no number"),
        (("--free", "a=1"), "KEY=low:high"),
        (("--objective", "ar-drone.speed"), "no summary has 'ar-drone.speed'"),
        (("--method", "newton"), "newton"),
    ],
)
def test_wrong_options_of_a_tuning_are_refused(options, message, tmp_path):
    answer = kittiwake_does(*TUNE, *options, "--out", tmp_path / "t")
    assert (answer.status, answer.out) == (2, "")
    assert message in answer.err
    assert not (tmp_path / "t").exists()


# randomization outside of tasks


@pytest.mark.slow
def test_a_run_draws_from_its_seed_and_its_folder_holds_what_was_drawn(tmp_path):
    turned = "randomize.vehicles.pelican.start.yaw_deg={uniform: [0, 360]}"
    options = ("hover-pelican", "--duration", 0.2, "--set", turned)
    folders = [tmp_path / name for name in ("one", "other", "again")]
    for folder, seed in zip(folders[:2], (1, 2), strict=True):
        assert kittiwake_does("run", *options, "--seed", seed, "--out", folder).status == 0
    resolved = folders[0] / "scenario.yaml"
    assert kittiwake_does("run", resolved, "--out", folders[2]).status == 0
    draws = [json.loads((folder / "summary.json").read_text()).get("drawn") for folder in folders]
    (path, one), (_, other) = draws[0].popitem(), draws[1].popitem()
    assert path == "vehicles.pelican.start.yaw_deg"
    assert 0.0 < one < 360.0
    assert one != other
    assert draws[2] is None
    data = yaml.safe_load(resolved.read_text())
    assert data["vehicles"]["pelican"]["start"]["yaw_deg"] == one
    assert "randomize" not in data
    logs = [Log.read(folder).values("pelican") for folder in folders]
    np.testing.assert_array_equal(logs[2], logs[0])


def test_a_curriculum_without_a_task_gives_a_warning():
    drawn = "curriculum.vehicles.pelican.start.yaw_deg={uniform: [0, 360]}"
    start = "vehicles.pelican.start.yaw_deg=0"
    answer = kittiwake_does("check", "hover-pelican", "--set", start, "--set", drawn)
    assert answer.status == 0
    assert "curriculum: applies only to the episodes of a task" in answer.err
    assert "this scenario has no task, so it has no effect" in answer.err


def test_randomize_is_checked_without_a_task():
    answer = kittiwake_does(
        "check", "hover-pelican", "--set", "randomize.world.wnd={uniform: [0, 1]}"
    )
    assert (answer.status, answer.out) == (2, "")
    assert "Did you mean 'wind'?" in answer.err


def test_misspelled_path_and_wrong_distribution_are_reported_together():
    answer = kittiwake_does(
        *("check", "keep-spot", "--set", "randomize.world.wnd={uniform: [0, 1]}"),
        *("--set", "randomize.vehicles.pelican.start.yaw_deg={normal: [1.68]}"),
    )
    assert answer.status == 2
    assert "Did you mean 'wind'?" in answer.err
    assert "normal" in answer.err


@pytest.mark.parametrize("command", ["check", "run"])
def test_scenario_inconsistent_with_its_task_is_refused(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = kittiwake_does(command, "keep-spot", "--set", "task.rate_hz=7")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("--set task.rate_hz=7: task.rate_hz 7 does not divide the physics")
    assert "write task: null" in answer.err
    assert not (tmp_path / "runs").exists()
