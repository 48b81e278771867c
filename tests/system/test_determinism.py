"""One seed, one flight: the same bits, whatever else flies, is recorded, or shares the batch.

All flights here are in wind, in turbulence and in process noise, so that a stream drawn from the
wrong key, or a vehicle that feels another one's air, could not pass unnoticed.
"""

import copy
import dataclasses
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.analysis.log import Log
from kittiwake.analysis.table import STATE_COLUMNS
from kittiwake.runtime.recorded_flight import fly_into
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.document import dump_document, parse_document
from kittiwake.sim.fleet_builder import build_fleet

pytestmark = pytest.mark.bits

SECONDS = 10.0
# the compiler orders sums by the batch's length; a rounding of 1e-16 grows by a few orders in 10 s
ACROSS_BATCHES = 1e-12
# the pure functions are compiled by XLA, a run of few vehicles by its own engine: they sum in
# different orders, and a second of flight amplifies that
ACROSS_ENGINES = 1e-12

SIZES = [1, 7, *(pytest.param(size, marks=pytest.mark.slow) for size in (2, 64))]

WORLD = {
    "area": {axis: [-2000, 2000] for axis in ("x_m", "y_m", "z_m")},
    "wind": {"type": "shear", "speed_at_6m_mps": 3, "from_deg": 200},
    "turbulence": {"type": "dryden", "speed_at_6m_mps": 3},
}


def gull(place=0, **changes):
    """A vehicle that has to fly to the place it shall hold."""
    return {
        "model": "pelican",
        "start": {"position_world_m": [20 * place, 0, 20], "yaw_deg": 90},
        "guidance": {"type": "hold", "position_world_m": [20 * place + 1, 2, 21], "yaw_deg": 90},
        **changes,
    }


def gulls(count):
    return {f"gull-{place}": gull(place) for place in range(count)}


def simulation(vehicles, *, seed=5, world=WORLD, **time):
    data = {
        "name": "colony",
        "seed": seed,
        "time": {"rate_hz": 50, "duration_s": SECONDS, **time},
        "lost_vehicle": "continue",
        "world": copy.deepcopy(world),
        "vehicles": vehicles,
    }
    return Simulation(build(parse_document(dump_document(data), "colony.yaml"), Path()))


def rows_of(log, name="gull-0"):
    return log.values(name)


def assert_same_bits(one, other):
    assert one.shape == other.shape
    assert one.tobytes() == other.tobytes(), f"largest difference {np.abs(one - other).max()}"


@pytest.fixture(scope="module")
def trio():
    return simulation(gulls(3))


@pytest.fixture(scope="module")
def usual(trio):
    """The flight that all others are compared with."""
    return trio.run()


# the same seed


def test_the_flight_is_worth_comparing(usual):
    rows = rows_of(usual)
    names = usual.columns("gull-0")
    assert np.isfinite(rows).all()
    assert np.ptp(rows[:, names.index("wind_x_world_mps")]) > 0.1
    assert np.ptp(rows[:, names.index("x_m")]) > 0.5
    assert rows.shape == (501, len(names))


def test_the_same_seed_gives_the_same_bits(trio, usual):
    again = trio.run()
    for name in usual.names:
        assert_same_bits(rows_of(again, name), rows_of(usual, name))


def test_recording_into_a_file_changes_no_bit(trio, usual, tmp_path):
    flight = trio.flight()
    fly_into(trio, flight, tmp_path)
    log = Log.read(tmp_path)
    for name in usual.names:
        assert_same_bits(rows_of(log, name), rows_of(usual, name))


def test_another_seed_is_another_flight(trio, usual):
    names = usual.columns("gull-0")
    rates = [names.index(f"w{axis}_radps") for axis in "xyz"]
    assert (rows_of(trio.run(seed=6))[1:, rates] != rows_of(usual)[1:, rates]).all()


def test_vehicles_of_equal_parameters_have_draws_of_their_own(usual):
    names = usual.columns("gull-0")
    rates = [names.index(f"w{axis}_radps") for axis in "xyz"]
    assert (rows_of(usual, "gull-0")[1:, rates] != rows_of(usual, "gull-1")[1:, rates]).all()


def test_a_thinned_log_holds_the_same_flight(usual):
    rows = rows_of(simulation(gulls(3), log_rate_hz=10).run())
    assert_same_bits(rows, rows_of(usual)[::5])


# the same flight by other means


