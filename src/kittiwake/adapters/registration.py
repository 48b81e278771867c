"""Registration of the tasks with Gymnasium and PettingZoo, without loading any of them."""

import sys

from kittiwake.core.extras import import_optional
from kittiwake.tasks import TASKS

NAMESPACE = "kittiwake"
GYMNASIUM, PETTINGZOO = "gymnasium", "pettingzoo"


def environment_id(task: str) -> str:
    """Return the identifier of a task in Gymnasium."""
    return f"{NAMESPACE}/{''.join(word.capitalize() for word in task.split('-'))}-v0"


def register_envs() -> None:
    """Register every task with those of Gymnasium and PettingZoo that are imported.

    The identifiers are ``kittiwake/NAME-v0``. Calling this again does nothing. If neither library
    is imported yet, Gymnasium is.

    Raises:
        MissingExtraError: if Gymnasium is not installed.
    """
    if not {GYMNASIUM, PETTINGZOO} & sys.modules.keys():
        import_optional(GYMNASIUM, "learning")
    if GYMNASIUM in sys.modules:
        _register_with_gymnasium()
    if PETTINGZOO in sys.modules:
        _register_with_pettingzoo()


def _register_with_gymnasium() -> None:
    from gymnasium import register, registry

    for task in TASKS.names():
        name = environment_id(task)
        if name not in registry:
            register(
                id=name,
                entry_point="kittiwake.adapters.gymnasium:TaskEnv",
                vector_entry_point="kittiwake.adapters.gymnasium:TaskVectorEnv",
                kwargs={"task": task},
            )


def _register_with_pettingzoo() -> None:
    from pettingzoo import parallel_registry, register

    for task in TASKS.names():
        name = environment_id(task)
        if name not in parallel_registry:
            register(
                "parallel",
                name,
                "kittiwake.adapters.pettingzoo:TaskParallelEnv",
                kwargs={"task": task},
            )
