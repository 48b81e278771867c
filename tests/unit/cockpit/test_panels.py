"""Controls of the page, operated without a browser."""

import asyncio
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import viser

from kittiwake.cockpit.browser_camera import BrowserCamera
from kittiwake.cockpit.cockpit import Cockpit
from kittiwake.cockpit.fleet_commands import go_to_point
from kittiwake.cockpit.frame_buffer import FrameBuffer
from kittiwake.cockpit.live_source import LiveSource
from kittiwake.cockpit.panels.charts import ADD, ChartsPanel
from kittiwake.cockpit.panels.command import CommandPanel
from kittiwake.cockpit.panels.glance import GlancePanel
from kittiwake.cockpit.panels.readings import setpoint_lines, state_lines, vector_lines
from kittiwake.cockpit.panels.vehicles import VehiclesPanel
from kittiwake.cockpit.push import push
from kittiwake.cockpit.server import PageServer
from kittiwake.core.errors import CommandError
from kittiwake.guidance.maneuvers.takeoff import Takeoff
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.maneuvers import (
    GuidanceManeuver,
    HoldAttitude,
    HoldCommand,
    PositionManeuver,
)
from kittiwake.runtime.session import Session
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, parse_document
from kittiwake.scenario.vehicle_changes import with_vehicle, with_vehicles_of, without_vehicle
from kittiwake.scene.scene_state import FlightInfo

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


GULL = {"model": "angle-velocity", "start": {"position_world_m": [9, 0, 3]}}


class Browser(viser.ClientHandle):
    """Fake browser with delayed camera updates.

    It shares the controls of the server, so that no connection is required.
    """

    def __init__(self, server, number=7):
        self.gui, self.scene, self.client_id = server.gui, server.scene, number
        self.notifications, self.callbacks = [], []
        self.camera = SimpleNamespace(
            update_timestamp=1.0,
            on_update=self.callbacks.append,
            fov=1.3,
            aspect=1.6,
            up_direction=np.array([0.0, 0.0, 1.0]),
        )
        self.report_camera([3.0, 3.0, 3.0])

    def add_notification(self, *notification, **_):
        self.notifications.append(notification)

    def atomic(self):
        return nullcontext()

    def report_camera(self, away_m):
        """Report a camera position, with the target at the origin."""
        self.camera.position, self.camera.look_at = np.array(away_m), np.zeros(3)
        for callback in self.callbacks:
            asyncio.run(callback(self.camera))


class Page:
    """Cockpit with the page of one browser."""

    def __init__(self, tmp_path):
        document = apply_overrides(parse_document(SCENARIO, "page.yaml"), [])
        self.session = Session(build(document, tmp_path), RealTimeClock(1.0))
        columns = self.session.simulation.program.layout.columns
        self.buffer = FrameBuffer(columns)
        self.server = PageServer()
        flight = FlightInfo(self.session.executor.scenario, 0, columns)
        self.source = LiveSource(self.buffer, self.session)
        self.cockpit = Cockpit(self.server, flight, self.source, self.session)
        self.browser = Browser(self.server)
        asyncio.run(self.cockpit._open(self.browser))
        self.panels = self.cockpit._pages[7]._panels

    @property
    def notifications(self):
        return self.browser.notifications

    @property
    def selected(self):
        return self.cockpit._pages[7].context.selected

    @property
    def maneuvers(self):
        return self.session.executor.maneuvers

    def control(self, label):
        """Return the latest control with a label."""
        inputs = self.server.gui._gui_input_handle_from_uuid.values()
        return [one for one in inputs if getattr(one, "label", None) == label][-1]

    def control_status(self):
        """Return the text about what controls the selected vehicle."""
        return self.panels[0]._status.content

    def set_chart(self, label, value):
        """Set a control of this browser's charts as a user does."""
        charts = next(panel for panel in self.panels if isinstance(panel, ChartsPanel))
        named = (one for one in charts._controls if getattr(one, "label", "") == label)
        self._change(next(named), value)

    def press(self, label):
        """Press a button as a user does."""
        self.set(label, True)

    def set(self, label, value):
        """Set a control as a user does."""
        self._change(self.control(label), value)

    def _change(self, handle, value):
        handle._impl.value = value
        for callback in [*handle._impl.update_cb]:
            callback(SimpleNamespace(target=handle, client=self.browser, client_id=7))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    page = Page(tmp_path_factory.mktemp("page"))
    yield page
    page.server.stop()


