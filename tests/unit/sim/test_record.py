"""Log rows: the documented columns, in order, with the right values."""

import dataclasses
from pathlib import Path
from typing import ClassVar

import jax
import numpy as np
import pytest

from kittiwake.core.component import Scheduled
from kittiwake.core.keys import seed_key
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import Module
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.sim.fleet_builder import build_fleet
from kittiwake.sim.record import columns, rows

SCENARIO = """
name: two
time: {rate_hz: 50, duration_s: 1}
world: {wind: {type: shear, speed_at_6m_mps: 3, from_deg: 270}}
vehicles:
  gull:
    model: pelican
    start: {position_world_m: [1, 2, 30], yaw_deg: 90, velocity_world_mps: [0, 0.5, 0]}
    guidance: {type: hold, velocity_world_mps: [0, 1, 0], yaw_deg: 45}
    controller: qrsim-velocity
  tern: {model: pelican, start: {position_world_m: [4, 5, 30]}}
"""

STATE = (
    *("x_m", "y_m", "z_m", "qw", "qx", "qy", "qz"),
    *("vx_mps", "vy_mps", "vz_mps", "wx_radps", "wy_radps", "wz_radps"),
)
COMMAND = tuple(
    f"cmd_{name}" for name in ("pitch_rad", "roll_rad", "throttle", "yaw_rate_radps", "battery_v")
)
WIND = ("wind_x_world_mps", "wind_y_world_mps", "wind_z_world_mps")


class Fix(Module):
    """A measurement with a vector and a number."""

    position_world_m: Vec3
    accuracy_m: Real


class Receiver(AbstractSensor):
    """Sensor of the true position."""

    measures: ClassVar[type] = Fix

    def step(self, state, inputs, dt_s, key):
        del dt_s, key
        return state, self.ideal(inputs)

    def ideal(self, inputs):
        return Fix(inputs.truth.position_world_m, 0.0)


@pytest.fixture(scope="module")
def first_rows():
    """Return the first row of each vehicle, by column."""
    scenario = build(parse_document(SCENARIO, "two.yaml"), Path())
    gull = dataclasses.replace(
        scenario.vehicles["gull"], sensors={"gps": Scheduled(Instrument(Receiver()))}
    )
    vehicles = {**scenario.vehicles, "gull": gull}
    fleet = build_fleet(scenario.world, vehicles, scenario.rate_hz)
    with jax.enable_x64(True):
        state = jax.jit(lambda key: fleet.init(key))(seed_key(0))
        snapshots = jax.jit(lambda s: fleet.step(s)[1])(state)
        recorded = rows(fleet, snapshots)
        names = columns(fleet, snapshots)
    return {
        group.names[0]: dict(zip(group_names, np.asarray(values)[0].tolist(), strict=True))
        for group, group_names, values in zip(fleet.groups, names, recorded, strict=True)
    }


@pytest.mark.slow
def test_columns_are_state_command_actuators_sensors_estimate_and_the_rest(first_rows):
    assert tuple(first_rows["gull"]) == (
        *STATE,
        *COMMAND,
        "act_thrust_n",
        *(f"sensor.gps.position_{axis}_world_m" for axis in "xyz"),
        "sensor.gps.accuracy_m",
        *(f"ideal.gps.position_{axis}_world_m" for axis in "xyz"),
        "ideal.gps.accuracy_m",
        "sensor.gps.fresh",
        *(f"estimate.{name}" for name in STATE),
        *(f"setpoint.velocity_{axis}_world_mps" for axis in "xyz"),
        "setpoint.yaw_rad",
        *(f"setpoint.acceleration_{axis}_world_mps2" for axis in "xyz"),
        "setpoint.yaw_rate_radps",
        *WIND,
        "guidance.legs",
        "status",
    )


def test_vehicles_of_another_structure_have_columns_of_their_own(first_rows):
    tern = tuple(first_rows["tern"])
    assert tern[: len(STATE)] == STATE
    assert not any(name.startswith("sensor.") for name in tern)
    assert "setpoint.position_x_world_m" in tern


def test_the_first_row_is_the_start(first_rows):
    gull = first_rows["gull"]
    half = np.sqrt(0.5)
    expected = [1, 2, 30, half, 0, 0, half, 0, 0.5, 0, 0, 0, 0]
    # rotations by a quarter turn round at 1e-16
    np.testing.assert_allclose([gull[name] for name in STATE], expected, atol=1e-15)
    assert gull["act_thrust_n"] == pytest.approx(1.68 * 9.81, rel=1e-15)


def test_a_perfect_sensor_and_the_true_estimate_repeat_the_state(first_rows):
    gull = first_rows["gull"]
    assert [gull[f"estimate.{name}"] for name in STATE] == [gull[name] for name in STATE]
    sensed = [gull[f"sensor.gps.position_{axis}_world_m"] for axis in "xyz"]
    assert sensed == [gull[f"{axis}_m"] for axis in "xyz"]


def test_the_set_point_and_the_wind_are_recorded(first_rows):
    gull = first_rows["gull"]
    assert [gull[f"setpoint.velocity_{axis}_world_mps"] for axis in "xyz"] == [0, 1, 0]
    assert gull["setpoint.yaw_rad"] == pytest.approx(np.pi / 4)
    # a west wind blows to the east, more at 30 m than at the 6 m of its name
    assert gull["wind_x_world_mps"] > 3.0
    assert gull["wind_y_world_mps"] == pytest.approx(0.0, abs=1e-12)
    assert gull["wind_z_world_mps"] == 0.0


@pytest.mark.slow
def test_the_current_is_recorded_where_the_water_moves():
    text = SCENARIO.replace("world: {", "world: {current: {type: uniform, CURRENT}, ")
    for current, expected in (
        ("speed_mps: 0.3, towards_deg: 90", {"current_x_world_mps": 0.3, "current_y_world_mps": 0}),
        ("speed_mps: 0.0, towards_deg: 90", {}),
    ):
        scenario = build(parse_document(text.replace("CURRENT", current), "two.yaml"), Path())
        fleet = build_fleet(scenario.world, scenario.vehicles, scenario.rate_hz)
        with jax.enable_x64(True):
            state = fleet.init(seed_key(0))
            snapshots = fleet.step(state)[1]
            recorded = np.asarray(rows(fleet, snapshots)[0])[0]
            names = columns(fleet, snapshots)[0]
        row = dict(zip(names, recorded.tolist(), strict=True))
        found = {name: value for name, value in row.items() if name.startswith("current_")}
        # towards 90 deg is towards the east, but for the rounding of the cosine
        assert found == pytest.approx(expected, rel=0, abs=1e-15)
