"""Values that flights draw from their seed under ``randomize``."""

import jax
import numpy as np
import pytest
from scipy.stats import kstest, norm

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.distributions import DEVIATIONS, Distribution
from kittiwake.scenario.randomization import check_draws, drawn

PELICAN = "vehicles.pelican"
SPEED, MASS = "world.wind.speed_at_6m_mps", f"{PELICAN}.parameters.mass_kg"
START = f"{PELICAN}.start.position_world_m"
DRAWN = {
    "world.wind": {"type": "shear", "speed_at_6m_mps": 1, "from_deg": 0},
    "randomize": {
        SPEED: {"uniform": [0, 3]},
        MASS: {"normal": [1.68, 0.05]},
        START: {"uniform": [[-5, -5, 8], [5, 5, 12]]},
    },
}
STEPS = 40


def scenario(**others):
    return kw.Scenario.load("hover-pelican", {**DRAWN, **others})


@pytest.fixture(scope="module")
def simulation():
    return kw.load("hover-pelican", DRAWN)


def flown(simulation, seed, steps=STEPS):
    return simulation.run(seed=seed, duration_s=(steps - 1) * simulation.dt_s)


@pytest.mark.slow
def test_draws_follow_their_distributions():
    own = scenario()
    draws = [drawn(own, seed).draws for seed in range(300)]
    speeds, masses = ([one[path] for one in draws] for path in (SPEED, MASS))
    assert kstest(speeds, "uniform", (0.0, 3.0)).pvalue > 0.01
    assert kstest(masses, norm(1.68, 0.05).cdf).pvalue > 0.01
    places = np.array([one[START] for one in draws])
    assert kstest(places[:, 2], "uniform", (8.0, 4.0)).pvalue > 0.01
    together = np.corrcoef([speeds, masses, *places.T])
    assert np.abs(together - np.eye(5)).max() < 0.2


@pytest.mark.parametrize(
    "distribution",
    [
        Distribution("uniform", (1.0, 3.0)),
        Distribution("log_uniform", (0.1, 10.0)),
        Distribution("normal", (2.0, 0.5)),
        Distribution("choice", (1.0, 5.0, 2.0)),
    ],
    ids=lambda one: one.name,
)
def test_numbers_are_those_that_environments_draw(distribution):
    units = [0.0, 1e-9, 0.3, 0.5, 0.8, 1.0 - 1e-9]
    found = [distribution.drawn(unit) for unit in units]
    with jax.enable_x64(True):
        expected = [float(distribution.quantile(unit)) for unit in units]
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    if distribution.name == "normal":
        np.testing.assert_allclose(found[0], 2.0 - 0.5 * DEVIATIONS, rtol=1e-6)


def test_a_choice_of_whole_numbers_draws_whole_numbers():
    waves = {"type": "jonswap", "sea_state": 1, "towards_deg": 90, "spreading": 5}
    seas = {"world.waves": waves, "randomize": {"world.waves.sea_state": {"choice": [1, 2]}}}
    own = kw.Scenario.load("deck-landing", seas)
    check_draws(own)
    drawn_seas = [drawn(own, seed).draws["world.waves.sea_state"] for seed in range(12)]
    assert {*drawn_seas} == {1, 2}
    assert all(isinstance(sea_state, int) for sea_state in drawn_seas)


def test_another_randomized_number_changes_no_other_draw():
    fewer = scenario(randomize={SPEED: {"uniform": [0, 3]}})
    assert drawn(fewer, 5).draws[SPEED] == drawn(scenario(), 5).draws[SPEED]


def test_run_steps_and_batch_draw_the_same_and_the_scenario_of_a_log_flies_it_again(simulation):
    log = flown(simulation, 3)
    other = flown(simulation, 4)
    assert log.summary["drawn"] != other.summary["drawn"]
    assert log.values("pelican")[0, 3] == log.summary["drawn"][START][2]
    simulation.reset(seed=3)
    for _ in range(STEPS - 1):
        simulation.step()
    stepped = simulation.log()
    assert stepped.summary["drawn"] == log.summary["drawn"]
    np.testing.assert_array_equal(stepped.values("pelican"), log.values("pelican"))
    worlds = simulation.batch(3, seed=2).record(STEPS)["pelican"]
    np.testing.assert_array_equal(worlds["x_m"][1], log.values("pelican")[:, 1])
    again = kw.load(log.scenario)
    assert "drawn" not in flown(again, 3).summary
    np.testing.assert_array_equal(flown(again, 3).values("pelican"), log.values("pelican"))


def test_gains_that_change_in_flight_keep_what_was_drawn(simulation):
    simulation.reset(seed=3)
    before = simulation.flown.draws
    simulation.set_gains("pelican", "position", natural_frequency_radps=2.0)
    assert simulation.flown.draws == before
    simulation.add_vehicle("other", {"model": "pelican", "start": {"position_world_m": [9, 9, 9]}})
    assert simulation.flown.draws == before
    simulation.remove_vehicle("other")
    simulation.reset(seed=4)
    assert simulation.flown.draws != before


@pytest.mark.slow
def test_a_comparison_draws_the_same_for_each_controller():
    given = {**DRAWN, "time.duration_s": 0.4}
    trials = kw.compare("goto-waypoint", ["qrsim-waypoint", "position"], seeds=2, overrides=given)
    starts = {(one.controllers, one.seed): tuple(one.table.values[0, 1:4]) for one in trials}
    assert len({*starts.values()}) == 2
    for seed in {seed for _, seed in starts}:
        assert starts["qrsim-waypoint", seed] == starts["position", seed]


@pytest.mark.parametrize(
    ("randomize", "message"),
    [
        ({SPEED: {"uniform": [3, 0]}}, "uniform: got \\[3, 0\\]"),
        ({SPEED: {"gaussian": [3, 0]}}, "there is no distribution 'gaussian'"),
        ({"time.rate_hz": {"uniform": [10, 20]}}, "has no effect on the world or the vehicles"),
        ({SPEED: {"uniform": [0, 3]}, "world.wind": {"uniform": [0, 1]}}, "is drawn twice"),
    ],
)
def test_wrong_distributions_are_refused_when_loaded(randomize, message):
    with pytest.raises(ScenarioError, match=message):
        kw.load("hover-pelican", {**DRAWN, "randomize": randomize})


def test_values_that_cannot_be_flown_are_named_with_their_seed():
    wrong = kw.load("hover-pelican", {**DRAWN, "randomize": {MASS: {"uniform": [-2, -1]}}})
    with pytest.raises(ScenarioError, match=rf"seed 7 draws {MASS} = -1\..*must be above 0"):
        wrong.run(0.1, seed=7)


def test_a_check_finds_the_value_that_only_some_seeds_draw():
    wrong = scenario(randomize={MASS: {"uniform": [-0.01, 2.0]}})
    with pytest.raises(ScenarioError, match=rf"a seed can draw {MASS} = -0.01.*must be above 0"):
        check_draws(wrong)
    check_draws(scenario())


@pytest.mark.slow
def test_worlds_whose_structure_differs_are_no_batch():
    flow = {"world.current": {"type": "uniform", "speed_mps": 0.2, "towards_deg": 20}}
    sometimes = {"world.current.speed_mps": {"choice": [0, 0.2]}}
    simulation = kw.load("cruise-strider", {**flow, "randomize": sometimes})
    flown(simulation, 1)
    with pytest.raises(ScenarioError, match="cannot fly in one batch"):
        simulation.batch(12)
