"""Flight modes of uav_gazebo: laws, and continuity at switches."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.control.acceleration import Acceleration
from kittiwake.control.euler_attitude import EulerAttitude
from kittiwake.control.modes import Modes
from kittiwake.control.position import Position
from kittiwake.control.rates import Rates
from kittiwake.control.uav_gazebo_velocity import UavGazeboVelocity
from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Start
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

KEY = jax.random.key(0)
DT_S = 0.002
INERTIA = Inertia(3e-3, 3e-3, 6e-3)
ATTITUDE, RATES = EulerAttitude(INERTIA), Rates(INERTIA)
ACCELERATION = Acceleration(1.0, 1e9, max_tilt_rad=1.5)
VELOCITY = UavGazeboVelocity(1.0, ATTITUDE)
POSITION = Position(0.5, 1.0, 0.0, 1e9, 1e9, 1e9)
LAW = Modes(ACCELERATION, VELOCITY, ATTITUDE, RATES, POSITION)
FLYING = Start(
    Vec3(1.0, 2.0, 3.0), 0.1, -0.2, 0.3, Vec3(0.5, -0.4, 0.3), Vec3(0.2, -0.1, 0.3)
).kinematics()
COMMANDS = {
    "position": kw.PositionYaw(Vec3(2.0, 1.0, 4.0), 0.5, Vec3(0.1, 0.2, 0.3)),
    "velocity": kw.VelocityYawRate(Vec3(1.0, -1.0, 0.5), 0.4),
    "attitude": kw.ThrustAttitude(9.0, Quaternion.from_euler(EulerZYX(0.2, 0.1, 0.4))),
    "rates": kw.ThrustRates(8.0, Vec3(0.1, 0.2, 0.3)),
    "torque": kw.ThrustTorque(7.0, Vec3(1e-3, 2e-3, 3e-3)),
}
MODE = {name: float(number) for number, name in enumerate(COMMANDS, start=1)}


def everything():
    """Return a mode command with a command of each mode, in the last one."""
    command = kw.ModeCommand(0.0)
    for one in COMMANDS.values():
        command = command.with_command(one)
    return command


def descended(name):
    """Return the output of the laws in sequence, without modes."""

    def by(controller, signal):
        return controller.step(controller.init(KEY), (signal, FLYING), DT_S, KEY)[1]

    laws = {
        "position": (POSITION, ACCELERATION, ATTITUDE),
        "velocity": (VELOCITY,),
        "attitude": (ATTITUDE,),
        "rates": (RATES,),
        "torque": (),
    }
    signal = COMMANDS[name]
    for law in laws[name]:
        signal = by(law, signal)
    return signal


@partial(jax.jit, static_argnums=0)
def _stepped(law, state, command, estimate):
    return law.step(state, (command, estimate), DT_S, KEY)


def stepped(state, command, estimate=FLYING, law=LAW):
    return _stepped(law, as_arrays(state), as_arrays(command), as_arrays(estimate))


def wrench(applied):
    return np.array([applied.thrust_n, *applied.torque_body_nm.array])


def after(command, steps=1, estimate=FLYING):
    """Return the state and the output after a number of steps of a command."""
    state = LAW.init(KEY)
    for _ in range(steps):
        state, applied = stepped(state, command, estimate)
    return state, applied


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_each_mode_flies_by_its_own_laws(name):
    command = replace(everything(), mode=MODE[name])
    _, found = after(command)
    np.testing.assert_allclose(wrench(found), wrench(descended(name)), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("mode", [0.0, 6.0, -3.0])
def test_no_mode_gives_neither_thrust_nor_torque(mode):
    _, found = after(replace(everything(), mode=mode))
    np.testing.assert_array_equal(wrench(found), 0.0)


def test_negative_thrust_is_cut():
    _, found = after(kw.ModeCommand(0.0).with_command(kw.ThrustTorque(-3.0, Vec3(0.1, 0.0, 0.0))))
    np.testing.assert_array_equal(wrench(found), [0.0, 0.1, 0.0, 0.0])


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("before", [*COMMANDS, "inactive"])
def test_switching_into_a_mode_without_a_command_does_not_jump(before, name):
    known = kw.ModeCommand(0.0)
    if before != "inactive":
        known = known.with_command(COMMANDS[before])
    state, applied = after(known)
    if before == name:  # was commanded, and is no switch
        return
    _, found = stepped(state, replace(known, mode=MODE[name]))
    np.testing.assert_allclose(wrench(found), wrench(applied), rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_the_previous_output_fades(name):
    known = kw.ModeCommand(0.0).with_command(kw.ThrustTorque(20.0, Vec3(0.1, -0.1, 0.1)))
    if name == "torque":
        known = kw.ModeCommand(0.0).with_command(kw.ThrustRates(20.0, Vec3(1.0, -1.0, 1.0)))
    state, _ = after(known)
    switched = replace(known, mode=MODE[name])
    founds = []
    for _ in range(151):
        state, found = stepped(state, switched)
        founds.append(wrench(found))
    first, later, last = founds[0], founds[50], founds[150]
    # of the jump that there was not, exp(-1) is left after 0.1 s and exp(-3) after 0.3 s
    held = (last - first * np.exp(-3.0)) / (1.0 - np.exp(-3.0))
    np.testing.assert_allclose(later - held, (first - held) * np.exp(-1.0), rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_mode_without_a_command_holds_the_place_found_at_the_switch(name):
    elsewhere = replace(FLYING, position_world_m=Vec3(9.0, 9.0, 9.0))
    state, _ = after(kw.ModeCommand(0.0))
    switched, _ = stepped(state, kw.ModeCommand(MODE[name]))
    for _ in range(1000):
        switched, found = stepped(switched, kw.ModeCommand(MODE[name]), elsewhere)
    np.testing.assert_array_equal(switched.found.position_world_m.array, [1.0, 2.0, 3.0])
    known = kw.ModeCommand(0.0).with_command(kw.PositionYaw(Vec3(1.0, 2.0, 3.0), 0.3))
    _, expected = after(known, estimate=elsewhere)
    np.testing.assert_allclose(wrench(found), wrench(expected), rtol=1e-6, atol=1e-9)


def test_a_velocity_in_body_axes_is_turned_by_the_attitude():
    given = kw.BodyVelocityYawRate(Vec3(1.0, 0.2, 0.0), 0.4, Vec3(0.1, 0.0, 0.3))
    q = FLYING.q_world_from_body
    turned = kw.VelocityYawRate(
        q.rotate(given.velocity_body_mps), 0.4, q.rotate(given.acceleration_body_mps2)
    )
    _, found = after(kw.ModeCommand(0.0).with_command(given))
    _, expected = after(kw.ModeCommand(0.0).with_command(turned))
    np.testing.assert_allclose(wrench(found), wrench(expected), rtol=1e-12, atol=1e-15)
    back = kw.ModeCommand(0.0).with_command(given).with_command(turned)
    assert back.velocity_in_body_axes is False


@pytest.mark.slow
def test_switching_into_a_commanded_mode_goes_over_to_its_last_command_without_a_jump():
    state, before = after(replace(everything(), mode=MODE["torque"]))
    state, found = stepped(state, replace(everything(), mode=MODE["rates"]))
    np.testing.assert_allclose(wrench(found), wrench(before), rtol=1e-12, atol=1e-18)
    # e^-20 of the difference is left after 2 s
    for _ in range(1000):
        state, found = stepped(state, replace(everything(), mode=MODE["rates"]))
    np.testing.assert_allclose(wrench(found), wrench(descended("rates")), rtol=1e-7, atol=1e-10)


def test_a_mode_follows_its_first_late_command():
    # the first output at the switch equals the last one, so that nothing fades
    state, _ = after(kw.ModeCommand(4.0), estimate=Start().kinematics())
    _, found = stepped(state, kw.ModeCommand(0.0).with_command(COMMANDS["rates"]))
    np.testing.assert_allclose(wrench(found), wrench(descended("rates")), rtol=1e-12, atol=1e-18)


def test_a_command_of_no_mode_is_rejected():
    with pytest.raises(TypeError, match=r"no mode takes a HeadingSpeed; give one of PositionYaw,"):
        kw.ModeCommand(0.0).with_command(kw.HeadingSpeed(0.0, 1.0))


@pytest.mark.slow
def test_gains_have_finite_slopes_in_every_mode():
    def loss(law, mode):
        state = as_arrays(law.init(KEY))
        known = kw.ModeCommand(0.0).with_command(COMMANDS["torque"])
        for command in (known, replace(known, mode=mode), replace(everything(), mode=mode)):
            state, found = law.step(state, (command, FLYING), DT_S, KEY)
        return found.thrust_n + found.torque_body_nm.dot(Vec3(3.0, 5.0, 7.0))

    law = jax.tree.map(jnp.asarray, LAW)
    slopes = jax.jit(jax.vmap(jax.grad(loss), (None, 0)))(law, jnp.arange(6.0))
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(slopes))
    assert slopes.position.natural_frequency_radps[1] != 0.0
    assert slopes.velocity.velocity_gain_per_s[2] != 0.0
    assert slopes.attitude.tilt_frequency_radps[3] != 0.0
    assert slopes.rates.gain_per_s[4] != 0.0
