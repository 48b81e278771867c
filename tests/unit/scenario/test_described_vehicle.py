"""Vehicles that other programs describe: URDF, names and YAML, without any file."""

import json
import random

import pytest

from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.changing import with_changes
from kittiwake.scenario.described_vehicle import MAX_CHARACTERS, DescribedVehicle
from kittiwake.scenario.document import Override
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.vehicle_changes import (
    MAX_ADDED_TO,
    require_few,
    with_new_vehicles_of,
    with_vehicle,
)

URDF = """<?xml version="1.0"?>
<robot name="any">
  <link name="base_link">
    <inertial>
      <mass value="0.5"/>
      <inertia ixx="6.5e-4" iyy="6.5e-4" izz="1.2e-3" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
</robot>
"""
ABOVE = {"position_world_m": [0, 5, 6]}


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("hover-angle-velocity")


def parse(text):
    return DescribedVehicle.parse(text, "model_xml")


def added(scenario, text, name="gull"):
    return with_vehicle(scenario, name, parse(text)).vehicles[name]


def test_urdf_gives_the_mass_properties_of_a_drone_of_uav_gazebo(scenario):
    gull = added(scenario, URDF)
    assert gull.model == "uav-gazebo"
    assert gull.dynamics.mass_kg == 0.5
    assert gull.dynamics.inertia_kgm2.zz == 1.2e-3


@pytest.mark.parametrize(
    "text", ["pelican", " pelican\n", "{model: pelican}", '{"model":"pelican"}']
)
def test_model_is_given_by_its_name_or_by_an_entry(scenario, text):
    assert added(scenario, text).model == "pelican"


def test_pose_replaces_that_of_the_entry_in_any_unit(scenario):
    described = parse("{model: pelican, start: {yaw_deg: 90, velocity_world_mps: [1, 0, 0]}}")
    start = (
        with_vehicle(scenario, "gull", described.at(Start(Vec3(0.0, 5.0, 6.0), yaw_rad=0.5)))
        .vehicles["gull"]
        .start
    )
    assert (start.position_world_m.z, start.yaw_rad, start.velocity_world_mps.x) == (6.0, 0.5, 1.0)


