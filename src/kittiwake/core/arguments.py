"""Check of the names of arguments, with the allowed names in the error."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from kittiwake.core.errors import ScenarioError, unknown_argument

P = ParamSpec("P")
T = TypeVar("T")


def with_known_arguments(function: Callable[P, T], owner: str = "") -> Callable[P, T]:
    """Return a function that refuses an argument of an unknown name with the allowed ones.

    Args:
        function: the function.
        owner: its name in messages; that of the function by default.
    """
    known = [name for name in signature(function).parameters if name != "self"]

    @wraps(function)
    def checked(*positional: P.args, **named: P.kwargs) -> T:
        for key in named:
            if key not in known:
                raise ScenarioError(unknown_argument(owner or function.__name__, key, known))
        return function(*positional, **named)

    return checked
