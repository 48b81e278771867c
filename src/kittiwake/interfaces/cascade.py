"""Control cascade: the sequence of controllers from a command down to the actuator command."""

from collections.abc import Sequence
from typing import TypeAlias

from kittiwake.core.commands import MotorsOff
from kittiwake.core.errors import CascadeError
from kittiwake.interfaces.controller import AbstractController

# a class suffices: ``consumes`` and ``produces`` are class variables
ControllerOrType: TypeAlias = AbstractController | type[AbstractController]


def cascade_path(
    controllers: Sequence[ControllerOrType], start: type, native: type
) -> tuple[int, ...]:
    """Return the indices of the controllers that convert ``start`` to ``native``, in order.

    Where several controllers consume the same command type, the first in the list that reaches
    ``native`` is used. No controller is used twice. ``MotorsOff`` needs no controller.

    Raises:
        CascadeError: if no controller continues from some command type; the message names that
            type, the available controllers and the commands that would work.
    """
    if start is MotorsOff:
        return ()
    dead_ends: list[type] = []
    path = _search(controllers, start, native, (), dead_ends)
    if path is None:
        missing = dead_ends[0]
        message = (
            f"no controller leads from {missing.__name__} to {native.__name__}, the vehicle's "
            f"actuator command. Available controllers: {_described(controllers)}. Add one that "
            f"takes {missing.__name__}, or change the guidance (or your command) to "
            f"{_usable_commands(controllers, native)}."
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
    usable = [i for i, c in enumerate(controllers) if c.consumes is command_type and i not in used]
    for i in usable:
        path = _search(controllers, controllers[i].produces, native, (*used, i), dead_ends)
        if path is not None:
            return path
    if not usable:
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
    """Return a controller's name in scenarios, which is its module's, or else its class's name."""
    controller_type = controller if isinstance(controller, type) else type(controller)
    words = controller_type.__module__.rpartition(".")[2].split("_")
    return (
        "-".join(words)
        if "".join(words) == controller_type.__name__.lower()
        else controller_type.__name__
    )


def _usable_commands(controllers: Sequence[ControllerOrType], native: type) -> str:
    """Return the names of the command types from which ``native`` can be reached."""
    levels = dict.fromkeys([*(c.consumes for c in controllers), native])
    names = [r.__name__ for r in levels if _search(controllers, r, native, (), []) is not None]
    return " or ".join(names)
