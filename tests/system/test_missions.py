"""Taking off, landing and missions, from the scenario to the log."""

from pathlib import Path

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import CommandError, ScenarioError
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document

# seconds from 10, 20 and 30 m, and where they end, of Micklisch et al. 2021, table 3
PUBLISHED_S = (7.8, 13.38, 14.82)
PAD_M = 1.46
# in the air feet change nothing but the time to compile
MISSION = """
name: errand
time: {rate_hz: 250, duration_s: 20, log_rate_hz: 50}
world:
  area: {x_m: [-10, 10], y_m: [-10, 10], z_m: [-1, 10]}
vehicles:
  tern:
    model: rigid-body
    parameters: {landing_gear: null}
    start: {position_world_m: [0, 0, 2]}
    sensors: {below: altimeter}
    controller: [position, velocity]
    guidance:
      type: mission
      steps:
        - {do: {type: goto, position_world_m: [3, 0, 2]}, timeout_s: 10}
        - {do: {type: playback, file: push.csv}, for_s: 0.5, name: push}
        - {do: hold, until: {quantity: sensor.below.height_world_m, above: 9}, timeout_s: 1}
        - {do: {type: goto, position_world_m: [0, 0, 3], speed_mps: 1}, name: back}
"""
PUSH = "time_s,velocity_x_world_mps,velocity_y_world_mps,velocity_z_world_mps,yaw_rad\n0,0,1,0,0\n"


def simulation(folder, text=MISSION):
    (folder / "push.csv").write_text(PUSH)
    return Simulation(build(parse_document(text, "test.yaml"), Path(folder)))


@pytest.fixture(scope="module")
def errand(tmp_path_factory):
    """The mission above, which compiles once for all that fly it."""
    return simulation(tmp_path_factory.mktemp("errand"))


def times(log):
    return {event.event: event.time_s for event in log.events}


@pytest.mark.slow
def test_takeoff_matches_the_figures_of_its_source():
    log = kw.load("takeoff").run()
    frame, said = log.frame("os4"), times(log)
    climbs = frame["z_m"][frame["time_s"] == said["climbing"]].item()
    assert climbs == pytest.approx(3.11, abs=0.1)
    assert said["climbing"] == pytest.approx(0.84, abs=0.25)
    # it hovers from 2.5 s on, over 5 m and below 5.7 m, and never was higher than that by 1 m
    hovering = frame["z_m"][frame["time_s"] >= 2.5]
    assert hovering.between(5.0, 5.7).all()
    assert np.ptp(hovering) < 0.2
    assert frame["z_m"].max() < hovering.iloc[-1] + 1.0
    assert "not finished" not in " ".join(said)


@pytest.mark.slow
def test_landings_take_no_longer_than_published_and_are_soft():
    raised = {"vehicles.os4.count": 3, "vehicles.os4.spacing_m": [0, 0, 10], "time.duration_s": 16}
    log = kw.load("landing-10", raised).run()
    ended = []
    for number, published_s in enumerate(PUBLISHED_S, start=1):
        name = f"os4-{number}"
        frame, summary = log.frame(name), log.summary["vehicles"][name]
        (off,) = [e for e in log.events if e.vehicle == name and e.event == "motors off"]
        assert summary["touchdown"]["time_s"] < 1.3 * published_s
        assert summary["touchdown"]["speed_mps"] < 0.5
        height = frame["z_m"][frame["time_s"] == off.time_s].item() - PAD_M
        assert height < 0.1
        after = frame[frame["time_s"] > off.time_s]
        assert (after[[f"cmd_speeds_{i}_radps" for i in range(4)]] == 0.0).to_numpy().all()
        assert np.ptp(after["z_m"]) < 1e-3
        ended.append(summary["touchdown"]["time_s"])
    assert ended == sorted(ended)


@pytest.mark.parametrize("height", [10, 20, 30])
def test_library_landings_differ_only_in_height(height):
    (vehicle,) = kw.load(f"landing-{height}").scenario.vehicles.values()
    assert vehicle.start.position_world_m.z == height
    (first,) = kw.load("landing-10").scenario.vehicles.values()
    assert vehicle.guidance == first.guidance


@pytest.mark.slow
def test_ramp_ends_at_the_position_of_the_original():
    log = kw.load("takeoff-and-land-ramp").run()
    frame, said = log.frame("uav-gazebo"), times(log)
    ends = frame[frame["time_s"] >= said["takeoff: at its end"]].iloc[0]
    assert ends["z_m"] == pytest.approx(5.78, abs=0.02)
    rested = frame[frame["time_s"] >= said["takeoff: taken off"]].iloc[0]
    assert abs(rested["z_m"] - 6.0) < 0.05
    assert said["land: motors off"] < said["mission done"]
    # from where the ramp left it, 2.6 cm up
    assert frame["z_m"].iloc[-1] == pytest.approx(0.0013, abs=1e-3)
    assert (frame[frame["time_s"] > said["mission done"]]["cmd_thrust_n"] == 0.0).all()


@pytest.mark.slow
def test_low_battery_is_an_event_and_the_vehicle_returns_home():
    log = kw.load("mission").run()
    said = times(log)
    assert "began home, because battery charge is below 0.055" in said
    assert said["mission done"] < 30.0
    assert log.summary["metrics"]["waypoints"]["crazyflie"] == {"reached": 1, "planned": 4}
    place = log.summary["vehicles"]["crazyflie"]["final_position_m"]
    assert np.hypot(*place[:2]) < 0.1
    assert place[2] < 0.02
    assert log.summary["vehicles"]["crazyflie"]["touchdown"]["speed_mps"] < 0.5


