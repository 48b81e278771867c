"""The jets that rotors throw down: their momentum and width, and who feels them."""

import dataclasses
import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.physics.body_dynamics import airborne, around

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.core.kinematics import Start
from kittiwake.environment.downwash import Downwash, jet_world_mps
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario import size
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.sim.fleet import Fleet
from kittiwake.world.interaction_input import NO_WAKE, InteractionInput, Wake

DENSITY = 1.225
# of a Hummingbird in hover
WAKE = Wake(0.5 * 9.81, 4.0 * math.pi * 0.1016**2)
DISC_RADIUS = math.sqrt(WAKE.disc_area_m2 / math.pi)
AT_DISC = math.sqrt(2.0 * WAKE.thrust_n / (DENSITY * WAKE.disc_area_m2))


def present(place, wake=WAKE, attitude=(0.0, 0.0, 0.0)):
    return as_arrays(InteractionInput(Start(place, *attitude).kinematics(), wake))


@jax.jit
def down_mps(below_m, beside_m):
    """The jet's speed at places below and beside an upright vehicle."""
    above = present(Vec3.zero())

    def at(s, r):
        return -jet_world_mps(above, Vec3(r, 0.0, -s), DENSITY).z

    return jax.vmap(at)(below_m, beside_m)


def below(distances_m):
    distances_m = np.asarray(distances_m, float)
    return np.asarray(down_mps(distances_m, np.zeros_like(distances_m)))


def winds(*vehicles):
    """What each of them feels, as rows."""
    together = jax.tree.map(lambda *leaves: jnp.stack(leaves), *vehicles)
    air = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(vehicles)), as_arrays(around()))
    found = Downwash()(together, air).wind_world_mps
    return np.column_stack([found.x, found.y, found.z])


# one jet


@pytest.mark.parametrize("distance", [1e-6, 0.3, 1.0, 2.5, 10.0, 100.0])
def test_the_jet_carries_the_thrusts_momentum_at_every_distance(distance):
    # ten half-widths: what is left beyond is 2^-200
    r = np.linspace(0.0, 10.0 * max(0.094 * distance, DISC_RADIUS), 20001)
    speed = np.asarray(down_mps(np.full_like(r, distance), r))
    momentum = np.trapezoid(2.0 * math.pi * r * DENSITY * speed**2, r)
    assert momentum == pytest.approx(WAKE.thrust_n, rel=1e-6)


def test_near_the_disc_the_jet_has_twice_the_induced_velocity():
    # v_1 of momentum theory: T = 2 rho A v_1^2
    induced = math.sqrt(WAKE.thrust_n / (2.0 * DENSITY * WAKE.disc_area_m2))
    np.testing.assert_allclose(below([1e-9, 0.1, 1.0]), 2.0 * induced, rtol=1e-12)


def test_the_jet_keeps_its_width_until_it_has_spread_to_it():
    # the Gaussian's half-width with the momentum of a full disc at twice the induced velocity
    half_width = DISC_RADIUS * math.sqrt(math.log(2.0))
    end = half_width / 0.094
    speeds = below([0.999 * end, 1.001 * end])
    assert speeds[0] == pytest.approx(AT_DISC, rel=1e-12)
    assert speeds[1] == pytest.approx(AT_DISC / 1.001, rel=1e-12)
    at_half = np.asarray(down_mps(np.array([0.5]), np.array([half_width])))
    assert at_half[0] == pytest.approx(0.5 * AT_DISC, rel=1e-12)


def test_far_below_the_jet_decays_with_the_distance_and_widens_with_it():
    distances = np.array([5.0, 10.0, 40.0])
    expected = math.sqrt(2.0 * math.log(2.0) / math.pi) / 0.094
    expected *= math.sqrt(WAKE.thrust_n / DENSITY) / distances
    np.testing.assert_allclose(below(distances), expected, rtol=1e-12)
    beside = np.asarray(down_mps(distances, 0.094 * distances))
    np.testing.assert_allclose(beside, 0.5 * expected, rtol=1e-12)


def test_far_below_the_jet_is_as_fast_as_measured_round_jets():
    # Pope 2000, table 5.1: W = B U_J d / s, B from 5.8 to 6.06, and T = pi rho d^2 U_J^2 / 4
    measured = np.array([5.8, 5.9, 6.06]) / math.sqrt(math.pi / 4.0)
    modeled = below([50.0])[0] * 50.0 / math.sqrt(WAKE.thrust_n / DENSITY)
    # a tenth: the fluctuations carry part of a real jet's momentum, its flanks are not Gaussian
    np.testing.assert_allclose(modeled, measured, rtol=0.1)


def test_above_and_beside_the_disc_nothing_blows():
    np.testing.assert_array_equal(down_mps(np.array([0.0, -0.1, -5.0]), np.zeros(3)), np.zeros(3))
    assert down_mps(np.array([1.0]), np.array([3.0]))[0] < 1e-12


