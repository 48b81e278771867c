"""The publications of QRSim and of the Matlab simulator: files, measures, and some verdicts."""

from functools import cache
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
publication = cache(read_publication)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_scenarios_of_all_flights_load_with_their_changes(name):
    for own in publication(name).flights.values():
        files = {path: str(reference_path(file)) for path, file in own.files.items()}
        varied = [{key: value} for key, values in own.vary.items() for value in values]
        for changes in [{}, *varied]:
            load_in_python(own.scenario, {**own.overrides, **files, **changes})


@pytest.mark.parametrize("name", NAMES)
def test_items_name_a_page_and_a_test_that_exist_and_flights_of_their_file(name):
    for own in publication(name).items:
        assert (ROOT / "docs" / own.page).is_file(), own.page
        assert (ROOT / own.test).is_file(), own.test
    used = {flight for item in publication(name).items for flight in item.flights()}
    assert used == set(publication(name).flights)


@pytest.mark.parametrize("name", NAMES)
def test_measures_take_their_arguments_and_tables_have_their_columns(name):
    numbers = [number for item in publication(name).items for number in item.numbers]
    for number in numbers:
        assert (number.published is None) == (number.tolerance is None), number.name
        bound_measure(number.measure, of_flight=number.flight is not None)
        if "column" in number.measure and "table" in number.measure:
            reference_column(number.measure["table"], number.measure["column"])
    for item in publication(name).items:
        for panel in item.figure.panels if item.figure else ():
            for points in panel.tables:
                reference_column(points.table, points.column)


FLOWN = {
    "qrsim": (
        *("a10-chirp-combined", "rate-guard", "flight-log-thrust", "collisions", "limits"),
        *("waypoint-controller", "velocity-controller"),
    ),
    "matlab-drone": ("figure-5-4", "figure-5-8", "wind"),
}


@pytest.mark.slow
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


@pytest.mark.slow
def test_speed_after_a_step_of_pitch_is_that_of_the_constants_and_not_of_the_figure(tmp_path):
    report, _ = reproduce(("matlab-drone",), items=("figure-5-6",), out=tmp_path / "report")
    ((_, (item,)),) = report.parts
    own = [number.verdict for number in item.numbers]
    assert own == [Verdict.AGREES, Verdict.DIFFERS, Verdict.DIFFERS]
    assert all(number.number.why for number in item.numbers[1:])
