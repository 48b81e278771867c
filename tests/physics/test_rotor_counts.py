"""Multirotors of three, four, six and eight rotors: balance, columns, mixer and gradients."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.physics.body_dynamics import KEY, around
from tests.selection import slow_besides

import kittiwake as kw
from kittiwake.control.mixer import Mixer
from kittiwake.core.arrays import as_arrays
from kittiwake.core.columns import column_names, to_columns
from kittiwake.core.commands import ThrustTorque, zero_command
from kittiwake.core.errors import CommandError, ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.forces.lumped_rotor import LumpedRotor
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.parts import Flow
from kittiwake.physics.multirotor import Multirotor
from kittiwake.scenario.parameters import build_component

AIR = around()
ROTOR = LumpedRotor(1e-5, 1.6e-7, radius_m=0.12, max_speed_radps=900.0, inertia_kgm2=3e-5)
PLACE = Start(Vec3(0.0, 0.0, 50.0)).kinematics()
counts = pytest.mark.parametrize("count", [3, 4, 6, 8])
controllable_counts = pytest.mark.parametrize("count", [4, 6, 8])


def ring(count):
    """Return a body with equal rotors on a ring, which turn alternately."""
    angles = 0.3 + 2.0 * np.pi * np.arange(count) / count
    return Multirotor(
        mass_kg=1.5,
        inertia_kgm2=Inertia(0.02, 0.02, 0.035),
        rotor=ROTOR,
        hubs_body_m=tuple(Vec3(0.3 * np.cos(a), 0.3 * np.sin(a), 0.02) for a in angles.tolist()),
        spins=tuple((-1.0) ** i for i in range(count)),
    )


def mixer_of(dynamics):
    return build_component(Mixer, Mixer.with_vehicle_defaults(dynamics, 9.81), str)


def hovering(dynamics):
    """Return the state of a level vehicle whose rotors carry the weight."""
    return as_arrays(dynamics.init(PLACE, AIR))


@eqx.filter_jit
def after(dynamics, speeds, steps):
    """Return the motion after some steps of 2 ms under constant rotor speeds."""
    command = kw.RotorSpeeds(tuple(speeds))

    def step(state, _):
        return dynamics.step(state, command, AIR, 0.002, KEY), None

    return dynamics.kinematics(jax.lax.scan(step, hovering(dynamics), None, length=steps)[0])


def hover_speeds(dynamics):
    count = len(dynamics.spins)
    return np.full(count, (1.5 * 9.81 / (count * ROTOR.thrust_ns2)) ** 0.5)


@counts
def test_rotors_at_hover_speed_carry_the_weight(count):
    dynamics = ring(count)
    motion = after(dynamics, hover_speeds(dynamics), 50)
    assert float(motion.velocity_world_mps.norm()) < 1e-9
    rates = motion.angular_velocity_body_radps
    assert abs(float(rates.x)) + abs(float(rates.y)) < 1e-9
    # the reaction of the third of three rotors is not balanced
    assert np.sign(round(float(rates.z), 9)) == -(count % 2)


@counts
def test_each_rotor_tips_the_body_away_from_itself(count):
    dynamics = ring(count)
    for rotor, hub in enumerate(dynamics.hubs_body_m):
        faster = hover_speeds(dynamics)
        faster[rotor] *= 1.05
        rates = after(dynamics, faster, 10).angular_velocity_body_radps
        # torque of a thrust at the hub: r x e_z = (y, -x)
        assert float(rates.x) * hub.y - float(rates.y) * hub.x > 0.0


@counts
def test_command_and_actuators_have_a_column_for_each_rotor(count):
    dynamics = ring(count)
    names = [f"speeds_{i}_radps" for i in range(count)]
    assert column_names(kw.RotorSpeeds, dynamics.actuator_count) == names
    assert [*to_columns(dynamics.off())] == names
    assert [*dynamics.command_bounds] == names
    assert [*dynamics.actuators(hovering(dynamics))] == [f"rotor_{i}_radps" for i in range(count)]
    limited = dynamics.limit_command(kw.RotorSpeeds((1e4,) * count))
    assert [float(speed) for speed in limited.speeds_radps] == [900.0] * count


@counts
def test_speeds_of_another_number_of_rotors_are_refused(count):
    for other in (0, count - 1, count + 1):
        command = zero_command(kw.RotorSpeeds, other)
        with pytest.raises(CommandError, match=f"got {other} numbers; must be {count}, one for"):
            ring(count).limit_command(command)


@controllable_counts
def test_the_mixer_gives_the_commanded_wrench(count):
    dynamics = ring(count)
    command = ThrustTorque(15.0, Vec3(0.2, -0.3, 0.02))
    state, speeds = mixer_of(dynamics).step((), (command, PLACE), 0.002, KEY)
    assert state == ()
    flow = Flow(Vec3.zero(), Vec3.zero(), PLACE.q_world_from_body, AIR)
    wrench = dynamics._wrench(flow, speeds.speeds_radps)
    np.testing.assert_allclose(wrench.force_body_n.z, 15.0, rtol=1e-9)
    torque = wrench.torque_body_nm
    np.testing.assert_allclose([torque.x, torque.y, torque.z], [0.2, -0.3, 0.02], rtol=1e-9)


@pytest.mark.parametrize("count", slow_besides([6], [4, 6, 8]))
def test_the_derivatives_of_a_flight_are_finite(count):
    # few stages, to compile fast
    dynamics = replace(ring(count), integrator="heun")
    mixer = mixer_of(dynamics)

    def climb_rate(thrust, torque, mass):
        heavier = eqx.tree_at(lambda own: own.mass_kg, dynamics, mass)
        _, speeds = mixer.step((), (ThrustTorque(thrust, torque), PLACE), 0.002, KEY)
        limited = heavier.limit_command(speeds)
        state = heavier.step(hovering(heavier), limited, AIR, 0.002, KEY)
        return heavier.kinematics(state).velocity_world_mps.z

    slopes = jax.jit(jax.grad(climb_rate, (0, 1, 2)))(15.0, Vec3(0.1, 0.1, 0.01), 1.5)
    assert all(np.isfinite(slope) for slope in jax.tree.leaves(slopes))
    assert float(slopes[0]) > 0.0


def test_three_rotors_have_finite_derivatives_by_their_speeds():
    dynamics = ring(3)

    def height(speeds):
        state = dynamics.step(hovering(dynamics), kw.RotorSpeeds(tuple(speeds)), AIR, 0.002, KEY)
        return dynamics.kinematics(state).position_world_m.z

    slopes = jax.jit(jax.grad(height))(jnp.asarray(hover_speeds(dynamics)))
    assert (slopes > 0.0).all()


def test_three_rotors_are_refused_by_the_mixer():
    with pytest.raises(ScenarioError, match="hubs_body_m: got 3; must be at least 4"):
        Mixer.with_vehicle_defaults(ring(3), 9.81)


def test_six_rotors_on_a_line_are_refused_by_the_mixer():
    angles = np.pi * np.arange(6) / 3.0
    hubs = tuple(Vec3(0.3 * np.cos(a), 0.0, 0.0) for a in angles.tolist())
    row = eqx.tree_at(lambda own: own.hubs_body_m, ring(6), hubs)
    with pytest.raises(ScenarioError, match="cannot give thrust and the three torques"):
        Mixer.with_vehicle_defaults(row, 9.81)
