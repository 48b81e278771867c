"""Vehicles in boxes that push or blow: what each kind of dynamics makes of them."""

import math
from functools import cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.contract.operating_points import CRUISING, command
from tests.physics.body_dynamics import KEY, airborne, around, body, numbers_as_arrays

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.commands import RotorSpeeds, ThrustTorque
from kittiwake.core.kinematics import Start
from kittiwake.environment.regions import ForceRegion, WindRegion
from kittiwake.forces.drag import LinearDrag, QuadraticDrag
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.parts import Flow

FORCE = Vec3(0.3, -0.2, 0.1)
NOTHING = ThrustTorque(0.0, Vec3.zero())
NOISE_FREE = {"pelican": {"linear_noise_mps2": 0.0, "angular_noise_radps2": 0.0}}
NAMES = ("ar-drone", "crazyflie", "hummingbird", "os4", "uav-gazebo", "rigid-body")
HELD = ("pelican", "angle-velocity")
START = Start(Vec3(0.0, 0.0, 10.0), 0.1, -0.2, 0.7, Vec3(1.0, 0.5, -0.2), Vec3(0.1, 0.2, 0.3))


class Push(NamedTuple):
    """A region with a vehicle in it, and the force that it gets."""

    region: ForceRegion
    share: float


WHOLE = Push(ForceRegion(Vec3(-9.0, -9.0, 0.0), Vec3(9.0, 9.0, 20.0), FORCE), 1.0)
HALF = Push(ForceRegion(Vec3(0.0, -9.0, 0.0), Vec3(9.0, 9.0, 20.0), FORCE), 0.5)


@cache
def flown_by(name):
    return airborne(name, **NOISE_FREE.get(name, {}))


@cache
def stepped(name):
    """Motion at the start and after a step, as a compiled function of where and for how long."""
    dynamics = flown_by(name)
    order = command(dynamics, CRUISING)

    def flight(start, air, dt_s):
        state = as_arrays(dynamics.init(start, air))
        later = dynamics.step(state, order, air, dt_s, KEY)
        return dynamics.kinematics(state), dynamics.kinematics(later)

    return jax.jit(flight)


def plain_and_pushed(name, region, start, dt_s=1e-4):
    """The motions of ``stepped`` without and with a region's force."""
    here = start.kinematics()
    nowhere = ForceRegion(region.from_world_m, region.to_world_m, Vec3.zero())
    felt = (box.apply(here, flown_by(name).size_body_m, around()) for box in (nowhere, region))
    return [stepped(name)(as_arrays(here), as_arrays(air), dt_s) for air in felt]


def gains(name, push, start=START, dt_s=1e-4, quantity="velocity_world_mps"):
    """What a region adds to a velocity over a step, over that step."""
    plain, pushed = plain_and_pushed(name, push.region, start, dt_s)
    return (getattr(pushed[1], quantity).array - getattr(plain[1], quantity).array) / dt_s


def through(dynamics, start, regions, dt_s, steps, gravity_mps2=0.0):
    """The motion at each tick of a flight through regions, felt anew at each."""
    return _through(*numbers_as_arrays((dynamics, start, regions, dt_s, gravity_mps2)), steps)


@eqx.filter_jit
def _through(dynamics, start, regions, dt_s, gravity_mps2, steps):
    calm = as_arrays(around(gravity_mps2=gravity_mps2))

    def felt(state):
        here = dynamics.kinematics(state)
        air = calm
        for region in regions:
            air = region.apply(here, dynamics.size_body_m, air)
        return air

    def step(state, _):
        later = dynamics.step(state, NOTHING, felt(state), dt_s, KEY)
        return match_dtypes(later, state), dynamics.kinematics(state)

    state = as_arrays(dynamics.init(start.kinematics(), calm))
    return jax.lax.scan(step, state, None, length=steps)[1]


# every kind of dynamics


@pytest.mark.parametrize("push", [WHOLE, HALF], ids=["inside", "half inside"])
@pytest.mark.parametrize("name", [*NAMES, *HELD])
def test_a_force_accelerates_every_vehicle_by_its_share_over_the_mass(name, push):
    expected = FORCE.array * push.share / flown_by(name).mass_kg
    # over 0.1 ms drag and turning answer with less than a thousandth of it
    np.testing.assert_allclose(gains(name, push), expected, rtol=0, atol=1e-3 * abs(expected).max())


