"""Components from Python files: loaded only where the caller allows it."""

import sys
from pathlib import Path

import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.build import build
from kittiwake.scenario.changing import with_changes
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.load import load_recorded, load_scenario
from kittiwake.scenario.own_components.code_files import from_file
from kittiwake.scenario.own_components.entries import CONTROLLER
from kittiwake.scenario.scenario import Scenario

CODE = '''
from pathlib import Path

import kittiwake as kw
from beside import DAMPING

with Path(__file__ + ".loaded").open("a") as loaded:
    loaded.write("x")

class Mine:
    def __init__(self, gain=2.0):
        self.gain = gain

    def update(self, t_s, setpoint, estimate):
        error = setpoint.position_world_m - estimate.position_world_m
        return kw.AccelerationYaw(error * self.gain - DAMPING * estimate.velocity_world_mps, 0.0)

class Compiled(kw.AbstractController):
    """Acceleration and yaw to thrust and attitude."""

    consumes = kw.AccelerationYaw
    produces = kw.ThrustAttitude
    mass_kg: float
    lift_m: float = 1.0

    def step(self, state, inputs, dt_s, key):
        return state, kw.ThrustAttitude(self.mass_kg * 9.81, inputs[1].q_world_from_body)
'''
SCENARIO = """
name: own
time: {rate_hz: 100, duration_s: 1}
vehicles:
  h:
    model: hummingbird
    start: {position_world_m: [0, 0, 2]}
    controller: CONTROLLER
"""
MINE = "{file: mine.py, class: Mine, gain: 3, rate_hz: 50}"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "beside.py").write_text("DAMPING = 2.0\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def written(folder):
    def write(controller=MINE):
        path = folder / "own.yaml"
        path.write_text(SCENARIO.replace("CONTROLLER", controller), encoding="utf-8")
        return str(path)

    return write


def test_a_file_in_the_allowed_folder_is_loaded(written, folder):
    scenario = load_scenario(written(), allow_code=folder)
    level, *_ = scenario.vehicles["h"].cascade
    assert type(level.component).__name__ == "Mine"
    assert level.component.host.begin().gain == 3
    assert level.every == 2


def test_nothing_is_loaded_without_permission(written, folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for allow_code in (None, [], elsewhere):
        with pytest.raises(
            ScenarioError, match=r"own.yaml:8: .*'mine.py' holds code.*--allow-code"
        ):
            load_scenario(written(), allow_code=allow_code)
    assert not (folder / "mine.py.loaded").exists()


def test_a_link_out_of_the_allowed_folder_is_not_loaded(written, folder, tmp_path_factory):
    allowed = tmp_path_factory.mktemp("allowed")
    (allowed / "link.py").symlink_to(folder / "mine.py")
    with pytest.raises(ScenarioError, match="holds code"):
        load_scenario(written(f"{{file: {allowed / 'link.py'}, class: Mine}}"), allow_code=allowed)


def test_a_missing_folder_is_refused(written, folder):
    with pytest.raises(ScenarioError, match="`allow_code`: got '.*none'; must be an existing"):
        load_scenario(written(), allow_code=folder / "none")
    with pytest.raises(ScenarioError, match="`allow_code`: got True; must be a folder"):
        load_scenario(written(), allow_code=True)


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        ("{file: mine.py, class: Mime}", "no controller 'Mime' in mine.py.*Did you mean 'Mine'"),
        ("{file: mine.txt, class: Mine}", "`file`: got 'mine.txt'; must be a Python file"),
        ("{file: mine.py}", "write the class in mine.py"),
        ("{file: none.py, class: Mine}", "cannot read '.*none.py'"),
        ("{file: mine.py, class: Mine, gian: 2}", r"Mine\(gian=2\): TypeError"),
        ("{file: mine.py, class: Compiled, lift_m: x}", "lift_m: 'x' is not allowed"),
        ("{class: Mine}", "'Mine' is an object of a Python program"),
        ("{file: leaving.py, class: Mine}", "leaving.py cannot be imported: SystemExit: 3"),
        ("{file: broken.py, class: Mine}", "broken.py cannot be imported: SyntaxError"),
    ],
)
def test_a_wrong_entry_is_named_with_its_line(written, folder, controller, message):
    (folder / "broken.py").write_text("def (", encoding="utf-8")
    (folder / "leaving.py").write_text("raise SystemExit(3)", encoding="utf-8")
    with pytest.raises(ScenarioError, match=message) as caught:
        load_scenario(written(controller), allow_code=folder)
    assert str(caught.value).startswith("own.yaml:8: vehicles.h.controller")


