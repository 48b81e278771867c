"""Scenarios that lack a requirement of their task are refused with the entry to write."""

from pathlib import Path

import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario import library

LIBRARY = Path(library.__file__).parent
ALONE = """
name: alone
time: {rate_hz: 50, duration_s: 4}
vehicles:
  drone:
    model: ar-drone
    start: {position_world_m: [0, 0, 2]}
    sensors: {lidar: imu}
    guidance: {type: hold}
  pelican:
    model: pelican
    controller: qrsim-waypoint
    guidance: {type: hold}
  cat:
    model: pelican
    count: 3
    spacing_m: [9, 0, 0]
    controller: qrsim-velocity-height
    guidance: {type: hold, velocity_world_mps: [0, 0, 0], height_world_m: 10}
  crazyflie:
    model: pelican
    controller: qrsim-waypoint
    guidance: {type: hold}
"""


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("hallway", "'drone' requires a sensor of RangesMeasurement; write lidar: lidar-2d"),
        ("land-on-deck", "partner: required for 'drone'; write partner: VESSEL"),
        ("search-rescue", "world.terrain: required by the task; write terrain: pour under world"),
        (
            "plume-gaussian",
            "world.plumes.smoke: required by the task; write plumes: {smoke: gaussian}",
        ),
        ("cats-mouse", "the task requires a vehicle 'mouse'"),
        (
            "hover",
            "which takes AttitudeThrottle; must be a model that takes RotorSpeeds",
        ),
        (
            "formation",
            "command VelocityYaw: no controller leads from VelocityYaw to AttitudeThrottle",
        ),
    ],
)
def test_missing_requirements_are_named(tmp_path, task, expected):
    path = tmp_path / "alone.yaml"
    path.write_text(ALONE + f"task: {task}\n")
    with pytest.raises(ScenarioError) as raised:
        kw.make(path, overrides={"task.rate_hz": 10})
    assert expected in str(raised.value)


def test_vehicles_with_a_similar_name_are_not_agents(tmp_path):
    text = (LIBRARY / "keep-spot-10.yaml").read_text("utf-8").replace("count: 10", "count: 2")
    lead = "  pelican-lead: {model: pelican, start: {position_world_m: [9, 9, 30]}}\n"
    path = tmp_path / "led.yaml"
    path.write_text(text.replace("vehicles:\n", f"vehicles:\n{lead}"))
    assert kw.make(path, conditions="noiseless").agents == ("pelican-1", "pelican-2")


@pytest.mark.parametrize(
    ("task", "overrides", "expected"),
    [
        (
            "keep-spot",
            {"task.rate_hz": 0.005},
            "0.3 control steps at task.rate_hz 0.005; must be a whole number of steps, such as 200",
        ),
        (
            "keep-spot",
            {"time.duration_s": 0.05},
            r"2.5 control steps at task.rate_hz 50; must be a whole number of steps, such as 0.04",
        ),
        ("cats-mouse", {"task.height_m": 40}, "between 0 and 40, the limits of world.area"),
        ("cats-mouse", {"task.apart_m": 35}, "must be at most 34.64 for 3 cats"),
        ("cats-mouse", {"task.from_mouse_m": [20, 14]}, r"must be \[lowest, highest\]"),
    ],
)
def test_parameters_that_do_not_fit_the_scenario_are_refused(task, overrides, expected):
    with pytest.raises(ScenarioError, match=expected):
        kw.make(task, conditions="noiseless", overrides=overrides)
