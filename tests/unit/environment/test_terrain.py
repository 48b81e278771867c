import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.terrain import PouredTerrain
from kittiwake.scenario.load import load_scenario
from kittiwake.world.terrain import CLUTTER, OCCLUSION, OPEN
from kittiwake.world.world import FlightArea

AREA = FlightArea((-100.0, 140.0), (-50.0, 50.0), (0.0, 80.0))
SEEDS = 30


@pytest.fixture(scope="module")
def grounds():
    """Of QRSim's parameters, for several seeds."""
    # this runs far longer than it compiles, however the other tests are compiled
    quick = {"xla_backend_optimization_level": 1}

    def made(seed):
        return PouredTerrain().generate(AREA, jax.random.key(seed))

    with jax.enable_x64(True):
        several = jax.jit(jax.vmap(made), compiler_options=quick)
        return jax.tree.map(np.asarray, several(jnp.arange(SEEDS)))


def neighbors(classes, kind):
    """How much more likely a cell is of a kind if the one to the east of it is."""
    here = classes == kind
    both = (here[:, 1:] & here[:, :-1]).mean()
    return both / here.mean() ** 2


@pytest.mark.slow
def test_share_of_each_class_is_what_was_poured(grounds):
    share = [(grounds.classes == kind).mean(axis=(1, 2)) for kind in (OPEN, CLUTTER, OCCLUSION)]
    np.testing.assert_array_equal(share[OCCLUSION], 0.05)
    # hiding places cover some of it
    assert (share[CLUTTER] <= 0.2).all()
    assert (share[CLUTTER] >= 0.15).all()
    assert (share[CLUTTER] > 0.19).any()
    np.testing.assert_allclose(sum(share), 1.0)


@pytest.mark.slow
def test_classes_lie_in_patches(grounds):
    for kind, expected in ((CLUTTER, 4.0), (OCCLUSION, 12.0)):
        found = np.mean([neighbors(classes, kind) for classes in grounds.classes])
        # 1 for cells by chance, 1 / share for one patch without an edge
        assert found > expected


@pytest.mark.slow
def test_ground_depends_on_the_seed_and_on_nothing_else(grounds):
    assert len(np.unique(grounds.classes.reshape(SEEDS, -1), axis=0)) == SEEDS
    again = jax.jit(lambda: PouredTerrain().generate(AREA, jax.random.key(3)))()
    np.testing.assert_array_equal(again.classes, grounds.classes[3])
    np.testing.assert_array_equal(again.persons_world_m, grounds.persons_world_m[3])


@pytest.mark.slow
def test_persons_stand_in_the_open_in_the_middle(grounds):
    for seed in range(SEEDS):
        ground = jax.tree.map(lambda leaf, seed=seed: jnp.asarray(leaf[seed]), grounds)
        east, north = ground.persons_world_m.T
        assert (ground.class_at(east, north) == OPEN).all()
        assert ((east >= -76.0) & (east <= 116.0)).all()
        assert ((north >= -40.0) & (north <= 40.0)).all()


def test_number_of_persons_is_within_its_range(grounds):
    counts = grounds.person_exists.sum(axis=1)
    assert set(counts) == {5, 6, 7, 8, 9, 10}


@pytest.mark.slow
def test_cells_divide_the_area_and_its_edge_goes_on_beyond():
    ground = PouredTerrain(cells=2, persons=(0, 0)).generate(AREA, jax.random.key(0))
    classes = jnp.asarray([[0, 1], [2, 0]], jnp.int8)
    ground = type(ground)(
        classes, AREA, ground.persons_world_m, ground.person_exists, ground.person_size_m
    )
    places = {(19.9, -0.1): 0, (19.9, 0.1): 1, (20.1, -0.1): 2, (20.1, 0.1): 0}
    beyond = {(-1e9, 1e9): 1, (1e30, -1e30): 2, (140.0, 50.0): 0, (-100.0, -50.0): 0}
    for (east, north), expected in (places | beyond).items():
        assert int(ground.class_at(jnp.asarray(east), jnp.asarray(north))) == expected


@pytest.mark.slow
def test_no_share_pours_nothing():
    bare = PouredTerrain(clutter=0.0, occlusion=0.0).generate(AREA, jax.random.key(0))
    assert (bare.classes == OPEN).all()


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("{type: pour, clutter: 0.5}", "must be from 0 to 0.4"),
        ("{type: pour, persons: [3, 2]}", "write the lower number first"),
        ("poor", "Did you mean 'pour'"),
    ],
)
def test_invalid_terrain_is_refused(written, sentence):
    with pytest.raises(ScenarioError, match=sentence):
        load_scenario("keep-spot", [f"world.terrain={written}"])
