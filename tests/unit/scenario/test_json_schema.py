"""JSON Schema of scenario files, by an independent validator."""

import copy

import jsonschema
import pytest

from kittiwake.scenario import library
from kittiwake.scenario.document import read_document
from kittiwake.scenario.json_schema import scenario_json_schema


@pytest.fixture(scope="module")
def validator():
    schema = scenario_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def data_of(name):
    return read_document(library.FOLDER / f"{name}.yaml").data


@pytest.mark.slow
@pytest.mark.parametrize("name", library.names())
def test_library_scenario_is_valid(validator, name):
    validator.validate(data_of(name))


def set_at(data, path, value):
    *parents, last = path.split(".")
    for key in parents:
        data = data[key]
    data[last] = value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("seeed", 1),
        ("vehicles.hummingbird.model", "humingbird"),
        ("vehicles.hummingbird.controller", "pozition"),
        ("vehicles.hummingbird.controller", {"type": "position", "gain": 1}),
        ("vehicles.hummingbird.controller", {"type": "lee", "position_gain_per_s2": -1}),
        ("vehicles.hummingbird.controller", {"type": "lee", "rate_hz": 0}),
        ("vehicles.hummingbird.controller", {"file": "mine.py"}),
        ("vehicles.hummingbird.start", {"yaw": 30}),
        ("vehicles.hummingbird.start", {"position_world_m": [0, 0]}),
        ("vehicles.hummingbird.sensors", {"gnss": {"type": "gnss", "noise": 1}}),
        ("vehicles.hummingbird.sensors", {"imu": {"type": "imu", "errors": ["drop-out"]}}),
        ("vehicles.hummingbird.parameters", {"mass": 1}),
        ("vehicles.hummingbird.parameters", {"mass_kg": "heavy"}),
        ("world.wind", 6),
        ("world.turbulence", "drydn"),
        ("world.obstacles", {"wall": {"type": "box"}}),
        ("time.rate_hz", -1),
    ],
)
def test_mistake_is_found(validator, path, value):
    data = copy.deepcopy(data_of("hover-hummingbird"))
    set_at(data, path, value)
    assert not validator.is_valid(data)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("vehicles.hummingbird.start", {"yaw_deg": 30}),
        ("vehicles.hummingbird.controller", ["position", {"type": "acceleration"}]),
        ("vehicles.hummingbird.controller", {"type": "lee", "max_speed_kn": 4}),
        ("vehicles.hummingbird.controller", {"file": "mine.py", "class": "Mine", "gain": 2}),
        ("vehicles.hummingbird.sensors", {"imu": {"type": "imu", "rate_hz": 250}}),
        ("vehicles.hummingbird.parameters", {"rotor": {"spin_up_s": 0.02}}),
        ("world.wind", [6, 0, 0]),
        ("world.wind", {"type": "shear", "speed_at_6m_mps": 3, "from_deg": 45}),
        ("format", 1),
    ],
)
def test_what_a_scenario_allows_is_valid(validator, path, value):
    data = copy.deepcopy(data_of("hover-hummingbird"))
    set_at(data, path, value)
    validator.validate(data)
