"""``kittiwake export``: a run's log for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli.plot import Folder
from kittiwake.core.errors import KittiwakeError, LogError, did_you_mean

if TYPE_CHECKING:
    from kittiwake.analysis.log import Log

FORMATS = ("csv", "parquet", "mcap", "geojson", "geotiff")


def export(
    folder: Folder,
    to: Annotated[
        str,
        typer.Option(
            metavar="|".join(FORMATS),
            help="csv: a file for each vehicle; parquet, mcap, geojson: one file; geotiff: a map "
            "for each field.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="PATH",
            help="A folder for csv and geotiff, else a file; in DIR unless given.",
        ),
    ] = None,
    cell: Annotated[
        float | None,
        typer.Option(metavar="M", help="geotiff: the size of a cell in metres.", min=1e-3),
    ] = None,
    *,
    fill: Annotated[
        bool,
        typer.Option(
            "--fill", help="geotiff: cells without a sample take the inverse-distance mean."
        ),
    ] = False,
) -> None:
    """Turn a run's log into CSV, Parquet, MCAP, or what its probes found into GeoJSON, GeoTIFF."""
    from kittiwake.analysis.export import export_csv, export_mcap, export_parquet, write_csv
    from kittiwake.analysis.log import Log

    if to not in FORMATS:
        message = f"--to {to} is not known. {did_you_mean(to, list(FORMATS))}"
        raise KittiwakeError(message)
    if to != "geotiff" and (cell is not None or fill):
        message = f"--cell and --fill say how to map; --to {to} has no cells. Leave them out."
        raise KittiwakeError(message)
    log = Log.read(folder)
    if to == "csv" and out is not None and out.suffix == ".csv":
        written = [write_csv(log, _only_vehicle(log.names), out)]
    elif to == "csv":
        written = export_csv(log, out or folder)
    elif to == "parquet":
        written = [out or folder / "log.parquet"]
        export_parquet(log, written[0])
    elif to == "mcap":
        written = [out or folder / "export.mcap"]
        export_mcap(log, folder, written[0])
    else:
        written = _mapped(log, to, out or folder, cell, fill=fill)
    for path in written:
        typer.echo(f"wrote {path}")


def _mapped(log: "Log", to: str, out: Path, cell_m: float | None, *, fill: bool) -> list[Path]:
    """What probes found, for a geographic information system."""
    from kittiwake.analysis.export_map import export_geojson, export_geotiff

    if to == "geotiff":
        return export_geotiff(log, out, cell_m, fill=fill)
    path = out / "samples.geojson" if out.is_dir() else out
    export_geojson(log, path)
    return [path]


def _only_vehicle(names: tuple[str, ...]) -> str:
    """The vehicle of a log with one: a file holds no more."""
    if len(names) != 1:
        message = (
            f"{len(names)} vehicles do not fit into one CSV file; name a folder with -o, not one "
            "that ends in .csv"
        )
        raise LogError(message)
    return names[0]
