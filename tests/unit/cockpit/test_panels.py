"""The page's controls, used as a person would, without a browser."""

import asyncio
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import viser

from kittiwake.cockpit.cockpit import Cockpit
from kittiwake.cockpit.frame_buffer import FrameBuffer
from kittiwake.cockpit.panels.flying import FlyingPanel
from kittiwake.cockpit.panels.plots import PlotsPanel
from kittiwake.cockpit.panels.readings import _numbers, _part
from kittiwake.cockpit.panels.view import Eye
from kittiwake.cockpit.server import PageServer
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.maneuvers import GoTo, HoldCommand, LandManeuver, Lean
from kittiwake.runtime.session import Session
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, parse_document
from kittiwake.scene.frame import Show

SCENARIO = """
name: page
time: {rate_hz: 240, duration_s: 600}
world: {wind: {type: shear, speed_at_6m_mps: 18, from_deg: -90}}
vehicles:
  tern:
    model: angle-velocity
    start: {position_world_m: [0, 0, 12], yaw_deg: 60}
    sensors: {turns: {type: ultrasonic-array, scheme: all-1}}
    guidance: {type: hold}
  auk:
    model: angle-velocity
    start: {position_world_m: [5, 0, 3]}
    sensors: {turns: {type: ultrasonic-array, scheme: all-1}}
    guidance: {type: hold}
"""


class Browser(viser.ClientHandle):
    """One that looks from where it is told to, when it has got round to it.

    Its controls are those of the server, so that no connection is needed.
    """

    def __init__(self, server, number=7):
        self.gui, self.scene, self.client_id = server.gui, server.scene, number
        self.told, self.answers = [], []
        self.camera = SimpleNamespace(update_timestamp=1.0, on_update=self.answers.append)
        self.looks([3.0, 3.0, 3.0])

    def add_notification(self, *said, **_):
        self.told.append(said)

    def atomic(self):
        return nullcontext()

    def looks(self, away_m):
        """From where it looks."""
        self.camera.position, self.camera.look_at = np.array(away_m), np.zeros(3)
        for answer in self.answers:
            asyncio.run(answer(self.camera))


class Page:
    """A cockpit and what is on the page of a browser."""

    def __init__(self, tmp_path):
        document = apply_overrides(parse_document(SCENARIO, "page.yaml"), [])
        self.session = Session(build(document, tmp_path), RealTimeClock(1.0))
        columns = self.session.simulation.program.layout.columns
        self.board = FrameBuffer(columns)
        self.server = PageServer()
        show = Show(self.session.executor.scenario, 0, columns)
        self.cockpit = Cockpit(self.server, show, self.board, self.session)
        self.browser = Browser(self.server)
        asyncio.run(self.cockpit._open(self.browser))
        self.panels = self.cockpit._pages[7]._panels

    @property
    def told(self):
        return self.browser.told

    @property
    def picked(self):
        return self.cockpit._pages[7].context.picked

    @property
    def asked(self):
        return self.session.executor.asked

    def named(self, label):
        """The control with a label that was made last."""
        inputs = self.server.gui._gui_input_handle_from_uuid.values()
        return [one for one in inputs if getattr(one, "label", None) == label][-1]

    def put(self, label, value):
        """What a person does: sets a control."""
        control = self.named(label)
        control._impl.value = value
        for answer in [*control._impl.update_cb]:
            answer(SimpleNamespace(target=control, client=self.browser, client_id=7))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    page = Page(tmp_path_factory.mktemp("page"))
    yield page
    page.server.stop()


@pytest.fixture(autouse=True)
def flying(page):
    """Both are where they start, and do nothing that was asked for."""
    rows = {}
    for name, place, yaw in (("tern", (0.0, 0.0, 12.0), np.pi / 3), ("auk", (5.0, 0.0, 3.0), 0.0)):
        columns = page.session.executor.layout.columns[name]
        row = dict.fromkeys(columns, 0.0)
        for prefix in ("", "estimate."):
            row |= {f"{prefix}{axis}_m": value for axis, value in zip("xyz", place, strict=True)}
            row |= {f"{prefix}qw": np.cos(yaw / 2), f"{prefix}qz": np.sin(yaw / 2)}
        rows[name] = np.array([[row[column] for column in columns]])
        page.session.executor._asked.pop(name, None)
    page.session.executor._rows = {name: block[-1] for name, block in rows.items()}
    page.board.post(rows)
    page.put("Vehicle", "tern")
    page.told.clear()


