"""Pictures: against our own rays, the colors that are painted, and what the gimbal holds."""

import math

import jax
import numpy as np
import pytest
from tests.unit.sensors.camera_scene import drawn, looking_down, skip_without_graphics
from tests.unit.sensors.range_scene import read

import kittiwake as kw
from kittiwake.core.kinematics import Start
from kittiwake.environment.obstacles.boxes import Box
from kittiwake.environment.platforms import FixedPlatform
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.renderer import BODIES, ImageFormat, Viewpoint
from kittiwake.rendering import camera_renderer, scene_builder
from kittiwake.sensors.camera import Camera
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.range_camera import RangeCamera

skip_without_graphics()

BOX = Box(Vec3(1.0, 0.6, 0.4), Vec3(0.5, 0.7, 0.8), 0.5, 0.2, 0.1)
DECK = FixedPlatform(Vec3(-0.8, -0.5, 0.35), 0.6, 0.8, 0.3)
# a pixel of eight bits, and as much again for the samples that are mixed
SHADE = 2.0 / 255.0

PAIR = """
name: pair
time: {rate_hz: 100, duration_s: 0.5}
world: {area: {x_m: [-9, 9], y_m: [-9, 9], z_m: [-1, 9]}}
vehicles:
  upper:
    model: ar-drone
    # high in the air feet change nothing but the time to compile
    parameters: {landing_gear: null}
    count: 2
    spacing_m: [0.1, 0, 0]
    start: {position_world_m: [0, 0, 3]}
    sensors: {eye: {type: camera, depth: true, width: 8, height: 6, mount: {pitch_deg: 90}}}
    guidance: hold
  lower:
    model: ar-drone
    parameters: {landing_gear: null}
    start: {position_world_m: [0, 0, 1]}
    guidance: hold
"""


