"""SP3 files: content, and error messages with lines."""

import numpy as np
import pytest
from tests.unit.environment.synthetic_orbits import BEGINS_GPS, place_ecef_m, sp3_lines

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.files import sp3
from kittiwake.scenario.files.sp3 import read_sp3

SCENARIO = """
name: sky
time: {rate_hz: 50, duration_s: 1}
world:
  start_utc: "2026-03-01T08:00:00"
  satellites: {type: sp3, file: made.sp3, numbers: [2, 9, 1, 17]}
vehicles:
  tern:
    model: pelican
    start: {position_world_m: [0, 0, 10]}
    sensors: {gnss: {type: gnss, elevation_mask_deg: -90}}
    guidance: hold
"""


def read(tmp_path, lines):
    file = tmp_path / "made.sp3"
    file.write_text("\n".join(lines) + "\n", encoding="ascii")
    return read_sp3(file)


def refusal(tmp_path, lines):
    with pytest.raises(ScenarioError) as refused:
        read(tmp_path, lines)
    return str(refused.value)


def place_of(lines, start, count=0):
    """Of the line with this beginning, the first or a later one."""
    return [i for i, line in enumerate(lines) if line.startswith(start)][count]


def test_times_numbers_and_positions_are_those_of_the_file(tmp_path):
    orbits = read(tmp_path, sp3_lines())
    assert orbits.source == "made.sp3"
    assert orbits.numbers == (1, 2, 5, 9, 17)
    assert orbits.begins_gps == BEGINS_GPS
    np.testing.assert_array_equal(orbits.time_s, np.arange(24) * 900.0)
    # the file is rounded to a millimeter
    truth = place_ecef_m(9, orbits.time_s)
    np.testing.assert_allclose(orbits.positions_ecef_m[:, 3], truth, rtol=0, atol=0.51e-3)


@pytest.mark.parametrize("version", "abcd")
def test_versions_without_letters_and_with_them_are_read(tmp_path, version):
    lines = sp3_lines(version=version)
    if version in "ab":
        lines = [line.replace("PG", "P ").replace("GPS ccc", "ccc ccc") for line in lines]
    assert read(tmp_path, lines).numbers == (1, 2, 5, 9, 17)


def test_other_systems_velocities_and_what_follows_the_end_are_passed_over(tmp_path):
    lines = sp3_lines()
    at = place_of(lines, "PG01")
    for extra in ("PR01 broken", "VG01 broken", "EP  broken", "EV  broken", "/* \x7f", "PE31"):
        lines.insert(at, extra)
    assert read(tmp_path, [*lines, "nothing of this is read"]).numbers == (1, 2, 5, 9, 17)


def test_a_position_of_zeros_is_none(tmp_path):
    lines = sp3_lines()
    lines[place_of(lines, "PG02", 3)] = "PG02" + 3 * f"{0.0:14.6f}"
    positions = read(tmp_path, lines).positions_ecef_m
    assert np.argwhere(np.isnan(positions[:, :, 0])).tolist() == [[3, 1]]


@pytest.mark.parametrize(
    ("start", "line", "expected"),
    [
        ("#", "made by hand", "an SP3 file begins with #a, #b, #c or #d, then P or V"),
        ("%c G", "%c R  cc GLO ccc cccc", "its time scale is 'GLO'; only GPS time"),
        ("*", "*  2026  3 32  6  0  0.0", "is not a time such as 2010  8 31 15  0  0.00000000"),
        ("*", "*  2026  3", "is not a time such as"),
        ("*", "*  2026  3  1  6  0  nan", "is not a time such as"),
        ("PG05", "PG05  12000.000000", "is not a position; write P, G and the number, then x, y"),
        ("PG05", "PG05" + 3 * "       12,5000", "is not a position"),
        ("PG05", "PG-5" + 3 * f"{15000.0:14.6f}", "is not a position"),
        ("PG05", "PG05" + 3 * f"{15000e3:14.3f}", "2.59808e+07 km from the Earth's center is no"),
        ("PG05", "PG05" + 3 * f"{float('nan'):14.6f}", "nan km from the Earth's center is no"),
        ("PG05", "PG05" + 3 * f"{float('inf'):14.6f}", "inf km from the Earth's center is no"),
        ("PG05", "PG02" + 3 * f"{15000.0:14.6f}", "satellite 2 has two positions at one time"),
        ("PG05", "hello", "'hello' is not a line of an SP3 file"),
    ],
)
def test_a_broken_line_is_refused_with_file_and_number(tmp_path, start, line, expected):
    lines = sp3_lines()
    at = place_of(lines, start)
    lines[at] = line
    message = refusal(tmp_path, lines)
    assert message.startswith(f"made.sp3:{at + 1}: ")
    assert expected in message