WRONG = {
    "empty": "",
    "number": "5",
    "list": "[pelican]",
    "unknown model": "pelikan",
    "several": "{model: pelican, count: 1000000}",
    "unknown key": "{model: pelican, plugin: libevil.so}",
    "deep yaml": "{model: " + "[" * 1000 + "]" * 1000 + "}",
    "aliases": "a: &a [1,1,1,1,1,1,1,1,1]\n"
    + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [" + ",".join([f"*{chr(97 + i)}"] * 9) + "]\n"
        for i in range(8)
    ),
    "long yaml": "{model: " + "x" * MAX_CHARACTERS + "}",
    "tag": "!!python/object/apply:os.system [echo]",
    "huge number": "{model: pelican, start: {position_world_m: [1e308, 1e308, 1e308]}}",
    "too huge a number": "{model: pelican, start: {position_world_m: [1e999, 0, 0]}}",
    "not a number": "{model: pelican, start: {yaw_rad: .nan}}",
    "code": "{model: pelican, controller: {file: mine.py, class: Mine}}",
    "urdf without mass": "<robot name='x'/>",
    "sdf": "<sdf version='1.6'><model name='x'/></sdf>",
    "not xml": "<robot",
    "doctype": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
    "xacro": '<robot xmlns:xacro="a"><xacro:include filename="/etc/passwd"/></robot>',
    "deep xml": "<robot>" + "<a>" * 200 + "</a>" * 200 + "</robot>",
    "many elements": "<robot>" + "<a/>" * 100_001 + "</robot>",
    "huge urdf": URDF.replace("0.5", "1e308"),
    "infinite inertia": URDF.replace("1.2e-3", "inf"),
    "surrogate": "{model: '\udcff'}",
    "surrogate in urdf": URDF.replace("any", "\udcff").replace("</robot>", ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_anything_else_is_refused(scenario, text):
    with pytest.raises(KittiwakeError) as refused:
        added(scenario, text)
    assert len(str(refused.value)) < 2000


@pytest.mark.parametrize("name", ["", "a/b", "../x", "1st", "x" * 65, "a.b", "ä", "a\n"])
def test_names_are_those_of_vehicles(scenario, name):
    with pytest.raises(ScenarioError):
        with_vehicle(scenario, name, parse("pelican"))


def test_names_and_numbers_are_limited(scenario):
    with pytest.raises(ScenarioError, match="name of a vehicle of this flight"):
        with_vehicle(scenario, next(iter(scenario.vehicles)), parse("pelican"))
    require_few(range(MAX_ADDED_TO - 1))
    with pytest.raises(ScenarioError, match="of less than 200"):
        require_few(range(MAX_ADDED_TO))


@pytest.mark.parametrize("where", ["in the folder", "absolute", "nested"])
def test_no_file_is_read(tmp_path, where):
    (tmp_path / "gull.urdf").write_text(URDF, encoding="utf-8")
    (tmp_path / "flight.yaml").write_text(
        "name: flight\ntime: {duration_s: 1}\nvehicles: {tern: {model: pelican}}", encoding="utf-8"
    )
    scenario = load_scenario(str(tmp_path / "flight.yaml"))
    name = str(tmp_path / "gull.urdf") if where == "absolute" else "gull.urdf"
    urdf = {"file": name, "link": "base_link"} if where == "nested" else name
    entry = {"model": "uav-gazebo", "parameters": {"urdf": urdf}, "start": ABOVE}
    with pytest.raises(ScenarioError, match="no file is read for a vehicle that another program"):
        with_vehicle(scenario, "gull", parse(json.dumps(entry)))
    # by the same data in Python it is
    here = {**entry, "parameters": {"urdf": str(tmp_path / "gull.urdf")}}
    assert with_vehicle(scenario, "gull", here).vehicles["gull"].dynamics.mass_kg == 0.5


def test_files_stay_refused_in_later_changes(scenario):
    entry = {"model": "uav-gazebo", "start": ABOVE}
    later = with_vehicle(scenario, "gull", parse(json.dumps(entry)))
    item = "vehicles.gull.parameters.urdf=/etc/passwd"
    for changed in (later, with_new_vehicles_of(scenario, later)):
        with pytest.raises(ScenarioError, match="no file is read"):
            with_changes(changed, [Override(item, item)])


@pytest.mark.parametrize(
    "part",
    [
        {"guidance": {"type": "playback", "file": "/etc/passwd"}},
        {"guidance": {"type": "mission", "steps": [{"do": {"type": "pursue", "file": "a.json"}}]}},
    ],
)
def test_components_read_no_file(scenario, part):
    with pytest.raises(ScenarioError, match="no file is read"):
        added(scenario, json.dumps({"model": "pelican", "start": ABOVE, **part}))


ENTRY = {
    "model": "hummingbird",
    "parameters": {"mass_kg": 0.6, "inertia_kgm2": {"xx": 1e-3, "yy": 1e-3, "zz": 2e-3}},
    "start": {"position_world_m": [0, 5, 6], "yaw_rad": 0.5},
    "sensors": {"imu": {"type": "imu", "rate_hz": 50}, "gnss": "gnss"},
    "estimator": "truth",
    "controller": ["position", "acceleration", "attitude", "mixer"],
    "guidance": {"type": "waypoints", "points_world_m": [[0, 0, 5], [5, 0, 5]]},
    "faults": [],
}
ODD = (1e308, -1e308, 1e-308, 2**63, -1, 0, True, None, "", "x" * 5000, "/etc/passwd", "pelican")
ODD += ([], {}, [[[[]]]], {"type": "lee"}, {"file": "a"}, {"type": "gnss", "rate_hz": 1e308})
ODD += (float("nan"), float("inf"), ["gnss"] * 50, {"a/b": 1}, {"": {"": {}}})


def mutated(value, chosen):
    """Return an entry with one value replaced, at any depth."""
    if isinstance(value, dict) and value and chosen.random() < 0.85:
        key = chosen.choice([*value])
        return {**value, key: mutated(value[key], chosen)}
    if isinstance(value, list) and value and chosen.random() < 0.85:
        place = chosen.randrange(len(value))
        return [*value[:place], mutated(value[place], chosen), *value[place + 1 :]]
    return chosen.choice(ODD)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_odd_values_are_refused_in_words_or_fly(scenario, seed):
    chosen = random.Random(seed)
    for _ in range(25):
        entry = mutated(mutated(ENTRY, chosen), chosen)
        text = as_yaml(entry) if isinstance(entry, dict) else json.dumps(entry)
        try:
            later = with_vehicle(scenario, "gull", parse(text))
        except KittiwakeError:
            continue
        later.check_flight()


def as_yaml(value):
    """Return a value as YAML in one line, with its numbers that are not finite."""
    text = json.dumps(value)
    return text.replace("NaN", ".nan").replace("-Infinity", "-.inf").replace("Infinity", ".inf")
