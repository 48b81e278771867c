"""Tests of descriptions of objects."""

import enum
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.description import IndescribableError, description
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.integrators import INTEGRATORS


@dataclass
class Parts:
    """A class of this test."""

    number: float = 1.0
    name: str = "a"


class Side(enum.Enum):
    """Values of this test."""

    LEFT = 1
    RIGHT = 2


def some_function(x):
    return x


VALUES = [
    0,
    0.0,
    -0.0,
    False,
    None,
    "",
    "0",
    b"0",
    (),
    [],
    {},
    (0,),
    (0, 0),
    ((0,), 0),
    {"a": 0},
    {"b": 0},
    frozenset({"a"}),
    np.zeros(2),
    np.zeros((2, 1)),
    np.zeros(2, np.float32),
    jnp.ones(2, jnp.int32),
    datetime(2026, 1, 1, tzinfo=UTC),
    Side.LEFT,
    Side.RIGHT,
    Parts(),
    Parts(2.0),
    Parts(name="b"),
    Vec3(1.0, 2.0, 3.0),
    Parts,
    some_function,
    partial(some_function, 1),
    partial(some_function, 2),
    partial(some_function, x=1),
    INTEGRATORS,
    {name: one for name, one in INTEGRATORS.items() if name != "heun"},
]


@pytest.fixture
def package():
    return Parts.__module__.partition(".")[0]


def test_values_that_differ_have_other_descriptions(package):
    texts = []
    for value in VALUES:
        try:
            texts.append(description(value, "kittiwake"))
        except IndescribableError:
            texts.append(description(value, package))
    assert len(set(texts)) == len(VALUES)


def test_equal_values_have_the_same_description():
    one = {"a": (1.0, np.arange(3)), "b": Vec3(1.0, 2.0, 3.0)}
    other = {"a": (1.0, np.arange(3)), "b": replace(Vec3(0.0, 2.0, 3.0), x=1.0)}
    assert description(one, "kittiwake") == description(other, "kittiwake")


@pytest.mark.parametrize(
    "value",
    [
        Parts(),
        Parts,
        lambda x: x,
        object(),
        (1, [object()]),
        {"a": lambda x: x},
        partial(lambda x: x, 1),
        pytest.raises,
    ],
)
def test_what_no_text_can_tell_is_refused(value):
    with pytest.raises(IndescribableError):
        description(value, "kittiwake")


def test_a_dataclass_with_other_attributes_is_refused(package):
    parts = Parts()
    parts.more = 1
    with pytest.raises(IndescribableError):
        description(parts, package)
