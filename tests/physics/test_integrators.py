"""The integrators against problems whose solutions are known."""

from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, MechanicalState, Tableau

ORDERS = {"euler": 1, "semi-implicit-euler": 1, "heun": 2, "rk4": 4, "dormand-prince-5": 5}


def integrated(name, derivative, start, dt_s, steps):
    """The state after some steps."""

    def step(state, _):
        return INTEGRATORS[name].step(derivative, state, dt_s), None

    start = jax.tree.map(jnp.asarray, start)
    return jax.jit(lambda state: jax.lax.scan(step, state, None, length=steps)[0])(start)


def blow_up(state, _elapsed_s):
    """q'' = 2 q^3, which q = 1 / (2 - t) solves."""
    return MechanicalState(state.velocities, 2.0 * state.configuration**3)


def oscillation(state, _elapsed_s):
    """q'' = -q."""
    return MechanicalState(state.velocities, -state.configuration)


def stopwatch(state, elapsed_s):
    """q' = 5 v^4 with v the time, so that q = t^5."""
    del state
    return MechanicalState(5.0 * elapsed_s**4, 1.0)


def energy(state):
    return float(0.5 * (state.configuration**2 + state.velocities**2))


def test_every_name_that_a_file_may_give_has_an_integrator():
    assert set(INTEGRATORS) == set(get_args(IntegratorName)) == set(ORDERS)


@pytest.mark.parametrize("name", ORDERS)
def test_error_shrinks_with_the_declared_order(name):
    errors = []
    for steps in (40, 80):
        end = integrated(name, blow_up, MechanicalState(0.5, 0.25), 1.0 / steps, steps)
        errors.append(max(abs(float(end.configuration) - 1.0), abs(float(end.velocities) - 1.0)))
    assert INTEGRATORS[name].order == ORDERS[name]
    # the error's next term still shows at 40 steps; the neighboring orders are a whole one away
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[name], abs=0.3)


@pytest.mark.parametrize("name", ORDERS)
def test_error_over_the_step_is_a_line_of_the_declared_order(name):
    errors = []
    for steps in (10, 20, 40, 80, 160):
        end = integrated(name, oscillation, MechanicalState(1.0, 0.0), 2.0 / steps, steps)
        off = float(end.configuration) - np.cos(2.0), float(end.velocities) + np.sin(2.0)
        errors.append(np.hypot(*off))
    # as docs/images/integrator-convergence.png shows; Euler's next term is .06 at 10 steps
    assert -np.diff(np.log2(errors)) == pytest.approx(ORDERS[name], abs=0.07)


@pytest.mark.parametrize("name", [n for n, i in INTEGRATORS.items() if isinstance(i, Tableau)])
def test_stages_of_a_tableau_lie_within_the_step(name):
    tableau = INTEGRATORS[name]
    assert sum(tableau.b) == pytest.approx(1.0, abs=1e-15)
    assert len(tableau.a) == len(tableau.b)
    assert all(0.0 <= sum(row) <= 1.0 + 1e-14 for row in tableau.a)
    assert [len(row) for row in tableau.a] == list(range(len(tableau.a)))


def test_semi_implicit_euler_keeps_the_energy_of_an_oscillator_bounded():
    dt_s, energies = 0.01, []
    state = MechanicalState(1.0, 0.0)
    for _ in range(10):
        state = integrated("semi-implicit-euler", oscillation, state, dt_s, steps=10_000)
        energies.append(energy(state))
    # it keeps q^2 + v^2 - dt q v exactly, so the energy stays within dt / 2 of itself, 1e5 steps on
    assert max(abs(e / 0.5 - 1.0) for e in energies) < 0.51 * dt_s
    kept = (
        state.configuration**2 + state.velocities**2 - dt_s * state.configuration * state.velocities
    )
    assert float(kept) == pytest.approx(1.0, abs=1e-10)


def test_explicit_euler_gains_energy_at_every_step():
    dt_s, steps = 0.01, 100_000
    end = integrated("euler", oscillation, MechanicalState(1.0, 0.0), dt_s, steps)
    # each step multiplies the amplitude by |1 + i dt|
    assert energy(end) / 0.5 == pytest.approx((1.0 + dt_s**2) ** steps, rel=1e-9)


@pytest.mark.parametrize("name", ORDERS)
def test_step_has_the_gradient_of_a_finite_difference(name):
    def end(q):
        state = INTEGRATORS[name].step(blow_up, MechanicalState(q, 0.25), 0.1)
        return state.configuration + state.velocities

    difference = (end(0.5 + 1e-6) - end(0.5 - 1e-6)) / 2e-6
    # central differences of step 1e-6 keep ten digits
    assert float(jax.grad(end)(0.5)) == pytest.approx(float(difference), rel=1e-8)


def test_stages_receive_the_time_since_the_start_of_the_step():
    # of the integrators, the one of order five alone integrates t^4 exactly in one step
    end = INTEGRATORS["dormand-prince-5"].step(stopwatch, MechanicalState(0.0, 0.0), 2.0)
    assert end.configuration == pytest.approx(2.0**5, rel=1e-13)
    assert end.velocities == pytest.approx(2.0, rel=1e-14)
    late = INTEGRATORS["semi-implicit-euler"].step(stopwatch, MechanicalState(0.0, 0.0), 2.0)
    assert late.configuration == 2.0 * 5.0 * 2.0**4
