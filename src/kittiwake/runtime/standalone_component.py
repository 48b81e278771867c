"""Component of one vehicle that is stepped by itself, with plain numbers in and out.

The numbers of the component are arguments of the compiled function, so they may change from step to
step, and all components of one structure share one function.
"""

from functools import partial
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.component import AbstractKeyedComponent
from kittiwake.core.keys import seed_key
from kittiwake.runtime.xla_engine import QUICKLY

Tree = TypeVar("Tree")
# the same compiled functions for flights of any precision
DOUBLE = True


class StandaloneComponent(NamedTuple):
    """A component without randomness, and its state."""

    component: AbstractKeyedComponent
    state: Any

    @classmethod
    def of(cls, component: AbstractKeyedComponent) -> "StandaloneComponent":
        """Return a component with its initial state."""
        with jax.enable_x64(DOUBLE):
            return cls(component, as_arrays(component.init(seed_key(0))))

    def step(self, inputs: Any, dt_s: float) -> tuple["StandaloneComponent", Any]:
        """Return the component after a step, and its output."""
        with jax.enable_x64(DOUBLE):
            numbers = _as_doubles((self.component, inputs, dt_s))
            state, output = _step(self.state, *numbers)
        return self._replace(state=state), jax.tree.map(_as_number, output)


@partial(jax.jit, compiler_options=QUICKLY)
def _step(state: Any, component: AbstractKeyedComponent, inputs: Any, dt_s: Any) -> Any:
    later, output = component.step(state, inputs, dt_s, seed_key(0))
    return match_dtypes(later, state), as_arrays(output)


def _as_doubles(tree: Tree) -> Tree:
    """Return a tree with its Python numbers in one dtype; any other would be compiled for anew."""
    return jax.tree.map(
        lambda leaf: np.float64(leaf) if isinstance(leaf, int | float) else leaf, tree
    )


def _as_number(leaf: Any) -> Any:
    return np.asarray(leaf).item()
