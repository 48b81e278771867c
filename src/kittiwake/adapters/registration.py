"""Tells Gymnasium and PettingZoo which environments there are; none of them is loaded."""

import sys

from kittiwake.core.extras import optional
from kittiwake.tasks import TASKS

NAMESPACE = "kittiwake"
GYMNASIUM, PETTINGZOO = "gymnasium", "pettingzoo"


def environment_id(task: str) -> str:
    """What Gymnasium calls a task."""
    return f"{NAMESPACE}/{''.join(word.capitalize() for word in task.split('-'))}-v0"


def register_envs() -> None:
    """Makes those of Gymnasium and PettingZoo that are imported know every task.

    Each is called ``kittiwake/NAME-v0``. Calling this again does nothing. Where neither is imported
    yet, Gymnasium is.

    Raises:
        MissingExtraError: if it is not installed.
    """
    if not {GYMNASIUM, PETTINGZOO} & sys.modules.keys():
        optional(GYMNASIUM, "learning")
    if GYMNASIUM in sys.modules:
        _tell_gymnasium()
    if PETTINGZOO in sys.modules:
        _tell_pettingzoo()


def _tell_gymnasium() -> None:
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


def _tell_pettingzoo() -> None:
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