def test_touching_one_angle_keeps_the_yaw_and_the_height(page):
    page.put("roll [deg]", 5.0)
    lean = page.asked["tern"]
    assert isinstance(lean, Lean)
    assert lean.roll_rad == pytest.approx(np.radians(5.0))
    assert lean.pitch_rad == 0.0
    assert lean.yaw_rad == pytest.approx(np.pi / 3, abs=0.02)
    assert lean.height_m == pytest.approx(12.0, abs=0.1)


def test_maneuvers_are_of_the_vehicle_that_is_picked(page):
    page.put("Vehicle", "auk")
    page.put("Maneuver", "Take off")
    assert isinstance(page.asked["auk"], GoTo)
    np.testing.assert_allclose(page.asked["auk"].place_m, [5.0, 0.0, 5.0])
    assert "tern" not in page.asked
    page.put("Maneuver", "Land")
    assert isinstance(page.asked["auk"], LandManeuver)
    page.put("Maneuver", "Resume guidance")
    assert "auk" not in page.asked


def test_a_rung_has_sliders_that_begin_where_the_vehicle_is(page):
    page.put("Rung", "place and yaw")
    page.put("z [m]", 13.0)
    asked = page.asked["tern"]
    assert isinstance(asked, HoldCommand)
    place = asked.asked.position_world_m
    assert (float(place.x), float(place.y), float(place.z)) == (0.0, 0.0, 13.0)
    assert float(asked.asked.yaw_rad) == pytest.approx(np.pi / 3)


def test_a_key_moves_it_by_a_step_in_its_own_axes(page):
    panel = next(one for one in page.panels if hasattr(one, "_nudge"))
    panel._nudge(np.array([1.0, 0.0, 0.0]), 15.0)
    panel._nudge(np.array([0.0, 0.0, 1.0]), 0.0)
    asked = page.asked["tern"]
    ahead = 0.5 * np.array([np.cos(np.pi / 3), np.sin(np.pi / 3), 0.0])
    np.testing.assert_allclose(asked.place_m, ahead + np.array([0.0, 0.0, 12.5]), atol=1e-9)
    assert asked.yaw_rad == pytest.approx(np.pi / 3 + np.radians(15.0))


def test_wind_beyond_the_usual_is_shown_as_it_is(page):
    assert page.named("speed at 6 m [m/s]").value == 18.0
    assert page.named("from [deg]").value == 270.0


def test_changes_are_wanted_under_their_paths(page, monkeypatch):
    wanted = []
    monkeypatch.setattr(type(page.session.executor), "change", lambda _, *what: wanted.append(what))
    page.put("range [m]", 2.5)
    page.put("Round robin", "front-only")
    page.put("gusts [m/s]", 3.0)
    assert wanted == [
        ("vehicles.tern.sensors.turns.max_range_m", "2.5"),
        ("vehicles.tern.sensors.turns.scheme", "front-only"),
        ("world.turbulence", "{type: dryden, speed_at_6m_mps: 3.0}"),
    ]


def test_gains_wait_until_they_are_applied(page, monkeypatch):
    wanted = []
    executor = type(page.session.executor)
    monkeypatch.setattr(executor, "set_gains", lambda _, *who, **what: wanted.append((who, what)))
    page.put("natural_frequency_radps", 0.8)
    assert wanted == []
    page.put("Apply to position", True)
    assert wanted == [(("tern", "position"), {"natural_frequency_radps": 0.8})]


def test_pausing_and_speeds_are_those_of_the_clock(page):
    page.put("Flight", "Pause")
    assert page.session.clock.paused
    page.put("Flight", "Go on")
    assert not page.session.clock.paused
    page.put("Speed", "0.25x")
    assert page.session.clock.speed == 0.25
    page.put("Speed", "nanx")
    assert page.session.clock.speed == 0.25


def test_a_vehicle_that_is_not_there_is_not_picked(page):
    page.put("Vehicle", "puffin")
    assert page.picked == "tern"


