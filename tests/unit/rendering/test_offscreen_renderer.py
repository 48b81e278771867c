"""Offscreen pictures compared with a pinhole camera."""

import math

import numpy as np
import pytest
import trimesh

from kittiwake.core.errors import MissingExtraError
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.offscreen_renderer import MAX_SEGMENTS, OffscreenRenderer, Polyline
from kittiwake.rendering.view import View

WIDTH, HEIGHT = 160, 120
HEIGHT_RAD = 0.7
AHEAD = View(np.array([-4.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]), HEIGHT_RAD)
UPRIGHT = np.array([[1.0, 0.0, 0.0, 0.0]])
ORIGIN = np.array([[0.0, 0.0, 1.0]])
RED, GREEN = (200, 30, 30), (30, 160, 30)


def colored_mesh(mesh, rgb=RED, opacity=1.0):
    vertices = np.asarray(mesh.vertices, np.float32)
    return ColoredMesh(vertices, np.asarray(mesh.faces, np.int32), rgb, opacity)


def box(rgb=RED, sizes_m=(1.0, 1.0, 1.0)):
    return colored_mesh(trimesh.creation.box(sizes_m), rgb)


def reds(picture):
    """Return a mask of the red pixels of a picture."""
    rgb = picture.astype(int)
    return rgb[..., 0] > rgb[..., 1] + rgb[..., 2]


def middle(where):
    """Return the mean row and column of a mask."""
    return np.argwhere(where).mean(axis=0)


@pytest.fixture(scope="module")
def renderer():
    try:
        return OffscreenRenderer([(box(), 1)], [], WIDTH, HEIGHT)
    except MissingExtraError as error:
        pytest.skip(str(error))


def test_a_box_is_drawn_by_pinhole_projection(renderer):
    found = np.argwhere(reds(renderer.picture([(ORIGIN, UPRIGHT)], [], AHEAD)))
    # its front face is 1 m wide and 3.5 m away
    half = 0.5 * HEIGHT / math.tan(0.5 * HEIGHT_RAD) * 0.5 / 3.5
    edges = [0.5 * HEIGHT - half, 0.5 * WIDTH - half, 0.5 * HEIGHT + half, 0.5 * WIDTH + half]
    assert np.abs(np.r_[found.min(axis=0), found.max(axis=0) + 1] - edges).max() <= 1.0


def test_a_picture_has_the_requested_size_and_light(renderer):
    picture = renderer.picture([(ORIGIN, UPRIGHT)], [], AHEAD)
    assert picture.shape == (HEIGHT, WIDTH, 3)
    # sky above
    assert picture[2, 2, 2] > picture[2, 2, 0] > 50


def test_pictures_do_not_depend_on_the_one_before(renderer):
    other = View(np.array([2.0, 5.0, 4.0]), np.array([1.0, 0.0, 0.0]))
    line = Polyline(np.array([[0.0, -1.0, 1.0], [0.0, 1.0, 2.0]]), GREEN)
    first = renderer.picture([(ORIGIN, UPRIGHT)], [], AHEAD)
    renderer.picture([(ORIGIN + 1.0, np.array([[0.7, 0.7, 0.1, 0.0]]))], [line], other)
    assert np.array_equal(renderer.picture([(ORIGIN, UPRIGHT)], [], AHEAD), first)


def test_left_and_up_are_left_and_up_in_the_picture(renderer):
    here = middle(reds(renderer.picture([(ORIGIN, UPRIGHT)], [], AHEAD)))
    left = middle(
        reds(renderer.picture([(ORIGIN + np.array([0.0, 0.3, 0.0]), UPRIGHT)], [], AHEAD))
    )
    higher = middle(
        reds(renderer.picture([(ORIGIN + np.array([0.0, 0.0, 0.3]), UPRIGHT)], [], AHEAD))
    )
    assert left[1] < here[1] - 5.0
    assert left[0] == pytest.approx(here[0], abs=1.0)
    assert higher[0] < here[0] - 5.0


