"""Flights side by side: the bits of flights alone, whatever the others do."""

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.side_by_side import SeededSimulation, _SharedBlocks, fly_side_by_side
from kittiwake.runtime.tiles import LANES

# one of several worlds leaves it
NARROW = {
    "lost_vehicle": "fail",
    "world.area": {"x_m": [-2.5, 2.5], "y_m": [-2.5, 2.5], "z_m": [-1, 40]},
}
DRAWN = {
    "randomize": {
        "vehicles.pelican.start.position_world_m": {"uniform": [[-2, -2, 8], [2, 2, 12]]},
        "vehicles.pelican.start.velocity_world_mps": {"uniform": [[-4, -4, 0], [4, 4, 0]]},
        "vehicles.pelican.parameters.mass_kg": {"uniform": [1.4, 1.9]},
    }
}


def drawn(count, overrides, precision="float64", duration_s=2):
    scenario = kw.Scenario.load(
        "hover-pelican", {"time.duration_s": duration_s, **DRAWN, **overrides}
    )
    simulation = kw.Simulation(scenario, precision)
    return [SeededSimulation(simulation.drawn(seed), seed) for seed in range(count)]


def assert_equal(log, alone):
    assert log.names == alone.names
    for name in alone.names:
        assert log.values(name).tobytes() == alone.values(name).tobytes()
    assert log.events == alone.events
    left_out = ("wall_s", "compile_s", "realtime_factor")
    one, two = (
        {key: value for key, value in each.summary.items() if key not in left_out}
        for each in (log, alone)
    )
    assert one == two


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "count"), [("float64", 10), ("float32", 16)])
def test_flights_have_the_bits_of_flights_alone(precision, count):
    given = drawn(count, NARROW, precision)
    logs = dict(fly_side_by_side(given))
    assert [*logs] == [*range(count)]
    for index, (simulation, seed) in enumerate(given):
        assert_equal(logs[index], simulation.run(seed=seed))
    # some end early, and the others fly on
    assert {log.summary["status"] for log in logs.values()} == {"completed", "failed"}


@pytest.mark.slow
def test_the_state_of_each_world_is_that_of_its_flight_alone():
    given = drawn(LANES["float64"], {}, duration_s=0.1)
    programs = [simulation.program for simulation, _ in given]
    blocks = _SharedBlocks(programs, [seed for _, seed in given])
    _, rows, state = blocks.block(0)
    for world, (simulation, seed) in enumerate(given):
        alone = simulation.program.compile_block(rows[0].shape[1])
        later, _, _ = alone(FlightState.of(simulation.program.start(seed)))
        packing = simulation.program.functions.form.packing
        for own, other in ((state(world), later.fleet), (blocks.start(world), None)):
            expected = simulation.program.start(seed) if other is None else other
            for one, two in zip(packed(packing, own), packed(packing, expected), strict=True):
                np.testing.assert_array_equal(one, two)


def packed(packing, state):
    buffers = packing.buffers()
    packing.pack_into(state, *buffers)
    return buffers


def test_few_flights_and_scored_ones_are_left_out():
    assert [*fly_side_by_side(drawn(LANES["float64"] - 1, {}))] == []
    scored = kw.Simulation(kw.Scenario.load("land-on-deck", {"time.duration_s": 0.1}))
    assert [*fly_side_by_side([SeededSimulation(scored, seed) for seed in range(8)])] == []
