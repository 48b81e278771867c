import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.plumes.dispersion import DispersionPlume
from kittiwake.environment.plumes.gaussian import GaussianPlume
from kittiwake.environment.plumes.puffs import PuffPlume
from kittiwake.environment.plumes.sources import Sources
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.load import load_scenario
from kittiwake.world.plume import PlumeProcess, Site
from kittiwake.world.world import FlightArea

AREA = FlightArea((-100.0, 140.0), (-50.0, 50.0), (0.0, 80.0))
SITE = Site(Vec3(2.0, 0.0, 0.0), 0.0, AREA)
SOURCE = Vec3(0.0, 0.0, 20.0)
KINDS = {
    "gaussian": GaussianPlume(),
    "dispersion": DispersionPlume(),
    "puffs": PuffPlume(),
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def smelled(cloud, x, y, z, time_s=0.0):
    """Concentrations at places, all of the same number."""

    def one(x, y, z):
        return cloud.concentration(Vec3(x, y, z), time_s)

    return jax.vmap(one)(*(jnp.ravel(a) for a in jnp.broadcast_arrays(x, y, z)))


def emitted(kind, seconds, seed, dt_s=1.0):
    """The cloud after so many steps."""
    process, key = PlumeProcess(kind, SITE), jax.random.key(seed)

    def step(cloud, tick):
        time_s = jnp.asarray(tick + 1, float) * dt_s
        later, _ = process.step(cloud, time_s, dt_s, jax.random.fold_in(key, tick))
        return later, None

    begun = jax.tree.map(jnp.asarray, process.init(key))
    return jax.lax.scan(step, begun, jnp.arange(round(seconds / dt_s)))[0]


def flux(cloud, x):
    """What passes a plane across the wind each second."""
    y, z = jnp.linspace(-60.0, 60.0, 601), jnp.linspace(0.0, 100.0, 501)
    across = smelled(cloud, x, y[:, None], z[None, :]).reshape(len(y), len(z))
    return 2.0 * jnp.trapezoid(jnp.trapezoid(across, dx=0.2), dx=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("x", [1.0, 20.0, 100.0])
def test_as_much_passes_every_plane_across_the_wind_as_leaves_the_source(x):
    kind = DispersionPlume(Sources((SOURCE,)), (1.5, 1.5))
    cloud = kind.init_cloud(SITE, jax.random.key(0))
    # trapezia of a smooth function that vanishes at the ends, or is even there, are exact
    assert float(flux(cloud, x)) == pytest.approx(1.5, rel=1e-6)


@pytest.mark.slow
def test_nothing_passes_the_ground():
    cloud = DispersionPlume(Sources((Vec3(0.0, 0.0, 2.0),))).init_cloud(SITE, jax.random.key(0))
    slope = jax.grad(lambda z: cloud.concentration(Vec3(30.0, 1.0, z), 0.0))
    # at the ground the concentration is level in height
    assert abs(float(slope(jnp.asarray(0.0)))) < 1e-15
    assert float(slope(jnp.asarray(1.0))) != 0.0


@pytest.mark.slow
def test_upwind_of_a_source_there_is_nothing():
    for kind in (DispersionPlume(Sources((SOURCE,))), PuffPlume(Sources((SOURCE,)))):
        cloud = emitted(kind, 60.0, 0)
        assert float(cloud.concentration(Vec3(-0.1, 0.0, 20.0), 60.0)) == 0.0
        assert smelled(cloud, jnp.linspace(1.0, 90.0, 100), 0.0, 20.0, 60.0).max() > 0.0


def test_plume_turns_with_the_wind():
    kind = DispersionPlume(Sources((SOURCE,)), (1.0, 1.0))
    key, turn = jax.random.key(0), 2.1
    turned = Site(Vec3(2.0 * math.cos(turn), 2.0 * math.sin(turn), 0.0), 0.0, AREA)
    along, aside = 30.0, 2.0
    x = along * math.cos(turn) - aside * math.sin(turn)
    y = along * math.sin(turn) + aside * math.cos(turn)
    straight = kind.init_cloud(SITE, key).concentration(Vec3(along, aside, 21.0), 0.0)
    assert float(
        kind.init_cloud(turned, key).concentration(Vec3(x, y, 21.0), 0.0)
    ) == pytest.approx(float(straight), rel=1e-12)


@pytest.mark.slow
def test_gaussian_cloud_holds_what_its_deviations_say():
    cloud = GaussianPlume(Vec3.zero(), (2.0, 3.0, 4.0), 0.7).init_cloud(SITE, jax.random.key(0))
    side = jnp.linspace(-30.0, 30.0, 121)
    all_of_it = smelled(cloud, side[:, None, None], side[None, :, None], side[None, None, :]).sum()
    expected = (2.0 * math.pi) ** 1.5 * 2.0 * 3.0 * 4.0
    # sums of Gaussians wider than the grid are exact, and 7 deviations are in it
    assert float(all_of_it) * 0.5**3 == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_puffs_leave_as_often_as_they_should():
    kind, seconds, seeds = PuffPlume(Sources((SOURCE, SOURCE))), 100.0, 200
    clouds = jax.jit(jax.vmap(lambda seed: emitted(kind, seconds, seed)))(jnp.arange(seeds))
    counts = np.asarray(clouds.emitted).ravel()
    # a Poisson process: the variance of a count is its mean
    expected = seconds / 5.0
    assert abs(counts.mean() - expected) < 3.0 * math.sqrt(expected / counts.size)
    spread = counts.var(ddof=1) / expected
    assert abs(spread - 1.0) < 3.0 * math.sqrt((2.0 + 1.0 / expected) / counts.size)
    left, amounts = np.asarray(clouds.left_s), np.asarray(clouds.amounts)
    held = amounts[amounts > 0.0]
    assert left[amounts > 0.0].min() > 0.0
    assert left.max() < seconds
    # evenly between 0.1 and 2.5
    assert abs(held.mean() - 1.3) < 3.0 * 2.4 / math.sqrt(12.0 * held.size)
    assert 0.1 <= held.min() <= held.max() <= 2.5


@pytest.mark.slow
def test_puffs_are_the_same_at_any_rate():
    kind = PuffPlume(Sources((SOURCE,)), mean_interval_s=20.0)
    # the ring starts with the puffs that left first, with the same waiting time before the first
    fine, coarse = (emitted(kind, 15.0, 3, dt_s).left_s[0, 0] for dt_s in (0.1, 1.0))
    assert float(fine) == float(coarse)
    assert float(fine) > 0.0


@pytest.mark.slow
def test_puffs_as_frequent_as_is_allowed_are_on_average_what_never_pauses():
    # four leave in a step of 1 s; those that pass 20 m behind the source have left 10 s ago
    puffs = PuffPlume(Sources((SOURCE,)), (1.5, 1.5), 0.25, remembered=200)
    puffs.check(SITE, 1.0)
    seconds, seeds = 60, 400
    place = Vec3(20.0, 1.0, 21.0)

    def last(seed):
        return emitted(puffs, seconds, seed).concentration(place, float(seconds))

    found = np.asarray(jax.jit(jax.vmap(last))(jnp.arange(seeds)))
    steady = DispersionPlume(Sources((SOURCE,)), (1.5 / 0.25, 1.5 / 0.25))
    # the factor of QRSim by which a puff holds less
    expected = (
        float(steady.init_cloud(SITE, jax.random.key(0)).concentration(place, 0.0)) / 2.0**1.5
    )
    assert abs(found.mean() - expected) < 3.0 * found.std() / math.sqrt(seeds)
    # of the puffs that leave at random about 5 are near: the test would see 5 % less
    assert 3.0 * found.std() / math.sqrt(seeds) < 0.1 * expected


WINDY = (
    "world.area={x_m: [-60, 60], y_m: [-30, 30], z_m: [0, 40]}",
    "world.wind={type: shear, speed_at_6m_mps: 2, from_deg: 270}",
    "time.duration_s=50",
)


def puffs(interval_s, rate_hz, remembered, *changes):
    kind = f"type: gaussian-puff-dispersion, mean_interval_s: {interval_s}, rate_hz: {rate_hz}"
    leak = f"world.plumes={{leak: {{{kind}, remembered: {remembered}}}}}"
    return load_scenario("keep-spot", [*WINDY, leak, *changes])


def test_too_many_puffs_per_step_are_refused():
    message = "leak: mean_interval_s: got 0.02, too short for steps of 1 s.*rate_hz: 13 or"
    with pytest.raises(ScenarioError, match=message):
        puffs(0.02, 1, 1000)
    # 4 in a step of 0.08 s
    puffs(0.02, 12.5, 1000)
    with pytest.raises(ScenarioError, match=r"steps of 0\.08 s"):
        puffs(0.0199, 12.5, 1000)


@pytest.mark.parametrize(
    ("interval_s", "remembered", "message"),
    [
        (1.0, 50, None),
        # of 60 s in which the wind crosses the area, the 50 s of the flight
        (
            1.0,
            49,
            "dropped 49 s after their emission, still in the area; remembered: 50 keeps them",
        ),
        (0.04, 1000, "remembered: 1000 and a mean_interval_s above 0.05 keep them for the 50 s"),
    ],
)
def test_puffs_that_are_dropped_in_the_area_are_warned_of(interval_s, remembered, message):
    warnings = puffs(interval_s, 25, remembered).warnings()
    assert [warning for warning in warnings if message is None or message not in warning] == []
    assert len(warnings) == (message is not None)
    assert all(warning.startswith("world.plumes.leak: its puffs are") for warning in warnings)


def test_puffs_that_have_left_the_area_may_be_forgotten():
    long = "time.duration_s=500"
    # of 120 m; the wind is given at 20 feet, and a little weaker at 6 m
    assert puffs(1.0, 25, 61, long).warnings() == []
    assert "for the 60.2 s in which" in puffs(1.0, 25, 60, long).warnings()[0]


@pytest.mark.slow
def test_middle_of_a_puff_goes_with_the_wind():
    kind = PuffPlume(Sources((SOURCE,)), mean_interval_s=1000.0)
    cloud = kind.init_cloud(SITE, jax.random.key(1))
    one = cloud.after(1e9, jnp.ones(1), jnp.full(1, 1e9))
    left_s = float(one.left_s[0, 0])
    times_s = left_s + jnp.linspace(10.0, 30.0, 2001)
    place = Vec3(40.0, 0.0, 20.0)
    seen = jax.vmap(lambda time_s: one.concentration(place, time_s))(times_s)
    # 40 m at 2 m/s, to the step of the times
    assert float(times_s[jnp.argmax(seen)]) - left_s == pytest.approx(20.0, abs=0.011)


def test_ring_forgets_the_oldest_puff_first():
    kind = PuffPlume(Sources((SOURCE,)), mean_interval_s=1.0, remembered=4)
    cloud = emitted(kind, 60.0, 0)
    assert int(cloud.emitted[0]) > 20
    assert cloud.left_s.shape == (1, 4)
    assert float(cloud.left_s.min()) > 40.0


@pytest.mark.slow
@each_kind
def test_sources_lie_in_the_middle_of_the_area_and_depend_on_the_seed(kind):
    def place(seed):
        cloud = kind.init_cloud(SITE, jax.random.key(seed))
        return cloud.position_world_m.array if kind is KINDS["gaussian"] else cloud.sources_world_m

    places = np.asarray(jax.vmap(place)(jnp.arange(500))).reshape(500, 3)
    for found, (low, high) in zip(places.T, (AREA.x_m, AREA.y_m, AREA.z_m), strict=True):
        margin = 0.1 * (high - low)
        assert low + margin <= found.min() < low + 2.0 * margin
        assert high - 2.0 * margin < found.max() <= high - margin
    assert len(np.unique(places[:, 0])) == 500


@pytest.mark.slow
def test_number_of_sources_is_drawn_evenly():
    sources = Sources(number=(2, 4))
    there = jax.vmap(lambda seed: sources.sample(AREA, jax.random.key(seed)).exists.sum())
    counts = np.bincount(np.asarray(there(jnp.arange(900))), minlength=5)
    assert counts[:2].sum() == 0
    # binomial counts about 300
    assert (abs(counts[2:] - 300.0) < 3.0 * math.sqrt(900 * 2.0 / 9.0)).all()


@pytest.mark.slow
@each_kind
def test_concentration_is_finite_with_finite_gradients_at_the_source_itself(kind):
    cloud = emitted(kind, 30.0, 0)
    place = cloud.position_world_m if kind is KINDS["gaussian"] else cloud.sources_world_m[0]
    place = place if isinstance(place, Vec3) else Vec3.of(place)

    def at(offset):
        return cloud.concentration(place + Vec3(offset, 0.0, 0.0), 30.0)

    for offset in (-1e-9, 0.0, 1e-30, 1e-9, 1e7):
        assert jnp.isfinite(at(jnp.asarray(offset)))
        assert jnp.isfinite(jax.grad(at)(jnp.asarray(offset)))


def test_carried_plume_in_still_air_is_refused_with_file_and_line():
    still = ["world.plumes={smoke: gaussian-puff-dispersion}"]
    with pytest.raises(ScenarioError, match=r"world.plumes.smoke: requires a wind"):
        load_scenario("keep-spot", still)


def test_a_sensor_of_an_unknown_plume_is_refused():
    nose = "vehicles.pelican.sensors.nose={type: plume, plume: smok}"
    with pytest.raises(ScenarioError, match="the world has no plume; write plumes"):
        load_scenario("keep-spot", [nose])
    with pytest.raises(ScenarioError, match="Did you mean 'smoke'"):
        load_scenario("keep-spot", ["world.plumes={smoke: gaussian}", nose])


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("{type: gaussian, deviation_range_m: [5, 3]}", "write the lower limit first"),
        ("{type: gaussian, deviations_m: [1, 2, 0]}", "must be above 0"),
        ("{type: gaussian-dispersion, sources: {number: [3, 1]}}", "write the lower number first"),
        ("gaussin", "Did you mean 'gaussian'"),
    ],
)
def test_invalid_plumes_are_refused(written, sentence):
    with pytest.raises(ScenarioError, match=sentence):
        load_scenario("keep-spot", [f"world.plumes={{smoke: {written}}}"])


@pytest.mark.slow
def test_plumes_without_names_are_refused():
    with pytest.raises(ScenarioError, match="write a mapping of names, with a plume"):
        load_scenario("keep-spot", ["world.plumes=gaussian"])
