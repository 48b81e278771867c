"""Copies of records."""

import jax
import pytest

from kittiwake.core.copies import fresh_copy, replicate_with
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3

START = Start(Vec3(1.0, 2.0, 3.0), yaw_rad=0.5)


def test_copies_with_other_values_share_the_rest():
    places = [Vec3(0.0, 0.0, float(z)) for z in range(3)]
    copies = replicate_with(START, position_world_m=places)
    assert [copy.position_world_m for copy in copies] == places
    for copy in copies:
        assert copy.yaw_rad == 0.5
        assert copy.velocity_world_mps is START.velocity_world_mps
    assert START.position_world_m == Vec3(1.0, 2.0, 3.0)


def test_an_unknown_field_is_an_error():
    with pytest.raises(AttributeError):
        replicate_with(START, place=[1.0])


def test_a_fresh_copy_is_equal_and_shares_no_record():
    copy = fresh_copy(START)
    assert jax.tree.leaves(copy) == jax.tree.leaves(START)
    assert jax.tree.structure(copy) == jax.tree.structure(START)
    assert copy is not START
    assert copy.position_world_m is not START.position_world_m
