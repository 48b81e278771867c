"""Functions that are traced once."""

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.fusion_barrier import fusion_barrier
from kittiwake.core.trace_once import trace_once
from kittiwake.physics.integrators import INTEGRATORS, MechanicalState


def counted(function):
    """Return the function and a list that grows with each call in Python."""
    calls = []

    def call(*arguments):
        calls.append(arguments)
        return function(*arguments)

    return call, calls


def test_several_calls_of_one_program_trace_once():
    function, calls = counted(lambda x: jnp.sin(x) + 1.0)

    def program(x):
        once = trace_once(function)
        return once(once(once(x)))

    jaxpr = jax.make_jaxpr(program)(0.5)
    assert len(calls) == 1
    assert [str(equation.primitive) for equation in jaxpr.eqns] == ["sin", "add"] * 3


def test_concrete_arguments_are_not_compiled():
    function, calls = counted(lambda x: 2.0 * x)
    once = trace_once(function)
    assert once(1.0) == 2.0
    assert once(1.0) == 2.0
    assert len(calls) == 2


def test_traced_values_of_the_surrounding_program_are_used():
    def program(x, offset):
        return trace_once(lambda y: y * offset)(x) + trace_once(lambda y: y - offset)(x)

    np.testing.assert_allclose(jax.vmap(program)(jnp.arange(3.0), jnp.ones(3)), [-1.0, 1.0, 3.0])
    assert jax.grad(program, argnums=1)(2.0, 3.0) == 1.0


def test_a_runge_kutta_step_traces_its_derivative_once():
    derivative, calls = counted(
        lambda state, _: MechanicalState(state.velocities, -state.configuration)
    )
    step = jax.jit(lambda state: INTEGRATORS["rk4"].step(derivative, state, 0.01))
    step(MechanicalState(jnp.asarray(1.0), jnp.asarray(0.0)))
    assert len(calls) == 1


def test_a_fusion_barrier_traces_its_function_once():
    function, calls = counted(jnp.cos)
    assert jax.jit(lambda x: fusion_barrier(function, x))(0.5) == np.cos(0.5)
    assert len(calls) == 1
