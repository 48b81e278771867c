"""The OS4 and its rotors against their theory, published figures and what physics asks of both."""

import dataclasses
import math
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
from tests.physics.pelican_dynamics import about_z

import kittiwake as kw
from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import RotorSpeeds
from kittiwake.core.kinematics import Start
from kittiwake.forces.blade_element_rotor import BladeElementRotor
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.parts import Flow
from kittiwake.physics.multirotor import Multirotor
from kittiwake.scenario.parameters import build_component
from kittiwake.vehicles import VEHICLES
from kittiwake.world.surroundings import Air, Surroundings

GRAVITY, SEA_LEVEL = 9.81, 1.225
DT_S = 0.005
KEY = jax.random.key(0)
LEVEL = Quaternion(1.0, 0.0, 0.0, 0.0)
# the final airframe, for which the literature gives its figures, with that literature's air
FINAL_MASS_KG, FINAL_DENSITY = 0.65, 1.293
FINAL = BladeElementRotor(
    radius_m=0.15,
    chord_m=0.0394,
    root_pitch_rad=0.26,
    profile_drag=0.052,
    max_speed_radps=600.0,
    twist_rad=0.045,
    design_density_kgpm3=FINAL_DENSITY,
)
BALANCED = dataclasses.replace(FINAL, inflow="momentum")

each_inflow = pytest.mark.parametrize("rotor", [FINAL, BALANCED], ids=lambda rotor: rotor.inflow)


@cache
def os4(**parameters):
    model = build_component(Multirotor, VEHICLES.find("os4").parameters(), str)
    return dataclasses.replace(model, **parameters)


def around(density=SEA_LEVEL, wind=None):
    wind = Vec3.zero() if wind is None else wind
    return Surroundings(GRAVITY, Air(288.15, 101325.0, density), wind, 100.0, math.inf)


def flow(airspeed, rates=None, density=SEA_LEVEL):
    rates = Vec3.zero() if rates is None else rates
    return Flow(Vec3.of(airspeed), rates, LEVEL, around(density))


def six(found):
    """A wrench as one array: force, then torque."""
    parts = (found.force_body_n, found.torque_body_nm)
    return jnp.stack([jnp.asarray(c, float) for v in parts for c in (v.x, v.y, v.z)])


def about_hub(rotor, speed, spin, airspeed, density=SEA_LEVEL):
    return six(rotor.wrench(speed, spin, flow(airspeed, None, density), Vec3.zero()))


def whole(model, speed, airspeed, rates=None):
    """All rotors turning equally fast, about the center of mass."""
    around_it = flow(airspeed, rates)
    return sum(
        six(model.rotor.wrench(speed, spin, around_it, hub).at(hub))
        for spin, hub in zip(model.spins, model.hubs_body_m, strict=True)
    )


def hover_speed(model):
    return math.sqrt(model.mass_kg * GRAVITY / (4.0 * model.rotor.thrust_factor_ns2))


def advanced(model, state, speeds, surroundings, steps):
    """The state after steps with constant commands."""
    # the number of blades stays a whole number
    numbers = jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, float) else x, model)
    return _advanced(numbers, *as_arrays((state, speeds, surroundings)), steps)


@eqx.filter_jit
def _advanced(model, state, speeds, surroundings, steps):
    # all numbers are arguments, so that one program serves several flights
    def step(state, _):
        return model.step(state, RotorSpeeds(speeds), surroundings, DT_S, KEY), None

    return jax.lax.scan(step, state, None, length=steps)[0]


def samples(count=200):
    """Rotor speeds and airspeeds over the range in which the theory holds, and a little more."""
    draws = np.random.default_rng(7)
    airspeeds = draws.uniform([-12.0, -12.0, -4.0], [12.0, 12.0, 3.0], (count, 3))
    return draws.uniform(120.0, 500.0, count), airspeeds


