"""Components at their own rates: each runs when due and holds its output between."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.errors import ScenarioError
from kittiwake.core.vehicle import Scheduled
from kittiwake.geometry.scalar import Count, Real

RATE_TOLERANCE = 1e-9


class Clock(eqx.Module):
    """The present physics step."""

    tick: Count
    dt_s: Real

    @property
    def time_s(self) -> Real:
        """Time since the start."""
        return jnp.asarray(self.tick, jnp.result_type(float)) * self.dt_s


class Held(eqx.Module):
    """A component's state, with its last output where it does not run at every step."""

    state: Any
    output: Any


def run(
    scheduled: Scheduled[Any], held: Held, inputs: Any, clock: Clock, key: PRNGKeyArray
) -> tuple[Held, Any]:
    """The component's state and output at this step, new if it is due and held otherwise."""
    component, every = scheduled.component, scheduled.every

    def fire() -> tuple[Any, Any]:
        draw = jax.random.fold_in(key, clock.tick)
        state, output = component.step(held.state, inputs, clock.dt_s * every, draw)
        return like(state, held.state), strong(output)

    if every == 1:
        state, output = fire()
        return Held(state, None), output
    if held.output is None:
        state, output = fire()
    else:
        due = jnp.asarray(clock.tick) % every == 0
        state, output = jax.lax.cond(due, fire, lambda: (held.state, held.output))
    return Held(state, output), output


def steps_between(physics_hz: float, wanted: Real | None) -> int:
    """How many physics steps lie between two runs at a wanted rate; without one, a run at each.

    Raises:
        ScenarioError: if the rate does not divide the physics rate.
    """
    if wanted is None:
        return 1
    wanted = float(wanted)
    ratio = physics_hz / wanted
    every = round(ratio)
    if every < 1 or abs(ratio - every) > RATE_TOLERANCE * ratio:
        message = (
            f"rate_hz {wanted:g} does not divide the physics rate {physics_hz:g} Hz "
            f"({physics_hz:g} / {wanted:g} = {ratio:.6g}); "
            f"write {_divisors_near(physics_hz, wanted)}"
        )
        raise ScenarioError(message)
    return every


def like(new: Any, old: Any) -> Any:
    """A state with the types of the one before, so that loops can carry it."""
    return jax.tree.map(lambda n, o: jnp.asarray(n, dtype=jnp.asarray(o).dtype), new, old)


def strong(tree: Any) -> Any:
    """Python numbers in a tree as arrays of the working precision."""
    return jax.tree.map(_strong_leaf, tree)


def _strong_leaf(leaf: Any) -> Any:
    array = jnp.asarray(leaf)
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        return array
    return jax.lax.convert_element_type(array, array.dtype)


def _divisors_near(physics_hz: float, wanted: float) -> str:
    below = max(1, round(physics_hz / min(wanted, physics_hz)))
    choices = sorted({physics_hz / n for n in (below, below + 1, max(1, below - 1))})
    return " or ".join(f"{choice:g}" for choice in choices)
