"""Construction of scenarios: effect of each key, and error messages."""

import math
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import pytest

from kittiwake.control.acceleration import Acceleration
from kittiwake.control.qrsim_waypoint import QRSimWaypoint
from kittiwake.control.stick_inversion import StickInversion
from kittiwake.core.errors import ScenarioError
from kittiwake.environment.wind import ShearWind
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.maneuvers.hold import Hold
from kittiwake.physics.multirotor import Multirotor
from kittiwake.scenario import size
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, parse_document
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.starts import near_pairs
from kittiwake.world.satellites import SKY
from kittiwake.world.world import FlightArea

ONE = """\
name: one
time: {rate_hz: 50, duration_s: 5}
vehicles:
  gull:
    model: pelican
"""

RECORDING = (
    "time_s,pitch_rad,roll_rad,throttle,yaw_rate_radps,battery_v\n0,0,0,0.5,0,11\n2,0,0,0.5,0,11\n"
)
PLAYBACK = """\
name: playback
vehicles:
  gull:
    model: pelican
    guidance: {type: playback, file: inputs.csv}
"""


def built(text, folder=Path(), overrides=()):
    return build(apply_overrides(parse_document(text, "test.yaml"), overrides), folder)


def refusal(text, folder=Path(), overrides=()):
    with pytest.raises(ScenarioError) as refused:
        built(text, folder, overrides)
    return str(refused.value)


def with_gull(lines):
    return ONE + "".join(f"    {line}\n" for line in lines.splitlines())


STRIDER = ONE.replace("pelican", "strider")


# defaults


def test_a_scenario_of_five_lines_can_be_flown():
    scenario = built(ONE)
    assert (scenario.name, scenario.seed, scenario.duration_s) == ("one", 0, 5.0)
    assert (scenario.rate_hz, scenario.log_every, scenario.fails_when_lost) == (50.0, 1, True)
    assert scenario.vehicles["gull"].model == "pelican"
    gull = scenario.vehicles["gull"]
    assert isinstance(gull.guidance.component, Hold)
    levels = [type(level.component) for level in gull.cascade]
    assert levels == [QRSimWaypoint, Acceleration, StickInversion]
    assert scenario.world.interactions == ()


# what keys become


def test_controllers_that_a_vehicle_brings_know_the_gravity_of_the_world():
    for model in ("crazyflie", "rigid-body", "angle-velocity"):
        text = ONE.replace("pelican", model)
        for overrides, expected in (((), 9.81), (("world.gravity_mps2=1.62",), 1.62)):
            cascade = built(text, overrides=overrides).vehicles["gull"].cascade
            bridge = next(r.component for r in cascade if isinstance(r.component, Acceleration))
            assert bridge.gravity_mps2 == expected


def test_parameters_of_a_vehicle_are_replaced_in_place():
    gull = built(with_gull("parameters: {mass_kg: 2, integrator: rk4}")).vehicles["gull"]
    assert (gull.dynamics.mass_kg, gull.dynamics.integrator) == (2.0, "rk4")
    assert gull.dynamics.attitude_stiffness_per_s2 == 179.797


def test_parameters_of_a_controller_are_replaced_in_place():
    text = with_gull("controller: {type: qrsim-waypoint, max_speed_mps: 2, yaw: {gain_per_s: 1}}")
    controller = built(text).vehicles["gull"].cascade[0].component
    assert (controller.max_speed_mps, controller.yaw.gain_per_s) == (2.0, 1.0)
    assert controller.yaw.max_rate_radps == 4.4


def test_angles_of_users_become_radians():
    text = with_gull("start: {yaw_deg: 90, roll_rad: 0.1}") + "world:\n  wind:\n    type: shear\n"
    scenario = built(text + "    speed_at_6m_mps: 2\n    from_deg: 270\n")
    assert scenario.vehicles["gull"].start.yaw_rad == math.pi / 2
    assert scenario.vehicles["gull"].start.roll_rad == 0.1
    assert isinstance(scenario.world.wind, ShearWind)
    assert scenario.world.wind.from_rad == pytest.approx(1.5 * math.pi)


def test_rates_become_steps():
    text = with_gull("controller: {type: qrsim-waypoint, rate_hz: 25}\nestimator: truth")
    text = text.replace("duration_s: 5", "duration_s: 5, log_rate_hz: 10")
    scenario = built(text)
    assert scenario.vehicles["gull"].cascade[0].every == 2
    assert scenario.vehicles["gull"].estimator.every == 1
    assert scenario.log_every == 5