def test_the_jet_blows_along_the_axis_of_a_tilted_vehicle():
    above = present(Vec3(0.0, 0.0, 10.0), attitude=(0.0, 0.3, 0.0))
    axis = np.array([-math.sin(0.3), 0.0, -math.cos(0.3)])
    place = np.array([0.0, 0.0, 10.0]) + 1.5 * axis
    found = jet_world_mps(above, Vec3.of(place), DENSITY).array
    np.testing.assert_allclose(found, AT_DISC * axis, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("wake", [NO_WAKE, Wake(0.0, 0.1), Wake(-3.0, 0.1)])
def test_a_vehicle_without_thrust_has_no_jet(wake):
    above = present(Vec3(0.0, 0.0, 1.0), wake)
    np.testing.assert_array_equal(jet_world_mps(above, Vec3.zero(), DENSITY).array, np.zeros(3))


@pytest.mark.parametrize("here", [Vec3.zero(), Vec3(0.0, 0.0, -1.0), Vec3(3.0, 0.0, 0.0)])
@pytest.mark.parametrize("wake", [WAKE, NO_WAKE])
def test_gradients_are_finite_even_with_vehicles_in_one_place(here, wake):
    def total(above, place, density):
        jet = jet_world_mps(above, place, density)
        return jet.x + 2.0 * jet.y + 3.0 * jet.z

    arguments = present(Vec3.zero(), wake), as_arrays(here), jnp.asarray(DENSITY)
    slopes = jax.tree.leaves(jax.grad(total, argnums=(0, 1, 2))(*arguments))
    assert all(jnp.isfinite(slope) for slope in slopes)


def test_gradient_of_the_jet_is_that_of_finite_differences():
    def speed(numbers):
        wake = Wake(numbers[3], numbers[4])
        return jet_world_mps(present(Vec3.zero(), wake), Vec3.of(numbers[:3]), DENSITY).z

    numbers = jnp.array([0.2, -0.1, -4.0, 5.0, 0.13])
    steps = 1e-6 * jnp.eye(5)
    differences = [(speed(numbers + step) - speed(numbers - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(jax.grad(speed)(numbers), differences, rtol=1e-6, atol=1e-8)


# many vehicles


def test_no_vehicle_is_in_its_own_jet():
    tilted = present(Vec3(1.0, 2.0, 3.0), attitude=(0.3, -0.2, 1.0))
    np.testing.assert_array_equal(winds(tilted), np.zeros((1, 3)))


def test_the_jets_of_several_vehicles_add():
    low = present(Vec3.zero())
    one, other = present(Vec3(0.1, 0.0, 1.0)), present(Vec3(-0.2, 0.1, 2.0))
    alone = winds(low, one)[0] + winds(low, other)[0]
    np.testing.assert_allclose(winds(low, one, other)[0], alone, rtol=1e-14)


def test_the_order_of_the_vehicles_does_not_matter():
    draws = np.random.default_rng(4).uniform(-1.0, 1.0, (6, 6))
    vehicles = [
        present(Vec3.of(d[:3] * [0.5, 0.5, 3.0]), Wake(5.0 + d[3], 0.13), tuple(0.3 * d[3:]))
        for d in draws
    ]
    found = winds(*vehicles)
    order = [3, 0, 5, 1, 4, 2]
    # sums in another order
    np.testing.assert_allclose(winds(*(vehicles[i] for i in order)), found[order], rtol=1e-12)
    assert (np.abs(found[:, 2]) > 0.1).sum() >= 3


def test_the_wind_of_the_world_is_added_to():
    low, high = present(Vec3.zero()), present(Vec3(0.0, 0.0, 1.0))
    together = jax.tree.map(lambda *leaves: jnp.stack(leaves), low, high)
    air = as_arrays(around(Vec3(3.0, 1.0, 0.5)))
    air = jax.tree.map(lambda leaf: jnp.stack([leaf] * 2), air)
    found = Downwash()(together, air).wind_world_mps
    np.testing.assert_allclose(found.x, 3.0)
    np.testing.assert_allclose(found.z, [0.5 - AT_DISC, 0.5], rtol=1e-12)


@pytest.mark.parametrize("part", ["position", "attitude", "thrust"])
def test_a_vehicle_that_has_diverged_does_not_blow_at_the_others(part):
    sound = present(Vec3.zero())
    place = Vec3(0.0, 0.0, math.nan if part == "position" else 1.0)
    attitude = (math.nan if part == "attitude" else 0.0, 0.0, 0.0)
    wake = dataclasses.replace(WAKE, thrust_n=math.nan) if part == "thrust" else WAKE
    diverged = present(place, wake, attitude)
    np.testing.assert_array_equal(winds(sound, diverged)[0], np.zeros(3))


# flights

# high in the air feet change nothing but the time to compile
BY_ROTORS = "model: {}, parameters: {{landing_gear: null}}, guidance: {{type: hold}}"
HUMMINGBIRD, UAV_GAZEBO = map(BY_ROTORS.format, ("hummingbird", "uav-gazebo"))
FLIGHT = f"""\
name: under-each-other
time: {{rate_hz: 500, duration_s: 1}}
world: {{interactions: [downwash]}}
vehicles:
  upper: {{{HUMMINGBIRD}, start: {{position_world_m: [0, 0, 11]}}}}
  lower: {{{HUMMINGBIRD}, start: {{position_world_m: [0, 0, 10]}}}}
  beside: {{{HUMMINGBIRD}, start: {{position_world_m: [3, 0, 10]}}}}
  mixed-upper: {{{HUMMINGBIRD}, start: {{position_world_m: [100, 0, 12]}}}}
  mixed-lower: {{{UAV_GAZEBO}, start: {{position_world_m: [100, 0, 11]}}}}
  mixed-lowest: {{{HUMMINGBIRD}, start: {{position_world_m: [100, 0, 9]}}}}
  no-wake: {{model: angle-velocity, guidance: hold, start: {{position_world_m: [200, 0, 11]}}}}
  under-it: {{{HUMMINGBIRD}, start: {{position_world_m: [200, 0, 10]}}}}
"""


def lanes(fleet, groups):
    return {
        name: np.asarray(array)[:, lane]
        for group, array in zip(fleet.groups, groups, strict=True)
        for lane, name in enumerate(group.names)
    }


@pytest.fixture(scope="module")
def flight():
    """Heights, vertical winds and a rotor's speed of a second, by vehicle."""
    with jax.enable_x64(True):
        fleet: Fleet = build(parse_document(FLIGHT, "test.yaml"), Path()).fleet()

        def kept(snapshots):
            return [
                tuple(s.truth.position_world_m.z for s in snapshots),
                tuple(s.surroundings.wind_world_mps.z for s in snapshots),
                tuple(
                    s.actuators.get("rotor_0_radps", s.truth.position_world_m.z) for s in snapshots
                ),
            ]

        fly = jax.jit(lambda key: fleet.rollout(fleet.init(key), 500, kept)[1])
        return [lanes(fleet, groups) for groups in fly(seed_key(0))]


def test_a_vehicle_under_another_sinks_and_turns_its_rotors_faster(flight):
    height, wind, speed = flight
    assert wind["lower"][0] == pytest.approx(-AT_DISC, rel=1e-3)
    assert height["lower"][-1] < 9.5
    assert speed["lower"][-1] > 1.1 * speed["upper"][-1]


def test_the_one_above_and_the_one_beside_feel_nothing(flight):
    for name in ("upper", "beside"):
        height, wind, _ = (kept[name] for kept in flight)
        # 3 m are 14 half-widths of a jet 1 m long
        assert np.abs(wind).max() < 1e-9
        np.testing.assert_allclose(height, height[0], rtol=0, atol=1e-9)


def test_vehicles_of_different_groups_feel_each_other(flight):
    _, wind, _ = flight
    assert wind["mixed-upper"][0] == 0.0
    assert wind["mixed-lower"][0] == pytest.approx(-AT_DISC, rel=1e-3)
    # the body's thrust is known from its first step on; both jets are felt below it
    model = airborne("uav-gazebo")
    weight = float(model.mass_kg) * 9.81
    own = math.sqrt(2.0 * weight / (DENSITY * float(model.disc_area_m2)))
    first, later = wind["mixed-lowest"][0], wind["mixed-lowest"][1:20]
    assert later.min() < first - 0.8 * own


def test_a_vehicle_without_a_wake_has_no_jet(flight):
    height, wind, _ = flight
    assert np.abs(wind["under-it"]).max() == 0.0
    assert height["under-it"][-1] == pytest.approx(10.0, abs=1e-9)


# what is written in a scenario


def test_downwash_does_not_ask_for_a_collision_distance():
    scenario = build(parse_document(FLIGHT, "test.yaml"), Path())
    assert [type(interaction) for interaction in scenario.world.interactions] == [Downwash]


def test_interactions_that_are_no_list_are_refused_with_what_there_is():
    text = FLIGHT.replace("[downwash]", "downwash")
    with pytest.raises(ScenarioError, match=r"test.yaml:3: world.interactions: write a list; each"):
        build(parse_document(text, "test.yaml"), Path())


def test_pairs_that_blow_at_each_other_count_for_the_memory(monkeypatch):
    # enough for each of them alone
    monkeypatch.setattr(size, "_available", lambda: 8 * size.BYTES_PER_VEHICLE + 1.0)
    build(parse_document(FLIGHT.replace("world: {interactions: [downwash]}\n", ""), "t"), Path())
    with pytest.raises(ScenarioError, match="8 vehicles need about"):
        build(parse_document(FLIGHT, "test.yaml"), Path())
