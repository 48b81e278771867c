"""The start page in a real browser: from a card to a flight, its past, back, and to a replay."""

import re

import numpy as np
import pytest
from tests.system.test_cockpit import (
    BROWSER,
    eventually,
    hosts,
    kittiwake,
    page_at,
    press,
    shown_s,
    slider,
)

from kittiwake.analysis.log import Log
from kittiwake.cockpit.page_styles import GLANCE_PX

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no browser; scripts/browser-setup installs one"),
    pytest.mark.xdist_group("cockpit"),
    # the browser draws without a graphics card, which takes both cores for minutes
    pytest.mark.slow,
]
BAD = b"name: bad\ntime: {rate_hz: -5}\nvehicles: {a: {model: pelicn}}\n"
SEARCH = "#search"
# words that are not in the scenarios, and one that they find
EVERYDAY = {
    "broken motor": "motor-failure", "Motor failures": "motor-failure", "boat deck": "deck-landing",
    "crash": "keep-spot-10", "gps": "gps-errors", "swarm": "flock-1000", "lakes": "survey-lake",
    "camera": "search-rescue",
}  # fmt: skip
# of the scene
CANVAS = "canvas[data-engine]"


def search(page, words):
    """Return the titles of the cards that a search finds."""
    page.fill(SEARCH, words)
    return page.locator(".card:visible strong").all_inner_texts()


def back(page):
    press(page, "Back to the start page")
    page.wait_for_selector(SEARCH)


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """Notes of a walk over the pages, and the folder in which it was made."""
    folder, notes, output = tmp_path_factory.mktemp("start"), {"errors": []}, []
    with (
        kittiwake("view", cwd=folder, output=output) as address,
        page_at(address, SEARCH) as (page, requested),
    ):
        page.on("pageerror", lambda error: notes["errors"].append(str(error)))
        page.on(
            "console",
            lambda line: notes["errors"].append(line.text) if line.type == "error" else None,
        )
        notes["everyday"] = {words: search(page, words) for words in EVERYDAY}
        notes["found"] = search(page, "hummingbird place hover")
        page.locator(".card:visible button").first.click(no_wait_after=True)
        page.wait_for_selector("canvas")
        look_back(page, notes)
        back(page)
        refuse_upload(page, notes)
        eventually(lambda: [*folder.glob("runs/*/overview.png")])
        page.reload()
        (run,) = search(page, "left for the start page")
        page.locator(".card:visible button").first.click(no_wait_after=True)
        page.wait_for_selector("canvas")
        export(page, notes)
        back(page)
        notes["requested"] = requested
    return folder / "runs" / run, notes, "".join(output)


def look_back(page, notes):
    """Pull the flight back to its start, and return to the newest state."""
    eventually(lambda: shown_s(page) > 5.0)
    slider(page, "time [s]").press("Home")
    eventually(lambda: "the past" in page.inner_text("body"))
    press(page, "Pause")
    page.get_by_role("button", name="Resume", exact=True).wait_for()
    notes["past_s"] = shown_s(page)
    notes["then_s"] = float(re.search(r"flight is at ([0-9.]+) s", page.inner_text("body"))[1])
    press(page, "Live")
    # text of the page may be drawn late
    eventually(lambda: shown_s(page) > notes["then_s"])
    notes["live"] = "the past" not in page.inner_text("body")


def refuse_upload(page, notes):
    file = {"name": "bad.yaml", "mimeType": "text/yaml", "buffer": BAD}
    page.set_input_files("#upload", file)
    page.wait_for_selector("#refusal:not(:empty)")
    notes["refusal"] = page.inner_text("#refusal")


def export(page, notes):
    """Save the rows of the whole flight."""
    eventually(lambda: shown_s(page) > 0.5)
    notes["replayed_s"] = shown_s(page)
    page.get_by_role("tab", name="View").click()
    with page.expect_download() as download:
        press(page, "whole flight")
    notes["csv"] = download.value.path().read_text()


def test_a_search_finds_scenarios(walk):
    assert "hover-hummingbird" in walk[1]["found"]
    assert "flock-8" not in walk[1]["found"]


def test_a_search_knows_everyday_words(walk):
    for words, scenario in EVERYDAY.items():
        assert scenario in walk[1]["everyday"][words]
        assert "hover-crazyflie" not in walk[1]["everyday"][words]


def test_a_flight_goes_on_while_its_past_is_shown(walk):
    notes = walk[1]
    assert notes["past_s"] < notes["then_s"]
    assert notes["live"]


def test_a_flight_that_was_left_is_complete(walk):
    log = Log.read(walk[0])
    assert log.complete
    assert log.summary["reason"].startswith("left for the start page")


def test_a_bad_upload_is_refused_with_file_and_line(walk):
    assert "bad.yaml:2: time.rate_hz" in walk[1]["refusal"]
    assert "Did you mean 'pelican'" in walk[1]["refusal"]


def test_the_export_of_a_replay_is_that_of_the_log(walk):
    table = Log.read(walk[0]).tables["hummingbird"]
    head, *lines = walk[1]["csv"].splitlines()
    assert tuple(head.split(",")) == table.columns
    last = np.array([float(number or "nan") for number in lines[-1].split(",")])
    np.testing.assert_array_equal(last, table.values[-1])
    assert len(lines) == len(table.values)


def test_a_replay_begins_at_its_start(walk):
    assert walk[1]["replayed_s"] < Log.read(walk[0]).end_s


def test_neither_page_nor_server_reports_an_error(walk):
    _, notes, output = walk
    assert notes["errors"] == []
    if "Traceback" in output:
        pytest.fail(output)
    assert hosts(notes["requested"]) == {"127.0.0.1"}


def test_the_parts_of_a_narrow_page_are_aligned(tmp_path):
    with (
        kittiwake("view", "hover-hummingbird", cwd=tmp_path) as address,
        page_at(address) as (page, _),
    ):
        page.wait_for_selector(".kw-glance")
        # beside the controls, which the state panel had covered
        page.set_viewport_size({"width": 1000, "height": 700})
        eventually(lambda: 0.0 < box(page, ".kw-glance")["right"] <= box(page, CANVAS)["right"])
        page.set_viewport_size({"width": 390, "height": 844})
        page.get_by_text("Charts", exact=True).first.click()
        page.wait_for_selector(".uplot")
        press(page, "Hold")
        page.wait_for_selector("svg[aria-label=events]")
        eventually(lambda: box(page, CANVAS)["y"] == GLANCE_PX)
        assert box(page, ".kw-glance")["height"] >= GLANCE_PX
        marks, bar = box(page, "svg[aria-label=events]"), box(page, ".mantine-Slider-track")
        assert (marks["x"], marks["width"]) == pytest.approx((bar["x"], bar["width"]), abs=1.0)
        bottom_px = box(page, CANVAS)["y"] + box(page, CANVAS)["height"]
        assert bottom_px == pytest.approx(0.4 * 844.0, abs=1.0)
        # charts had widened the controls with each update
        page.wait_for_timeout(3_000.0)
        assert max(one.bounding_box()["width"] for one in page.locator(".uplot").all()) < 390.0


def box(page, selector):
    """Return the place of an element, which the page may replace at any time."""
    return page.evaluate(f"document.querySelector('{selector}').getBoundingClientRect().toJSON()")