def test_a_collision_distance_makes_vehicles_see_each_other():
    scenario = built(ONE + "world: {collision_distance_m: 3}\n")
    assert scenario.world.collision_distance_m == 3.0
    assert len(scenario.world.interactions) == 1


def test_cascade_may_be_a_list_of_controllers():
    cascade = (
        built(with_gull("controller: [qrsim-velocity, qrsim-waypoint]")).vehicles["gull"].cascade
    )
    assert [type(level.component).__name__ for level in cascade] == [
        "QRSimVelocity",
        "QRSimWaypoint",
        "Acceleration",
        "StickInversion",
    ]


# counted vehicles


def test_counted_vehicles_are_numbered_from_one_and_spaced():
    text = with_gull("count: 3\nspacing_m: [0, 20, 1]\nstart: {position_world_m: [1, 2, 3]}")
    vehicles = built(text).vehicles
    assert list(vehicles) == ["gull-1", "gull-2", "gull-3"]
    places = [v.start.position_world_m.array.tolist() for v in vehicles.values()]
    assert places == [[1, 2, 3], [1, 22, 4], [1, 42, 5]]


@pytest.mark.parametrize("lost", ["fail", "continue"])
def test_a_spacing_that_leads_beyond_all_numbers_is_refused(lost):
    text = with_gull("count: 3\nspacing_m: [-1.0e308, 0, 0]") + f"lost_vehicle: {lost}\n"
    with pytest.raises(ScenarioError, match=r"spacing_m: gull-3 would start at infinity"):
        built(text)


def test_vehicles_as_far_apart_as_numbers_go_are_not_near_each_other():
    far = {
        "one": Vec3(-1e308, 0.0, 0.0),
        "other": Vec3(1e308, 0.0, 0.0),
        "third": Vec3(0.0, 0.0, 0.0),
    }
    assert list(near_pairs(far, 1e-3)) == []
    assert list(near_pairs(far | {"fourth": Vec3(0.0, 0.0, 1e-4)}, 1e-3)) == [
        ("third", "fourth", 1e-4)
    ]


def test_numbers_have_as_many_digits_as_the_last_one_needs():
    names = list(built(with_gull("count: 10")).vehicles)
    assert (names[0], names[8], names[9]) == ("gull-01", "gull-09", "gull-10")


def test_a_count_of_one_is_numbered_too():
    assert list(built(with_gull("count: 1")).vehicles) == ["gull-1"]


def test_starts_of_a_count_are_judged_together(monkeypatch):
    judged, limits = [], FlightArea.limits
    monkeypatch.setattr(FlightArea, "limits", lambda *own: judged.append(own) or limits(*own))
    message = refusal(with_gull("count: 100\nspacing_m: [2000, 0, 0]\nstart: {roll_deg: 0}"))
    assert "gull-052, and 48 more like it: it starts where x_m = 102000 is not" in message
    assert len(judged) == 1


def test_places_on_a_grid_fill_rows_then_layers():
    counted = built(with_gull("count: 7\nspacing_m: [1, 10, 100]\ngrid: [2, 2]"))
    starts = [vehicle.start.position_world_m for vehicle in counted.vehicles.values()]
    assert [(p.x, p.y, p.z) for p in starts] == [
        *((0, 0, 0), (1, 0, 0), (0, 10, 0), (1, 10, 0)),
        *((0, 0, 100), (1, 0, 100), (0, 10, 100)),
    ]


def test_entries_of_the_same_words_are_built_once_and_share_no_component(monkeypatch):
    checked, check = [], Multirotor.check_rate
    monkeypatch.setattr(Multirotor, "check_rate", lambda *own: checked.append(own) or check(*own))
    entry = "{model: crazyflie, sensors: {imu: imu}, start: {position_world_m: [%d, 0, 5]}}"
    lines = "".join(f"  d{i}: {entry % i}\n" for i in range(20))
    vehicles = list(built(ONE + lines).vehicles.values())[1:]
    assert len(checked) == 1
    assert [vehicle.start.position_world_m.x for vehicle in vehicles] == [*range(20)]
    first, second = (replace(vehicle, start=vehicles[0].start) for vehicle in vehicles[:2])
    assert eqx.tree_equal(first, second, typematch=True)
    # what is shared is folded into programs: no bits may depend on how others are written
    pairs = [(first.dynamics, second.dynamics), (first.estimator, second.estimator)]
    pairs += [(first.guidance, second.guidance), *zip(first.cascade, second.cascade, strict=True)]
    assert all(one is not other for one, other in pairs)
    assert first.sensors["imu"].component is not second.sensors["imu"].component
    assert first.turbulence is second.turbulence


