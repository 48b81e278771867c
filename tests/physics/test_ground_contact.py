"""Contact of feet with the ground and decks: rest, sliding distances and falls."""

import dataclasses
import math
from functools import cache

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.physics.body_dynamics import turned, vehicle
from tests.physics.ground_contact import (
    CORNERS,
    GRAVITY_MPS2,
    HALF_M,
    LEGS,
    NOTHING,
    block,
    put_on,
    stood,
)

import kittiwake as kw
from kittiwake.contact.deck import FIRST_DECK, GROUND
from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Start
from kittiwake.environment.platforms import FixedPlatform, MovingPlatform
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.landing_gear import LandingGear

DT_S = 0.002
OMEGA_RADPS, FRICTION = 120.0, 0.7
SUNK_M = GRAVITY_MPS2 / OMEGA_RADPS**2
STANDING_M = HALF_M - SUNK_M


def array(v):
    return np.column_stack([v.x, v.y, v.z])


def on_ground(**given):
    return Start(Vec3(0.0, 0.0, STANDING_M), **given)


def slope(angle_rad):
    return FixedPlatform(Vec3(0.0, 0.0, 50.0), 60.0, 60.0, roll_rad=angle_rad)


def foot_positions(motion, points):
    """Of each foot at each tick."""
    q = motion.q_world_from_body
    turns = Rotation.from_quat(np.column_stack([q.x, q.y, q.z, q.w]))
    return np.stack([array(motion.position_world_m) + turns.apply(p.array) for p in points], axis=1)


@pytest.mark.parametrize("dt_s", [0.002, 0.005, 0.01, 0.02])
def test_a_dropped_body_comes_to_rest_as_deep_as_its_weight_presses(dt_s):
    start = Start(Vec3(0.0, 0.0, HALF_M + 0.05), roll_rad=0.05, pitch_rad=0.03)
    # for 10 s, and longer with longer steps
    result = stood(block(), start, dt_s, 5000)
    # about each axis 0.02 kg m^2 over 1 / 150: it swings up to sqrt(1 + 3) as fast as it bounces
    omega = min(OMEGA_RADPS, 0.5 / dt_s)
    sunk = HALF_M - float(result.motion.position_world_m.z[-1])
    assert sunk == pytest.approx(GRAVITY_MPS2 / omega**2, rel=0.01)
    assert int(result.ground_contact.touching[-1]) == 4
    assert np.abs(array(result.motion.velocity_world_mps)[-1]).max() < 1e-9
    assert np.abs(array(result.motion.angular_velocity_body_radps)[-1]).max() < 1e-9


# as far apart in mass, size and feet as the registered ones are; the AR.Drone is the liveliest
@pytest.mark.slow
@pytest.mark.parametrize("name", ["crazyflie", "ar-drone", "rigid-body"])
@pytest.mark.parametrize("integrator", ["rk4", "heun"])
def test_a_vehicle_rests_at_coarse_steps(name, integrator):
    resting = vehicle(name, integrator=integrator)
    command = NOTHING if name == "rigid-body" else kw.RotorSpeeds((0.0,) * 4)
    low_m = -min(point.z for point in resting.landing_gear.points_body_m)
    start = Start(Vec3(0.0, 0.0, low_m + 0.02), roll_rad=0.05)
    # the AR.Drone's motors need 0.01 s; twice that is beyond Heun's method
    for dt_s in (0.005, 0.01):
        result = stood(resting, start, dt_s, 1000, command, every=100)
        assert int(result.ground_contact.touching[-1]) == 4
        assert np.abs(array(result.motion.velocity_world_mps)[-1]).max() < 1e-6
        assert np.abs(array(result.motion.angular_velocity_body_radps)[-1]).max() < 1e-5


def swing(integrator, damping, dt_s):
    """By what factor a step changes a small bounce about the rest depth, by its largest sizes."""
    body = block(damping=damping)
    begun = Start(Vec3(0.0, 0.0, STANDING_M + 1e-7 * SUNK_M))
    result = stood(dataclasses.replace(body, integrator=integrator), begun, dt_s, 300)
    off_m = np.asarray(result.motion.position_world_m.z) - STANDING_M
    speed_mps = np.asarray(result.motion.velocity_world_mps.z)
    size = np.hypot(OMEGA_RADPS * off_m, speed_mps)
    return (size[200:260].max() / size[20:80].max()) ** (1.0 / 180.0)


