"""Flocks in the loop: they come to their target, keep apart, and obey."""

import numpy as np
import pytest
import yaml

import kittiwake as kw
from kittiwake.core.errors import CommandError, ScenarioError

# in the air feet change nothing but the time to compile
FOOTLESS = {"vehicles.drone.parameters": {"landing_gear": None}}


def flown(scenario, duration_s=None, seed=0, **overrides):
    """The log of a flight, the places by time and vehicle, and the smallest distance."""
    log = kw.load(scenario, overrides=overrides).run(duration_s, seed=seed)
    places = [log.frame(name)[["x_m", "y_m", "z_m"]].to_numpy() for name in log.names]
    return log, np.stack(places, axis=1)


@pytest.mark.slow
def test_flock_of_eight_moves_its_center_to_the_target_and_stays():
    log, places = flown("flock-8", **FOOTLESS)
    assert log.summary["status"] == "completed"
    middle = places.mean(axis=1)
    late = middle[log.frame("drone-1")["time_s"].to_numpy() > 20.0]
    assert np.linalg.norm(late - [5.0, 5.0, 5.0], axis=1).max() < 0.2
    assert log.summary["min_separation_m"] > 1.4
    radius = np.linalg.norm(places[-1] - middle[-1], axis=1)
    assert radius.max() < 8.0
    assert radius.min() > 1.0


def written(folder, vehicles, **world):
    """A scenario file of these vehicles in the air of flock-8."""
    data = dict(kw.load("flock-8").scenario.document.data) | {"vehicles": vehicles}
    file = folder / "flock.yaml"
    file.write_text(yaml.safe_dump(data | ({"world": world} if world else {}), sort_keys=False))
    return str(file)


@pytest.mark.slow  # two programs
def test_flock_is_independent_of_the_names_of_its_members(tmp_path):
    _, places = flown("flock-8", 3.0, **{"vehicles.drone.model": "crazyflie"})
    given = dict(kw.load("flock-8").scenario.document.data["vehicles"]["drone"])
    for key in ("count", "grid", "spacing_m"):
        given.pop(key)
    given["model"] = "crazyflie"
    names = [f"gull-{letter}" for letter in "zyxwvuts"]
    vehicles = {
        name: given | {"start": {"position_world_m": [float(x) for x in place]}}
        for name, place in zip(names, places[0], strict=True)
    }
    _, renamed = flown(written(tmp_path, vehicles), 3.0)
    np.testing.assert_allclose(renamed[-1], places[-1], atol=1e-6)


@pytest.mark.slow
def test_teams_go_to_their_own_targets_and_keep_clear_of_each_other(tmp_path):
    def team(name, start, target):
        return {
            "model": "crazyflie",
            "parameters": {"landing_gear": None},
            "count": 3,
            "team": name,
            "start": {"position_world_m": start},
            "spacing_m": [0.0, 1.5, 0.0],
            "controller": ["velocity", "acceleration", "attitude", "mixer"],
            "guidance": {
                "type": "flock",
                "behaviors": [
                    {"type": "separation", "distance_m": 2.0},
                    {"type": "informed-avoid", "clearance_m": 1.0},
                    "cohesion",
                    {"type": "targeting", "target_world_m": target},
                ],
            },
        }

    vehicles = {
        "red": team("red", [-6, 0, 5], [6, 1.5, 5]),
        "blue": team("blue", [6, 0, 5], [-6, 1.5, 5]),
    }
    log, places = flown(written(tmp_path, vehicles, collision_distance_m=0.2), 25.0)
    assert log.summary["status"] == "completed"
    of_team = {team: places[-1, [n.startswith(team) for n in log.names]] for team in vehicles}
    np.testing.assert_allclose(of_team["red"].mean(axis=0), [6, 1.5, 5], atol=0.3)
    np.testing.assert_allclose(of_team["blue"].mean(axis=0), [-6, 1.5, 5], atol=0.3)


@pytest.mark.slow
def test_behaviors_are_switched_in_flight():
    sim = kw.load("flock-8", overrides=FOOTLESS)
    sim.reset(seed=0)

    def middle_after(steps):
        for _ in range(steps):
            sim.step()
        truths = [seen.truth.position_world_m.array for seen in sim.observe().values()]
        return np.mean(np.asarray(truths), axis=0)

    middle_after(500)
    for name in sim.names:
        sim.set_active_behaviors(name, ["separation", "cohesion"])
    left = middle_after(500)
    np.testing.assert_allclose(middle_after(500), left, atol=0.1)
    assert np.linalg.norm(left - [5.0, 5.0, 5.0]) > 1.0
    for name in sim.names:
        sim.set_active_behaviors(name, ["separation", "cohesion", "targeting"])
    assert np.linalg.norm(middle_after(4000) - [5.0, 5.0, 5.0]) < 0.2
    with pytest.raises(CommandError, match="no behavior 'cohesoin'"):
        sim.set_active_behaviors("drone-1", ["cohesoin"])