@pytest.fixture(autouse=True)
def flying(page):
    """Reset both vehicles to their starts without commands."""
    rows = {}
    for name, place, yaw in (("tern", (0.0, 0.0, 12.0), np.pi / 3), ("auk", (5.0, 0.0, 3.0), 0.0)):
        columns = page.session.executor.layout.columns[name]
        row = dict.fromkeys(columns, 0.0)
        for prefix in ("", "estimate."):
            row |= {f"{prefix}{axis}_m": value for axis, value in zip("xyz", place, strict=True)}
            row |= {f"{prefix}qw": np.cos(yaw / 2), f"{prefix}qz": np.sin(yaw / 2)}
        rows[name] = np.array([[row[column] for column in columns]])
        page.session.executor._active.stop(name)
    page.session.executor._rows._latest = {name: block[-1] for name, block in rows.items()}
    page.buffer.post(rows)
    page.set("Vehicle", "tern")
    page.notifications.clear()


@pytest.mark.slow
def test_vehicles_are_drawn_at_their_starts_before_the_flight(page):
    buffer = FrameBuffer(page.session.executor.layout.columns, page.session.executor.start_rows())
    scene_state = buffer.scene_state()
    page.cockpit._draw(scene_state, 0.0, -1.0)
    assert "preparing commands" in page.control_status()
    start = page.session.executor.scenario.vehicles["tern"].start.position_world_m
    np.testing.assert_allclose(scene_state.rows["tern"][1:4], start.array)
    assert np.isnan(scene_state.rows["tern"]).any()


@pytest.mark.slow
def test_moving_one_attitude_slider_keeps_yaw_and_height(page):
    page.set("roll [deg]", 5.0)
    lean = page.maneuvers["tern"]
    assert isinstance(lean, HoldAttitude)
    assert lean.roll_rad == pytest.approx(np.radians(5.0))
    assert lean.pitch_rad == 0.0
    assert lean.yaw_rad == pytest.approx(np.pi / 3, abs=0.02)
    assert lean.height_m == pytest.approx(12.0, abs=0.1)


def test_maneuvers_command_the_selected_vehicle(page):
    page.set("Vehicle", "auk")
    page.set("Maneuver", "Take off")
    assert page.maneuvers["auk"].guidance == Takeoff(2.0)
    assert "tern" not in page.maneuvers
    page.set("Maneuver", "Hold")
    assert isinstance(page.maneuvers["auk"], PositionManeuver)
    np.testing.assert_allclose(page.maneuvers["auk"].position_world_m, [5.0, 0.0, 3.0])
    page.set("Maneuver", "Land")
    assert page.maneuvers["auk"].description == "lands"
    page.set("Maneuver", "Resume guidance")
    assert "auk" not in page.maneuvers


def test_command_type_sliders_start_at_the_vehicle(page):
    page.set("Command type", "position and yaw")
    page.set("z [m]", 13.0)
    maneuvers = page.maneuvers["tern"]
    assert isinstance(maneuvers, HoldCommand)
    place = maneuvers.held.position_world_m
    assert (float(place.x), float(place.y), float(place.z)) == (0.0, 0.0, 13.0)
    assert float(maneuvers.held.yaw_rad) == pytest.approx(np.pi / 3)


def test_a_key_moves_the_target_in_level_body_axes(page):
    panel = next(one for one in page.panels if hasattr(one, "_move"))
    panel._move(np.array([1.0, 0.0, 0.0]), 15.0)
    panel._move(np.array([0.0, 0.0, 1.0]), 0.0)
    maneuvers = page.maneuvers["tern"]
    ahead = 0.5 * np.array([np.cos(np.pi / 3), np.sin(np.pi / 3), 0.0])
    np.testing.assert_allclose(
        maneuvers.position_world_m, ahead + np.array([0.0, 0.0, 12.5]), atol=1e-9
    )
    assert maneuvers.yaw_rad == pytest.approx(np.pi / 3 + np.radians(15.0))