def test_stepping_by_hand_gives_the_bits_of_a_run(trio, usual):
    columns = [usual.columns("gull-0").index(name) for name in STATE_COLUMNS]
    expected = rows_of(usual)[:, columns]
    trio.reset()
    for row in expected[:201]:
        seen = trio.observe()["gull-0"]
        truth = seen.truth
        q = truth.q_world_from_body
        position, velocity = truth.position_world_m, truth.velocity_world_mps
        omega = truth.angular_velocity_body_radps
        vectors = [*position.array, q.w, q.x, q.y, q.z, *velocity.array, *omega.array]
        assert row.tolist() == [seen.time_s, *vectors]
        trio.step()


def test_a_rollout_agrees_with_a_run_by_another_engine(trio, usual):
    def places(snapshots):
        truth = snapshots[0].truth
        return truth.position_world_m, truth.velocity_world_mps

    flight = jax.jit(lambda key: trio.rollout(trio.init(key), 501, places)[1])
    position, velocity = flight(kw.seed_key(5))
    names = usual.columns("gull-0")
    for axis in "xyz":
        flown = rows_of(usual)[:, [names.index(f"{axis}_m"), names.index(f"v{axis}_mps")]]
        rolled = np.stack([getattr(position, axis)[:, 0], getattr(velocity, axis)[:, 0]], axis=1)
        np.testing.assert_allclose(rolled, flown, rtol=0, atol=ACROSS_ENGINES)


def test_advancing_step_by_step_agrees_with_a_run_by_another_engine(trio, usual):
    advance = jax.jit(lambda state: trio.advance(state))
    state = jax.jit(lambda key: trio.init(key))(kw.seed_key(5))
    for _ in range(100):
        state = advance(state)
    place = state.groups[0].dynamics.mechanical_state.configuration.position_world_m
    names = usual.columns("gull-0")
    for axis in "xyz":
        flown = rows_of(usual)[100, names.index(f"{axis}_m")]
        np.testing.assert_allclose(getattr(place, axis)[0], flown, rtol=0, atol=ACROSS_ENGINES)


@pytest.mark.slow
def test_a_map_over_keys_is_a_run_for_each_key(trio):
    seeds = [5, 6]
    many = jax.jit(jax.vmap(lambda key: trio.rollout(trio.init(key), 100, lambda _: None)[0]))(
        jnp.stack([kw.seed_key(seed) for seed in seeds])
    )
    places = many.groups[0].dynamics.mechanical_state.configuration.position_world_m
    for world, seed in enumerate(seeds):
        log = trio.run(seed=seed)
        for lane, name in enumerate(log.names):
            expected = rows_of(log, name)[100, 1:4]
            flown = [getattr(places, axis)[world, lane] for axis in "xyz"]
            np.testing.assert_allclose(flown, expected, rtol=0, atol=ACROSS_BATCHES)


# whatever else flies


def test_names_starts_and_goals_of_others_change_no_bit(usual):
    far = {"type": "hold", "position_world_m": [-60, 2, 21], "yaw_deg": 90}
    others = {"gull-0": gull(0), "auk": gull(-7, guidance=far), "tern": gull(9)}
    assert_same_bits(rows_of(simulation(others).run()), rows_of(usual))


def test_others_that_are_lost_change_no_bit(usual):
    others = gulls(3) | {"gull-1": gull(1, parameters={"max_speed_mps": 0.1})}
    log = simulation(others).run()
    assert not log.summary["vehicles"]["gull-1"]["valid"]
    assert_same_bits(rows_of(log), rows_of(usual))


@pytest.fixture(scope="module")
def beside_another_kind():
    """The trio with one of other parameters: what was compiled in as a constant is now read."""
    sluggish = {"attitude_stiffness_per_s2": 170, "attitude_damping_per_s": 20, "mass_kg": 1.9}
    return simulation(gulls(3) | {"gull-2": gull(2, parameters=sluggish)}).run()


def test_other_parameters_in_the_group_change_the_flight_by_rounding_alone(
    beside_another_kind, usual
):
    np.testing.assert_allclose(
        rows_of(beside_another_kind), rows_of(usual), rtol=0, atol=ACROSS_BATCHES
    )


def test_other_parameters_in_the_group_change_no_bit(beside_another_kind, usual):
    assert_same_bits(rows_of(beside_another_kind), rows_of(usual))


@pytest.fixture(scope="module")
def with_another_group():
    """The trio with a vehicle of another structure among them."""
    tour = {"type": "waypoints", "positions_world_m": [[0, 50, 20], [9, 50, 20]]}
    mixed = {"tern": gull(0, guidance=tour), **gulls(3)}
    return simulation(mixed)