def test_each_folder_has_its_own_modules(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "mine.py").write_text(CODE, encoding="utf-8")
    (other / "beside.py").write_text("DAMPING = 30.0\n", encoding="utf-8")
    found = [damping(one) for one in (folder, other, folder)]
    assert found == [2.0, 30.0, 2.0]
    assert "beside" not in sys.modules


def test_a_changed_module_beside_a_file_is_loaded_anew(folder):
    assert damping(folder) == 2.0
    assert damping(folder) == 2.0
    assert (folder / "mine.py.loaded").read_text(encoding="utf-8") == "x"
    (folder / "beside.py").write_text("DAMPING = 40.0\n", encoding="utf-8")
    assert damping(folder) == 40.0


def damping(folder):
    entry = {"file": "mine.py", "class": "Mine"}
    own = from_file(folder / "mine.py", entry, CONTROLLER)
    assert [*own.beside] == ["beside.py"]
    return own.given.update.__globals__["DAMPING"]


def test_a_component_of_a_file_has_its_parameters_and_those_of_the_vehicle(written, folder):
    path = written("[position, {file: mine.py, class: Compiled, lift_m: 2}]")
    component = load_scenario(path, allow_code=folder).vehicles["h"].cascade[1].component
    assert component.lift_m == 2.0
    assert component.mass_kg == pytest.approx(0.5)


def test_the_written_scenario_reads_back_equal(written, folder):
    scenario = load_scenario(written(), allow_code=folder)
    text = scenario.to_yaml()
    assert "class: Mine" in text
    again = build_of(text, folder, folder)
    assert again.to_yaml() == text


def build_of(text, folder, allow_code):
    path = Path(folder) / "again.yaml"
    path.write_text(text, encoding="utf-8")
    return load_scenario(str(path), allow_code=allow_code)


def test_an_object_is_written_as_an_entry_that_is_refused(folder):
    class Local:
        def update(self, t_s, setpoint, estimate):
            return kw.AccelerationYaw(kw.Vec3(0.0, 0.0, 0.0), 0.0)

    scenario = kw.Scenario(
        vehicles={"h": kw.Vehicle(model="hummingbird", controllers=[Local()])}, duration_s=1
    )
    with pytest.raises(ScenarioError, match="'Local' is an object of a Python program"):
        build_of(scenario.to_yaml(), folder, folder)


@pytest.mark.parametrize("load", [kw.load, Scenario.load])
def test_python_allows_code_by_an_argument(written, folder, load):
    assert load(written(), allow_code=folder)
    with pytest.raises(ScenarioError, match="allow_code=DIR"):
        load(written())


def test_data_of_a_page_or_a_change_in_flight_loads_nothing(written, folder):
    scenario = load_scenario(written(), allow_code=folder)
    loaded = (folder / "mine.py.loaded").read_text(encoding="utf-8")
    with pytest.raises(ScenarioError, match="holds code"):
        with_changes(scenario, [f"vehicles.h.controller={MINE}"])
    text = SCENARIO.replace("CONTROLLER", MINE)
    with pytest.raises(ScenarioError, match="holds code"):
        build(parse_document(text, "page.yaml"), folder)
    assert (folder / "mine.py.loaded").read_text(encoding="utf-8") == loaded
    # what is loaded already stays through other changes
    kept = with_changes(scenario, ["world.gravity_mps2=9.7"])
    assert type(kept.vehicles["h"].cascade[0].component).__name__ == "Mine"


def test_a_recorded_scenario_is_read_without_its_code(written, folder):
    scenario = load_recorded(Path(written()))
    assert type(scenario.vehicles["h"].cascade[0].component).__name__ == "Mine"
    assert load_recorded(Path(written("{class: Local}"))).vehicles
    assert not (folder / "mine.py.loaded").exists()


