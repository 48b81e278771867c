"""Vehicle with six rotors, from its data file to the log, the cockpit and commands."""

from pathlib import Path

import equinox as eqx
import numpy as np
import pytest
from tests.hexacopter import ROTORS, registered
from tests.unit.runtime.stepped_flight import SteppedFlight

import kittiwake as kw
from kittiwake.cockpit.command_sliders import SliderContext, command_sliders
from kittiwake.core.errors import CommandError, ScenarioError
from kittiwake.runtime.maneuvers import HoldCommand
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.document import dump_document, parse_document
from kittiwake.scenario.dormant_faults import fallible_parts

HOLD = {"type": "hold", "position_world_m": [0.3, 0.0, 5.0]}
HOVER_RADPS = (1.5 * 9.81 / (ROTORS * 1.0e-5)) ** 0.5
COLUMNS = {f"cmd_speeds_{i}_radps" for i in range(ROTORS)}
ACTUATORS = {f"act_rotor_{i}_radps" for i in range(ROTORS)}


@pytest.fixture(scope="module", autouse=True)
def known():
    with registered():
        yield


def scenario(folder=Path(), **entry):
    """Return a scenario of a hexacopter with these keys, at a height of 5 m."""
    vehicle = {
        "model": "hexacopter",
        "start": {"position_world_m": [0, 0, 5]},
        "guidance": HOLD,
    }
    data = {
        "name": "six",
        "time": {"rate_hz": 500, "duration_s": 4},
        "vehicles": {"hexa": vehicle | entry},
    }
    return build(parse_document(dump_document(data), "six.yaml"), folder)


@pytest.fixture(scope="module")
def log():
    return Simulation(scenario()).run()


@pytest.fixture(scope="module")
def simulation():
    return Simulation(scenario())


@pytest.mark.slow
def test_a_hexacopter_hovers_at_its_setpoint(log):
    last = log.frame("hexa").iloc[-1]
    assert log.summary["status"] == "completed"
    np.testing.assert_allclose(last[["x_m", "y_m", "z_m"]], HOLD["position_world_m"], atol=0.01)
    np.testing.assert_allclose(last[sorted(ACTUATORS)], HOVER_RADPS, rtol=1e-3)


@pytest.mark.slow
def test_the_log_has_a_column_for_each_rotor(log):
    columns = log.frame("hexa").columns
    assert {name for name in columns if name.startswith("cmd_speeds_")} == COLUMNS
    assert {name for name in columns if name.startswith("act_rotor_")} == ACTUATORS


@pytest.mark.slow
def test_a_hexacopter_that_loses_a_motor_tilts():
    # the setpoint is the start, so that nothing but the fault tilts it
    faults = [{"type": "motor", "at_s": 1, "rotor": 5}]
    lost = Simulation(scenario(faults=faults, guidance={"type": "hold"})).run(2.5)
    assert [event.event for event in lost.events][:1] == ["motor 5 fails: it keeps 0% of its speed"]
    frame = lost.frame("hexa")
    upright = 1.0 - 2.0 * (frame["qx"] ** 2 + frame["qy"] ** 2)
    tilt_deg = np.degrees(np.arccos(np.clip(upright, -1.0, 1.0)))
    assert tilt_deg[frame["time_s"] < 1.0].max() < 0.1
    assert tilt_deg.max() > 5.0
    assert frame["act_rotor_5_radps"].iloc[-1] < 0.01 * HOVER_RADPS


def test_a_fault_of_a_seventh_motor_is_refused():
    with pytest.raises(ScenarioError, match="rotor: 6 is not allowed; must be from 0 to 5"):
        scenario(faults=[{"type": "motor", "at_s": 1, "rotor": 6}])


def test_each_motor_may_fail_in_a_live_flight():
    parts = fallible_parts(scenario().vehicles["hexa"])
    assert parts == tuple(f"motor {i}" for i in range(ROTORS))


@pytest.mark.slow
def test_rotors_are_commanded_one_by_one(simulation):
    simulation.reset()
    for _ in range(50):
        # rotors 1 and 2 are on the left: it rolls to the right
        simulation.step({"hexa": kw.RotorSpeeds((500.0, 600.0, 600.0, 500.0, 400.0, 400.0))})
    assert simulation.observe()["hexa"].truth.angular_velocity_body_radps.x > 0.5


