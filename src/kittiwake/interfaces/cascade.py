"""Connecting rungs: which controllers, in which order, lead from a signal to the native command."""

from collections.abc import Sequence
from typing import TypeAlias

from kittiwake.core.commands import MotorsOff
from kittiwake.core.errors import CascadeError
from kittiwake.interfaces.controller import AbstractController

# where it leads a controller's class says
ControllerOrType: TypeAlias = AbstractController | type[AbstractController]


def cascade_path(
    controllers: Sequence[ControllerOrType], start: type, native: type
) -> tuple[int, ...]:
    """The indices of the controllers that take ``start`` down to ``native``, first to last.

    Where several controllers consume a rung, the first in the list that leads on is taken; none is
    used twice. To be off every vehicle knows by itself.

    Raises:
        LadderError: if a rung is missing; the message names it, the controllers at hand, and what
            else could be asked for.
    """
    if start is MotorsOff:
        return ()
    dead_ends: list[type] = []
    path = _search(controllers, start, native, (), dead_ends)
    if path is None:
        missing = dead_ends[0]
        message = (
            f"nothing leads from {missing.__name__} to {native.__name__}, the vehicle's native "
            f"command. The controllers at hand: {_described(controllers)}. Add one that takes "
            f"{missing.__name__}, or change the guidance (or your command) to "
            f"{_leading(controllers, native)}."
        )
        raise CascadeError(message, missing.__name__)
    return path


def _search(
    controllers: Sequence[ControllerOrType],
    command_type: type,
    native: type,
    used: tuple[int, ...],
    dead_ends: list[type],
) -> tuple[int, ...] | None:
    if command_type is native:
        return used
    fitting = [i for i, c in enumerate(controllers) if c.consumes is command_type and i not in used]
    for i in fitting:
        path = _search(controllers, controllers[i].produces, native, (*used, i), dead_ends)
        if path is not None:
            return path
    if not fitting:
        dead_ends.append(command_type)
    return None


def _described(controllers: Sequence[ControllerOrType]) -> str:
    return (
        ", ".join(
            f"{controller_name(c)} ({c.consumes.__name__} to {c.produces.__name__})"
            for c in controllers
        )
        or "none"
    )


def controller_name(controller: ControllerOrType) -> str:
    """What scenarios call a controller that its module is named after; else its class's name."""
    kind = controller if isinstance(controller, type) else type(controller)
    words = kind.__module__.rpartition(".")[2].split("_")
    return "-".join(words) if "".join(words) == kind.__name__.lower() else kind.__name__


def _leading(controllers: Sequence[ControllerOrType], native: type) -> str:
    """The signals from which the controllers at hand lead to the native one."""
    levels = dict.fromkeys([*(c.consumes for c in controllers), native])
    names = [r.__name__ for r in levels if _search(controllers, r, native, (), []) is not None]
    return " or ".join(names)
