"""Obstacles that are hit: the loss, the log, the summary, and starts that are refused."""

from pathlib import Path

import numpy as np
import pytest

from kittiwake.analysis.table import NEAREST_OBSTACLE
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.document import dump_document, parse_document
from kittiwake.world import world

WALL = {"type": "box", "center_world_m": [3.5, 0, 2], "sides_m": [1, 8, 4]}
RATE_HZ = 200


def scenario(vehicles, obstacles):
    data = {
        "name": "walls",
        "time": {"rate_hz": RATE_HZ, "duration_s": 3},
        "world": {"obstacles": obstacles},
        "lost_vehicle": "continue",
        "vehicles": vehicles,
    }
    return data


def built(data):
    return build(parse_document(dump_document(data), "test.yaml"), Path())


def flier(x_m, speed_mps, z_m=2.0):
    return {
        "model": "pelican",
        "start": {"position_world_m": [x_m, 0, z_m], "velocity_world_mps": [speed_mps, 0, 0]},
        "controller": "qrsim-velocity",
        "guidance": {"type": "hold", "velocity_world_mps": [speed_mps, 0, 0]},
    }


@pytest.fixture(scope="module")
def log():
    vehicles = {"ahead": flier(0.0, 2.0), "away": flier(0.0, -1.0), "over": flier(0.0, 2.0, 5.0)}
    return Simulation(built(scenario(vehicles, {"wall": WALL}))).run()


def column(log, name, column_name):
    return log.tables[name].part((column_name,))[:, 0]


@pytest.mark.slow
def test_a_vehicle_that_flies_against_a_wall_is_lost_there(log):
    x_m, status = column(log, "ahead", "x_m"), column(log, "ahead", "status")
    free_m = column(log, "ahead", NEAREST_OBSTACLE)
    lost = int(np.flatnonzero(status)[0])
    quantities = log.tables["ahead"].quantities
    assert quantities[int(status[lost]) - 1] == NEAREST_OBSTACLE
    assert free_m[lost] < 0.0 <= free_m[lost - 1]
    # its middle stops before the face at 3 m by what it reaches, of which a step of flight is left
    assert 3.0 - 0.5 < x_m[lost] < 3.0
    assert len(set(x_m[lost:])) == 1


def test_the_event_says_what_was_touched_and_the_summary_how_near_others_came(log):
    events = [event.event for event in log.events if event.vehicle == "ahead"]
    assert any(e.startswith(f"lost: {NEAREST_OBSTACLE} = -") for e in events)
    assert not any("lost" in event.event for event in log.events if event.vehicle != "ahead")
    least = log.summary["metrics"]["obstacles"]
    assert least["ahead"]["least_clearance_m"] < 0.0
    # from a face at x = 3 m to the tail at 0 m, and over an upper side at 4 m
    assert 2.5 < least["away"]["least_clearance_m"] < 3.0
    assert 0.5 < least["over"]["least_clearance_m"] < 1.0


@pytest.mark.slow
def test_a_world_without_obstacles_logs_and_judges_nothing_of_them():
    simulation = Simulation(built(scenario({"one": flier(0.0, 1.0)}, {})))
    log = simulation.run(duration_s=0.1)
    assert NEAREST_OBSTACLE not in log.tables["one"].columns
    assert NEAREST_OBSTACLE not in log.tables["one"].quantities
    assert "obstacles" not in log.summary["metrics"]


def test_the_log_and_the_limit_have_one_name():
    assert world.NEAREST_OBSTACLE == NEAREST_OBSTACLE


def test_a_start_inside_an_obstacle_is_refused_with_its_name_and_line():
    data = scenario({"good": flier(0.0, 1.0), "bad": flier(3.1, 0.0)}, {"wall": WALL})
    with pytest.raises(
        ScenarioError,
        match=r"test\.yaml:\d+: vehicles: bad: it starts where "
        r"nearest_obstacle_m = -0\.\d+ .* \(world\.obstacles\.wall\)",
    ) as refused:
        built(data | {"lost_vehicle": "fail"})
    assert "good" not in str(refused.value)


def test_platforms_that_are_stood_on_are_no_obstacles():
    hummingbird = {"model": "hummingbird", "start": {"position_world_m": [0, 0, 1.07]}}
    data = scenario({"one": hummingbird}, {"wall": WALL})
    table = {"type": "fixed", "position_world_m": [0, 0, 1], "length_m": 2, "width_m": 2}
    data["world"]["platforms"] = {"table": table}
    found = built(data | {"lost_vehicle": "fail"})
    assert set(found.vehicles) == {"one"}