def test_a_force_accelerates_a_vessel_by_its_mass_with_the_waters():
    strider = flown_by("strider")
    start = Start(yaw_rad=0.5 * math.pi)
    region = ForceRegion(Vec3(-9.0, -9.0, -9.0), Vec3(9.0, 9.0, 9.0), Vec3(0.0, 2.0, 5.0))
    found = gains("strider", Push(region, 1.0), start)
    surge_mass = strider.mass_kg + strider.added_mass.surge_kg
    # it looks north, so that the force is along its bow; the water carries the vertical part
    np.testing.assert_allclose(found, [0.0, 2.0 / surge_mass, 0.0], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("low_x", "sign"), [(0.0, 1.0), (-9.0, -1.0)])
def test_a_force_at_the_bow_or_stern_turns_a_vessel(low_x, sign):
    strider = flown_by("strider")
    region = ForceRegion(Vec3(low_x, -9.0, -9.0), Vec3(low_x + 9.0, 9.0, 9.0), Vec3(0.0, 2.0, 0.0))
    found = gains("strider", Push(region, 0.5), Start())[1]
    turned = gains("strider", Push(region, 0.5), Start(), 1e-4, "angular_velocity_body_radps")[2]
    # sway and yaw, with what the water couples
    added = strider.added_mass
    mass = [
        [strider.mass_kg + added.sway_kg, added.sway_yaw_kgm],
        [added.sway_yaw_kgm, strider.yaw_inertia_kgm2 + added.yaw_kgm2],
    ]
    # half of the force, at a quarter of the length
    moment = sign * 1.0 * strider.size_body_m.x / 4.0
    expected = np.linalg.solve(mass, [1.0, moment])
    np.testing.assert_allclose([found, turned], expected, rtol=1e-3)
    assert np.sign(turned) == sign


@pytest.mark.parametrize("name", NAMES)
def test_a_force_on_one_half_turns_a_body(name):
    level = Start(Vec3(0.0, 0.0, 10.0))
    dynamics = flown_by(name)
    lever = Vec3(dynamics.size_body_m.x / 4.0, 0.0, 0.0)
    expected = dynamics.inertia_kgm2.solve(lever.cross(FORCE * 0.5)).array
    found = gains(name, HALF, level, 1e-5, "angular_velocity_body_radps")
    # gyroscopic terms grow with the step
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3 * abs(expected).max())


@pytest.mark.parametrize("name", HELD)
def test_a_force_on_one_half_does_not_turn_a_vehicle_that_follows_its_angles(name):
    found = gains(name, HALF, START, 1e-4, "angular_velocity_body_radps")
    np.testing.assert_array_equal(found, np.zeros(3))


@pytest.mark.parametrize("name", [*NAMES, *HELD, "strider"])
def test_an_accelerometer_feels_a_force_from_the_first_tick_on(name):
    start = Start() if name == "strider" else START
    region = ForceRegion(Vec3(-9.0, -9.0, -9.0), Vec3(9.0, 9.0, 20.0), Vec3(0.3, 0.0, 0.0))
    dynamics = flown_by(name)
    plain, pushed = plain_and_pushed(name, region, start)
    force_body = start.kinematics().q_world_from_body.inverse().rotate(Vec3(0.3, 0.0, 0.0)).array
    surge = dynamics.added_mass.surge_kg if name == "strider" else 0.0
    for before, after in zip(plain, pushed, strict=True):
        felt = after.specific_force_body_mps2.array - before.specific_force_body_mps2.array
        expected = force_body / (dynamics.mass_kg + surge)
        np.testing.assert_allclose(felt, expected, rtol=0, atol=1e-3 * abs(expected).max())


# flights through boxes


def box_of_force(force, low=0.0, high=2.0):
    return ForceRegion(Vec3(low, -50.0, -50.0), Vec3(high, 50.0, 50.0), force)


SLAB = box_of_force(Vec3(0.0, 4.0, -1.0))
# 0.4 m long; hardly turned by what pushes it on its way
HEAVY_TO_TURN = {"inertia_kgm2": Inertia(9e9, 9e9, 9e9), "size_body_m": Vec3(0.4, 0.2, 0.1)}


