"""Simulation: loading, stepping with custom commands, observing."""

import gc
import json
import weakref

import equinox as eqx
import jax
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import (
    CascadeError,
    CommandError,
    PrecisionError,
    ScenarioError,
    StateError,
    UnknownSensorError,
)
from kittiwake.runtime.commands import command_values
from kittiwake.scenario.load import load_scenario

UPRIGHT = kw.Quaternion(1.0, 0.0, 0.0, 0.0)
THERE = kw.PositionYaw(kw.Vec3(0.0, 1.0, 12.0), 0.5)
STEPS = 25


@pytest.fixture(scope="module")
def pair():
    changes = {
        "vehicles.pelican.count": 2,
        "vehicles.pelican.sensors": {},
        "vehicles.pelican.estimator": "truth",
        "world.collision_distance_m": None,
    }
    return kw.load("keep-spot-10", changes)


@pytest.fixture(scope="module")
def crazyflie():
    # high in the air feet change nothing but the time to compile
    return kw.load("hover-crazyflie", {"vehicles.crazyflie.parameters.landing_gear": None})


@pytest.fixture(scope="module")
def seen_by_the_pelican():
    return kw.load("keep-spot").reset()["pelican"]


def state_of(observation):
    truth = observation.truth
    parts = (truth.position_world_m, truth.velocity_world_mps, truth.angular_velocity_body_radps)
    return [component for part in parts for component in (part.x, part.y, part.z)]


def flown_by_hand(simulation, commands=None, steps=STEPS, seed=None):
    simulation.reset(seed)
    for _ in range(steps):
        simulation.step(commands)
    return {name: state_of(seen) for name, seen in simulation.observe().items()}


def written(signal, field, value):
    """A command as people write it, which the type checks of the tests would not let pass."""
    return {"pelican-1": eqx.tree_at(lambda s: getattr(s, field), signal, value)}


# loading


def test_overrides_are_python_values():
    simulation = kw.load(
        "keep-spot",
        {
            "seed": np.int64(7),
            "description": "a: b, [1e5, true",
            "vehicles.pelican.start.yaw_deg": np.float64(45.0),
            "vehicles.pelican.guidance": {
                "type": "waypoints",
                "positions_world_m": [(1, 2, 3), np.array([4.0, 5.0, 1e-7])],
                "loop": True,
            },
            "world.collision_distance_m": None,
        },
    )
    data = simulation.scenario.document.data
    assert (data["seed"], data["description"]) == (7, "a: b, [1e5, true")
    assert data["vehicles"]["pelican"]["start"]["yaw_deg"] == 45.0
    guidance = data["vehicles"]["pelican"]["guidance"]
    assert guidance["positions_world_m"] == [[1, 2, 3], [4.0, 5.0, 1e-7]]
    assert guidance["loop"] is True
    assert data["world"]["collision_distance_m"] is None


def test_an_override_with_an_unknown_path_is_refused():
    with pytest.raises(ScenarioError, match="Did you mean 'pelican'"):
        kw.load("keep-spot", {"vehicles.pelicna.start.yaw_deg": 3})


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("vehicles.pelican.wind", 1, "overrides={'vehicles.pelican.wind': 1}: vehicles.pelican."),
        ("seed", True, "overrides={'seed': True}: seed: true is not allowed; must be"),
        ("vehicles", {}, "overrides={'vehicles': {}}: set the values of one vehicle, as in over"),
        ("world.wind", {"type": "shear"}, "'shear'}}: world.wind.from_deg is missing"),
        ("a..b", 1, "overrides={'a..b': 1}: write a path and a value, as in overrides={'vehicles."),
    ],
)
@pytest.mark.parametrize("load", [kw.load, lambda name, given: kw.make(name, overrides=given)])
def test_an_invalid_python_override_is_refused_in_python_syntax(load, path, value, said):
    with pytest.raises(ScenarioError) as refused:
        load("keep-spot", {path: value})
    assert said in str(refused.value)
    assert "--set" not in str(refused.value)