@pytest.mark.slow
def test_formations_are_assumed_in_sequence():
    log, places = flown("formation-change", **FOOTLESS)
    assert log.summary["status"] == "completed"
    time_s = log.frame("drone-1")["time_s"].to_numpy()

    def apart(at_s):
        """Distances along the numbers of the members, by time just before ``at_s``."""
        here = places[np.searchsorted(time_s, at_s) - 2]
        return np.linalg.norm(np.roll(here, -1, axis=0) - here, axis=1), here

    around, circle = apart(40.0)
    np.testing.assert_allclose(around, 3.0, atol=0.2)
    along, line = apart(60.0)
    np.testing.assert_allclose(along[:-1], 3.0, atol=0.2)
    np.testing.assert_allclose(line.mean(axis=0), [20.0, 0.0, 5.0], atol=0.3)
    np.testing.assert_allclose(circle.mean(axis=0), [10.0, 0.0, 5.0], atol=0.3)
    wedge = apart(20.0)[1]
    np.testing.assert_allclose(wedge[0] - wedge[1], [3.0 * 0.5**0.5, -3.0 * 0.5**0.5, 0], atol=0.3)


@pytest.mark.slow  # half a minute of flight
def test_swarm_follows_its_leader_through_the_hallways():
    log, places = flown("swarm-through-hallway")
    assert log.summary["status"] == "completed"
    assert log.summary["min_separation_m"] > 0.3
    beside = log.summary["metrics"]["obstacles"]
    assert min(one["least_clearance_m"] for one in beside.values()) > 0.2
    assert (places[-1, :, 0] > 10.0).all()


@pytest.mark.slow  # three flights
def test_flock_gathers_with_a_lossy_radio():
    radio = {"type": "lossy", "loss": 0.3, "fade_distance_m": 20.0, "latency_s": 0.12}
    sim = kw.load("flock-8", overrides={"world.radio": radio})
    log, again, other = (sim.run(seed=seed) for seed in (0, 0, 1))
    assert log.summary["status"] == "completed"

    def places(flight):
        vehicles = flight.summary["vehicles"].values()
        return np.array([vehicle["final_position_m"] for vehicle in vehicles])

    np.testing.assert_allclose(places(log).mean(axis=0), [5.0, 5.0, 5.0], atol=0.3)
    # what is lost is the same for the same seed, and for no other
    np.testing.assert_array_equal(places(again), places(log))
    assert np.abs(places(other) - places(log)).max() > 1e-3


def test_vehicles_out_of_range_have_no_neighbors():
    alone = {"world.radio": {"type": "ideal", "range_m": 0.5}, **FOOTLESS}
    _, places = flown("flock-8", 20.0, **{**alone, "world.collision_distance_m": 0.01})
    # each believes to be the whole flock, and goes to the target itself
    assert np.linalg.norm(places[-1] - [5.0, 5.0, 5.0], axis=1).max() < 1.5


@pytest.mark.slow
def test_a_thousand_gather_without_touching():
    log, places = flown("flock-1000")
    assert log.summary["status"] == "completed"
    assert log.summary["min_separation_m"] > 0.5
    assert abs(places[-1].mean(axis=0)[2] - 40.0) < abs(places[0].mean(axis=0)[2] - 40.0)


@pytest.mark.slow
def test_fifty_flocks_in_wind_by_satellites_do_not_collide():
    sim = kw.load("flock-8-wind")
    least, middles = [], []
    for seed in range(50):
        log = sim.run(seed=seed)
        assert log.summary["status"] == "completed", seed
        least.append(log.summary["min_separation_m"])
        finals = [one["final_position_m"] for one in log.summary["vehicles"].values()]
        middles.append(np.mean(finals, axis=0))
    assert min(least) > 1.0
    # velocities are held without an integral, so that the flock stays a meter down the wind
    off_m = np.mean(middles, axis=0) - [5.0, 5.0, 5.0]
    down_wind = -np.array([np.sin(np.radians(250.0)), np.cos(np.radians(250.0)), 0.0])
    assert 0.5 < off_m @ down_wind < 1.5
    assert np.linalg.norm(off_m - (off_m @ down_wind) * down_wind) < 0.3


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"vehicles.drone.leader": "nobody"}, "there is no vehicle 'nobody'"),
        ({"vehicles.drone.leader": "drone-1"}, "drone-1 would follow itself"),
        ({"vehicles.drone.leader": "drone"}, "drone would follow itself"),
        (
            {"vehicles.drone.guidance": {"type": "flock", "behaviors": ["follow-leader"]}},
            "leader: is missing; write the name of the vehicle to follow",
        ),
        (
            {"world.radio": {"type": "lossy", "memory_s": 60}},
            "got 1500 messages; must be 256 at most",
        ),
        ({"world.radio": "wireless"}, "there is no radio 'wireless'"),
        ({"vehicles.drone.guidance": {"type": "flock"}}, "behaviors"),
        (
            {"vehicles.drone.guidance": {"type": "flock", "behaviors": ["cohesoin"]}},
            "there is no behavior 'cohesoin'",
        ),
        ({"vehicles.drone.grid": [0, 2]}, "grid"),
    ],
    ids=[
        "no leader",
        "itself",
        "own entry",
        "missing",
        "memory",
        "no radio",
        "no behaviors",
        "misspelt",
        "grid",
    ],
)
def test_invalid_flocks_are_refused(overrides, message):
    with pytest.raises(ScenarioError, match=message):
        kw.load("flock-8", overrides=overrides)
