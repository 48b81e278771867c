"""Newton and Euler against what they must keep, independent solutions, and another engine."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from tests.physics.body_dynamics import KEY, airborne, around, body, flown, turned

import kittiwake as kw
from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Start
from kittiwake.core.wrench import Wrench
from kittiwake.forces.drag import LinearDrag, QuadraticDrag, RotationDamping
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.parts import Flow
from kittiwake.physics.integrators import INTEGRATORS
from kittiwake.physics.rigid_body import Twist

NOTHING = kw.ThrustTorque(0.0, Vec3.zero())
FULL = Inertia(0.020, 0.026, 0.035, 0.002, -0.003, 0.004)
# about the middle axis, a little aside: it turns over again and again
FLIP = Start(angular_velocity_body_radps=Vec3(0.02, 3.0, 0.01), yaw_rad=0.3, roll_rad=-0.2)


def rotations(motion):
    q = motion.q_world_from_body
    return Rotation.from_quat(np.column_stack([q.x, q.y, q.z, q.w]))


def rows(v):
    return np.column_stack([v.x, v.y, v.z])


def momenta(motion, inertia):
    return rotations(motion).apply(rows(motion.angular_velocity_body_radps) @ inertia.matrix)


def energies(motion, inertia):
    omega = rows(motion.angular_velocity_body_radps)
    return 0.5 * np.einsum("ti,ij,tj->t", omega, inertia.matrix, omega)


@pytest.mark.parametrize("inertia", [Inertia(0.02, 0.025, 0.035), FULL], ids=["principal", "full"])
def test_free_rotation_keeps_energy_and_angular_momentum_through_the_flips(inertia):
    spinning = body(1.0, 1.0, 1.0, inertia_kgm2=inertia)
    motion = flown(spinning, FLIP, NOTHING, 0.002, 30_000, around(gravity_mps2=0.0), 100)
    rates = np.asarray(motion.angular_velocity_body_radps.y)
    if inertia is not FULL:
        assert rates.min() < -2.9 < 2.9 < rates.max()
    energy, momentum = energies(motion, inertia), momenta(motion, inertia)
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-9
    assert np.abs(momentum - momentum[0]).max() / np.linalg.norm(momentum[0]) < 1e-9


def test_free_rotation_is_that_of_an_independent_solution():
    inertia = FULL.matrix
    inverse = np.linalg.inv(inertia)

    def rate(_, state):
        (w, x, y, z), omega = state[:4], state[4:]
        a, b, c = omega
        dq = 0.5 * np.array(
            [
                -x * a - y * b - z * c,
                w * a + y * c - z * b,
                w * b - x * c + z * a,
                w * c + x * b - y * a,
            ]
        )
        return np.concatenate([dq, inverse @ -np.cross(omega, inertia @ omega)])

    start = FLIP.kinematics()
    begin = [*start.q_world_from_body.array, *start.angular_velocity_body_radps.array]
    expected = solve_ivp(rate, (0.0, 60.0), begin, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    spinning = body(1.0, 1.0, 1.0, inertia_kgm2=FULL)
    motion = flown(spinning, FLIP, NOTHING, 0.002, 30_000, around(gravity_mps2=0.0), 30_000)
    q, omega = motion.q_world_from_body, motion.angular_velocity_body_radps
    found = [q.w[-1], q.x[-1], q.y[-1], q.z[-1], omega.x[-1], omega.y[-1], omega.z[-1]]
    # the flip amplifies RK4's error of 1e-12 a step
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "order"), [(name, method.order) for name, method in INTEGRATORS.items()]
)
def test_a_flight_converges_with_the_integrators_order(name, order):
    command = kw.ThrustTorque(11.0, Vec3(0.004, -0.003, 0.002))
    start = Start(
        angular_velocity_body_radps=Vec3(1.0, -2.0, 1.5), velocity_world_mps=Vec3(3.0, 0.0, 1.0)
    )
    forces = (QuadraticDrag(Vec3(0.05, 0.04, 0.1)), RotationDamping(Vec3(0.01, 0.01, 0.02)))

    def after_a_second(method, steps, every):
        falling = body(1.0, 1.0, 1.0, inertia_kgm2=FULL, forces=forces, integrator=method)
        # 2 s with the longest steps, so that flights share a program
        motion = flown(falling, start, command, 1.0 / steps, 2 * every, around(), every)
        return rows(motion.position_world_m)[steps // every]

    exact = after_a_second("dormand-prince-5", 2000, 2000)
    coarse, fine = (np.linalg.norm(after_a_second(name, steps, 50) - exact) for steps in (50, 100))
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.35)


def test_a_body_without_thrust_falls_freely():
    motion = flown(airborne("uav-gazebo"), Start(), NOTHING, 0.001, 1000, around(), 1000)
    assert float(motion.velocity_world_mps.z[-1]) == pytest.approx(-9.81, abs=1e-12)
    assert float(motion.position_world_m.z[-1]) == pytest.approx(-4.905, abs=1e-12)
    assert np.abs(motion.specific_force_body_mps2.z[1:]).max() < 1e-9


def test_negative_thrust_is_none():
    pushed = kw.ThrustTorque(-5.0, Vec3.zero())
    motion = flown(airborne("uav-gazebo"), Start(), pushed, 0.001, 100, around(), 100)
    assert float(motion.velocity_world_mps.z[-1]) == pytest.approx(-0.981, abs=1e-12)


@pytest.mark.parametrize(
    ("force", "speed_mps"),
    [
        (LinearDrag(Vec3(0.1, 0.2, 0.5)), 2.0 * 9.81 / 0.5),
        (QuadraticDrag(Vec3(0.1, 0.1, 0.2)), math.sqrt(2.0 * 9.81 / (0.5 * 1.225 * 0.2))),
    ],
    ids=["linear", "quadratic"],
)
def test_a_falling_body_reaches_the_speed_at_which_drag_is_its_weight(force, speed_mps):
    falling = body(0.1, 0.1, 0.1, mass_kg=2.0, forces=(force,))
    motion = flown(falling, Start(), NOTHING, 0.02, 6000, around(), 6000)
    assert float(motion.velocity_world_mps.z[-1]) == pytest.approx(-speed_mps, rel=1e-9)


@pytest.mark.parametrize(
    "force",
    [
        LinearDrag(Vec3(0.1, 0.2, 0.5)),
        QuadraticDrag(Vec3(0.1, 0.3, 0.2)),
        RotationDamping(Vec3(0.1, 0.2, 0.05)),
    ],
    ids=lambda force: type(force).__name__,
)
def test_drag_does_no_positive_work(force):
    numbers = np.random.default_rng(4).normal(size=(500, 6)) * 10.0

    def power(row):
        airspeed, omega = Vec3.of(row[:3]), Vec3.of(row[3:])
        wrench = force.wrench(Flow(airspeed, omega, Quaternion.identity(), around()))
        return wrench.force_body_n.dot(airspeed) + wrench.torque_body_nm.dot(omega)

    assert (np.asarray(jax.vmap(power)(numbers)) < 0.0).all()


def test_rotors_turned_over_with_the_body_do_no_work():
    drone = airborne("crazyflie")
    drone = eqx.tree_at(lambda d: d.rotor.inertia_kgm2, drone, 1e-7)
    momentum = Vec3(0.0, 0.0, 3e-4)
    omega = Vec3(4.0, -3.0, 2.0)
    twist = Twist(Vec3.zero(), omega)
    with_rotors, without = (
        drone.body.twist_rate(Quaternion.identity(), twist, Wrench.zero(), 0.0, h)
        for h in (momentum, None)
    )
    difference = with_rotors.angular_velocity_body_radps - without.angular_velocity_body_radps
    torque = drone.inertia_kgm2.times(difference)
    assert abs(float(torque.norm())) > 1e-4
    assert float(torque.dot(omega)) == pytest.approx(0.0, abs=1e-17)


TUMBLE = Start(Vec3(1.0, 2.0, 30.0), 0.4, -0.3, 0.5, Vec3(2.0, -1.0, 0.5), Vec3(1.0, -0.5, 0.8))
ROTOR_VEHICLES = ("ar-drone", "crazyflie", "hummingbird", "os4")


@pytest.mark.parametrize("name", [*ROTOR_VEHICLES, "rigid-body"])
def test_flight_turns_with_the_world(name):
    angle = 1.1
    wind = Vec3(3.0, -2.0, 0.5)
    # contact turns with the world in test_ground_contact
    dynamics = airborne(name)
    if name == "rigid-body":
        dynamics = body(0.02, 0.03, 0.04, forces=(QuadraticDrag(Vec3(0.1, 0.2, 0.3)),))
        command = kw.ThrustTorque(9.0, Vec3(0.01, -0.02, 0.005))
    else:
        speed = float(jnp.sqrt(dynamics.mass_kg * 9.81 / 4.0 / dynamics.rotor.thrust_factor_ns2))
        command = kw.RotorSpeeds((speed, 1.02 * speed, 0.99 * speed, speed))
    turned_start = Start(
        turned(TUMBLE.position_world_m, angle),
        TUMBLE.roll_rad,
        TUMBLE.pitch_rad,
        TUMBLE.yaw_rad + angle,
        turned(TUMBLE.velocity_world_mps, angle),
        TUMBLE.angular_velocity_body_radps,
    )
    straight, other = (
        flown(dynamics, as_arrays(start), command, 0.002, 500, as_arrays(around(air)), 50)
        for start, air in ((TUMBLE, wind), (turned_start, turned(wind, angle)))
    )
    turn = Rotation.from_euler("z", angle)
    expected = turn.apply(rows(straight.position_world_m))
    np.testing.assert_allclose(rows(other.position_world_m), expected, atol=1e-10)
    np.testing.assert_allclose(
        rows(other.angular_velocity_body_radps),
        rows(straight.angular_velocity_body_radps),
        atol=1e-9,
    )


@pytest.mark.parametrize("name", ROTOR_VEHICLES)
def test_each_rotor_tips_the_body_away_from_itself(name):
    dynamics = airborne(name)
    speed = float(jnp.sqrt(dynamics.mass_kg * 9.81 / 4.0 / dynamics.rotor.thrust_factor_ns2))
    for number, (hub, spin) in enumerate(zip(dynamics.hubs_body_m, dynamics.spins, strict=True)):
        speeds = [speed] * 4
        speeds[number] *= 1.05
        command = kw.RotorSpeeds(tuple(speeds))
        motion = flown(dynamics, Start(), as_arrays(command), 0.001, 20, around(), 20)
        omega = motion.angular_velocity_body_radps
        for rate, lever in ((omega.x[-1], hub.y), (omega.y[-1], -hub.x)):
            if lever:
                assert float(rate) * lever > 0.0
        assert float(omega.z[-1]) * spin < 0.0


def mujoco_body(dt_s):
    """A free body of 1.3 kg with a motor for thrust and one for each torque, fixed to it."""
    order = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    six = " ".join(str(FULL.matrix[at]) for at in order)
    gears = ("0 0 1 0 0 0", "0 0 0 1 0 0", "0 0 0 0 1 0", "0 0 0 0 0 1")
    motors = "".join(f'<motor site="center" gear="{gear}"/>' for gear in gears)
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{dt_s}" integrator="RK4" gravity="0 0 -9.81"/><worldbody>
        <body><freejoint/><inertial pos="0 0 0" mass="1.3" fullinertia="{six}"/>
        <site name="center"/></body></worldbody><actuator>{motors}</actuator></mujoco>"""
    )