def test_a_wrong_start_is_noted_of_an_entry_like_one_before():
    start = "start: {position_world_m: [0, 0, x]}"
    sound = f"  d0: {{model: crazyflie}}\n  d1: {{model: crazyflie, {start}}}\n"
    assert "vehicles.d1.start.position_world_m" in refusal(ONE + sound)


def test_a_name_that_counting_takes_is_refused():
    text = ONE.replace("vehicles:", "vehicles:\n  gull-2: {model: pelican}") + "    count: 3\n"
    assert "test.yaml:5: vehicles.gull: there are two vehicles 'gull-2'" in refusal(text)


@pytest.mark.parametrize("world", ["", "world: {collision_distance_m: 2}\n"])
def test_more_than_memory_holds_is_refused(world):
    message = refusal(with_gull("count: 1000000") + world, overrides=[])
    assert "vehicles need about" in message
    assert "GB of memory" in message


def test_pairs_of_vehicles_count_for_the_memory():
    # 30,000 vehicles are a gigabyte; their pairs are forty
    assert "30000 vehicles" in refusal(
        with_gull("count: 30000") + "world: {interactions: [downwash]}\n"
    )


# the duration


def test_a_recording_gives_the_duration_by_its_end(tmp_path):
    (tmp_path / "inputs.csv").write_text(RECORDING)
    assert built(PLAYBACK, tmp_path).duration_s == 4.0


def test_a_stated_duration_is_stronger_than_a_recordings(tmp_path):
    (tmp_path / "inputs.csv").write_text(RECORDING)
    assert built(PLAYBACK, tmp_path, ["time.duration_s=3"]).duration_s == 3.0


def test_no_duration_at_all_is_refused_with_the_line_to_write():
    message = refusal(ONE.replace(", duration_s: 5", ""))
    assert message == (
        "test.yaml:2: time.duration_s: is missing; write how long to fly, such as duration_s: 60"
    )


def test_a_refused_recording_is_not_blamed_for_the_duration_as_well(tmp_path):
    assert "duration_s" not in refusal(PLAYBACK, tmp_path)


# files


def test_a_file_is_looked_for_beside_the_scenario(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "inputs.csv").write_text(RECORDING)
    scenario = built(PLAYBACK.replace("inputs.csv", "data/inputs.csv"), tmp_path)
    assert scenario.tables == {
        ("vehicles", "gull", "guidance", "file"): tmp_path / "data" / "inputs.csv"
    }


@pytest.mark.parametrize("name", ["../inputs.csv", "data/../../inputs.csv"])
def test_a_file_may_not_lead_out_of_the_scenarios_folder(name, tmp_path):
    (tmp_path / "inputs.csv").write_text(RECORDING)
    folder = tmp_path / "folder"
    folder.mkdir()
    message = refusal(PLAYBACK.replace("inputs.csv", name), folder)
    assert "lies outside the scenario's folder" in message


def test_an_absolute_path_in_a_scenario_is_refused(tmp_path):
    (tmp_path / "inputs.csv").write_text(RECORDING)
    text = PLAYBACK.replace("inputs.csv", str(tmp_path / "inputs.csv"))
    assert "lies outside the scenario's folder" in refusal(text, tmp_path)


def test_a_link_out_of_the_scenarios_folder_is_refused(tmp_path):
    (tmp_path / "secret.csv").write_text(RECORDING)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "inputs.csv").symlink_to(tmp_path / "secret.csv")
    assert "lies outside the scenario's folder" in refusal(PLAYBACK, folder)