def test_what_is_made_anew_stays_in_its_tab(page):
    """Folders of the scene's panels, by where they hang."""

    def places():
        folders = [*page.server.gui._container_handle_from_uuid.values()]
        return sorted(
            str(one._parent_container_id) for one in folders if hasattr(one, "_parent_container_id")
        )

    before = places()
    page.cockpit.begun_anew()
    page.put("Vehicle", "auk")
    page.put("Vehicle", "tern")
    assert places() == before


def test_all_panels_show_a_frame(page):
    frame = page.board.frame()
    page.cockpit._draw(frame, 10.0, 0.0)
    assert "0.00 s" in page.cockpit._status.content


def test_a_slow_browser_gets_the_view_of_everything_all_the_same(page):
    browser = Browser(page.server)
    eye = Eye(browser, page.cockpit._show, page.board)

    def followed_m():
        eye.follow(np.zeros(3))
        return np.array(browser.camera.position) - browser.camera.look_at

    eye.greet()
    # the message by which it came, heard after it was told where to look from
    asyncio.run(browser.answers[0](browser.camera))
    wanted_m = followed_m()
    assert np.linalg.norm(wanted_m - 3.0) > 0.5
    # of the view that it began with
    browser.looks([3.0, 3.0, 3.0])
    np.testing.assert_allclose(followed_m(), wanted_m)
    browser.looks(wanted_m)
    # by hand
    browser.looks([9.0, 0.0, 1.0])
    np.testing.assert_allclose(followed_m(), [9.0, 0.0, 1.0])


def test_each_browser_picks_a_vehicle_of_its_own(page):
    other = Browser(page.server, number=8)
    asyncio.run(page.cockpit._open(other))
    try:
        page.put("Vehicle", "auk")  # the control that was made last, the other's
        assert page.picked == "tern"
        page.put("Maneuver", "Take off")
        assert set(page.asked) == {"auk"}
        page.board.post({name: row[None] + 1.0 for name, row in page.board.frame().rows.items()})
        watched = [name for name in ("tern", "auk") if len(page.board.history(name, [], 9.0))]
        assert watched == ["tern", "auk"]
    finally:
        page.cockpit._leave(other)
    assert [*page.cockpit._pages] == [7]


def test_what_is_wrong_with_one_page_ends_no_other(page, monkeypatch, caplog):
    other = Browser(page.server, number=8)
    asyncio.run(page.cockpit._open(other))
    plots = next(panel for panel in page.panels if isinstance(panel, PlotsPanel))
    monkeypatch.setattr(plots, "update", lambda _: 1 / 0)
    drawn = []
    for panel in page.cockpit._pages[8]._panels:
        monkeypatch.setattr(panel, "update", lambda _, panel=panel: drawn.append(type(panel)))
    for time_s in (10.0, 20.0):
        page.cockpit._draw(page.board.frame(), time_s, 0.0)
    page.cockpit._leave(other)
    assert drawn.count(PlotsPanel) == 2
    assert len([one for one in caplog.records if "could not be drawn" in one.message]) == 1


def test_plots_are_not_written_to_while_they_are_made_anew(page, caplog):
    """Which raises an error of the removed plot, or shows the signals of another vehicle."""
    one, begun, ended = page.cockpit._pages[7], threading.Event(), threading.Event()
    page.board.post({name: row[None] + 1.0 for name, row in page.board.frame().rows.items()})

    def write():
        while not ended.is_set():
            one.update(page.board.frame())
            begun.set()

    writing = threading.Thread(target=write)
    writing.start()
    begun.wait()
    for _ in range(10):
        for name in ("auk", "tern"):
            one.context.pick(name)
    ended.set()
    writing.join()
    assert "could not be drawn" not in caplog.text


def test_a_flight_that_is_over_has_no_controls(page, monkeypatch):
    flying = next(panel for panel in page.panels if isinstance(panel, FlyingPanel))
    monkeypatch.setattr(type(page.session.executor), "over", True)
    flying.update(page.board.frame())
    assert not flying._folder.visible
    page.cockpit._pages[7].context.renew()
    flying.update(page.board.frame())
    assert not flying._folder.visible
    monkeypatch.undo()
    flying.update(page.board.frame())
    assert flying._folder.visible


def test_what_is_hardly_below_zero_is_zero():
    said = _part({"cmd_x": -0.0, "cmd_y": -1e-9}, "cmd_")
    assert said == [("x", "0"), ("y", "-1e-09")]
    assert _numbers([-0.001, -0.0, -0.01]) == "0.00, 0.00, -0.01"
