"""Pictures of red boxes, where a pinhole says that they are."""

import math

import numpy as np
import pytest
import trimesh

from kittiwake.core.errors import MissingExtraError
from kittiwake.rendering.look import Look
from kittiwake.rendering.offscreen_renderer import MOST_SEGMENTS, OffscreenRenderer, Polyline
from kittiwake.rendering.view import View

WIDTH, HEIGHT = 160, 120
HEIGHT_RAD = 0.7
AHEAD = View(np.array([-4.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]), HEIGHT_RAD)
UPRIGHT = np.array([[1.0, 0.0, 0.0, 0.0]])
ORIGIN = np.array([[0.0, 0.0, 1.0]])
RED, GREEN = (200, 30, 30), (30, 160, 30)


def look_of(mesh, rgb=RED, opacity=1.0):
    vertices = np.asarray(mesh.vertices, np.float32)
    return Look(vertices, np.asarray(mesh.faces, np.int32), rgb, opacity)


def box(rgb=RED, sizes_m=(1.0, 1.0, 1.0)):
    return look_of(trimesh.creation.box(sizes_m), rgb)


def reds(picture):
    """Where a picture is redder than the sky, the ground or anything else can be."""
    rgb = picture.astype(int)
    return rgb[..., 0] > rgb[..., 1] + rgb[..., 2]


def middle(where):
    """Of the pixels that are so, their mean row and column."""
    return np.argwhere(where).mean(axis=0)


@pytest.fixture(scope="module")
def studio():
    try:
        return OffscreenRenderer([(box(), 1)], [], WIDTH, HEIGHT)
    except MissingExtraError as error:
        pytest.skip(str(error))


def test_a_box_is_where_a_pinhole_sees_it(studio):
    found = np.argwhere(reds(studio.picture([(ORIGIN, UPRIGHT)], [], AHEAD)))
    # its front is half a meter to each side, and 3.5 m away
    half = 0.5 * HEIGHT / math.tan(0.5 * HEIGHT_RAD) * 0.5 / 3.5
    edges = [0.5 * HEIGHT - half, 0.5 * WIDTH - half, 0.5 * HEIGHT + half, 0.5 * WIDTH + half]
    assert np.abs(np.r_[found.min(axis=0), found.max(axis=0) + 1] - edges).max() <= 1.0


def test_a_picture_has_the_asked_size_and_light_on_it(studio):
    picture = studio.picture([(ORIGIN, UPRIGHT)], [], AHEAD)
    assert picture.shape == (HEIGHT, WIDTH, 3)
    # sky above
    assert picture[2, 2, 2] > picture[2, 2, 0] > 50


def test_pictures_do_not_depend_on_the_one_before(studio):
    other = View(np.array([2.0, 5.0, 4.0]), np.array([1.0, 0.0, 0.0]))
    line = Polyline(np.array([[0.0, -1.0, 1.0], [0.0, 1.0, 2.0]]), GREEN)
    first = studio.picture([(ORIGIN, UPRIGHT)], [], AHEAD)
    studio.picture([(ORIGIN + 1.0, np.array([[0.7, 0.7, 0.1, 0.0]]))], [line], other)
    assert np.array_equal(studio.picture([(ORIGIN, UPRIGHT)], [], AHEAD), first)


def test_what_goes_left_and_up_goes_left_and_up_in_the_picture(studio):
    here = middle(reds(studio.picture([(ORIGIN, UPRIGHT)], [], AHEAD)))
    left = middle(reds(studio.picture([(ORIGIN + np.array([0.0, 0.3, 0.0]), UPRIGHT)], [], AHEAD)))
    higher = middle(
        reds(studio.picture([(ORIGIN + np.array([0.0, 0.0, 0.3]), UPRIGHT)], [], AHEAD))
    )
    assert left[1] < here[1] - 5.0
    assert left[0] == pytest.approx(here[0], abs=1.0)
    assert higher[0] < here[0] - 5.0


