"""Library scenarios with one mutation: each is refused with one readable message, none crashes.

A message names the file and the line, or the ``--set`` item, and then what is wrong there.
"""

import copy
import re
import time
from functools import cache
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.system.commands import kittiwake_does

from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.scenario import library
from kittiwake.scenario.build import Scenario, build
from kittiwake.scenario.document import dump_document, parse_document
from kittiwake.scenario.load import load_scenario

LONGEST_MESSAGE = 2000
SPOILED = "spoiled.yaml"
# `check` promises two seconds on a quiet machine; what takes twenty has lost its way
HANGS_AFTER_S = 20.0
MOST_OF_A_KIND = 10

AREA = "  area: {x_m: [-10, 10], y_m: [-10, 20], z_m: [0, 20]}\n"
START = "start: {position_world_m: [0, 0, 10], yaw_deg: 90}"
SPOT = "guidance: {type: hold, position_world_m: [0, 0, 10], yaw_deg: 90}"
CONTROLLER = "controller: qrsim-waypoint"
GOALS = "positions_world_m: [[-50, -50, 10]]"
WIND = "wind: {type: shear, speed_at_6m_mps: 2.5, from_deg: 45}"
INPUTS = "file: pelican-playback.csv"

# name: (library scenario, what is written there, what is written instead, what the message says)
MUTATIONS = {
    # wrong types
    "a rate in words": ("keep-spot", "rate_hz: 50", "rate_hz: fast", "time.rate_hz: 'fast'"),
    "a rate in quotes": ("keep-spot", "rate_hz: 50", "rate_hz: '50'", "time.rate_hz: '50'"),
    "a duration as a list": ("keep-spot", "duration_s: 60", "duration_s: [60]", "time.duration_s"),
    "time as a number": ("keep-spot", "{rate_hz: 50, duration_s: 60}", "50", "time: 50"),
    "a name that is a number": ("keep-spot", "name: keep-spot", "name: 7", "name: 7"),
    "a name with a slash": ("keep-spot", "name: keep-spot", "name: ../spot", "name: '../spot'"),
    "vehicles as a list": (
        "keep-spot",
        "vehicles:\n  pelican:",
        "vehicles:\n  - pelican:",
        "vehicles: [",
    ),
    "a vehicle as a word": (
        "keep-spot",
        "vehicles:",
        "vehicles:\n  gull: pelican",
        "vehicles.gull",
    ),
    "a model as a number": ("keep-spot", "model: pelican", "model: 3", "vehicles.pelican.model: 3"),
    "a start in words": ("keep-spot", START, "start: here", "vehicles.pelican.start: 'here'"),
    "a place in the plane": ("keep-spot", START, "start: {position_world_m: [0, 1]}", "3 numbers"),
    "a heading of yes or no": ("keep-spot", START, "start: {yaw_deg: true}", "start.yaw_deg: true"),
    "guidance as a number": ("keep-spot", SPOT, "guidance: 5", "vehicles.pelican.guidance: 5"),
    "a controller of no kind": ("keep-spot", CONTROLLER, "controller: {}", "list controllers"),
    "a controller of two kinds": ("keep-spot", CONTROLLER, "controller: {type: [a]}", "controller"),
    "an area as a number": ("keep-spot", AREA, "  area: 10\n", "world.area: 10"),
    "an area of three limits": ("keep-spot", "[-10, 10]", "[-10, 0, 10]", "world.area.x_m"),
    "a wind as a list": ("keep-velocity", WIND, "wind: [shear]", "world.wind"),
    "no turbulence by null": ("keep-velocity", WIND, "turbulence: null", "world.turbulence"),
    "half a vehicle": ("keep-spot-10", "count: 10", "count: 0.5", "count: 0.5"),
    "a count in words": ("keep-spot-10", "count: 10", "count: ten", "count: 'ten'"),
    "a seed with a fraction": ("keep-spot", "time:", "seed: 1.5\ntime:", "seed: 1.5"),
    # keys
    "an unknown key at the top": ("keep-spot", "time:", "tme:", "Did you mean 'time'?"),
    "an unknown key in time": ("keep-spot", "rate_hz", "rate", "Did you mean 'rate_hz'?"),
    "an unknown key in start": ("keep-spot", "yaw_deg", "yaw_dg", "Did you mean 'yaw_deg'?"),
    "an unknown key in a vehicle": ("keep-spot", "model:", "color: red\n    model:", "color"),
    "an unknown key in an area": ("keep-spot", "z_m:", "w_m:", "world.area.w_m"),
    "an unknown key in guidance": ("goto-waypoint", "acceptance_", "aceptance_", "Did you mean"),
    "a heading in both units": ("keep-spot", START, "start: {yaw_deg: 9, yaw_rad: 1}", "yaw_rad"),
    "no name": ("keep-spot", "name: keep-spot\n", "", "name is missing"),
    "no vehicles": ("keep-spot", "vehicles:", "vehicles: {}\nx:", "vehicles"),
    "no model": ("keep-spot", "    model: pelican\n", "", "vehicles.pelican.model is missing"),
    "no duration": ("keep-spot", ", duration_s: 60", "", "time.duration_s: is missing"),
    "no places to go": ("goto-waypoint", GOALS, "", "at least one position"),
    "no wind speed": ("keep-velocity", "speed_at_6m_mps: 2.5, ", "", "speed_at_6m_mps is missing"),
    "nothing to play back": ("pelican-playback", f", {INPUTS}", "", "guidance.file is missing"),
    # names
    "an unknown vehicle": ("keep-spot", "model: pelican", "model: pelicna", "mean 'pelican'?"),
    "an unknown controller": ("keep-spot", CONTROLLER, CONTROLLER + "s", "mean 'qrsim-waypoint'?"),
    "an unknown guidance": ("keep-spot", "type: hold", "type: hald", "Did you mean 'hold'?"),
    "an unknown wind": ("keep-velocity", "type: shear", "type: sheer", "Did you mean 'shear'?"),
    "an endless name": ("keep-spot", CONTROLLER, "controller: " + "a" * 5000, "controller"),
    "an endless number": ("keep-spot", "rate_hz: 50", "rate_hz: " + "9" * 5000, "number"),
    "an unspeakable vehicle": ("keep-spot", "  pelican:", "  'pel ican':", "pel ican"),
    "two vehicles of one name": ("keep-spot", "  pelican:", "  pelican: {}\n  pelican:", "twice"),
    "a vehicle counted twice": (
        "keep-spot-10",
        "  pelican:",
        "  pelican-02: {model: pelican}\n  pelican:",
        "there are two vehicles 'pelican-02'",
    ),
    # numbers
    "a rate that is none": ("keep-spot", "rate_hz: 50", "rate_hz: .nan", "must be a finite number"),
    "an infinite rate": ("keep-spot", "rate_hz: 50", "rate_hz: .inf", "must be a finite number"),
    "a rate past all floats": ("keep-spot", "rate_hz: 50", "rate_hz: 1e400", "finite number"),
    "no steps at all": ("keep-spot", "rate_hz: 50", "rate_hz: 0", "time.rate_hz: 0"),
    "steps backwards": ("keep-spot", "rate_hz: 50", "rate_hz: -50", "must be above 0"),
    "no time at all": ("keep-spot", "duration_s: 60", "duration_s: 0", "must be above 0"),
    "time backwards": ("keep-spot", "duration_s: 60", "duration_s: -1", "must be above 0"),
    "an age": ("keep-spot", "duration_s: 60", "duration_s: 1e9", "steps"),
    "an eternity": ("keep-spot", "duration_s: 60", "duration_s: 1e300", "steps"),
    "a negative mass": ("keep-spot", SPOT, "parameters: {mass_kg: -1.7}", "mass_kg: -1.7"),
    "no mass": ("keep-spot", SPOT, "parameters: {mass_kg: 0}", "must be above 0"),
    "a mass that is none": ("keep-spot", SPOT, "parameters: {mass_kg: .nan}", "mass_kg: nan"),
    "a place at infinity": ("keep-spot", "[0, 0, 10], yaw", "[0, 0, .inf], yaw", "finite number"),
    "a negative seed": ("keep-spot", "time:", "seed: -1\ntime:", "seed: -1"),
    "a seed of 99 digits": ("keep-spot", "time:", f"seed: {'9' * 99}\ntime:", "seed"),
    "swapped limits": ("keep-spot", "x_m: [-10, 10]", "x_m: [10, -10]", "lower limit first"),
    "a collision within": ("keep-spot-10", "_m: 2\n", "_m: -2\n", "collision_distance_m: -2"),
    "zero count": ("keep-spot-10", "count: 10", "count: 0", "count: 0"),
    "negative count": ("keep-spot-10", "count: 10", "count: -3", "count: -3"),
    "a million": ("keep-spot-10", "count: 10", "count: 1000000", "GB of memory"),
    "a nonillion": ("keep-spot-10", "count: 10", f"count: 1{'0' * 30}", "count"),
    # rates and cascades
    "a log rate between steps": (
        "keep-spot",
        "rate_hz: 50,",
        "rate_hz: 50, log_rate_hz: 7,",
        "rate_hz 7 does not divide the physics rate 50 Hz",
    ),
    "a controller between steps": (
        "keep-spot",
        CONTROLLER,
        "controller: {type: qrsim-waypoint, rate_hz: 30}",
        "rate_hz 30 does not divide the physics rate 50 Hz",
    ),
    "a controller faster than steps": (
        "keep-spot",
        CONTROLLER,
        "controller: {type: qrsim-waypoint, rate_hz: 100}",
        "rate_hz 100 does not divide the physics rate 50 Hz",
    ),
    "a controller that never runs": (
        "keep-spot",
        CONTROLLER,
        "controller: {type: qrsim-waypoint, rate_hz: 0}",
        "must be a number above 0",
    ),
    "a controller for velocities": (
        "keep-spot",
        CONTROLLER,
        "controller: qrsim-velocity",
        "no controller leads from PositionYaw to AttitudeThrottle",
    ),
    "a velocity for places": (
        "keep-velocity",
        "controller: qrsim-velocity",
        CONTROLLER,
        "no controller leads from VelocityYaw to AttitudeThrottle",
    ),
    "no controller": (
        "keep-spot",
        CONTROLLER,
        "controller: []",
        "no controller leads from PositionYaw",
    ),
    "a place beside a velocity": (
        "keep-velocity",
        "velocity_world_mps",
        "position_world_m: [0, 0, 1], velocity_world_mps",
        "not allowed with velocity_world_mps",
    ),
    "nowhere to go": ("goto-waypoint", GOALS, "positions_world_m: []", "at least one position"),
    "a tour of numbers": ("goto-waypoint", GOALS, "positions_world_m: [1, 2]", "3 numbers"),
    # nesting
    "vehicles in the world": ("keep-spot", "vehicles:", "  vehicles:", "vehicles is missing"),
    "a start in guidance": ("keep-spot", "type: hold", f"type: hold, {START}", "guidance.start"),
    "too deep": ("keep-spot", SPOT, "guidance: " + "[" * 60 + "]" * 60, "deeper than 50"),
    # text
    "a bracket left open": ("keep-spot", "{rate_hz: 50, duration_s: 60}", "{rate_hz: 50", "YAML"),
    "a tab": ("keep-spot", "    model", "\tmodel", "indent with spaces, not with tabs"),
    "two documents": ("keep-spot", "time:", "---\ntime:", "write only one"),
    "an unknown alias": ("keep-spot", START, "start: *here", "*here"),
    "an object": ("keep-spot", "rate_hz: 50", "rate_hz: !!python/object:os.x 5", "not allowed"),
    "a command": (
        "keep-spot",
        "rate_hz: 50",
        "rate_hz: !!python/object/apply:os.system ['touch owned']",
        "the tag",
    ),
    "a null byte": ("keep-spot", "name: keep-spot", 'name: "a\\0b"', "is not allowed"),
    # files
    "inputs in another folder": ("pelican-playback", INPUTS, "file: ../inputs.csv", "outside"),
    "inputs by a far path": ("pelican-playback", INPUTS, "file: /etc/passwd", "outside"),
    "inputs round about": ("pelican-playback", INPUTS, "file: a/../../inputs.csv", "outside"),
    "missing inputs": ("pelican-playback", INPUTS, "file: nothing.csv", "cannot read"),
    "inputs that are a folder": ("pelican-playback", INPUTS, "file: .", "cannot read"),
    "inputs as a number": ("pelican-playback", INPUTS, "file: 5", "guidance.file: 5"),
    "inputs of an endless name": ("pelican-playback", INPUTS, f"file: {'a' * 5000}", "characters"),
}

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)

