"""One rotor faster than the others: the torques that its place and its spin say, here and there."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.physics.body_dynamics import KEY, airborne, around

from kittiwake.control.mixer import Mixer
from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import RotorSpeeds, ThrustTorque
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.multirotor import Multirotor
from kittiwake.scenario.parameters import build_component
from kittiwake.vehicles import VEHICLES

MULTIROTORS = [name for name in VEHICLES.names() if VEHICLES.find(name).dynamics is Multirotor]
FASTER = 1.1
DT_S = 0.001
STEPS = 20


@cache
def hovering_speed(name):
    told = airborne(name).vehicle_parameters(9.81)
    return float(np.sqrt(told["mass_kg"] * 9.81 / (len(told["spins"]) * told["thrust_ns2"])))


def signs_by_place_and_spin(dynamics):
    """Of roll, pitch and yaw torque, a row a rotor; below the tenth part of an arm is none."""
    hubs = np.array([[hub.x, hub.y] for hub in dynamics.hubs_body_m])
    hubs[np.abs(hubs) < 0.1 * np.abs(hubs).max()] = 0.0
    # thrust at the left lifts the left side, thrust ahead the nose (a negative turn about y), and a
    # rotor that is turned to the left pushes its body to the right
    return np.sign(np.column_stack([hubs[:, 1], -hubs[:, 0], -np.array(dynamics.spins)]))


def momenta_after_a_rotor_was_faster(name):
    """Angular momentum of the body after 20 ms, a row for each rotor."""
    dynamics, speed = airborne(name), hovering_speed(name)
    air = around()

    def momentum(speeds):
        command = RotorSpeeds(tuple(speeds))

        def step(state, _):
            return dynamics.step(state, command, air, DT_S, KEY), None

        state = as_arrays(dynamics.init(Start().kinematics(), air))
        state = jax.lax.scan(step, state, None, length=STEPS)[0]
        omega = dynamics.kinematics(state).angular_velocity_body_radps
        return dynamics.inertia_kgm2.times(omega).array

    commands = speed * (1.0 + (FASTER - 1.0) * np.eye(4))
    return np.asarray(jax.jit(jax.vmap(momentum))(jnp.asarray(commands)))


@pytest.mark.parametrize("name", MULTIROTORS)
def test_a_faster_rotor_turns_the_body_as_its_place_and_spin_say(name):
    momenta = momenta_after_a_rotor_was_faster(name)
    signs = signs_by_place_and_spin(airborne(name))
    # what the slower drag and the turning axes add within 20 ms is small beside what is meant
    small = 0.02 * np.abs(momenta).max()
    largest = np.abs(momenta).max(axis=0)
    np.testing.assert_array_equal(np.sign(np.where(np.abs(momenta) < small, 0.0, momenta)), signs)
    assert (largest > 2.0 * small).all()


@pytest.mark.parametrize("name", MULTIROTORS)
def test_the_mixer_makes_one_rotor_faster_for_the_torque_of_that_rotor(name):
    dynamics, speed = airborne(name), hovering_speed(name)
    mixer = build_component(Mixer, Mixer.with_vehicle_defaults(dynamics, 9.81), str)
    told = dynamics.vehicle_parameters(9.81)
    arms = np.array([[hub.x, hub.y] for hub in dynamics.hubs_body_m])
    for i, spin in enumerate(dynamics.spins):
        speeds = speed * np.where(np.arange(4) == i, FASTER, 1.0)
        thrusts = told["thrust_ns2"] * speeds**2
        torque = Vec3(
            thrusts @ arms[:, 1],
            -thrusts @ arms[:, 0],
            -told["torque_per_thrust_m"] * (thrusts @ np.array(dynamics.spins)),
        )
        assert np.sign(torque.z) == -spin
        wanted = ThrustTorque(float(thrusts.sum()), torque)
        _, found = mixer.step((), (wanted, Start().kinematics()), DT_S, KEY)
        np.testing.assert_allclose(np.array(found.speeds_radps), speeds, rtol=1e-12)
