"""Live flights: equality with ``run``, commands, parameter changes and fault injection."""

from math import inf, radians
from threading import Event

import numpy as np
import pytest

from kittiwake.core.commands import (
    AccelerationYaw,
    BodyVelocityYawRate,
    ModeCommand,
    MotorsOff,
    PositionYaw,
    RotorSpeeds,
    VelocityYaw,
    VelocityYawRate,
)
from kittiwake.core.errors import CascadeError, CommandError, ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime import program_builder
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.maneuvers import CLEARANCE_M, HoldAttitude, HoldCommand, go_to, land
from kittiwake.runtime.program_builder import BuildRequest
from kittiwake.runtime.simulation import Simulation

# how far compilers may differ in two seconds, in any number of a row
ROUNDING = 1e-9
PLACE = ("x_m", "y_m", "z_m")

# two groups, with sensors, an estimator, gusts, and something that breaks by itself
# in the air feet change nothing but the time to compile
MIXED = """
name: mixed
time: {rate_hz: 100, duration_s: 20}
world:
  area: {z_m: [-5, 50]}
  origin: {latitude_deg: 47.4, longitude_deg: 8.5}
  satellites: nominal
  turbulence: {type: dryden, speed_at_6m_mps: 2}
  wind: {type: shear, speed_at_6m_mps: 2, from_deg: 90}
vehicles:
  gull:
    model: hummingbird
    parameters: {landing_gear: null}
    start: {position_world_m: [0, 0, 5]}
    sensors: {gnss: gnss, height: barometer}
    estimator: noisy-truth
    controller: position
    guidance: {type: hold, position_world_m: [0.5, 0, 5]}
    faults: [{type: motor, at_s: 1.5, rotor: 0, keeps: 0.98}]
  tern:
    model: angle-velocity
    count: 2
    spacing_m: [5, 0, 0]
    start: {position_world_m: [0, 9, 5]}
    controller: position
    guidance: {type: hold}
"""


@pytest.fixture(scope="module")
def one(make_flight):
    """A vehicle alone."""
    flight = make_flight("hover-angle-velocity")
    flight.settle()
    return flight


@pytest.fixture(scope="module")
def mixed(make_flight):
    """Two groups of vehicles."""
    flight = make_flight(MIXED)
    flight.settle()
    return flight


@pytest.fixture
def drone(one):
    """The vehicle at its start, without requests of other tests."""
    one.begin()
    yield one
    one.begin()
    assert one.executor.take_problems() == []


@pytest.fixture
def flock(mixed):
    """The groups at their start."""
    mixed.begin()
    yield mixed
    mixed.begin()
    assert mixed.executor.take_problems() == []


def plain(flight, seconds):
    """Return the rows of the same flight by ``run``."""
    program = Simulation(flight.scenario).program
    steps = round(seconds * flight.executor.rate_hz)
    start = FlightState.of(program.start(flight.scenario.seed))
    _, arrays, _ = program.compile_block(steps)(start)
    return program.by_vehicle(np.arange(steps) / flight.executor.rate_hz, arrays)


def landing(flight, vehicle):
    """Return the landing of a vehicle from where it is."""
    scenario, now = flight.scenario, flight.executor.estimate(vehicle)
    return land(scenario.vehicles[vehicle], scenario.world, now)


def assert_alike(found, expected):
    for name, rows in expected.items():
        np.testing.assert_allclose(found[name], rows, rtol=ROUNDING, atol=ROUNDING)


# equality with ``run``


@pytest.mark.slow
def test_groups_sensors_estimators_and_gusts_equal_those_of_a_run(flock):
    flown, expected = flock.fly(2.0), plain(flock, 2.0)
    assert_alike(flown, expected)
    for name in ("estimate.x_m", "sensor.height.pressure_pa", "wind_x_world_mps"):
        assert np.ptp(flock.columns(flown, "gull", name)) > 0.0, name
    # only the fault of the scenario is counted
    faults = flock.columns(flown, "gull", "faults")[:, 0]
    assert faults[0] == 0.0
    assert faults[-1] == 1.0


