"""Tests of batches: worlds of one scenario with different seeds, stepped together."""

import jax
import numpy as np
import pytest
from tests.selection import slow_besides

import kittiwake as kw
from kittiwake import simd
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime import batch_engines
from kittiwake.runtime.simulation import Simulation

SCENARIO = "keep-spot"
SEED = 7


@pytest.fixture(scope="module", params=slow_besides(["float32"], ["float32", "float64"]))
def simulation(request):
    return kw.load(SCENARIO, precision=request.param)


@pytest.fixture(scope="module")
def by_xla():
    return Simulation(kw.load(SCENARIO).scenario, engine="xla")


def require_rows_of_log(columns, world, table, least=5):
    """Require the bits of those rows of a world that the log of its flight holds as well."""
    rows = {round(values[0], 9): values for values in table.values}
    found = 0
    for row, time_s in enumerate(columns["time_s"][world]):
        if (logged := rows.get(round(time_s, 9))) is not None:
            found += 1
            for name, value in zip(table.columns, logged, strict=True):
                np.testing.assert_array_equal(columns[name][world, row], value, err_msg=name)
    assert found >= least


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 7, 40])
def test_each_world_flies_bit_for_bit_as_alone(simulation, count):
    batch = simulation.batch(count, seed=SEED)
    recorded = batch.record(50)["pelican"]
    for world in {0, count // 2, count - 1}:
        log = simulation.run(seed=SEED + world, duration_s=1.0)
        require_rows_of_log(recorded, world, log.tables["pelican"])


@pytest.mark.slow
def test_unrecorded_steps_lead_to_the_same_state(simulation):
    advanced, recorded = simulation.batch(20, seed=SEED), simulation.batch(20, seed=SEED)
    advanced.advance(3)
    advanced.advance(0)
    advanced.advance(40)
    rows = recorded.record(43, log_every=5)["pelican"]
    assert rows["x_m"].shape == rows["time_s"].shape == (20, 9)
    np.testing.assert_allclose(rows["time_s"][4], np.arange(0, 43, 5) * simulation.dt_s)
    assert advanced.time_s == recorded.time_s == pytest.approx(43 * simulation.dt_s)
    for one, other in zip(*map(jax.tree.leaves, (advanced.state, recorded.state)), strict=True):
        if jax.dtypes.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = map(jax.random.key_data, (one, other))
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_worlds_of_different_seeds_differ_and_their_clock_is_one(simulation):
    batch = simulation.batch(20)
    batch.advance(10)
    assert batch.seeds == tuple(range(simulation.scenario.seed, simulation.scenario.seed + 20))
    x_m = batch.record(1)["pelican"]["x_m"]
    assert len(np.unique(x_m)) == len(batch) == 20
    assert batch.state.tick.shape == ()
    assert int(batch.state.tick) == 11


def test_both_engines_agree(by_xla):
    one, other = kw.load(SCENARIO).batch(10, seed=SEED), by_xla.batch(10, seed=SEED)
    assert (one.engine, other.engine, other.engine_reason) == ("simd", "xla", "")
    rows, others = one.record(40, log_every=10), other.record(40, log_every=10)
    for name, values in rows["pelican"].items():
        np.testing.assert_allclose(values, others["pelican"][name], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_mixed_vehicles_that_act_on_each_other():
    simulation = kw.load("deck-landing")
    batch = simulation.batch(9, seed=SEED)
    recorded = batch.record(100, log_every=20)
    log = simulation.run(seed=SEED + 8, duration_s=99 * simulation.dt_s)
    assert recorded.keys() == log.tables.keys()
    for name, columns in recorded.items():
        require_rows_of_log(columns, 8, log.tables[name])


@pytest.mark.slow
def test_worlds_of_many_vehicles_have_the_bits_of_one():
    simulation = kw.load("flock-8", {"vehicles.drone.count": 20})
    batch = simulation.batch(3, seed=SEED)
    assert batch.engine == "simd"
    recorded = batch.record(100, log_every=20)
    log = simulation.run(seed=SEED + 2, duration_s=99 * simulation.dt_s)
    for name, columns in recorded.items():
        require_rows_of_log(columns, 2, log.tables[name])


@pytest.mark.slow
def test_what_one_engine_lacks_the_other_flies_and_the_batch_says_why():
    batch = kw.load("flock-8", engine="xla").batch(2)
    assert batch.engine == "xla"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.batch(0), "`count`: got 0; must be at least 1"),
        (lambda s: s.batch(2).advance(-1), "`steps`: got -1; must be at least 0"),
        (lambda s: s.batch(2).record(-1), "`steps`: got -1; must be at least 0"),
        (lambda s: s.batch(2).record(5, 0), "`log_every`: got 0; must be at least 1"),
    ],
)
def test_wrong_numbers_are_refused(simulation, call, message):
    with pytest.raises(ValueError, match=message):
        call(simulation)


def test_components_in_plain_python_are_refused():
    class Still:
        def update(self, t_s, estimate, setpoint):
            return kw.AttitudeThrottle(0.0, 0.0, 0.5, 0.0, 12.0)

    scenario = kw.load(SCENARIO, {"vehicles.pelican.controller": Still()}).scenario
    with pytest.raises(ScenarioError, match="plain Python cannot fly in a batch"):
        Simulation(scenario).batch(2)


def test_a_requested_engine_that_cannot_compile_a_batch_is_refused(monkeypatch):
    def unsupported(*_):
        raise simd.UnsupportedError([simd.Unsupported("sort", "somewhere.py:1")])

    scenario = kw.load("hover-pelican").scenario
    requested, free = Simulation(scenario, engine="simd"), Simulation(scenario)
    monkeypatch.setattr(batch_engines, "SimdWorlds", unsupported)
    with pytest.raises(ScenarioError, match="cannot compile this scenario in a batch: sort at"):
        requested.batch(2)
    batch = free.batch(2)
    assert (batch.engine, batch.engine_reason) == ("xla", "sort at somewhere.py:1")
