"""The documentation as readers see it: the built pages show no Markdown that was not rendered."""

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# what shows its text as it is, and what nobody reads
VERBATIM = {"pre", "code", "script", "style"}
# tabs, fences, admonitions, collapsible blocks, rows under a table's head, API directives
RAW_MARKDOWN = ("===", "```", "~~~", "!!!", "???", "|--", "| --", ":::")


class Prose(HTMLParser):
    """Text of a page outside of code, a line each."""

    def __init__(self):
        super().__init__()
        self.lines, self.verbatim, self.tabs = [], 0, 0

    def handle_starttag(self, tag, attrs):
        self.verbatim += tag in VERBATIM
        self.tabs += ("class", "tabbed-set tabbed-alternate") in attrs

    def handle_endtag(self, tag):
        self.verbatim -= tag in VERBATIM

    def handle_data(self, data):
        if not self.verbatim:
            self.lines += [line.strip() for line in data.splitlines()]


def prose_of(html):
    page = Prose()
    page.feed(html)
    return page


def raw_markdown(html):
    return [line for line in prose_of(html).lines if line.startswith(RAW_MARKDOWN)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make docs` builds it, in strict mode."""
    folder = tmp_path_factory.mktemp("site")
    answer = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return folder


def test_pages_show_no_raw_markdown(site):
    pages = {path.parent.name: path.read_text("utf-8") for path in site.rglob("index.html")}
    assert len(pages) >= len(list(ROOT.glob("docs/*.md")))
    assert {name: found for name, html in pages.items() if (found := raw_markdown(html))} == {}


def test_commands_of_both_ros_versions_are_shown_in_tabs(site):
    written = (ROOT / "docs" / "ros.md").read_text("utf-8").count('\n=== "ROS 1"\n')
    assert prose_of((site / "ros" / "index.html").read_text("utf-8")).tabs == written > 0


@pytest.mark.parametrize("line", ['=== "ROS 1"', "```", "!!! note", "|---|---|"])
def test_raw_markdown_in_prose_is_found_and_in_code_it_is_not(line):
    assert raw_markdown(f"<p>first\n{line}\nlast</p>") == [line]
    assert raw_markdown(f"<pre><code>{line}</code></pre>") == []
