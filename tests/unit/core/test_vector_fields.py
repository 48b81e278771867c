"""Vectors and rotations of commands and starts, given as sequences of numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import CommandError

UP = kw.Vec3(0.0, 0.0, 2.0)


@pytest.mark.parametrize("given", [[0, 0, 2], (0.0, 0.0, 2.0), np.array([0, 0, 2]), UP])
def test_vectors_may_be_sequences(given):
    command = kw.PositionYaw(given, 0.0)
    assert command == kw.PositionYaw(UP, 0.0)
    assert all(isinstance(part, float) for part in command.position_world_m)


def test_every_kind_of_field_is_converted():
    level = kw.ThrustAttitude(1.0, [1, 0, 0, 0], [0, 0, 1])
    assert level.q_world_from_body == kw.Quaternion.identity()
    assert level.angular_velocity_body_radps == kw.Vec3(0.0, 0.0, 1.0)
    assert kw.RotorSpeeds(np.array([1.0, 2.0])).speeds_radps == (1.0, 2.0)
    assert kw.Start([0, 0, 2]) == kw.Start(UP)


@pytest.mark.parametrize("given", [[0.0, 0.0], np.zeros((1, 3)), []])
def test_another_number_of_components_is_refused(given):
    with pytest.raises(CommandError, match=r"`position_world_m`: got .*; must be 3 numbers"):
        kw.PositionYaw(given, 0.0)


def test_an_array_in_a_compiled_function_is_a_vector():
    @jax.jit
    def height(place):
        return kw.PositionYaw(place, 0.0).position_world_m.z

    assert height(jnp.asarray([0.0, 0.0, 2.0])) == 2.0


def test_measurements_take_arrays_as_vectors():
    given = kw.measurements.MagneticMeasurement(np.array([1e-5, 0.0, -4e-5]))
    assert given.magnetic_field_body_t == kw.Vec3(1e-5, 0.0, -4e-5)