def test_strong_wind_extends_the_slider_range(page):
    assert page.control("speed at 6 m [m/s]").value == 18.0
    assert page.control("from [deg]").value == 270.0


def test_changes_use_scenario_paths(page, monkeypatch):
    changes = []
    monkeypatch.setattr(
        type(page.session.executor), "change", lambda _, *what: changes.append(what)
    )
    page.set("upper range limit [m]", 2.5)
    page.set("Round robin", "front-only")
    page.set("gusts [m/s]", 3.0)
    assert changes == [
        ("vehicles.tern.sensors.turns.max_range_m", "2.5"),
        ("vehicles.tern.sensors.turns.scheme", "front-only"),
        ("world.turbulence", "{type: dryden, speed_at_6m_mps: 3.0}"),
    ]


def test_gains_change_only_when_applied(page, monkeypatch):
    changes = []
    executor = type(page.session.executor)
    monkeypatch.setattr(executor, "set_gains", lambda _, *who, **what: changes.append((who, what)))
    page.set("natural_frequency_radps", 0.8)
    assert changes == []
    page.set("Apply to position", True)
    assert changes == [(("tern", "position"), {"natural_frequency_radps": 0.8})]


def test_pause_and_speed_set_the_clock(page):
    page.set("Time", "Pause")
    assert page.session.clock.paused
    page.set("Time", "Resume")
    assert not page.session.clock.paused
    page.set("Speed", "0.25x")
    assert page.session.clock.speed == 0.25
    page.set("Speed", "nanx")
    assert page.session.clock.speed == 0.25


def test_the_past_of_a_flight_is_shown_until_live_is_pressed(page):
    columns = page.session.executor.layout.columns
    for time_s in (1.0, 2.0, 3.0):
        rows = {name: np.zeros((1, len(names))) for name, names in columns.items()}
        for name in rows:
            rows[name][0, :5] = time_s, 10.0 * time_s, 0.0, 0.0, 1.0
        page.buffer.post(rows)
    page.cockpit._draw(page.source.scene_state(), 0.0, -1.0)
    assert page.control("time [s]").max == pytest.approx(3.0)
    page.source.seek(1.0)
    page.source.clock.paused = True
    page.set("time [s]", 1.5)
    assert not page.source.live
    assert page.source.clock.paused
    scene_state = page.source.scene_state()
    assert scene_state.time_s == 1.5
    assert scene_state.rows["tern"][1] == pytest.approx(15.0)
    assert page.source.history("auk", ("x_m",), 10.0).tolist() == [[0.0, 5.0], [1.0, 10.0]]
    page.cockpit._draw(scene_state, 0.0, -1.0)
    assert page.control("Time").options == ("Resume", "Live")
    assert "the past; the flight is at 3.0 s" in page.cockpit._status.content
    # the flight goes on
    assert not page.session.clock.paused
    page.set("Time", "Live")
    assert page.source.live
    assert page.source.scene_state().time_s == 3.0


def test_controls_without_effect_are_disabled_after_the_end(page, monkeypatch):
    executor = type(page.session.executor)
    page.source.go_live()
    monkeypatch.setattr(executor, "ended", property(lambda _: True))
    page.cockpit._draw(page.source.scene_state(), 0.0, -1.0)
    assert page.control("roll [deg]").disabled
    assert not page.control("Maneuver").visible
    assert not page.control("Restart").disabled
    assert page.control("Time").options == ("Rewind",)
    monkeypatch.undo()
    page.cockpit._draw(page.source.scene_state(), 0.0, -1.0)
    assert not page.control("roll [deg]").disabled
    assert page.control("Maneuver").visible


def test_an_unknown_vehicle_is_not_selected(page):
    page.set("Vehicle", "puffin")
    assert page.selected == "tern"