# commands


@pytest.mark.slow
def test_a_command_holds_until_guidance_resumes(drone):
    drone.fly(0.1)
    drone.executor.command("drone", HoldCommand(PositionYaw(Vec3(2.0, 1.0, 11.0), 0.5)))
    assert [*drone.executor.maneuvers] == ["drone"]
    there = drone.flown(8.0, "drone", *PLACE)[-1]
    np.testing.assert_allclose(there, [2.0, 1.0, 11.0], atol=0.05)
    drone.executor.command("drone", None)
    assert not drone.executor.maneuvers
    back = drone.flown(8.0, "drone", *PLACE)[-1]
    np.testing.assert_allclose(back, [0.0, 0.0, 10.0], atol=0.05)


@pytest.mark.slow
def test_a_command_before_the_first_block_starts_after_it(drone):
    drone.executor.command("drone", go_to(np.array([1.0, 0.0, 10.0]), 0.0))
    there = drone.flown(2.0, "drone", *PLACE)
    np.testing.assert_allclose(there, np.tile([1.0, 0.0, 10.0], (len(there), 1)), atol=0.1)


def test_an_unaccepted_command_is_refused_with_the_accepted_types(drone):
    drone.fly(0.1)
    speeds = RotorSpeeds((1.0, 1.0, 1.0, 1.0))
    with pytest.raises(
        CascadeError, match=r"no controller leads from RotorSpeeds .* kw.PositionYaw"
    ):
        drone.executor.command("drone", HoldCommand(speeds))
    with pytest.raises(CommandError, match="there is no vehicle 'dron'"):
        drone.executor.command("dron", HoldCommand(MotorsOff()))
    with pytest.raises(CommandError, match="must be three finite numbers"):
        drone.executor.command("drone", HoldCommand(PositionYaw(Vec3(float("nan"), 0.0, 0.0), 0.0)))
    assert not drone.executor.maneuvers
    drone.fly(0.1)


class Turns:
    """Maneuver that turns to an unaccepted command after a while."""

    description = "turns"

    def command(self, now, capabilities):
        del capabilities
        if now.time_s > 1.0:
            return RotorSpeeds((1.0, 1.0, 1.0, 1.0))
        return PositionYaw(Vec3(0.0, 0.0, 10.0), 0.0)


def test_a_maneuver_that_turns_invalid_is_reported_and_dropped(drone):
    drone.fly(0.1)
    drone.executor.command("drone", Turns())
    drone.fly(2.0)
    (problem,) = drone.executor.take_problems()
    assert "no controller leads from RotorSpeeds" in problem
    assert not drone.executor.maneuvers


def test_a_path_does_not_start_before_it_is_flown(drone):
    drone.fly(0.1)
    goes = go_to(np.array([5.0, 0.0, 10.0]), 0.0, 1.0)
    drone.executor.command("drone", goes)
    assert goes.choice is None


# maneuvers, flown


@pytest.mark.slow
def test_go_to_follows_a_line_within_its_speed(drone):
    drone.fly(4.0)
    drone.executor.command("drone", go_to(np.array([3.0, 4.0, 10.0]), 0.0, 1.0))
    way = drone.flown(12.0, "drone", *PLACE, "vx_mps", "vy_mps", "vz_mps")
    across = way[:, :2] @ [0.8, -0.6]
    assert np.abs(across).max() < 0.05
    speeds = np.linalg.norm(way[:, 3:], axis=1)
    assert 0.9 < speeds.max() < 1.1
    assert speeds[-1] < 0.01
    np.testing.assert_allclose(way[-1, :3], [3.0, 4.0, 10.0], atol=0.05)


