"""QRSim's tasks have its parameters: areas, rates, lengths, winds, agents, penalties."""

from functools import cache
from typing import Any, NamedTuple

import pytest
from tests.selection import slow_besides

from kittiwake.environment.turbulence import DrydenFirstOrder, NoTurbulence
from kittiwake.environment.wind import Calm
from kittiwake.tasks.make import make

made = cache(make)


class Original(NamedTuple):
    """Parameters of the original, in its own axes: north, east, and up."""

    agents: int
    north_m: tuple[float, float]
    east_m: tuple[float, float]
    up_m: float
    rate_hz: float
    steps: int
    wind_mps: float = 0.0
    gusts: bool = True
    noise: bool = True
    task: dict[str, Any] = {}  # noqa: RUF012  never changed


SPOT = ((-10, 20), (-10, 10), 20, 50)
WIDE = ((-140, 140), (-140, 140))
PLUME = (*WIDE, 80, 1, 1000)
REFERENCES, PUFFS = {"locations": 100, "window": 0}, {"locations": 100, "window": 100}
ALONE, TOGETHER = 122.474, 212.132  # sqrt(200 * 25 * 3 * n)
ORIGINALS = {
    "keep-spot": Original(1, *SPOT, 3000, gusts=False),
    "keep-spot-without-reward": Original(1, *SPOT, 3000, gusts=False),
    "keep-spot-10": Original(10, (-120, 120), (-10, 10), 40, 50, 3000, gusts=False),
    "goto-waypoint": Original(1, (-70, 70), (-70, 70), 50, 50, 3000, gusts=False),
    "complacs": Original(
        1, (-15, 80), (-15, 15), 20, 50, 30000, gusts=False, task={"within_m": 0.4}
    ),
    "keep-velocity": Original(1, *SPOT, 750, wind_mps=2.5, gusts=False),
    "cats-mouse": Original(
        3,
        *WIDE,
        40,
        1,
        1000,
        gusts=False,
        task={"apart_m": 22, "from_mouse_m": (14, 20), "mouse_speed_mps": 3, "caught_within_m": 4},
    ),
    "search-rescue": Original(
        1,
        (-ALONE, ALONE),
        (-ALONE, ALONE),
        80,
        1,
        200,
        gusts=False,
        task={"within_m": 5, "slower_than_mps": 0.1, "cost_of_a_step": 1 / 200},
    ),
    "search-rescue-3": Original(
        3,
        (-TOGETHER, TOGETHER),
        (-TOGETHER, TOGETHER),
        80,
        1,
        200,
        gusts=False,
        task={"within_m": 5, "slower_than_mps": 0.1, "cost_of_a_step": 1 / 200},
    ),
    "plume-gaussian": Original(1, *PLUME, gusts=False, task=REFERENCES),
    "plume-dispersion": Original(1, *PLUME, wind_mps=3, task=REFERENCES),
    "plume-multi-source": Original(1, *PLUME, wind_mps=2, task=REFERENCES),
    "plume-team": Original(3, *PLUME, wind_mps=3, task=REFERENCES),
    "plume-puff": Original(1, *PLUME, wind_mps=1, task={"locations": 25, "window": 100}),
    "plume-multi-puff": Original(1, *PLUME, wind_mps=3, task=PUFFS),
    "plume-team-puff": Original(3, *PLUME, wind_mps=3, task=PUFFS),
    "holding-pattern": Original(
        3,
        *WIDE,
        40,
        1,
        1000,
        gusts=False,
        noise=False,
        task={"within_m": 70, "far_m": 60, "slow_mps": 2, "fast_mps": 3, "closeness_m": 0.0025},
    ),
}
# one of each kind
QUICK = ("keep-spot-10", "goto-waypoint", "cats-mouse", "search-rescue-3", "plume-team-puff")
WIND_IN = {"cats-mouse": 1, "search-rescue": 2, "search-rescue-3": 2}
BY_STICKS = [
    "keep-spot",
    "keep-spot-without-reward",
    "keep-spot-10",
    "goto-waypoint",
    "complacs",
    "keep-velocity",
]
SOURCES = {
    "plume-dispersion": (1, 1),
    "plume-multi-source": (1, 5),
    "plume-team": (1, 5),
    "plume-puff": (1, 1),
    "plume-multi-puff": (1, 4),
    "plume-team-puff": (1, 4),
}