# whole files that are no scenario, and what the message says
JUNK = {
    "nothing": (b"", "is empty"),
    "a comment": (b"# later\n", "is empty"),
    "a list": (b"- pelican\n- gull\n", "a scenario is a mapping"),
    "a word": (b"pelican\n", "a scenario is a mapping"),
    "random bytes": (bytes(range(256)) * 4, "not UTF-8 text"),
    "zeros": (bytes(1000), "is not allowed"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not UTF-8 text"),
    "a billion laughs": (BOMB.encode(), "values, counting each use of an alias"),
    "an alias of itself": (b"a: &a [*a]\n", "the alias *a"),
    "brackets without end": (b"[" * 100_000, "deeper than 50"),
    "five megabytes": (b"a: " + b"b" * 5_000_000, "larger than 4 MiB"),
}

COLUMNS = "time_s,pitch_rad,roll_rad,throttle,yaw_rate_radps,battery_v"
ROW = "0,0,0.59,0,11"

# recorded inputs that cannot be flown, and what the message says
RECORDINGS = {
    "nothing": ("", "inputs.csv:1: the first column must be named 'time_s'"),
    "names alone": (f"{COLUMNS}\n", "has no rows"),
    "no names": (f"0,{ROW}\n1,{ROW}\n", "must be named 'time_s'; it is '0'"),
    "time in the middle": ("pitch_rad,time_s\n0,0\n", "must be named 'time_s'; it is 'pitch_rad'"),
    "a column twice": (f"{COLUMNS},battery_v\n0,{ROW},11\n", "two columns are named 'battery_v'"),
    "a column too few": (
        "time_s,pitch_rad\n0,0\n",
        "missing columns of AttitudeThrottle: roll_rad, throttle",
    ),
    "an unknown column": (f"{COLUMNS},rpm\n0,{ROW},0\n", "has no column 'rpm'. Remove it."),
    "a short row": (f"{COLUMNS}\n0,{ROW}\n1,0\n", "inputs.csv:3: 2 values below 6 names"),
    "a word": (f"{COLUMNS}\n0,{ROW}\n1,level,0,0.59,0,11\n", "inputs.csv:3: pitch_rad: 'level'"),
    "a gap": (f"{COLUMNS}\n0,,0,0.59,0,11\n1,{ROW}\n", "inputs.csv:2: pitch_rad must be"),
    "no number": (
        f"{COLUMNS}\n0,{ROW}\n1,nan,0,0.59,0,11\n2,{ROW}\n",
        "inputs.csv:3: pitch_rad must",
    ),
    "infinity": (f"{COLUMNS}\n0,inf,0,0.59,0,11\n", "inputs.csv:2: pitch_rad must be"),
    "time backwards": (
        f"{COLUMNS}\n0,{ROW}\n2,{ROW}\n1,{ROW}\n",
        "inputs.csv:4: time_s must increase",
    ),
    "time standing": (f"{COLUMNS}\n0,{ROW}\n0,{ROW}\n", "inputs.csv:3: time_s must increase"),
    "time without end": (f"{COLUMNS}\n0,{ROW}\ninf,{ROW}\n", "time_s must be a finite number"),
    "time unknown": (f"{COLUMNS}\nnan,{ROW}\n", "inputs.csv:2: time_s must be"),
    "a throttle past full": (f"{COLUMNS}\n0,0,0,1.01,0,11\n", "must be from 0 to 1"),
    "a pitch past the stick": (
        f"{COLUMNS}\n0,1.2,0,0.5,0,11\n",
        "`pitch_rad`: got 1.2 at time_s = 0",
    ),
    "an empty battery": (f"{COLUMNS}\n0,0,0,0.5,0,3\n", "must be from 9 to 12"),
    "bytes": ("\udcff\udcfe\udcfd", "not a table of comma-separated numbers"),
}

# overrides that cannot be followed, and what the message says
OVERRIDES = {
    "no value": ("time.duration_s", "write a path and a value"),
    "no path": ("=5", "write a path and a value"),
    "an unknown vehicle": ("vehicles.pelicna.start.yaw_deg=3", "Did you mean 'pelican'?"),
    "an unknown key": ("vehicles.pelican.strat.yaw_deg=3", "Did you mean 'start'?"),
    "inside a number": ("time.duration_s.x=3", "so nothing can be set inside it"),
    "past a list's end": ("world.area.x_m.2=3", "has 2 entries, counted from 0"),
    "no number": ("time.duration_s=nan", "'nan' is not allowed"),
    "a number past all floats": ("time.duration_s=1e400", "finite number"),
    "a bracket left open": ("world.area={x_m: [1, 2]", "cannot be read as YAML"),
    "an object": ("time.duration_s=!!python/name:os.system x", "the tag"),
    "a negative mass": ("vehicles.pelican.parameters.mass_kg=-1", "must be above 0"),
    "all vehicles": ("vehicles={}", "set the values of one vehicle"),
    "an unknown controller": ("vehicles.pelican.controller=pid", "there is no controller 'pid'"),
    "a missing file": (
        "vehicles.pelican.guidance={type: playback, file: none.csv}",
        "cannot read 'none.csv'",
    ),
}


@cache
def library_text(name):
    return (library.FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def spoiled(name, old, new):
    text = library_text(name)
    assert old in text, f"{name}.yaml no longer holds {old!r}"
    return text.replace(old, new, 1)


def refusal(path, *overrides):
    """Return the message about a file that cannot be flown."""
    began = time.perf_counter()
    with pytest.raises(KittiwakeError) as caught:
        load_scenario(str(path), overrides)
    assert time.perf_counter() - began < HANGS_AFTER_S
    return str(caught.value)


def said_of(load):
    """Return the message about an invalid scenario; None for a valid one."""
    try:
        load()
    except ScenarioError as error:
        return str(error)
    return None


def is_readable(message):
    """Whether each line starts with its place, and all of it can be shown and read."""
    place = re.compile(rf"({re.escape(SPOILED)}:\d+|--set .*?|cannot read .*?): \S")
    return (
        0 < len(message) < LONGEST_MESSAGE
        and "Traceback" not in message
        and all(line.isprintable() for line in message.splitlines())
        and all(place.match(line) or line.startswith("and ") for line in message.splitlines())
    )


def test_there_are_enough_mutations():
    assert len(MUTATIONS) + len(JUNK) + len(RECORDINGS) + len(OVERRIDES) >= 100


@pytest.mark.slow
@pytest.mark.parametrize("name", library.names())
def test_a_library_scenario_can_be_flown_as_it_is(name):
    assert isinstance(load_scenario(name), Scenario)


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutated_scenario_is_refused_with_a_readable_message(mutation, tmp_path):
    name, old, new, says = MUTATIONS[mutation]
    path = tmp_path / SPOILED
    path.write_text(spoiled(name, old, new), encoding="utf-8")
    if name == "pelican-playback":
        (tmp_path / "pelican-playback.csv").write_text(f"{COLUMNS}\n0,{ROW}\n", encoding="utf-8")
    message = refusal(path)
    assert is_readable(message)
    assert says in message
    assert not (Path.cwd() / "owned").exists()


@pytest.mark.parametrize("junk", JUNK)
def test_a_file_that_is_no_scenario_is_refused_readably(junk, tmp_path):
    content, says = JUNK[junk]
    (tmp_path / SPOILED).write_bytes(content)
    message = refusal(tmp_path / SPOILED)
    assert is_readable(message)
    assert says in message


@pytest.mark.parametrize("recording", RECORDINGS)
def test_a_recording_that_cannot_be_flown_is_refused_readably(recording, tmp_path):
    content, says = RECORDINGS[recording]
    (tmp_path / SPOILED).write_text(
        spoiled("pelican-playback", INPUTS, "file: inputs.csv"), encoding="utf-8"
    )
    (tmp_path / "inputs.csv").write_bytes(content.encode("utf-8", "surrogateescape"))
    message = refusal(tmp_path / SPOILED)
    assert is_readable(message)
    assert says in message


@pytest.mark.parametrize("override", OVERRIDES)
def test_an_override_that_cannot_be_followed_is_refused_readably(override, tmp_path):
    item, says = OVERRIDES[override]
    message = refusal("keep-spot", item)
    assert is_readable(message)
    assert message.startswith("--set ")
    assert says in message


@pytest.mark.parametrize(("rate_hz", "log_rate_hz"), [(50, 5e-324), (1e300, 1e-300)])
def test_rates_whose_ratio_is_no_number_are_refused_readably(rate_hz, log_rate_hz, tmp_path):
    rates = f"rate_hz: {rate_hz}, log_rate_hz: {log_rate_hz}, "
    (tmp_path / SPOILED).write_text(spoiled("keep-spot", "rate_hz: 50, ", rates))
    assert is_readable(refusal(tmp_path / SPOILED))


def test_an_unknown_key_of_the_world_is_answered_with_the_nearest_component(tmp_path):
    (tmp_path / SPOILED).write_text(spoiled("keep-velocity", WIND, "wnd: none"))
    assert "Did you mean 'wind'?" in refusal(tmp_path / SPOILED)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["keep-spot", "pelican-playback", "waypoint-tour"])
def test_a_scenario_cut_anywhere_is_refused_readably_or_still_valid(name, tmp_path):
    text = library_text(name)
    (tmp_path / "pelican-playback.csv").write_text(f"{COLUMNS}\n0,{ROW}\n", encoding="utf-8")
    path = tmp_path / SPOILED
    refused = still_valid = 0
    for end in range(0, len(text), 7):
        path.write_text(text[:end], encoding="utf-8")
        message = said_of(lambda: load_scenario(str(path)))
        assert message is None or is_readable(message), text[:end]
        refused += message is not None
        still_valid += message is None
    # all before the first vehicle is needed; much of what comes after it can be left out
    assert refused > len(text) / 7 / 3
    assert still_valid < refused


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    # a count that memory holds is built vehicle by vehicle, so that large ones just take long
    st.integers(-5, 200) | st.integers(10**6 + 1, 10**40) | st.integers(-(10**40), -(10**6)),
    st.floats(),
    st.sampled_from([5e-324, 1e-300, 1e300, -0.0]),
    st.text(max_size=20),
    st.text(alphabet="az./\\ \0\n", min_size=3000, max_size=3000),
    st.sampled_from(
        ["pelican", "hold", "waypoints", "playback", "dryden", "truth", "..", "~", "1e9"]
    ),
    st.lists(st.none() | st.floats() | st.text(max_size=3), max_size=4),
    st.dictionaries(
        st.sampled_from(["type", "rate_hz", "file", "x_m", "position_world_m", "", "a"]),
        st.none() | st.floats() | st.sampled_from(["hold", "shear", "dryden", "playback", "isa"]),
        max_size=3,
    ),
)

