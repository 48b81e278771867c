"""The cockpit in a real browser: the scene, the controls and the resulting log."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from base64 import b64decode
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect, sync_playwright
from tests import interrupts

from kittiwake.analysis.log import Log

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no browser; scripts/browser-setup installs one"),
    pytest.mark.xdist_group("cockpit"),
    # the browser draws without a graphics card, which takes both cores for a minute
    pytest.mark.slow,
]
# software WebGL, and no background services of the browser
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
]
SCENARIO = """
name: cockpit
time: {rate_hz: 240, duration_s: 600, log_rate_hz: 48}
world:
  area: {x_m: [-500, 500], y_m: [-500, 500], z_m: [-1, 60]}
  obstacles:
    wall: {type: box, center_world_m: [0, 4, 3], sides_m: [6, 0.5, 6]}
vehicles:
  drone:
    model: angle-velocity
    start: {position_world_m: [0, 0, 2]}
    sensors: {turns: {type: ultrasonic-array, scheme: all-1}}
    guidance: {type: hold}
"""
REFERENCE = Path(__file__).parent / "data" / "cockpit.png"
SMALL = (160, 90)
# that of the scene; charts have others
LARGEST_CANVAS = (
    "[...document.querySelectorAll('canvas')]"
    ".reduce((one, other) => other.width * other.height > one.width * one.height ? other : one)"
)
PATIENCE_S = 120.0
# quaternion component of a pitch of six degrees
HALF_SINE = np.sin(np.radians(3.0))


@contextmanager
def kittiwake(*arguments, cwd=None, output=()):
    """Run a command and yield the address that it prints; interrupt it at the end.

    What it prints later is appended to the list ``output``.
    """
    command = [sys.executable, "-m", "kittiwake", *map(str, arguments), "--no-browser"]
    command += ["--port", "0"]
    # without a display no browser is opened
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    with TemporaryDirectory() as state, ExitStack() as stack:
        # the list of recent files
        environment["XDG_STATE_HOME"] = state
        with interrupts.heard():
            process = stack.enter_context(
                subprocess.Popen(
                    command, stderr=subprocess.PIPE, text=True, env=environment, cwd=cwd
                )
            )
        try:
            begin = ""
            while not (found := re.search(r"http://\S+", begin)):
                line = process.stderr.readline()
                assert line, begin
                begin += line
            yield found[0]
        finally:
            printed = interrupt(process)
            if isinstance(output, list):
                output.append(printed)


def interrupt(process):
    """Interrupt a process as Ctrl-C does; kill it after a timeout. Return what it has printed."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=PATIENCE_S)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        _, output = process.communicate()
        pytest.fail(f"Ctrl-C did not end the process within {PATIENCE_S:g} s; output:\n{output}")


@contextmanager
def page_at(address, ready="canvas", script=""):
    """Yield the page in a browser once an element is there, and the URLs that it requests.

    A script runs before those of the page.
    """
    requested = []
    with sync_playwright() as playwright, ExitStack() as stack:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        stack.callback(browser.close)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(1e3 * PATIENCE_S)
        expect.set_options(timeout=1e3 * PATIENCE_S)
        page.add_init_script(script)
        page.on("request", lambda request: requested.append(request.url))
        page.on("websocket", lambda socket: requested.append(socket.url))
        page.goto(address)
        page.wait_for_selector(ready)
        yield page, requested


def screenshot(page):
    """Return a small picture of the scene alone, without the panels above it."""
    url = page.evaluate(f"{LARGEST_CANVAS}.toDataURL('image/png')")
    picture = Image.open(BytesIO(b64decode(url.partition(",")[2])))
    return np.asarray(picture.convert("RGB").resize(SMALL, Image.Resampling.BOX), float)


def is_complete(picture):
    """Return True if the picture shows the sky, the wall, and the drone in the middle."""
    sky, wall = picture[:10, 100:].mean(axis=(0, 1)), picture[25:40, 10:60].mean(axis=(0, 1))
    drone = np.ptp(picture[35:55, 60:100], axis=(0, 1))
    return sky[2] > sky[0] + 20.0 and wall[0] > wall[2] + 30.0 and drone.max() > 60.0


def complete_screenshot(page):
    """Return a picture of the complete scene, or the last one before a timeout.

    A live scene never settles: rotors turn and sensor cones change.
    """
    end_s = time.monotonic() + PATIENCE_S
    while not is_complete(picture := screenshot(page)) and time.monotonic() < end_s:
        time.sleep(0.2)
    return picture


