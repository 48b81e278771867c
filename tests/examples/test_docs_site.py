"""The documentation as readers see it: rendered pages, their links, lengths and tables."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import kittiwake
from kittiwake.cli.list import REGISTRIES
from kittiwake.scenario import library

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


class Links(HTMLParser):
    """Targets of links and pictures of a page, its anchors, its numbers of pictures and codes."""

    def __init__(self):
        super().__init__()
        self.targets, self.anchors, self.article = [], set(), 0
        self.pictures, self.code = 0, 0

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.article += tag == "article"
        self.pictures += tag == "img" and self.article
        self.code += tag == "pre" and self.article
        self.anchors |= {attrs[key] for key in ("id", "name") if attrs.get(key)}
        self.targets += [attrs[key] for key in ("href", "src") if attrs.get(key)]

    def handle_endtag(self, tag):
        self.article -= tag == "article"


@pytest.fixture(scope="module")
def links(site):
    """What each page of the site links, by its file."""
    found = {}
    for path in site.rglob("*.html"):
        found[path] = Links()
        found[path].feed(path.read_text("utf-8"))
    return found


def dead(site, path, target, links):
    """True if a link within the site leads nowhere."""
    address = urlsplit(target)
    # the page of errors has absolute addresses
    if address.scheme or address.netloc or path.name == "404.html":
        return False
    file = (path.parent / unquote(address.path)).resolve() if address.path else path
    file = file / "index.html" if file.is_dir() else file
    if not file.exists() or not file.is_relative_to(site.resolve()):
        return True
    fragment = unquote(address.fragment)
    return bool(fragment) and file in links and fragment not in links[file].anchors


def test_no_link_and_no_anchor_is_dead(site, links):
    links = {path.resolve(): page for path, page in links.items()}
    found = {
        f"{path.relative_to(site.resolve())} -> {target}"
        for path, page in links.items()
        for target in page.targets
        if dead(site, path, target, links)
    }
    assert found == set()


def test_a_dead_link_and_a_dead_anchor_are_found(tmp_path):
    (tmp_path / "there.html").write_text('<a id="here"></a>')
    there = Links()
    there.feed((tmp_path / "there.html").read_text())
    known = {tmp_path / "there.html": there}
    seen = [
        dead(tmp_path, tmp_path / "index.html", target, known)
        for target in ("there.html", "there.html#here", "there.html#gone", "gone.html")
    ]
    assert seen == [False, False, True, True]


# what needs neither: results with pages of their own, decisions, names of the API
WITHOUT_PICTURES = ("reproduction/", "decisions/", "api/")
# pages that list words only
LISTS = {"404.html"}


def test_every_page_has_a_picture_or_code(site, links):
    bare = {
        name
        for path, page in links.items()
        if not page.pictures and not page.code
        if not (name := str(path.relative_to(site))).startswith(WITHOUT_PICTURES)
        if name not in LISTS
    }
    assert bare == set()


def test_all_components_are_in_the_tables_of_the_reference(links, site):
    anchors = {
        one for path, page in links.items() if "reference" in path.parts for one in page.anchors
    }
    registered = {f"{one.family}-{name}" for one in REGISTRIES for name in one.builtin}
    assert registered <= anchors
    listed = (site / "scenarios" / "index.html").read_text("utf-8")
    assert {name for name in library.names() if f"<code>{name}</code>" not in listed} == set()


def test_the_equations_of_components_are_in_place_of_their_markers(site):
    pages = {path: path.read_text("utf-8") for path in site.rglob("index.html")}
    left = ("<!-- mod", "<!-- table", "Equations in the source", "prints its names")
    assert [path for path, text in pages.items() if any(each in text for each in left)] == []
    assert "sigma_u = sigma_v = sigma_w" in pages[site / "wind" / "index.html"]
    assert "omega_n^2 theta_e" in pages[site / "reference" / "controllers" / "index.html"]


SOURCE = re.compile(
    r"^\[Equations in the source\]\(\.\./src/(\S+)\.py\) <!-- (\w+): (.+) -->$", re.MULTILINE
)


def source_of(kind, name):
    """Return the module that a marker names."""
    if kind == "module":
        return f"kittiwake.{name}"
    family, entry = name.split()
    component = next(one for one in REGISTRIES if one.family == family).find(entry)
    return getattr(component, "dynamics", component).__module__


def test_a_page_in_the_repository_leads_to_the_source_of_its_equations():
    pages = {page.name: page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md")}
    markers = sum(len(re.findall("<!-- mod(?:el|ule):", text)) for text in pages.values())
    found = [(name, *one) for name, text in pages.items() for one in SOURCE.findall(text)]
    assert len(found) == markers > 0
    others = [one for one in found if one[1].replace("/", ".") != source_of(*one[2:])]
    assert others == []


def test_all_public_names_are_in_the_api(site, links):
    anchors = {one for path, page in links.items() if "api" in path.parts for one in page.anchors}
    public = {f"{module}.{name}" for name, module in kittiwake._MODULES.items()}
    assert public <= anchors
    pages = {path.parent.name for path in links if "api" in path.parts}
    # the models of vehicles are in the reference
    assert {*kittiwake._NAMESPACES, *kittiwake._TOPICS} - pages == {"vehicles"}


MOST_WORDS = 1200
REFERENCE = re.compile(r"^  - Reference:\n(.*?)^  - \w", re.MULTILINE | re.DOTALL)


def pages_of_the_reference():
    (section,) = REFERENCE.findall((ROOT / "mkdocs.yml").read_text("utf-8"))
    return set(re.findall(r"([\w/-]+\.md)$", section, re.MULTILINE))


def test_pages_outside_the_reference_are_short():
    long = {
        path.name
        for path in ROOT.glob("docs/*.md")
        if path.name not in pages_of_the_reference()
        if len(path.read_text("utf-8").split()) > MOST_WORDS
    }
    assert long == set()


MOST_WORDS_OF_A_SENTENCE = 25


def sentences(text):
    """The sentences of a page, each piece of code as one word; tables and headings left out."""
    text = re.sub(r"^( *)```.*?^\1```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [
        line
        for line in text.splitlines()
        if not re.match(r"\s*(\||!\[|#|<|===)", line) and not line.startswith("    ")
    ]
    text = re.sub(r"\]\([^)]*\)", "]", "\n".join(lines))
    text = re.sub(r"`[^`]*`", "x", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text):
        yield from re.split(r"(?<=[.!?:;])\s+(?=[\w\[*])", " ".join(paragraph.split()))


def test_sentences_are_short():
    long = {
        path.name: found
        for path in sorted(ROOT.glob("docs/*.md"))
        if (
            found := [
                sentence
                for sentence in sentences(path.read_text("utf-8"))
                if len(sentence.split()) > MOST_WORDS_OF_A_SENTENCE
            ]
        )
    }
    assert long == {}


def test_a_long_sentence_is_found_and_code_in_it_is_one_word():
    text = "One `a b c d` two. " + "word " * 26 + ". Short.\n\n```\n" + "code " * 40 + "\n```\n"
    assert [len(sentence.split()) for sentence in sentences(text) if sentence] == [3, 27, 1]
