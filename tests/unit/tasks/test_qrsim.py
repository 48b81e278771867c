"""QRSim's tasks have its numbers: areas, rates, lengths, winds, who takes part, penalties."""

from functools import cache
from typing import Any, NamedTuple

import pytest

from kittiwake.environment.turbulence import DrydenFirstOrder, NoTurbulence
from kittiwake.environment.wind import Calm
from kittiwake.tasks.make import make

made = cache(make)


class Said(NamedTuple):
    """What the original says, in its own axes: north, east, and up."""

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
SAID = {
    "keep-spot": Said(1, *SPOT, 3000, gusts=False),
    "keep-spot-without-reward": Said(1, *SPOT, 3000, gusts=False),
    "keep-spot-10": Said(10, (-120, 120), (-10, 10), 40, 50, 3000, gusts=False),
    "goto-waypoint": Said(1, (-70, 70), (-70, 70), 50, 50, 3000, gusts=False),
    "complacs": Said(
        *(1, (-15, 80), (-15, 15), 20, 50, 30000), gusts=False, task={"within_m": 0.4}
    ),
    "keep-velocity": Said(1, *SPOT, 750, wind_mps=2.5, gusts=False),
    "cats-mouse": Said(
        *(3, *WIDE, 40, 1, 1000),
        gusts=False,
        task={"apart_m": 22, "from_mouse_m": (14, 20), "mouse_speed_mps": 3, "caught_within_m": 4},
    ),
    "search-rescue": Said(
        *(1, (-ALONE, ALONE), (-ALONE, ALONE), 80, 1, 200),
        gusts=False,
        task={"within_m": 5, "slower_than_mps": 0.1, "cost_of_a_step": 1 / 200},
    ),
    "search-rescue-3": Said(
        *(3, (-TOGETHER, TOGETHER), (-TOGETHER, TOGETHER), 80, 1, 200),
        gusts=False,
        task={"within_m": 5, "slower_than_mps": 0.1, "cost_of_a_step": 1 / 200},
    ),
    "plume-gaussian": Said(1, *PLUME, gusts=False, task=REFERENCES),
    "plume-dispersion": Said(1, *PLUME, wind_mps=3, task=REFERENCES),
    "plume-multi-source": Said(1, *PLUME, wind_mps=2, task=REFERENCES),
    "plume-team": Said(3, *PLUME, wind_mps=3, task=REFERENCES),
    "plume-puff": Said(1, *PLUME, wind_mps=1, task={"locations": 25, "window": 100}),
    "plume-multi-puff": Said(1, *PLUME, wind_mps=3, task=PUFFS),
    "plume-team-puff": Said(3, *PLUME, wind_mps=3, task=PUFFS),
    "holding-pattern": Said(
        *(3, *WIDE, 40, 1, 1000),
        gusts=False,
        noise=False,
        task={"within_m": 70, "far_m": 60, "slow_mps": 2, "fast_mps": 3, "closeness_m": 0.0025},
    ),
}
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
    """In all groups, which have the same."""
    return env.fleet.groups[0].vehicle.turbulence.component


@pytest.mark.parametrize("name", SAID)
def test_a_task_has_the_numbers_of_the_original(name):
    env, said = made(name), SAID[name]
    world, task = env.fleet.world, env.task
    assert len(env.agents) == said.agents
    assert (world.area.y_m, world.area.x_m) == (said.north_m, said.east_m)
    assert world.area.z_m == (0, said.up_m)
    assert (task.rate_hz, env.max_steps, env.fleet.rate_hz) == (said.rate_hz, said.steps, 50)
    assert getattr(world.wind, "speed_at_6m_mps", 0.0) == said.wind_mps
    wanted = DrydenFirstOrder if said.gusts else NoTurbulence
    assert type(gusts_of(env)) is wanted
    assert getattr(gusts_of(env), "speed_at_6m_mps", 2.0) == 2.0
    assert task.lost_reward == -1000.0
    assert {key: getattr(task, key) for key in said.task} == pytest.approx(said.task)
    if len(env.fleet.names) > 1:
        assert world.collision_distance_m == 2.0
    noises = [vehicle.dynamics.linear_noise_mps2 for vehicle in env.vehicles]
    assert all((noise > 0) == said.noise for noise in noises)


@pytest.mark.parametrize("name", SAID)
def test_without_noise_nothing_is_shaken_or_misread(name):
    env = made(name, conditions="noiseless")
    assert isinstance(gusts_of(env), NoTurbulence)
    for vehicle in env.vehicles:
        assert vehicle.dynamics.linear_noise_mps2 == vehicle.dynamics.angular_noise_radps2 == 0
        assert vehicle.estimator.component.__class__.__name__ == "Truth"


@pytest.mark.parametrize(("name", "wind_mps"), WIND_IN.items())
def test_in_wind_there_are_gusts_too(name, wind_mps):
    calm, windy = made(name), made(name, conditions="windy")
    assert isinstance(calm.fleet.world.wind, Calm)
    assert windy.fleet.world.wind.speed_at_6m_mps == wind_mps
    assert gusts_of(windy) == DrydenFirstOrder(2.0)


@pytest.mark.parametrize("name", BY_STICKS)
def test_sticks_are_moved_in_gusts_where_asked(name):
    assert gusts_of(made(name, conditions="gusty")) == DrydenFirstOrder(2.0)


@pytest.mark.parametrize("name", SOURCES)
def test_a_plume_has_as_many_sources(name):
    plume = made(name).fleet.world.processes["plumes.smoke"].component
    assert plume.kind.sources.number == SOURCES[name]
    puffs = name.endswith("puff")
    amounts = plume.kind.amount_range if puffs else plume.kind.emission_range_per_s
    assert amounts == (0.1, 2.5)


@pytest.mark.parametrize("name", ["search-rescue", "search-rescue-3"])
def test_persons_are_searched_on_the_original_ground(name):
    kind = made(name).fleet.world.processes["terrain"].component.kind
    assert (kind.clutter, kind.occlusion, kind.persons) == (0.2, 0.05, (5, 10))
    for given, height_m in (({}, 25), ({"conditions": "noiseless"}, 45)):
        start = made(name, **given).vehicles[0].start
        assert start.position_world_m.z == height_m
