"""Which controllers feed forward what a command says beyond a velocity."""

from typing import Any

import jax
import jax.numpy as jnp

from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import VelocityYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController


def uses_acceleration(controller: AbstractController, estimate: Kinematics) -> bool:
    """Return whether the output of a velocity controller depends on the velocity's acceleration.

    It is judged by the operations that lead from one to the other, not by numbers, which may be cut
    by a limit. Where that is not clear it counts as used.
    """
    key = jax.random.key(0)
    state, motion = controller.init(key), as_arrays(estimate)

    def output(acceleration_mps2: Any) -> Any:
        wanted = VelocityYaw(Vec3.zero(), jnp.zeros(()), Vec3.of(acceleration_mps2))
        return controller.step(state, (wanted, motion), 0.01, key)[1]

    traced = jax.make_jaxpr(output)(jnp.zeros(3)).jaxpr
    needed = {id(one) for one in traced.outvars}
    for operation in reversed(traced.eqns):
        if any(id(one) in needed for one in operation.outvars):
            needed |= {id(one) for one in operation.invars}
    return any(id(one) in needed for one in traced.invars)