def test_names_and_step_are_those_of_the_scenario(pair):
    assert pair.names == ("pelican-1", "pelican-2")
    assert pair.dt_s == 0.02


# observing


@pytest.mark.slow
def test_an_observation_is_made_of_plain_numbers(pair):
    seen = pair.reset(seed=1)["pelican-2"]
    assert seen.time_s == 0.0
    assert seen.valid is True
    leaves = jax.tree.leaves((seen.estimate, seen.truth))
    assert {type(leaf) for leaf in leaves} == {float}
    json.dumps(leaves)


@pytest.mark.slow
def test_the_first_observation_is_the_start(pair):
    truth = pair.reset()["pelican-2"].truth
    assert truth.position_world_m.array.tolist() == [0.0, -60.0, 10.0]
    assert truth.euler_world_from_body.yaw_rad == np.pi / 2


@pytest.mark.slow
def test_time_goes_on_by_a_step(pair):
    pair.reset()
    pair.step()
    pair.step()
    assert pair.observe()["pelican-1"].time_s == 0.04


def test_observing_changes_nothing(pair):
    assert pair.observe() == pair.observe()


@pytest.mark.slow
def test_a_reset_begins_the_same_flight_again(pair):
    assert flown_by_hand(pair) == flown_by_hand(pair)


def test_another_seed_is_another_flight(pair):
    assert flown_by_hand(pair, seed=1) != flown_by_hand(pair, seed=2)


@pytest.mark.slow
def test_a_lost_vehicle_is_no_longer_valid():
    changes = {"vehicles.pelican.sensors": {}, "vehicles.pelican.estimator": "truth"}
    simulation = kw.load("keep-spot", {"world.area.z_m": [9.999, 20]} | changes)
    # without a reset the first look is at the start
    assert simulation.observe()["pelican"].valid is True
    down = {"pelican": kw.ThrustAttitude(0.0, UPRIGHT)}
    for _ in range(STEPS):
        simulation.step(down)
    seen = simulation.observe()["pelican"]
    assert seen.valid is False
    simulation.step(down)
    assert simulation.observe()["pelican"].truth == seen.truth


# commanding


@pytest.mark.slow
def test_thrust_above_weight_climbs_and_below_it_sinks(pair):
    weight = 1.68 * 9.81
    attitude = kw.Quaternion.from_euler(kw.EulerZYX(0.0, 0.0, np.pi / 2))
    heights = {
        factor: flown_by_hand(pair, {"pelican-1": kw.ThrustAttitude(factor * weight, attitude)})[
            "pelican-1"
        ][2]
        for factor in (0.9, 1.0, 1.1)
    }
    # half a second at a tenth of g, less what the slew of the thrust takes
    assert heights[0.9] < 9.95 < heights[1.0] < 10.05 < heights[1.1]


@pytest.mark.bits
def test_commands_for_one_vehicle_leave_the_other_to_its_guidance(pair):
    alone = flown_by_hand(pair)
    commanded = flown_by_hand(pair, {"pelican-1": kw.ThrustAttitude(25.0, UPRIGHT)})
    assert commanded["pelican-2"] == alone["pelican-2"]
    assert commanded["pelican-1"][2] > alone["pelican-1"][2] + 0.1


def test_an_empty_command_is_no_command(pair):
    assert flown_by_hand(pair, {}) == flown_by_hand(pair)


def test_a_command_for_an_unknown_vehicle_is_refused(pair):
    pair.reset()
    with pytest.raises(CommandError, match="Did you mean 'pelican-1'"):
        pair.step({"pelican-1x": kw.ThrustAttitude(25.0, UPRIGHT)})


