"""A scenario without what its task needs is refused at once, with what to write."""

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
    ("task", "said"),
    [
        ("hallway", "needs a sensor 'lidar' of RangesMeasurement; write lidar: lidar-2d"),
        ("land-on-deck", "'drone' needs a deck; write partner: VESSEL"),
        ("search-rescue", "needs world.terrain; write terrain: pour under world"),
        ("plume-gaussian", "needs world.plumes.smoke; write plumes: {smoke: gaussian}"),
        ("cats-mouse", "needs a vehicle 'mouse'"),
        ("hover", "take RotorSpeeds, the pelican 'crazyflie' takes AttitudeThrottle"),
        ("formation", "ask for VelocityYaw: nothing leads from VelocityYaw to AttitudeThrottle"),
    ],
)
def test_what_is_missing_is_named(tmp_path, task, said):
    path = tmp_path / "alone.yaml"
    path.write_text(ALONE + f"task: {task}\n")
    with pytest.raises(ScenarioError) as told:
        kw.make(path, overrides={"task.rate_hz": 10})
    assert said in str(told.value)


def test_a_vehicle_that_is_only_called_alike_is_no_agent(tmp_path):
    text = (LIBRARY / "keep-spot-10.yaml").read_text("utf-8").replace("count: 10", "count: 2")
    lead = "  pelican-lead: {model: pelican, start: {position_world_m: [9, 9, 30]}}\n"
    path = tmp_path / "led.yaml"
    path.write_text(text.replace("vehicles:\n", f"vehicles:\n{lead}"))
    assert kw.make(path, conditions="noiseless").agents == ("pelican-1", "pelican-2")


@pytest.mark.parametrize(
    ("task", "overrides", "said"),
    [
        (
            "keep-spot",
            {"task.rate_hz": 0.005},
            "0.3 control steps at task.rate_hz 0.005; write 200",
        ),
        (
            "keep-spot",
            {"time.duration_s": 0.05},
            r"2.5 control steps at task.rate_hz 50; write 0.04",
        ),
        ("cats-mouse", {"task.height_m": 40}, "between 0 and 40, the limits of world.area"),
        ("cats-mouse", {"task.apart_m": 35}, "at most 34.64 m apart"),
        ("cats-mouse", {"task.from_mouse_m": [20, 14]}, "write the least first"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(task, overrides, said):
    with pytest.raises(ScenarioError, match=said):
        kw.make(task, conditions="noiseless", overrides=overrides)
