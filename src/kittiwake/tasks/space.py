"""Observation space: names and bounds of the numbers in an observation."""

from dataclasses import dataclass, fields
from typing import Annotated, get_args, get_origin, get_type_hints

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.bounds import Bounds
from kittiwake.core.columns import to_column_groups
from kittiwake.pytree import Module


@dataclass(frozen=True)
class Space:
    """Box of named numbers, the same for each agent."""

    names: tuple[str, ...]
    low: Float[np.ndarray, " numbers"]
    high: Float[np.ndarray, " numbers"]

    @classmethod
    def of(cls, observation: Module) -> "Space":
        """Return the space of observations like this one.

        Raises:
            TypeError: if a field has no bounds in its type.
        """
        names: list[str] = []
        bounds: list[Bounds] = []
        for name, own, value in _bounded(observation):
            columns = [
                column for group in to_column_groups({name: value}) for column in group.columns
            ]
            names += columns
            bounds += [own] * len(columns)
        low, high = np.array([[one.low, one.high] for one in bounds]).T
        return cls(tuple(names), low, high)

    def flat(self, observation: Module) -> Float[Array, " numbers"]:
        """Return an observation as an array, clipped to the box; NaN becomes 0."""
        dtype = jnp.result_type(float)
        groups = [jnp.asarray(group.numbers, dtype) for group in to_column_groups(observation)]
        numbers = jnp.concatenate([group.reshape(-1) for group in groups])
        known = jnp.where(jnp.isnan(numbers), 0.0, numbers)
        return jnp.clip(known, jnp.asarray(self.low, dtype), jnp.asarray(self.high, dtype))


def _bounded(observation: Module) -> list[tuple[str, Bounds, ArrayTree]]:
    hints = get_type_hints(type(observation), include_extras=True)
    found = []
    for field in fields(observation):
        hint = hints[field.name]
        marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        bounds = next((mark for mark in marks if isinstance(mark, Bounds)), None)
        if bounds is None:
            message = (
                f"{type(observation).__name__}.{field.name}: bounds are missing; write "
                "Annotated[..., Bounds(low, high)]"
            )
            raise TypeError(message)
        found.append((field.name, bounds, getattr(observation, field.name)))
    return found
