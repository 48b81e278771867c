"""The pages of published results: not older than their data, and every verdict can be checked."""

import csv
from pathlib import Path

import pytest
from tests.system.commands import kittiwake_does

import kittiwake as kw
from kittiwake.analysis.reproduction.publication import names, read_publication
from kittiwake.analysis.reproduction.reference_tables import reference_path
from kittiwake.analysis.reproduction.verdict import Verdict
from kittiwake.scenario.load import load_in_python

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reproduction"
# a value of ours in a page, to which a flight on another processor comes as near
CLOSE = 1e-4


def committed(name):
    with (PAGES / name / "numbers.csv").open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def number(text):
    return float(text) if text else None


@pytest.mark.parametrize("name", names())
def test_pages_have_the_numbers_of_the_data_file(name):
    rows = iter(committed(name))
    for item in read_publication(name).items:
        published = {own.name: own.published for own in item.numbers}
        for own, row in zip(item.numbers, rows, strict=False):
            assert (row["item"], row["number"]) == (item.name, own.name)
            assert number(row["tolerance"]) == own.tolerance
            unit = 1.0 if own.relative_to is None else published[own.relative_to]
            value = None if own.published is None else own.published / unit
            assert number(row["published"]) == pytest.approx(value)
    assert next(rows, None) is None


@pytest.mark.parametrize("name", names())
def test_verdicts_follow_from_the_numbers_beside_them(name):
    for row in committed(name):
        ours, published, tolerance = (
            number(row[key]) for key in ("ours", "published", "tolerance")
        )
        if row["verdict"] == Verdict.MISSING:
            continue
        if published is None or tolerance is None:
            assert row["verdict"] == Verdict.OURS
            continue
        difference = ours - published
        if abs(difference) <= tolerance + 1e-9 * max(1.0, abs(published)):
            assert row["verdict"] == Verdict.AGREES
        elif row["better"] and (difference < 0.0) == (row["better"] == "less"):
            assert row["verdict"] == Verdict.BETTER
        elif float(row["low"]) - tolerance <= published <= float(row["high"]) + tolerance:
            assert row["verdict"] in (Verdict.BAND, Verdict.DIFFERS)
        else:
            assert row["verdict"] == Verdict.DIFFERS


@pytest.mark.parametrize("name", names())
def test_what_differs_is_explained_on_a_page_with_its_source(name):
    page = (PAGES / f"{name}.md").read_text("utf-8")
    assert "not explained" not in page
    for item in read_publication(name).items:
        assert f"{{ #{item.name} }}" in page
        assert (ROOT / "docs" / item.page).is_file()
        assert (ROOT / item.test).is_file()
        assert f"(tests/{Path(item.test).stem}.md)" in page
        if item.figure is not None:
            assert (PAGES / name / f"{item.name}.png").is_file()
            assert f"({name}/{item.name}.png)" in page


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_flights_can_be_flown(name):
    publication = read_publication(name)
    used = {flight for item in publication.items for flight in item.flights()}
    assert used == {*publication.flights}
    for flight in publication.flights.values():
        files = {path: str(reference_path(file)) for path, file in flight.files.items()}
        overrides = {**flight.overrides, **files}
        load_in_python(flight.scenario, overrides).check_flight()
        for key, values in flight.vary.items():
            for value in values:
                load_in_python(flight.scenario, {**overrides, key: value})


def test_an_unknown_publication_gives_the_nearest_one(tmp_path):
    answer = kittiwake_does("reproduce", "micklish", "--out", tmp_path)
    assert answer.status == 2
    assert "Did you mean 'micklisch'?" in answer.err


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_pages_are_those_that_the_command_writes(name, tmp_path):
    kw.reproduce([name], full=True, out=tmp_path)
    with (tmp_path / name / "numbers.csv").open(newline="", encoding="utf-8") as file:
        again = [*csv.DictReader(file)]
    for one, other in zip(committed(name), again, strict=True):
        assert (one["item"], one["number"]) == (other["item"], other["number"])
        # those of speed are of a machine
        if one["unit"] != "simulated s per s":
            assert number(other["ours"]) == pytest.approx(number(one["ours"]), rel=CLOSE, abs=1e-6)
            assert one["verdict"] == other["verdict"]
