"""Creation of environments by the name of a task or of a scenario with a task."""

from os import PathLike, fspath
from types import MappingProxyType
from typing import get_args

from kittiwake.core.arguments import TEXT, ArgumentRule, checked_arguments
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.precision import Precision
from kittiwake.scenario import library
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.document import Override
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.problems import ProblemList
from kittiwake.scenario.scenario import Scenario
from kittiwake.tasks import TASKS
from kittiwake.tasks.env import Env
from kittiwake.tasks.task import AbstractTask, Overrides

KEY = "task"
# tolerance for a whole number of control steps in an episode
WHOLE_TOLERANCE = 1e-6


def _instead(given: object) -> str:
    """Return how the environment of a task or a scenario is written."""
    task = given if isinstance(given, type) else type(given)
    if issubclass(task, AbstractTask) and hasattr(task, "scenario"):
        return f"kw.Env(kw.load('{task.scenario}').scenario, {task.__name__}())"
    return "kw.Env(scenario, task)" if isinstance(given, Scenario) else ""


TASK_OR_ENV = ArgumentRule(
    lambda value: isinstance(value, str | PathLike | Env),
    "the name of a task, the path of a scenario, or a kw.Env",
    _instead,
)


@checked_arguments(task=TASK_OR_ENV, conditions=TEXT)
def make(
    task: str | PathLike[str] | Env,
    *,
    conditions: str | None = None,
    overrides: Overrides = MappingProxyType({}),
    precision: Precision = "float32",
) -> Env:
    """Create the environment of a task.

    Args:
        task: name of a task, such as ``keep-spot``; or a scenario with a ``task``, by the path of
            its YAML file or by its name in the library. A ``kw.Env``, as of a task of one's own,
            is returned as it is.
        conditions: name of the task's changes to the scenario, such as ``noiseless``.
        overrides: values of the scenario by path, such as ``{"vehicles.pelican.start.yaw_deg":
            90}``; the task's own parameters are under ``task``.
        precision: floating-point format of all computations.

    Raises:
        KittiwakeError: for an unknown name or an invalid scenario.
        ValueError: for an unknown precision.
    """
    if precision not in get_args(Precision):
        message = f"precision: got {precision!r}; must be 'float32' or 'float64'"
        raise ValueError(message)
    if isinstance(task, Env):
        if conditions is not None or overrides:
            message = (
                "`task`: got a kw.Env, whose scenario is built already; give conditions and "
                "overrides to kw.load(...) or kw.make(...)"
            )
            raise ScenarioError(message)
        return task
    name = fspath(task)
    known = name in TASKS.entries
    scenario = TASKS.find(name).scenario if known else name
    if not known and not _is_scenario(name):
        message = f"{TASKS.unknown(name)} (Scenario files end in .yaml.)"
        raise ScenarioError(message)
    first = [Override.from_python(f"{KEY}.type", name)] if known else []
    last = [Override.from_python(str(path), value) for path, value in overrides.items()]
    loaded = load_scenario(scenario, [*first, *last])
    if conditions is not None:
        changes = _condition_overrides(task_of(loaded), conditions)
        loaded = load_scenario(scenario, [*first, *changes, *last])
    env = Env(loaded, task_of(loaded), precision)
    _check_numbers(env)
    return env


def task_of(scenario: Scenario) -> AbstractTask:
    """Build the task of a scenario.

    Raises:
        ScenarioError: for a missing or invalid task, with file and line.
    """
    if scenario.document.data.get(KEY) is None:
        message = (
            f"'{scenario.name}' is no task, but a scenario without one. Write a task's name: "
            f"{TASKS.listed_names()}"
        )
        raise ScenarioError(message)
    problems = ProblemList(scenario.document.where)
    builder = ComponentBuilder(scenario.document, scenario.folder, scenario.rate_hz, problems)
    task = builder.component(TASKS, scenario.document.data.get(KEY), (KEY,))
    problems.raise_if_any()
    return task


def _check_numbers(env: Env) -> None:
    """Check that the episode is a whole number of control steps and fits the task."""
    duration_s, rate_hz = env.scenario.duration_s, float(env.task.rate_hz)
    steps = duration_s * rate_hz
    if steps < 0.5 or abs(steps - round(steps)) > WHOLE_TOLERANCE:
        message = (
            f"time.duration_s: got {duration_s:g}, {steps:g} control steps at task.rate_hz "
            f"{rate_hz:g}; must be a whole number of steps, such as "
            f"{max(1, round(steps)) / rate_hz:g}"
        )
        raise ScenarioError(message)
    try:
        env.task.check(env.scenario.world, len(env.agents), env.max_steps)
    except ValueError as error:
        where = env.scenario.document.where
        message = f"{where((KEY,))}: {KEY}: {error}"
        raise ScenarioError(message) from None


def _is_scenario(name: str) -> bool:
    return name.endswith((".yaml", ".yml")) or name in library.names()


def _condition_overrides(task: AbstractTask, conditions: str) -> list[Override]:
    if conditions not in task.conditions:
        known = did_you_mean(conditions, list(task.conditions))
        name = TASKS.registered_name(type(task)) or type(task).__name__
        message = f"{name} has no conditions '{conditions}'. {known}"
        raise ScenarioError(message)
    return [
        Override.from_python(path, value) for path, value in task.conditions[conditions].items()
    ]
