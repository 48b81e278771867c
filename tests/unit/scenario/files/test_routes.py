"""Route files: content, and error messages for invalid files."""

import json

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.files import routes
from kittiwake.scenario.files.routes import read_route


def posed(x=1, y=2.5, z=3):
    return {"pose": {"position": {"x": x, "y": y, "z": z}, "orientation": {"w": 1}}, "id": "a"}


def read(tmp_path, text):
    file = tmp_path / "path.json"
    file.write_text(text, encoding="utf-8")
    return read_route(file)


def test_the_places_of_a_file_are_read_in_order(tmp_path):
    route = read(tmp_path, json.dumps({"header": {}, "poses": [posed(), posed(x=-4e-3)]}))
    assert route.source == "path.json"
    np.testing.assert_array_equal(route.positions_world_m, [[1.0, 2.5, 3.0], [-0.004, 2.5, 3.0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"path\.json:1: not JSON"),
        ('{"poses": [\n{"pose": }]}', r"path\.json:2: not JSON: .* \(column 10\)"),
        ("[]", r"has no list 'poses'; write for example"),
        ('{"poses": []}', r"has no list 'poses'"),
        ('{"poses": 3}', r"has no list 'poses'"),
        (json.dumps({"poses": [posed(), {}]}), r"poses\[1\]\.pose\.position: is missing"),
        (json.dumps({"poses": [7]}), r"poses\[0\]\.pose\.position: is missing"),
        (json.dumps({"poses": [posed(y=None)]}), r"poses\[0\]\.pose\.position\.y: is missing"),
        (json.dumps({"poses": [posed(z="up")]}), r"position\.z: 'up' is not allowed; write a num"),
        (json.dumps({"poses": [posed(z=True)]}), r"position\.z: true is not allowed"),
        (json.dumps({"poses": [posed(x=float("nan"))]}), r"position\.x: must be a finite number"),
        (json.dumps({"poses": [posed(x=-float("inf"))]}), r"position\.x: must be a finite number"),
        (json.dumps({"poses": [posed(x=10**400)]}), r"position\.x: must be a finite number"),
        ("1" * 10_000, r"cannot be read as JSON"),
        ("[" * 200_000, r"cannot be read as JSON"),
    ],
)
def test_file_without_positions_is_refused_with_the_path_of_the_mistake(tmp_path, text, message):
    with pytest.raises(ScenarioError, match=message) as refused:
        read(tmp_path, text)
    assert len(str(refused.value)) < 300


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ScenarioError, match=r"cannot read '.*none\.json': No such file"):
        read_route(tmp_path / "none.json")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "path.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(ScenarioError, match="cannot be read as JSON"):
        read_route(tmp_path / "path.json")


def test_too_much_is_not_read(tmp_path, monkeypatch):
    text = json.dumps({"poses": [posed()] * 5})
    monkeypatch.setattr(routes, "MAX_PLACES", 4)
    with pytest.raises(ScenarioError, match="got 5; at most 4 are read"):
        read(tmp_path, text)
    monkeypatch.setattr(routes, "MAX_BYTES", 0)
    with pytest.raises(ScenarioError, match="larger than"):
        read(tmp_path, text)


def test_a_scenario_names_its_file_and_refuses_it_with_its_line(tmp_path):
    (tmp_path / "there.yaml").write_text("""name: there
time: {rate_hz: 250, duration_s: 1}
vehicles:
  drone:
    model: uav-gazebo
    controller: uav-gazebo-velocity
    guidance: {type: pursue, file: path.json}
""")
    (tmp_path / "path.json").write_text('{"poses": 3}')
    with pytest.raises(ScenarioError, match=r"there\.yaml:7: .*guidance\.file: path\.json: has"):
        kw.load(tmp_path / "there.yaml")
    (tmp_path / "path.json").write_text(json.dumps({"poses": [posed(), posed(x=9)]}))
    assert kw.load(tmp_path / "there.yaml").scenario.tables
