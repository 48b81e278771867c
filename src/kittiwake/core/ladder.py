"""Connecting rungs: which controllers, in which order, lead from a signal to the native command."""

from collections.abc import Sequence

from kittiwake.core.component import AbstractController
from kittiwake.core.errors import LadderError


def ladder_path(
    controllers: Sequence[AbstractController], start: type, native: type
) -> tuple[int, ...]:
    """The indices of the controllers that take ``start`` down to ``native``, first to last.

    Each rung takes the first controller in the list that consumes it and was not used before.

    Raises:
        LadderError: if a rung is missing; the message names it and the controllers at hand.
    """
    path: list[int] = []
    rung = start
    while rung is not native:
        fitting = (i for i, c in enumerate(controllers) if c.consumes is rung and i not in path)
        step = next(fitting, None)
        if step is None:
            message = (
                f"nothing leads from {rung.__name__} to {native.__name__}, the vehicle's native "
                f"command. The controllers at hand: {_described(controllers)}."
            )
            raise LadderError(message, rung.__name__)
        path.append(step)
        rung = controllers[step].produces
    return tuple(path)


def _described(controllers: Sequence[AbstractController]) -> str:
    return (
        ", ".join(
            f"{type(c).__name__} ({c.consumes.__name__} to {c.produces.__name__})"
            for c in controllers
        )
        or "none"
    )