def test_overrides_of_python_may_be_objects(folder):
    class Level:
        def update(self, t_s, setpoint, estimate):
            return kw.ThrustAttitude(16.0, kw.Quaternion.identity())

    simulation = kw.load("keep-spot", {"vehicles.pelican.controller": Level()})
    cascade = simulation.scenario.vehicles["pelican"].cascade
    assert type(cascade[0].component).__name__ == "Level"
    for path in ("vehicles.pelican.avoidance", "vehicles.pelican.sensors", "world.wind"):
        with pytest.raises(
            ScenarioError, match="write one of vehicles.NAME.sensors.NAME, vehicles"
        ):
            kw.load("keep-spot", {path: Level()})


ROLES = '''
import kittiwake as kw

class Sonar:
    def __init__(self, gain=1.0):
        self.gain = gain

    def update(self, t_s, truth):
        return {"range_m": self.gain * truth.position_world_m.z}

class Still:
    def update(self, t_s, measurements):
        return kw.Kinematics.of([0, 0, measurements["sonar"].range_m])

class Hold:
    def update(self, t_s, estimate):
        return kw.PositionYaw([0, 0, 2], 0.0)

class Compass(kw.AbstractSensor):
    """Yaw."""

    measures = kw.measurements.OrientationMeasurement
    offset_rad: float = 0.0

    def step(self, state, inputs, dt_s, key):
        yaw = inputs.truth.euler_world_from_body.yaw_rad + self.offset_rad
        return state, kw.measurements.OrientationMeasurement(0.0, 0.0, yaw)
'''
IN_ROLES = """
name: roles
time: {rate_hz: 100, duration_s: 0.2}
vehicles:
  h:
    model: hummingbird
    start: {position_world_m: [0, 0, 2]}
    sensors:
      sonar: {file: roles.py, class: Sonar, rate_hz: 20, gain: 2, errors: ERRORS}
      compass: {file: roles.py, class: Compass, offset_deg: 90}
    estimator: {file: roles.py, class: Still}
    guidance: {file: roles.py, class: Hold, rate_hz: 50}
"""


@pytest.fixture
def in_roles(tmp_path):
    (tmp_path / "roles.py").write_text(ROLES, encoding="utf-8")

    def write(errors="[]"):
        path = tmp_path / "roles.yaml"
        path.write_text(IN_ROLES.replace("ERRORS", errors), encoding="utf-8")
        return str(path)

    return write


@pytest.mark.slow
def test_files_have_components_of_all_roles(in_roles, tmp_path):
    scenario = load_scenario(in_roles("[{type: stuck, at_s: 100}]"), allow_code=tmp_path)
    vehicle = scenario.vehicles["h"]
    assert vehicle.sensors["sonar"].every == 5
    assert len(vehicle.sensors["sonar"].component.errors) == 1
    assert vehicle.sensors["compass"].component.sensor.offset_rad == pytest.approx(1.5707963)
    assert vehicle.guidance.every == 2
    simulation = kw.Simulation(scenario)
    rows = simulation.run().frame("h")
    assert rows["sensor.sonar.range_m"].iloc[0] == 4.0
    assert rows["estimate.z_m"].iloc[0] == 4.0
    again = load_scenario(in_roles("[{type: stuck, at_s: 100}]"), allow_code=tmp_path)
    assert again.to_yaml() == scenario.to_yaml()


def test_no_role_is_loaded_without_permission(in_roles):
    with pytest.raises(ScenarioError) as caught:
        load_scenario(in_roles("[]"))
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        "vehicles.h.sensors.sonar",
        "vehicles.h.sensors.compass",
        "vehicles.h.estimator",
        "vehicles.h.guidance",
    ]
    assert all("'roles.py' holds code" in line for line in lines)


def test_errors_of_a_sensor_of_code_are_checked(in_roles, tmp_path):
    with pytest.raises(ScenarioError, match="roles.yaml:.*sonar.errors"):
        load_scenario(in_roles("[{type: none}]"), allow_code=tmp_path)


def test_a_recorded_scenario_of_all_roles_is_read_without_code(in_roles):
    scenario = load_recorded(Path(in_roles("[]")))
    assert type(scenario.vehicles["h"].guidance.component).__name__ == "Hold"


def test_a_recorded_estimator_that_requires_a_sensor_of_code_is_read(tmp_path):
    text = IN_ROLES.replace("{file: roles.py, class: Still}", "ekf").replace("ERRORS", "[]")
    path = tmp_path / "recorded.yaml"
    path.write_text(text, encoding="utf-8")
    assert load_recorded(path).vehicles["h"].sensors