def test_instances_without_a_finite_pose_are_hidden(renderer):
    nowhere = np.full((1, 3), np.nan)
    assert not reds(renderer.picture([(nowhere, UPRIGHT)], [], AHEAD)).any()


def test_a_line_has_its_color_and_position(renderer):
    line = Polyline(np.array([[-1.0, 1.0, 1.5], [-1.0, -1.0, 1.5]]), (40, 100, 60), 4.0)
    picture = renderer.picture([(np.full((1, 3), np.nan), UPRIGHT)], [line], AHEAD)
    column, row = AHEAD.pixels(np.array([[-1.0, 0.0, 1.5]]), WIDTH, HEIGHT)[0].round().astype(int)
    assert np.abs(picture[row, column].astype(int) - [40, 100, 60]).max() <= 3


def test_long_lines_are_thinned(renderer):
    y = np.linspace(1.0, -1.0, 2 * MAX_SEGMENTS)
    points = np.stack([np.full_like(y, -1.0), y, np.full_like(y, 1.5)], axis=1)
    picture = renderer.picture([(ORIGIN, UPRIGHT)], [Polyline(points, (40, 100, 60), 4.0)], AHEAD)
    column, row = AHEAD.pixels(np.array([[-1.0, 0.0, 1.5]]), WIDTH, HEIGHT)[0].round().astype(int)
    assert np.abs(picture[row, column].astype(int) - [40, 100, 60]).max() <= 3


def test_a_long_box_turns_with_its_quaternion():
    renderer = OffscreenRenderer([(box(sizes_m=(0.2, 0.2, 1.6)), 1)], [], WIDTH, HEIGHT)
    # a quarter turn about x, the viewing direction
    lying = np.array([[math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0]])
    spans = [
        np.ptp(np.argwhere(reds(renderer.picture([(ORIGIN, q)], [], AHEAD))), axis=0)
        for q in (UPRIGHT, lying)
    ]
    assert spans[0][0] > 4 * spans[0][1]
    assert spans[1][1] > 4 * spans[1][0]


def test_rotations_are_right_handed():
    renderer = OffscreenRenderer([(box(sizes_m=(0.2, 0.2, 1.6)), 1)], [], WIDTH, HEIGHT)
    # about x by 30 degrees: what was up leans to the right, -y
    q = np.array([[math.cos(math.pi / 12), math.sin(math.pi / 12), 0.0, 0.0]])
    rows, columns = np.nonzero(reds(renderer.picture([(ORIGIN, q)], [], AHEAD)))
    assert columns[rows < HEIGHT / 2].mean() > columns[rows > HEIGHT / 2].mean() + 5.0


