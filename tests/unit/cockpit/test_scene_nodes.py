"""A flight as nodes of a viser scene."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

viser = pytest.importorskip("viser")

from kittiwake.cockpit.scene_nodes import SceneNodes  # noqa: E402

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


@pytest.mark.slow
def test_drawing_twice_creates_no_new_nodes(server, ultrasonic_turns):
    scene = SceneNodes(server.scene, ultrasonic_turns.flight)
    scene.draw(ultrasonic_turns.scene_state(0))
    before = nodes(server)
    scene.draw(ultrasonic_turns.scene_state(-1))
    assert nodes(server) == before
    assert any("beams/sound" in name for name in before)
    scene.remove()


@pytest.mark.slow
def test_bodies_are_drawn_at_their_logged_positions(server, ultrasonic_turns):
    scene = SceneNodes(server.scene, ultrasonic_turns.flight)
    scene_state = ultrasonic_turns.scene_state(-1)
    scene.draw(scene_state)
    body = server.scene.get_handle_by_name("/flight/bodies/hummingbird body")
    expected = np.stack([scene_state.rows["drone"][1:4], scene_state.rows["other"][1:4]])
    np.testing.assert_allclose(body.batched_positions, expected, atol=1e-6)
    scene.remove()


def test_vehicles_have_marks_of_their_color_that_are_seen_from_afar(server, ultrasonic_turns):
    scene = SceneNodes(server.scene, ultrasonic_turns.flight)
    scene_state = ultrasonic_turns.scene_state(-1)
    scene.draw(scene_state)
    marks = server.scene.get_handle_by_name("/flight/bodies/marks")
    expected = np.stack([scene_state.rows["drone"][1:4], scene_state.rows["other"][1:4]])
    np.testing.assert_allclose(marks.points.mean(axis=1), expected, atol=1e-6)
    # zero length would have no direction on the screen, and thus no width
    assert (np.linalg.norm(np.diff(marks.points, axis=1), axis=-1) > 0.01).all()
    assert (marks.colors[0] != marks.colors[1]).any()
    assert marks.thickness_units == "screen"
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


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_library_scenarios_are_drawn(server, staged, placed, name):
    flight = staged(name)
    scene = SceneNodes(server.scene, flight, name=name)
    for option in vars(scene.options):
        setattr(scene.options, option, True)
    scene.draw(placed(flight))
    scene.remove()


def test_shadows_are_on_the_ground_below_aircraft(server, staged, placed):
    flight = staged("deck-landing")
    scene = SceneNodes(server.scene, flight, name="shadows")
    scene_state = placed(flight, (3.0, 4.0, 5.0))
    scene.draw(scene_state)
    shadows = server.scene.get_handle_by_name("/shadows/heights/shadows")
    lines = server.scene.get_handle_by_name("/shadows/heights/lines")
    # that of the drone, none of the vessel
    assert shadows.batched_positions.shape == (1, 3)
    drone = scene_state.rows["drone"][1:4]
    np.testing.assert_allclose(shadows.batched_positions[0, :2], drone[:2], rtol=1e-6)
    assert 0.0 < shadows.batched_positions[0, 2] < 0.1
    np.testing.assert_allclose(lines.points[0, 0], drone, rtol=1e-6)
    scene.remove()


def test_labels_show_the_heights_of_aircraft_only(server, staged, placed):
    flight = staged("deck-landing")
    scene = SceneNodes(server.scene, flight, name="labeled")
    scene_state = placed(flight)
    scene.draw(scene_state)
    height_m = scene_state.rows["drone"][3]
    label = server.scene.get_handle_by_name("/labeled/labels/drone")
    assert label.text == f"drone · {height_m:.1f} m"
    assert server.scene.get_handle_by_name("/labeled/labels/strider").text == "strider"
    scene.options.heights = False
    scene.draw(scene_state)
    assert label.text == "drone"
    scene.remove()


def test_the_ground_reaches_to_the_horizon(server, staged):
    flight = staged("hover-hummingbird")
    scene = SceneNodes(server.scene, flight, name="wide")
    ground = server.scene.get_handle_by_name("/wide/static/ground")
    assert np.linalg.norm(ground.vertices[:, :2], axis=1).max() > 3000.0
    scene.remove()


def test_water_has_the_colors_of_the_surveyed_field(server, staged, placed):
    flight = staged("survey-lake")
    scene = SceneNodes(server.scene, flight, name="surveyed")
    scene.draw(placed(flight))
    cells = server.scene.get_handle_by_name("/surveyed/field/cells")
    assert len(np.unique(cells.batched_colors, axis=0)) > 50
    label = server.scene.get_handle_by_name("/surveyed/field/label")
    assert label.text.startswith("chlorophyll: dark ")
    scene.remove()


def test_a_drag_pushes_the_vehicle_of_its_instance_once(server, staged):
    scene = SceneNodes(server.scene, staged("flock-8"), name="pushed")
    pushed = []
    scene.on_push(lambda name, event: pushed.append(name))
    body = next(
        handle
        for name, handle in server.scene._handle_from_node_name.items()
        if name.startswith("/pushed/bodies/") and name.endswith("body")
    )
    on_drag = body._impl.drag_cb[0]
    assert (on_drag.button, on_drag.modifier) == ("left", "cmd/ctrl")
    for phase, index in (("start", 2), ("update", 2), ("end", 2), ("end", None), ("end", 99)):
        on_drag.callback(SimpleNamespace(phase=phase, instance_index=index))
    assert pushed == ["drone-3"]
    scene.remove()
