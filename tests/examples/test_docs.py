"""What the documentation shows can be copied: its Python runs, its scenarios and commands load."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import jax
import pytest

from kittiwake.cli.list import KINDS, REGISTRIES
from kittiwake.scenario import library
from kittiwake.scenario.load import load_scenario

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
PAGES = {path.name: path.read_text("utf-8") for path in FILES}
COMMAND = re.compile(r"^kittiwake (run|check|list) .*$", re.MULTILINE)
INPUTS = "time_s,pitch_rad,roll_rad,throttle,yaw_rate_radps,battery_v\n0,0,0,0.59,0,11\n1,,,,,\n"


def blocks(page, language):
    """The code blocks of a page in one language."""
    # all of them, so that the end of one is not taken for the beginning of another
    found = re.findall(r"^```(\w*)\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL)
    return [block for name, block in found if name == language]


def commands(verb):
    """Each line of the pages that runs one of the command line's verbs, as its arguments."""
    shown = [
        found.group()
        for page in PAGES
        for block in blocks(page, "")
        for found in COMMAND.finditer(block)
        if found.group(1) == verb
    ]
    assert shown
    return [shlex.split(line, comments=True)[2:] for line in shown]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")])
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    with jax.enable_x64(False):  # as a reader's JAX is
        for block in blocks(page, "python"):
            exec(compile(block, page, "exec"), names)
    assert "simulation" in names


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "yaml")])
def test_the_scenarios_of_a_page_can_be_flown(page, tmp_path):
    for block in blocks(page, "yaml"):
        (tmp_path / "shown.yaml").write_text(block, encoding="utf-8")
        load_scenario(str(tmp_path / "shown.yaml")).check_flight()


@pytest.mark.parametrize("arguments", commands("run"), ids=" ".join)
def test_a_run_that_is_shown_can_be_flown(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("inputs.csv").write_text(INPUTS)
    name, *options = arguments
    items = [value for key, value in pairwise(options) if key == "--set"]
    load_scenario(name, items).check_flight()


def test_what_is_shown_to_be_listed_is_there():
    known = {*KINDS, *library.names(), *(n for registry in REGISTRIES for n in registry.entries)}
    assert {word for arguments in commands("list") for word in arguments} <= known


def test_the_library_is_listed_in_full():
    rows = re.findall(r"^\| `([\w-]+)` \|", PAGES["scenarios.md"], re.MULTILINE)
    assert set(rows) == set(library.names())