@pytest.mark.slow
def test_hold_attitude_keeps_angles_and_height(drone):
    drone.executor.command("drone", HoldAttitude(0.0, radians(3.0), radians(20.0), 11.0))
    rows = drone.flown(4.0, "drone", "z_m", "qw", "qx", "qy", "qz", "vx_mps")
    z_m, w, x, y, z, v_mps = rows[-1]
    assert z_m == pytest.approx(11.0, abs=0.05)
    assert np.degrees(np.arcsin(2.0 * (w * y - x * z))) == pytest.approx(3.0, abs=0.2)
    yaw_rad = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    assert np.degrees(yaw_rad) == pytest.approx(20.0, abs=1.0)
    # nose down is ahead
    assert v_mps > 0.5


def test_hold_attitude_saturates_at_the_vehicles_limit(drone):
    drone.fly(0.1)
    drone.executor.command("drone", HoldAttitude(radians(40.0), radians(40.0), 0.0, 19.0))
    assert drone.flown(0.2, "drone", "cmd_thrust_n").max() == pytest.approx(28.8)
    assert [*drone.executor.maneuvers] == ["drone"]


@pytest.mark.slow
def test_landing_without_landing_gear_ends_above_the_ground(drone):
    drone.fly(0.1)
    drone.executor.command("drone", landing(drone, "drone"))
    rows = drone.flown(25.0, "drone", "z_m", "status")
    assert rows[-1, 0] == pytest.approx(CLEARANCE_M, abs=0.01)
    assert rows[:, 1].max() == 0.0
    assert rows[:, 0].min() > 0.0


def test_motors_off_is_a_fall(drone):
    drone.fly(0.1)
    drone.executor.command("drone", HoldCommand(MotorsOff()))
    assert drone.flown(1.0, "drone", "vz_mps")[-1, 0] < -4.0


@pytest.mark.slow
@pytest.mark.parametrize("command_type", [VelocityYawRate, BodyVelocityYawRate])
def test_a_stick_flies_and_turns_a_vehicle_that_accepts_accelerations(drone, command_type):
    drone.fly(0.1)
    drone.executor.command("drone", HoldCommand(command_type(Vec3(0.0, 0.5, 0.0), 0.4)))
    rows = drone.flown(4.0, "drone", "qw", "qz", "vx_mps", "vy_mps")
    yaw_rad = np.unwrap(2.0 * np.arctan2(rows[:, 1], rows[:, 0]))
    half = len(yaw_rad) // 2
    rate_radps = (yaw_rad[-1] - yaw_rad[half]) / ((len(yaw_rad) - 1 - half) / 200.0)
    assert rate_radps == pytest.approx(0.4, rel=0.1)
    ahead_rad = yaw_rad[-1] if command_type is BodyVelocityYawRate else 0.0
    wanted = 0.5 * np.array([-np.sin(ahead_rad), np.cos(ahead_rad)])
    # it lags a little behind what turns
    np.testing.assert_allclose(rows[-1, 2:], wanted, atol=0.15)


VELOCITIES = """
name: velocities
time: {rate_hz: 200, duration_s: 20}
vehicles:
  drone:
    model: angle-velocity
    start: {position_world_m: [0, 0, 10], yaw_deg: 30}
    controller: velocity
    guidance: {type: hold, velocity_world_mps: [0, 0, 0]}
"""


@pytest.mark.slow
def test_a_stick_flies_and_turns_a_vehicle_that_accepts_velocities(make_flight):
    flight = make_flight(VELOCITIES)
    flight.settle()
    flight.fly(0.1)
    assert VelocityYaw in flight.executor.capabilities("drone").accepted_commands
    flight.executor.command("drone", HoldCommand(BodyVelocityYawRate(Vec3(0.5, 0.0, 0.1), -0.4)))
    rows = flight.flown(4.0, "drone", "qw", "qz", "vx_mps", "vy_mps", "vz_mps")
    yaw_rad = np.unwrap(2.0 * np.arctan2(rows[:, 1], rows[:, 0]))
    half = len(yaw_rad) // 2
    rate_radps = (yaw_rad[-1] - yaw_rad[half]) / ((len(yaw_rad) - 1 - half) / 200.0)
    assert rate_radps == pytest.approx(-0.4, rel=0.1)
    wanted = [0.5 * np.cos(yaw_rad[-1]), 0.5 * np.sin(yaw_rad[-1]), 0.1]
    np.testing.assert_allclose(rows[-1, 2:], wanted, atol=0.2)


