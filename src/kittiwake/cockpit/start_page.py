"""HTML of the start page and of the page that is shown while a flight is being opened."""

from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from pathlib import Path

from kittiwake.cockpit.search_words import scenario_contents, search_words
from kittiwake.cockpit.start_choices import RecordedRun

ASSETS = Path(str(files("kittiwake.cockpit"))) / "assets"
PICTURES = ASSETS / "pictures"
STYLE, SCRIPT, ICON = "start.css", "start.js", "icon.svg"
NO_PICTURE = '<span class="picture"></span>'


def start_page(
    groups: Mapping[str, Iterable[str]],
    summaries: Mapping[str, str],
    runs: Iterable[RecordedRun],
    recent: Mapping[str, Path],
    refusal: str,
) -> str:
    """Return the start page.

    Args:
        groups: names of library scenarios by titles of their groups.
        summaries: descriptions of the library scenarios by name.
        runs: recorded runs, newest first.
        recent: recent scenario files by key.
        refusal: why the last choice was refused; empty for none.
    """
    return _document(
        "Kittiwake",
        f"""<header><h1>Kittiwake</h1>
<input id="search" type="search" placeholder="Search scenarios and runs" aria-label="Search"
 autofocus>
<label class="upload">Open a scenario file
<input id="upload" type="file" accept=".yaml,.yml"></label>
<a href="#runs">Runs</a>
</header>
<pre id="refusal" role="alert">{escape(refusal)}</pre>
<p id="nothing" hidden>Nothing found. Try another word.</p>
<main>
<p>Choose a scenario to fly it, or a run to replay it. Scenario files can be dropped here.</p>
{_recent_section(recent)}
{"".join(_group_section(title, names, summaries) for title, names in groups.items())}
{_runs_section(runs)}
</main>
<script src="/start/{SCRIPT}"></script>""",
    )


def waiting_page(title: str, stage: str) -> str:
    """Return the page that is shown until the flight has its own; it asks again each second."""
    return _document(
        f"Kittiwake: {title}",
        f"""<div class="waiting"><h1>{escape(title)}</h1><p role="status">{escape(stage)} ...</p>
<progress></progress><p><a href="/start">Back to the start page</a></p></div>""",
        '<meta http-equiv="refresh" content="1">',
    )


def _document(title: str, body: str, head: str = "") -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{head}
<link rel="icon" href="/start/{ICON}">
<link rel="stylesheet" href="/start/{STYLE}"></head>
<body>
{body}
</body></html>
"""


def _group_section(title: str, names: Iterable[str], summaries: Mapping[str, str]) -> str:
    cards = "".join(
        _card("fly", "scenario", name, name, summaries[name], name, title) for name in names
    )
    return f"<section><h2>{escape(title)}</h2><div class='cards'>{cards}</div></section>"


def _recent_section(recent: Mapping[str, Path]) -> str:
    if not recent:
        return ""
    cards = "".join(
        _card("recent", "file", key, path.name, str(path.parent), "", "Recent files")
        for key, path in recent.items()
    )
    return f"<section><h2>Recent files</h2><div class='cards'>{cards}</div></section>"


def _runs_section(runs: Iterable[RecordedRun]) -> str:
    cards = "".join(
        _card("replay", "run", run.name, run.name, run.outcome, Path(run.scenario).name, "Runs")
        for run in runs
    )
    cards = cards or "<p>Flights appear here once they have been flown.</p>"
    return f"<section id='runs'><h2>Runs</h2><div class='cards'>{cards}</div></section>"


def _card(
    action: str, field: str, value: str, title: str, text: str, scenario: str, group: str
) -> str:
    """Return a form that makes a choice, with the picture and the search words of a scenario."""
    words = search_words(group, title, text, scenario, scenario_contents(scenario))
    return (
        f'<form class="card" method="post" action="/start/{action}" data-words="{words}">'
        f'<button name="{field}" value="{escape(value)}">{_picture(scenario)}'
        f"<strong>{escape(title)}</strong><span>{escape(text)}</span></button></form>"
    )


def _picture(scenario: str) -> str:
    if not scenario or not (PICTURES / f"{scenario}.webp").is_file():
        return NO_PICTURE
    return (
        f'<img class="picture" src="/start/pictures/{escape(scenario)}.webp" alt="" loading="lazy">'
    )
