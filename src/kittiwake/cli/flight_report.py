"""Reports of a flight on the terminal: progress, that it was stopped, and its summary."""

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kittiwake.cli.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from kittiwake.runtime.loop import Flight, Follow


@contextlib.contextmanager
def report_if_stopped(folder: Path) -> "Generator[None]":
    """Print what was written if a signal ends the command."""
    from kittiwake.analysis.output_file import LOG_FILE

    log = folder / LOG_FILE
    before = log.stat().st_mtime_ns if log.is_file() else None
    try:
        yield
    except KeyboardInterrupt:
        now = log.stat().st_mtime_ns if log.is_file() else None
        partial = f"stopped: the results so far are in {folder}"
        nothing = "stopped before the flight began; nothing was written"
        typer.echo(partial if now != before else nothing, err=True)
        raise


@contextlib.contextmanager
def show_progress(*, shown: bool) -> "Generator[Follow]":
    """Show a progress bar of the simulated time on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True) as bar:
        task = bar.add_task("compiling", total=None)

        def follow(flight: "Flight") -> "Callable[[float], None]":
            total = None if flight.until_done else flight.duration_s
            of = "s" if total is None else f"of {total:g} s"

            def show(time_s: float) -> None:
                text = f"flying {time_s:.1f} {of}"
                bar.update(task, completed=time_s, total=total, description=text)

            return show

        yield follow


def show_summary(summary: Metrics, folder: Path) -> None:
    """Print the summary of a run on standard output."""
    from rich.console import Console

    from kittiwake.cli.summary_table import summary_lines, vehicle_table

    console = Console()
    console.print(vehicle_table(summary))
    for line in summary_lines(summary):
        console.print(line, highlight=False, markup=False)
    files = f"Log, summary.json and overview.png are in {folder}"
    console.print(files, highlight=False, markup=False, soft_wrap=True)