# changes


def test_wind_can_be_switched_on_and_off(drone):
    executor = drone.executor
    drone.fly(4.0)
    program = executor.latest
    executor.change("world.wind", "{type: shear, speed_at_6m_mps: 6, from_deg: 270}")
    drone.settle()
    wind = drone.flown(3.0, "drone", "wind_x_world_mps")
    assert wind[-1, 0] > 6.0
    executor.change("world.wind", "none")
    drone.settle()
    assert drone.flown(1.0, "drone", "wind_x_world_mps")[-1, 0] == 0.0
    # parameters have changed, and nothing was compiled again
    assert executor.latest is program


def test_turbulence_can_be_added_in_flight(drone):
    executor, program = drone.executor, drone.executor.latest
    executor.change("world.turbulence", "{type: dryden, speed_at_6m_mps: 5}")
    drone.settle()
    assert np.ptp(drone.flown(3.0, "drone", "wind_x_world_mps")) > 0.1
    executor.change("world.turbulence", "none")
    drone.settle()
    assert executor.latest is program


def test_gains_in_flight_are_those_of_a_flight_that_began_with_them(drone, make_flight):
    stiff = make_flight(
        "hover-angle-velocity",
        "vehicles.drone.controller={type: position, natural_frequency_radps: 2.5}",
    )
    expected = stiff.fly(2.0)
    drone.executor.set_gains("drone", "position", natural_frequency_radps=2.5)
    drone.settle()
    assert_alike(drone.fly(2.0), expected)
    drone.executor.set_gains("drone", "position", natural_frequency_radps=1.5)
    drone.settle()
    drone.begin()
    assert np.abs(drone.fly(2.0)["drone"] - expected["drone"]).max() > 0.01


@pytest.mark.slow
def test_gains_outlive_a_change_of_the_wind(flock):
    executor, program = flock.executor, flock.executor.latest
    executor.set_gains("gull", "position", natural_frequency_radps=2.0)
    flock.settle()
    executor.change("world.wind", "{type: shear, speed_at_6m_mps: 1, from_deg: 90}")
    flock.settle()
    cascade = [level.component for level in executor.scenario.vehicles["gull"].cascade]
    assert 2.0 in [getattr(level, "natural_frequency_radps", None) for level in cascade]
    assert executor.latest is program


def test_impossible_changes_are_reported_and_the_flight_continues(drone):
    executor = drone.executor
    for path, value, said in (
        ("time.rate_hz", "400", "time.rate_hz cannot be changed in flight"),
        ("vehicles.drone.count", "2", "vehicles cannot be added or removed in flight"),
        ("vehicles.drone.model", "albatross", "albatross"),
    ):
        executor.change(path, value)
        drone.settle()
        (problem,) = executor.take_problems()
        assert said in problem
        drone.fly(0.1)
    executor.set_gains("drone", "position", stubbornness=1.0)
    drone.settle()
    (problem,) = executor.take_problems()
    assert "stubbornness" in problem
    drone.fly(0.1)


def test_the_newest_of_many_changes_of_a_value_counts(drone):
    executor = drone.executor
    for mps in (9, 3, 5):
        executor.change("world.wind", f"{{type: shear, speed_at_6m_mps: {mps}, from_deg: 0}}")
    drone.settle()
    assert float(executor.scenario.world.wind.speed_at_6m_mps) == 5.0
    executor.change("world.wind", "none")
    drone.settle()