@pytest.mark.parametrize("speed", [1.0, 4.0, 16.0])
def test_a_body_thrown_through_a_box_gains_the_force_times_the_time_inside(speed):
    thrown = body(1.0, 1.0, 1.0, **HEAVY_TO_TURN)
    steps = math.ceil(4.0 / speed / 1e-3)
    start = Start(Vec3(-1.0, 0.0, 0.0), velocity_world_mps=Vec3(speed, 0.0, 0.0))
    motion = through(thrown, start, (SLAB,), 1e-3, steps)
    # sampled at each step, the share's ramps cost the square of a step's part of the way in
    error = 4.0 * (speed * 1e-3 / 0.4) ** 2 + 1e-9
    expected = np.array([speed, 4.0 * 2.0 / speed, -1.0 * 2.0 / speed])
    found = np.array([leaf[-1] for leaf in jax.tree.leaves(motion.velocity_world_mps)])
    np.testing.assert_allclose(found, expected, rtol=error, atol=error)


def test_a_body_is_turned_on_its_way_in_and_as_much_back_on_its_way_out():
    given = {**HEAVY_TO_TURN, "inertia_kgm2": Inertia(1e3, 1e3, 1e3)}
    start = Start(Vec3(-1.0, 0.0, 0.0), velocity_world_mps=Vec3(2.0, 0.0, 0.0))
    motion = through(body(1.0, 1.0, 1.0, **given), start, (SLAB,), 1e-3, 2000)
    rates = motion.angular_velocity_body_radps
    # the moment F phi (1 - phi) h over the time that 2 h take: F h^2 / (3 v)
    impulse = np.cross([1.0, 0.0, 0.0], [0.0, 4.0, -1.0]) * 0.2**2 / (3.0 * 2.0)
    halfway = np.array([leaf[1000] for leaf in jax.tree.leaves(rates)])
    # 200 steps on the way in
    np.testing.assert_allclose(halfway, impulse / 1e3, rtol=1e-4, atol=1e-15)
    ended = np.array([leaf[-1] for leaf in jax.tree.leaves(rates)])
    # the heading that it has by then is below a thousandth of a radian
    np.testing.assert_allclose(ended, 0.0, atol=1e-3 * abs(halfway).max())


def test_a_body_falls_in_a_box_that_carries_half_its_weight_with_half_of_gravity():
    lift = ForceRegion(Vec3(-1.0, -1.0, -90.0), Vec3(1.0, 1.0, 90.0), Vec3(0.0, 0.0, 0.5 * 9.81))
    motion = through(body(1.0, 1.0, 1.0), Start(), (lift,), 1e-2, 101, gravity_mps2=9.81)
    assert float(motion.velocity_world_mps.z[-1]) == pytest.approx(-0.5 * 9.81, rel=1e-12)


