"""A flight as nodes of a viser scene."""

from contextlib import contextmanager

import numpy as np
import pytest

viser = pytest.importorskip("viser")

from kittiwake.cockpit.scene_nodes import SceneNodes, home_camera  # noqa: E402

SCENARIOS = ("hover-hummingbird", "deck-landing", "wind-box", "hallway-ranging", "flock-8")


@contextmanager
def serving():
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def server():
    with serving() as server:
        yield server


def nodes(server):
    return {name: id(handle) for name, handle in server.scene._handle_from_node_name.items()}


def test_drawing_twice_creates_no_new_nodes(server, ultrasonic_turns):
    scene = SceneNodes(server.scene, ultrasonic_turns.flight)
    scene.draw(ultrasonic_turns.scene_state(0))
    before = nodes(server)
    scene.draw(ultrasonic_turns.scene_state(-1))
    assert nodes(server) == before
    assert any("beams/sound" in name for name in before)
    scene.remove()


def test_bodies_are_drawn_at_their_logged_positions(server, ultrasonic_turns):
    scene = SceneNodes(server.scene, ultrasonic_turns.flight)
    scene_state = ultrasonic_turns.scene_state(-1)
    scene.draw(scene_state)
    body = server.scene.get_handle_by_name("/flight/bodies/hummingbird body")
    expected = np.stack([scene_state.rows["drone"][1:4], scene_state.rows["other"][1:4]])
    np.testing.assert_allclose(body.batched_positions, expected, atol=1e-6)
    scene.remove()


def test_a_disabled_layer_is_invisible(server, ultrasonic_turns):
    scene = SceneNodes(server.scene, ultrasonic_turns.flight)
    names = {
        "trails": "/flight/trails",
        "labels": "/flight/labels/drone",
        "reference": "/flight/reference/setpoints",
        "beams": "/flight/beams/sound",
        "wind": "/flight/wind",
    }
    for option, name in names.items():
        for shown in (False, True):
            setattr(scene.options, option, shown)
            scene.draw(ultrasonic_turns.scene_state(-1))
            assert server.scene.get_handle_by_name(name).visible == shown, option
    scene.remove()


def test_waves_replace_the_flat_water(server, otter_in_waves):
    scene = SceneNodes(server.scene, otter_in_waves.flight)
    scene.draw(otter_in_waves.scene_state(0))
    waves = server.scene.get_handle_by_name("/flight/static/waves")
    first = np.array(waves.vertices)
    scene.draw(otter_in_waves.scene_state(-1))
    assert np.abs(np.array(waves.vertices)[:, 2] - first[:, 2]).max() > 0.01
    assert server.scene.get_handle_by_name("/flight/static/water") is None
    scene.remove()


def test_a_ghost_has_only_bodies_and_trails(server, ultrasonic_turns):
    ghost = SceneNodes(server.scene, ultrasonic_turns.flight, ghost=True)
    ghost.draw(ultrasonic_turns.scene_state(-1))
    drawn = {name.split("/")[2] for name in nodes(server) if name.startswith("/ghost/")}
    assert drawn == {"bodies", "trails"}
    body = server.scene.get_handle_by_name("/ghost/bodies/hummingbird body")
    assert body.opacity < 0.5
    ghost.remove()
    assert not any(name.startswith("/ghost") for name in nodes(server))


@pytest.mark.parametrize("name", SCENARIOS)
def test_library_scenarios_are_drawn(server, staged, placed, name):
    flight = staged(name)
    scene = SceneNodes(server.scene, flight, name=name)
    for option in vars(scene.options):
        setattr(scene.options, option, True)
    scene.draw(placed(flight))
    scene.remove()


def test_the_home_camera_shows_all_vehicles_from_above(staged, placed):
    flight = staged("ultrasonic-turns")
    scene_state = placed(flight, (0.0, 0.0, 1.0))
    position, look_at = home_camera(flight, scene_state)
    # the vehicles are 10 m apart
    np.testing.assert_allclose(look_at, [0.0, 5.0, 1.0])
    assert position[2] > 2.0
    assert np.linalg.norm(position - look_at) > 7.0
