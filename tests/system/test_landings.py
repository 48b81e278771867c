"""Scenarios with contact from end to end: landing, riding a vessel, and lanes that do not mix."""

import math
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.contact.deck import FIRST_DECK
from kittiwake.contact.ground_contact import NOTHING
from kittiwake.core.arrays import as_arrays
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document

STOPPED = "time_s,speeds_0_radps,speeds_1_radps,speeds_2_radps,speeds_3_radps\n0,0,0,0,0\n"
IDLE = "time_s,thrust_n,torque_x_body_nm,torque_y_body_nm,torque_z_body_nm\n0,0,0,0,0\n"
# the rest depth below the height of its feet over the deck
RIDE = """
name: ride
time: {rate_hz: 500, duration_s: 12, log_rate_hz: 50}
vehicles:
  strider:
    model: strider
    controller: {type: vessel-position, cruise_speed_mps: 1, hold_radius_m: 0}
    guidance: {type: waypoints, positions_world_m: [[5, 0, 0], [5, 5, 0]]}
  crazyflie:
    model: crazyflie
    start: {position_world_m: [0.1, 0.05, 0.3638]}
    guidance: {type: playback, file: stopped.csv}
"""
LANES = """
name: lanes
lost_vehicle: continue
time: {rate_hz: %s, duration_s: 1}
vehicles:
  high:
    model: crazyflie
    start: {position_world_m: [0, 0, 10]}
    guidance: {type: hold, position_world_m: [1, 0, 11]}
  other:
    model: crazyflie
    start: {position_world_m: [5, 0, %s]}
    guidance: {type: hold, position_world_m: [5, 1, 0]}
"""


def flown(text, folder=Path()):
    return Simulation(build(parse_document(text, "test.yaml"), folder)).run()


@pytest.mark.slow
def test_the_library_lands_on_its_moving_deck_and_stays_on_it():
    log = kw.load("moving-deck").run()
    frame = log.frame("crazyflie")
    (landing,) = [event for event in log.events if event.event.startswith("touched down")]
    assert frame["contact"].iloc[0] == 0
    after = frame[frame["time_s"] > landing.time_s + 1.0]
    assert len(after) > 400
    assert (after["contact"] == 4).all()
    assert frame["touched_deck"].iloc[-1] == 1
    assert frame["touch_speed_mps"].iloc[-1] < 0.6
    assert frame["touch_offset_m"].iloc[-1] < 0.1


@pytest.mark.slow
def test_vehicle_without_thrust_rides_a_turning_vessel(tmp_path):
    (tmp_path / "stopped.csv").write_text(STOPPED)
    log = flown(RIDE, tmp_path)
    # a row more where a vehicle has an event
    both = log.frame("strider").merge(log.frame("crazyflie"), on="time_s", suffixes=("", "_rider"))
    assert np.hypot(both["x_m"], both["y_m"]).max() > 5.0
    # a vessel stays level
    yaw = 2.0 * np.arctan2(both["qz"], both["qw"]).to_numpy()
    assert np.ptp(yaw) > 1.0
    dx = (both["x_m_rider"] - both["x_m"]).to_numpy()
    dy = (both["y_m_rider"] - both["y_m"]).to_numpy()
    forward = np.cos(yaw) * dx + np.sin(yaw) * dy
    left = np.cos(yaw) * dy - np.sin(yaw) * dx
    # put on deck and vessel at rest, it gives by the acceleration over omega^2, no more
    settled = both["time_s"] > 1.0
    assert np.abs(forward - 0.1).max() < 1e-3
    assert np.abs(left - 0.05).max() < 1e-3
    assert (both["contact"][settled] == 4).all()
    assert both["landings"].iloc[-1] == 0


@pytest.mark.bits
@pytest.mark.slow
@pytest.mark.parametrize(("rate_hz", "height_m"), [(500, 0.02), (500, -0.1), (50, 0.02)])
def test_a_flight_has_the_same_bits_beside_a_vehicle_in_contact(rate_hz, height_m):
    alone, beside = (flown(LANES % (rate_hz, height)).frame("high") for height in (20, height_m))
    np.testing.assert_array_equal(alone.to_numpy(), beside.to_numpy())


