"""Log of a run: made in memory by a flight, or read from a run folder."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64
from typing_extensions import override

from kittiwake.analysis.log_reader import files_beside, read_log_file
from kittiwake.analysis.output_file import LOG_FILE
from kittiwake.analysis.portable_scenario import PortableScenario
from kittiwake.analysis.table import EULER, Event, Table
from kittiwake.core.arguments import (
    FILE,
    VEHICLE_NAME,
    ArgumentRule,
    checked_arguments,
    several,
)
from kittiwake.core.errors import LogError, did_you_mean
from kittiwake.core.extras import import_optional, require_cockpit
from kittiwake.core.units import stored_name

if TYPE_CHECKING:  # each takes half a second or more to import, and most runs need none
    import pandas
    import xarray
    from matplotlib.figure import Figure

SCENARIO_FILE = "scenario.yaml"
SUMMARY_FILE = "summary.json"
# status of a flight to its end
COMPLETED = "completed"
# version of the format of that file
FORMAT = 1
REPLACE = "Remove it, or restore the one that 'kittiwake run' wrote."


@runtime_checkable
class OpenView(Protocol):
    """Page that shows a log until it is closed."""

    @property
    def url(self) -> str:
        """Address of the page."""
        ...

    def close(self) -> None:
        """Close the page."""
        ...


@runtime_checkable
class StaticPage(Protocol):
    """Page in one HTML file, which needs no server."""

    def save(self, path: str | Path) -> None:
        """Write the page into a file.

        Raises:
            LogError: if it cannot be written.
        """
        ...


VEHICLE = VEHICLE_NAME._replace(error=LogError)
COLUMN = ArgumentRule(
    lambda value: isinstance(value, str),
    "the name of a column, such as 'x_m'",
    error=LogError,
)
PANELS = several("names of panels", "['position', 'speed']")
SECOND_RUN = ArgumentRule(
    lambda value: isinstance(value, Log),
    "a second log, such as kw.Log.read('runs/second')",
    lambda value: f"log.plot().savefig({str(value)!r})" if FILE.allows(value) else "",
    LogError,
)


@dataclass(frozen=True, eq=False)
class Log:
    """Record of a run: a table for each vehicle, events, scenario and summary.

    ``scenario`` is the resolved scenario, empty if it is unknown; ``summary`` is the content of
    ``summary.json``, None before there is one. ``complete`` is False for a file whose recording
    was cut off; it has the rows up to that point. ``portable`` is the scenario as ``save``
    writes it, None if it is unknown.
    """

    tables: Mapping[str, Table]
    events: tuple[Event, ...] = ()
    scenario: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] | None = None
    complete: bool = True
    portable: PortableScenario | None = None

    @classmethod
    def read(cls, folder: str | Path) -> "Log":
        """Return the log in a run folder, with its scenario and summary if they exist.

        Raises:
            LogError: if there is no such folder or log, or a file in it is invalid.
        """
        folder = Path(folder)
        if not folder.is_dir():
            problem = "is a file, not a folder" if folder.exists() else "does not exist"
            message = f"'{folder}' {problem}. Give a folder that 'kittiwake run' has written."
            raise LogError(message)
        if not (folder / LOG_FILE).is_file():
            message = (
                f"'{folder}' has no {LOG_FILE}. Give a folder that 'kittiwake run' has written."
            )
            raise LogError(message)
        tables, events, complete = read_log_file(folder / LOG_FILE)
        scenario = _read_scenario(folder / SCENARIO_FILE)
        summary = _read_summary(folder / SUMMARY_FILE)
        return cls(tables, events, scenario, summary, complete, _portable(folder))

    @override
    def __repr__(self) -> str:
        rows = [len(table.values) for table in self.tables.values()]
        columns = {column for table in self.tables.values() for column in table.columns}
        summary = self.summary or {}
        status = summary.get("status") or ("" if self.complete else "cut off")
        if summary.get("reason"):
            status += f": {summary['reason']}"
        parts = [
            _shown(self.names),
            f"{_span(rows)} rows",
            f"{len(columns)} columns",
            f"up to {self.end_s or 0.0:g} s",
            _counted(len(self.events), "event"),
            status,
        ]
        return f"<Log of {', '.join(part for part in parts if part)}>"

    def _repr_html_(self) -> str:
        from kittiwake.analysis.log_html import log_html

        return log_html(self)

    if not TYPE_CHECKING:  # which knows the attributes there are

        def __getattr__(self, name: str) -> Any:
            """Refuse an attribute; the message names the method for a column or a vehicle."""
            message = f"a log has no attribute '{name}'"
            tables = vars(self).get("tables", {})
            own = next((vehicle for vehicle, one in tables.items() if name in one.columns), None)
            if name in tables:
                message += f". Write log.frame('{name}')"
            elif own is not None:
                message += f". Write log.column('{own}', '{name}') or log.frame('{own}')"
            raise AttributeError(message, name=name, obj=self)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the vehicles in order."""
        return tuple(self.tables)

    @checked_arguments("log.columns", name=VEHICLE)
    def columns(self, name: str) -> tuple[str, ...]:
        """Return the names of a vehicle's columns in order."""
        return self._table(name).columns

    @checked_arguments("log.quantities", name=VEHICLE)
    def quantities(self, name: str) -> tuple[str, ...]:
        """Return the quantities that a vehicle's ``status`` numbers from 1."""
        return self._table(name).quantities

    @checked_arguments("log.values", name=VEHICLE)
    def values(self, name: str) -> Float64[np.ndarray, "rows columns"]:
        """Return all rows of a vehicle."""
        return self._table(name).values

    @checked_arguments("log.euler_rad", name=VEHICLE)
    def euler_rad(self, name: str) -> Float64[np.ndarray, "rows 3"]:
        """Return roll, pitch and yaw of a vehicle over time, in radians.

        The angles are those of ZYX: yaw, then pitch, then roll. Yaw and roll are between -pi and
        pi; ``np.unwrap`` makes them continuous.

        Raises:
            LogError: if there is no such vehicle.
        """
        return self._table(name).roll_pitch_yaw_rad

    @checked_arguments("log.column", name=VEHICLE, column=COLUMN)
    def column(self, name: str, column: str) -> Float64[np.ndarray, " rows"]:
        """Return one quantity of a vehicle over time.

        Raises:
            LogError: if there is no such vehicle or column; the message names the nearest one.
        """
        table = self._table(name)
        if column not in table.columns:
            instead = did_you_mean(column, table.columns, f"log.columns('{name}')")
            if (angle := stored_name(column).removesuffix("_rad") + "_rad") in EULER:
                way = f"log.euler_rad('{name}')[:, {EULER.index(angle)}]"
                instead = f"Its angles follow from qw to qz: write {way}."
            message = f"'{name}' has no column '{column}'. {instead}"
            raise LogError(message)
        return table.values[:, table.columns.index(column)]

    @checked_arguments("log.frame", name=VEHICLE)
    def frame(self, name: str) -> "pandas.DataFrame":
        """Return all rows of a vehicle as a pandas data frame."""
        pandas = import_optional("pandas", "data")
        return pandas.DataFrame(self.values(name), columns=list(self.columns(name)))

    @property
    def dataset(self) -> "xarray.Dataset":
        """All vehicles on named axes as an xarray dataset; see ``analysis/dataset.py``."""
        import_optional("xarray", "data")
        from kittiwake.analysis.dataset import to_dataset

        return to_dataset(self.tables)

    @property
    def end_s(self) -> float | None:
        """Time of the last row; None without rows."""
        times = [
            table.part(("time_s",))[-1, 0] for table in self.tables.values() if len(table.values)
        ]
        return float(max(times)) if times else None

    @property
    def early_end(self) -> str | None:
        """Reason and time of an early end of the run; None for a completed run."""
        end_s, summary = self.end_s, self.summary
        when = "before its first row" if end_s is None else f"at {end_s:g} s"
        if not self.complete:
            time = self.scenario.get("time")
            planned = time.get("duration_s") if isinstance(time, dict) else None
            of = f" of {planned:g} s" if isinstance(planned, int | float) and end_s else ""
            return f"the recording was cut off {when}{of}"
        if not self.scenario and summary is None:
            return None  # not from a run folder
        if summary is None:
            return f"the run was cut off {when} and has no summary"
        status, reason = summary.get("status"), summary.get("reason")
        if status in (None, COMPLETED):
            return None
        return f"the run ended early: {reason or status}"

    @checked_arguments("log.plot", other=SECOND_RUN, only=PANELS)
    def plot(
        self, other: "Log | None" = None, *, style: str = "report", only: Sequence[str] = ()
    ) -> "Figure":
        """Return the overview picture as a Matplotlib figure.

        Args:
            other: a second run, whose vehicles of the same names are drawn dashed.
            style: ``report``, or ``paper`` for a column of 3.5 inches without a title.
            only: the names of the panels to draw, such as ``["position", "speed"]``; all if empty.

        Raises:
            LogError: if there are no rows to draw, a name is unknown, or the runs have no vehicle
                in common.
        """
        from kittiwake.analysis.plots.overview import SecondRun, draw_overview
        from kittiwake.analysis.plots.style import find_style

        second = None if other is None else SecondRun(other)
        return draw_overview(self, style=find_style(style), only=only, second=second)

    def view(self, port: int | None = None) -> "OpenView":
        """Replay the log in 3-D on a page of this machine, as ``kittiwake view`` does.

        A notebook embeds the page. Elsewhere the browser opens it, if there is a desktop. The page
        is closed by ``close()`` of the result, and at the end of the program.

        Args:
            port: the port of the page; any free one by default.

        Raises:
            MissingExtraError: without the extra ``cockpit``.
            LogError: if there are no rows to show, or the scenario is unknown.
            CockpitError: if the port is not available.
        """
        require_cockpit()
        # by name, as the page belongs to a layer above logs
        return import_module("kittiwake.cockpit.log_view").open_view(self, port)

    def page(self) -> "StaticPage":
        """Return a static page with the 3-D replay and charts, which a notebook stores and shows.

        Raises:
            MissingExtraError: without the extra ``cockpit``.
            LogError: if there are no rows to show, or the scenario is unknown.
        """
        require_cockpit()
        return import_module("kittiwake.cockpit.flight_page.document").flight_page(self)

    @checked_arguments("log.save", folder=FILE)
    def save(self, folder: str | Path) -> None:
        """Write log, scenario, summary and picture into a folder, as ``kittiwake run`` does.

        Files of an earlier run in the folder are replaced.

        Raises:
            LogError: if the folder cannot be written, or holds files that no run has written.
        """
        from kittiwake.analysis.run_folder import save_run

        save_run(self, Path(folder))

    def _table(self, name: str) -> Table:
        if name not in self.tables:
            message = f"this log has no vehicle '{name}'. {did_you_mean(name, list(self.tables))}"
            raise LogError(message)
        return self.tables[name]


