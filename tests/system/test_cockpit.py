"""The cockpit in a real browser: what a person sees and does there, and what the log says of it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
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
]
# WebGL in software, and no service of the browser's maker
FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"),
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
PATIENCE_S = 120.0
# of a pitch of six degrees, in its quaternion
HALF_SINE = np.sin(np.radians(3.0))


@contextmanager
def kittiwake(*arguments):
    """The address that a command tells, while it runs; ended by Ctrl-C."""
    command = [sys.executable, "-m", "kittiwake", *map(str, arguments), "--no-browser"]
    command += ["--port", "0"]
    # without a screen nobody opens a browser by mistake
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    with interrupts.heard():
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    with process:
        try:
            said = ""
            while not (found := re.search(r"http://\S+", said)):
                line = process.stderr.readline()
                assert line, said
                said += line
            yield found[0]
        finally:
            interrupt(process)


def interrupt(process):
    """Ends a process as Ctrl-C does; one that does not end by that is killed."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        _, said = process.communicate()
        pytest.fail(f"Ctrl-C did not end it within {PATIENCE_S:g} s; it said:\n{said}")


@contextmanager
def page_at(address):
    """The page in a browser, and what it asked for on the network."""
    asked = []
    with sync_playwright() as playwright, ExitStack() as stack:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        stack.callback(browser.close)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(1e3 * PATIENCE_S)
        expect.set_options(timeout=1e3 * PATIENCE_S)
        page.on("request", lambda request: asked.append(request.url))
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.goto(address)
        page.wait_for_selector("canvas")
        yield page, asked


def seen(page):
    """What the scene looks like, small."""
    picture = Image.open(BytesIO(page.locator("canvas").first.screenshot()))
    return np.asarray(picture.convert("RGB").resize(SMALL, Image.Resampling.BOX), float)


def whole(picture):
    """Whether there are the sky, the wall, and the drone in the middle."""
    sky, wall = picture[:10, 100:].mean(axis=(0, 1)), picture[25:40, 10:60].mean(axis=(0, 1))
    drone = np.ptp(picture[35:55, 60:100], axis=(0, 1))
    return sky[2] > sky[0] + 20.0 and wall[0] > wall[2] + 30.0 and drone.max() > 60.0


def seen_whole(page):
    """The scene when everything has come into it, or what has after a long time.

    A flight that goes on never looks the same twice: its rotors turn, its sensors light up.
    """
    end_s = time.monotonic() + PATIENCE_S
    while not whole(picture := seen(page)) and time.monotonic() < end_s:
        time.sleep(0.2)
    return picture


def tab(page, name):
    page.get_by_role("tab", name=name).click()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


def slider(page, label):
    """The knob of a slider."""
    beside = page.locator("label", has_text=label).first
    return beside.locator("xpath=following::div[@role='slider'][1]")


def logged(folder, *columns):
    """Columns of what has been written so far."""
    return Log.read(folder).tables["drone"].part(("time_s", *columns))


def eventually(holds):
    end_s = time.monotonic() + PATIENCE_S
    while not (found := holds()) and time.monotonic() < end_s:
        time.sleep(0.2)
    assert found


@pytest.fixture(scope="module")
def flight(tmp_path_factory):
    """A flight that is steered from a page, and what the log said meanwhile."""
    folder = tmp_path_factory.mktemp("cockpit")
    scenario, out = folder / "cockpit.yaml", folder / "out"
    scenario.write_text(SCENARIO)
    notes = {}
    with (
        kittiwake("run", scenario, "--live", "--out", out) as address,
        page_at(address) as (page, asked),
    ):
        status = page.get_by_text("is flown by")
        expect(status).to_contain_text("its own guidance")
        expect(status).not_to_contain_text("being prepared")
        notes["live"] = seen_whole(page)
        lean(page, out, notes)
        notes["wind"] = blow(page, out)
        take_off_and_land(page, out, notes)
        change_round_robin(page, out)
        notes["stuck"] = get_stuck(page, out)
        notes["gain"] = tune(page, out)
        notes["went_m"] = go_to_a_click(page, out)
        notes["paused"] = pause(page, out)
        notes["asked"] = asked
    return out, notes


def lean(page, out, notes):
    """Pitch by the slider's arrow keys, half a degree each."""
    knob = slider(page, "pitch [deg]")
    for _ in range(12):
        knob.press("ArrowRight")
    asked = "cmd_q_world_from_body_y"
    eventually(lambda: logged(out, asked)[-1, 1] == pytest.approx(HALF_SINE, abs=1e-6))
    time.sleep(0.5)
    notes["leant_s"] = logged(out)[-1, 0]
    press(page, "Hold")


def take_off_and_land(page, out, notes):
    """Up by two meters, and down to the ground."""
    height_m = steady_height_m(out)
    press(page, "Take off")
    eventually(lambda: logged(out, "z_m")[-1, 1] > height_m + 1.5)
    notes["rose_m"] = steady_height_m(out) - height_m
    press(page, "Land")
    eventually(lambda: logged(out, "z_m")[-1, 1] < 0.1)


def steady_height_m(out):
    """The height at which it stays for a second."""
    eventually(lambda: np.ptp(logged(out, "z_m")[-48:, 1]) < 0.01)
    return logged(out, "z_m")[-1, 1]


def change_round_robin(page, out):
    """From all in turn to the one ahead alone, which then measures at 16 Hz."""
    tab(page, "World")
    press(page, "front-only")

    def front_alone():
        rows = logged(out, *(f"sensor.turns.active_{i}" for i in range(5)))
        return (rows[-100:, 1] == 1.0).all() and (rows[-100:, 2:] == 0.0).all()

    eventually(front_alone)


