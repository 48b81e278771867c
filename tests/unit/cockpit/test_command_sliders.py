"""Sliders for each rung of the ladder: what they say is what the vehicle takes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kittiwake.cockpit.command_sliders import Setting, sliders_of
from kittiwake.runtime.commands import numbers_of, refuse_dead_ends
from kittiwake.runtime.maneuvers import VehicleEstimate, ability_of
from kittiwake.runtime.tunable import takes
from kittiwake.scenario.build import build
from kittiwake.scenario.document import dump_document, parse_document
from kittiwake.vehicles import VEHICLES

GROUND_M = -1.0
HERE = VehicleEstimate(0.0, np.array([3.0, -4.0, 5.0]), np.zeros(3), 2.0, None)
VESSELS = {"otter", "strider"}


@pytest.fixture(scope="module")
def built():
    """What sliders start from, for a vehicle of each model that there is, by its model."""
    vehicles = {
        name: {
            "model": name,
            "start": {"position_world_m": [30 * place, 0, 0 if name in VESSELS else 9]},
            "guidance": {"type": "hold"},
        }
        for place, name in enumerate(VEHICLES.names())
    }
    data = {"name": "all", "time": {"rate_hz": 500, "duration_s": 1}, "vehicles": vehicles}
    scenario = build(parse_document(dump_document(data), "all.yaml"), Path())
    world = replace(scenario.world, ground_z_m=GROUND_M)
    return {
        name: Setting(HERE, ability_of(vehicle, takes(vehicle), world), vehicle)
        for name, vehicle in scenario.vehicles.items()
    }


@pytest.fixture(params=VEHICLES.names())
def model(request, built):
    return request.param, built[request.param]


def test_every_slider_says_what_the_vehicle_takes_wherever_it_is(model):
    name, setting = model
    vehicle, levels = setting.vehicle, sliders_of(setting)
    assert levels
    for title, level in levels.items():
        assert level.title == title
        begins = [min(max(lever.begin, lever.low), lever.high) for lever in level.levers]
        lows, highs = ([getattr(lever, end) for lever in level.levers] for end in ("low", "high"))
        for values in (begins, lows, highs):
            signal = level.command(values)
            numbers_of({name: signal}, {name: vehicle})
            refuse_dead_ends(((name, type(signal)),), {name: vehicle})


def test_sliders_have_room_and_names_of_their_own(model):
    for level in sliders_of(model[1]).values():
        labels = [lever.label for lever in level.levers]
        assert len({*labels}) == len(labels)
        for lever in level.levers:
            assert lever.low < lever.high, (level.title, lever)


def test_each_slider_changes_what_is_said(model):
    name, setting = model
    vehicle = setting.vehicle
    for level in sliders_of(setting).values():
        middles = [0.5 * (lever.low + lever.high) for lever in level.levers]
        said = numbers_of({name: level.command(middles)}, {name: vehicle})
        for place, lever in enumerate(level.levers):
            moved = [*middles]
            moved[place] += 0.25 * (lever.high - lever.low)
            other = numbers_of({name: level.command(moved)}, {name: vehicle})
            assert other != said, (level.title, lever.label)


def test_a_place_begins_where_the_vehicle_is_and_ends_at_the_ground(built):
    level = sliders_of(built["rigid-body"])["place and yaw"]
    assert [lever.begin for lever in level.levers[:3]] == HERE.position_m.tolist()
    assert level.levers[2].low == GROUND_M
    assert level.levers[3].begin == pytest.approx(np.degrees(2.0))


def test_roll_pitch_and_yaw_are_those_angles(built):
    level = sliders_of(built["rigid-body"])["attitude and thrust"]
    angles = level.command([10.0, -20.0, 30.0, 9.0]).q_world_from_body.to_euler()
    found = np.degrees([float(a) for a in (angles.roll_rad, angles.pitch_rad, angles.yaw_rad)])
    np.testing.assert_allclose(found, [10.0, -20.0, 30.0], atol=1e-6)


def test_thrust_begins_with_the_weight(built):
    level = sliders_of(built["crazyflie"])["attitude and thrust"]
    assert level.levers[3].begin == pytest.approx(0.027 * 9.81, rel=1e-3)


def test_a_vessel_is_not_offered_what_flies(built):
    titles = {*sliders_of(built["otter"])}
    assert "shaft speeds" in titles
    assert not titles & {"attitude and thrust", "torque and thrust", "sticks"}
