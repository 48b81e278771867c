"""Pure functions of a fleet, for use inside and outside of JAX's transformations."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import jax
from jaxtyping import PRNGKeyArray

from kittiwake.core.precision import is_transformed
from kittiwake.runtime.commands import Commands
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import FleetState, Snapshot


class PureFunctions:
    """Pure functions of a fleet, compiled where they are called outside of JAX's transformations.

    There they run in the fleet's precision, whatever JAX's mode is.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def init(self, key: PRNGKeyArray) -> FleetState:
        """Return the initial state."""
        if is_transformed(key):
            return self._fleet.init(key)
        with self._precision_context():
            return self._init(key)

    def advance(self, state: FleetState, commands: Commands | None) -> FleetState:
        """Return the next state."""
        if is_transformed(state, commands):
            return self._fleet.advance(state, commands)
        with self._precision_context():
            return self._advance(state, commands)

    def rollout(
        self, state: FleetState, steps: int, select: Callable[[tuple[Snapshot, ...]], Any]
    ) -> tuple[FleetState, Any]:
        """Return the state after ``steps`` steps, and the outputs of ``select`` along time."""
        if is_transformed(state):
            return self._fleet.rollout(state, steps, select)
        with self._precision_context():
            return self._rollout(state, steps, select)

    @cached_property
    def _init(self) -> Callable[[PRNGKeyArray], FleetState]:
        return jax.jit(self._fleet.init)

    @cached_property
    def _advance(self) -> Callable[[FleetState, Commands | None], FleetState]:
        return jax.jit(self._fleet.advance)

    @cached_property
    def _rollout(self) -> Callable[..., tuple[FleetState, Any]]:
        return jax.jit(self._fleet.rollout, static_argnums=(1, 2))

    def _precision_context(self) -> AbstractContextManager[None]:
        return jax.enable_x64(not self._fleet.single_precision)
