"""Battery depletion and faults, from the scenario to the log."""

import copy
import math
import re
from pathlib import Path

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.analysis.table import STATE_COLUMNS
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.document import dump_document, parse_document

FRONT = {"type": "motor", "at_s": 2, "rotor": 0, "keeps": 0.95}
RIGHT = {"type": "motor", "at_s": 1, "rotor": 3, "keeps": 0.9}
BACK = {"type": "motor", "at_s": 2, "rotor": 2, "keeps": 0.9}
# a fault after the end of the flight
NEVER = RIGHT | {"at_s": 99}


def hummingbirds(vehicles):
    """Return a simulation of 2.4 s with Hummingbirds that have these faults."""
    common = {
        "model": "hummingbird",
        # ten meters above the ground, landing gear affects only the compilation time
        "parameters": {"landing_gear": None},
        "start": {"position_world_m": [0, 0, 10]},
        "guidance": {"type": "hold", "position_world_m": [0.2, 0, 10]},
    }
    data = {
        "name": "hovering",
        "time": {"rate_hz": 500, "duration_s": 2.4},
        "vehicles": {
            name: copy.deepcopy(common) | {"faults": faults} for name, faults in vehicles.items()
        },
    }
    return Simulation(build(parse_document(dump_document(data), "test.yaml"), Path()))


@pytest.fixture(scope="module")
def pair():
    # not in the order of their times, and two at one time
    return hummingbirds({"sound": [], "broken": [FRONT, RIGHT, BACK]}).run()


