"""Reference locations: most in the plume's support, all away from the limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.environment.plumes.dispersion import DispersionPlume
from kittiwake.environment.plumes.gaussian import GaussianPlume
from kittiwake.environment.plumes.puffs import PuffPlume
from kittiwake.environment.plumes.sources import Sources
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.library.reference_locations import reference_locations, region_of
from kittiwake.world.plume import Site
from kittiwake.world.world import FlightArea

AREA = FlightArea((-140.0, 140.0), (-140.0, 140.0), (0.0, 80.0))
SEVERAL = Sources(number=(1, 5))


def site(speed_mps):
    return Site(Vec3(0.6 * speed_mps, -0.8 * speed_mps, 0.0), 0.0, AREA)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plume", "speed_mps"),
    [
        (GaussianPlume(), 0.0),
        (DispersionPlume(), 3.0),
        (DispersionPlume(sources=SEVERAL), 2.0),
        (PuffPlume(sources=SEVERAL), 1.0),
    ],
    ids=["gaussian", "dispersion", "several", "puffs"],
)
def test_four_fifths_are_in_the_support_and_all_keep_from_the_limits(plume, speed_mps):
    @jax.jit
    @jax.vmap
    def drawn(key):
        cloud = plume.init_cloud(site(speed_mps), key)
        places = reference_locations(cloud, AREA, 50, jax.random.fold_in(key, 1))
        return places, jax.vmap(region_of(cloud).contains)(places)

    places, inside = jax.tree.map(np.asarray, drawn(scenes.keys(30)))
    assert (inside.sum(axis=1) == 40).all()
    assert np.abs(places[..., :2]).max() <= 138.0
    assert places[..., 2].min() >= 2.0
    assert places[..., 2].max() <= 78.0


@pytest.mark.slow
def test_support_of_a_plume_ends_at_a_thousandth_of_the_emission():
    speed, source = 3.0, Vec3(-100.0, 100.0, 40.0)
    plume = DispersionPlume(sources=Sources((source,)), emission_range_per_s=(2.0, 2.0))
    cloud = plume.init_cloud(site(speed), scenes.keys(1)[0])
    rng = np.random.default_rng(0)
    ahead, aside, up = rng.uniform(1, 150, 400), rng.normal(0, 8, 400), rng.normal(0, 8, 400)
    places = np.stack(
        [-100 + 0.6 * ahead + 0.8 * aside, 100 - 0.8 * ahead + 0.6 * aside, 40 + up], axis=1
    )
    v = 2 * 0.33 * ahead**0.86
    dense = np.exp(-(aside**2) / v) / (np.pi * speed * v)
    dense *= np.exp(-(up**2) / v) + np.exp(-((80 + up) ** 2) / v)
    held = jax.vmap(region_of(cloud).contains)(jnp.asarray(places))
    np.testing.assert_array_equal(held, dense > 1e-3)
    assert 40 < held.sum() < 360


@pytest.mark.slow
def test_support_of_puffs_ends_at_a_thousandth_of_their_amount():
    plume = PuffPlume(sources=Sources((Vec3(0.0, 0.0, 40.0),)))
    cloud = plume.init_cloud(site(1.0), scenes.keys(1)[0])
    ahead = np.array([-1.0, 1.0, 10.0, 30.0, 60.0])
    places = np.stack([0.6 * ahead, -0.8 * ahead, np.full(5, 40.0)], axis=1)
    v = 2 * 0.33 * np.maximum(ahead, 0.01) ** 0.86
    held = jax.vmap(region_of(cloud).contains)(jnp.asarray(places))
    np.testing.assert_array_equal(held, (ahead > 0) & ((2 * np.pi * v) ** -1.5 > 1e-3))


def test_support_of_an_unknown_cloud_is_refused():
    with pytest.raises(TypeError, match="got a tuple, whose support is not known"):
        region_of(())
