"""Mistakes in options, in the words of all other messages."""

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
    """A command whose options are refused in one line each."""

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _refuse_empty(args)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            message = _in_own_words(error)
            if message is None:
                raise
            raise KittiwakeError(message) from None


def _refuse_empty(args: list[str]) -> None:
    """Refuses empty text, as an unset variable of a shell gives it: no option and no name is so.

    Raises:
        KittiwakeError: with the option.
    """
    for before, given in zip(["", *args], args, strict=False):
        alone = WITHOUT_VALUE.fullmatch(given)
        if given == "" or alone:
            option = alone[1] if alone else before if before.startswith("-") else "an argument"
            message = f"{option} '' is not allowed; must not be empty"
            raise KittiwakeError(message)


def _in_own_words(error: typer.BadParameter) -> str | None:
    """Return what was given and what is allowed; None for what pydantic has not refused."""
    from pydantic import ValidationError

    cause = error.__cause__
    if not isinstance(cause, ValidationError) or error.param is None:
        return None
    return f"{error.param.opts[-1]} {_sentence(cause)}"


def _sentence(refusal: "ValidationError") -> str:
    from kittiwake.scenario.problems import rule_of

    details = refusal.errors(include_url=False)[0]
    return f"{details['input']} is not allowed; {rule_of(details)}"