@pytest.mark.parametrize("damping", [0.0, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("step", [0.1, 0.2, 0.4])
def test_small_bounces_grow_or_fade_in_the_euler_methods_as_in_linear_theory(damping, step):
    # the determinants of a step of x'' = -w^2 x - 2 zeta w x', with step = w dt
    theory = {
        "euler": math.sqrt(1.0 - 2.0 * damping * step + step**2),
        "semi-implicit-euler": math.sqrt(1.0 - 2.0 * damping * step),
    }
    for integrator, growth in theory.items():
        found = swing(integrator, damping, step / OMEGA_RADPS)
        # the largest sizes may lie a turn off the middles of their 60 steps: up to 22 in 180
        assert found == pytest.approx(growth, abs=0.125 * abs(growth - 1.0) + 1e-4)


# it sails, turns, heaves, rolls and pitches
SEAWAY = MovingPlatform(
    Vec3(0.0, 0.0, 2.0),
    *(4.0, 4.0, 0.3),
    velocity_world_mps=Vec3(1.0, 0.0, 0.0),
    yaw_rate_radps=0.5,
    heave_m=0.2,
    roll_rad=math.radians(5.0),
    roll_period_s=5.0,
    pitch_rad=math.radians(5.0),
    pitch_period_s=10.0,
)


@pytest.mark.slow
@pytest.mark.parametrize("dt_s", [0.002, 0.01])
def test_a_body_rides_a_deck_in_a_seaway_for_a_minute_without_creeping(dt_s):
    begun = put_on(as_arrays(SEAWAY.deck_state(0.0)), 0.5, 0.3, STANDING_M)
    result = stood(block(), begun, dt_s, round(60.0 / dt_s), platform=SEAWAY)
    place = array(result.on_surface)
    assert np.ptp(array(result.motion.position_world_m)[:, 0]) > 55.0
    # the springs give by about g sin / omega^2, and by the lever of its height
    omega = min(OMEGA_RADPS, 0.5 / dt_s)
    gives = 3.0 * GRAVITY_MPS2 * math.sin(math.radians(7.0)) / omega**2
    assert np.abs(place[:, :2] - place[0, :2]).max() < gives
    assert gives < 1e-3 or dt_s > 0.002
    # heave, roll and pitch are as they were every 20 s: so is the body, unless it creeps
    early, late = (place[round(time_s / dt_s)] for time_s in (20.0, 60.0))
    np.testing.assert_allclose(late, early, rtol=0.0, atol=1e-6)
    assert (np.asarray(result.ground_contact.touching)[1:] == 4).all()
    assert int(result.ground_contact.landings[-1]) == 0


def slid(angle_rad, steps):
    """The velocity down a slope at each step, of a body put on it at rest."""
    ground = slope(angle_rad)
    deck = as_arrays(ground.deck_state(0.0))
    result = stood(block(), put_on(deck, 0.0, 0.0, STANDING_M), DT_S, steps, platform=ground)
    downhill = np.array([0.0, -math.cos(angle_rad), -math.sin(angle_rad)])
    return result, array(result.motion.velocity_world_mps) @ downhill


def test_a_body_holds_on_a_slope_flatter_than_its_friction():
    result, speed = slid(math.atan(FRICTION) - 0.03, 5000)
    place = array(result.on_surface)
    assert abs(speed[-1]) < 1e-9
    # put on it all at once it slips a little, until its springs hold
    assert np.abs(place[:, :2]).max() < 5e-3
    assert np.abs(place[5000, :2] - place[2500, :2]).max() < 1e-9


def test_a_body_slides_down_a_steeper_slope_with_what_friction_leaves_of_gravity():
    angle = math.atan(FRICTION) + 0.1
    _, speed = slid(angle, 1000)
    left = GRAVITY_MPS2 * (math.sin(angle) - FRICTION * math.cos(angle))
    # from 0.5 to 2 s; the swings on its feet as it sets off have died away
    assert (speed[1000] - speed[250]) / (750 * DT_S) == pytest.approx(left, rel=0.02)


@pytest.mark.parametrize(("speed_mps", "friction"), [(1.0, 0.7), (2.0, 0.7), (2.0, 0.3)])
def test_a_body_slides_as_far_as_friction_lets_it(speed_mps, friction):
    body = block(friction=friction)
    result = stood(body, on_ground(velocity_world_mps=Vec3(speed_mps, 0.0, 0.0)), DT_S, 1500)
    way = array(result.motion.position_world_m)
    assert abs(float(result.motion.velocity_world_mps.x[-1])) < 1e-6
    assert way[-1, 0] == pytest.approx(speed_mps**2 / (2.0 * friction * GRAVITY_MPS2), rel=0.02)
    assert np.abs(way[:, 1]).max() < 1e-12


def test_friction_stops_a_spinning_body_by_its_torque():
    result = stood(block(), on_ground(angular_velocity_body_radps=Vec3(0.0, 0.0, 10.0)), DT_S, 500)
    rate = np.asarray(result.motion.angular_velocity_body_radps.z)
    # mu m g at each foot's distance from the axis, against 1 / 150 kg m^2
    slowing = FRICTION * GRAVITY_MPS2 * math.hypot(HALF_M, HALF_M) * 150.0
    at = round(0.05 / DT_S)
    assert (rate[5] - rate[at]) / ((at - 5) * DT_S) == pytest.approx(slowing, rel=0.02)
    assert abs(rate[-1]) < 1e-6
    # equal feet all around: their forces cancel
    assert np.abs(array(result.motion.position_world_m)[:, :2]).max() < 1e-12


def energies(result, points):
    """Of a block's motion, its height, and its feet's springs, per kilogram."""
    motion, footing = result.motion, result.ground_contact
    v, omega = array(motion.velocity_world_mps), array(motion.angular_velocity_body_radps)
    moving = 0.5 * (v**2).sum(axis=1) + 0.5 * (omega**2).sum(axis=1) / 150.0
    feet = foot_positions(motion, points)
    grip = np.stack([footing.grip_x_m, footing.grip_y_m], axis=-1)
    holds = np.asarray(footing.over)[..., None] > 0
    dragged = np.where(holds, feet[..., :2] - grip, 0.0)
    springs = (np.minimum(feet[..., 2], 0.0) ** 2 + (dragged**2).sum(axis=-1)).sum(axis=1)
    stiffness = OMEGA_RADPS**2 / len(points)
    return moving + GRAVITY_MPS2 * np.asarray(motion.position_world_m.z) + 0.5 * stiffness * springs


def test_contact_takes_energy_and_never_gives_any():
    tumbling = Start(Vec3(0.0, 0.0, 1.0), 0.3, -0.2, 0.5, Vec3(1.0, 0.5, 0.0), Vec3(2.0, -1.0, 3.0))
    result = stood(block(CORNERS), tumbling, 0.0005, 10_000)
    energy = energies(result, CORNERS)
    # by a step's curvature of the springs: 1e-4 of the 10 J that it fell with
    assert np.diff(energy).max() < 1e-3
    assert np.maximum.accumulate(energy[::-1])[::-1][0] < energy[0] + 1e-3
    assert energy[-1] < 0.15 * energy[0]
    # a surface pushes: along its normal nothing but the weight accelerates the body down
    q, felt = result.motion.q_world_from_body, result.motion.specific_force_body_mps2
    upward = jax.jit(jax.vmap(lambda q, f: q.rotate(f).z))(q, felt)
    assert np.asarray(upward)[1:].min() > -1e-9


def test_a_drop_from_a_meter_bounces_little_and_goes_no_deeper_than_an_undamped_spring():
    result = stood(block(), Start(Vec3(0.0, 0.0, 1.0 + HALF_M)), DT_S, 1500)
    low = np.asarray(result.motion.position_world_m.z) - HALF_M
    touch = int(np.argmax(np.asarray(result.ground_contact.touching) > 0))
    speed = math.sqrt(2.0 * GRAVITY_MPS2)
    assert touch * DT_S == pytest.approx(math.sqrt(2.0 / GRAVITY_MPS2), abs=2.0 * DT_S)
    assert low.min() > -(speed / OMEGA_RADPS + SUNK_M)
    # a restitution below 0.3, with a damping of 0.7
    assert 0.0 < low[touch:].max() < 0.3**2
    assert int(result.ground_contact.landings[-1]) == 1
    speed_told = float(result.ground_contact.touch_speed_mps[-1])
    # the speed of the step that touched, one step of gravity less or so
    assert speed_told == pytest.approx(speed, abs=2.0 * GRAVITY_MPS2 * DT_S)
    assert int(result.ground_contact.touched_deck[-1]) == 0


def test_a_body_tips_over_the_edge_of_a_deck_and_falls_to_the_ground():
    deck = FixedPlatform(Vec3(0.0, 0.0, 1.0), 2.0, 2.0)
    for beyond, ends in ((-0.15, 1.0), (0.05, 0.0)):
        begun = Start(Vec3(1.0 + beyond, 0.0, 1.0 + STANDING_M))
        result = stood(block(CORNERS), begun, DT_S, 2500, platform=deck)
        assert float(result.motion.position_world_m.z[-1]) - ends == pytest.approx(HALF_M, abs=2e-3)
        assert np.abs(array(result.motion.velocity_world_mps)[-1]).max() < 1e-3
        # no foot that came in below the surface was thrown up
        assert float(result.motion.position_world_m.z.max()) < 1.2
        assert (
            np.asarray(result.ground_contact.over)[-1] == (FIRST_DECK if ends else GROUND)
        ).all()


def test_contact_turns_with_the_world():
    angle = 1.1
    start = Start(Vec3(0.3, -0.2, 0.25), 0.2, -0.1, 0.4, Vec3(1.0, 0.3, 0.0), Vec3(0.5, 1.0, 2.0))
    other = dataclasses.replace(
        start,
        position_world_m=turned(start.position_world_m, angle),
        yaw_rad=start.yaw_rad + angle,
        velocity_world_mps=turned(start.velocity_world_mps, angle),
    )
    straight, twisted = (stood(block(CORNERS), s, DT_S, 500) for s in (start, other))
    turn = Rotation.from_euler("z", angle)
    expected = turn.apply(array(straight.motion.position_world_m))
    # impacts amplify rounding by a few hundred
    found = array(twisted.motion.position_world_m)
    np.testing.assert_allclose(found, expected, atol=1e-11)
    np.testing.assert_array_equal(twisted.ground_contact.touching, straight.ground_contact.touching)


@cache
def _landing(count):
    """Ends of some landings, computed at once."""

    def end(height_m):
        start = Start(Vec3(0.0, 0.0, 0.2)).kinematics()
        start = dataclasses.replace(
            start,
            position_world_m=Vec3(0.0, 0.0, height_m),
            velocity_world_mps=Vec3(1.0, 0.2, 0.0),
            angular_velocity_body_radps=Vec3(0.3, -0.5, 0.2),
        )
        return stood(block(), start, DT_S, 400, every=400).motion.position_world_m

    heights = jnp.linspace(0.15, 0.3, 64)[:count]
    return array(jax.vmap(end)(heights))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.slow
def test_a_batch_lands_as_one_vehicle_does(count):
    many = _landing(64).reshape(64, -1)[:count]
    # vector instructions round sums of products differently in the last place
    np.testing.assert_allclose(_landing(count).reshape(count, -1), many, rtol=0.0, atol=1e-12)


def landing_place(numbers):
    """Where a landing with forward speed ends, by height, friction and mass; it stands still."""
    height, friction, mass = numbers
    body = block()
    feet = dataclasses.replace(body.landing_gear, friction=friction)
    body = dataclasses.replace(body, mass_kg=mass, landing_gear=feet)
    start = dataclasses.replace(
        Start().kinematics(),
        position_world_m=Vec3(0.0, 0.0, height),
        velocity_world_mps=Vec3(0.5, 0.0, 0.0),
    )
    # a thrust, so that the mass counts
    command = kw.ThrustTorque(4.0, Vec3.zero())
    end = stood(body, start, DT_S, 600, command, every=600).motion.position_world_m
    return jnp.stack([end.x[-1], end.y[-1], end.z[-1]])


@pytest.mark.slow
def test_gradients_through_a_landing_are_those_of_central_differences():
    numbers = jnp.array([HALF_M + 0.031, 0.4, 1.1])
    found = jax.jit(jax.jacfwd(landing_place))(numbers)
    assert jnp.isfinite(found).all()
    backward = jax.jit(jax.grad(lambda given: landing_place(given)[0]))(numbers)
    np.testing.assert_allclose(backward, found[0], rtol=1e-8, atol=1e-12)
    steps = 1e-7 * jnp.eye(3)
    ends = jax.jit(jax.vmap(landing_place))
    differences = (ends(numbers[None] + steps) - ends(numbers[None] - steps)).T / 2e-7
    np.testing.assert_allclose(found, differences, rtol=1e-4, atol=1e-7)
    # the way depends on each of them
    assert (jnp.abs(found[0]) > 1e-3).all()


def mujoco_slide(speed_mps):
    """Height and way of the same cube sliding over a plane in MuJoCo, after 2 s."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.0005" cone="elliptic" gravity="0 0 -{GRAVITY_MPS2}"/>
        <worldbody><geom type="plane" size="9 9 1" friction="{FRICTION}" solref="0.008 1"/>
        <body pos="0 0 {HALF_M}"><freejoint/><geom type="box" size="{HALF_M} {HALF_M} {HALF_M}"
        mass="1" friction="{FRICTION}" solref="0.008 1"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qvel[0] = speed_mps
    mujoco.mj_step(model, data, 4000)
    return data.qpos[2], data.qpos[0]


def test_mujoco_lets_the_same_cube_slide_as_far():
    height_m, way_m = mujoco_slide(2.0)
    start = on_ground(velocity_world_mps=Vec3(2.0, 0.0, 0.0))
    result = stood(block(CORNERS), start, DT_S, 1000)
    end = array(result.motion.position_world_m)[-1]
    assert end[0] == pytest.approx(way_m, rel=0.05)
    # both sink in by a small part of the cube
    assert end[2] == pytest.approx(height_m, rel=0.05)


def test_feet_without_a_point_are_refused():
    with pytest.raises(ValueError, match="points_body_m: is empty"):
        LandingGear(())


def test_feet_reach_as_far_as_the_farthest():
    assert float(LandingGear(LEGS).reach_m) == pytest.approx(HALF_M * math.sqrt(3.0), rel=1e-12)
