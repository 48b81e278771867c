"""The built-in policy of every task is better than hovering and than random actions.

Ten seeds each, in the task's own wind and noise; QRSim's spots are kept in its gusts, without which
level sticks suffice. All policies fly the same episodes, so that returns are compared in pairs: the
95 % interval of the mean difference is above zero, or all ten differences are, where exponential
penalties make means meaningless. Bounds on a policy's results are at least half of the measured
values.
"""

from functools import cache

import numpy as np
import pytest

from kittiwake.tasks import TASKS
from kittiwake.tasks.evaluation import Interval, evaluate, metrics, policies
from kittiwake.tasks.make import make

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("single_precision")]

# tasks without a reward, with the metric that is compared instead
WITHOUT_REWARD = {"keep-spot-without-reward": "distance_m", "complacs": "waypoints_reached"}
LESS_IS_BETTER = {"distance_m"}
OWN_WIND = {name: "gusty" for name in ("keep-spot", "keep-spot-10", "keep-spot-without-reward")}
CASES = [(name, OWN_WIND.get(name)) for name in TASKS.names()] + [("land-on-deck", "heaving-deck")]
IDS = [name if conditions is None else f"{name}-{conditions}" for name, conditions in CASES]
# tasks whose episodes end early when they are done
DONE_EARLY = {"land-on-deck", "hallway", "obstacle-race", "survey-coverage"}


@cache
def flown(name, conditions):
    env = make(name, conditions=conditions)
    return env, evaluate(env, policies(env))


@pytest.mark.parametrize(("name", "conditions"), CASES, ids=IDS)
def test_built_in_policy_beats_hovering_and_random_actions(name, conditions):
    env, found = flown(name, conditions)
    metric = WITHOUT_REWARD.get(name, "")
    scores = {
        name: metrics(env, own)[metric] if metric else own.returns for name, own in found.items()
    }
    for other in ("hovering", "random"):
        differences = np.float64(scores["built-in"]) - scores[other]
        if metric in LESS_IS_BETTER:
            differences = -differences
        better = Interval.of(differences)
        assert better.mean - better.half_width > 0.0 or (differences > 0.0).all()


@pytest.mark.parametrize("name", [name for name in TASKS.names() if name not in DONE_EARLY])
def test_built_in_policy_loses_no_vehicle(name):
    assert not flown(name, None)[1]["built-in"].ended_early.any()


@pytest.mark.parametrize("name", ["search-rescue", "search-rescue-3"])
def test_searchers_find_a_person_in_most_episodes(name):
    env, found = flown(name, None)
    persons = metrics(env, found["built-in"])["persons_found"]
    assert (persons >= 1).mean() >= 0.6
    assert not metrics(env, found["hovering"])["persons_found"].any()


@pytest.mark.parametrize("name", [name for name in TASKS.names() if name.startswith("plume-")])
def test_plume_reports_have_less_than_half_the_error_of_hovering(name):
    _, found = flown(name, None)
    assert found["built-in"].returns.mean() > 0.5 * found["hovering"].returns.mean()


def test_built_in_policy_reaches_all_waypoints_of_complacs():
    env, found = flown("complacs", None)
    assert (metrics(env, found["built-in"])["waypoints_reached"] == 34).all()


def test_most_episodes_on_a_heaving_deck_end_with_a_landing():
    _, found = flown("land-on-deck", "heaving-deck")
    landed = found["built-in"].ended_early & (found["built-in"].returns > 5.0)
    assert landed.mean() >= 0.8