def tab(page, name):
    page.get_by_role("tab", name=name).click()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


def slider(page, label):
    """Return the thumb of a slider."""
    text = page.locator("label", has_text=label).first
    return text.locator("xpath=following::div[@role='slider'][1]")


def logged(folder, *columns):
    """Return columns of the log written so far."""
    return Log.read(folder).tables["drone"].part(("time_s", *columns))


def eventually(holds):
    end_s = time.monotonic() + PATIENCE_S
    while not (found := holds()) and time.monotonic() < end_s:
        time.sleep(0.2)
    assert found


@pytest.fixture(scope="module")
def flight(tmp_path_factory):
    """Flight controlled from a page, and log values during the flight."""
    folder = tmp_path_factory.mktemp("cockpit")
    scenario, out = folder / "cockpit.yaml", folder / "out"
    scenario.write_text(SCENARIO)
    notes = {}
    with (
        kittiwake("run", scenario, "--live", "--out", out) as address,
        page_at(address) as (page, requested),
    ):
        status = page.get_by_text("is controlled by")
        expect(status).to_contain_text("guidance")
        expect(status).not_to_contain_text("preparing commands")
        notes["live"] = complete_screenshot(page)
        # the page is there before the flight has begun
        eventually((out / "log.mcap").is_file)
        pitch(page, out, notes)
        notes["wind"] = set_wind(page, out)
        take_off_and_land(page, out, notes)
        change_round_robin(page, out)
        notes["stuck"] = fail_sensors(page, out)
        notes["gain"] = tune(page, out)
        notes["went_m"] = go_to_click(page, out)
        notes["paused"] = pause(page, out)
        notes["requested"] = requested
    return out, notes


def pitch(page, out, notes):
    """Pitch by the arrow keys of a slider, half a degree each."""
    knob = slider(page, "pitch [deg]")
    for _ in range(12):
        knob.press("ArrowRight")
    column = "cmd_q_world_from_body_y"
    eventually(lambda: logged(out, column)[-1, 1] == pytest.approx(HALF_SINE, abs=1e-6))
    time.sleep(0.5)
    notes["leant_s"] = logged(out)[-1, 0]
    press(page, "Hold")


def take_off_and_land(page, out, notes):
    """Take off by two meters, and land on the ground."""
    height_m = steady_height_m(out)
    press(page, "Take off")
    eventually(lambda: logged(out, "z_m")[-1, 1] > height_m + 1.5)
    notes["rose_m"] = steady_height_m(out) - height_m
    press(page, "Land")
    eventually(lambda: logged(out, "z_m")[-1, 1] < 0.1)


def steady_height_m(out):
    """Return the height when it has been constant for a second."""
    eventually(lambda: np.ptp(logged(out, "z_m")[-48:, 1]) < 0.01)
    return logged(out, "z_m")[-1, 1]


def change_round_robin(page, out):
    """Switch from all sensors in turn to the front sensor only, which then measures at 16 Hz."""
    tab(page, "World")
    press(page, "front-only")

    def front_alone():
        rows = logged(out, *(f"sensor.turns.active_{i}" for i in range(5)))
        return (rows[-100:, 1] == 1.0).all() and (rows[-100:, 2:] == 0.0).all()

    eventually(front_alone)


def set_wind(page, out):
    """Set wind from the north by a slider; return the wind at the drone, east and north."""
    tab(page, "World")
    slider(page, "speed at 6 m").press("End")
    eventually(lambda: abs(logged(out, "wind_y_world_mps")[-1, 1]) > 1.0)
    wind = logged(out, "wind_x_world_mps", "wind_y_world_mps")[-1, 1:]
    slider(page, "speed at 6 m").press("Home")
    tab(page, "Command")
    return wind


def fail_sensors(page, out):
    """Return True if failed ultrasonic sensors keep their last values."""
    page.get_by_text("Faults", exact=True).click()
    box = page.get_by_label("turns", exact=True)
    box.check()
    ranges = [f"sensor.turns.ranges_{i}_m" for i in range(5)]
    eventually(lambda: np.ptp(logged(out, *ranges)[-40:, 1:], axis=0).max() == 0.0)
    stuck = logged(out, *ranges)[-1, 1:]
    tab(page, "Command")
    press(page, "Take off")
    height_m = logged(out, "z_m")[-1, 1]
    eventually(lambda: logged(out, "z_m")[-1, 1] > height_m + 1.0)
    still = (logged(out, *ranges)[-1, 1:] == stuck).all()
    tab(page, "World")
    box.uncheck()
    return still