FLOORS = """
name: floors
time: {rate_hz: 500, duration_s: 3, log_rate_hz: 50}
world:
  platforms:
    west: {type: fixed, position_world_m: [-1, 0, 1], length_m: 2, width_m: 2}
    east: {type: fixed, position_world_m: [1, 0, 1], length_m: 2, width_m: 2}
    cellar: {type: fixed, position_world_m: [5, 0, -0.5], length_m: 2, width_m: 2}
    barge:
      type: moving
      position_world_m: [-4, 5, 1.1]
      length_m: 2
      width_m: 2
      velocity_world_mps: [3, 0, 0]
    quay: {type: fixed, position_world_m: [0, 5, 1], length_m: 2, width_m: 2}
vehicles:
"""
BLOCK = """
  %s:
    model: rigid-body
    start: {position_world_m: %s, velocity_world_mps: %s}
    parameters:
      landing_gear:
        points_body_m:
          [[0.1, 0.1, -0.1], [-0.1, 0.1, -0.1], [-0.1, -0.1, -0.1], [0.1, -0.1, -0.1]]
    guidance: {type: playback, file: idle.csv}
"""
REST_Z_M = 0.1 - 9.81 / 120.0**2
# start, velocity, and the end's x and z
BLOCKS = {
    "on-two-floors-at-once": ([0.01, 0, 1.1], [0, 0, 0], (0.01, 1.0 + REST_Z_M)),
    # to where friction stops it: v^2 / (2 mu g)
    "over-the-seam": ([-0.5, 0, 1.1], [4, 0, 0], (-0.5 + 16 / (2 * 0.7 * 9.81), 1.0 + REST_Z_M)),
    "on-the-ground-over-a-floor": ([5, 0, 0.1], [0, 0, 0], (5.0, REST_Z_M)),
    # which is lower than the block
    "where-another-floor-passes-over": ([0, 5, 1.1], [0, 0, 0], (0.0, 1.0 + REST_Z_M)),
}


