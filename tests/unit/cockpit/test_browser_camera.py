"""Camera of a browser, without one."""

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("viser")

from kittiwake.cockpit.browser_camera import (
    ABOVE,
    BEHIND,
    EVERYTHING,
    FOLLOW,
    FREE,
    ONBOARD,
    VIEWS,
    BrowserCamera,
)


class Client:
    """Fake browser: a camera that is set at once, and reported when the test says so."""

    def __init__(self, aspect=1.6):
        self.callbacks = []
        self.camera = SimpleNamespace(
            position=np.array([3.0, 3.0, 3.0]),
            look_at=np.zeros(3),
            up_direction=np.array([0.0, 0.0, 1.0]),
            fov=1.3,
            aspect=aspect,
            on_update=self.callbacks.append,
        )

    def atomic(self):
        return nullcontext()

    @property
    def offset(self):
        return np.asarray(self.camera.position) - np.asarray(self.camera.look_at)

    def report(self, offset):
        camera = SimpleNamespace(position=offset, look_at=np.zeros(3))
        for callback in self.callbacks:
            asyncio.run(callback(camera))


@pytest.fixture
def open_camera(staged, placed):
    def opened(name, position=(0.0, 0.0, 5.0), aspect=1.6):
        flight = staged(name)
        scene_state = placed(flight, position)
        client = Client(aspect)
        camera = BrowserCamera(client, flight, SimpleNamespace(scene_state=lambda: scene_state))
        camera.set_initial_view()
        client.report(client.offset)  # the first message
        client.report(client.offset)
        return camera, client, scene_state

    return opened


def turned(scene_state, vehicle, yaw_rad, columns):
    row = scene_state.rows[vehicle].copy()
    row[columns.index("qw")], row[columns.index("qz")] = np.cos(yaw_rad / 2), np.sin(yaw_rad / 2)
    return scene_state._replace(rows={**scene_state.rows, vehicle: row})


def test_one_vehicle_is_followed_and_many_are_all_shown(open_camera):
    assert open_camera("hover-hummingbird")[0].view == FOLLOW
    assert open_camera("flock-8")[0].view == EVERYTHING


def test_a_followed_vehicle_is_large_enough_to_be_seen(open_camera):
    _, client, _ = open_camera("hover-hummingbird")
    # 0.55 m across, with a field of view of 75 degrees: at least a tenth of the height
    share = 0.55 / (2.0 * np.tan(0.65) * np.linalg.norm(client.offset))
    assert share > 0.1


@pytest.mark.parametrize("aspect", [1.6, 0.5])
def test_everything_is_within_the_image(open_camera, aspect):
    camera, client, scene_state = open_camera("flock-8", (0.0, 0.0, 1.0), aspect)
    view = -client.offset / np.linalg.norm(client.offset)
    right = np.cross(view, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    for row in scene_state.rows.values():
        away = row[1:4] - client.camera.position
        ahead = away @ view
        assert abs(away @ right) < ahead * np.tan(0.65) * aspect
        assert abs(away @ np.cross(right, view)) < ahead * np.tan(0.65)
    del camera


def test_the_view_from_behind_turns_with_the_heading(open_camera, staged):
    camera, client, scene_state = open_camera("hover-hummingbird")
    columns = staged("hover-hummingbird").columns["hummingbird"]
    camera.start(BEHIND, "hummingbird")
    for yaw_rad in (0.0, 1.0, -2.5):
        camera.update(turned(scene_state, "hummingbird", yaw_rad, columns), "hummingbird")
        heading = np.array([np.cos(yaw_rad), np.sin(yaw_rad)])
        level = client.offset[:2] / np.linalg.norm(client.offset[:2])
        np.testing.assert_allclose(level, -heading, atol=1e-6)


def test_a_drag_in_the_view_from_behind_is_kept_while_turning(open_camera, staged):
    camera, client, scene_state = open_camera("hover-hummingbird")
    columns = staged("hover-hummingbird").columns["hummingbird"]
    camera.start(BEHIND, "hummingbird")
    client.report(client.offset)
    camera.update(turned(scene_state, "hummingbird", 0.0, columns), "hummingbird")
    client.report(np.array([0.0, 4.0, 1.0]))  # from the left of a vehicle that heads east
    camera.update(turned(scene_state, "hummingbird", np.pi / 2, columns), "hummingbird")
    np.testing.assert_allclose(client.offset, [-4.0, 0.0, 1.0], atol=1e-9)


def test_a_delayed_report_of_an_earlier_view_is_no_drag(open_camera):
    camera, client, scene_state = open_camera("hover-hummingbird")
    before = client.offset
    camera.start(ABOVE, "hummingbird")
    client.report(before)
    camera.update(scene_state, "hummingbird")
    assert client.offset[2] > 0.99 * np.linalg.norm(client.offset)


def test_onboard_looks_ahead_and_the_next_view_is_upright_again(open_camera, staged):
    camera, client, scene_state = open_camera("hover-hummingbird")
    columns = staged("hover-hummingbird").columns["hummingbird"]
    camera.start(ONBOARD, "hummingbird")
    camera.update(turned(scene_state, "hummingbird", 0.5, columns), "hummingbird")
    np.testing.assert_allclose(-client.offset, [np.cos(0.5), np.sin(0.5), 0.0], atol=1e-9)
    client.camera.up_direction = np.array([0.3, 0.0, 0.9])
    camera.start(FOLLOW, "hummingbird")
    np.testing.assert_allclose(client.camera.up_direction, [0.0, 0.0, 1.0])


def test_onboard_uses_the_camera_of_the_vehicle(open_camera):
    camera, client, _ = open_camera("camera-over-deck")
    vehicle = next(
        name
        for name, one in camera.flight.scenario.vehicles.items()
        if any(s.component.sensor.field_of_view() for s in one.sensors.values())
    )
    camera.start(ONBOARD, vehicle)
    assert client.offset[2] > 0.9  # it looks down


def test_a_free_camera_stays(open_camera):
    camera, client, scene_state = open_camera("hover-hummingbird")
    camera.start(FREE, "hummingbird")
    client.camera.position = np.array([7.0, 8.0, 9.0])
    camera.update(scene_state, "hummingbird")
    np.testing.assert_allclose(client.camera.position, [7.0, 8.0, 9.0])


def test_every_view_begins_for_every_vehicle(open_camera):
    camera, client, scene_state = open_camera("deck-landing")
    for vehicle in camera.flight.scenario.vehicles:
        for view in VIEWS:
            camera.start(view, vehicle)
            camera.update(scene_state, vehicle)
            assert np.isfinite(client.offset).all()
