"""Test whether a velocity controller uses the feed-forward acceleration of its commands."""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import Command, VelocityYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController


def uses_acceleration(controller: AbstractController, estimate: Kinematics) -> bool:
    """Return True if a velocity controller's output depends on the feed-forward acceleration.

    The test traces the operations from input to output; it does not compare numbers, which may be
    saturated. In case of doubt the result is True.
    """
    key = jax.random.key(0)
    state, motion = controller.init(key), as_arrays(estimate)

    def output(acceleration_mps2: Array) -> Command:
        command = VelocityYaw(Vec3.zero(), jnp.zeros(()), Vec3.of(acceleration_mps2))
        return controller.step(state, (command, motion), 0.01, key)[1]

    traced = jax.make_jaxpr(output)(jnp.zeros(3)).jaxpr
    used = {id(one) for one in traced.outvars}
    for operation in reversed(traced.eqns):
        if any(id(one) in used for one in operation.outvars):
            used |= {id(one) for one in operation.invars}
    return any(id(one) in used for one in traced.invars)
