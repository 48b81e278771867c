"""Report on published results: Markdown for the documentation, and one page of HTML."""

import csv
import json
import shlex
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Any

from kittiwake.analysis.log import Log
from kittiwake.analysis.output_file import write_text
from kittiwake.analysis.reproduction.figures import draw_figure, line
from kittiwake.analysis.reproduction.publication import (
    Publication,
    PublishedFlight,
    PublishedItem,
)
from kittiwake.analysis.reproduction.verdict import JudgedNumber, JudgedOrder, Verdict

INDEX, MODELS, PAGE = "index.md", "models.md", "report.html"
# folder of the pages that show the tests
TESTS = "tests"
# where files of flights are, seen from the repository
REFERENCE = "src/kittiwake/analysis/reproduction/reference"
# rows of the table of a figure's line
MAX_ROWS = 200
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.25em .6em}
td:not(:first-child){text-align:right}img{max-width:100%}code{background:#f3f3f3}
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}code{background:#222}
td,th{border-color:#444}}"""
COLUMNS = ("number", "published", "ours", "range", "difference", "tolerance", "verdict")


@dataclass(frozen=True)
class JudgedItem:
    """Item with what was measured.

    Attributes:
        item: the item.
        numbers: its numbers with verdicts.
        orders: its orders with verdicts.
        logs: the flights that its figure draws, by name.
    """

    item: PublishedItem
    numbers: tuple[JudgedNumber, ...]
    orders: tuple[JudgedOrder, ...]
    logs: Mapping[str, Log]

    @property
    def verdicts(self) -> list[Verdict]:
        """All verdicts."""
        return [own.verdict for own in (*self.numbers, *self.orders)]


@dataclass(frozen=True)
class Report:
    """Publications with what was measured of them.

    Attributes:
        parts: the items of each publication.
        full: whether all of them were flown, not the quick set alone.
    """

    parts: tuple[tuple[Publication, tuple[JudgedItem, ...]], ...]
    full: bool

    def verdicts(self, name: str | None = None) -> Counter[Verdict]:
        """Return the number of each verdict, of a publication or of all."""
        return Counter(
            verdict
            for publication, items in self.parts
            if name in (None, publication.name)
            for item in items
            for verdict in item.verdicts
        )

    def figures(self) -> list[dict[str, Any]]:
        """Return all numbers with their verdicts, as JSON has them."""
        return [
            {
                "publication": publication.name,
                "item": own.item.name,
                "number": number.number.name,
                "unit": number.number.unit,
                "published": number.published,
                "ours": _finite(number.ours.value),
                "range": [_finite(number.ours.low), _finite(number.ours.high)],
                "tolerance": number.number.tolerance,
                "verdict": str(number.verdict),
            }
            for publication, items in self.parts
            for own in items
            for number in own.numbers
        ]

    def write(self, folder: Path) -> None:
        """Write pages, figures and data into a folder.

        Raises:
            LogError: if they cannot be written.
        """
        for publication, items in self.parts:
            data = folder / publication.name
            data.mkdir(parents=True, exist_ok=True)
            for own in items:
                if own.item.figure is not None:
                    draw_figure(own.item, own.logs, own.numbers).save(data / f"{own.item.name}.png")
                    _write_lines(own, data)
            write_text(data / "numbers.csv", _numbers_table(items))
            write_text(folder / f"{publication.name}.md", _page(publication, items, folder))
        write_text(folder / INDEX, self._index())
        write_text(folder / MODELS, "\n".join(self._models(folder)))
        write_text(folder / PAGE, self._html(folder))

    def _index(self) -> str:
        rows = []
        for publication, items in self.parts:
            counts = self.verdicts(publication.name)
            cells = [str(counts.get(verdict, 0)) for verdict in Verdict]
            link = f"[{publication.name}]({publication.name}.md)"
            source = f"[{publication.citation}]({publication.url})"
            rows.append([link, source, str(len(items)), *cells])
        kind = "all of it" if self.full else "the quick set"
        return "\n".join(
            [
                "# Published results",
                "",
                f"What five publications show, flown again ({kind}): `kittiwake reproduce"
                f"{' --full' if self.full else ''}`. Tolerances are written in the data files "
                "before a flight, and verdicts follow from them.",
                "",
                *_markdown_table(["", "publication", "items", *map(str, Verdict)], rows),
                "",
                "**agrees**: within the tolerance. **agrees within the band**: the published value "
                "is within the tolerance of the range over plausible values of what the "
                "publication leaves out, or over seeds. **better**: beyond the tolerance on the "
                "better side. **differs**: neither; the reason is given. **ours alone**: nothing "
                "published to compare, or without a "
                "tolerance. **not measured**: the flight has no such value.",
                "",
            ]
        )

    def _models(self, folder: Path) -> Iterator[str]:
        """Yield the lines of the page on what each model was compared with."""
        yield "# Validation by model"
        yield ""
        yield (
            "What the models of each page were compared with: reference, tolerance and measured "
            "error. The equations are on the pages, the check cases in the tests."
        )
        by_page: dict[str, list[tuple[Publication, JudgedItem]]] = {}
        for publication, items in self.parts:
            for own in items:
                by_page.setdefault(own.item.page, []).append((publication, own))
        for page in sorted(by_page):
            yield from ("", f"## {page.removesuffix('.md')}", "")
            tests = dict.fromkeys(own.item.test for _, own in by_page[page])
            links = [_page_link(page, folder), *(_test_link(test, folder) for test in tests)]
            yield " · ".join(links)
            yield ""
            yield from _markdown_table(
                ("quantity", "reference", "tolerance", "error", "verdict"),
                [
                    [
                        _name(number),
                        f"[{publication.name}, {own.item.place}]"
                        f"({publication.name}.md#{own.item.name})",
                        _text(number.number.tolerance),
                        _text(number.difference),
                        str(number.verdict),
                    ]
                    for publication, own in by_page[page]
                    for number in own.numbers
                    if number.number.tolerance is not None
                ],
            )
        yield ""

    def _html(self, folder: Path) -> str:
        """Return all pages as one, with the figures in it."""
        body = [
            f"<h1>Published results</h1><p>{_counts(self.verdicts())}</p>",
        ]
        for publication, items in self.parts:
            body.append(f"<h2>{escape(publication.title)}</h2>")
            source = f'<a href="{escape(publication.url)}">{escape(publication.citation)}</a>'
            body.append(f"<p>{source}. {escape(publication.about)}</p>")
            body += [f"<p>{escape(note)}</p>" for note in publication.notes]
            for own in items:
                body += _html_item(publication, own, folder)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Published results'
            f"</title><style>{STYLE}</style></head><body>{''.join(body)}</body></html>\n"
        )


def command(flight: PublishedFlight) -> str:
    """Return the command line that flies a flight."""
    files = {key: f"{REFERENCE}/{name}" for key, name in flight.files.items()}
    items = (
        f"--set {shlex.quote(f'{key}={json.dumps(value)}')}"
        for key, value in {**flight.overrides, **files}.items()
    )
    return " ".join(["kittiwake run", flight.scenario, *items])


def _page(publication: Publication, items: Sequence[JudgedItem], folder: Path) -> str:
    counts: Counter[Verdict] = Counter(verdict for own in items for verdict in own.verdicts)
    lines = [
        f"# {publication.title}",
        "",
        f"[{publication.citation}]({publication.url}). {publication.about}",
        "",
        _counts(counts),
        "",
        *(f"- {_words(note)}" for note in publication.notes),
        "",
    ]
    for own in items:
        lines += _section(publication, own, folder)
    return "\n".join(lines)


def _section(publication: Publication, own: JudgedItem, folder: Path) -> Iterator[str]:
    item = own.item
    yield f"## {_words(item.place)}: {_words(item.title)} {{ #{item.name} }}"
    yield ""
    yield " · ".join(_links(publication, own, folder))
    yield ""
    yield from (f"- {_words(note)}" for note in item.notes)
    if item.notes:
        yield ""
    if item.figure is not None:
        yield f"![{_words(item.title)}]({publication.name}/{item.name}.png)"
        yield ""
    if own.numbers:
        yield from _markdown_table(COLUMNS, [_cells(number) for number in own.numbers])
        yield ""
    for number in own.numbers:
        if number.verdict is Verdict.DIFFERS:
            yield f"- {_words(number.number.name)}: {_words(number.number.why) or 'not explained'}."
    for order in own.orders:
        yield f"- {_words(_order_sentence(order))}"
    yield ""
    flights = item.flights()
    if flights:
        yield "```"
        yield from (command(publication.flights[name]) for name in flights)
        yield "```"
        yield ""


def _links(publication: Publication, own: JudgedItem, folder: Path) -> Iterator[str]:
    """Yield the model's page, the test and the data; as links where the files are there."""
    item = own.item
    yield _page_link(item.page, folder)
    yield _test_link(item.test, folder)
    yield f"[Data]({publication.name}/numbers.csv)"
    if item.figure is not None and not item.figure.bars:
        yield f"[Lines of the figure]({publication.name}/{item.name}.csv)"


def _page_link(page: str, folder: Path) -> str:
    return f"[Model](../{page})" if (folder.parent / page).is_file() else f"Model: {page}"


def _test_link(test: str, folder: Path) -> str:
    """Return a test as a link to the page that shows it, if there is one."""
    page = f"{TESTS}/{Path(test).stem}.md"
    return f"[Test]({page})" if (folder / page).is_file() else f"Test: `{test}`"


def _name(own: JudgedNumber) -> str:
    """Return the name of a number with its unit, or with what it is relative to."""
    if own.number.relative_to is not None:
        return f"{own.number.name}, relative to {own.number.relative_to}"
    return f"{own.number.name} ({own.number.unit})" if own.number.unit else own.number.name


def _cells(own: JudgedNumber) -> list[str]:
    band = f"{_text(own.ours.low)} to {_text(own.ours.high)}" if own.ours.flights > 1 else ""
    return [
        _name(own),
        _text(own.published),
        _text(own.ours.value),
        band,
        _text(own.difference),
        _text(own.number.tolerance),
        str(own.verdict),
    ]


def _order_sentence(order: JudgedOrder) -> str:
    published, ours = " < ".join(order.order.numbers), " < ".join(order.ours)
    why = f" {order.order.why or 'Not explained'}." if order.verdict is Verdict.DIFFERS else ""
    return (
        f"Order, {order.order.name}: published {published}; ours {ours}: **{order.verdict}**.{why}"
    )


def _counts(counts: Counter[Verdict]) -> str:
    parts = [f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict]]
    return f"Numbers and orders: {', '.join(parts)}." if parts else "Nothing was measured."


