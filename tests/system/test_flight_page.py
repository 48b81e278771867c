"""The static page of a flight in a real browser, from disk and without a network."""

import numpy as np
import pytest
from playwright.sync_api import sync_playwright
from tests.system.test_cockpit import BROWSER, FLAGS, PATIENCE_S, screenshot

import kittiwake as kw

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no browser; scripts/browser-setup installs one"),
    pytest.mark.xdist_group("cockpit"),
    # the browser draws without a graphics card, which takes both cores for a minute
    pytest.mark.slow,
]
LOCAL = ("file:", "data:", "blob:")
TIME = "kittiwake.time"
# mean difference of small pictures of the scene that differ, in levels of color
DIFFERENT = 0.5


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "flight.html"
    kw.load("hover-hummingbird", {"time.duration_s": 6.0}).run().page().save(path)
    return path.as_uri()


def wait_for_change(page, before):
    """Wait until the scene looks different."""
    for _ in range(60):
        page.wait_for_timeout(500)
        if np.abs(screenshot(page) - before).mean() > DIFFERENT:
            return
    pytest.fail("the scene does not change")


def drag(page, box, start, end):
    x, y = box["x"], box["y"] + 0.6 * box["height"]
    page.mouse.move(x + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(x + end * box["width"], y, steps=4)
    page.mouse.up()


def test_page_from_disk_turns_plays_seeks_and_zooms_without_a_network(address):
    problems, refused = [], []

    def only_local(route):
        if route.request.url.startswith(LOCAL):
            route.continue_()
        else:
            refused.append(route.request.url)
            route.abort()

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(1e3 * PATIENCE_S)
        page.route("**/*", only_local)
        page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(address)
        page.wait_for_selector("#kw-wait", state="detached")
        page.wait_for_selector("#root canvas")
        assert page.title() == "hover-hummingbird"
        page.wait_for_function("kittiwake.camera !== undefined")
        empty = np.zeros((90, 160, 3))
        wait_for_change(page, empty)

        before = screenshot(page)
        drag(page, page.locator("#root canvas").first.bounding_box(), 0.5, 0.7)
        wait_for_change(page, before)

        # the browser may take seconds for a click
        page.select_option("#kw-speed", "0.25")
        page.click("#kw-play")
        page.wait_for_function(f"{TIME} > 0.2")
        page.click("#kw-play")
        assert not page.evaluate("kittiwake.playing")
        line = page.locator("#kw-line").bounding_box()
        page.mouse.click(line["x"] + 0.5 * line["width"], line["y"] + 0.5 * line["height"])
        assert page.evaluate(TIME) == pytest.approx(3.0, abs=0.1)
        shown = (
            page.evaluate("kittiwake.vehicleAt(0, 0)"),
            page.evaluate("kittiwake.vehicleAt(0, 3)"),
        )
        assert np.linalg.norm(np.subtract(*shown)) > 0.5

        drag(page, page.locator(".kw-chart canvas").first.bounding_box(), 0.3, 0.6)
        low, high = page.evaluate("kittiwake.charts.range()")
        assert 0.5 < low < 2.5 < high < 5.0
        page.click("#kw-more")
        assert "RMS error" in page.locator("#kw-summary").inner_text()
        browser.close()
    assert refused == []
    assert problems == []