def test_the_speeds_of_four_rotors_are_refused(simulation):
    simulation.reset()
    with pytest.raises(CommandError, match="RotorSpeeds for 'hexa': got 4 numbers; must be 6"):
        simulation.step({"hexa": kw.RotorSpeeds((500.0,) * 4)})
    with pytest.raises(CommandError, match="speeds_radps of the RotorSpeeds .* finite numbers"):
        simulation.step({"hexa": kw.RotorSpeeds((float("nan"),) * ROTORS)})
    words = ("fast",) * ROTORS
    hover = kw.RotorSpeeds((HOVER_RADPS,) * ROTORS)
    wrong = eqx.tree_at(lambda own: own.speeds_radps, hover, words)
    with pytest.raises(CommandError, match="speeds_radps of the RotorSpeeds .* finite numbers"):
        simulation.step({"hexa": wrong})


@pytest.mark.slow
def test_motors_off_stops_all_rotors():
    frame = Simulation(scenario(guidance={"type": "idle"})).run(0.5).frame("hexa")
    assert (frame[sorted(COLUMNS)] == 0.0).all(axis=None)
    # ten time constants of the motors
    assert frame[sorted(ACTUATORS)].iloc[-1].max() < 1e-4 * HOVER_RADPS


def table(folder, rotors):
    """Write a table of constant speeds; return the guidance that plays it."""
    header = ",".join(["time_s", *(f"speeds_{i}_radps" for i in range(rotors))])
    row = ",".join(f"{HOVER_RADPS:.9g}" for _ in range(rotors))
    (folder / "speeds.csv").write_text(f"{header}\n0,{row}\n1,{row}\n")
    return {"type": "playback", "file": "speeds.csv"}


@pytest.mark.slow
def test_a_table_of_six_speeds_is_flown_also_as_a_step_of_a_mission(tmp_path):
    playback = table(tmp_path, ROTORS)
    steps = [{"do": playback, "timeout_s": 0.5}, {"do": HOLD}]
    mission = scenario(tmp_path, guidance={"type": "mission", "steps": steps})
    frame = Simulation(mission).run(3.0).frame("hexa")
    held = frame[frame["time_s"] < 0.5]
    np.testing.assert_allclose(held[sorted(COLUMNS)], HOVER_RADPS, rtol=1e-6)
    assert abs(frame["x_m"].iloc[-1] - 0.3) < 0.05


def test_a_table_of_four_speeds_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match=r"speeds\.csv: got 4 columns .*; must be 6, one for"):
        scenario(tmp_path, guidance=table(tmp_path, 4))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"spins": [1, -1, 1, -1]}, "spins: got 4; must be 6, one for each of hubs_body_m"),
        ({"hubs_body_m": [[0.3, 0, 0]] * 5}, "spins: got 6; must be 5, one for each of"),
        ({"hubs_body_m": [], "spins": []}, "hubs_body_m: got none; must be at least one"),
        ({"spins": [1, -1, 1, -1, 1, 2]}, "spins: 2 is not allowed"),
        (
            {"hubs_body_m": [[0.3, 0, 0], [-0.3, 0.3, 0], [-0.3, -0.3, 0]], "spins": [1, -1, 1]},
            "hubs_body_m: got 3; must be at least 4 for thrust and three torques",
        ),
    ],
)
def test_wrong_numbers_of_hubs_and_spins_are_refused(parameters, message):
    with pytest.raises(ScenarioError, match=message):
        scenario(parameters=parameters)


def test_a_mixer_for_four_rotors_is_refused():
    rows = [[0.25, 0.0, 0.0, 0.1]] * 4
    mixer = {"type": "mixer", "thrusts_from_wrench": rows}
    with pytest.raises(ScenarioError, match="thrusts_from_wrench: got 4 rows; must be 6, one for"):
        scenario(controller=["position", "acceleration", "attitude", mixer])


@pytest.mark.slow
def test_the_cockpit_has_a_slider_for_each_rotor_whose_command_is_flown():
    own = scenario()
    flight = SteppedFlight(own)
    try:
        flight.fly(0.1)
        here = flight.executor.estimate("hexa")
        context = SliderContext(here, flight.executor.capabilities("hexa"), own.vehicles["hexa"])
        group = command_sliders(context)["rotor speeds"]
        assert [slider.label for slider in group.sliders] == [
            f"rotor {i} [rad/s]" for i in range(ROTORS)
        ]
        speeds = [HOVER_RADPS + 10.0 * i for i in range(ROTORS)]
        flight.executor.command("hexa", HoldCommand(group.command(speeds)))
        flight.settle()
        found = flight.flown(0.1, "hexa", *sorted(COLUMNS))
        np.testing.assert_allclose(found[-1], speeds)
        assert flight.executor.take_problems() == []
    finally:
        flight.executor.__exit__()
