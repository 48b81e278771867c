"""Tells Gymnasium which environments there are; nothing else is loaded."""

from kittiwake.tasks import TASKS

NAMESPACE = "kittiwake"


def environment_id(task: str) -> str:
    """What Gymnasium calls a task."""
    return f"{NAMESPACE}/{''.join(word.capitalize() for word in task.split('-'))}-v0"


def register_envs() -> None:
    """Makes Gymnasium know every task as ``kittiwake/NAME-v0``; once is enough."""
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