@pytest.fixture(scope="module")
def on_floors(tmp_path_factory):
    """One flight of all blocks, which do not touch each other."""
    folder = tmp_path_factory.mktemp("floors")
    (folder / "idle.csv").write_text(IDLE)
    blocks = [BLOCK % (name, start_m, mps) for name, (start_m, mps, _) in BLOCKS.items()]
    return flown("".join([FLOORS, *blocks]), folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", BLOCKS)
def test_foot_stands_on_the_highest_floor_reached_from_above(name, on_floors):
    last, end_m = on_floors.frame(name).iloc[-1], BLOCKS[name][2]
    assert last["contact"] == 4
    assert last["qw"] == pytest.approx(1.0, abs=1e-9)
    assert last["x_m"] == pytest.approx(end_m[0], abs=0.01)
    assert last["z_m"] == pytest.approx(end_m[1], abs=1e-6)


# each carries a deck 5 cm above its own feet, on which they would stand at once
STACK = """
name: stack
time: {rate_hz: %s, duration_s: 2, log_rate_hz: 50}
world:
  platforms:
    quay: {type: fixed, position_world_m: [-20, 0, 1], length_m: 2, width_m: 2}
vehicles:
  strider:
    model: strider
    start: {position_world_m: [20, 0, 0]}
    guidance: {type: hold, position_world_m: [20, 0, 0]}
  block:
    model: rigid-body
    count: 2
    spacing_m: [0, 0, 0.4]
    start: {position_world_m: [0, 0, 0.1]}
    parameters:
      mass_kg: 1
      inertia_kgm2: {xx: 0.01, yy: 0.01, zz: 0.02}
      landing_gear:
        points_body_m:
          [[0.1, 0.1, -0.1], [-0.1, 0.1, -0.1], [-0.1, -0.1, -0.1], [0.1, -0.1, -0.1]]
      deck: {center_body_m: [0, 0, -0.05], length_m: 0.3, width_m: 0.3}
    guidance: {type: playback, file: idle.csv}
"""


@pytest.mark.parametrize("rate_hz", [100, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_vehicle_stands_on_the_deck_of_another_one_and_never_on_its_own(rate_hz, tmp_path):
    (tmp_path / "idle.csv").write_text(IDLE)
    log = flown(STACK % rate_hz, tmp_path)
    lower, upper = (log.frame(f"block-{i}").iloc[-1] for i in (1, 2))
    # about x and y it swings sqrt(r) as fast as it bounces, r = 1 + 0.02 / 0.01: see feet.py
    sunk_m = 9.81 / min(120.0, rate_hz / math.sqrt(3.0)) ** 2
    assert lower["z_m"] == pytest.approx(0.1 - sunk_m, abs=1e-6)
    assert upper["z_m"] - lower["z_m"] == pytest.approx(-0.05 + 0.1 - sunk_m, abs=1e-6)
    assert (lower["contact"], lower["landings"]) == (4, 0)
    assert (upper["contact"], upper["landings"], upper["touched_deck"]) == (4, 1, 1)
    assert upper["qw"] == pytest.approx(1.0, abs=1e-9)


FERRY = """
name: ferry
time: {rate_hz: %s, duration_s: 1}
world:
  platforms:
    ferry:
      type: moving
      position_world_m: [0, 0, 1]
      length_m: 4
      width_m: 4
      velocity_world_mps: [1, 0, 0]
      yaw_rate_radps: 0.2
      heave_m: 0.05
      roll_deg: 2
vehicles:
  block:
    model: rigid-body
    start: {position_world_m: [0.3, 0.2, 1.37], velocity_world_mps: [1, 0, 0]}
    parameters:
      mass_kg: 1
      inertia_kgm2: {xx: 0.01, yy: 0.01, zz: 0.02}
      landing_gear:
        points_body_m:
          [[0.1, 0.1, -0.1], [-0.1, 0.1, -0.1], [-0.1, -0.1, -0.1], [0.1, -0.1, -0.1]]
"""
DOWN, UP = 0.0, 12.0


def flying(simulation):
    """A function that flies a block by a thrust for some time, and tells its footing meanwhile."""
    fleet = simulation.fleet

    @jax.jit
    def once(state, thrust_n):
        command = {"block": kw.ThrustTorque(thrust_n, Vec3.zero())}
        later, (snapshot,) = fleet.step(state, command)
        return later, jax.tree.map(lambda leaf: leaf[0], (snapshot.ground_contact, snapshot.truth))

    def fly(state, thrust_n, seconds):
        rows = []
        for _ in range(round(seconds * fleet.rate_hz)):
            state, row = once(state, thrust_n)
            rows.append(row)
        return state, jax.tree.map(lambda *leaves: np.stack(leaves), *rows)

    return fly


@pytest.mark.slow
@pytest.mark.parametrize("rate_hz", [100, 500])
def test_vehicle_takes_off_from_a_sailing_deck_and_clears_its_contact_state(rate_hz):
    simulation = Simulation(build(parse_document(FERRY % rate_hz, "test.yaml"), Path()))
    fly = flying(simulation)
    state, (landing, _) = fly(simulation.init(kw.seed_key(0)), DOWN, 2.0)
    assert (landing.landings[-1], landing.touching[-1]) == (1, 4)
    assert (landing.over[-1] == FIRST_DECK).all()
    state, (rest, _) = fly(state, DOWN, 2.0)
    assert (rest.touching == 4).all()
    assert np.ptp(rest.landings) == 0
    state, (rise, _) = fly(state, UP, 0.4)
    assert (rise.touching[-1], rise.landings[-1]) == (0, 1)
    gone = jax.tree.map(lambda leaf: leaf[-1], rise)
    assert (gone.over == NOTHING).all()
    assert (gone.grip_x_m == 0.0).all()
    assert (gone.grip_y_m == 0.0).all()
    # one in the same place and motion that has never stood anywhere
    block = simulation.scenario.vehicles["block"].dynamics
    footing = jax.tree.map(
        lambda leaf: jnp.asarray(leaf)[None], as_arrays(block.landing_gear.init())
    )
    fresh = eqx.tree_at(
        lambda feet: (feet.over, feet.airborne_s),
        footing,
        (jnp.full((1, 4), NOTHING, jnp.int32), rise.airborne_s[-1:] + simulation.dt_s),
    )
    new = eqx.tree_at(lambda s: s.groups[0].dynamics.rigid_body.ground_contact, state, fresh)
    (_, (again, flown_again)), (_, (first, flown_new)) = (fly(s, DOWN, 2.0) for s in (state, new))
    for one, other in zip(jax.tree.leaves(flown_again), jax.tree.leaves(flown_new), strict=True):
        assert one.tobytes() == other.tobytes()
    assert (again.landings[-1], again.touching[-1]) == (2, 4)
    assert (first.landings[-1], again.touched_deck[-1]) == (1, 1)
    # it stands where it came down, not where it stood
    np.testing.assert_array_equal(again.grip_x_m, first.grip_x_m)
    assert np.abs(again.grip_x_m[-1] - rest.grip_x_m[-1]).max() > 1e-3