@pytest.mark.slow
def test_each_step_is_an_event_and_a_column(errand):
    log = errand.run()
    said = times(log)
    assert list(said) == [
        "began goto",
        "began push",
        "began hold",
        "began back, timeout",
        "mission done",
    ]
    frame = log.frame("tern")
    # the set point of each rung is there while it is meant, and nowhere else
    pushed = frame["time_s"].between(said["began push"], said["began hold"] - 1e-6)
    np.testing.assert_array_equal(frame["setpoint.position_x_world_m"].isna(), pushed)
    assert (frame["setpoint.velocity_y_world_mps"][pushed] == 1.0).all()
    assert frame["guidance.phase"].nunique() == 5


@pytest.mark.slow
def test_unfinished_mission_reports_its_last_step(errand):
    log = errand.run(duration_s=2.0)
    assert log.events[-1].event == "not finished: began goto"
    assert log.events[-1].time_s == 2.0
    assert log.summary["status"] == "completed"


@pytest.mark.slow
def test_mission_step_is_started_from_python(errand):
    errand.reset()
    errand.jump_to_mission_step("tern", "back")
    for _ in range(250):
        errand.step()
    seen = errand.observe()["tern"]
    assert seen.truth.position_world_m.z > 2.1
    assert seen.phase == "began back, on request"
    assert seen.uncertainty is None
    with pytest.raises(CommandError, match="there is no step 'backk'.*Did you mean 'back'"):
        errand.jump_to_mission_step("tern", "backk")
    with pytest.raises(CommandError, match="there is no vehicle 'turn'"):
        errand.jump_to_mission_step("turn", "back")


@pytest.mark.slow
def test_guidance_without_steps_refuses_a_step_with_a_hint():
    keeping = kw.load("keep-spot")
    keeping.reset()
    with pytest.raises(CommandError, match="has no step 'land'.*type: mission"):
        keeping.jump_to_mission_step("pelican", "land")


@pytest.mark.parametrize(
    ("written", "instead", "expected"),
    [
        ("[3, 0, 2]", "[30, 0, 2]", "steps.0 (goto): position_world_m: [30, 0, 2] is outside"),
        ("above: 9", "above: 9, for_s: -1", "for_s: -1 is not allowed"),
        ("sensor.below.height_world_m", "sensor.below.hight_m", "there is no quantity"),
        ("do: hold", "do: mission", "there is no guidance 'mission'"),
        ("file: push.csv", "file: pull.csv", "pull.csv"),
        ("name: back", "name: push", "two steps are called push"),
    ],
)
def test_infeasible_missions_are_refused_before_the_flight(tmp_path, written, instead, expected):
    with pytest.raises(ScenarioError) as refused:
        simulation(tmp_path, MISSION.replace(written, instead))
    assert expected in str(refused.value)
    assert "test.yaml:" in str(refused.value)


STEPS = """
name: steps
time: {{rate_hz: 250, duration_s: 5}}
world:
  area: {{x_m: [-10, 10], y_m: [-10, 10], z_m: [-1, 10]}}
  obstacles:
    ball: {{type: sphere, center_world_m: [5, 0, 3], radius_m: 1}}
vehicles:
  tern:
    model: {model}
    start: {{position_world_m: [0, 0, 3]}}
    guidance: {{type: mission, steps: [{steps}]}}
"""


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("{do: {type: goto, position_world_m: [5, 0.5, 3]}}", "is inside of world.obstacles.ball"),
        ("{do: {type: goto, position_world_m: [1, 0, -0.5]}}", "is below the ground"),
        ("{do: {type: return-home, height_world_m: 50}}", "(return-home): home: [0, 0, 50] is out"),
        ("{do: {type: takeoff, height_m: 8}}", "height_m: [0, 0, 11] is outside"),
        ("{do: ramp-land}", "starts in the air at z = 3"),
        (
            "{do: {type: plan-path, goal_world_m: [0, 0, 3]}}",
            "`goal_world_m`: got [0, 0, 3], where the path begins",
        ),
        ("{do: {type: playback, file: fast.csv}}", "`speeds_0_radps`: got 99999"),
    ],
)
def test_infeasible_step_is_refused_with_its_number(tmp_path, steps, expected):
    (tmp_path / "fast.csv").write_text(
        "time_s," + ",".join(f"speeds_{i}_radps" for i in range(4)) + "\n0,99999,1,1,1\n"
    )
    text = STEPS.format(model="hummingbird", steps=steps)
    with pytest.raises(ScenarioError) as refused:
        simulation(tmp_path, text)
    assert expected in str(refused.value)
    assert "test.yaml:" in str(refused.value)
    assert "steps.0" in str(refused.value)


def test_landing_without_landing_gear_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match=r"steps.0 \(land\): this vehicle has no landing gear"):
        simulation(tmp_path, STEPS.format(model="pelican", steps="{do: land}"))


@pytest.mark.slow
def test_step_is_checked_from_the_end_of_the_previous_step(tmp_path):
    # from the start 8 m up would be outside of the area
    climbs = "{do: land}, {do: {type: takeoff, height_m: 8}}"
    assert simulation(tmp_path, STEPS.format(model="hummingbird", steps=climbs)).names == ("tern",)
    # and a way back around the ball begins behind it
    plans = (
        "{do: {type: plan-path, goal_world_m: [9, 0, 3]}}, "
        "{do: {type: plan-path, goal_world_m: [0, 0, 3]}}"
    )
    flown = simulation(tmp_path, STEPS.format(model="hummingbird", steps=plans)).run(duration_s=30)
    assert flown.summary["status"] == "completed"
    assert flown.summary["metrics"]["obstacles"]["tern"]["least_clearance_m"] > 0.2
    assert flown.events[-1].event == "mission done"