def jumps(depth_m):
    """Whether the surface has an edge in a pixel or beside it."""
    padded = np.pad(depth_m, 1, mode="edge")
    rows, columns = depth_m.shape
    around = [padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    bends = [np.abs(around[i] + around[8 - i] - 2.0 * depth_m) for i in range(4)]
    return np.max(bends, axis=0) > 0.01


@pytest.mark.slow
def test_depths_are_those_of_our_own_rays():
    mount = Mount(Vec3(0.1, -0.05, 0.02), pitch_rad=1.2, yaw_rad=0.3)
    inputs = drawn(Start(Vec3(-0.5, -0.2, 2.5), 0.1, -0.15, 0.4), [BOX], [DECK])
    size = {"width": 60, "height": 40, "horizontal_field_of_view_rad": 1.3}
    seen = read(Camera(mount, depth=True, min_range_m=0.1, **size), inputs)
    cast = read(RangeCamera(mount, max_range_m=20.0, **size), inputs)
    smooth = ~jumps(np.asarray(cast.depth_m))
    assert np.asarray(cast.valid).all()
    assert smooth.mean() > 0.7
    # on the deck lies the marker, a fifth of a millimeter higher
    np.testing.assert_allclose(
        np.asarray(seen.depth_m)[smooth], np.asarray(cast.depth_m)[smooth], rtol=1e-3
    )
    assert len(np.unique(np.asarray(cast.depth_m)[smooth].round(1))) > 5


def picture_from(renderer, places, x_m=0.0, height_m=3.0):
    """Straight down from a place."""
    half = math.sqrt(0.5)
    place = np.array([x_m, 0.0, height_m], np.float32)
    shot = Viewpoint(place, np.array([half, 0.0, half, 0.0], np.float32), 1.2, -1)
    return renderer.picture(ImageFormat(40, 30, with_depth=True), shot, places)


def seen_by(inputs):
    """Who draws, and where everything is."""
    found = inputs.processes[BODIES]
    return found.renderer, np.asarray(found.poses, np.float32)


@pytest.mark.parametrize("between_m", [40.7, 350.0, 2000.0])
def test_a_picture_does_not_depend_on_the_one_before(between_m):
    renderer, places = seen_by(drawn(obstacles=[BOX], platforms=[DECK]))
    before = picture_from(renderer, places)
    there = picture_from(renderer, places, between_m)
    np.testing.assert_allclose(there.depth_m, 3.0, rtol=1e-3)
    again = picture_from(renderer, places)
    np.testing.assert_array_equal(before.rgb, again.rgb)
    np.testing.assert_array_equal(before.depth_m, again.depth_m)


@pytest.mark.parametrize("where", [0, 3])
def test_a_body_that_is_nowhere_is_not_drawn_and_hides_nothing_else(where):
    other = FixedPlatform(Vec3(0.6, 0.0, 0.3), 0.5, 0.5)
    renderer, places = seen_by(drawn(platforms=[DECK, other]))
    alone, _ = seen_by(drawn(platforms=[DECK]))
    expected = picture_from(alone, places[:1])
    whole = picture_from(renderer, places)
    assert (whole.rgb != expected.rgb).any()
    places[1, where] = np.nan
    lost = picture_from(renderer, places)
    np.testing.assert_array_equal(lost.rgb, expected.rgb)
    np.testing.assert_array_equal(lost.depth_m, expected.depth_m)


def test_a_red_box_is_as_red_as_it_is_painted_and_lit():
    box = Box(Vec3(0.0, 0.0, 0.5), Vec3(1.0, 1.0, 1.0))
    seen = read(Camera(width=3, height=3), drawn(looking_down(1.5), [box]))
    light = np.array(scene_builder.LIGHT_WORLD)
    share = scene_builder.AMBIENT + scene_builder.DIFFUSE * -light[2] / np.linalg.norm(light)
    expected = share * np.array(scene_builder.OBSTACLE_COLORS[0])
    np.testing.assert_allclose(np.asarray(seen.color)[1, 1], expected, atol=SHADE)


@pytest.mark.slow
@pytest.mark.parametrize(("pitch_rad", "yaw_rad"), [(0.0, 0.0), (0.4, 1.0), (math.pi / 2, 0.0)])
def test_a_gimbal_keeps_the_picture_of_a_level_vehicle(pitch_rad, yaw_rad):
    mount = Mount(pitch_rad=pitch_rad, yaw_rad=yaw_rad)
    size = {"width": 24, "height": 18, "depth": True, "max_range_m": 500.0}
    tilted, level = (
        drawn(Start(Vec3(0.0, 0.0, 2.0), *angles, 0.7), [BOX])
        for angles in ((0.3, -0.4), (0.0, 0.0))
    )
    held = read(Camera(mount, "stabilised", **size), tilted)
    flat, tipped = (read(Camera(mount, **size), inputs) for inputs in (level, tilted))
    np.testing.assert_allclose(held.color, flat.color, atol=SHADE)
    np.testing.assert_allclose(held.depth_m, flat.depth_m, rtol=1e-3)
    assert np.abs(np.asarray(tipped.depth_m) - np.asarray(flat.depth_m)).max() > 0.1


def test_the_horizon_is_level_and_in_the_middle():
    start = Start(Vec3(0.0, 0.0, 2.0), 0.4, 0.2, 0.7)
    camera = Camera(Mount(), "stabilised", 20, 16, depth=True, max_range_m=900.0)
    valid = np.asarray(read(camera, drawn(start)).valid)
    np.testing.assert_array_equal(valid, (np.arange(16) >= 8)[:, None] & np.ones(20, bool))


@pytest.mark.slow
def test_depth_beyond_the_range_is_not_valid():
    seen = read(Camera(depth=True, max_range_m=1.9), drawn(looking_down(2.0)))
    assert not np.asarray(seen.valid).any()
    np.testing.assert_array_equal(seen.depth_m, 1.9)


def test_noise_of_intensities_is_white_and_cut():
    inputs = drawn(looking_down(2.0))
    clean, noisy = (
        np.asarray(read(Camera(intensity_deviation=sigma), inputs).color) for sigma in (0.0, 0.05)
    )
    error = noisy - clean
    assert abs(error.mean()) < 3.0 * 0.05 / math.sqrt(error.size)
    assert error.std() == pytest.approx(0.05, rel=3.0 / math.sqrt(2.0 * error.size))
    loud = np.asarray(read(Camera(intensity_deviation=2.0), inputs).color)
    assert loud.min() == 0.0
    assert loud.max() == 1.0


def test_an_empty_range_is_refused():
    with pytest.raises(ValueError, match="min_range_m: got 3; must be below max_range_m, 2"):
        Camera(min_range_m=3.0, max_range_m=2.0)


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    """A flight of two vehicles with cameras over a third, twice, and how many pictures it took."""
    path, taken = tmp_path_factory.mktemp("pair") / "pair.yaml", []
    path.write_text(PAIR, encoding="utf-8")
    draw = camera_renderer.MujocoRenderer.picture

    def counted(self, *arguments):
        taken.append(arguments)
        return draw(self, *arguments)

    with pytest.MonkeyPatch.context() as patch, jax.enable_x64(True):
        patch.setattr(camera_renderer.MujocoRenderer, "picture", counted)
        pair = kw.load(str(path))
        logs = [pair.run() for _ in range(2)]
    return logs, len(taken)


@pytest.mark.slow
def test_vehicles_of_a_group_take_pictures_at_their_ticks_only(flown):
    logs, taken = flown
    fresh = logs[0].frame("upper-1")["sensor.eye.fresh"].to_numpy()
    assert fresh.sum() == 6
    # two vehicles, two flights; the last row of a log is a step that may be computed twice
    assert 2 * 2 * 5 <= taken <= 2 * 2 * 7


def test_pictures_are_in_the_log_to_the_same_bits(flown):
    frames = [log.frame("upper-2") for log in flown[0]]
    columns = [
        f"sensor.eye.color_{r}_{c}_{k}" for r in range(6) for c in range(8) for k in range(3)
    ]
    one, other = (frame[columns].to_numpy() for frame in frames)
    np.testing.assert_array_equal(one, other)
    assert 0.0 < one.min() < one.max() <= 1.0


def test_a_vehicle_sees_another_one_and_not_itself(flown):
    frame = flown[0][0].frame("upper-1")
    middle = frame["sensor.eye.depth_3_4_m"].to_numpy()
    edge = frame["sensor.eye.depth_0_0_m"].to_numpy()
    assert 1.7 < middle[0] < 2.0
    assert edge[0] == pytest.approx(3.0, rel=1e-3)
