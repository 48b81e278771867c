"""Table of columns: which column of a log holds which quantity, in which unit and which axes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, FiniteFloat, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from kittiwake.analysis.flight_logs.axes import BodyAxes, WorldAxes
from kittiwake.analysis.flight_logs.column_names import (
    ESTIMATE,
    euler_of,
    name_problem,
    quaternion_of,
)
from kittiwake.analysis.flight_logs.recorded import reading
from kittiwake.analysis.flight_logs.recorded_units import TIMES, unit_problem, units_of
from kittiwake.analysis.table import EULER
from kittiwake.core.errors import LogError, ScenarioError
from kittiwake.scenario import plain_yaml
from kittiwake.scenario.document import Document
from kittiwake.scenario.plain_yaml import MAX_BYTES, YamlSource
from kittiwake.scenario.problems import (
    STATEMENT,
    DeclaredModel,
    KeyPath,
    ProblemList,
    render_problems,
    shortened,
)

Text = Annotated[str, Field(min_length=1)]
STRICT = ConfigDict(strict=True)


class TimeEntry(DeclaredModel):
    """Times of the samples; the defaults depend on the format of the log.

    ``keep_start`` keeps the time of the first sample, which is zero otherwise.
    """

    model_config = STRICT

    column: Text | None = None
    unit: Text | None = None
    keep_start: bool = False


class ColumnEntry(DeclaredModel):
    """Column of the log: the quantity is ``scale * recorded + offset`` in ``unit``.

    ``value`` stands for a constant that the log does not hold.
    """

    model_config = STRICT

    column: Text | None = None
    value: FiniteFloat | None = None
    unit: Text | None = None
    scale: FiniteFloat = 1.0
    offset: FiniteFloat = 0.0

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, given: Any) -> Any:
        return {"column": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _one_source(self) -> "ColumnEntry":
        if (self.column is None) == (self.value is None):
            message = "give either a column, or the value of a constant"
            raise PydanticCustomError(STATEMENT, "{sentence}", {"sentence": message})
        return self

    @property
    def recorded(self) -> str:
        """Column of the log; empty for a constant."""
        return self.column or ""


class TableEntries(DeclaredModel):
    """Content of a table."""

    model_config = STRICT

    time: TimeEntry = TimeEntry()
    world_axes: WorldAxes = "enu"
    body_axes: BodyAxes = "flu"
    attitude: Literal["quaternion", "euler_zyx"] = "quaternion"
    columns: Annotated[dict[str, ColumnEntry], Field(min_length=1)]


@dataclass(frozen=True)
class ColumnTable:
    """Table of columns with its source.

    Attributes:
        entries: the content.
        document: the source, which knows the line of each entry.
        for_any_log: whether columns that a log does not have are left out.
    """

    entries: TableEntries
    document: Document
    for_any_log: bool = False

    def error(self, path: KeyPath, message: str) -> LogError:
        """Return the error to raise for an entry."""
        return LogError(ProblemList(self.document.where).sentence(path, message))


def read_column_table(columns: str | Path | Mapping[str, Any]) -> ColumnTable:
    """Return the table in a YAML file, or in a mapping of the same form.

    Raises:
        LogError: if the file cannot be read, or an entry is invalid; the message has its line.
    """
    try:
        if isinstance(columns, Mapping):
            return _checked(Document(dict(columns), {}, "columns"))
        return _checked(_document(Path(columns)))
    except ScenarioError as error:
        raise LogError(str(error)) from None


def default_table(name: str) -> ColumnTable:
    """Return a table beside this module, of columns that a log may have."""
    return replace(read_column_table(Path(__file__).with_name(name)), for_any_log=True)


def table_of_own_names(names: Mapping[str, str], source: str) -> ColumnTable:
    """Return the table of a log that has Kittiwake's own names and units.

    Args:
        names: the place of each column in the log, by name.
        source: the name of the log.

    Raises:
        LogError: if a column has another name.
    """
    for name, place in names.items():
        problem = name_problem(name, euler=False, recorded=name)
        if problem is not None:
            message = (
                f"{place}: '{name}': {problem} Give a table of the log's columns: --columns "
                "TABLE.yaml"
            )
            raise LogError(message)
    data = {"columns": {name: name for name in names}}
    return _checked(Document(data, {}, source))


def _document(path: Path) -> Document:
    with reading(path, "UTF-8 text"):
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
        text = content.decode("utf-8")
    source = YamlSource(path.name)
    data, lines = plain_yaml.read(text, source)
    if not isinstance(data, dict):
        message = f"a table of columns is a mapping (key: value), not {shortened(data)}"
        raise source.error(lines[()], message)
    return Document(data, {**lines}, path.name)


def _checked(document: Document) -> ColumnTable:
    try:
        entries = TableEntries.model_validate(document.data)
    except ValidationError as error:
        raise LogError(render_problems(error, document.where)) from None
    problems = ProblemList(document.where)
    _check_time(entries.time, problems)
    for name, entry in entries.columns.items():
        is_euler = entries.attitude == "euler_zyx"
        problem = name_problem(name, euler=is_euler, recorded=entry.recorded or "COLUMN")
        if problem is not None:
            problems.add(("columns", name), problem)
        elif entry.unit is not None:
            allowed = units_of(name)
            problem = unit_problem(entry.unit, allowed, f"'{name}'")
            if problem is not None:
                problems.add(("columns", name, "unit"), problem)
    _check_attitudes(entries, problems)
    problems.raise_if_any()
    return ColumnTable(entries, document)


def _check_time(time: TimeEntry, problems: ProblemList) -> None:
    problem = None if time.unit is None else unit_problem(time.unit, TIMES, "a time")
    if problem is not None:
        problems.add(("time", "unit"), problem)


def _check_attitudes(entries: TableEntries, problems: ProblemList) -> None:
    """Add a problem for each attitude of which a part is missing."""
    for name in entries.columns:
        whole = quaternion_of(name) or euler_of(name)
        missing = [part for part in whole if part not in entries.columns]
        if missing and name == next(part for part in whole if part in entries.columns):
            message = f"an attitude is {', '.join(whole)}; missing: {', '.join(missing)}"
            problems.add(("columns", name), message)
    is_euler = entries.attitude == "euler_zyx"
    if is_euler and not any(name.removeprefix(ESTIMATE) in EULER for name in entries.columns):
        problems.add(("attitude",), f"euler_zyx requires the columns {', '.join(EULER)}")
