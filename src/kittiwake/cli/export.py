"""``kittiwake export``: a run's log for other tools."""

from pathlib import Path
from typing import Annotated

import typer

from kittiwake.cli.plot import Folder
from kittiwake.core.errors import KittiwakeError, LogError, did_you_mean

FORMATS = ("csv", "parquet", "mcap")


def export(
    folder: Folder,
    to: Annotated[
        str,
        typer.Option(
            metavar="|".join(FORMATS), help="csv: a file for each vehicle; parquet, mcap: one file."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="PATH",
            help="A folder for csv, else a file; in DIR unless given.",
        ),
    ] = None,
) -> None:
    """Turn a run's log into CSV, Parquet, or a complete MCAP file."""
    from kittiwake.analysis.export import export_csv, export_mcap, export_parquet, write_csv
    from kittiwake.analysis.log import Log

    if to not in FORMATS:
        message = f"--to {to} is not known. {did_you_mean(to, list(FORMATS))}"
        raise KittiwakeError(message)
    log = Log.read(folder)
    if to == "csv" and out is not None and out.suffix == ".csv":
        written = [write_csv(log, _only_vehicle(log.names), out)]
    elif to == "csv":
        written = export_csv(log, out or folder)
    elif to == "parquet":
        written = [out or folder / "log.parquet"]
        export_parquet(log, written[0])
    else:
        written = [out or folder / "export.mcap"]
        export_mcap(log, folder, written[0])
    for path in written:
        typer.echo(f"wrote {path}")


def _only_vehicle(names: tuple[str, ...]) -> str:
    """The vehicle of a log with one: a file holds no more."""
    if len(names) != 1:
        message = (
            f"{len(names)} vehicles do not fit into one CSV file; name a folder with -o, not one "
            "that ends in .csv"
        )
        raise LogError(message)
    return names[0]
