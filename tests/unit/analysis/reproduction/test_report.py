"""Reports in Markdown, HTML and CSV say the same."""

import csv
import re
from html import unescape

import numpy as np
import pytest
from tests.unit.analysis.reproduction.hand_made import (
    TIMES_S,
    figure,
    item,
    log,
    number,
    order,
    publication,
)

from kittiwake.analysis.reproduction.publication import PublishedFigure, PublishedFlight
from kittiwake.analysis.reproduction.report import JudgedItem, Report, command
from kittiwake.analysis.reproduction.verdict import Measured, judged_numbers, judged_orders

OURS = {
    "a": Measured.of([1.02]),
    "b|c <i>": Measured.of([2.5]),
    "d": Measured.of([np.nan]),
    "e": Measured.of([4.0], [5.0]),
}
NUMBERS = [
    number("a", published=1.0, tolerance=0.05, unit="m", flight="climb"),
    number("b|c <i>", published=2.0, tolerance=0.1, why="Of <one> thing or | another"),
    number("d", published=3.0, tolerance=0.1),
    number("e", published=4.5, tolerance=0.1),
]
VERDICTS = ["agrees", "differs", "not measured", "agrees within the band"]


def judged(shown, logs=None):
    orders = shown.orders and judged_orders(shown, OURS)
    numbers = judged_numbers(shown, OURS) if shown.numbers else ()
    return JudgedItem(shown, tuple(numbers), tuple(orders), logs or {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("report")
    with_figure = item(NUMBERS, [order("b|c <i>", "a")], figure())
    flights = {"climb": log(z_m=0.1 * TIMES_S)}
    bars = item(NUMBERS[:2], figure=PublishedFigure(bars=True), name="figure-2")
    items = (judged(with_figure, flights), judged(bars))
    Report(((publication(with_figure, bars), items),), full=True).write(made)
    return made


def markdown_rows(text):
    """The cells of the first table."""
    table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE).group()
    rows = [re.split(r"(?<!\\)\|", row)[1:-1] for row in table.splitlines()[2:]]
    return [[unescape(cell.strip().replace("\\|", "|")) for cell in row] for row in rows]


def html_rows(text):
    table = re.search(r"<table>(.*?)</table>", text).group(1)
    rows = re.findall(r"<tr>(<td>.*?)</tr>", table)
    return [[unescape(cell) for cell in re.findall(r"<td>(.*?)</td>", row)] for row in rows]


def test_markdown_and_html_have_the_same_cells(folder):
    rows = markdown_rows((folder / "made-up.md").read_text())
    assert rows == html_rows((folder / "report.html").read_text())
    assert [row[-1] for row in rows] == VERDICTS
    assert [row[0] for row in rows] == ["a (m)", "b|c <i>", "d", "e"]
    assert rows[3][3] == "4 to 5"


def test_csv_has_the_same_numbers(folder):
    with (folder / "made-up" / "numbers.csv").open() as file:
        found = [row for row in csv.DictReader(file) if row["item"] == "figure-1"]
    assert [row["verdict"] for row in found] == VERDICTS
    assert [row["number"] for row in found] == [own.name for own in NUMBERS]
    for row, cells in zip(found, markdown_rows((folder / "made-up.md").read_text()), strict=True):
        assert float(row["published"]) == float(cells[1])
        shown = "none" if row["ours"] == "nan" else f"{float(row['ours']):.4g}"
        assert shown == cells[2]


def test_words_of_a_data_file_are_no_markup(folder):
    page = (folder / "report.html").read_text()
    assert "<b>" not in page
    assert "Height | width of &lt;b&gt;" in page
    assert "Of &lt;one&gt; thing or | another" in page
    text = (folder / "made-up.md").read_text()
    assert not re.search(r"<(b|i|one)>", text)
    assert "b\\|c &lt;i>" in text


def test_orders_and_reasons_are_in_both(folder):
    for name in ("made-up.md", "report.html"):
        text = unescape((folder / name).read_text())
        assert "published b|c <i> < a; ours a < b|c <i>: **differs**. Nobody knows." in text
        assert "b|c <i>: Of <one> thing or | another." in text


def test_index_counts_the_verdicts(folder):
    rows = markdown_rows((folder / "index.md").read_text())
    # two of the numbers are in the second item as well
    source = "[Nobody, 1999](https://example.org/nobody)"
    assert rows == [["[made-up](made-up.md)", source, "2", "2", "1", "0", "3", "1", "0"]]


def test_lines_of_a_figure_are_written_thinned(folder):
    with (folder / "made-up" / "figure-1.csv").open() as file:
        rows = [*csv.DictReader(file)]
    assert 100 < len(rows) <= 400
    for row in rows:
        assert float(row["y"]) == pytest.approx(0.1 * float(row["x"]), abs=1e-6)
    assert not (folder / "made-up" / "figure-2.csv").exists()


def test_command_can_be_pasted_into_a_shell():
    flight = PublishedFlight("hover", {"vehicles.a.b": [1, 2], "vehicles.a.c": "it's"})
    expected = "kittiwake run hover --set 'vehicles.a.b=[1, 2]' --set "
    assert command(flight).startswith(expected)