def test_a_command_that_leads_nowhere_is_refused(pair):
    pair.reset()
    rates = kw.ThrustRates(10.0, kw.Vec3(0.0, 0.0, 0.0))
    with pytest.raises(CascadeError) as refused:
        pair.step({"pelican-1": rates})
    assert str(refused.value) == (
        "the command for 'pelican-1' cannot be followed: no controller leads from ThrustRates to "
        "AttitudeThrottle, which the vehicle takes; give one of kw.PositionYaw, "
        "kw.AccelerationYaw, kw.ThrustAttitude, kw.AttitudeThrottle, kw.MotorsOff"
    )
    # before anything is traced, which would make the traceback long
    assert refused.traceback[-1].path.name == "commands.py"


def test_a_refused_command_leaves_the_flight_as_it_was(pair):
    pair.reset()
    before = pair.observe()
    with pytest.raises(CommandError):
        pair.step({"nobody": kw.ThrustAttitude(25.0, UPRIGHT)})
    assert pair.observe() == before


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        ({"pelican-1": [0.0, 0.0, 1.0]}, r"is \[0.0, 0.0, 1.0\]; give one of kw.PositionYaw"),
        ({"pelican-3": THERE}, "no vehicle 'pelican-3'.*'pelican-"),
        ({"pelican-3": [1.0]}, "no vehicle 'pelican-3'.*'pelican-"),
        (written(THERE, "position_world_m", [0.0, 1.0]), "must be three finite numbers"),
        (written(THERE, "yaw_rad", float("nan")), "yaw_rad of the PositionYaw .* nan"),
        (written(THERE, "yaw_rad", "east"), "one finite number; it is 'east'"),
        (
            written(kw.ThrustAttitude(16.0, UPRIGHT), "q_world_from_body", [1.0, 1.0, 0.0, 0.0]),
            "the norm 1.41421",
        ),
    ],
)
def test_an_invalid_command_is_refused_in_one_sentence(pair, commands, message):
    pair.reset()
    with pytest.raises(CommandError, match=message):
        pair.step(commands)


@pytest.mark.slow
def test_rotors_are_commanded_one_by_one(crazyflie):
    crazyflie.reset()
    for _ in range(50):
        crazyflie.step({"crazyflie": kw.RotorSpeeds((1700.0, 1700.0, 1500.0, 1500.0))})
    # the two on the right are faster: it rolls to the left
    assert crazyflie.observe()["crazyflie"].truth.angular_velocity_body_radps.x < -1.0


def test_rotor_speeds_that_are_not_four_are_refused(crazyflie):
    crazyflie.reset()
    hover = kw.RotorSpeeds((1600.0, 1600.0, 1600.0, 1600.0))
    short = eqx.tree_at(lambda signal: signal.speeds_radps, hover, (1.0, 2.0, 3.0))
    with pytest.raises(CommandError, match="RotorSpeeds for 'crazyflie': got 3 numbers; must be 4"):
        crazyflie.step({"crazyflie": short})
    with pytest.raises(CommandError, match="`speeds_0_radps` .* got 9e.09; must be from 0 to 2272"):
        crazyflie.step({"crazyflie": kw.RotorSpeeds((9e9, 1.0, 1.0, 1.0))})


@pytest.mark.slow
@pytest.mark.bits
def test_each_vehicle_gets_its_own_command_in_whatever_order_they_come(pair):
    climb, sink = (kw.AttitudeThrottle(0.0, 0.0, x, 0.0, 12.0) for x in (0.8, 0.4))
    hold = kw.ThrustAttitude(16.48, UPRIGHT)
    for one, other in ((climb, sink), (climb, hold), (THERE, climb)):
        commands = {"pelican-1": one, "pelican-2": other}
        forwards = flown_by_hand(pair, commands)
        assert flown_by_hand(pair, dict(reversed(commands.items()))) == forwards
        alone = flown_by_hand(pair, {"pelican-1": one})
        assert forwards["pelican-1"] == alone["pelican-1"]


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [("throttle", 3.0, "from 0 to 1"), ("pitch_rad", -1.0, "from -0.9 to 0.9")],
)
def test_a_native_command_outside_the_vehicles_bounds_is_refused(pair, field, value, rule):
    pair.reset()
    level = kw.AttitudeThrottle(0.0, 0.0, 0.6, 0.0, 12.0)
    with pytest.raises(
        CommandError, match=f"`{field}` of 'pelican-1': got {value:g}; must be {rule}"
    ):
        pair.step(written(level, field, value))


