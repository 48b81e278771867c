import dataclasses
from dataclasses import FrozenInstanceError, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.pytree import AbstractVar, Module, field, replace_unchecked, tree_at, trees_equal


class AbstractSpring(Module):
    stiffness: AbstractVar[Any]
    name: str = field(static=True, default="spring", kw_only=True)

    def force(self, offset):
        return -self.stiffness * offset


class Spring(AbstractSpring):
    stiffness: Any
    offset: Any = 0.0
    samples: Any = field(init=False, default=None)

    def __post_init__(self) -> None:
        if isinstance(self.stiffness, float) and self.stiffness <= 0.0:
            message = "stiffness"
            raise ValueError(message)


def test_fields_are_children_but_the_static_ones():
    spring = Spring(2.0, 1.0, name="rear")
    assert jax.tree.leaves(spring) == [2.0, 1.0]
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(spring)]
    assert paths == [".stiffness", ".offset"]
    doubled = jax.tree.map(lambda leaf: 2.0 * leaf, spring)
    assert (doubled.stiffness, doubled.offset, doubled.name) == (4.0, 2.0, "rear")
    other = jax.tree.structure(Spring(2.0, 1.0, name="front"))
    assert jax.tree.structure(spring) != other


def test_only_the_constructor_checks():
    with pytest.raises(ValueError, match="stiffness"):
        Spring(-1.0)
    assert jax.tree.map(lambda leaf: -leaf, Spring(1.0)).stiffness == -1.0
    assert replace_unchecked(Spring(1.0), stiffness=-1.0).stiffness == -1.0
    with pytest.raises(ValueError, match="stiffness"):
        replace(Spring(1.0), stiffness=-1.0)


def test_instances_are_frozen():
    spring = Spring(1.0)
    with pytest.raises(FrozenInstanceError, match="stiffness"):
        spring.stiffness = 2.0
    assert replace_unchecked(spring, samples=(1.0, 2.0)).samples == (1.0, 2.0)
    assert spring.samples is None


def test_methods_are_transformed_and_differentiated():
    spring = Spring(jnp.asarray(2.0))
    assert jax.jit(spring.force)(3.0) == -6.0
    np.testing.assert_array_equal(jax.vmap(spring.force)(jnp.arange(3.0)), [0.0, -2.0, -4.0])
    slope = jax.grad(lambda own: own.force(3.0))(Spring(2.0))
    assert slope.stiffness == -3.0


def test_equal_means_equal_structure_types_and_leaves():
    assert Spring(1.0) == Spring(1.0)
    assert hash(Spring(1.0)) == hash(Spring(1.0))
    assert Spring(1.0) != Spring(2.0)
    assert Spring(1.0) != Spring(1.0, name="rear")
    assert Spring(1.0) != Spring(1)
    assert Spring(np.ones(2)) == Spring(np.ones(2))
    assert Spring(np.ones(2)) != Spring(np.ones(3))
    assert not trees_equal((1.0,), [1.0])
    assert Spring(1.0) != 1.0
    assert repr(Spring(1.0)) == "Spring(name='spring', stiffness=1.0, offset=0.0, samples=None)"


def test_a_leaf_or_subtree_is_replaced():
    springs = {"rear": Spring(1.0, 2.0), "front": Spring(3.0)}
    stiffer = tree_at(lambda both: both["rear"].stiffness, springs, 9.0)
    assert stiffer["rear"].stiffness == 9.0
    assert stiffer["front"] == springs["front"]
    assert tree_at(lambda both: both["front"], springs, Spring(1.0, 2.0))["front"].offset == 2.0
    with pytest.raises(ValueError, match="has 1 leaves; must have 2"):
        tree_at(lambda both: both["front"], springs, 1.0)


def test_a_converter_is_refused_as_it_would_have_no_effect():
    with pytest.raises(TypeError, match="Scaled: gain has a converter; convert in __post_init__"):

        class Scaled(Module):
            gain: Any = dataclasses.field(metadata={"converter": float})