def _markdown_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(titles) + " |"
    yield "|" + "---|" * len(titles)
    yield from ("| " + " | ".join(map(_cell, row)) + " |" for row in rows)


def _cell(text: str) -> str:
    return _words(text).replace("|", "\\|")


def _words(text: str) -> str:
    """Return words of a data file for Markdown, which takes a ``<`` for HTML."""
    return text.replace("<", "&lt;")


def _html_item(publication: Publication, own: JudgedItem, folder: Path) -> Iterator[str]:
    item = own.item
    yield f"<h3>{escape(item.place)}: {escape(item.title)}</h3>"
    yield from (f"<p>{escape(note)}</p>" for note in item.notes)
    if item.figure is not None:
        picture = (folder / publication.name / f"{item.name}.png").read_bytes()
        data = b64encode(picture).decode()
        yield f'<img alt="{escape(item.title)}" src="data:image/png;base64,{data}">'
    if own.numbers:
        head = "".join(f"<th>{escape(title)}</th>" for title in COLUMNS)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(number)) + "</tr>"
            for number in own.numbers
        )
        yield f"<table><tr>{head}</tr>{rows}</table>"
    for number in own.numbers:
        if number.verdict is Verdict.DIFFERS:
            why = number.number.why or "not explained"
            yield f"<p>{escape(number.number.name)}: {escape(why)}.</p>"
    yield from (f"<p>{escape(_order_sentence(order))}</p>" for order in own.orders)
    flights = item.flights()
    commands = "\n".join(command(publication.flights[name]) for name in flights)
    yield f"<pre><code>{escape(commands)}</code></pre>" if commands else ""
    yield f"<p>Test: <code>{escape(item.test)}</code>. Model: <code>{escape(item.page)}</code></p>"


