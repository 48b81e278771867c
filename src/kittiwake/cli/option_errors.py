"""Errors of options, in the format of all other messages."""

import re
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand
from typing_extensions import override

from kittiwake.core.errors import KittiwakeError

if TYPE_CHECKING:
    from pydantic import ValidationError

WITHOUT_VALUE = re.compile(r"(--[a-z][a-z0-9-]*)=")


class Command(TyperCommand):
    """Command that reports errors of its options in one line each."""

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _refuse_empty(args)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            message = _option_message(error)
            if message is None:
                raise
            raise KittiwakeError(message) from None


def _refuse_empty(args: list[str]) -> None:
    """Refuse empty text, which may come from an unset variable of a shell.

    Raises:
        KittiwakeError: if an argument or the value of an option is empty.
    """
    for before, argument in zip(["", *args], args, strict=False):
        match = WITHOUT_VALUE.fullmatch(argument)
        if argument == "" or match:
            option = match[1] if match else before if before.startswith("-") else "argument"
            message = f"`{option}`: got ''; must not be empty"
            raise KittiwakeError(message)


def _option_message(error: typer.BadParameter) -> str | None:
    """Return the message of a pydantic error: option, value and rule; None for other errors."""
    from pydantic import ValidationError

    cause = error.__cause__
    if not isinstance(cause, ValidationError) or error.param is None:
        return None
    return f"`{error.param.opts[-1]}`: {_value_and_rule(cause)}"


def _value_and_rule(error: "ValidationError") -> str:
    from kittiwake.scenario.problems import rule_of

    details = error.errors(include_url=False)[0]
    return f"got {details['input']}; {rule_of(details)}"
