"""Group of vehicles of equal structure, stepped together by ``vmap``."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TypeVarTuple
from zlib import crc32

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, UInt32
from typing_extensions import TypeVar

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.component import AbstractComponent
from kittiwake.core.kinematics import Start
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.dynamics import AbstractDynamics, AbstractFault
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module, field
from kittiwake.sim.leaf_columns import leaf_columns, structure_codes

# fewer vehicles are elements of arrays, also where others are passes of a loop
MIN_LOOP = 16

Slices = TypeVarTuple("Slices")
Result = TypeVar("Result")


class Group(Module):
    """Vehicles of equal structure.

    A component that all vehicles share keeps its parameters as plain numbers, which the compiler
    treats as constants. All other parameters are stacked along a leading vehicle axis even where
    they are equal, so that the program of one vehicle does not depend on the numbers of another.

    Attributes:
        names: names of the vehicles.
        stacked: for each number of ``vehicle``, True if it has a vehicle axis.
        vehicle: the parameters.
        name_hashes: hashes of the names.
        addition: name of the addition in flight with which they came; empty for those of the start.
        loops: True for an engine that makes vectors of loops: one vehicle has no axis, and many are
            the passes of one loop. XLA compiles an axis to faster code, even of length one.
    """

    names: tuple[str, ...] = field(static=True)
    stacked: tuple[bool, ...] = field(static=True)
    vehicle: AssembledVehicle
    name_hashes: jax.Array
    addition: str = field(static=True, default="")
    loops: bool = field(static=True, default=False)

    def map(
        self, function: Callable[[AssembledVehicle, *Slices], Result], *over: *Slices
    ) -> Result:
        """Return ``function(vehicle, *over)`` for each vehicle; ``over`` has a vehicle axis."""
        leaves, treedef = jax.tree.flatten(self.vehicle)
        varying = [
            leaf for leaf, is_stacked in zip(leaves, self.stacked, strict=True) if is_stacked
        ]

        def one(own: list[Array], *slices: *Slices) -> Result:
            remaining = iter(own)
            mine = [
                next(remaining) if is_stacked else leaf
                for leaf, is_stacked in zip(leaves, self.stacked, strict=True)
            ]
            return function(jax.tree.unflatten(treedef, mine), *slices)

        def one_pass(both: tuple[list[Array], tuple[*Slices]]) -> Result:
            return one(both[0], *both[1])

        # the barrier keeps the compiler from folding stacked numbers that happen to be equal
        varying = jax.lax.optimization_barrier(varying)
        # a mapped conditional computes both branches: the controller would be called at every step
        if not self.vehicle.on_host:
            if self.loops and len(self.names) >= MIN_LOOP:
                return jax.lax.map(one_pass, (varying, over))
            if not self.loops or len(self.names) > 1:
                return jax.vmap(one)(varying, *over)
        result = one(_first(varying), *_first(over))
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], result)

    def member(self, index: int) -> AssembledVehicle:
        """Return one of the vehicles."""
        leaves, treedef = jax.tree.flatten(self.vehicle)
        own = [
            leaf[index] if is_stacked else leaf
            for leaf, is_stacked in zip(leaves, self.stacked, strict=True)
        ]
        return jax.tree.unflatten(treedef, own)

    def with_starts(self, starts: Start) -> "Group":
        """Return the group with other initial conditions, which have a leading vehicle axis."""
        treedef = jax.tree.structure(self.vehicle)
        marks = replace(
            jax.tree.unflatten(treedef, self.stacked), start=jax.tree.map(lambda _: True, starts)
        )
        vehicle = replace(self.vehicle, start=starts)
        return replace(self, stacked=tuple(jax.tree.leaves(marks)), vehicle=vehicle)


def _first(tree: Result) -> Result:
    """Return the part of the only vehicle."""
    return jax.tree.map(lambda leaf: leaf[0], tree)


def name_hash(name: str) -> int:
    """Return the hash of a vehicle's name, from which its random streams are derived."""
    return crc32(name.encode())


@lru_cache(maxsize=16)
def name_hashes(names: tuple[str, ...]) -> UInt32[Array, " vehicles"]:
    """Return the hash of each vehicle's name, which all draws of a scenario share."""
    hashes = np.asarray([name_hash(name) for name in names], np.uint32)
    # kept, and therefore of no trace
    with jax.ensure_compile_time_eval():
        return jax.device_put(hashes)


def group_vehicles(
    vehicles: Mapping[str, AssembledVehicle],
    dtype: np.dtype[np.floating],
    *,
    live_parameters: bool = False,
    additions: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Group, ...]:
    """Return the vehicles in groups of equal structure, with arrays of the given precision.

    With ``live_parameters`` all parameters are stacked arrays, so that a running program accepts
    other values. ``additions`` names the addition in flight with which a vehicle came. Its group
    has a clock of its own, and the groups of the others stay as they are.
    """
    groups: dict[tuple[str, int], dict[str, AssembledVehicle]] = {}
    codes = structure_codes([*vehicles.values()])
    for (name, vehicle), code in zip(vehicles.items(), codes, strict=True):
        groups.setdefault((additions.get(name, ""), code), {})[name] = vehicle
    return tuple(
        _group(members, dtype, addition, live_parameters=live_parameters)
        for (addition, _), members in groups.items()
    )


def _group(
    members: Mapping[str, AssembledVehicle],
    dtype: np.dtype[np.floating],
    addition: str,
    *,
    live_parameters: bool,
) -> Group:
    trees = [*members.values()]
    columns = leaf_columns(trees, _is_component)
    stacked = tuple(live_parameters or not column.shared for column in columns)
    leaves = [
        _number(column.stacked(len(trees)) if is_stacked else column.leaves[0], dtype)
        for column, is_stacked in zip(columns, stacked, strict=True)
    ]
    vehicle = jax.tree.unflatten(jax.tree.structure(trees[0]), leaves)
    names = tuple(members)
    return Group(names, stacked, vehicle, name_hashes(names), addition)


def _is_component(node: ArrayTree) -> bool:
    return isinstance(node, AbstractComponent | AbstractDynamics | AbstractFault | Start)


def _number(leaf: ArrayLike, dtype: np.dtype[np.floating]) -> Real | Array:
    """Return a Python number unchanged, and an array of floats in the given precision."""
    if isinstance(leaf, bool | int | float):
        return leaf
    array = np.asarray(leaf)
    floating = np.issubdtype(array.dtype, np.floating)
    return jnp.asarray(array.astype(dtype) if floating else array)