def blow(page, out):
    """Wind from the north by a slider: what the drone feels, to the east and north."""
    tab(page, "World")
    slider(page, "speed at 6 m").press("End")
    eventually(lambda: abs(logged(out, "wind_y_world_mps")[-1, 1]) > 1.0)
    felt = logged(out, "wind_x_world_mps", "wind_y_world_mps")[-1, 1:]
    slider(page, "speed at 6 m").press("Home")
    tab(page, "Fly")
    return felt


def get_stuck(page, out):
    """Whether the ultrasonic sensors say the same all the time, while they have failed."""
    page.get_by_text("Failures", exact=True).click()
    box = page.get_by_label("turns", exact=True)
    box.check()
    ranges = [f"sensor.turns.ranges_{i}_m" for i in range(5)]
    eventually(lambda: np.ptp(logged(out, *ranges)[-40:, 1:], axis=0).max() == 0.0)
    said = logged(out, *ranges)[-1, 1:]
    tab(page, "Fly")
    press(page, "Take off")
    height_m = logged(out, "z_m")[-1, 1]
    eventually(lambda: logged(out, "z_m")[-1, 1] > height_m + 1.0)
    still = (logged(out, *ranges)[-1, 1:] == said).all()
    tab(page, "World")
    box.uncheck()
    return still


def tune(page, out):
    """A gain of the position controller, as the scenario of the flight then has it."""
    tab(page, "Gains")
    page.get_by_text("position", exact=True).click()
    field = page.locator("label", has_text="natural_frequency_radps").first
    number = field.locator("xpath=following::input[@inputmode='decimal'][1]")
    number.fill("0.9")
    number.press("Enter")
    return logged(out)[-1, 0]


def go_to_a_click(page, out):
    """How far it goes when somebody clicks on the ground beside it."""
    tab(page, "Fly")
    before_m = logged(out, "x_m", "y_m")[-1, 1:]
    press(page, "Go to a click")
    page.mouse.click(500, 600)

    def gone_m():
        return np.linalg.norm(logged(out, "x_m", "y_m")[-1, 1:] - before_m)

    eventually(lambda: gone_m() > 0.3)
    return gone_m()


def pause(page, out):
    """How far the flight has come in a second of standing still."""
    press(page, "Pause")
    expect(page.get_by_text("paused")).to_be_visible()
    time.sleep(0.5)
    before_s = logged(out)[-1, 0]
    time.sleep(1.0)
    return logged(out)[-1, 0] - before_s


def test_the_log_follows_the_slider(flight):
    out, notes = flight
    rows = logged(out, "qy", "vx_mps")
    leant = rows[(rows[:, 0] > notes["leant_s"] - 0.1) & (rows[:, 0] <= notes["leant_s"])]
    # the angles follow within 50 ms
    np.testing.assert_allclose(leant[:, 1], HALF_SINE, atol=1e-3)
    assert leant[-1, 2] > 0.0


def test_it_takes_off_and_lands_by_buttons(flight):
    assert flight[1]["rose_m"] == pytest.approx(2.0, abs=0.05)


def test_wind_failures_and_clicks_do_what_they_say(flight):
    notes = flight[1]
    east_mps, north_mps = notes["wind"]
    # from the north
    assert abs(east_mps) < 1e-6
    assert north_mps < -1.0
    assert notes["stuck"]
    assert notes["went_m"] > 0.3


def test_a_paused_flight_stands_still(flight):
    assert flight[1]["paused"] == 0.0


def test_the_flight_is_written_as_by_run_when_it_is_ended(flight):
    log = Log.read(flight[0])
    assert log.complete
    assert log.summary["reason"].startswith("stopped by the user")
    assert (flight[0] / "overview.png").is_file()


def test_nothing_is_asked_of_other_machines(flight):
    assert hosts(flight[1]["asked"]) == {"127.0.0.1"}


def test_the_scene_shows_the_drone_and_the_wall(flight):
    assert whole(flight[1]["live"])


@pytest.mark.slow
def test_a_log_is_replayed_with_the_same_scene(flight):
    out, _ = flight
    with kittiwake("view", out) as address, page_at(address) as (page, asked):
        press(page, "Pause")
        press(page, "From the start")
        eventually(lambda: shown_s(page) == 0.0)
        tab(page, "View")
        press(page, "See everything")
        begun = settled(page)
        press(page, "Play")
        eventually(lambda: shown_s(page) > 1.0)
        press(page, "Pause")
        # where it had gone to a click, high above where it stood
        slider(page, "time [s]").press("End")
        later = settled(page)
    assert hosts(asked) == {"127.0.0.1"}
    known = np.asarray(Image.open(REFERENCE).convert("RGB"), float)
    assert np.abs(begun - known).mean() < 6.0
    # the drone, its label and the wall by themselves: without the drone it would be 26
    for part in (np.s_[36:60, 60:105], np.s_[32:38, 70:90], np.s_[20:60, 10:60]):
        assert np.abs(begun[part] - known[part]).mean() < 8.0
    assert np.abs(later - begun).max() > 40.0


def hosts(addresses):
    """Whom a page has asked for anything; what it holds itself has none."""
    return {parts.hostname for parts in map(urlsplit, addresses) if parts.hostname}


def shown_s(page):
    """The time that the page tells."""
    return float(re.search(r"· ([0-9.]+) s", page.inner_text("body"))[1])


def settled(page):
    """The scene when it does not change any more."""
    before = seen(page)
    for _ in range(30):
        time.sleep(0.5)
        now = seen(page)
        if np.abs(now - before).max() < 2.0:
            return now
        before = now
    pytest.fail("the scene goes on changing")