def test_a_file_of_the_command_line_is_looked_for_where_the_user_stands(tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text(RECORDING)
    monkeypatch.chdir(tmp_path)
    item = "vehicles.gull.guidance.file=mine.csv"
    scenario = built(PLAYBACK, Path("/nowhere"), [item])
    assert list(scenario.tables.values()) == [Path("mine.csv")]


# the control cascade


def test_incomplete_cascade_is_refused_with_its_controllers():
    message = refusal(with_gull("controller: qrsim-velocity"))
    assert message.startswith(
        "test.yaml:6: vehicles.gull.controller: no controller leads from PositionYaw"
    )
    assert "qrsim-velocity (VelocityYaw to AttitudeThrottle)" in message


def test_recorded_inputs_beyond_the_vehicles_bounds_are_refused_with_row_and_range(tmp_path):
    (tmp_path / "inputs.csv").write_text(RECORDING.replace("2,0,0,0.5", "2,0,0,1.5"))
    message = refusal(PLAYBACK, tmp_path)
    assert "inputs.csv: `throttle`: got 1.5 at time_s = 2; must be from 0 to 1" in message


# several mistakes


def test_all_mistakes_are_reported_at_once_with_their_lines():
    text = with_gull("start: {yaw_dg: 3}\ncontroller: qrsim-waypont\nguidance: hald")
    lines = refusal(text).splitlines()
    assert [line.split(": ")[0] for line in lines] == ["test.yaml:6", "test.yaml:8", "test.yaml:7"]


def places(lines):
    """Where the mistakes are, below the vehicle."""
    return [line.split(": ")[1].removeprefix("vehicles.gull.") for line in lines]


def test_an_estimator_without_its_sensors_hides_no_other_mistake():
    text = with_gull(
        "estimator: qrsim\n"
        "sensors: {gnss: {type: gnss, noise_m: -1}, ping: {type: ultrasonic, rate_hz: 7}}\n"
        "parameters: {mass_kg: -1}\n"
        "controller: qrsim-velocity\n"
        "faults: [{type: rudder, at_s: 1}]"
    )
    assert sorted(places(refusal(text).splitlines())) == [
        "controller",
        "estimator",
        "faults.0",
        "parameters.mass_kg",
        "sensors.gnss.noise_m",
        "sensors.ping.rate_hz",
    ]


def test_a_wrong_key_in_a_vehicle_hides_none_of_its_other_mistakes():
    text = with_gull("color: red\nstart: {yaw_dg: 3}\nsensors: {imu: {type: imuu}, 2nd: gnss}")
    assert places(refusal(text).splitlines()) == [
        "sensors.2nd",
        "color",
        "start.yaw_dg",
        "sensors.imu.type",
        "sensors.2nd",
    ]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("pelcan", "no vehicle"),
        ("3", "must be text"),
        ("mine.toml", "**tomllib.load(file)['parameters']"),
    ],
)
def test_an_unknown_model_hides_no_other_mistake(model, expected):
    text = with_gull("start: {yaw_dg: 3}\nguidance: hald").replace("pelican", model)
    lines = refusal(text).splitlines()
    assert expected in lines[0]
    assert places(lines) == ["model", "start.yaw_dg", "guidance.type"]


def test_start_outside_the_area_is_reported_with_mistakes_of_others():
    text = with_gull("start: {position_world_m: [0, 0, 50]}") + "  tern: {model: pelcan}\n"
    lines = refusal(text.replace("vehicles:", "world: {area: {z_m: [0, 20]}}\nvehicles:"))
    assert "vehicles.tern.model: there is no vehicle" in lines
    assert "vehicles: gull: it starts where" in lines


def test_many_starts_outside_the_area_are_one_line_for_each_limit():
    text = with_gull("count: 100\nspacing_m: [1, 0, 0]\nstart: {position_world_m: [0, 0, 9]}")
    lines = refusal(text.replace("vehicles:", "world: {area: {x_m: [-5, 90]}}\nvehicles:"))
    assert lines.splitlines() == [
        "test.yaml:4: vehicles: gull-092, and 8 more like it: it starts where x_m = 91 is not from "
        "-5 to 90 (world.area.x_m); move the start, or write lost_vehicle: continue"
    ]


def test_equal_mistakes_of_vehicles_are_reported_once():
    entries = "".join(f"  v{i}: {{model: pelican, guidance: hald}}\n" for i in range(30))
    (line,) = refusal(f"name: test\ntime: {{duration_s: 1}}\nvehicles:\n{entries}").splitlines()
    assert line.startswith("test.yaml:4: vehicles.v0.guidance.type: there is no guidance 'hald'. ")
    assert line.endswith(" (and 29 more vehicles alike)")
    line, *_ = refusal(f"name: test\nvehicles:\n{entries.replace('guid', 'gud')}").splitlines()
    assert "vehicles.v0.gudance: there is no such key. Did you mean 'guidance'?" in line
    assert line.endswith(" (and 29 more vehicles alike)")


def test_sensors_that_are_no_mapping_are_not_missed_by_an_estimator_as_well():
    text = with_gull("sensors: [gnss]\nestimator: qrsim\nguidance: hald")
    assert places(refusal(text).splitlines()) == ["sensors", "guidance.type"]