def _portable(folder: Path) -> PortableScenario | None:
    """Return the scenario of a run folder with the files that its run wrote; None without one."""
    path = folder / SCENARIO_FILE
    if not path.is_file():
        return None
    names = files_beside(folder / LOG_FILE) or {}
    files = {name: folder / name for name in names if name != SCENARIO_FILE}
    return PortableScenario(
        partial(str, path.read_text(encoding="utf-8")),
        {name: file for name, file in files.items() if file.is_file()},
    )


def _read_scenario(path: Path) -> dict[str, Any]:
    import yaml

    if not path.is_file():
        return {}
    try:
        return _mapping(path, yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        message = f"'{path}' is not a readable YAML file{_place(error)}. {REPLACE}"
        raise LogError(message) from error


def _read_summary(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        summary = _mapping(path, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        message = f"'{path}' is not a readable JSON file{_place(error)}. {REPLACE}"
        raise LogError(message) from error
    version = summary.get("format", FORMAT)
    if version != FORMAT:
        message = (
            f"'{path}' is of format {version!r}; this version of Kittiwake reads format {FORMAT}"
        )
        raise LogError(message)
    return summary


def _mapping(path: Path, content: object) -> dict[str, Any]:
    if not isinstance(content, dict):
        message = f"'{path}' is not a mapping of names to values. {REPLACE}"
        raise LogError(message)
    return content


def _place(error: Exception) -> str:
    """Return the line of a mistake, without its content, which is not trusted."""
    line = getattr(getattr(error, "problem_mark", None), "line", None)
    line = getattr(error, "lineno", None) if line is None else line + 1
    return "" if line is None else f", see its line {line}"


def _shown(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{len(names)} vehicles" + (f" ({names[0]} to {names[-1]})" if names else "")


def _span(counts: list[int]) -> str:
    low, high = min(counts, default=0), max(counts, default=0)
    return f"{high:,}" if low == high else f"{low:,} to {high:,}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