def test_times_that_do_not_grow_are_refused(tmp_path):
    lines = sp3_lines()
    at = place_of(lines, "*", 5)
    lines[at] = lines[place_of(lines, "*", 4)]
    assert refusal(
        tmp_path, lines
    ) == f"made.sp3:{at + 1}: its time must be later than the one " + ("before it")


def test_a_position_before_the_first_time_is_refused(tmp_path):
    lines = sp3_lines()
    del lines[place_of(lines, "*")]
    assert "made.sp3:8: there is no time before the first position" in refusal(tmp_path, lines)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ({"times": 12}, "got positions at 12 times; must be at least 13"),
        (
            {"interval_s": 1800},
            "got an interval of 1800 s between two times; must be at most 900 s",
        ),
    ],
)
def test_a_file_too_short_or_too_coarse_is_refused(tmp_path, shape, expected):
    assert expected in refusal(tmp_path, sp3_lines(**shape))


def test_files_without_content_are_refused(tmp_path):
    assert "made.sp3:1: an SP3 file begins" in refusal(tmp_path, [""])
    assert "has no epoch" in refusal(tmp_path, sp3_lines()[:7])
    others = [line for line in sp3_lines() if not line.startswith("PG")]
    assert "has no position of a GPS satellite" in refusal(tmp_path, others)
    with pytest.raises(ScenarioError, match="cannot read '.*none.sp3': No such file"):
        read_sp3(tmp_path / "none.sp3")


def test_binary_rubbish_is_refused_with_its_line(tmp_path):
    file = tmp_path / "made.sp3"
    file.write_bytes(bytes(range(256)) * 20)
    with pytest.raises(ScenarioError, match=r"made\.sp3:1: an SP3 file begins with"):
        read_sp3(file)


def test_files_beyond_the_limits_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sp3, "MAX_TIMES", 20)
    lines = sp3_lines()
    at = place_of(lines, "*", 20)
    assert (
        refusal(tmp_path, lines)
        == f"made.sp3:{at + 1}: more than 20 times, the limit of the reader"
    )
    monkeypatch.setattr(sp3, "MAX_BYTES", 1000)
    assert "larger than 0 MiB" in refusal(tmp_path, lines)


def scenario(tmp_path, lines, changes=None):
    (tmp_path / "made.sp3").write_text("\n".join(lines), encoding="ascii")
    (tmp_path / "sky.yaml").write_text(SCENARIO, encoding="utf-8")
    return kw.load(tmp_path / "sky.yaml", changes or {})


@pytest.mark.slow
def test_a_scenario_flies_under_the_satellites_of_its_file(tmp_path):
    frame = scenario(tmp_path, sp3_lines()).run().frame("tern")
    assert (frame["sensor.gnss.satellites"] == 4).all()
    assert (frame["sensor.gnss.valid"] == 1).all()


def test_a_broken_file_is_refused_with_its_line_and_that_of_the_scenario(tmp_path):
    lines = sp3_lines()
    at = place_of(lines, "PG09", 7)
    lines[at] = lines[at][:30]
    with pytest.raises(ScenarioError) as refused:
        scenario(tmp_path, lines)
    beginning = f"sky.yaml:6: world.satellites.file: made.sp3:{at + 1}: "
    assert beginning in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"world.start_utc": "2026-03-02"},
            "world.satellites: made.sp3: its orbits are known from",
        ),
        ({"world.satellites.numbers": [2, 3]}, "made.sp3 has no satellite 3; allowed: 1, 2, 5, 9"),
        ({"world.satellites.file": 3}, "world.satellites.file: 3 is not allowed; must be the name"),
        ({"world.satellites.errors": "second"}, "there is no range error 'second'."),
        (
            {"world.satellites": "sp4"},
            "there is no satellite constellation 'sp4'. Did you mean 'sp3'? Allowed: nominal, sp3",
        ),
        ({"world.satellites.rate_hz": 7}, "rate_hz 7 does not divide the physics rate 50 Hz"),
    ],
)
def test_satellites_that_cannot_be_are_refused(tmp_path, changes, expected):
    with pytest.raises(ScenarioError) as refused:
        scenario(tmp_path, sp3_lines(), changes)
    assert expected in str(refused.value)


def test_a_flight_longer_than_its_file_is_refused_with_the_time_that_is_left(tmp_path):
    # to an hour before the last of 24 positions, 10:45 less 18 s, from 8:00
    loaded = scenario(tmp_path, sp3_lines())
    with pytest.raises(
        ScenarioError, match=r"world\.satellites: the data end 9882 s after start_utc"
    ):
        loaded.run(9900)


def test_a_receiver_in_a_world_without_satellites_is_refused(tmp_path):
    (tmp_path / "sky.yaml").write_text(SCENARIO.replace("  satellites", "  # "), encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"sensors\.gnss: the world has no satellites"):
        kw.load(tmp_path / "sky.yaml")
