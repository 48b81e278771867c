"""A scenario in a person's hands: loading, stepping with own commands, observing."""

import json

import jax
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import CommandError, LadderError, ScenarioError

UPRIGHT = kw.Quaternion(1.0, 0.0, 0.0, 0.0)
STEPS = 25


@pytest.fixture(scope="module")
def pair():
    return kw.load(
        "keep-spot-10", {"vehicles.pelican.count": 2, "world.collision_distance_m": None}
    )


def state_of(observation):
    truth = observation.truth
    parts = (truth.position_world_m, truth.velocity_world_mps, truth.angular_velocity_body_radps)
    return [component for part in parts for component in (part.x, part.y, part.z)]


def flown_by_hand(simulation, commands=None, steps=STEPS, seed=None):
    simulation.reset(seed)
    for _ in range(steps):
        simulation.step(commands)
    return {name: state_of(seen) for name, seen in simulation.observe().items()}


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


def test_an_override_that_cannot_be_followed_is_refused():
    with pytest.raises(ScenarioError, match="Did you mean 'pelican'"):
        kw.load("keep-spot", {"vehicles.pelicna.start.yaw_deg": 3})


def test_names_and_step_are_those_of_the_scenario(pair):
    assert pair.names == ("pelican-1", "pelican-2")
    assert pair.dt_s == 0.02


# observing


def test_an_observation_is_made_of_plain_numbers(pair):
    seen = pair.reset(seed=1)["pelican-2"]
    assert seen.time_s == 0.0
    assert seen.valid is True
    leaves = jax.tree.leaves((seen.estimate, seen.truth))
    assert {type(leaf) for leaf in leaves} == {float}
    json.dumps(leaves)


def test_the_first_observation_is_the_start(pair):
    truth = pair.reset()["pelican-2"].truth
    assert truth.position_world_m.array.tolist() == [0.0, -60.0, 10.0]
    assert truth.euler_world_from_body.yaw_rad == np.pi / 2


def test_time_goes_on_by_a_step(pair):
    pair.reset()
    pair.step()
    pair.step()
    assert pair.observe()["pelican-1"].time_s == 0.04


def test_observing_changes_nothing(pair):
    assert pair.observe() == pair.observe()


def test_a_reset_begins_the_same_flight_again(pair):
    assert flown_by_hand(pair) == flown_by_hand(pair)


def test_another_seed_is_another_flight(pair):
    assert flown_by_hand(pair, seed=1) != flown_by_hand(pair, seed=2)


def test_a_lost_vehicle_is_no_longer_valid():
    simulation = kw.load("keep-spot", {"world.area.z_m": [9.999, 20]})
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
    with pytest.raises(LadderError, match="nothing leads from ThrustRates to AttitudeThrottle"):
        pair.step({"pelican-1": rates})


def test_a_refused_command_leaves_the_flight_as_it_was(pair):
    pair.reset()
    before = pair.observe()
    with pytest.raises(CommandError):
        pair.step({"nobody": kw.ThrustAttitude(25.0, UPRIGHT)})
    assert pair.observe() == before


def test_something_that_is_no_signal_is_refused_with_the_rungs_at_hand(pair):
    pair.reset()
    with pytest.raises(LadderError, match="from list to .*PositionYaw to AttitudeThrottle"):
        pair.step({"pelican-1": [0.0, 0.0, 1.0]})


# running


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
def test_a_duration_that_is_none_is_refused(pair, duration_s):
    with pytest.raises(ScenarioError, match="must be at least one step"):
        pair.run(duration_s=duration_s)


def test_running_leaves_a_flight_by_hand_where_it_is(pair):
    pair.reset()
    pair.step()
    before = pair.observe()
    pair.run(duration_s=0.1)
    assert pair.observe() == before


@pytest.mark.usefixtures("single_precision")
def test_single_precision_flies_nearly_the_same():
    single = kw.load("keep-spot", {"time.duration_s": 1}, precision="float32").run()
    double = kw.load("keep-spot", {"time.duration_s": 1}).run()
    # the draws are other ones in single precision, at 0.2 m/s^2 over a second
    assert np.allclose(single.values("pelican")[:, 1:4], double.values("pelican")[:, 1:4], atol=0.1)