def test_a_hollow_is_not_filled():
    ring = colored_mesh(trimesh.creation.torus(0.6, 0.1))
    renderer = OffscreenRenderer([(ring, 1)], [], WIDTH, HEIGHT)
    upright = np.array([[math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0]])
    found = reds(renderer.picture([(ORIGIN, upright)], [], AHEAD))
    assert found.any()
    assert not found[HEIGHT // 2, WIDTH // 2]


def test_an_open_mesh_is_visible_from_both_sides():
    corners = np.array([[0, -1, 0], [0, 1, 0], [0, 1, 2], [0, -1, 2]], np.float32)
    sheet = ColoredMesh(corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), RED)
    renderer = OffscreenRenderer([], [sheet], WIDTH, HEIGHT)
    behind = AHEAD._replace(eye_world_m=np.array([4.0, 0.0, 1.0]))
    for view in (AHEAD, behind):
        assert reds(renderer.picture([], [], view))[HEIGHT // 2, WIDTH // 2]


def test_shadows_fall_on_the_ground():
    ground = colored_mesh(trimesh.creation.box((20.0, 20.0, 0.1)), (150, 150, 150))
    renderer = OffscreenRenderer([(box(GREEN), 1)], [ground], WIDTH, HEIGHT)
    above = View(np.array([-0.5, 0.0, 8.0]), np.array([0.0, 0.0, 0.0]))
    with_box = renderer.picture([(2.0 * ORIGIN, UPRIGHT)], [], above).astype(int)
    without = renderer.picture([(np.full((1, 3), np.nan), UPRIGHT)], [], above).astype(int)
    darker = (with_box.sum(axis=2) < without.sum(axis=2) - 60) & (np.ptp(with_box, axis=2) < 10)
    assert darker.sum() > 50


def test_all_instances_are_drawn_at_their_positions():
    renderer = OffscreenRenderer([(box(sizes_m=(0.1, 0.1, 0.1)), 9)], [], WIDTH, HEIGHT)
    positions = np.array([[0.0, y, 1.0 + z] for y in (-0.8, 0.0, 0.8) for z in (-0.8, 0.0, 0.8)])
    found = reds(renderer.picture([(positions, np.repeat(UPRIGHT, 9, axis=0))], [], AHEAD))
    pixels = AHEAD.pixels(positions, WIDTH, HEIGHT).round().astype(int)
    assert found[pixels[:, 1], pixels[:, 0]].all()
    assert found.sum() < 9 * 36


def test_several_renderers_share_the_graphics_context(renderer):
    first = renderer.picture([(ORIGIN, UPRIGHT)], [], AHEAD)
    other = OffscreenRenderer([(box(GREEN), 1)], [], WIDTH, HEIGHT)
    assert not reds(other.picture([(ORIGIN, UPRIGHT)], [], AHEAD)).any()
    del other
    assert np.array_equal(renderer.picture([(ORIGIN, UPRIGHT)], [], AHEAD), first)


def test_deformable_meshes_are_drawn_with_their_vertices():
    flat = np.array([[0, -1, 0], [0, 1, 0], [0, 1, 1], [0, -1, 1]], np.float32)
    sheet = ColoredMesh(flat, np.array([[0, 1, 2], [0, 2, 3]], np.int32), RED)
    renderer = OffscreenRenderer([(box(GREEN), 1)], [], WIDTH, HEIGHT, [sheet])
    nowhere = [(np.full((1, 3), np.nan), UPRIGHT)]
    low = reds(renderer.picture(nowhere, [], AHEAD, [flat]))
    high = reds(renderer.picture(nowhere, [], AHEAD, [flat + np.array([0, 0, 1], np.float32)]))
    # first the upper, then the lower edge is at eye height
    assert np.nonzero(low)[0].min() == pytest.approx(HEIGHT / 2, abs=1.5)
    assert np.nonzero(high)[0].max() == pytest.approx(HEIGHT / 2, abs=1.5)
    assert np.array_equal(reds(renderer.picture(nowhere, [], AHEAD, [flat])), low)


def test_a_mesh_collapsed_to_a_point_is_invisible():
    flat = np.array([[0, -1, 0], [0, 1, 0], [0, 1, 2]], np.float32)
    sheet = ColoredMesh(flat, np.array([[0, 1, 2]], np.int32), RED)
    renderer = OffscreenRenderer([], [], WIDTH, HEIGHT, [sheet])
    assert reds(renderer.picture([], [], AHEAD, [flat])).any()
    assert not reds(renderer.picture([], [], AHEAD, [0.0 * flat + ORIGIN])).any()


def test_translucent_lines_are_blended_with_the_background(renderer):
    nowhere = [(np.full((1, 3), np.nan), UPRIGHT)]
    points = np.array([[-1.0, 1.0, 1.5], [-1.0, -1.0, 1.5]])
    column, row = AHEAD.pixels(np.array([[-1.0, 0.0, 1.5]]), WIDTH, HEIGHT)[0].round().astype(int)
    behind = renderer.picture(nowhere, [], AHEAD)[row, column].astype(float)
    mixed = renderer.picture(nowhere, [Polyline(points, (40, 100, 60), 4.0, 0.5)], AHEAD)[
        row, column
    ]
    assert mixed == pytest.approx(0.5 * behind + 0.5 * np.array([40, 100, 60]), abs=3.0)
