"""The publications of QRSim and of the Matlab simulator: files, measures, and some verdicts."""

import inspect
from pathlib import Path

import pytest

from kittiwake.analysis.reproduction.measures import bound_measure
from kittiwake.analysis.reproduction.publication import read_publication
from kittiwake.analysis.reproduction.reference_tables import reference_column, reference_path
from kittiwake.analysis.reproduction.verdict import Verdict
from kittiwake.runtime.reproduction.reproduce import reproduce
from kittiwake.scenario.load import load_in_python

ROOT = Path(__file__).parents[2]
NAMES = ("qrsim", "matlab-drone")
FLIGHTS = [(name, flight) for name in NAMES for flight in read_publication(name).flights]
ITEMS = [(name, item.name) for name in NAMES for item in read_publication(name).items]


def item_of(name, item):
    (found,) = [own for own in read_publication(name).items if own.name == item]
    return found


@pytest.mark.parametrize(("name", "flight"), FLIGHTS)
def test_scenario_of_each_flight_loads_with_its_changes(name, flight):
    own = read_publication(name).flights[flight]
    files = {path: str(reference_path(file)) for path, file in own.files.items()}
    varied = [{key: value} for key, values in own.vary.items() for value in values]
    for changes in [{}, *varied]:
        load_in_python(own.scenario, {**own.overrides, **files, **changes})


@pytest.mark.parametrize(("name", "item"), ITEMS)
def test_item_names_measures_tables_a_page_and_a_test_that_exist(name, item):
    own = item_of(name, item)
    assert set(own.flights()) <= set(read_publication(name).flights)
    assert (ROOT / "docs" / own.page).is_file()
    assert (ROOT / own.test).is_file()
    for number in own.numbers:
        assert (number.published is None) == (number.tolerance is None), number.name
        measure = bound_measure(number.measure, of_flight=number.flight is not None)
        table = number.measure.get("table")
        if table is not None and "column" in inspect.signature(measure.func).parameters:
            reference_column(table, number.measure["column"])
    for panel in own.figure.panels if own.figure else ():
        for points in panel.tables:
            reference_column(points.table, points.column)


@pytest.mark.parametrize("name", NAMES)
def test_every_flight_is_measured_or_drawn(name):
    publication = read_publication(name)
    used = {flight for item in publication.items for flight in item.flights()}
    assert used == set(publication.flights)


FLOWN = {
    "qrsim": (
        *("a10-chirp-combined", "rate-guard", "flight-log-thrust", "collisions", "limits"),
        *("waypoint-controller", "velocity-controller"),
    ),
    "matlab-drone": ("figure-5-4", "figure-5-8", "wind"),
}


@pytest.mark.parametrize("name", NAMES)
def test_published_numbers_are_reproduced(name, tmp_path):
    report, folder = reproduce((name,), items=FLOWN[name], out=tmp_path / "report")
    ((_, items),) = report.parts
    assert {own.item.name for own in items} == set(FLOWN[name])
    verdicts = {number.number.name: number.verdict for own in items for number in own.numbers}
    assert len(verdicts) >= 15
    assert set(verdicts.values()) == {Verdict.AGREES}, verdicts
    drawn = {own.item.name for own in items if own.item.figure is not None}
    assert {path.stem for path in (folder / name).glob("*.png")} == drawn


def test_speed_after_a_step_of_pitch_is_that_of_the_constants_and_not_of_the_figure(tmp_path):
    report, _ = reproduce(("matlab-drone",), items=("figure-5-6",), out=tmp_path / "report")
    ((_, (item,)),) = report.parts
    own = [number.verdict for number in item.numbers]
    assert own == [Verdict.AGREES, Verdict.DIFFERS, Verdict.DIFFERS]
    assert all(number.number.why for number in item.numbers[1:])