def test_the_pelican_of_complacs_turns_no_faster_than_two_radians_per_second():
    (pelican,) = made("complacs").vehicles
    (other,) = made("keep-spot").vehicles
    assert (pelican.dynamics.max_rate_radps, other.dynamics.max_rate_radps) == (2.0, 3.0)


def gusts_of(env):
    """Return the gusts, which are the same in all groups."""
    return env.fleet.groups[0].vehicle.turbulence.component


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_besides(QUICK, ORIGINALS))
def test_tasks_have_the_parameters_of_the_original(name):
    env, original = made(name), ORIGINALS[name]
    world, task = env.fleet.world, env.task
    assert len(env.agents) == original.agents
    assert (world.area.y_m, world.area.x_m) == (original.north_m, original.east_m)
    assert world.area.z_m == (0, original.up_m)
    assert (task.rate_hz, env.max_steps, env.fleet.rate_hz) == (
        original.rate_hz,
        original.steps,
        50,
    )
    assert getattr(world.wind, "speed_at_6m_mps", 0.0) == original.wind_mps
    wanted = DrydenFirstOrder if original.gusts else NoTurbulence
    assert type(gusts_of(env)) is wanted
    assert getattr(gusts_of(env), "speed_at_6m_mps", 2.0) == 2.0
    assert task.lost_reward == -1000.0
    assert {key: getattr(task, key) for key in original.task} == pytest.approx(original.task)
    if len(env.fleet.names) > 1:
        assert world.collision_distance_m == 2.0
    noises = [vehicle.dynamics.linear_noise_mps2 for vehicle in env.vehicles]
    assert all((noise > 0) == original.noise for noise in noises)


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_besides(QUICK, ORIGINALS))
def test_noiseless_conditions_remove_gusts_and_noise(name):
    env = made(name, conditions="noiseless")
    assert isinstance(gusts_of(env), NoTurbulence)
    for vehicle in env.vehicles:
        assert vehicle.dynamics.linear_noise_mps2 == vehicle.dynamics.angular_noise_radps2 == 0
        assert vehicle.estimator.component.__class__.__name__ == "Truth"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "wind_mps"), WIND_IN.items())
def test_windy_conditions_include_gusts(name, wind_mps):
    calm, windy = made(name), made(name, conditions="windy")
    assert isinstance(calm.fleet.world.wind, Calm)
    assert windy.fleet.world.wind.speed_at_6m_mps == wind_mps
    assert gusts_of(windy) == DrydenFirstOrder(2.0)


@pytest.mark.parametrize("name", BY_STICKS)
def test_gusty_conditions_have_the_gusts_of_the_original(name):
    assert gusts_of(made(name, conditions="gusty")) == DrydenFirstOrder(2.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_plumes_have_the_original_number_of_sources(name):
    plume = made(name).fleet.world.processes["plumes.smoke"].component
    assert plume.kind.sources.number == SOURCES[name]
    puffs = name.endswith("puff")
    amounts = plume.kind.amount_range if puffs else plume.kind.emission_range_per_s
    assert amounts == (0.1, 2.5)


@pytest.mark.parametrize("name", ["search-rescue", "search-rescue-3"])
def test_search_tasks_have_the_original_terrain_and_starts(name):
    kind = made(name).fleet.world.processes["terrain"].component.kind
    assert (kind.clutter, kind.occlusion, kind.persons) == (0.2, 0.05, (5, 10))
    for given, height_m in (({}, 25), ({"conditions": "noiseless"}, 45)):
        start = made(name, **given).vehicles[0].start
        assert start.position_world_m.z == height_m