def bits(frame, until_s):
    """The motion and the rotors' speeds before a time."""
    columns = ["x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "vx_mps", "wx_radps"]
    columns += [f"act_rotor_{i}_radps" for i in range(4)]
    return frame[frame["time_s"] < until_s][columns].to_numpy().tobytes()


def events_of(log, name):
    return [(event.time_s, event.event) for event in log.events if event.vehicle == name]


# faults


@pytest.mark.slow
def test_faults_are_reported_in_order_of_time_and_counted(pair):
    assert events_of(pair, "sound") == []
    assert events_of(pair, "broken") == [
        (1.0, "motor 3 fails: it keeps 90% of its speed"),
        (2.0, "motor 0 fails: it keeps 95% of its speed"),
        (2.0, "motor 2 fails: it keeps 90% of its speed"),
    ]
    frame = pair.frame("broken")
    counts = frame["faults"].to_numpy()[[0, 499, 500, 999, 1000, 1200]]
    assert counts.tolist() == [0, 0, 1, 1, 3, 3]
    assert "faults" not in pair.frame("sound").columns


@pytest.mark.bits
def test_a_fault_changes_no_bit_before_its_time(pair):
    sound, broken = pair.frame("sound"), pair.frame("broken")
    # the rotors' speed at 1 s is still that of the command before
    assert bits(broken, 1.001) == bits(sound, 1.001)
    assert bits(broken, 1.003) != bits(sound, 1.003)


@pytest.fixture(scope="module")
def trio():
    """Vehicles that differ in when their fault comes alone: none of these comes."""
    return hummingbirds({"gull": [NEVER], "tern": [NEVER], "auk": [NEVER]}).run()


@pytest.mark.bits
def test_a_vehicle_next_to_a_failed_one_keeps_its_bits(trio):
    # on both sides of it and in its group, so that a fault which reached others would show
    simulation = hummingbirds({"gull": [NEVER], "tern": [RIGHT], "auk": [NEVER]})
    assert len(simulation.fleet.groups) == 1
    beside = simulation.run()
    assert bits(beside.frame("tern"), math.inf) != bits(trio.frame("tern"), math.inf)
    for name in ("gull", "auk"):
        assert bits(beside.frame(name), math.inf) == bits(trio.frame(name), math.inf)


@pytest.mark.slow
def test_a_fault_after_the_end_changes_no_flight(trio, pair):
    spared, sound = trio.frame("gull"), pair.frame("sound")
    columns = [*STATE_COLUMNS, *(f"act_rotor_{i}_radps" for i in range(4))]
    # another program, which may round differently
    np.testing.assert_allclose(spared[columns], sound[columns], rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_a_failed_motor_slows_by_its_lag_and_the_body_turns_over():
    total = [{"type": "motor", "at_s": 0.5, "rotor": 1}]
    vehicle = "vehicles.hummingbird"
    changes = {f"{vehicle}.faults": total, "time.log_rate_hz": 500}
    # it does not come down to the ground, where feet would matter
    log = kw.load("motor-failure", changes | {f"{vehicle}.parameters": {"landing_gear": None}}).run(
        2.0
    )
    frame = log.frame("hummingbird")
    since_s = frame["time_s"] - 0.5
    speed = frame["act_rotor_1_radps"].to_numpy()
    coasting = (since_s >= 0.0).to_numpy()
    expected = speed[250] * np.exp(-since_s[coasting] / 0.05)
    # RK4 at 1/25 of the lag errs by 1e-9 a step of what is left
    np.testing.assert_allclose(speed[coasting], expected, rtol=1e-5)
    # nothing holds the left arm up
    upright = 1.0 - 2.0 * (frame["qx"] ** 2 + frame["qy"] ** 2)
    assert upright[frame["time_s"] < 0.5].min() > 0.999
    assert upright.min() < -0.5


@pytest.mark.slow
def test_the_library_scenarios_vehicle_returns_to_its_position():
    held = kw.load("motor-failure").run()
    assert events_of(held, "hummingbird") == [(5.0, "motor 0 fails: it keeps 75% of its speed")]
    assert held.summary["status"] == "completed"
    frame = held.frame("hummingbird")
    off_m = np.sqrt(frame["x_m"] ** 2 + frame["y_m"] ** 2 + (frame["z_m"] - 10.0) ** 2)
    assert 0.5 < off_m.max() < 2.0
    assert off_m.iloc[-1] < 0.05
    # the motor turns as fast as before, because it is asked for a third more
    ratio = frame["act_rotor_0_radps"].iloc[-1] / frame["act_rotor_2_radps"].iloc[-1]
    assert math.isclose(ratio, 1.0, abs_tol=1e-3)


@pytest.mark.slow
def test_a_vehicle_with_70_percent_of_a_motor_holds_its_position():
    log = kw.load("motor-failure", {"vehicles.hummingbird.faults.0.keeps": 0.7}).run()
    x_m, y_m, z_m = log.summary["vehicles"]["hummingbird"]["final_position_m"]
    assert log.summary["status"] == "completed"
    assert math.hypot(x_m, y_m, z_m - 10.0) < 0.05


# batteries


@pytest.mark.slow
def test_an_empty_battery_is_reported_once_and_the_vehicle_comes_down():
    emptied = kw.load("battery-sag").run()
    assert emptied.summary["status"] == "completed"
    events = events_of(emptied, "crazyflie")
    assert [event for _, event in events].count("battery empty") == 1
    assert events[0][1] == "battery empty"
    assert events[1][1].startswith("touched down")
    empty_s = events[0][0]
    frame = emptied.frame("crazyflie")
    before, after = frame[frame["time_s"] < empty_s], frame[frame["time_s"] > empty_s]
    assert (before["act_battery_charge"] > 0.0).all()
    assert (after["act_battery_charge"] == 0.0).all()
    assert (after["act_battery_empty"] == 1.0).all()
    assert (np.diff(frame["act_battery_charge"]) <= 0.0).all()
    assert frame["z_m"].iloc[-1] < 0.1


@pytest.mark.slow
def test_vehicles_with_different_batteries_fly_as_one_group_each_to_its_own_end():
    def crazyflie(charge, capacity_c):
        battery = {"type": "lithium-polymer", "cells": 1, "capacity_c": capacity_c}
        battery |= {"resistance_ohm": 0.1, "charge": charge}
        parameters = {"battery": battery, "landing_gear": None}
        start = {"position_world_m": [0, 0, 50]}
        return {"model": "crazyflie", "parameters": parameters, "start": start}

    data = {
        "name": "two",
        "time": {"rate_hz": 250, "duration_s": 8},
        "lost_vehicle": "continue",
        "vehicles": {"tern": crazyflie(0.02, 900.0), "gull": crazyflie(0.02, 600.0)},
    }
    scenario = build(parse_document(dump_document(data), "test.yaml"), Path())
    for precision in ("float64", "float32"):
        simulation = Simulation(scenario, precision)
        log = simulation.run()
        assert len(simulation.fleet.groups) == 1
        empty_s = {event.vehicle: event.time_s for event in log.events if "empty" in event.event}
        # nearly the same current, but for what sinking rotors are spared
        assert math.isclose(empty_s["gull"] / empty_s["tern"], 2.0 / 3.0, rel_tol=0.05)


# what is refused


def refusal(model, faults):
    text = (
        f"name: one\ntime: {{rate_hz: 50, duration_s: 1}}\nvehicles:\n  gull:\n    model: {model}\n"
    )
    with pytest.raises(ScenarioError) as refused:
        build(parse_document(f"{text}    faults: {faults}\n", "test.yaml"), Path())
    return str(refused.value)


@pytest.mark.parametrize(
    ("model", "faults", "said"),
    [
        ("hummingbird", "[{type: motor, at_s: 1, rotor: 4}]", r"rotor: 4 .*from 0 to 3"),
        ("hummingbird", "[{type: motor, at_s: -1, rotor: 0}]", r"at_s: -1 .*at least 0"),
        ("hummingbird", "[{type: motor, at_s: 1, rotor: 0, keeps: 2}]", r"keeps: 2 .*0 to 1"),
        ("hummingbird", "[{type: motor, rotor: 0}]", r"at_s.*missing"),
        ("hummingbird", "[{type: moter, at_s: 1}]", r"Did you mean 'motor'"),
        ("hummingbird", "{type: motor, at_s: 1, rotor: 0}", r"faults: .*list"),
        ("strider", "[{type: rudder, at_s: 1, stuck_deg: 91}]", r"stuck_deg: 91 .*"),
        ("strider", "[{type: motor, at_s: 1, rotor: 0}]", r"faults\.0.*propeller, rudder"),
        ("hummingbird", "[{type: rudder, at_s: 1}]", r"RotorSpeeds.*: motor$"),
        ("pelican", "[{type: motor, at_s: 1, rotor: 0}]", r"none is registered"),
    ],
)
def test_an_invalid_fault_is_refused(model, faults, said):
    message = refusal(model, faults)
    assert "test.yaml:6" in message
    assert len(message.splitlines()) == 1
    assert re.search(said, message), message
