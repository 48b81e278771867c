"""``kittiwake export``: conversion of a run's log for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli.options import warn_of_early_end
from kittiwake.core.errors import KittiwakeError, LogError, did_you_mean

if TYPE_CHECKING:
    from kittiwake.analysis.log import Log

BAGS = ("rosbag1", "rosbag2")
FORMATS = ("csv", "parquet", "mat", "mcap", "geojson", "geotiff", "foxglove", *BAGS)
STORAGES = ("sqlite3", "mcap")
# formats that a log of another program can be converted to
TABLES = ("csv", "parquet")

LogPath = Annotated[
    Path,
    typer.Argument(
        metavar="LOG",
        help="A folder that 'kittiwake run' wrote, or a log that another program recorded.",
    ),
]


def export(
    folder: LogPath,
    to: Annotated[
        str,
        typer.Option(
            metavar="|".join(FORMATS),
            help="csv: a file for each vehicle; parquet, mat, mcap, geojson: one file; geotiff: a "
            "map for each field; foxglove: typed messages and a layout; rosbag1: a bag of ROS 1; "
            "rosbag2: a folder with one of ROS 2.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="PATH",
            help="A folder for csv, geotiff and rosbag2, else a file; in DIR unless given.",
        ),
    ] = None,
    cell: Annotated[
        float | None,
        typer.Option(metavar="M", help="geotiff: the size of a cell in meters.", min=1e-3),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(STORAGES), help="rosbag2: storage of its messages; default sqlite3."
        ),
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="csv, parquet: a YAML file from Kittiwake's columns to those of a log.",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(metavar="HZ", help="Rate of the rows of a log with a table.", min=1e-3),
    ] = None,
    *,
    fill: Annotated[
        bool,
        typer.Option(
            "--fill", help="geotiff: cells without a sample take the inverse-distance mean."
        ),
    ] = False,
) -> None:
    """Convert a run's log into CSV, Parquet, MAT, MCAP, a ROS bag or a file for Foxglove.

    The samples of probes are converted into maps. A log of another program is converted to
    Kittiwake's columns, in one CSV or Parquet file.
    """
    _check_options(to, maps=cell is not None or fill, storage=storage)
    if columns is not None or rate is not None or folder.is_file():
        written = [_export_flight_log(folder, to, out, columns, rate)]
    elif to in ("geojson", "geotiff"):
        written = _write_map(_read(folder), to, out or folder, cell, fill=fill)
    elif to == "foxglove":
        written = _write_foxglove(_read(folder), folder, out)
    elif to in BAGS:
        written = [_write_bag(_read(folder), folder, to, out, storage or STORAGES[0])]
    else:
        written = _write_log(_read(folder), folder, to, out)
    for path in written:
        typer.echo(f"wrote {path}")


def _read(folder: Path) -> "Log":
    """Return the log of a run; print a warning if it ended early."""
    from kittiwake.analysis.log import Log

    log = Log.read(folder)
    warn_of_early_end(log.early_end, folder)
    return log


def _write_log(log: "Log", folder: Path, to: str, out: Path | None) -> list[Path]:
    """Write all rows as CSV, Parquet, MAT or MCAP and return the paths."""
    from kittiwake.analysis.export import export_csv, export_mcap, export_parquet, write_csv

    if to == "csv" and out is not None and out.suffix == ".csv":
        return [write_csv(log, _only_vehicle(log.names), out)]
    if to == "csv":
        return export_csv(log, out or folder)
    path = out or folder / ("export.mcap" if to == "mcap" else f"log.{to}")
    if to == "parquet":
        export_parquet(log, path)
    elif to == "mat":
        from kittiwake.analysis.export_mat import export_mat

        export_mat(log, path)
    else:
        export_mcap(log, folder, path)
    return [path]


def _check_options(to: str, *, maps: bool, storage: str | None) -> None:
    """Raise an error for unknown values, and for options of another format."""
    if to not in FORMATS:
        message = f"`--to`: got {to}; unknown format. {did_you_mean(to, list(FORMATS))}"
        raise KittiwakeError(message)
    if to != "geotiff" and maps:
        message = f"`--cell` and `--fill`: only allowed with --to geotiff, not with --to {to}"
        raise KittiwakeError(message)
    if storage is not None and to != "rosbag2":
        message = f"`--storage`: only allowed with --to rosbag2, not with --to {to}"
        raise KittiwakeError(message)
    if storage is not None and storage not in STORAGES:
        message = f"`--storage`: got {storage}; unknown. {did_you_mean(storage, list(STORAGES))}"
        raise KittiwakeError(message)


def _export_flight_log(
    path: Path, to: str, out: Path | None, columns: Path | None, rate_hz: float | None
) -> Path:
    """Write the signals of a flight log into one file and return its path."""
    from kittiwake.analysis.flight_logs import read_flight_log
    from kittiwake.analysis.flight_logs.resampling import export_flight_log

    if to not in TABLES:
        message = (
            f"`--to`: got {to}; a file, `--columns` and `--rate` are only allowed with --to csv or "
            "parquet"
        )
        raise KittiwakeError(message)
    written = out or path.with_suffix(f".{to}")
    if written.resolve() in {file.resolve() for file in (path, columns) if file is not None}:
        message = f"'{written}' is read and cannot be written. Name another file with -o."
        raise KittiwakeError(message)
    log = read_flight_log(path, columns)
    for name, count in log.dropped.items():
        typer.echo(f"Warning: {path.name}: {count} samples of '{name}' are left out.", err=True)
    export_flight_log(log, to, written, rate_hz)
    return written


def _write_bag(log: "Log", folder: Path, to: str, out: Path | None, storage: str) -> Path:
    """Write a ROS bag and return its path."""
    from kittiwake.adapters.ros.messages.bags import write_rosbag1, write_rosbag2
    from kittiwake.analysis.log import SCENARIO_FILE
    from kittiwake.analysis.output_file import note_written
    from kittiwake.analysis.run_folder import ROSBAG1_FILE, ROSBAG2_FOLDER
    from kittiwake.cli.film import show_frames
    from kittiwake.scenario.load import load_recorded

    if not (folder / SCENARIO_FILE).is_file():
        message = (
            f"'{folder}' holds no {SCENARIO_FILE}, which lists the sensors. Restore the file "
            "that 'kittiwake run' wrote."
        )
        raise LogError(message)
    scenario = load_recorded(folder / SCENARIO_FILE)
    path = out or folder / (ROSBAG1_FILE if to == "rosbag1" else ROSBAG2_FOLDER)
    with show_frames("writing second {} of {}") as show:
        if to == "rosbag1":
            write_rosbag1(log, scenario, path, show)
        else:
            write_rosbag2(log, scenario, path, "mcap" if storage == "mcap" else "sqlite3", show)
            for part in path.iterdir() if path.parent == folder else ():
                note_written(part, folder)
    return path


def _write_foxglove(log: "Log", folder: Path, out: Path | None) -> list[Path]:
    """Write typed messages and a layout for Foxglove; return the paths."""
    from kittiwake.adapters.foxglove.export import FLIGHT_FILE, export_foxglove
    from kittiwake.cli.progress import progress_bar
    from kittiwake.cockpit.recorded import recorded

    with progress_bar("writing poses", shown=True) as progress:
        return [*export_foxglove(log, recorded(folder), out or folder / FLIGHT_FILE, progress)]


def _write_map(log: "Log", to: str, out: Path, cell_m: float | None, *, fill: bool) -> list[Path]:
    """Write the probes' samples for a geographic information system; return the paths."""
    from kittiwake.analysis.export_map import export_geojson, export_geotiff

    if to == "geotiff":
        return export_geotiff(log, out, cell_m, fill=fill)
    path = out / "samples.geojson" if out.is_dir() else out
    export_geojson(log, path)
    return [path]


def _only_vehicle(names: tuple[str, ...]) -> str:
    """Return the name of a log's only vehicle."""
    if len(names) != 1:
        message = (
            f"{len(names)} vehicles do not fit into one CSV file; name a folder with -o, not one "
            "that ends in .csv"
        )
        raise LogError(message)
    return names[0]