# what a user may write beyond the library's scenarios, so that those places are tried as well
FULL = """
name: full
seed: 3
time: {rate_hz: 50, duration_s: 5, log_rate_hz: 10}
lost_vehicle: continue
world:
  area: {x_m: [-10, 10], y_m: [-10, 20], z_m: [0, 20]}
  gravity_mps2: 9.8
  ground_z_m: 0
  origin: {latitude_deg: 51, longitude_deg: 0, altitude_m: 30}
  atmosphere: isa
  wind: {type: shear, speed_at_6m_mps: 2, from_deg: 30}
  turbulence: {type: dryden-first-order, speed_at_6m_mps: 2}
  collision_distance_m: 2
vehicles:
  gull:
    model: pelican
    count: 3
    spacing_m: [5, 0, 0]
    start: {position_world_m: [0, 0, 10], yaw_deg: 90, velocity_world_mps: [0, 1, 0]}
    parameters: {mass_kg: 2, thrust_polynomial_n: [0.6, 3, 40], integrator: rk4}
    estimator: {type: truth, rate_hz: 25}
    controller: [{type: qrsim-waypoint, rate_hz: 25, yaw: {gain_per_s: 4}}]
    guidance: {type: waypoints, positions_world_m: [[0, 0, 1], [1, 2, 3]], wait_s: 1, loop: true}
"""