def test_rebuilt_controls_stay_in_their_tabs(page):
    """Compare the parent containers of all folders."""

    def places():
        folders = [*page.server.gui._container_handle_from_uuid.values()]
        return sorted(
            str(one._parent_container_id) for one in folders if hasattr(one, "_parent_container_id")
        )

    before = places()
    page.cockpit.on_restart()
    page.set("Vehicle", "auk")
    page.set("Vehicle", "tern")
    assert places() == before


def test_all_panels_draw_a_frame(page):
    scene_state = page.buffer.scene_state()
    page.cockpit._draw(scene_state, 10.0, 0.0)
    assert "0.00 s" in page.cockpit._status.content


def test_a_slow_browser_gets_the_initial_view(page):
    browser = Browser(page.server)
    camera = BrowserCamera(browser, page.cockpit._flight, page.buffer)

    def followed_m():
        camera.update(page.buffer.scene_state(), "tern")
        return np.array(browser.camera.position) - browser.camera.look_at

    camera.set_initial_view()
    # the first message, handled after the initial view is set
    asyncio.run(browser.callbacks[0](browser.camera))
    expected_m = followed_m()
    assert np.linalg.norm(expected_m - 3.0) > 0.5
    # the browser still reports its default view
    browser.report_camera([3.0, 3.0, 3.0])
    np.testing.assert_allclose(followed_m(), expected_m)
    browser.report_camera(expected_m)
    # the user moves the camera
    browser.report_camera([9.0, 0.0, 1.0])
    np.testing.assert_allclose(followed_m(), [9.0, 0.0, 1.0])


def test_a_key_and_the_list_choose_the_same_view(page):
    page.set("Camera", "behind")
    view = page.cockpit._pages[7]._view
    assert view._browser_camera.view == "behind"
    view._choose("follow")
    assert (view._camera.value, view._browser_camera.view) == ("follow", "follow")


def test_a_free_camera_stays_free_when_it_is_fitted(page):
    page.set("Camera", "free")
    page.press("Fit view")
    assert page.cockpit._pages[7]._view._browser_camera.view == "free"
    page.set("Camera", "follow")


def test_both_range_limits_of_a_sensor_are_changed(page, monkeypatch):
    changes = []
    executor = type(page.session.executor)
    monkeypatch.setattr(executor, "change", lambda _, *what: changes.append(what))
    page.set("lower range limit [m]", 0.4)
    page.set("upper range limit [m]", 3.0)
    path = "vehicles.tern.sensors.turns"
    assert changes == [(f"{path}.min_range_m", "0.4"), (f"{path}.max_range_m", "3.0")]


def test_maneuvers_command_all_vehicles_in_a_box(page):
    panel = page.panels[0]
    panel._selection.set(("tern", "auk"))
    assert "2 vehicles" in page.control("Clear selection (2 vehicles)").label
    page.set("Maneuver", "Take off")
    assert {name: one.guidance for name, one in page.maneuvers.items()} == {
        "tern": Takeoff(2.0),
        "auk": Takeoff(2.0),
    }
    page.press("Clear selection (2 vehicles)")
    page.set("Maneuver", "Hold")
    assert isinstance(page.maneuvers["tern"], PositionManeuver)
    assert page.maneuvers["auk"].guidance == Takeoff(2.0)


def test_several_vehicles_go_to_a_point_in_formation(page):
    go_to_point(page.session.executor, ["tern", "auk"], 20.0, 8.0)
    places = [page.maneuvers[name].position_world_m for name in ("tern", "auk")]
    np.testing.assert_allclose(places, [[17.5, 8.0, 12.0], [22.5, 8.0, 3.0]])


def test_no_vehicle_goes_to_a_point_outside_the_area(page):
    with pytest.raises(CommandError, match="outside the flight area"):
        go_to_point(page.session.executor, ["tern", "auk"], 1e5, 0.0)
    assert page.maneuvers == {}