@pytest.mark.slow
def test_a_pure_command_is_limited_to_the_vehicles_bounds(pair):
    wild = kw.AttitudeThrottle(5.0, -5.0, 3.0, 9.0, 100.0)

    @jax.jit
    def taken_of(command):
        _, snapshots = pair.fleet.step(pair.init(kw.seed_key(0)), {"pelican-1": command})
        return snapshots[0].command

    taken = taken_of(wild)
    bounds = pair.scenario.vehicles["pelican-1"].dynamics.command_bounds
    expected = {"pitch_rad": 1, "roll_rad": 0, "throttle": 1, "yaw_rate_radps": 1, "battery_v": 1}
    for name, end in expected.items():
        assert float(getattr(taken, name)[0]) == bounds[name][end]


@pytest.mark.parametrize("commands", [np.zeros(4), 0.0, []])
def test_a_bare_command_of_numbers_is_refused(pair, commands):
    pair.reset()
    with pytest.raises(CommandError, match="give a mapping from vehicle to command"):
        pair.step(commands)


def test_a_file_that_holds_no_state_is_refused(pair, tmp_path):
    pair.reset()
    with pytest.raises(StateError, match="`path`: got 3; must be the path of a file that sim.save"):
        pair.restore(3)
    scenario = tmp_path / "circle.yaml"
    scenario.write_text("name: circle")
    with pytest.raises(StateError, match="give a file that sim.save has written"):
        pair.restore(scenario)


def test_commands_without_names_are_refused():
    with pytest.raises(CommandError, match="commands are a PositionYaw; give a mapping"):
        command_values(THERE, {})


@pytest.mark.slow
def test_a_command_may_be_written_in_numpy_and_lists(pair):
    pair.reset()
    pair.step({"pelican-1": THERE})
    pair.step()
    expected = pair.observe()["pelican-1"].truth.position_world_m
    pair.reset()
    commands = written(THERE, "position_world_m", np.asarray([0, 1, 12]))
    pair.step(commands | written(commands["pelican-1"], "yaw_rad", np.asarray([0.5])))
    pair.step()
    assert pair.observe()["pelican-1"].truth.position_world_m == expected


# running


@pytest.mark.slow
def test_a_run_gives_a_log_with_its_summary(pair):
    log = pair.run(duration_s=1.0, seed=3)
    assert log.names == ("pelican-1", "pelican-2")
    assert log.summary["seed"] == 3
    assert log.summary["duration_s"] == 1.0
    assert log.summary["steps"] == 50
    assert set(log.summary["vehicles"]) == set(log.names)
    assert len(log.values("pelican-1")) == 51
    assert log.scenario["name"] == "keep-spot-10"
    json.dumps(log.summary)


@pytest.mark.parametrize("duration_s", [0.0, -1.0, 0.001, float("nan"), float("inf")])
def test_an_invalid_duration_is_refused(pair, duration_s):
    with pytest.raises(ScenarioError, match="must be at least one step"):
        pair.run(duration_s=duration_s)


@pytest.mark.slow
def test_run_does_not_affect_a_stepped_flight(pair):
    pair.reset()
    pair.step()
    before = pair.observe()
    # as long as the other run, so that it is the same program
    pair.run(duration_s=1.0)
    assert pair.observe() == before


@pytest.mark.usefixtures("single_precision")
@pytest.mark.slow
def test_single_precision_flies_nearly_the_same():
    overrides = {"time.duration_s": 1, "vehicles.pelican.estimator": "truth"}
    single = kw.load("keep-spot", overrides, precision="float32").run()
    double = kw.load("keep-spot", overrides).run()
    # the draws are other ones in single precision, at 0.2 m/s^2 over a second
    assert np.allclose(single.values("pelican")[:, 1:4], double.values("pelican")[:, 1:4], atol=0.1)