def places(data, path=()):
    """The path of everything in plain data."""
    yield path
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(value, (*path, key))


def exchanged(data, path, value):
    """Plain data with another value at a path; the top stays a mapping."""
    data = copy.deepcopy(data)
    holder = data
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return data


def of_few(data):
    """A scenario with no more than a few vehicles of each kind: building a thousand takes long."""
    for entry in data["vehicles"].values():
        if "count" in entry:
            entry["count"] = min(entry["count"], MOST_OF_A_KIND)
    return data


SOUND = [of_few(yaml.safe_load(library_text(name))) for name in library.names()]
SOUND.append(yaml.safe_load(FULL))
PLACES = [(n, path) for n, data in enumerate(SOUND) for path in places(data) if path]


def test_the_full_scenario_can_be_flown_as_it_is():
    assert set(build(parse_document(FULL, SPOILED), Path()).vehicles) == {
        "gull-1",
        "gull-2",
        "gull-3",
    }


@pytest.mark.slow
@given(place=st.sampled_from(PLACES), value=VALUES)
@settings(max_examples=100, deadline=HANGS_AFTER_S * 1000, derandomize=True)
def test_a_scenario_with_any_value_exchanged_is_built_or_refused_readably(place, value):
    number, path = place
    text = dump_document(exchanged(SOUND[number], path, value))
    message = said_of(lambda: build(parse_document(text, SPOILED), library.FOLDER))
    assert message is None or is_readable(message), message


# by what users type: one for each way in which a file can be wrong
ON_THE_COMMAND_LINE = [
    "a rate in words",
    "an unknown key in start",
    "no model",
    "an unknown controller",
    "a place at infinity",
    "a controller for velocities",
    "a tab",
    "an object",
    "inputs by a far path",
    "a million",
]


@pytest.mark.parametrize("mutation", ON_THE_COMMAND_LINE)
def test_the_command_line_ends_with_status_2_and_one_message(mutation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, old, new, says = MUTATIONS[mutation]
    Path(SPOILED).write_text(spoiled(name, old, new), encoding="utf-8")
    answer = kittiwake_does("check", SPOILED)
    assert (answer.status, answer.out) == (2, "")
    assert is_readable(answer.err.strip())
    assert says in answer.err
