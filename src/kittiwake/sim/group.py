"""Vehicles of equal structure as one, mapped over."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from zlib import crc32

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.component import AbstractComponent
from kittiwake.core.kinematics import Start
from kittiwake.interfaces.dynamics import AbstractDynamics, AbstractFault
from kittiwake.interfaces.vehicle import Vehicle


class Group(eqx.Module):
    """Vehicles of equal structure.

    The parameters of a component that all of them share stay plain numbers, which the compiler
    folds in. Others are stacked along the vehicles' axis even where they are equal: what the
    compiler makes of one vehicle then does not depend on the numbers of another.
    """

    names: tuple[str, ...] = eqx.field(static=True)
    stacked: tuple[bool, ...] = eqx.field(static=True)
    vehicle: Vehicle
    name_hashes: jax.Array

    def map(self, function: Callable[..., Any], *over: Any) -> Any:
        """``function(vehicle, *over)`` for each vehicle; ``over`` has leading vehicle axes."""
        leaves, treedef = jax.tree.flatten(self.vehicle)
        varying = [
            leaf for leaf, is_stacked in zip(leaves, self.stacked, strict=True) if is_stacked
        ]

        def one(own: list[Any], *slices: Any) -> Any:
            remaining = iter(own)
            mine = [
                next(remaining) if is_stacked else leaf
                for leaf, is_stacked in zip(leaves, self.stacked, strict=True)
            ]
            return function(jax.tree.unflatten(treedef, mine), *slices)

        # behind the barrier, numbers that happen to be equal are not folded into the program
        return jax.vmap(one)(jax.lax.optimization_barrier(varying), *over)

    def member(self, lane: int) -> Vehicle:
        """One of the vehicles."""
        leaves, treedef = jax.tree.flatten(self.vehicle)
        own = [
            leaf[lane] if is_stacked else leaf
            for leaf, is_stacked in zip(leaves, self.stacked, strict=True)
        ]
        return jax.tree.unflatten(treedef, own)

    def starting(self, starts: Start) -> "Group":
        """The same vehicles with other starts, which have a leading vehicle axis."""
        treedef = jax.tree.structure(self.vehicle)
        marks = replace(
            jax.tree.unflatten(treedef, self.stacked), start=jax.tree.map(lambda _: True, starts)
        )
        vehicle = replace(self.vehicle, start=starts)
        return replace(self, stacked=tuple(jax.tree.leaves(marks)), vehicle=vehicle)


def name_hash(name: str) -> int:
    """From which the streams of a vehicle follow."""
    return crc32(name.encode())


def grouped(
    vehicles: Mapping[str, Vehicle], dtype: np.dtype[Any], *, tunable: bool = False
) -> tuple[Group, ...]:
    """Vehicles by name in groups of equal structure, their arrays in this precision.

    Where they are to be ``tunable`` no number is folded into a program, also none that all share.
    """
    alike: dict[Any, dict[str, Vehicle]] = {}
    for name, vehicle in vehicles.items():
        alike.setdefault(_structure(vehicle), {})[name] = vehicle
    return tuple(_group(members, dtype, tunable=tunable) for members in alike.values())


def _structure(vehicle: Vehicle) -> Any:
    leaves, treedef = jax.tree.flatten(vehicle)
    return treedef, tuple(np.shape(leaf) for leaf in leaves)


def _group(members: Mapping[str, Vehicle], dtype: np.dtype[Any], *, tunable: bool) -> Group:
    trees = list(members.values())
    treedef = jax.tree.structure(trees[0])
    columns = list(zip(*(jax.tree.leaves(tree) for tree in trees), strict=True))
    stacked = (True,) * len(columns) if tunable else _stacked(trees)
    leaves = [
        _number(np.stack(c), dtype) if is_stacked else _number(c[0], dtype)
        for c, is_stacked in zip(columns, stacked, strict=True)
    ]
    hashes = jnp.asarray([name_hash(name) for name in members], jnp.uint32)
    return Group(tuple(members), stacked, jax.tree.unflatten(treedef, leaves), hashes)


def _stacked(vehicles: Sequence[Vehicle]) -> tuple[bool, ...]:
    """For each leaf, whether the component that it belongs to is not one object for all."""
    parts = [jax.tree.flatten(vehicle, is_leaf=_is_component)[0] for vehicle in vehicles]
    return tuple(
        any(part is not column[0] for part in column)
        for column in zip(*parts, strict=True)
        for _ in jax.tree.leaves(column[0])
    )


def _is_component(node: Any) -> bool:
    return isinstance(node, AbstractComponent | AbstractDynamics | AbstractFault | Start)


def _number(leaf: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number as it is; an array of floats in the working precision."""
    if isinstance(leaf, bool | int | float):
        return leaf
    array = np.asarray(leaf)
    floating = np.issubdtype(array.dtype, np.floating)
    return jnp.asarray(array.astype(dtype) if floating else array)