def tune(page, out):
    """Enter a gain of the position controller; return the time."""
    tab(page, "Parameters")
    page.get_by_text("position", exact=True).click()
    field = page.locator("label", has_text="natural_frequency_radps").first
    number = field.locator("xpath=following::input[@inputmode='decimal'][1]")
    number.fill("0.9")
    number.press("Enter")
    return logged(out)[-1, 0]


def go_to_click(page, out):
    """Click a location on the ground; return the distance flown."""
    tab(page, "Command")
    before_m = logged(out, "x_m", "y_m")[-1, 1:]
    press(page, "Go to location")
    page.mouse.click(560, 440)

    def distance_m():
        return np.linalg.norm(logged(out, "x_m", "y_m")[-1, 1:] - before_m)

    eventually(lambda: distance_m() > 0.3)
    return distance_m()


def pause(page, out):
    """Pause; return the time flown during a second."""
    press(page, "Pause")
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    time.sleep(0.5)
    before_s = logged(out)[-1, 0]
    time.sleep(1.0)
    return logged(out)[-1, 0] - before_s


def test_the_log_follows_the_slider(flight):
    out, notes = flight
    rows = logged(out, "qy", "vx_mps")
    pitched = rows[(rows[:, 0] > notes["leant_s"] - 0.1) & (rows[:, 0] <= notes["leant_s"])]
    # the angles follow within 50 ms
    np.testing.assert_allclose(pitched[:, 1], HALF_SINE, atol=1e-3)
    assert pitched[-1, 2] > 0.0


def test_buttons_take_off_and_land(flight):
    assert flight[1]["rose_m"] == pytest.approx(2.0, abs=0.05)


def test_wind_faults_and_clicks_take_effect(flight):
    notes = flight[1]
    east_mps, north_mps = notes["wind"]
    # from the north
    assert abs(east_mps) < 1e-6
    assert north_mps < -1.0
    assert notes["stuck"]
    assert notes["went_m"] > 0.3


def test_a_paused_flight_stands_still(flight):
    assert flight[1]["paused"] == 0.0


def test_an_ended_flight_leaves_a_complete_run_folder(flight):
    log = Log.read(flight[0])
    assert log.complete
    assert log.summary["reason"].startswith("stopped by the user")
    assert (flight[0] / "overview.png").is_file()


def test_the_page_requests_nothing_from_other_hosts(flight):
    assert hosts(flight[1]["requested"]) == {"127.0.0.1"}


def test_the_scene_shows_the_drone_and_the_wall(flight):
    assert is_complete(flight[1]["live"])


@pytest.mark.slow
def test_replay_shows_the_same_scene(flight):
    out, _ = flight
    with kittiwake("view", out) as address, page_at(address) as (page, requested):
        press(page, "Pause")
        press(page, "Rewind")
        eventually(lambda: shown_s(page) == 0.0)
        tab(page, "View")
        press(page, "Fit view")
        before_play = settled_screenshot(page)
        press(page, "Resume")
        eventually(lambda: shown_s(page) > 1.0)
        press(page, "Pause")
        # at the clicked location, above the start
        slider(page, "time [s]").press("End")
        after_play = settled_screenshot(page)
    assert hosts(requested) == {"127.0.0.1"}
    known = np.asarray(Image.open(REFERENCE).convert("RGB"), float)
    assert np.abs(before_play - known).mean() < 6.0
    # the drone, its label and the wall separately: without the drone the difference would be 26
    for part in (np.s_[36:60, 60:105], np.s_[32:38, 70:90], np.s_[20:60, 10:60]):
        assert np.abs(before_play[part] - known[part]).mean() < 8.0
    assert np.abs(after_play - before_play).max() > 40.0


def hosts(addresses):
    """Return the hosts of URLs; embedded data has none."""
    return {parts.hostname for parts in map(urlsplit, addresses) if parts.hostname}


def shown_s(page):
    """Return the time shown on the page."""
    return float(re.search(r"· ([0-9.]+) s", page.inner_text("body"))[1])


def settled_screenshot(page):
    """Return a picture of the scene when it no longer changes."""
    before = screenshot(page)
    for _ in range(30):
        time.sleep(0.5)
        now = screenshot(page)
        if np.abs(now - before).max() < 2.0:
            return now
        before = now
    pytest.fail("the scene keeps changing")