def test_a_drag_pushes_along_it_and_not_too_hard(page, monkeypatch):
    impulses = []
    executor = page.session.executor
    monkeypatch.setattr(type(executor), "push", lambda _, *push: impulses.append(push))
    dynamics = executor.scenario.vehicles["tern"].dynamics
    size_m, mass_kg = float(dynamics.size_body_m.x), dynamics.collider().mass_kg
    for length_m in (2.0 * size_m, 1e4, 0.0, np.nan):
        end = (1.0, 2.0 + length_m, 3.0)
        drag = SimpleNamespace(start_position=(1.0, 2.0, 3.0), end_position=end)
        assert push(executor, "tern", drag) == ""
    gained_mps = [np.asarray(impulse.array) / mass_kg for _, impulse in impulses]
    np.testing.assert_allclose(gained_mps, [[0.0, 2.0, 0.0], [0.0, 6.0, 0.0]], atol=1e-6)


def test_each_browser_selects_its_own_vehicle(page):
    other = Browser(page.server, number=8)
    asyncio.run(page.cockpit._open(other))
    try:
        page.set("Vehicle", "auk")  # the latest control belongs to the other browser
        assert page.selected == "tern"
        page.set("Maneuver", "Take off")
        assert set(page.maneuvers) == {"auk"}
        page.buffer.post(
            {name: row[None] + 1.0 for name, row in page.buffer.scene_state().rows.items()}
        )
        selected = [name for name in ("tern", "auk") if len(page.buffer.history(name, [], 9.0))]
        assert selected == ["tern", "auk"]
    finally:
        page.cockpit._close(other)
    assert [*page.cockpit._pages] == [7]


def test_an_error_of_one_page_does_not_affect_others(page, monkeypatch, caplog):
    other = Browser(page.server, number=8)
    monkeypatch.setattr(page.server, "get_clients", lambda: {7: page.browser, 8: other})
    asyncio.run(page.cockpit._open(other))
    charts = next(panel for panel in page.panels if isinstance(panel, ChartsPanel))
    monkeypatch.setattr(charts, "update", lambda _: 1 / 0)
    drawn = []
    for panel in page.cockpit._pages[8]._panels:
        monkeypatch.setattr(panel, "update", lambda _, panel=panel: drawn.append(type(panel)))
    for time_s in (10.0, 20.0):
        page.cockpit._draw(page.buffer.scene_state(), time_s, 0.0)
    page.cockpit._close(other)
    assert drawn.count(ChartsPanel) == 2
    assert len([one for one in caplog.records if "could not draw" in one.message]) == 1


@pytest.mark.slow
def test_charts_are_not_updated_while_rebuilt(page, caplog, monkeypatch):
    """Check that no removed chart is updated, and no curves of another vehicle are shown."""
    one, started, ended = page.cockpit._pages[7], threading.Event(), threading.Event()
    page.buffer.post(
        {name: row[None] + 1.0 for name, row in page.buffer.scene_state().rows.items()}
    )

    # as often as possible
    monkeypatch.setattr("kittiwake.cockpit.panels.charts.RATE_HZ", 1e6)

    def write():
        while not ended.is_set():
            one.update(page.buffer.scene_state())
            started.set()

    writing = threading.Thread(target=write)
    writing.start()
    started.wait()
    for _ in range(10):
        for name in ("auk", "tern"):
            one.context.select(name)
            page.set_chart("Show", "Attitude" if name == "auk" else "Position")
    ended.set()
    writing.join()
    assert "could not draw" not in caplog.text


def test_an_ended_flight_has_no_controls(page, monkeypatch):
    flying = next(panel for panel in page.panels if isinstance(panel, CommandPanel))
    monkeypatch.setattr(type(page.session.executor), "ended", True)
    flying.update(page.buffer.scene_state())
    assert not flying._folder.visible
    page.cockpit._pages[7].context.rebuild()
    flying.update(page.buffer.scene_state())
    assert not flying._folder.visible
    monkeypatch.undo()
    flying.update(page.buffer.scene_state())
    assert flying._folder.visible


def charts_of(page):
    return next(panel for panel in page.panels if isinstance(panel, ChartsPanel))


