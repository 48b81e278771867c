"""Randomization of scenario values in each episode."""

import jax
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.randomization import drawn, parts_of
from kittiwake.scenario.scenario import RANDOMIZE
from kittiwake.tasks.randomization import VARIANTS

SCENARIO = """
name: drawn
time: {rate_hz: 50, duration_s: 4}
world:
  area: {x_m: [-50, 50], y_m: [-50, 50], z_m: [0, 50]}
  wind: {type: shear, speed_at_6m_mps: 1, from_deg: 0}
vehicles:
  pelican:
    model: pelican
    start: {position_world_m: [0, 0, 10], yaw_deg: 0}
    controller: qrsim-waypoint
    guidance: {type: hold, position_world_m: [0, 0, 10]}
task: keep-spot
"""
DRAWN = """
randomize:
  world.wind.speed_at_6m_mps: {uniform: [0, 4]}
  vehicles.pelican.parameters.mass_kg: {normal: [1.68, 0.05]}
curriculum:
  vehicles:
    pelican:
      start:
        position_world_m: {uniform: [[-4, -2, 8], [4, 2, 12]]}
        yaw_deg: {choice: [0, 90]}
"""


def written(folder, text):
    path = folder / "drawn.yaml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    return kw.make(written(tmp_path_factory.mktemp("drawn"), SCENARIO + DRAWN), precision="float64")


@pytest.fixture(scope="module")
def fleets(env):
    """Return the fleets of many episodes at difficulty 1, and at difficulty 0."""

    def begun(key, difficulty):
        values = env.randomization.draw(key, difficulty)
        return env.randomization.apply(env.fleet, values)

    with jax.enable_x64(True):
        keys = jax.random.split(kw.seed_key(0), 400)
        many = jax.jit(jax.vmap(begun, (0, None)))
        return many(keys, 1.0), many(keys, 0.0)


def starts(fleet):
    start = fleet.groups[0].vehicle.start
    return np.column_stack(
        [np.ravel(p) for p in (*vars(start.position_world_m).values(), start.yaw_rad)]
    )


@pytest.mark.slow
def test_draws_fill_their_ranges(fleets):
    found = starts(fleets[0])
    assert found[:, :3].min(axis=0) == pytest.approx([-4, -2, 8], abs=0.1)
    assert found[:, :3].max(axis=0) == pytest.approx([4, 2, 12], abs=0.1)
    assert len(np.unique(found[:, 0])) == len(found)
    assert set(np.round(found[:, 3], 12)) == {0.0, round(np.pi / 2, 12)}
    wind = np.ravel(fleets[0].world.wind.speed_at_6m_mps)
    assert wind.mean() == pytest.approx(2.0, abs=0.2)


def test_components_are_drawn_independently(fleets):
    correlation = np.corrcoef(starts(fleets[0])[:, :3].T)
    assert np.abs(correlation - np.eye(3)).max() < 0.15


def test_zero_difficulty_affects_only_the_curriculum(fleets):
    easy = fleets[1]
    np.testing.assert_allclose(starts(easy), np.tile([0, 0, 10, 0], (400, 1)), atol=1e-9)
    assert np.ptp(np.ravel(easy.world.wind.speed_at_6m_mps)) > 3.0


def test_linear_leaves_equal_a_build_with_the_drawn_values(env):
    assert not any(table is not None for table in env.randomization.variants)
    with jax.enable_x64(True):
        values = env.randomization.draw(kw.seed_key(3), 1.0)
        fleet = env.randomization.apply(env.fleet, values)
        mass_kg = float(np.ravel(fleet.groups[0].vehicle.dynamics.mass_kg)[0])
        given = {
            "vehicles.pelican.parameters.mass_kg": mass_kg,
            "world.wind.speed_at_6m_mps": 1,
            "randomize": {},
            "curriculum": {},
        }
        same = kw.load(env.scenario.folder / "drawn.yaml", given).fleet
    one, other = fleet.groups[0].vehicle.dynamics, same.groups[0].vehicle.dynamics
    for mine, theirs in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-9)


ROTOR = "vehicles.crazyflie.parameters.rotor"