def test_mujoco_moves_the_same_body_under_the_same_wrenches_alike():
    dt_s, steps, pieces = 2e-4, 25_000, 50
    model = mujoco_body(dt_s)
    data = mujoco.MjData(model)
    data.qvel[:] = [1.0, -0.5, 0.2, 0.3, -0.2, 0.5]
    dynamics = body(1.0, 1.0, 1.0, mass_kg=1.3, inertia_kgm2=FULL)
    start = Start(
        velocity_world_mps=Vec3(1.0, -0.5, 0.2), angular_velocity_body_radps=Vec3(0.3, -0.2, 0.5)
    )
    thrusts = 12.0 + 2.0 * np.sin(np.arange(pieces) * 0.7)
    torques = 0.01 * np.sin(np.arange(pieces)[:, None] * [0.3, 0.5, 0.9] + [0.0, 1.0, 2.0])
    wrenches = np.column_stack([thrusts, torques])

    @jax.jit
    def ours():
        state = dynamics.init(start.kinematics(), around())

        def piece(state, row):
            command = kw.ThrustTorque(row[0], Vec3.of(row[1:]))

            def step(state, _):
                return dynamics.step(state, command, around(), dt_s, KEY), None

            return jax.lax.scan(step, state, None, length=steps // pieces)[0], None

        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), state)
        return dynamics.kinematics(jax.lax.scan(piece, state, jnp.asarray(wrenches))[0])

    found = ours()
    for wrench in wrenches:
        data.ctrl[:] = wrench
        mujoco.mj_step(model, data, steps // pieces)
    np.testing.assert_allclose(found.position_world_m.array, data.qpos[:3], atol=1e-6)
    np.testing.assert_allclose(found.velocity_world_mps.array, data.qvel[:3], atol=1e-6)


def test_added_mass_increases_the_inertia_of_a_body():
    diagonal = (0.5, 0.5, 1.0, 0.1, 0.1, 0.1)
    added = tuple(tuple(d if i == j else 0.0 for j in range(6)) for i, d in enumerate(diagonal))
    heavy = body(0.2, 0.2, 0.2, added_mass=added)
    pushed = kw.ThrustTorque(9.81 + 4.0, Vec3(0.0, 0.0, 0.6))
    motion = flown(heavy, Start(), pushed, 0.001, 1000, around(), 1000)
    # 4 N on 1 kg and the 1 kg of fluid; 0.6 N m on 0.2 kg m^2 and the fluid's 0.1
    assert float(motion.velocity_world_mps.z[-1]) == pytest.approx(2.0, rel=1e-9)
    assert float(motion.angular_velocity_body_radps.z[-1]) == pytest.approx(2.0, rel=1e-9)


def test_a_body_in_an_ideal_fluid_keeps_the_energy_of_both():
    diagonal = (0.4, 0.9, 1.3, 0.01, 0.02, 0.03)
    added = np.diag(diagonal)
    heavy = body(0.02, 0.03, 0.04, added_mass=tuple(map(tuple, added.tolist())))
    motion = flown(heavy, TUMBLE, NOTHING, 0.002, 5000, around(gravity_mps2=0.0), 100)
    mass = np.diag([1.0, 1.0, 1.0, 0.02, 0.03, 0.04]) + added
    velocities = np.hstack(
        [rows(motion.velocity_body_mps), rows(motion.angular_velocity_body_radps)]
    )
    energy = 0.5 * np.einsum("ti,ij,tj->t", velocities, mass, velocities)
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-9
    # it is the broad side's momentum that turns a body: without fluid its velocity would stay
    assert np.ptp(rows(motion.velocity_world_mps), axis=0).max() > 0.1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1.0, 1.0, -1.0), "not positive definite"),
        ((1.0, 1.0, 2.1), "may not exceed the sum"),
        ((1.0, 1.0, 1.0, 1.5), "not positive definite"),
    ],
)
def test_a_nonphysical_inertia_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Inertia(*given)


def test_the_inverse_of_a_full_inertia_is_exact():
    v = Vec3(0.3, -1.2, 2.0)
    found = FULL.solve(v)
    np.testing.assert_allclose(found.array, np.linalg.solve(FULL.matrix, v.array), rtol=1e-13)
    np.testing.assert_allclose(FULL.times(found).array, v.array, rtol=1e-13)