def test_controller_with_invalid_parameters_leaves_no_gap_in_the_cascade():
    text = with_gull("controller: {type: qrsim-waypoint, max_speed_mps: -1}")
    assert places(refusal(text).splitlines()) == ["controller.max_speed_mps"]


def test_errors_of_a_refused_sensor_are_looked_at_too():
    errors = "[{type: bias, field: color}, {type: latency, delay_s: 0.03}]"
    text = with_gull(f"sensors: {{imu: {{type: imu, mount: 3, rate_hz: 25, errors: {errors}}}}}")
    lines = refusal(text).splitlines()
    assert places(lines) == [f"sensors.imu.{key}" for key in ("mount", "errors.0", "errors.1")]
    assert "must be a multiple of the sensor's period, 0.04 s" in lines[2]


@pytest.mark.parametrize("rate_hz", ["7", ".inf", "1.0e-320", "-1", "fast"])
def test_errors_of_a_sensor_of_a_refused_rate_are_looked_at_too(rate_hz):
    errors = "[{type: bias, field: color}, {type: latency, delay_s: 1.0}]"
    text = with_gull(f"sensors: {{imu: {{type: imu-qrsim, rate_hz: {rate_hz}, errors: {errors}}}}}")
    assert places(refusal(text).splitlines()) == ["sensors.imu.rate_hz", "sensors.imu.errors.0"]


def test_satellites_can_be_taken_out_of_a_world():
    bare = ["world.satellites=null", "vehicles.pelican.sensors={}"]
    bare.append("vehicles.pelican.estimator=truth")
    assert SKY in load_scenario("keep-spot").world.processes
    assert SKY not in load_scenario("keep-spot", bare).world.processes


def test_missing_sensor_of_an_estimator_is_reported_by_types():
    sensors = "{gnss: gnss, altimeter: altimeter, orientation: orientation}"
    text = with_gull(f"estimator: qrsim\nsensors: {sensors}")
    text = text.replace("vehicles:", "world: {satellites: nominal}\nvehicles:")
    message = refusal(text)
    assert "a sensor of type imu, imu-micklisch or imu-qrsim is required" in message
    assert "Measurement" not in message
    another = text.replace("altimeter: altimeter", "altimeter: gnss")
    assert "the sensor 'altimeter' measures the same as gnss" in refusal(another)


@pytest.mark.parametrize("entry", ["3", "{type: [imu]}"])
def test_entry_without_a_type_is_refused_with_the_types(entry):
    message = refusal(with_gull(f"sensors: {{imu: {entry}}}"))
    assert "is not allowed; write the kind of sensor: one of altimeter, " in message


def test_a_default_rate_is_called_so():
    text = with_gull("sensors: {imu: imu-micklisch}")
    assert "its default rate_hz 100 does not divide the physics rate 50 Hz" in refusal(text)
    given = with_gull("sensors: {imu: {type: imu-micklisch, rate_hz: 100}}")
    assert ".imu.rate_hz: rate_hz 100 does not divide" in refusal(given)


def test_fleet_size_is_limited_by_the_memory(monkeypatch):
    monkeypatch.setattr(size, "BYTES_PER_VEHICLE", 10**15)
    assert "1 vehicles need about" in refusal(ONE)


def test_a_latitude_beyond_the_pole_is_refused():
    assert "latitude" in refusal(ONE + "world: {origin: {latitude_deg: 91}}\n")


@pytest.mark.parametrize(
    ("start", "problem"),
    [
        ("{roll_deg: 90}", "roll_rad 1.5708"),
        ("{pitch_rad: -0.1}", "pitch_rad -0.1"),
        ("{velocity_world_mps: [1, 0, 0.5]}", "velocity_world_mps upwards 0.5"),
        ("{angular_velocity_body_radps: [0.3, 0, 1]}", "angular_velocity_body_radps in roll 0.3"),
        ("{angular_velocity_body_radps: [0, 2, 1]}", "angular_velocity_body_radps in pitch 2"),
        ("{roll_rad: 0.2, pitch_rad: 0.1}", "roll_rad 0.2, pitch_rad 0.1"),
    ],
)
def test_a_vessel_refuses_a_start_that_it_would_ignore(start, problem):
    message = refusal(f"{STRIDER}    start: {start}\n")
    assert message.startswith(f"test.yaml:6: vehicles.gull.start: {problem}: not possible")
    assert "level" in message
    assert message.endswith("write 0")