@pytest.mark.slow
def test_nonlinear_leaves_come_from_one_build():
    """The mixing depends on torque and maximum speed of the rotors."""
    drawn = {
        f"randomize.{ROTOR}.torque_nms2": {"uniform": [4e-10, 1e-9]},
        f"randomize.{ROTOR}.max_speed_rpm": {"uniform": [18000, 24000]},
    }
    env = kw.make("hover", overrides=drawn, precision="float64")
    kept = [table for table in env.randomization.variants if table is not None]
    assert kept
    assert {len(table) for table in kept} == {VARIANTS}
    with jax.enable_x64(True):
        values = env.randomization.draw(kw.seed_key(3), 0.0)
        fleet = env.randomization.apply(env.fleet, values)
        own = fleet.groups[0].vehicle.dynamics.rotor
        given = {
            f"{ROTOR}.torque_nms2": float(np.ravel(own.torque_nms2)[0]),
            f"{ROTOR}.max_speed_rpm": float(np.ravel(own.max_speed_radps)[0]) * 30 / np.pi,
        }
        same = kw.make("hover", overrides=given, precision="float64").fleet
    for mine, theirs in zip(jax.tree.leaves(fleet), jax.tree.leaves(same), strict=True):
        np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_constant_draws_replace_values_of_the_scenario(tmp_path):
    text = """
randomize:
  vehicles.pelican.start.yaw_deg: {choice: [90]}
  vehicles.pelican.start.position_world_m: {uniform: [[1, 0, 10], [1, 0, 10]]}
  world.wind.speed_at_6m_mps: {normal: [3, 0]}
"""
    env = kw.make(written(tmp_path, SCENARIO + text), precision="float64")
    with jax.enable_x64(True):
        fleet = env.randomization.apply(env.fleet, env.randomization.draw(kw.seed_key(0), 1.0))
    np.testing.assert_allclose(starts(fleet), [[1, 0, 10, np.pi / 2]], atol=1e-9)
    assert np.ravel(fleet.world.wind.speed_at_6m_mps) == pytest.approx([3.0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("randomize: {world.wind.speed_at_6m_mps: {uniform: [4, 0]}}", "lowest, highest"),
        ("randomize: {world.wind.speed_at_6m_mps: {gauss: [4, 0]}}", "no distribution 'gauss'"),
        ("randomize: {world.wind.speed_at_6m_mps: {uniform: [.nan, 1]}}", "must be finite numbers"),
        ("randomize: {world.wind.speed_at_6m_mps: 3}", "must be one distribution"),
        ("randomize: {world.wind.speed: {uniform: [0, 1]}}", "speed"),
        (
            "randomize: {vehicles.pelican.start.position_world_m: {uniform: [0, 1]}}",
            "position_world_m",
        ),
        (
            "randomize: {time.rate_hz: {uniform: [50, 100]}}",
            "has no effect on the world or the vehicles",
        ),
        (
            "randomize: {vehicles.pelican.start.yaw_deg: {uniform: [0, 1]}}\n"
            "curriculum: {vehicles.pelican.start.yaw_deg: {uniform: [0, 1]}}",
            "twice",
        ),
        (
            "randomize: {vehicles.pelican.start.position_world_m: {uniform: [[0, 0], [1, 0]]}, "
            "vehicles.pelican.start.position_world_m.0: {uniform: [5, 6]}}",
            "drawn twice, also as vehicles.pelican.start.position_world_m;",
        ),
        (
            "randomize: {task.rate_hz: {choice: [50, 25]}}",
            "has no effect on the world or the vehicles",
        ),
        (
            "randomize: {time.duration_s: {uniform: [1, 9]}}",
            "has no effect on the world or the vehicles",
        ),
        ("curriculum: {vehicles.pelican.start.roll_deg: {uniform: [0, 1]}}", "write a number"),
    ],
)
def test_invalid_randomization_is_refused(tmp_path, text, expected):
    with pytest.raises(ScenarioError, match=expected):
        kw.make(written(tmp_path, SCENARIO + text))


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (
            "randomize:\n  world.wind.speed: {uniform: [0, 3]}",
            "world.wind.speed",
            "there is no such key.*speed_at_6m_mps",
        ),
        (
            "randomize:\n  vehicles.pelican:\n    parameters: {mass_kg: {uniform: [-1, 2]}}",
            "parameters",
            "-1.0, which can be drawn, is invalid: .*must be above 0",
        ),
        (
            "curriculum:\n  vehicles.pelican.start.position_m: {uniform: [[0, 0, 9], [0, 0, 11]]}",
            "position_m",
            "there is no such key.*Did you mean 'position_world_m'",
        ),
        (
            "randomize:\n  world.wind.from_deg: [0, 360]",
            "from_deg: [",
            r"got \[0, 360\]; must be one distribution",
        ),
    ],
)
def test_errors_name_file_and_line(text, line, expected, tmp_path):
    lines = (SCENARIO + text).splitlines()
    number = max(i for i, own in enumerate(lines, 1) if line in own)
    with pytest.raises(ScenarioError, match=rf"^drawn\.yaml:{number}: {text[:9]}.*{expected}"):
        kw.make(written(tmp_path, SCENARIO + text))


def test_flights_warn_that_a_curriculum_has_no_effect(tmp_path):
    path = written(tmp_path, SCENARIO + DRAWN)
    warnings = load_scenario(str(path)).warnings()
    assert [line.partition(" only to ")[0] for line in warnings] == ["curriculum: applies"]
    with pytest.warns(UserWarning, match="applies only to the episodes of a task"):
        kw.load(path)
    plain = SCENARIO + "randomize: {}\n"
    assert load_scenario(str(written(tmp_path, plain))).warnings() == []


def test_environments_draw_without_a_warning(tmp_path):
    kw.make(written(tmp_path, SCENARIO + DRAWN))  # warnings are errors here


def test_british_spelling_draws_the_same(env, tmp_path):
    american = kw.make(
        written(tmp_path, SCENARIO + DRAWN.replace("randomize", "randomise")), precision="float64"
    )
    assert american.randomization.parts == env.randomization.parts
    scenario = load_scenario(str(tmp_path / "drawn.yaml"))
    assert drawn(scenario, 1).draws.keys() == {part.path for part in parts_of(scenario, RANDOMIZE)}
