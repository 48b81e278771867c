"""``kittiwake identify``: a foreign log with a table of columns, options, and what is printed."""

import json

import numpy as np
import pytest
import yaml
from tests.system.commands import kittiwake_does

import kittiwake as kw

GAIN = 0.7
TABLE = {
    "time": {"column": "t", "unit": "ms"},
    "body_axes": "frd",
    "columns": {
        "cmd_pitch_rad": {"column": "pitch", "unit": "deg"},
        "cmd_roll_rad": {"column": "roll", "unit": "deg"},
        "cmd_yaw_rate_radps": {"column": "yaw", "unit": "deg/s"},
        "cmd_throttle": {"value": 0.59},
        "cmd_battery_v": {"value": 11},
        "wx_radps": {"column": "p", "unit": "deg/s"},
        "wy_radps": {"column": "q", "unit": "deg/s"},
    },
}
OPTIONS = ("--vehicle", "pelican", "--rate", "50", "--settle", "1", "--window", "2")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """CSV file in degrees, milliseconds and forward-right-down."""
    folder = tmp_path_factory.mktemp("log")
    gain = {"vehicles.pelican.parameters.attitude_gain": GAIN}
    table = kw.load("pelican-playback", overrides=gain).run().tables["pelican"]
    names = (
        "time_s",
        "cmd_pitch_rad",
        "cmd_roll_rad",
        "cmd_yaw_rate_radps",
        "wx_radps",
        "wy_radps",
    )
    # pitch and the body's second axis change their signs
    factors = np.array([1000.0, *np.degrees([-1.0, 1.0, -1.0, 1.0, -1.0])])
    np.savetxt(
        folder / "log.csv",
        table.part(names) * factors,
        delimiter=";",
        header="t;pitch;roll;yaw;p;q",
        comments="",
    )
    (folder / "table.yaml").write_text(yaml.safe_dump(TABLE))
    return folder


def identified(log, *arguments):
    return kittiwake_does(
        "identify", log / "log.csv", "--columns", log / "table.yaml", *OPTIONS, *arguments
    )


@pytest.mark.slow
def test_a_foreign_log_gives_the_gain_that_flew_it(log, tmp_path):
    answer = identified(
        log,
        "--free",
        "attitude_gain",
        "--train",
        "0:6",
        "--test",
        "6:10",
        "--out",
        tmp_path,
        "--json",
    )
    assert answer.status == 0, answer.err
    figures = json.loads(answer.out)
    (value,) = figures["values"].values()
    assert value["after"] == pytest.approx(GAIN, rel=0.01)
    before, after = figures["rms_errors"]["wy_radps"]["train"]
    assert after < 0.2 * before


def test_parameters_and_errors_are_printed(log, tmp_path):
    free = "attitude_gain=0.5:1,guidance.delay_s=-0.05:0.1"
    answer = identified(log, "--free", free, "--compare", "wx_radps", "--out", tmp_path / "out")
    assert answer.status == 0, answer.err
    for text in ("attitude_gain", "guidance.delay_s", "wx_radps", "vehicle.yaml", "Flown without"):
        assert text in answer.out
    assert "wy_radps" not in answer.out
    again = identified(log, "--free", free, "--out", tmp_path / "out")
    assert again.status == 2
    assert "holds the result of another identification" in again.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--free", "attitude_gain", "--train", "6"), "`--train`: got 6; write begin and end"),
        (("--free", "attitude_gain=2"), "write a key, or a key and its limits"),
        (("--free", "attitude_gain", "--compare", "wz_radps"), "measured column: got wz_radps"),
        (("--free", "attitude_gain", "--window", "-1"), "must be above 0"),
    ],
)
def test_wrong_options_say_what_to_write(log, tmp_path, arguments, message):
    answer = identified(log, *arguments, "--out", tmp_path / "out")
    assert answer.status == 2
    assert message in answer.err
    assert not (tmp_path / "out").exists()