def test_a_vehicle_of_another_group_changes_no_bit(with_another_group, usual):
    log = with_another_group.run()
    assert log.names == ("tern", "gull-0", "gull-1", "gull-2")
    for name in usual.names:
        assert_same_bits(rows_of(log, name), rows_of(usual, name))


def test_the_air_around_a_vehicle_of_another_group_changes_no_bit(with_another_group):
    scenario = with_another_group.scenario
    calm = simulation({"tern": gull(0)}, world={}).scenario.vehicles["tern"].turbulence
    tern = dataclasses.replace(scenario.vehicles["tern"], turbulence=calm)

    def flown(vehicles):
        fleet = build_fleet(scenario.world, vehicles, scenario.rate_hz)
        place = next(i for i, group in enumerate(fleet.groups) if "gull-0" in group.names)
        return jax.jit(
            lambda key: fleet.rollout(
                fleet.init(key), 200, lambda groups: groups[place].truth.position_world_m
            )[1]
        )(kw.seed_key(5))

    gusty, still = flown(scenario.vehicles), flown({**scenario.vehicles, "tern": tern})
    for axis in "xyz":
        assert_same_bits(np.asarray(getattr(gusty, axis)), np.asarray(getattr(still, axis)))


@pytest.mark.parametrize("count", SIZES)
def test_the_size_of_the_batch_changes_the_flight_by_rounding_alone(count, usual):
    log = simulation(gulls(count)).run()
    for name in {"gull-0", f"gull-{min(count, 3) - 1}"}:
        np.testing.assert_allclose(
            rows_of(log, name), rows_of(usual, name), rtol=0, atol=ACROSS_BATCHES
        )


# vehicles that land

DECK = {
    "type": "moving",
    "position_world_m": [0, 0, 0.4],
    "length_m": 2,
    "width_m": 2,
    "heave_m": 0.1,
    "roll_deg": 4,
}
RATES_HZ = [50, pytest.param(500, marks=pytest.mark.slow)]


def petrel(place=0, height_m=1.0):
    """A vehicle that comes down and is pressed on: the first on the deck, others on the ground."""
    return gull(
        model="crazyflie",
        start={"position_world_m": [5 * place, 0, height_m]},
        guidance={"type": "hold", "position_world_m": [5 * place, 0, max(height_m - 3.0, 0.0)]},
    )


@cache
def landing(rate_hz, *others):
    """A flight of 3 s in which petrel-0 lands, among others by name, place and height."""
    petrels = {name: petrel(place, height_m) for name, place, height_m in others}
    vehicles = {"petrel-0": petrel(), **petrels}
    world = WORLD | {"platforms": {"deck": DECK}}
    return simulation(vehicles, world=world, rate_hz=rate_hz, duration_s=3)


def landed_rows(flight):
    """Those of petrel-0, which has come down on the deck and stands there."""
    log = flight.run()
    last = log.frame("petrel-0").iloc[-1]
    # coarse steps make the deck bouncier: a bounce may count as a landing of its own
    assert last["landings"] >= 1
    assert (last["touched_deck"], last["contact"]) == (1, 4)
    return rows_of(log, "petrel-0")


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_the_same_seed_lands_with_the_same_bits(rate_hz):
    assert_same_bits(landed_rows(landing(rate_hz)), landed_rows(landing(rate_hz)))


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_a_landing_has_the_same_bits_whether_others_of_its_group_land(rate_hz):
    aloft = landing(rate_hz, ("petrel-1", 1, 30.0), ("petrel-2", 2, 30.0))
    down = landing(rate_hz, ("petrel-1", 1, 0.3), ("petrel-2", 2, 0.0145))
    assert_same_bits(landed_rows(down), landed_rows(aloft))
    # a touch magnifies what other sums round differently
    np.testing.assert_allclose(
        landed_rows(down), landed_rows(landing(rate_hz)), rtol=0, atol=1e3 * ACROSS_BATCHES
    )


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_a_landing_has_the_same_bits_beside_another_group(rate_hz):
    alone = landing(rate_hz)
    data = copy.deepcopy(alone.scenario.document.data)
    data["vehicles"] |= {"gull-0": gull(2)}
    beside = Simulation(build(parse_document(dump_document(data), "colony.yaml"), Path()))
    assert len(beside.fleet.groups) == 2
    assert_same_bits(landed_rows(beside), landed_rows(alone))