def titles_of(page):
    return [(chart.vehicle, chart.quantity.label) for chart in charts_of(page)._charts]


def test_presets_are_charts_of_the_selected_vehicle(page):
    page.set_chart("Show", "Attitude")
    assert titles_of(page) == [("tern", "attitude"), ("tern", "yaw")]
    page.cockpit._pages[7].context.select("auk")
    assert titles_of(page) == [("auk", "attitude"), ("auk", "yaw")]
    page.set_chart("Show", "Position")
    assert titles_of(page) == [("auk", "position"), ("auk", "height")]
    page.cockpit._pages[7].context.select("tern")


def test_charts_of_any_vehicle_are_added_and_removed(page):
    page.set_chart("Show", "Position")
    page.set_chart("of", "auk")
    page.set_chart("Add", "Velocity z [m/s]")
    assert titles_of(page)[2:] == [("auk", "Velocity z")]
    assert tuple(one.value for one in charts_of(page)._controls[:2]) == ("own charts", ADD)
    assert page.cockpit._pages[7].context.charted == {"auk"}
    rows = {name: row[None] + 1.0 for name, row in page.buffer.scene_state().rows.items()}
    page.buffer.post(rows)
    assert len(page.buffer.history("auk", ["vz_mps"], 9.0)) == 1
    page.set_chart("Remove", "Height [m]")
    page.set_chart("Remove", "auk: Velocity z [m/s]")
    assert titles_of(page) == [("tern", "position")]
    assert not page.cockpit._pages[7].context.charted
    page.set_chart("of", "selected vehicle")
    page.set_chart("Show", "Position")


def test_charts_are_drawn_from_the_history(page):
    page.set_chart("Show", "Position")
    for step in range(1, 50):
        rows = {name: row[None].copy() for name, row in page.buffer.scene_state().rows.items()}
        for row in rows.values():
            row[0, 0] = 0.1 * step
        page.buffer.post(rows)
    charts = charts_of(page)
    charts._drawn_s = -np.inf
    charts.update(page.buffer.scene_state())
    times, height, *_ = charts._charts[1]._plot.data
    assert (times[0], times[-1]) == pytest.approx((0.0, 4.9))
    np.testing.assert_array_equal(height, 12.0)


@pytest.mark.parametrize(("button", "start"), [("CSV", b"time [s],tern: "), ("PNG", b"\x89PNG")])
def test_charts_are_sent_as_a_file(page, monkeypatch, button, start):
    rows = {name: row[None] + 1.0 for name, row in page.buffer.scene_state().rows.items()}
    page.buffer.post(rows)
    sent = []
    monkeypatch.setattr(
        Browser, "send_file_download", lambda _, *file, **__: sent.append(file), raising=False
    )
    page.set_chart("Save", button)
    ((name, content),) = sent
    assert name == f"page-charts.{button.lower()}"
    assert content.startswith(start)


def test_the_strip_of_charts_is_as_wide_as_the_scene(page, monkeypatch):
    placed = []
    panel = charts_of(page)._panel
    monkeypatch.setattr(type(panel), "set_width", lambda _, width: placed.append(width))
    monkeypatch.setattr(type(panel), "minimize", lambda _: placed.append("minimized"))
    for width in (892, 892, 400):
        page.browser.camera.image_width = width
        asyncio.run(page.browser.callbacks[-1](page.browser.camera))
    assert placed == [892.0, 400.0]


def test_state_at_a_glance_is_that_of_the_selected_vehicle(page):
    glance = next(panel for panel in page.panels if isinstance(panel, GlancePanel))
    glance.update(page.buffer.scene_state())
    shown = glance._html.content
    for part in ("tern", "12.00 m", "030° NE", "hold", "Preparing"):
        assert part in shown
    maneuver = GuidanceManeuver(Takeoff(2.0), "flies a test")
    page.session.executor._active.start("tern", maneuver)
    glance.update(page.buffer.scene_state())
    assert "flies a test" in glance._html.content


