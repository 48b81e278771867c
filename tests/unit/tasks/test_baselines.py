"""Whoever knows a little of a task does better than who acts at random."""

import pytest
from tests.unit.tasks import scenes

from kittiwake.tasks.make import make

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("single_precision")]

# so much of an episode as shows it, in s
TASKS = {
    "keep-spot": 5,
    "keep-spot-10": 5,
    "goto-waypoint": 40,
    "keep-velocity": 5,
    "cats-mouse": 60,
    "search-rescue": 200,
    "search-rescue-3": 100,
    "plume-gaussian": 60,
    "plume-team": 60,
    "plume-puff": 100,
    "holding-pattern": 40,
}


@pytest.mark.parametrize("task", TASKS)
def test_the_baseline_does_better_than_chance(task):
    env = make(task, overrides={"time.duration_s": TASKS[task]})
    flights = scenes.Flights(env)
    assert flights.returns("baseline", 4).mean() > flights.returns("random", 4).mean()