def test_constants_of_the_literature_give_its_figures():
    area = FINAL.disc_area_m2
    torque_coefficient = FINAL.torque_factor_nms2 / (FINAL_DENSITY * area * FINAL.radius_m**3)
    # one digit beyond those that are given
    assert FINAL.solidity == pytest.approx(0.1672, abs=5e-5)
    assert 2.0 * FINAL.inflow_at_rest**2 == pytest.approx(0.01518, abs=5e-6)
    assert torque_coefficient == pytest.approx(0.00241, abs=5e-6)
    # identified: b = 3.13e-5, d = 7.5e-7, whose last digits are worth .3 % and 1.3 %
    assert FINAL.thrust_factor_ns2 == pytest.approx(3.13e-5, rel=0.01)
    assert FINAL.torque_factor_nms2 == pytest.approx(7.5e-7, rel=0.01)
    hover = math.sqrt(FINAL_MASS_KG * GRAVITY / 4.0 / FINAL.thrust_factor_ns2)
    assert hover == pytest.approx(225.5, abs=1.0)


@each_inflow
def test_thrust_and_torque_at_rest_are_those_of_the_factors(rotor):
    for speed in (1.0, 100.0, 225.5, 600.0):
        found = about_hub(rotor, speed, 1.0, (0.0, 0.0, 0.0), FINAL_DENSITY)
        thrust, torque = FINAL.thrust_factor_ns2, -FINAL.torque_factor_nms2
        expected = np.array([0.0, 0.0, thrust, 0.0, 0.0, torque]) * speed**2
        # two ways of writing one sum
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-18)


def test_wash_in_hover_is_that_of_the_weight():
    # Bouabdallah's v_1 with V = 0, which a person would take for the design
    speed = math.sqrt(FINAL_MASS_KG * GRAVITY / 4.0 / FINAL.thrust_factor_ns2)
    weight = FINAL_MASS_KG * GRAVITY / 4.0
    of_weight = math.sqrt(weight / (2.0 * FINAL_DENSITY * FINAL.disc_area_m2))
    wash = FINAL.inflow_at_rest * speed * FINAL.radius_m
    assert wash == pytest.approx(of_weight, rel=1e-13)