def test_a_change_next_to_a_wrong_one_is_made(drone):
    executor = drone.executor
    executor.change("world.wind", "hurricane")
    executor.change("world.gravity_mps2", "9.7")
    drone.settle()
    assert len(executor.take_problems()) == 1
    assert float(executor.scenario.world.gravity_mps2) == 9.7
    drone.fly(0.1)


def test_requested_scenario_includes_changes_not_flown_yet(make_flight):
    flight = make_flight("hover-angle-velocity")
    executor = flight.executor
    flight.settle()
    executor.__exit__()
    # after the flight, for the next one
    executor.change("world.wind", "{type: shear, speed_at_6m_mps: 4, from_deg: 0}")
    assert float(executor.requested_scenario.world.wind.speed_at_6m_mps) == 4.0
    assert executor.scenario is flight.scenario


def test_an_ended_flight_refuses_faults_and_behaviors(make_flight):
    executor = make_flight("hover-angle-velocity").executor
    executor.__exit__()
    with pytest.raises(CommandError, match="the flight has ended"):
        executor.fail("drone", "motor 0", failed=True)
    with pytest.raises(CommandError, match="the flight has ended"):
        executor.set_active_behaviors("drone", ["cohesion"])


@pytest.fixture
def busy(one, monkeypatch):
    """An executor whose builder is compiling, and the event that lets it finish."""
    started, go_on = Event(), Event()

    def compiling(*_):
        started.set()
        assert go_on.wait(30.0)
        message = "cannot be compiled"
        raise ScenarioError(message)

    executor = LiveExecutor(one.scenario, one.executor.layout, RealTimeClock(inf))
    executor._builder.open(BuildRequest(steps=4, seed=0, former=one.executor.latest))
    monkeypatch.setattr(program_builder, "Program", compiling)
    # another structure, while another number compiles nothing
    executor.change("vehicles.drone.sensors", "{below: ultrasonic}")
    assert started.wait(30.0)
    yield executor, go_on
    go_on.set()
    executor._builder._thread.shutdown()


def test_requested_scenario_includes_changes_being_compiled_and_waiting(busy):
    executor, go_on = busy
    executor.change("world.wind", "{type: shear, speed_at_6m_mps: 4, from_deg: 0}")
    wanted = executor.requested_scenario
    assert "below" in wanted.vehicles["drone"].sensors
    assert float(wanted.world.wind.speed_at_6m_mps) == 4.0
    # a change that cannot be built is dropped
    go_on.set()
    executor._builder._thread.submit(lambda: None).result(timeout=30.0)
    assert executor.scenario is executor.requested_scenario
    assert executor.take_problems() == ["cannot be compiled"]
    # the wind alone needs no other program
    assert "below" not in executor.scenario.vehicles["drone"].sensors
    assert float(executor.scenario.world.wind.speed_at_6m_mps) == 4.0


def test_an_ended_flight_starts_no_more_builds(busy):
    executor, go_on = busy
    executor.change("world.wind", "{type: shear, speed_at_6m_mps: 4, from_deg: 0}")
    executor.__exit__()
    go_on.set()
    executor._builder._thread.shutdown()
    assert executor.take_problems() == ["cannot be compiled"]
    # the change is kept for the next flight
    assert float(executor.requested_scenario.world.wind.speed_at_6m_mps) == 4.0


# failures


@pytest.mark.slow
def test_a_motor_stops_and_starts_again(flock):
    executor, program = flock.executor, flock.executor.latest
    flock.fly(0.1)
    executor.notices()
    executor.fail("gull", "motor 2", failed=True)
    executor.fail("gull", "motor 2", failed=True)
    # a notice when the fault is active, not when it is requested
    assert [*executor.notices()] == []
    flock.settle()
    rows = flock.flown(1.0, "gull", "act_rotor_2_radps", "faults")
    assert rows[-1, 0] < 10.0
    assert rows[-1, 1] == 0.0
    assert [*executor.notices()] == [("gull", "motor 2 fails")]
    assert "motor 2" in executor.failing["gull"]
    executor.fail("gull", "motor 2", failed=False)
    flock.settle()
    assert flock.flown(1.0, "gull", "act_rotor_2_radps")[-1, 0] > 100.0
    assert [*executor.notices()] == [("gull", "motor 2 works again")]
    assert executor.latest is program