def test_two_boxes_with_opposite_forces_leave_a_body_alone():
    boxes = (SLAB, box_of_force(-SLAB.force_world_n))
    start = Start(Vec3(-1.0, 0.0, 0.0), velocity_world_mps=Vec3(2.0, 0.0, 0.0))
    motion = through(body(1.0, 1.0, 1.0, **HEAVY_TO_TURN), start, boxes, 1e-2, 200)
    for found, expected in zip(
        jax.tree.leaves(motion.velocity_world_mps), (2.0, 0.0, 0.0), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


# wind


def box_of_wind(wind, low):
    return WindRegion(Vec3(low, -50.0, -50.0), Vec3(50.0, 50.0, 50.0), wind)


@pytest.mark.parametrize(("low", "share"), [(-5.0, 1.0), (0.0, 0.5), (0.1, 0.25), (9.0, 0.0)])
def test_drag_bodies_feel_their_share_of_the_wind(low, share):
    wind = Vec3(3.0, -2.0, 1.0)
    for drag, expected in (
        (LinearDrag(Vec3(0.2, 0.3, 0.4)), np.array([0.6, -0.6, 0.4]) * share),
        (
            QuadraticDrag(Vec3(0.2, 0.3, 0.4)),
            0.5 * 1.225 * math.sqrt(14.0) * np.array([0.6, -0.6, 0.4]) * share**2,
        ),
    ):
        given = {"forces": (drag,), **HEAVY_TO_TURN}
        motion = through(body(1.0, 1.0, 1.0, **given), Start(), (box_of_wind(wind, low),), 1e-6, 2)
        gained = [leaf[-1] / 1e-6 for leaf in jax.tree.leaves(motion.velocity_world_mps)]
        # in a microsecond it hardly gets going
        np.testing.assert_allclose(gained, expected, rtol=1e-5, atol=1e-12)


def rotors_in_their_own_winds(dynamics, winds, speeds):
    """The wrench of a level vehicle at rest, each rotor in a uniform wind of its own."""
    upright = Start().kinematics().q_world_from_body
    total = None
    for hub, spin, wind, speed in zip(
        dynamics.hubs_body_m, dynamics.spins, winds, speeds, strict=True
    ):
        flow = Flow(-wind, Vec3.zero(), upright, around(wind))
        wrench = dynamics.rotor.wrench(speed, spin, flow, hub).at(hub)
        total = wrench if total is None else total + wrench
    return total


@pytest.mark.parametrize("name", ["hummingbird", "os4"])
def test_rotors_of_a_vehicle_half_inside_are_each_in_their_own_wind(name):
    # two thirds of the half side: there a wind over half of the vehicle is all of it, or nothing
    arm = max(hub.x for hub in flown_by(name).hubs_body_m)
    dynamics = airborne(name, forces=[], size_body_m=[3.0 * arm, 3.0 * arm, 0.2])
    wind = Vec3(2.0, 3.0, -1.0)
    inside = box_of_wind(wind, 0.0).apply(Start().kinematics(), dynamics.size_body_m, around())
    # whatever the order of the hubs
    winds = [wind * (0.5 + 0.5 * hub.x / arm) for hub in dynamics.hubs_body_m]
    speeds = (400.0, 420.0, 440.0, 380.0)
    expected = rotors_in_their_own_winds(dynamics, winds, speeds)
    state = as_arrays(dynamics.init(Start().kinematics(), inside))
    state = eqx.tree_at(
        lambda s: s.rigid_body.mechanical_state.velocities.speeds_radps,
        state,
        tuple(map(jnp.asarray, speeds)),
    )
    later = dynamics.step(state, RotorSpeeds(speeds), inside, 1e-7, KEY)
    motion = dynamics.kinematics(later)
    force = dynamics.mass_kg * motion.specific_force_body_mps2.array
    # over a tenth of a microsecond nothing has moved, and rounding is 1e-9 of the velocity's change
    np.testing.assert_allclose(force, expected.force_body_n.array, rtol=1e-5, atol=1e-6)
    torque = dynamics.inertia_kgm2.times(motion.angular_velocity_body_radps).array / 1e-7
    np.testing.assert_allclose(torque, expected.torque_body_nm.array, rtol=1e-5, atol=1e-6)


def test_a_wind_from_above_on_one_side_tips_a_vehicle_to_that_side():
    dynamics = flown_by("hummingbird")
    here = Start().kinematics()
    inside = box_of_wind(Vec3(0.0, 0.0, -4.0), 0.0).apply(here, dynamics.size_body_m, around())
    _, later = stepped("hummingbird")(as_arrays(here), as_arrays(inside), 1e-3)
    # the rotor in front lifts less: the nose goes down, which is a positive rate about y
    assert later.angular_velocity_body_radps.y > 0.0
    assert abs(float(later.angular_velocity_body_radps.x)) < 1e-9


# gradients


@pytest.mark.slow
def test_the_end_of_a_flight_has_finite_gradients_with_a_vehicle_on_an_edge():
    thrown = body(0.01, 0.01, 0.01, size_body_m=Vec3(0.4, 0.2, 0.1))

    def ended(numbers):
        force, corner = Vec3.of(numbers[:3]), Vec3.of(numbers[3:6])
        start = Start(Vec3.of(numbers[6:9]), velocity_world_mps=Vec3.of(numbers[9:]))
        region = ForceRegion(corner, Vec3(5.0, 5.0, 5.0), force)
        motion = through(thrown, start, (region,), 1e-2, 50)
        return jnp.stack([leaf[-1] for leaf in jax.tree.leaves(motion.position_world_m)])

    # it begins with its front on the face, its side on another, and resting there
    numbers = jnp.array([1.0, 2.0, 3.0, 0.2, -0.1, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    slopes = jax.jit(jax.jacrev(ended))(numbers)
    assert jnp.isfinite(slopes).all()
    assert (jnp.abs(slopes[:, 9]) > 0.0).any()