def test_what_is_nowhere_is_not_drawn(studio):
    nowhere = np.full((1, 3), np.nan)
    assert not reds(studio.picture([(nowhere, UPRIGHT)], [], AHEAD)).any()


def test_a_line_has_its_color_and_its_place(studio):
    line = Polyline(np.array([[-1.0, 1.0, 1.5], [-1.0, -1.0, 1.5]]), (40, 100, 60), 4.0)
    picture = studio.picture([(np.full((1, 3), np.nan), UPRIGHT)], [line], AHEAD)
    column, row = AHEAD.pixels(np.array([[-1.0, 0.0, 1.5]]), WIDTH, HEIGHT)[0].round().astype(int)
    assert np.abs(picture[row, column].astype(int) - [40, 100, 60]).max() <= 3


def test_lines_may_have_more_points_than_there_is_room_for(studio):
    y = np.linspace(1.0, -1.0, 2 * MOST_SEGMENTS)
    points = np.stack([np.full_like(y, -1.0), y, np.full_like(y, 1.5)], axis=1)
    picture = studio.picture([(ORIGIN, UPRIGHT)], [Polyline(points, (40, 100, 60), 4.0)], AHEAD)
    column, row = AHEAD.pixels(np.array([[-1.0, 0.0, 1.5]]), WIDTH, HEIGHT)[0].round().astype(int)
    assert np.abs(picture[row, column].astype(int) - [40, 100, 60]).max() <= 3


def test_a_long_box_turns_with_its_quaternion():
    studio = OffscreenRenderer([(box(sizes_m=(0.2, 0.2, 1.6)), 1)], [], WIDTH, HEIGHT)
    # a quarter turn about x, which the eye looks along
    lying = np.array([[math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0]])
    spans = [
        np.ptp(np.argwhere(reds(studio.picture([(ORIGIN, q)], [], AHEAD))), axis=0)
        for q in (UPRIGHT, lying)
    ]
    assert spans[0][0] > 4 * spans[0][1]
    assert spans[1][1] > 4 * spans[1][0]


def test_a_small_angle_turns_the_way_of_the_right_hand():
    studio = OffscreenRenderer([(box(sizes_m=(0.2, 0.2, 1.6)), 1)], [], WIDTH, HEIGHT)
    # about x by 30 degrees: what was up leans to the right, -y
    q = np.array([[math.cos(math.pi / 12), math.sin(math.pi / 12), 0.0, 0.0]])
    rows, columns = np.nonzero(reds(studio.picture([(ORIGIN, q)], [], AHEAD)))
    assert columns[rows < HEIGHT / 2].mean() > columns[rows > HEIGHT / 2].mean() + 5.0


