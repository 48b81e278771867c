"""Indexing in the programs of many worlds: arrays with lanes stay as they are in memory.

Lanes are a batching dimension of gathers and scatters whose indices differ among worlds, and a part
of each slice where all worlds have the same indices. ``jax.vmap`` would move them to the front, and
so copy the array each time.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn as JaxEquation

AnyArray: TypeAlias = jax.Array | np.ndarray

SCATTERS = ("scatter", "scatter-add", "scatter-max", "scatter-min", "scatter-mul")


def gather(
    equation: JaxEquation, operand: AnyArray, indices: AnyArray, lanes: int, *, varies: bool
) -> jax.Array:
    """Return the gather from an operand with lanes; ``varies`` if the indices have lanes, too."""
    parameters = dict(equation.params)
    numbers: lax.GatherDimensionNumbers = parameters.pop("dimension_numbers")
    sizes: Sequence[int] = parameters.pop("slice_sizes")
    if varies:
        indices = jnp.moveaxis(indices, -1, -2)
        numbers = numbers._replace(
            operand_batching_dims=(*numbers.operand_batching_dims, operand.ndim - 1),
            start_indices_batching_dims=(
                *numbers.start_indices_batching_dims,
                indices.ndim - 2,
            ),
        )
        sizes = (*sizes, 1)
    else:
        rank = len(numbers.offset_dims) + indices.ndim - 1
        numbers = numbers._replace(offset_dims=(*numbers.offset_dims, rank))
        sizes = (*sizes, lanes)
    return equation.primitive.bind(
        operand, indices, dimension_numbers=numbers, slice_sizes=sizes, **parameters
    )


def scatter(
    equation: JaxEquation,
    operand: AnyArray,
    indices: AnyArray,
    updates: AnyArray,
    *,
    varies: bool,
) -> jax.Array:
    """Return the scatter of updates with lanes; ``varies`` if the indices have lanes, too."""
    parameters = dict(equation.params)
    numbers: lax.ScatterDimensionNumbers = parameters.pop("dimension_numbers")
    if varies:
        indices = jnp.moveaxis(indices, -1, -2)
        numbers = numbers._replace(
            operand_batching_dims=(*numbers.operand_batching_dims, operand.ndim - 1),
            scatter_indices_batching_dims=(
                *numbers.scatter_indices_batching_dims,
                indices.ndim - 2,
            ),
        )
    else:
        numbers = numbers._replace(
            update_window_dims=(*numbers.update_window_dims, updates.ndim - 1)
        )
    return equation.primitive.bind(
        operand, indices, updates, dimension_numbers=numbers, **parameters
    )


def dynamic_slice(
    operand: AnyArray, starts: Sequence[Any], sizes: Sequence[int], lanes: int
) -> jax.Array:
    """Return a slice of an operand with lanes that begins at the same place in all worlds."""
    first = jnp.zeros((), jnp.result_type(starts[0])) if starts else 0
    return lax.dynamic_slice(operand, (*starts, first), (*sizes, lanes))


def dynamic_slice_of_each(
    operand: AnyArray, starts: Sequence[AnyArray], sizes: Sequence[int]
) -> jax.Array:
    """Return slices of an operand with lanes that begin at a place of each world."""
    rank = len(sizes)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(rank)),
        collapsed_slice_dims=(),
        start_index_map=tuple(range(rank)),
        operand_batching_dims=(rank,),
        start_indices_batching_dims=(0,),
    )
    indices = jnp.stack(starts, axis=-1)
    return lax.gather(operand, indices, numbers, (*sizes, 1), mode=lax.GatherScatterMode.CLIP)
