"""Random clicks on all visible controls of the cockpit, while flights end, restart and switch."""

import random

import pytest
from playwright.sync_api import Error
from tests.system.test_cockpit import BROWSER, eventually, kittiwake, page_at

from kittiwake.cockpit.start_server import END_PATH

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no browser; scripts/browser-setup installs one"),
    pytest.mark.xdist_group("cockpit"),
    # the browser draws without a graphics card, which takes both cores for minutes
    pytest.mark.slow,
]
# ends by itself, so that its end and its restart are among the clicks
SCENARIO = """
name: clicks
time: {rate_hz: 240, duration_s: 15, log_rate_hz: 48}
world:
  area: {x_m: [-50, 50], y_m: [-50, 50], z_m: [-1, 60]}
  obstacles:
    wall: {type: box, center_world_m: [0, 4, 3], sides_m: [6, 0.5, 6]}
vehicles:
  drone:
    model: crazyflie
    count: 2
    spacing_m: [2, 0, 0]
    start: {position_world_m: [0, 0, 2]}
    sensors: {turns: {type: ultrasonic-array, scheme: all-1}}
    guidance: {type: hold}
"""
# chosen from the start page after some clicks on a flight
SWITCHES = ("hover-hummingbird", "clicks.yaml", "left for the start page", "flock-8")
CLICKS = 200
CLICKS_OF_FLIGHT = CLICKS // (len(SWITCHES) + 1)
CONTROLS = (
    "button, [role=tab], [role=slider], [role=option], input[type=checkbox], input[role=combobox], "
    "input[aria-haspopup=listbox]"
)
KEYS = ("Home", "End", "ArrowLeft", "ArrowRight", "PageUp")
# for one click; a control may be covered meanwhile
CLICK_MS = 2_000.0
# All scripts of the scene run, but nothing is drawn: without a graphics card a frame takes over a
# second, and a click waits for two of them. Files are downloaded: the browser has no window for the
# dialog that asks where to save them.
SCRIPT = """
for (const name of ["drawArrays", "drawArraysInstanced", "drawElements", "drawElementsInstanced"])
  WebGL2RenderingContext.prototype[name] = () => {};
delete window.showSaveFilePicker;
"""
# scrolls to a control; returns its name, and whether a user could click it there
SHOW = """control => {
  control.scrollIntoView({block: "nearest"});
  const {x, y, width, height} = control.getBoundingClientRect();
  const name = control.innerText || control.getAttribute("aria-label") || control.value || "";
  return [name, control.contains(document.elementFromPoint(x + width / 2, y + height / 2))];
}"""
# ends the flight, which the test does in turn
BACK = "Back to the start page"


def click_at_random(page, draw):
    """Click a control, or press a key on a slider; return what was done.

    Return None if the chosen control is covered.
    """
    options = page.locator("[role=option]:visible")
    controls = options if options.count() else page.locator(CONTROLS).locator("visible=true")
    control = controls.nth(draw.randrange(max(controls.count(), 1)))
    try:
        name, free = control.evaluate(SHOW, timeout=CLICK_MS)
        if not free or name == BACK:
            return None
        if control.get_attribute("role", timeout=CLICK_MS) == "slider":
            key = draw.choice(KEYS)
            control.press(key, timeout=CLICK_MS)
            return f"{key} on {name}"
        control.click(timeout=CLICK_MS, no_wait_after=True)
    except Error as error:  # replaced or covered meanwhile
        return f"no click: {error.message.splitlines()[0]}"
    return f"click on {name}"


def switch(page, words):
    """Leave the flight and open another one, or a run, from the start page."""
    # the button may be hidden behind viser's settings
    form = page.locator(f"form[action='{END_PATH}']")
    if form.count():
        form.first.evaluate("form => form.requestSubmit()")
    page.wait_for_selector("#search")

    def found():
        page.reload()
        page.fill("#search", words)
        return page.locator(".card:visible").count()

    # the run of the flight that was left appears once it is complete
    eventually(found)
    page.locator(".card:visible button").first.click(no_wait_after=True)
    page.wait_for_selector("canvas")


def test_random_clicks_cause_no_error(tmp_path):
    (tmp_path / "clicks.yaml").write_text(SCENARIO)
    draw, errors, done, output = random.Random(0), [], [], []
    with (
        kittiwake("view", "clicks.yaml", "--as-written", cwd=tmp_path, output=output) as address,
        page_at(address, script=SCRIPT) as (page, _),
    ):
        page.on("pageerror", lambda error: errors.append((len(done), str(error))))
        page.on(
            "console",
            lambda line: errors.append((len(done), line.text)) if line.type == "error" else None,
        )
        switches = iter(SWITCHES)
        for _ in range(10 * CLICKS):
            if len(done) == CLICKS:
                break
            if not (clicked := click_at_random(page, draw)):
                continue
            done.append(clicked)
            if len(done) % CLICKS_OF_FLIGHT == 0 and len(done) < CLICKS:
                switch(page, next(switches))
    refused = sum(one.startswith("no click") for one in done)
    listing = "\n".join(f"{number}: {one}" for number, one in enumerate(done))
    assert errors == [], listing
    if "Traceback" in "".join(output) or "could not draw" in "".join(output):
        pytest.fail("".join(output) + listing)
    assert len(done) == CLICKS
    assert refused < CLICKS // 4, listing
