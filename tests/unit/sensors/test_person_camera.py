import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.sensors.sample_series import seen

from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.load import load_scenario
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.person_camera import PersonCamera, Scores
from kittiwake.sensors.terrain_sensor import TerrainSensor
from kittiwake.world.terrain import CLUTTER, OCCLUSION, OPEN, TERRAIN, Terrain
from kittiwake.world.world import FlightArea

HEIGHT_M = 20.0
AREA = FlightArea((-50.0, 50.0), (-50.0, 50.0), (0.0, 50.0))
CAMERA = PersonCamera()
NOBODY = ()


def looking(persons=NOBODY, classes=((OPEN,),), start=None):
    """What there is to measure, with persons on the ground."""
    places = jnp.asarray(persons, float).reshape(-1, 2)
    ground = Terrain(jnp.asarray(classes, jnp.int8), AREA, places, jnp.ones(len(places), bool), 0.5)
    start = start or Start(Vec3(0.0, 0.0, HEIGHT_M))
    return replace(seen(start), processes={TERRAIN: ground})


def likelier(image):
    """Rows and columns of the cells in which a person is likelier than none."""
    return {tuple(map(int, at)) for at in np.argwhere(image.evidence > 0.0)}


@pytest.mark.slow
def test_cell_with_a_person_has_positive_evidence():
    # a cell sees 20 m / 2280 * 80 = 0.70 m; ahead is up and left is left
    image = CAMERA.ideal(looking([(1.75, 0.35)]))
    assert likelier(image) == {(3, 7)}
    assert float(image.x_world_m[3, 7]) == pytest.approx(2.5 * 80 / 2280 * 20.0)
    assert float(image.y_world_m[3, 7]) == pytest.approx(0.5 * 80 / 2280 * 20.0)


@pytest.mark.slow
def test_person_on_the_edge_of_cells_is_seen_by_both():
    assert likelier(CAMERA.ideal(looking([(1.75, 0.0)]))) == {(3, 7), (3, 8)}


def test_person_larger_than_cells_covers_them():
    near = Start(Vec3(0.0, 0.0, 2.0))
    found = likelier(CAMERA.ideal(looking([(0.0, 0.0)], start=near)))
    # 0.07 m a cell: the whole square of 0.5 m, and no cell beyond its edge
    inner = {(row, column) for row in range(3, 9) for column in range(5, 11)}
    assert inner <= found
    assert all(2 <= row <= 9 and 4 <= column <= 11 for row, column in found)


@pytest.mark.slow
def test_person_outside_the_image_is_not_seen():
    persons = [(9.0, 0.0), (0.0, -9.0), (-9.0, 9.0)]
    assert likelier(CAMERA.ideal(looking(persons))) == set()


def test_camera_that_looks_up_is_invalid_and_finite():
    upwards = replace(CAMERA, mount=Mount(pitch_rad=-math.pi / 2))
    image = upwards.ideal(looking([(0.0, 0.0)]))
    assert not image.valid.any()
    for leaf in jax.tree.leaves(image):
        assert jnp.isfinite(leaf).all()
        assert not leaf.any()


@pytest.mark.slow
def test_camera_that_looks_ahead_sees_the_ground_below_the_horizon():
    image = replace(CAMERA, mount=Mount()).ideal(looking())
    assert not image.valid[:6].any()
    assert image.valid[6:].all()
    # the lowest row looks down by 440 pixels
    assert float(image.x_world_m[11, 8]) == pytest.approx(2280.0 / 440.0 * HEIGHT_M)


@pytest.mark.parametrize("kind", [OPEN, CLUTTER, OCCLUSION])
@pytest.mark.parametrize("someone", [False, True])
def test_scores_have_the_mean_and_deviation_of_the_model(kind, someone):
    scores = Scores.at(jnp.asarray(HEIGHT_M), jnp.asarray(kind, jnp.int32))
    count = 40_000
    draws = jax.random.normal(jax.random.key(0), (count,))
    found = np.asarray(scores.sample(jnp.full(count, someone), draws))
    mean, deviation = scores[:2] if someone else scores[2:]
    assert abs(found.mean() - mean) < 3.0 * deviation / math.sqrt(count)
    assert abs(found.std() - deviation) < 3.0 * deviation / math.sqrt(2.0 * count)


def test_mean_of_the_likelihood_ratio_is_one_without_persons():
    # E[p(y | person) / p(y | no person)] over y without a person is 1, whatever the two are
    scores = Scores.at(jnp.asarray(30.0), jnp.asarray(CLUTTER, jnp.int32))
    draws = jax.random.normal(jax.random.key(1), (40_000,))
    nobody = jnp.zeros(len(draws), bool)
    ratio = np.exp(scores.log_likelihood_difference(scores.sample(nobody, draws)))
    assert abs(ratio.mean() - 1.0) < 3.0 * ratio.std() / math.sqrt(len(ratio))


def test_images_differ_by_their_keys_and_err_about_the_ideal():
    inputs = looking([(1.75, 0.35)])
    images = [CAMERA.step((), inputs, 1.0, jax.random.key(seed))[1] for seed in (0, 0, 1)]
    first, same, other = (np.asarray(image.evidence) for image in images)
    np.testing.assert_array_equal(first, same)
    assert (first != other).all()
    # where nobody is, nearly all cells say so
    assert (first < 0.0).mean() > 0.8


def test_terrain_class_below_is_measured():
    classes = ((OPEN, CLUTTER), (OCCLUSION, OPEN))
    for place, expected in {(-1.0, -1.0): 0, (-1.0, 1.0): 1, (1.0, -1.0): 2}.items():
        inputs = looking(classes=classes, start=Start(Vec3(*place, 10.0)))
        assert int(TerrainSensor().ideal(inputs).terrain_class) == expected


@pytest.mark.parametrize("kind", ["person-camera", "terrain-class"])
def test_world_without_ground_to_see_is_refused(kind):
    with pytest.raises(ScenarioError, match="write terrain: pour under world"):
        load_scenario("keep-spot", [f"vehicles.pelican.sensors={{eye: {kind}}}"])
