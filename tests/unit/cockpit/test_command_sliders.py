"""Sliders for each command type: their commands are valid for the vehicle."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kittiwake.cockpit import command_sliders as sliders
from kittiwake.cockpit.command_sliders import SliderContext, command_sliders
from kittiwake.core.commands import RotorSpeeds
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.commands import accepted_commands, command_values, require_cascade
from kittiwake.runtime.maneuvers import capabilities_of
from kittiwake.runtime.vehicle_estimate import VehicleEstimate
from kittiwake.scenario.build import build
from kittiwake.scenario.document import dump_document, parse_document
from kittiwake.vehicles import VEHICLES

GROUND_M = -1.0
HERE = VehicleEstimate(0.0, Start(Vec3(3.0, -4.0, 5.0), yaw_rad=2.0).kinematics())
VESSELS = {"otter", "strider"}


@pytest.fixture(scope="module")
def built():
    """Slider contexts of a vehicle of each model, by model."""
    vehicles = {
        name: {
            "model": name,
            "start": {"position_world_m": [30 * index, 0, 0 if name in VESSELS else 9]},
            "guidance": {"type": "hold"},
        }
        for index, name in enumerate(VEHICLES.names())
    }
    data = {"name": "all", "time": {"rate_hz": 500, "duration_s": 1}, "vehicles": vehicles}
    scenario = build(parse_document(dump_document(data), "all.yaml"), Path())
    world = replace(scenario.world, ground_z_m=GROUND_M)
    return {
        name: SliderContext(
            HERE, capabilities_of(vehicle, accepted_commands(vehicle), world), vehicle
        )
        for name, vehicle in scenario.vehicles.items()
    }


@pytest.fixture(params=VEHICLES.names())
def model(request, built):
    return request.param, built[request.param]


def test_every_slider_value_gives_a_valid_command(model):
    name, context = model
    vehicle, groups = context.vehicle, command_sliders(context)
    assert groups
    for title, group in groups.items():
        assert group.title == title
        initials = [min(max(slider.initial, slider.low), slider.high) for slider in group.sliders]
        lows, highs = (
            [getattr(slider, end) for slider in group.sliders] for end in ("low", "high")
        )
        for values in (initials, lows, highs):
            command = group.command(values)
            command_values({name: command}, {name: vehicle})
            require_cascade(((name, type(command)),), {name: vehicle})


def test_sliders_have_a_range_and_unique_labels(model):
    for group in command_sliders(model[1]).values():
        labels = [slider.label for slider in group.sliders]
        assert len({*labels}) == len(labels)
        for slider in group.sliders:
            assert slider.low < slider.high, (group.title, slider)


def test_each_slider_changes_the_command(model):
    name, context = model
    vehicle = context.vehicle
    for group in command_sliders(context).values():
        middles = [0.5 * (slider.low + slider.high) for slider in group.sliders]
        values = command_values({name: group.command(middles)}, {name: vehicle})
        for index, slider in enumerate(group.sliders):
            moved = [*middles]
            moved[index] += 0.25 * (slider.high - slider.low)
            other = command_values({name: group.command(moved)}, {name: vehicle})
            assert other != values, (group.title, slider.label)


def test_position_sliders_start_at_the_vehicle_and_end_at_the_ground(built):
    group = command_sliders(built["rigid-body"])["position and yaw"]
    assert [slider.initial for slider in group.sliders[:3]] == HERE.position_m.tolist()
    assert group.sliders[2].low == GROUND_M
    assert group.sliders[3].initial == pytest.approx(np.degrees(2.0))


def test_attitude_sliders_are_zyx_angles(built):
    group = command_sliders(built["rigid-body"])["attitude and thrust"]
    angles = group.command([10.0, -20.0, 30.0, 9.0]).q_world_from_body.to_euler()
    found = np.degrees([float(a) for a in (angles.roll_rad, angles.pitch_rad, angles.yaw_rad)])
    np.testing.assert_allclose(found, [10.0, -20.0, 30.0], atol=1e-6)


def test_thrust_starts_at_the_weight(built):
    group = command_sliders(built["crazyflie"])["attitude and thrust"]
    assert group.sliders[3].initial == pytest.approx(0.027 * 9.81, rel=1e-3)


def test_a_vessel_has_no_aircraft_sliders(built):
    titles = {*command_sliders(built["otter"])}
    assert "propeller speeds" in titles
    assert not titles & {"attitude and thrust", "torque and thrust", "attitude and throttle"}


def test_actuators_without_sliders_of_their_own_have_one_for_each_number(built, monkeypatch):
    monkeypatch.delitem(sliders._COMMAND_TYPES, RotorSpeeds)
    context = built["crazyflie"]
    group = command_sliders(context)["actuators"]
    assert [slider.label for slider in group.sliders] == [f"speeds {i} [rad/s]" for i in range(4)]
    bounds = context.vehicle.dynamics.command_bounds["speeds_0_radps"]
    assert (group.sliders[0].low, group.sliders[0].high) == tuple(map(float, bounds))
    assert group.command([1.0, 2.0, 3.0, 4.0]) == RotorSpeeds((1.0, 2.0, 3.0, 4.0))
