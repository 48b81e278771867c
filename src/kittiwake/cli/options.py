"""Options shared by several commands."""

import contextlib
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Annotated

import typer

from kittiwake.core.errors import CockpitError, ScenarioError

MAX_SEED = 2**63 - 1
UNTIL_DONE = "until-done"

Duration = Annotated[
    str | None,
    typer.Option(
        metavar="S|until-done",
        help="Simulated seconds, not the scenario's; until-done: until all guidance is done.",
    ),
]
Seed = Annotated[str | None, typer.Option(metavar="N", help="Seed of every random stream.")]
OutFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder of the results; default runs/NAME-TIME."),
]
SummaryJson = Annotated[
    bool, typer.Option("--json", help="Print summary.json alone on standard output.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def warn_of_early_end(early_end: str | None, folder: Path) -> None:
    """Print a warning on standard error if a run ended early."""
    if early_end is not None:
        typer.echo(f"Warning: {folder}: {early_end}.", err=True)


def refuse(options: Mapping[str, object], mode: str) -> None:
    """Refuse options that have no effect in a mode of a command.

    Raises:
        CockpitError: if one of them is given.
    """
    for name, value in options.items():
        if value not in (None, False) and value != []:
            message = f"`{name}`: not allowed with {mode}"
            raise CockpitError(message)


def as_overrides(duration: str | None, seed: str | None) -> list[str]:
    """Return the options as overrides of the scenario."""
    if duration == UNTIL_DONE:
        return ["time.duration_s=null", "time.until_done=true", *as_overrides(None, seed)]
    values = {
        "time.duration_s": positive_number(
            "--duration", duration, f"a number above 0, or {UNTIL_DONE}"
        ),
        "seed": None if seed is None else _seed(seed),
    }
    return [f"{path}={value}" for path, value in values.items() if value is not None]


def positive_number(
    option: str, written: str | None, allowed: str = "a number above 0"
) -> float | None:
    """Return the number that was written for an option, None for none.

    ``allowed`` are its values in words.

    Raises:
        ScenarioError: if it is not a number above 0.
    """
    if written is None:
        return None
    with contextlib.suppress(ValueError):
        if 0.0 < float(written) < inf:
            return float(written)
    message = f"`{option}`: got {written}; must be {allowed}"
    raise ScenarioError(message)


def _seed(written: str) -> int:
    with contextlib.suppress(ValueError):
        if 0 <= int(written) <= MAX_SEED:
            return int(written)
    message = f"`--seed`: got {written}; must be an integer from 0 to {MAX_SEED}"
    raise ScenarioError(message)