def test_a_hollow_is_not_filled():
    ring = look_of(trimesh.creation.torus(0.6, 0.1))
    studio = OffscreenRenderer([(ring, 1)], [], WIDTH, HEIGHT)
    upright = np.array([[math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0]])
    found = reds(studio.picture([(ORIGIN, upright)], [], AHEAD))
    assert found.any()
    assert not found[HEIGHT // 2, WIDTH // 2]


def test_a_sheet_is_seen_from_both_sides():
    corners = np.array([[0, -1, 0], [0, 1, 0], [0, 1, 2], [0, -1, 2]], np.float32)
    sheet = Look(corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), RED)
    studio = OffscreenRenderer([], [sheet], WIDTH, HEIGHT)
    behind = AHEAD._replace(eye_world_m=np.array([4.0, 0.0, 1.0]))
    for view in (AHEAD, behind):
        assert reds(studio.picture([], [], view))[HEIGHT // 2, WIDTH // 2]


def test_shadows_fall_on_the_ground():
    ground = look_of(trimesh.creation.box((20.0, 20.0, 0.1)), (150, 150, 150))
    studio = OffscreenRenderer([(box(GREEN), 1)], [ground], WIDTH, HEIGHT)
    above = View(np.array([-0.5, 0.0, 8.0]), np.array([0.0, 0.0, 0.0]))
    with_box = studio.picture([(2.0 * ORIGIN, UPRIGHT)], [], above).astype(int)
    without = studio.picture([(np.full((1, 3), np.nan), UPRIGHT)], [], above).astype(int)
    darker = (with_box.sum(axis=2) < without.sum(axis=2) - 60) & (np.ptp(with_box, axis=2) < 10)
    assert darker.sum() > 50


def test_many_of_a_look_are_drawn_at_their_places():
    studio = OffscreenRenderer([(box(sizes_m=(0.1, 0.1, 0.1)), 9)], [], WIDTH, HEIGHT)
    places = np.array([[0.0, y, 1.0 + z] for y in (-0.8, 0.0, 0.8) for z in (-0.8, 0.0, 0.8)])
    found = reds(studio.picture([(places, np.repeat(UPRIGHT, 9, axis=0))], [], AHEAD))
    pixels = AHEAD.pixels(places, WIDTH, HEIGHT).round().astype(int)
    assert found[pixels[:, 1], pixels[:, 0]].all()
    assert found.sum() < 9 * 36


def test_two_studios_and_a_former_one_share_the_graphics(studio):
    first = studio.picture([(ORIGIN, UPRIGHT)], [], AHEAD)
    other = OffscreenRenderer([(box(GREEN), 1)], [], WIDTH, HEIGHT)
    assert not reds(other.picture([(ORIGIN, UPRIGHT)], [], AHEAD)).any()
    del other
    assert np.array_equal(studio.picture([(ORIGIN, UPRIGHT)], [], AHEAD), first)


def test_what_changes_its_shape_is_drawn_as_it_is_told():
    flat = np.array([[0, -1, 0], [0, 1, 0], [0, 1, 1], [0, -1, 1]], np.float32)
    sheet = Look(flat, np.array([[0, 1, 2], [0, 2, 3]], np.int32), RED)
    studio = OffscreenRenderer([(box(GREEN), 1)], [], WIDTH, HEIGHT, [sheet])
    nowhere = [(np.full((1, 3), np.nan), UPRIGHT)]
    low = reds(studio.picture(nowhere, [], AHEAD, [flat]))
    high = reds(studio.picture(nowhere, [], AHEAD, [flat + np.array([0, 0, 1], np.float32)]))
    # its upper, then its lower edge is at the height of the eye
    assert np.nonzero(low)[0].min() == pytest.approx(HEIGHT / 2, abs=1.5)
    assert np.nonzero(high)[0].max() == pytest.approx(HEIGHT / 2, abs=1.5)
    assert np.array_equal(reds(studio.picture(nowhere, [], AHEAD, [flat])), low)


def test_what_shrinks_to_a_point_is_not_seen():
    flat = np.array([[0, -1, 0], [0, 1, 0], [0, 1, 2]], np.float32)
    sheet = Look(flat, np.array([[0, 1, 2]], np.int32), RED)
    studio = OffscreenRenderer([], [], WIDTH, HEIGHT, [sheet])
    assert reds(studio.picture([], [], AHEAD, [flat])).any()
    assert not reds(studio.picture([], [], AHEAD, [0.0 * flat + ORIGIN])).any()


def test_lines_that_let_light_through_are_mixed_with_what_is_behind(studio):
    nowhere = [(np.full((1, 3), np.nan), UPRIGHT)]
    points = np.array([[-1.0, 1.0, 1.5], [-1.0, -1.0, 1.5]])
    column, row = AHEAD.pixels(np.array([[-1.0, 0.0, 1.5]]), WIDTH, HEIGHT)[0].round().astype(int)
    behind = studio.picture(nowhere, [], AHEAD)[row, column].astype(float)
    mixed = studio.picture(nowhere, [Polyline(points, (40, 100, 60), 4.0, 0.5)], AHEAD)[row, column]
    assert mixed == pytest.approx(0.5 * behind + 0.5 * np.array([40, 100, 60]), abs=3.0)