@pytest.mark.slow
def test_satellites_are_lost_and_found_again(flock):
    executor = flock.executor
    assert flock.flown(1.0, "gull", "sensor.gnss.valid")[-1, 0] == 1.0
    executor.fail("gull", "gnss", failed=True)
    flock.settle()
    assert flock.flown(1.0, "gull", "sensor.gnss.valid")[-1, 0] == 0.0
    executor.fail("gull", "gnss", failed=False)
    flock.settle()
    assert flock.flown(2.0, "gull", "sensor.gnss.valid")[-1, 0] == 1.0
    assert len(executor.notices()) == 2


def test_another_sensor_gets_stuck_and_recovers(flock):
    executor = flock.executor
    column = next(
        name for name in executor.layout.columns["gull"] if name.startswith("sensor.height.")
    )
    assert np.ptp(flock.flown(1.0, "gull", column)) > 0.0
    executor.fail("gull", "height", failed=True)
    flock.settle()
    stuck = flock.flown(1.0, "gull", column)
    assert np.ptp(stuck[len(stuck) // 2 :]) == 0.0
    executor.fail("gull", "height", failed=False)
    flock.settle()
    assert np.ptp(flock.flown(1.0, "gull", column)) > 0.0
    executor.notices()


def test_an_unknown_part_is_refused(flock):
    with pytest.raises(CommandError, match=r"'gull' has no part 'motor 7' to fail.*motor"):
        flock.executor.fail("gull", "motor 7", failed=True)
    with pytest.raises(CommandError, match="there is no vehicle 'auk'"):
        flock.executor.fail("auk", "gnss", failed=True)
    assert not flock.executor.failing.get("gull")


# what is compiled beside the flight

ROUND = """
name: round
time: {rate_hz: 480, duration_s: 10}
world:
  obstacles:
    pillar: {type: cylinder, center_world_m: [1.5, 0, 2], radius_m: 0.5, height_m: 4}
vehicles:
  drone:
    model: angle-velocity
    start: {position_world_m: [0, 0, 1.5]}
    controller: position
    guidance: {type: hold}
    sensors:
      turns: {type: ultrasonic-array, scheme: front, min_range_m: 0.2, max_range_rate_mps: 4}
"""


@pytest.mark.slow
def test_another_scheme_of_an_array_is_compiled_in_flight_and_used(make_flight):
    flight = make_flight(ROUND)
    executor = flight.executor
    flight.settle()
    flight.fly(1.0)
    names, first = executor.layout.columns, executor.latest
    executor.change("vehicles.drone.sensors.turns.scheme", "all-1")
    before = flight.fly(0.5)["drone"]
    flight.settle()
    after = flight.fly(0.5)["drone"]
    assert executor.take_problems() == []
    assert executor.latest is not first
    assert executor.layout.columns is names
    assert after.shape == before.shape
    # it stands where it stood, and its time goes on
    np.testing.assert_allclose(after[0, 1:4], before[-1, 1:4], atol=1e-6)
    assert after[0, 0] == pytest.approx(before[-1, 0] + 1.0 / 480.0)


# vehicles with feet, with modes, and on the water


@pytest.fixture(scope="module")
def feet(make_flight):
    """A vehicle with feet and a mission."""
    flight = make_flight("takeoff-and-land-ramp")
    flight.settle()
    return flight


@pytest.mark.slow
def test_a_vehicle_takes_off_travels_and_lands_until_its_motors_are_off(feet):
    name = "uav-gazebo"
    feet.begin()
    feet.fly(0.1)
    feet.executor.command(name, go_to(np.array([0.0, 0.0, 1.5]), 0.0, 1.0))
    assert feet.flown(10.0, name, "z_m")[-1, 0] == pytest.approx(1.5, abs=0.1)
    feet.executor.command(name, go_to(np.array([1.0, -1.0, 1.5]), 0.0))
    there = feet.flown(10.0, name, *PLACE)[-1]
    np.testing.assert_allclose(there, [1.0, -1.0, 1.5], atol=0.15)
    feet.executor.command(name, landing(feet, name))
    rows = feet.flown(8.0, name, "z_m", "cmd_thrust_n", "status")
    assert rows[-1, 0] < 0.05
    assert rows[-1, 1] == 0.0
    assert rows[:, 2].max() == 0.0
    # it did not fall
    assert np.diff(rows[:, 0]).min() * 500.0 > -1.5


ERRAND = """
name: errand
time: {rate_hz: 200, duration_s: 20}
world: {area: {x_m: [-9, 9], y_m: [-9, 9], z_m: [0, 20]}}
vehicles:
  drone:
    model: angle-velocity
    start: {position_world_m: [0, 0, 10]}
    guidance:
      type: mission
      steps:
        - {do: hold, for_s: 15}
        - {do: {type: goto, position_world_m: [3, 0, 10]}, name: away}
"""


@pytest.fixture(scope="module")
def errand(make_flight):
    """A vehicle with a mission."""
    flight = make_flight(ERRAND)
    flight.settle()
    return flight


@pytest.mark.slow
def test_a_step_of_a_mission_begins_on_request(errand):
    errand.begin()
    errand.fly(0.1)
    errand.executor.jump_to_mission_step("drone", "away")
    phases = errand.executor.layout.phases["drone"]
    phase = int(errand.flown(0.2, "drone", "guidance.phase")[-1, 0])
    assert "away" in phases[phase]
    errand.executor.jump_to_mission_step("drone", "loop")
    errand.fly(0.1)
    (problem,) = errand.executor.take_problems()
    assert "loop" in problem


@pytest.mark.slow
def test_requests_for_an_unknown_vehicle_are_refused(errand):
    with pytest.raises(CommandError, match="there is no vehicle 'dron'"):
        errand.executor.set_active_behaviors("dron", ["cohesion"])
    with pytest.raises(CommandError, match="there is no vehicle 'dron'"):
        errand.executor.jump_to_mission_step("dron", "away")


def test_unknown_behaviors_are_reported_and_the_flight_continues(errand):
    errand.begin()
    errand.executor.set_active_behaviors("drone", ["cohesion"])
    errand.fly(0.1)
    (problem,) = errand.executor.take_problems()
    assert "behavior" in problem


@pytest.mark.slow
def test_a_vessel_goes_to_its_target_and_stays_there(make_flight):
    flight = make_flight("cruise-strider")
    (name,) = flight.scenario.vehicles
    flight.settle()
    flight.fly(1.0)
    here = flight.executor.estimate(name).position_m
    place = here + np.array([6.0, 3.0, 0.0])
    flight.executor.command(name, go_to(place, 0.0, 0.5))
    flight.fly(60.0)
    there = flight.executor.estimate(name).position_m
    assert np.linalg.norm((there - place)[:2]) < 1.5


@pytest.mark.slow  # its program has six ways down
def test_a_vehicle_with_modes_flies_commands_as_mode_commands(make_flight):
    flight = make_flight("mode-tour")
    (name,) = flight.scenario.vehicles
    flight.settle()
    flight.fly(0.1)
    assert ModeCommand in flight.executor.capabilities(name).accepted_commands
    place = flight.executor.estimate(name).position_m + np.array([0.5, 0.0, 1.0])
    flight.executor.command(name, go_to(place, 0.0, 0.5))
    np.testing.assert_allclose(flight.flown(8.0, name, *PLACE)[-1], place, atol=0.2)
    flight.executor.command(name, HoldCommand(AccelerationYaw(Vec3.zero(), 0.0)))
    flight.fly(0.1)
    assert flight.executor.take_problems() == []


# placed


@pytest.mark.slow
def test_a_placed_vehicle_is_reset_there_and_its_guidance_continues(flock):
    executor = flock.executor
    flock.fly(2.0)
    executor.place("tern-1", Start(Vec3(3.0, 4.0, 6.0), yaw_rad=0.5))
    before = flock.fly(0.02)
    rows = flock.columns(before, "tern-1", *PLACE, "vx_mps", "qz")
    np.testing.assert_allclose(rows[0], [3.0, 4.0, 6.0, 0.0, np.sin(0.25)], atol=1e-6)
    # the other of its group has not been moved
    assert np.abs(flock.columns(before, "tern-2", "x_m")).max() > 4.0
    assert ("tern-1", "placed at 3, 4, 6 m") in executor.notices()
    there = flock.flown(10.0, "tern-1", *PLACE)[-1]
    np.testing.assert_allclose(there, [0.0, 9.0, 5.0], atol=0.7)  # in gusts


@pytest.mark.slow
def test_a_lost_vehicle_flies_again_when_placed(flock):
    flock.executor.command("tern-1", HoldCommand(MotorsOff()))
    assert flock.flown(5.0, "tern-1", "status")[-1, 0] > 0.0
    flock.executor.command("tern-1", None)
    flock.executor.place("tern-1", Start(Vec3(0.0, 9.0, 5.0)))
    assert flock.flown(1.0, "tern-1", "status").max() == 0.0


def test_a_push_changes_the_velocity_of_one_vehicle_by_its_impulse(flock):
    executor = flock.executor
    flock.fly(2.0)
    velocity = ("vx_mps", "vy_mps", "vz_mps")
    before = {name: flock.flown(0.02, name, *velocity)[-1] for name in ("tern-1", "tern-2")}
    mass_kg = executor.scenario.vehicles["tern-1"].dynamics.collider().mass_kg
    executor.push("tern-1", Vec3(2.0 * mass_kg, -mass_kg, 0.0))
    rows = flock.fly(0.02)
    gained = flock.columns(rows, "tern-1", *velocity)[0] - before["tern-1"]
    np.testing.assert_allclose(gained, [2.0, -1.0, 0.0], atol=0.15)  # within one step of flight
    other = flock.columns(rows, "tern-2", *velocity)[0] - before["tern-2"]
    np.testing.assert_allclose(other, 0.0, atol=0.15)
    [(vehicle, text)] = [one for one in executor.notices() if "pushed" in one[1]]
    assert (vehicle, text[-4:]) == ("tern-1", " N s")


def test_pushes_that_are_not_possible_are_refused(drone):
    with pytest.raises(CommandError, match="not finite"):
        drone.executor.push("drone", Vec3(float("inf"), 0.0, 0.0))
    with pytest.raises(CommandError, match="there is no vehicle 'dron'"):
        drone.executor.push("dron", Vec3(1.0, 0.0, 0.0))


def test_a_vehicle_can_be_placed_as_the_first_request(drone):
    drone.executor.place("drone", Start(Vec3(1.0, 2.0, 12.0)))
    np.testing.assert_allclose(drone.flown(0.02, "drone", *PLACE)[0], [1.0, 2.0, 12.0])


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (Vec3(float("nan"), 0.0, 1.0), "not finite"),
        (Vec3(0.0, 0.0, -500.0), r"cannot be placed there: .*z_m = -500"),
    ],
)
def test_placing_a_vehicle_where_it_would_be_lost_is_refused(drone, place, said):
    with pytest.raises(CommandError, match=said):
        drone.executor.place("drone", Start(place))
    with pytest.raises(CommandError, match="there is no vehicle 'dron'"):
        drone.executor.place("dron", Start())