def test_a_vessel_takes_a_start_in_the_plane_of_the_water():
    start = "{position_world_m: [1, 2, 3], yaw_deg: 40, velocity_world_mps: [1, 2, 0], "
    start += "angular_velocity_body_radps: [0, 0, 1]}"
    assert built(f"{STRIDER}    start: {start}\n").vehicles["gull"].start.position_world_m.z == 3.0


def test_a_vehicle_that_stands_does_not_start_below_the_ground():
    text = with_gull("start: {position_world_m: [0, 0, -0.5]}").replace("pelican", "crazyflie")
    message = (
        "gull: its feet start 0.514 m below the ground (world.ground_z_m); it stands at a z of "
    )
    assert message + "0.0145; move the start" in refusal(text)
    assert built(text + "world: {ground_z_m: -1}\n")
    assert built(text + "lost_vehicle: continue\n")
    assert built(text.replace("crazyflie", "pelican"))


def test_a_vehicle_with_feet_stands_at_the_origin_unless_it_is_put_elsewhere():
    text = ONE.replace("pelican", "crazyflie")
    raised = built(text + "world: {ground_z_m: 2}\n").vehicles["gull"]
    assert raised.start.position_world_m.z == 2.0145
    turned = built(text + "    start: {yaw_deg: 90}\n").vehicles["gull"].start
    assert turned.position_world_m.z == 0.0145
    assert turned.yaw_rad == pytest.approx(math.pi / 2.0)
    assert built(ONE).vehicles["gull"].start.position_world_m.z == 0.0


def test_feet_that_would_sink_deeply_are_refused():
    text = with_gull("start: {position_world_m: [0, 0, 5]}").replace("pelican", "crazyflie")
    coarse = refusal(text.replace("rate_hz: 50", "rate_hz: 10"))
    assert "vehicles.gull.parameters: landing_gear: at 10 Hz feet would sink 0." in coarse
    least_hz = int(coarse.partition("write time.rate_hz: ")[2].split()[0])
    assert built(text.replace("rate_hz: 50", f"rate_hz: {least_hz}"))
    assert "landing_gear: at" in refusal(text.replace("rate_hz: 50", f"rate_hz: {least_hz - 1}"))
    assert built(
        text.replace("rate_hz: 50", "rate_hz: 10") + "    parameters: {landing_gear: null}\n"
    )
    soft = refusal(text + "    parameters: {landing_gear: {frequency_radps: 6.9}}\n")
    assert "write a frequency_radps of at least 14" in soft


def test_a_rudder_jams_within_its_stops():
    message = refusal(STRIDER + "    faults: [{type: rudder, at_s: 1, stuck_deg: 80}]\n")
    assert "stuck_rad: 1.4 is beyond the rudder's stops; must be from -0.611 to 0.611" in message


# what is drawn for each flight


@pytest.mark.parametrize(
    "world",
    [
        "world:\n  plumes:\n    smoke: {type: gaussian}\n",
        "world:\n  wind: {type: shear, speed_at_6m_mps: 3, from_deg: 45}\n"
        "  plumes:\n    smoke: {type: gaussian-dispersion}\n",
        "world:\n  terrain: pour\n",
    ],
    ids=["cloud", "sources", "terrain"],
)
def test_places_are_drawn_from_an_area_that_is_given(world):
    message = refusal(ONE + world)
    assert "positions are drawn from world.area, which is 200 km long in x_m" in message
    small = "  area: {x_m: [-50, 50], y_m: [-50, 50], z_m: [0, 40]}\n"
    assert built(ONE + world + small).world.processes


def test_rate_too_low_for_landing_gear_is_reported_for_affected_vehicles():
    entry = "{model: rigid-body, parameters: {landing_gear: {frequency_radps: FREQUENCY}}}"
    vehicles = {"a": "2", "b": "2", "c": "60"}
    entries = ", ".join(
        f"{name}: {entry.replace('FREQUENCY', own)}" for name, own in vehicles.items()
    )
    text = f"name: feet\ntime: {{rate_hz: 500, duration_s: 0.1}}\nvehicles: {{{entries}}}\n"
    with pytest.raises(ScenarioError) as refused:
        build(parse_document(text, "feet.yaml"), Path())
    message = str(refused.value)
    assert "vehicles.a.parameters: landing_gear: at 500 Hz feet would sink" in message
    assert message.endswith("(and 1 more vehicles alike)")
