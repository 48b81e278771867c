"""Warnings about allowed but possibly unintended settings, and rates that are too low."""

from textwrap import dedent

import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.load import load_scenario


def load(tmp_path, parameters="{}", faults="[]", rate_hz=100):
    file = tmp_path / "tern.yaml"
    text = f"""
        name: tern
        time: {{duration_s: 3, rate_hz: {rate_hz}}}
        vehicles:
          tern: {{model: crazyflie, parameters: {parameters}, faults: {faults}}}
    """
    file.write_text(dedent(text))
    return load_scenario(str(file))


def test_valid_scenario_has_no_warnings(tmp_path):
    faults = "[{type: motor, at_s: 2.9, rotor: 0, keeps: 0.5}]"
    assert load(tmp_path, faults=faults).warnings() == []


def test_warns_of_a_vehicle_heavier_than_its_thrust(tmp_path):
    # four times 2.8815e-8 N s^2 times (2272.42 rad/s)^2
    heaviest_kg = 4.0 * 2.8815e-8 * 2272.42**2 / 9.81
    assert load(tmp_path, f"{{mass_kg: {0.999 * heaviest_kg}}}").warnings() == []
    (warning,) = load(tmp_path, f"{{mass_kg: {1.001 * heaviest_kg}}}").warnings()
    assert warning == "tern: the largest thrust is 0.595 N, and the weight is 0.596 N"


@pytest.mark.parametrize(("model", "falls"), [("pelican", 1), ("crazyflie", 0), ("strider", 0)])
def test_warns_of_motors_off_without_landing_gear(model, falls):
    scenario = kw.Scenario.load(
        {
            "name": "tern",
            "time": {"duration_s": 3, "rate_hz": 100},
            "vehicles": {"tern": {"model": model, "guidance": "idle"}},
        }
    )
    assert sum("falls through the ground" in text for text in scenario.warnings()) == falls


def test_warns_of_a_fault_after_the_end(tmp_path):
    (warning,) = load(tmp_path, faults="[{type: motor, at_s: 3, rotor: 0, keeps: 0.5}]").warnings()
    assert "would be at 3 s, after the end of the flight of 3 s" in warning


def test_warns_of_a_sensor_that_is_stuck_after_the_end(tmp_path):
    def warnings_of(at_s):
        errors = f"[{{type: stuck, at_s: {at_s}}}]"
        sensors = f"{{baro: {{type: barometer, errors: {errors}}}}}"
        return load(tmp_path, f"{{}}, sensors: {sensors}").warnings()

    assert warnings_of(2.9) == []
    assert warnings_of(3) == [
        "tern: the sensor 'baro' would be stuck at 3 s, after the end of the flight of 3 s; "
        "write an earlier at_s"
    ]


def test_a_motor_faster_than_the_steps_can_follow_is_refused(tmp_path):
    load(tmp_path, "{landing_gear: null, rotor: {spin_up_s: 0.0051}}")
    with pytest.raises(ScenarioError, match="of 0.0049 s.*time.rate_hz: 103 or more"):
        load(tmp_path, "{landing_gear: null, rotor: {spin_up_s: 0.0049}}")
    with pytest.raises(ScenarioError, match="rotor: its time constant of 0.004 s"):
        load(tmp_path, "{landing_gear: null, rotor: {spin_down_s: 0.004}}")


def test_a_motor_without_a_range_of_speed_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="min_speed_radps: 2300 is not allowed; must be below"):
        load(tmp_path, "{rotor: {min_speed_radps: 2300}}")


def test_single_type_of_a_registry_is_reported_with_its_keys(tmp_path):
    with pytest.raises(ScenarioError, match=r"parameters\.battery\.foo: .* Allowed: capacity_c"):
        load(tmp_path, "{battery: {type: lithium-polymer, foo: 1}}")


@pytest.mark.parametrize(
    ("integrator", "damping", "expected"),
    [
        ("euler", 0.17, "with euler at 500 Hz its oscillation grows"),
        ("euler", 0.19, None),
        ("heun", 0.0, "with heun at 500 Hz its oscillation grows"),
        ("heun", 0.02, None),
        ("semi-implicit-euler", 0.0, None),
        ("rk4", 0.0, None),
        ("dormand-prince-5", 0.0, None),
    ],
)
def test_feet_whose_swing_would_grow_with_the_integrator_are_refused(
    integrator, damping, expected, tmp_path
):
    # explicit Euler: 2 (2/3 zeta) >= omega_0 dt = 120 / 500, so zeta >= 0.18
    parameters = f"{{integrator: {integrator}, landing_gear: {{damping: {damping}}}}}"
    if expected is None:
        load(tmp_path, parameters, rate_hz=500)
    else:
        with pytest.raises(ScenarioError, match=expected):
            load(tmp_path, parameters, rate_hz=500)


def test_warns_of_an_island_beyond_the_shore():
    pattern = "{shape: coverage, lane_spacing_m: 3, polygon_world_m: [[0, 0], [8, 0], [4, 6]]"
    island = "islands_world_m: [[[2, -1], [4, 1], [2, 1]]]"
    guidance = f"vehicles.strider.guidance={{type: line-of-sight, pattern: {pattern}, {island}}}}}"
    warnings = load_scenario("cruise-strider", [guidance]).warnings()
    (warning,) = [warning for warning in warnings if "island" in warning]
    assert warning.startswith("strider: pattern.islands_world_m[0] reaches out of the polygon")


@pytest.mark.parametrize(
    ("z_m", "ahead_m", "stands"),
    [
        (0.2, 0.0, False),
        (0.35, 0.9, False),
        (0.39, 0.0, False),
        (0.41, 0.0, True),
        (0.2, 1.1, True),
    ],
)
def test_a_start_inside_a_vessel_is_refused_with_the_height_of_its_deck(
    tmp_path, z_m, ahead_m, stands
):
    text = f"""
        name: berth
        time: {{duration_s: 1}}
        vehicles:
          otter: {{model: otter, start: {{position_world_m: [5, 0, 0], yaw_deg: 90}}}}
          drone:
            model: ar-drone
            start: {{position_world_m: [5, {ahead_m}, {z_m}]}}
    """
    (tmp_path / "berth.yaml").write_text(dedent(text))
    if stands:
        load_scenario(str(tmp_path / "berth.yaml"))
        return
    with pytest.raises(ScenarioError, match=r"drone: it starts in otter, .* write a z of 0.41 or"):
        load_scenario(str(tmp_path / "berth.yaml"))


@pytest.mark.parametrize(("controller", "used"), [("velocity", True), ("qrsim-velocity", False)])
def test_warns_of_a_feed_forward_that_the_controller_does_not_use(tmp_path, controller, used):
    model, more = ("crazyflie", ", acceleration, attitude, mixer") if used else ("pelican", "")
    path = tmp_path / "flock.yaml"
    path.write_text(
        f"""
name: flock
time: {{rate_hz: 50, duration_s: 5}}
vehicles:
  drone:
    model: {model}
    start: {{position_world_m: [0, 0, 5]}}
    controller: [{controller}{more}]
    guidance: {{type: flock, feed_forward: true, behaviors: [cohesion]}}
""",
        encoding="utf-8",
    )
    warnings = load_scenario(str(path)).warnings()
    without = load_scenario(str(path), ["vehicles.drone.guidance.feed_forward=false"]).warnings()
    assert without == []
    if used:
        assert warnings == []
    else:
        assert warnings == [
            "drone: feed_forward has no effect: qrsim-velocity does not use the acceleration of a "
            "velocity; write another controller, such as velocity, or leave feed_forward out"
        ]