def test_readings_have_words_and_units_and_no_negative_zero():
    row = {"cmd_force_x_body_n": -0.0, "cmd_force_y_body_n": -1e-9, "cmd_rudder_rad": 0.1}
    assert vector_lines(row, "cmd_") == [
        ("Force (body) [N]", "0.00, 0.00"),
        ("Rudder [deg]", "5.73"),
    ]
    state = {f"{axis}_m": -0.001 for axis in "xyz"} | {f"v{axis}_mps": 1.0 for axis in "xyz"}
    lines = state_lines(state | {"qw": 1.0, "qx": 0.0, "qy": 0.0, "qz": 0.0}, "")
    assert lines[0] == ("Position (east, north, up) [m]", "0.00, 0.00, 0.00")
    assert lines[2] == ("Roll, pitch, yaw [deg]", "0.0, 0.0, 0.0")


def test_setpoints_that_are_zero_are_shown_only_if_important():
    row = {f"setpoint.jerk_{axis}_world_mps3": 0.0 for axis in "xyz"}
    row |= {f"setpoint.velocity_{axis}_world_mps": 0.0 for axis in "xyz"}
    assert setpoint_lines(row) == [("Velocity (world) [m/s]", "0.00, 0.00, 0.00")]
    row["setpoint.jerk_y_world_mps3"] = 0.5
    assert len(setpoint_lines(row)) == 2


# vehicles that come and go


def requests_of(page, monkeypatch):
    """Requests to the executor, instead of what they do."""
    made = []
    executor = page.session.executor
    monkeypatch.setattr(executor, "add_vehicle", lambda *given: made.append(("add", *given)))
    monkeypatch.setattr(executor, "remove_vehicle", lambda name: made.append(("remove", name)))
    return made


def test_a_vehicle_is_added_at_its_place(page, monkeypatch):
    made = requests_of(page, monkeypatch)
    page.set("Name", "gull")
    page.set("Model", "crazyflie")
    page.set("up [m]", 3.0)
    page.set("east [m]", 4.0)
    page.press("Add vehicle")
    start = {"position_world_m": [4.0, 0.0, 3.0]}
    assert made == [("add", "gull", {"model": "crazyflie", "start": start})]


def test_a_click_on_the_ground_sets_the_place_of_a_vehicle(page):
    panel = next(one for one in page.panels if isinstance(one, VehiclesPanel))
    above, down, up = (0.0, 0.0, 10.0), (0.2, 0.1, -1.0), (0.2, 0.1, 1.0)
    panel._await_click(None)
    for direction in (up, down):
        panel._on_click(SimpleNamespace(ray_origin=above, ray_direction=direction))
    assert [number.value for number in panel._place[:2]] == [2.0, 1.0]
    assert page.notifications[-1][1] == "The click is not on the ground."


def test_the_selected_vehicle_is_removed_once_that_is_confirmed(page, monkeypatch):
    made = requests_of(page, monkeypatch)
    page.set("Vehicle", "auk")
    page.press("Remove selected vehicle")
    assert made == []
    page.press("Remove")
    assert made == [("remove", "auk")]


def test_page_and_scene_follow_the_vehicles(tmp_path):
    page = Page(tmp_path)
    try:
        executor = page.session.executor
        page.buffer.post(executor.start_rows())
        page.set("Vehicle", "auk")
        changed = without_vehicle(with_vehicle(executor.scenario, "gull", GULL), "auk")
        executor._builder.scenario, executor.flown = (
            changed,
            with_vehicles_of(changed, executor.scenario),
        )
        executor._rows.layout = Simulation(changed).program.layout
        page.buffer.post(executor.start_rows())
        page.cockpit._draw(page.buffer.scene_state(), 0.0, -1.0)
        assert page.selected == "tern"
        assert page.control("Vehicle").options == ("tern", "gull")
        page.set("Vehicle", "gull")
        page.cockpit._draw(page.buffer.scene_state(), 1.0, 0.0)
        page.buffer.post({n: r + np.eye(1, r.shape[1]) for n, r in executor.start_rows().items()})
        assert len(page.buffer.history("gull", ["x_m"], 9.0)) == 1
    finally:
        page.server.stop()
