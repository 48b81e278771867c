"""Published tables, figures and numbers, with the flights that reproduce them.

Each publication is a YAML file in ``publications``. Tolerances stand there beside the numbers,
before anything is flown; verdicts follow from them.
"""

from math import inf
from pathlib import Path
from typing import Any, Literal

import msgspec

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.scenario import plain_yaml
from kittiwake.scenario.plain_yaml import YamlSource

FOLDER = Path(__file__).parent / "publications"


class Teleport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Vehicle that is placed elsewhere in flight.

    Attributes:
        at_s: the time.
        vehicle: the vehicle.
        motion: keys of a scenario's ``start``.
    """

    at_s: float
    vehicle: str
    motion: dict[str, Any]


class PublishedFlight(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Flight that reproduces numbers.

    Attributes:
        scenario: the library scenario.
        overrides: changes to it by path.
        files: reference files by path of the scenario, such as recorded inputs.
        seeds: number of seeds, from 0 on, over whose flights numbers are averaged.
        vary: plausible other values by path, for what a publication leaves out. Each is flown with
            the rest unchanged.
        teleports: vehicles placed elsewhere in flight, in order of time.
    """

    scenario: str
    overrides: dict[str, Any] = {}
    files: dict[str, str] = {}
    seeds: int = 1
    vary: dict[str, list[Any]] = {}
    teleports: list[Teleport] = []


class PublishedNumber(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Number of a publication, and how it is measured.

    Attributes:
        name: what it is.
        measure: the name of a measure and its arguments.
        published: the published value; None if none was published, for our own alone.
        tolerance: the largest difference with which they agree; None if that is not judged.
        flight: the flight that it is measured in; None if it needs none.
        unit: the unit.
        better: whether less or more than the published value is better.
        relative_to: the number in multiples of which published and ours are compared, for those of
            an unknown unit.
        why: why ours differs.
    """

    name: str
    measure: dict[str, Any]
    published: float | None = None
    tolerance: float | None = None
    flight: str | None = None
    unit: str = ""
    better: Literal["less", "more"] | None = None
    relative_to: str | None = None
    why: str = ""


class PublishedOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Published order of numbers, the least first, by their names."""

    name: str
    numbers: list[str]
    why: str = ""


class FigureLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Line of a figure: a quantity of a flight's vehicle.

    Attributes:
        flight: the flight.
        quantity: what is drawn, see ``quantities``.
        label: its name in the legend.
        vehicle: the vehicle; the first one unless given.
        dotted: whether the line is dotted.
        body_m: length, bottom and top of the vehicle about its position, drawn in side view at
            the panel's ``instants_s``.
    """

    flight: str
    quantity: str
    label: str = ""
    vehicle: str | None = None
    dotted: bool = False
    body_m: tuple[float, float, float] | None = None


class FigureMark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Published point of a figure; without a height it is a place on the horizontal axis."""

    at: tuple[float, float | None]
    label: str = ""


class FigureTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Published points from a reference table.

    Attributes:
        table: the table.
        column: what is drawn.
        label: its name in the legend.
        over: the column of the horizontal axis; the number of the row if empty.
        scale: what the columns of both axes are multiplied by.
        every: which rows are drawn: each first one of so many.
    """

    table: str
    column: str
    label: str = "published"
    over: str = ""
    scale: tuple[float, float] = (1.0, 1.0)
    every: int = 1


class FigurePanel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Panel of a figure.

    Attributes:
        label: the label of the vertical axis, with the unit.
        lines: the lines.
        marks: published points.
        tables: published points from tables.
        over: the quantity of the horizontal axis, time unless given.
        over_label: the label of the horizontal axis.
        equal_axes: whether both axes have one scale, for maps; never over time.
        phases: the names of the phases of the first line's vehicle, which are shaded.
        instants_s: times at which the positions of vehicles are drawn.
        begin_s: the time from which on lines are drawn.
        end_s: the time up to which they are drawn.
    """

    label: str
    lines: list[FigureLine]
    marks: list[FigureMark] = []
    tables: list[FigureTable] = []
    over: str = "time_s"
    over_label: str = "time (s)"
    equal_axes: bool = True
    phases: list[str] = []
    instants_s: list[float] = []
    begin_s: float = -inf
    end_s: float = inf


class PublishedFigure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Figure that is drawn again from our data; bars compare the numbers of the item instead."""

    panels: list[FigurePanel] = []
    bars: bool = False


class PublishedItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table, figure or statement of a publication.

    Attributes:
        name: its key, part of file names.
        title: what it shows.
        place: where it is in the publication.
        page: the page of the documentation about the models.
        test: the test that holds it.
        quick: whether it belongs to the quick set.
        notes: contradictions, choices and what is missing.
        numbers: the numbers.
        orders: the published orders of numbers.
        figure: the figure.
    """

    name: str
    title: str
    place: str
    page: str
    test: str
    quick: bool = True
    notes: list[str] = []
    numbers: list[PublishedNumber] = []
    orders: list[PublishedOrder] = []
    figure: PublishedFigure | None = None

    def flights(self) -> list[str]:
        """Return the flights of its numbers and of its figure, each once."""
        panels = self.figure.panels if self.figure is not None else []
        measured = [own.flight for own in self.numbers if own.flight is not None]
        return [*dict.fromkeys([*measured, *(own.flight for one in panels for own in one.lines)])]


class Publication(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Publication with what is reproduced of it.

    Attributes:
        name: its key.
        title: the title.
        citation: authors, journal and year.
        url: address of the publication, or of its program.
        about: what it is, in a sentence or two.
        flights: the flights by name.
        items: tables, figures and statements in the publication's order.
        notes: contradictions and choices that concern all of it.
    """

    name: str
    title: str
    citation: str
    url: str
    about: str
    flights: dict[str, PublishedFlight]
    items: list[PublishedItem]
    notes: list[str] = []


def names() -> tuple[str, ...]:
    """Return the keys of the publications."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def read_publication(name: str) -> Publication:
    """Return a publication.

    Raises:
        ScenarioError: for an unknown key, or a file that is wrong.
    """
    if name not in names():
        message = f"publication: got {name}. {did_you_mean(name, [*names()])}"
        raise ScenarioError(message)
    path = FOLDER / f"{name}.yaml"
    data, _ = plain_yaml.read(path.read_text("utf-8"), YamlSource(path.name))
    try:
        return msgspec.convert(data, Publication)
    except msgspec.ValidationError as error:
        message = f"{path.name}: {error}"
        raise ScenarioError(message) from None