@pytest.mark.slow
def test_flags_of_measurements_are_true_or_false(seen_by_the_pelican):
    assert seen_by_the_pelican.measurements["gnss"].valid is True
    assert seen_by_the_pelican.fresh["gnss"] is True
    assert seen_by_the_pelican.valid is True


@pytest.mark.slow
def test_a_sensor_that_is_not_there_is_refused_with_the_nearest_one(seen_by_the_pelican):
    for by_sensor in (seen_by_the_pelican.measurements, seen_by_the_pelican.fresh):
        with pytest.raises(UnknownSensorError) as refused:
            by_sensor["gns"]
        assert isinstance(refused.value, KeyError)
        assert str(refused.value).startswith(
            "there is no sensor 'gns'. Did you mean 'gnss'? Allowed: altimeter, gnss, "
        )
        assert by_sensor.get("gns") is None
        assert "gns" not in by_sensor


def test_measurements_are_a_dictionary_to_jax(seen_by_the_pelican):
    fresh = seen_by_the_pelican.fresh
    flags = jax.tree.map(lambda flag: not flag, fresh)
    assert flags == {name: not flag for name, flag in fresh.items()}
    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(fresh)]
    assert paths == [path for path, _ in jax.tree_util.tree_leaves_with_path(dict(fresh))]


# repeated simulations


@pytest.mark.slow
def test_repeated_simulations_leave_no_memory_behind():
    """Neither a program nor its fleet is kept by what JAX remembers of compiled functions."""
    left = []
    for _ in range(3):
        changes = {"vehicles.pelican.sensors": {}, "vehicles.pelican.estimator": "truth"}
        simulation = kw.load("keep-spot", changes)
        simulation.run(0.04)
        left += [weakref.ref(simulation), weakref.ref(simulation.program)]
        left += [weakref.ref(simulation.fleet), weakref.ref(simulation.scenario)]
        del simulation
    gc.collect()
    assert [one for one in left if one() is not None] == []


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_pure_functions_compute_in_double_precision_in_jax_mode_of_single():
    simulation = kw.load(
        "keep-spot", {"vehicles.pelican.sensors": {}, "vehicles.pelican.estimator": "truth"}
    )
    start = simulation.init(kw.seed_key(0))
    one = simulation.advance(start, {"pelican": kw.PositionYaw([0, 0, 12], 0.0)})
    end, heights = simulation.rollout(one, 2, lambda groups: groups[0].truth.position_world_m.z)
    assert heights.shape == (2, 1)
    for state in (start, one, end, heights):
        floats = {str(leaf.dtype) for leaf in jax.tree.leaves(state) if "float" in str(leaf.dtype)}
        assert floats == {"float64"}
    with pytest.raises(PrecisionError, match="Call it inside 'with jax.enable_x64"):
        jax.jit(simulation.advance)(start)


def test_the_number_of_satellites_is_an_integer(seen_by_the_pelican):
    tracked = seen_by_the_pelican.measurements["gnss"].satellites
    assert isinstance(tracked, int)


@pytest.mark.slow
def test_steps_warn_that_they_do_not_end_with_the_guidance():
    simulation = kw.load("waypoint-tour", {"time": {"rate_hz": 50, "until_done": True}})
    with pytest.warns(UserWarning, match="until_done has no effect on step"):
        simulation.reset()


def test_a_task_warns_that_its_episodes_do_not_end_with_the_guidance():
    corners = "{type: waypoints, positions_world_m: [[1, 0, 2]]}"
    items = ["time.until_done=true", f"vehicles.crazyflie.guidance={corners}"]
    warnings = load_scenario("hover", items).warnings()
    assert any("time.until_done: episodes" in text for text in warnings)
