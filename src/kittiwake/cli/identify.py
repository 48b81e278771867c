"""``kittiwake identify``: parameters of a vehicle from a flight log."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli.check import Overrides
from kittiwake.cli.compiled_programs import keep_compiled
from kittiwake.cli.options import Quiet
from kittiwake.core.errors import ScenarioError

if TYPE_CHECKING:
    from kittiwake.analysis.identification_result import IdentificationResult

Span = Annotated[
    str | None,
    typer.Option(metavar="T0:T1", help="Part to fit, in seconds; the rest unless given."),
]


def identify(
    log: Annotated[
        str,
        typer.Argument(
            metavar="LOG", help="CSV, ULog, DataFlash, a bag, or a folder of a Kittiwake run."
        ),
    ],
    overrides: Overrides = None,
    *,
    vehicle: Annotated[
        str,
        typer.Option(metavar="MODEL", help="A vehicle model, or a scenario with one vehicle."),
    ],
    free: Annotated[
        list[str],
        typer.Option(
            metavar="KEY[=low:high],...",
            help="Parameters to fit, such as mass_kg,rotor.thrust_ns2; guidance.delay_s is the "
            "delay of the commands, bias.COLUMN a constant error of a column. May be repeated.",
        ),
    ],
    columns: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="YAML table of the log's columns and units."),
    ] = None,
    log_vehicle: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Vehicle of a run of Kittiwake with several."),
    ] = None,
    train: Span = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="T0:T1", help="Part to judge by, which is not fitted."),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Measured columns to fit; all unless given."),
    ] = None,
    window: Annotated[
        float, typer.Option(metavar="S", help="Length of the simulated windows.")
    ] = 1.0,
    settle: Annotated[
        float, typer.Option(metavar="S", help="Time before each in which actuators settle.")
    ] = 0.5,
    rate: Annotated[float, typer.Option(metavar="HZ", help="Physics rate.")] = 500.0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the results, runs/identify-LOG-TIME by default."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print identification.json alone.")] = (
        False
    ),
    quiet: Quiet = False,
) -> None:
    """Fit parameters of a vehicle to a flight log.

    Writes the vehicle with its parameters, their uncertainties, the errors of prediction before
    and after, and a picture of the residuals.
    """
    from kittiwake.cli.progress import progress_count
    from kittiwake.runtime.identification.identify import identify as identify_vehicle
    from kittiwake.scenario.free_values import parse_free

    keep_compiled()
    keys = [key for item in free for key in item.split(",") if key.strip()]
    with progress_count("fitting, point", shown=not (as_json or quiet)) as progress:
        result = identify_vehicle(
            log,
            vehicle,
            parse_free(keys),
            columns=columns,
            log_vehicle=log_vehicle,
            train=_span("--train", train),
            test=_span("--test", test),
            compare=[] if compare is None else [name.strip() for name in compare.split(",")],
            window_s=window,
            settle_s=settle,
            rate_hz=rate,
            overrides=overrides or [],
            out=out,
            progress=progress,
        )
    if as_json:
        figures = {"folder": str(result.folder), **result.figures()}
        sys.stdout.write(json.dumps(figures) + "\n")
    elif not quiet:
        _show(result)


def _span(option: str, text: str | None) -> tuple[float, float] | None:
    """Return a part of a log from ``T0:T1``.

    Raises:
        ScenarioError: for another form.
    """
    if text is None:
        return None
    begin, colon, end = text.partition(":")
    try:
        if not colon:
            raise ValueError
        return float(begin), float(end)
    except ValueError:
        message = f"`{option}`: got {text}; write begin and end in seconds, such as 0:60"
        raise ScenarioError(message) from None


def _show(result: "IdentificationResult") -> None:
    """Print the parameters and the errors of prediction."""
    from rich.console import Console
    from rich.table import Column, Table

    console = Console()
    values = Table(
        Column("parameter", overflow="fold"), "before", "after", "± (Hessian)", "± (windows)"
    )
    for own in result.values:
        deviations = (f"{own.deviation:.2g}", f"{own.window_deviation:.2g}")
        values.add_row(own.name, f"{own.before:.5g}", f"{own.after:.5g}", *deviations)
    console.print(values)
    tested = result.spans[1] is not None
    names = ["fitted before", "after"] + (["held back before", "after"] if tested else [])
    errors = Table(Column("RMS error of", overflow="fold"), *names)
    for own in result.errors:
        numbers = [*own.train, *(own.test or ())]
        errors.add_row(own.name, *(f"{number:.4g}" for number in numbers))
    console.print(errors)
    lines = [f"Fitted {_part(result.spans[0], result.windows[0], result.window_s)}."]
    if result.spans[1] is not None:
        part = _part(result.spans[1], result.windows[1], result.window_s)
        lines.append(f"Held back {part}.")
    lines += [f"{sentence}." for sentence in (*result.notes, *result.ambiguities())]
    if result.without_noise:
        lines.append(f"Flown without {', '.join(result.without_noise)}.")
    lines.append(f"Vehicle, figures and picture are in {result.folder}: vehicle.yaml")
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


def _part(span: tuple[float, float], windows: int, window_s: float) -> str:
    words = "1 window" if windows == 1 else f"{windows} windows"
    return f"{span[0]:.5g} to {span[1]:.5g} s of the log, {words} of {window_s:g} s"