def _numbers_table(items: Sequence[JudgedItem]) -> str:
    """Return all numbers as CSV, from which each verdict can be checked."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            "item",
            "number",
            "unit",
            "published",
            "ours",
            "low",
            "high",
            "flights",
            "tolerance",
            "better",
            "relative_to",
            "verdict",
        ]
    )
    for own in items:
        for number in own.numbers:
            declared = number.number
            writer.writerow(
                [own.item.name, declared.name, declared.unit, number.published]
                + [f"{value:.12g}" for value in number.ours[:3]]
                + [number.ours.flights, declared.tolerance, declared.better]
                + [declared.relative_to, str(number.verdict)]
            )
    return text.getvalue()


def _write_lines(own: JudgedItem, folder: Path) -> None:
    """Write the points of a figure's lines, thinned, as CSV."""
    figure = own.item.figure
    if figure is None or figure.bars:
        return
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["flight", "vehicle", "quantity", "over", "x", "y"])
    for panel in figure.panels:
        for each in panel.lines:
            log, span = own.logs[each.flight], (panel.begin_s, panel.end_s)
            at, values = line(log, panel.over, each.quantity, each.vehicle, *span)
            thin = slice(None, None, max(1, -(-len(at) // MAX_ROWS)))
            for x, y in zip(at[thin].tolist(), values[thin].tolist(), strict=True):
                row = [each.flight, each.vehicle or "", each.quantity, panel.over]
                writer.writerow([*row, f"{x:.6g}", f"{y:.6g}"])
    write_text(folder / f"{own.item.name}.csv", text.getvalue())


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _text(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isfinite(value) else "none"
