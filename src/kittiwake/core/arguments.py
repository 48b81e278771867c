"""Checks of the arguments of public functions: their names, their number and their kinds.

Rules say which values an argument may have. They belong to the decorator rather than to the
annotations, as messages name what to write instead, and values that a rule leaves open are checked
where they are used.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import wraps
from inspect import Parameter, signature
from math import isfinite
from os import PathLike
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from kittiwake.core.errors import (
    KittiwakeError,
    ScenarioError,
    described_value,
    unknown_argument,
    unnamed_argument,
)

P = ParamSpec("P")
T = TypeVar("T")


class ArgumentRule(NamedTuple):
    """Allowed values of an argument.

    Attributes:
        allows: returns True for an allowed value.
        allowed: the allowed values in words.
        instead: returns what to write instead of a value; empty for nothing more.
        error: the type of the error.
    """

    allows: Callable[[Any], bool]
    allowed: str
    instead: Callable[[Any], str] = lambda _: ""
    error: type[KittiwakeError] = ScenarioError

    def require(self, name: str, value: Any) -> None:
        """Refuse a value that is not allowed.

        Raises:
            KittiwakeError: with the given and the allowed values.
        """
        if not self.allows(value):
            advice = self.instead(value)
            if not advice and isinstance(value, type):
                advice = f"{value.__name__}(...)"
            end = f". Write {advice}" if advice else ""
            message = f"`{name}`: got {described_value(value)}; must be {self.allowed}{end}"
            raise self.error(message)


def _is_real(value: Any) -> bool:
    if isinstance(value, bool | str | bytes) or np.ndim(value) != 0:
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_number(value: Any) -> bool:
    return _is_real(value) and isfinite(float(value))


def _are_numbers(value: Any, count: int) -> bool:
    if isinstance(value, str | bytes | Mapping | Set) or not hasattr(value, "__len__"):
        return False
    return len(value) == count and all(map(_is_number, value))


NUMBER = ArgumentRule(_is_number, "a finite number")
# its range is that of the flight, which is checked where it is known
SECONDS = ArgumentRule(_is_real, "a number of seconds, such as 20")
WHOLE = ArgumentRule(
    lambda value: isinstance(value, int | np.integer) and not isinstance(value, bool),
    "a whole number",
)
COUNT = ArgumentRule(
    lambda value: WHOLE.allows(value) and value >= 1, "a whole number that is at least 1"
)
FLAG = ArgumentRule(lambda value: isinstance(value, bool | np.bool_), "True or False")
TEXT = ArgumentRule(lambda value: isinstance(value, str), "text")
VEHICLE_NAME = ArgumentRule(
    lambda value: isinstance(value, str), "the name of a vehicle, such as 'h'"
)
FILE = ArgumentRule(
    lambda value: isinstance(value, str | PathLike), "the path of a file or folder, as text"
)
FUNCTION = ArgumentRule(
    lambda value: callable(value) and not isinstance(value, type),
    "a function",
    lambda value: "progress=print" if value is True else "",
)
VECTOR = ArgumentRule(
    lambda value: _are_numbers(value, 3), "three finite numbers, such as [0, 0, 10]"
)
LIMITS = ArgumentRule(
    lambda value: value is None or _are_numbers(value, 2),
    "two finite numbers, such as (0.5, 2), or None for no limits",
)
OVERRIDES = ArgumentRule(
    lambda value: isinstance(value, Mapping),
    'a mapping of keys to values, such as {"time.duration_s": 20}',
)


def several(items: str, example: str) -> ArgumentRule:
    """Return the rule of several items, which are checked where they are used.

    Some iterables can be read only once.
    """
    return ArgumentRule(
        lambda value: isinstance(value, Iterable) and not isinstance(value, str | bytes),
        f"several {items}, such as {example}",
    )


class _Signature:
    """Arguments of a function, and the rules of some of them."""

    def __init__(
        self, function: Callable[..., Any], owner: str, rules: Mapping[str, ArgumentRule]
    ) -> None:
        parameters = signature(function).parameters
        named = [one for one in parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        self._owner, self._rules, self._parameters = owner, rules, parameters
        self._takes_others = len(named) < len(parameters)
        self._known = [one.name for one in named if one.name != "self"]
        self._positional = [
            one.name for one in named if one.kind is Parameter.POSITIONAL_OR_KEYWORD
        ]
        self._required = [
            name for name in self._known if parameters[name].default is Parameter.empty
        ]

    def check(self, unnamed: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Refuse wrong arguments.

        Raises:
            ScenarioError: with the given and the allowed ones.
        """
        if not self._takes_others:
            for key in keywords:
                if key not in self._known:
                    raise ScenarioError(unknown_argument(self._owner, key, self._known))
        if len(unnamed) > len(self._positional):
            others = [name for name in self._known if name not in self._positional]
            surplus = unnamed[len(self._positional)]
            raise ScenarioError(unnamed_argument(self._owner, surplus, others))
        self._check_values(dict(zip(self._positional, unnamed, strict=False)) | dict(keywords))

    def _check_values(self, given: Mapping[str, Any]) -> None:
        for name in self._required:
            if name not in given:
                must = f"; it must be {self._rules[name].allowed}" if name in self._rules else ""
                message = f"{self._owner}: the argument `{name}` is missing{must}"
                raise ScenarioError(message)
        for name, rule in self._rules.items():
            if name in given and given[name] is not self._parameters[name].default:
                rule.require(name, given[name])


def checked_arguments(
    owner: str = "", **rules: ArgumentRule
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that refuses wrong arguments of a function with the allowed ones.

    Args:
        owner: name of the function in messages; its own by default.
        rules: rules of arguments by name; one that has its default value is not checked.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        declared = _Signature(function, owner or function.__name__, rules)

        @wraps(function)
        def checked(*unnamed: P.args, **keywords: P.kwargs) -> T:
            declared.check(unnamed, keywords)
            return function(*unnamed, **keywords)

        return checked

    return decorate