def test_os4_hovers_at_its_hover_speed():
    model = os4()
    found = whole(model, hover_speed(model), (0.0, 0.0, 0.0))
    expected = np.array([0.0, 0.0, model.mass_kg * GRAVITY, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    state = model.init(Start(Vec3(0.0, 0.0, 100.0)).kinematics(), around())
    np.testing.assert_allclose(
        model.actuators(state)["rotor_0_radps"], hover_speed(model), rtol=1e-14
    )
    motion = model.kinematics(advanced(model, state, (hover_speed(model),) * 4, around(), 20))
    # balanced: it stays where it is
    np.testing.assert_allclose(motion.velocity_world_mps.array, 0.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        motion.specific_force_body_mps2.array, [0.0, 0.0, GRAVITY], rtol=0, atol=1e-9
    )


def wash_of(rotor, speed, airspeed, density):
    """v_1 as the sources write it, with the rotor's static thrust as the weight that it carries."""
    loading = rotor.thrust_factor_ns2 * speed**2 / rotor.design_density_kgpm3 * density
    half = (airspeed[0] ** 2 + airspeed[1] ** 2) / 2.0
    return math.sqrt(-half + math.hypot(half, loading / (2.0 * density * rotor.disc_area_m2)))


def blade_by_blade(rotor, speed, spin, airspeed, density):
    """Force and torque of blade elements, added up over radius and azimuth as vectors."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    radius, share = rotor.radius_m * (nodes + 1.0) / 2.0, rotor.radius_m * weights / 2.0
    turns = 2.0 * np.pi * np.arange(24) / 24.0
    r, azimuth = np.meshgrid(radius, turns)
    outward = np.stack([np.cos(azimuth), np.sin(azimuth), np.zeros_like(r)], axis=-1)
    # the way that the blade goes: to the left for a spin of +1
    ahead = spin * np.stack([-np.sin(azimuth), np.cos(azimuth), np.zeros_like(r)], axis=-1)
    tangential = speed * r + ahead @ np.asarray(airspeed)
    axial = airspeed[2] + wash_of(rotor, speed, airspeed, density)
    pitch = rotor.root_pitch_rad - rotor.twist_rad * r / rotor.radius_m
    pressure = 0.5 * density * rotor.chord_m
    lift = pressure * rotor.lift_slope * (tangential**2 * pitch - tangential * axial)
    # the lift leans back by axial / tangential
    induced = pressure * rotor.lift_slope * (tangential * axial * pitch - axial**2)
    drag = induced + pressure * rotor.profile_drag * tangential**2
    up = np.array([0.0, 0.0, 1.0])
    element = lift[..., None] * up - drag[..., None] * ahead
    moment = np.cross(r[..., None] * outward, element)
    both = np.concatenate([element, moment], axis=-1)
    return rotor.blades * np.einsum("r,arc->c", share, both) / len(turns)


@pytest.mark.parametrize("spin", [1.0, -1.0])
@pytest.mark.parametrize("density", [SEA_LEVEL, 0.9])
def test_rotor_is_the_sum_of_its_blade_elements(spin, density):
    for speed, airspeed in zip(*samples(60), strict=True):
        found = about_hub(FINAL, speed, spin, airspeed, density)
        expected = blade_by_blade(FINAL, speed, spin, airspeed, density)
        # quadrature of polynomials and few harmonics: exact but for rounding of some 10 N
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_hub_force_opposes_the_airspeed_across_the_axis():
    for speed, airspeed in zip(*samples(), strict=True):
        u, v = airspeed[:2]
        force = about_hub(FINAL, speed, 1.0, (u, v, max(airspeed[2], 0.0)))
        assert force[0] * u + force[1] * v < 0.0
        assert abs(force[0] * v - force[1] * u) < 1e-12


def test_rotor_has_no_preferred_direction_about_its_axis():
    turn = np.kron(np.eye(2), about_z(1.1))
    for speed, airspeed in zip(*samples(20), strict=True):
        plain = about_hub(FINAL, speed, -1.0, airspeed)
        turned = about_hub(FINAL, speed, -1.0, about_z(1.1) @ airspeed)
        np.testing.assert_allclose(turned, turn @ plain, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("spin", [1.0, -1.0])
def test_air_takes_the_power_of_wash_and_profile_drag(spin):
    for speed, airspeed in zip(*samples(), strict=True):
        found = np.asarray(about_hub(FINAL, speed, spin, airspeed))
        # the work a second on what moves and turns through the air
        power = found[:3] @ airspeed + found[5] * spin * speed
        across2 = airspeed[0] ** 2 + airspeed[1] ** 2
        tip = speed * FINAL.radius_m
        blades = SEA_LEVEL * FINAL.solidity * FINAL.disc_area_m2 * FINAL.profile_drag
        profile = blades * (tip**3 + 3.0 * tip * across2) / 8.0
        wash = wash_of(FINAL, speed, airspeed, SEA_LEVEL) * found[2]
        # sums of some 100 W
        assert math.isclose(power, -(wash + profile), rel_tol=0.0, abs_tol=1e-10)
        assert found[2] < 0.0 or power < 0.0


def test_thrust_falls_when_climbing_and_grows_in_forward_flight():
    speed = 225.5
    climbing = [about_hub(FINAL, speed, 1.0, (0.0, 0.0, w))[2] for w in (-2.0, 0.0, 1.0, 2.0)]
    forward = [about_hub(FINAL, speed, 1.0, (u, 0.0, 0.0))[2] for u in (0.0, 1.0, 3.0, 9.0)]
    assert (np.diff(climbing) < 0.0).all()
    assert (np.diff(forward) > 0.0).all()


def test_advancing_side_is_lifted():
    # forward, turning to the left: the blades advance on the right, so the rotor rolls left
    torque = about_hub(FINAL, 225.5, 1.0, (3.0, 0.0, 0.0))[3:]
    assert torque[0] < -1e-3
    assert abs(torque[1]) < 1e-15


def test_rolling_moment_changes_with_the_spin_and_cancels_over_four_rotors():
    for speed, airspeed in zip(*samples(20), strict=True):
        left, right = (about_hub(FINAL, speed, spin, airspeed) for spin in (1.0, -1.0))
        np.testing.assert_array_equal(left[3:], -right[3:])
        np.testing.assert_array_equal(left[:3], right[:3])
    # what is left of the torque is the lever of the hub forces, which holds the nose up
    model = os4()
    found = whole(model, 220.0, (4.0, 0.0, 0.0))
    height = model.hubs_body_m[0].z
    np.testing.assert_allclose(found[3:], [0.0, height * found[0], 0.0], rtol=1e-10, atol=1e-14)
    assert found[4] < -1e-3


@pytest.mark.parametrize("axis", [0, 1])
def test_rotors_damp_tilting(axis):
    model = os4()
    rates = Vec3.of(np.eye(3)[axis])
    assert whole(model, hover_speed(model), (0.0, 0.0, 0.0), rates)[3 + axis] < -1e-2


def test_thin_air_carries_less():
    dense, thin = (about_hub(FINAL, 225.5, 1.0, (3.0, 1.0, 0.5), d) for d in (1.2, 0.6))
    np.testing.assert_allclose(dense, 2.0 * thin, rtol=1e-12)


def test_rotors_that_turn_alike_precess_like_a_top():
    roll_rate = 0.7
    start = Start(angular_velocity_body_radps=Vec3(roll_rate, 0.0, 0.0)).kinematics()
    rates = []
    for inertia in (0.0, 6e-5):
        rotor = dataclasses.replace(os4().rotor, inertia_kgm2=inertia)
        model = os4(rotor=rotor, spins=(1.0, 1.0, 1.0, 1.0), integrator="euler")
        command = RotorSpeeds((hover_speed(model),) * 4)
        state = model.step(model.init(start, around()), command, around(), 1e-4, KEY)
        rates.append(model.kinematics(state).angular_velocity_body_radps.array)
    torque = np.array([6.228e-3, 6.228e-3, 1.121e-2]) * (rates[1] - rates[0]) / 1e-4
    momentum = np.array([0.0, 0.0, 4.0 * 6e-5 * hover_speed(os4())])
    # -omega x L; differences of rates over 1e-4 s keep ten digits
    expected = np.cross(momentum, [roll_rate, 0.0, 0.0])
    assert expected[1] > 0.03
    np.testing.assert_allclose(torque, expected, rtol=1e-8, atol=1e-10)


EDGES = {
    "everything at rest": (0.0, (0.0, 0.0, 0.0)),
    "rotor stopped in a wind": (0.0, (5.0, -3.0, 0.0)),
    "rotor stopped, falling": (0.0, (0.0, 0.0, -8.0)),
    "turning in still air": (225.0, (0.0, 0.0, 0.0)),
    "descending through its wash": (225.0, (0.0, 0.0, -3.0)),
    "hardly moving": (1e-20, (1e-30, 1e-20, -1e-25)),
    "turned backwards": (-50.0, (1.0, 0.0, 0.0)),
    "in a storm": (300.0, (300.0, -300.0, 50.0)),
}


def values_and_gradients(rotor, speed, airspeed):
    rotor = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), rotor)
    return _differentiated((rotor, jnp.asarray(speed, float), jnp.asarray(airspeed, float)))


@jax.jit
def _differentiated(given):
    def numbers(given):
        rotor, speed, airspeed = given
        factors = jnp.stack([rotor.thrust_factor_ns2, rotor.torque_factor_nms2])
        return jnp.concatenate([about_hub(rotor, speed, 1.0, airspeed), factors])

    return numbers(given), jax.jacrev(numbers)(given), jax.jacfwd(numbers)(given)


@each_inflow
@pytest.mark.parametrize("edge", EDGES.values(), ids=EDGES)
def test_values_and_gradients_are_finite(edge, rotor):
    for leaf in jax.tree.leaves(values_and_gradients(rotor, *edge)):
        assert jnp.isfinite(leaf).all()


@each_inflow
@pytest.mark.parametrize("edge", EDGES.values(), ids=EDGES)
def test_values_and_gradients_are_finite_in_single_precision(edge, rotor, single_precision):
    for leaf in jax.tree.leaves(values_and_gradients(rotor, *edge)):
        assert leaf.dtype == jnp.float32
        assert jnp.isfinite(leaf).all()


# the wash of momentum theory


@cache
def thrusts(rotor):
    """Of many airspeeds at one speed, compiled."""
    return jax.jit(jax.vmap(lambda speed, airspeed: about_hub(rotor, speed, 1.0, airspeed)[2]))


def wash_in(rotor, speeds, airspeeds):
    """v_1, told from the thrust that the blades have in it."""
    tip, across2 = speeds * rotor.radius_m, airspeeds[:, 0] ** 2 + airspeeds[:, 1] ** 2
    pitch = rotor.root_pitch_rad / 6.0 - rotor.twist_rad / 8.0
    slant = (rotor.root_pitch_rad - rotor.twist_rad / 2.0) / 4.0
    lift = SEA_LEVEL * rotor.disc_area_m2 * rotor.solidity * rotor.lift_slope
    share = np.asarray(thrusts(rotor)(speeds, airspeeds)) / lift
    return 4.0 * (tip * pitch + (across2 * slant - share) / tip) - airspeeds[:, 2]


def missing(rotor, washes, speed, airspeed):
    """What Glauert's equation lacks at each wash, the blades' thrust summed from their elements."""
    across, along = math.hypot(*airspeed[:2]), airspeed[2]
    carrying = dataclasses.replace(rotor, inflow="at-rest")
    # the axial speed at which the rotor with the wash of rest has this flow through its disc
    told = along + washes - wash_of(carrying, speed, airspeed, SEA_LEVEL)
    through = np.stack([np.full_like(told, across), np.zeros_like(told), told], axis=1)
    thrust = np.asarray(thrusts(carrying)(np.full_like(told, speed), through))
    momentum = 2.0 * SEA_LEVEL * rotor.disc_area_m2
    return washes * np.hypot(across, along + washes) - thrust / momentum


STEEP = dataclasses.replace(BALANCED, chord_m=0.015, root_pitch_rad=0.45, twist_rad=0.0)


@pytest.mark.parametrize("rotor", [BALANCED, STEEP], ids=["of the OS4", "steep and narrow"])
def test_wash_is_the_one_root_of_glauerts_equation(rotor):
    draws = np.random.default_rng(3)
    speeds = draws.uniform(120.0, 600.0, 60)
    rest = rotor.inflow_at_rest * rotor.radius_m * speeds
    ratios, axial = draws.uniform(0.0, 0.3, 60), draws.uniform(-rest, 5.0)
    ratios[:10], axial[:5] = 0.0, -rest[:5]
    axial[5:10] = np.linspace(0.0, 5.0, 5)
    airspeeds = np.stack([ratios * rotor.radius_m * speeds, np.zeros(60), axial], axis=1)
    found = wash_in(rotor, speeds, airspeeds)
    pushing = 0
    for wash, speed, airspeed in zip(found, speeds, airspeeds, strict=True):
        whole_range = np.linspace(0.0, 60.0, 241)
        left = missing(rotor, whole_range, speed, airspeed)
        changes = np.flatnonzero(np.diff(np.sign(left)))
        if left[0] >= 0.0:
            assert len(changes) == 0
            assert abs(wash) < 1e-12
            continue
        (place,) = changes
        expected = scipy.optimize.brentq(
            lambda trial, s=speed, a=airspeed: missing(rotor, np.array([trial]), s, a)[0],
            *whole_range[place : place + 2],
            xtol=1e-13,
        )
        # five steps of Newton's rule leave rounding; four left 5e-10 of the wash at rest
        assert wash == pytest.approx(expected, rel=0, abs=2e-12)
        pushing += 1
    assert pushing > 40


def test_climb_is_damped_by_momentum_theory():
    speed = 225.5
    damping = {
        rotor.inflow: -float(
            jax.grad(lambda w, r=rotor: about_hub(r, speed, 1.0, (0.0, 0.0, w))[2])(0.0)
        )
        for rotor in (FINAL, BALANCED)
    }
    tip = speed * FINAL.radius_m
    blades = SEA_LEVEL * FINAL.disc_area_m2 * FINAL.solidity * FINAL.lift_slope * tip / 4.0
    # d(wash)/dw of v (w + v) = T / (2 rho A) at w = 0
    wash = FINAL.inflow_at_rest * tip
    steepness = FINAL.solidity * FINAL.lift_slope * tip / 8.0
    slope = -(wash + steepness) / (2.0 * wash + steepness)
    assert damping["at-rest"] == pytest.approx(blades, rel=1e-12)
    assert damping["momentum"] == pytest.approx(blades * (1.0 + slope), rel=1e-12)
    assert damping["at-rest"] / damping["momentum"] == pytest.approx(3.4, abs=0.05)


def test_wash_keeps_its_value_beyond_a_descent_as_fast_as_itself():
    rest = BALANCED.inflow_at_rest * BALANCED.radius_m * 225.5
    across, axial = np.meshgrid(np.linspace(0.0, 9.0, 10), rest * np.linspace(-3.0, 2.5, 1101))
    airspeeds = np.stack([across.ravel(), np.zeros(across.size), axial.ravel()], axis=1)
    found = wash_in(BALANCED, np.full(across.size, 225.5), airspeeds).reshape(across.shape)
    beyond = axial[:, 0] <= -rest
    np.testing.assert_allclose(
        found[beyond], np.broadcast_to(found[beyond][-1], found[beyond].shape), rtol=0, atol=1e-12
    )
    # nowhere steeper than the wash follows the descent: no jump between neighbors
    step = axial[1, 0] - axial[0, 0]
    assert np.abs(np.diff(found, axis=0)).max() < 1.01 * step
    assert found.min() >= -1e-12
    assert found.max() < 2.0 * rest


def test_no_motion_gains_energy_from_the_air_with_the_wash_of_momentum_theory():
    speeds, airspeeds = samples()
    climbs = np.linspace(-30.0, 30.0, len(speeds))
    airspeeds[::2, 2] = climbs[::2]
    for speed, airspeed in zip(speeds, airspeeds, strict=True):
        found = about_hub(BALANCED, speed, 1.0, airspeed)
        assert found[:3] @ airspeed + found[5] * speed < 0.0


def test_rotor_never_turns_backwards():
    stopped, backwards = (about_hub(FINAL, speed, 1.0, (2.0, 1.0, 0.5)) for speed in (0.0, -90.0))
    np.testing.assert_array_equal(stopped, backwards)


def test_blades_that_cannot_lift_are_refused():
    with pytest.raises(ValueError, match="must be below 4/3 of it"):
        dataclasses.replace(FINAL, twist_rad=0.35)


def flown(model, start, wind, steps=400):
    """Position and velocity after 2 s of constant commands, the rotors not quite alike.

    By Euler's rule, of which the claims are as true, and which is compiled much faster.
    """
    model = dataclasses.replace(model, integrator="euler")
    hover, air = hover_speed(os4()), around(wind=wind)
    speeds = (hover * 1.01, hover * 1.03, hover * 1.02, hover * 1.015)
    motion = model.kinematics(
        advanced(model, model.init(start.kinematics(), air), speeds, air, steps)
    )
    return jnp.stack([motion.position_world_m.array, motion.velocity_world_mps.array])


@pytest.mark.parametrize("angle", [math.pi / 2.0, -2.3])
def test_flight_turns_with_the_world(angle):
    velocity, wind, turn = np.array([2.0, 1.0, -0.5]), np.array([1.0, 2.0, 0.3]), about_z(angle)
    plain = flown(os4(), Start(velocity_world_mps=Vec3.of(velocity)), Vec3.of(wind))
    start = Start(yaw_rad=angle, velocity_world_mps=Vec3.of(turn @ velocity))
    turned = flown(os4(), start, Vec3.of(turn @ wind))
    # rounding over 400 steps in which the body turns over
    np.testing.assert_allclose(turned, plain @ turn.T, rtol=0, atol=1e-9)


def test_air_only_takes_energy_from_a_vehicle_whose_rotors_stand_still():
    model = os4()
    start = Start(
        velocity_world_mps=Vec3(6.0, 2.0, 4.0), angular_velocity_body_radps=Vec3(1.0, 2.0, 3.0)
    )
    state = model.init(start.kinematics(), around())
    speeds = (jnp.asarray(0.0),) * 4
    state = eqx.tree_at(
        lambda s: s.rigid_body.mechanical_state.velocities.speeds_radps, state, speeds
    )
    state = jax.tree.map(jnp.asarray, state)
    still = RotorSpeeds(speeds)

    def step(state, _):
        twist, pose = (
            state.rigid_body.mechanical_state.velocities.twist,
            state.rigid_body.mechanical_state.configuration,
        )
        height = pose.position_world_m.z
        energy = model.body.kinetic_energy_j(twist) + model.mass_kg * GRAVITY * height
        return model.step(state, still, around(), DT_S, KEY), energy

    energies = jax.lax.scan(step, state, None, length=300)[1]
    assert (jnp.diff(energies) < 0.0).all()


def end_of_flight(numbers):
    """Where 2 s of flight end, by mass, root pitch and the start's velocity."""
    model = os4()
    rotor = dataclasses.replace(model.rotor, root_pitch_rad=numbers[1])
    model = dataclasses.replace(model, mass_kg=numbers[0], rotor=rotor)
    start = Start(velocity_world_mps=Vec3.of(numbers[2:]))
    return flown(model, start, Vec3(1.0, -0.5, 0.2))[0]


@pytest.mark.slow
def test_gradients_of_a_flight_are_those_of_finite_differences():
    numbers = jnp.array([0.53, 0.2618, 1.0, -0.5, 0.3])
    found = jax.jit(jax.jacrev(end_of_flight))(numbers)
    assert jnp.isfinite(found).all()
    steps = 1e-6 * jnp.eye(len(numbers))
    ends = jax.jit(jax.vmap(end_of_flight))
    differences = (ends(numbers[None] + steps) - ends(numbers[None] - steps)).T / 2e-6
    # 10 m / 1e-6 in double precision leaves 1e-9 of rounding in each difference
    np.testing.assert_allclose(found, differences, rtol=1e-4, atol=1e-6)
    assert (jnp.abs(found).max(axis=0) > 1e-2).all()


def test_os4_flies_to_its_place_and_holds_it():
    # in the air feet change nothing but the time to compile
    log = kw.load("hover-os4", {"vehicles.os4.parameters": {"landing_gear": None}}).run()
    end = log.frame("os4").iloc[-1]
    place = [end.x_m, end.y_m, end.z_m]
    # the air at 10 m is .1 % thinner than at the level for which the mixer knows the thrust
    np.testing.assert_allclose(place, [0.6, -0.6, 10.5], rtol=0, atol=0.01)
