"""Columns of leaves of many trees, and vehicles of one entry that share what they can."""

import time

import jax
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.copies import replicate_with
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.scenario import Scenario
from kittiwake.sim.group import group_vehicles
from kittiwake.sim.leaf_columns import leaf_columns, structure_codes

STARTS = [Start(Vec3(float(x), 0.0, 1.0), yaw_rad=0.5) for x in range(4)]
MANY = 20_000
COUNTED = {
    "vehicles.pelican.count": MANY,
    "vehicles.pelican.spacing_m": [2, 2, 2],
    "vehicles.pelican.grid": [30, 30],
    "world.area": {axis: [-1000, 1000] for axis in ("x_m", "y_m", "z_m")},
}


@pytest.mark.parametrize(
    "trees",
    [
        STARTS,
        replicate_with(STARTS[0], yaw_rad=[0.0, 1.0]),
        [({"a": 1.0}, np.arange(3.0)), ({"a": 2}, np.ones(3))],
        [STARTS[0], STARTS[0]],
        [(), ()],
    ],
)
def test_columns_are_the_stacked_leaves(trees):
    columns = leaf_columns(trees, lambda node: isinstance(node, Start))
    expected = [np.stack(leaves) for leaves in zip(*map(jax.tree.leaves, trees), strict=True)]
    for column, stacked in zip(columns, expected, strict=True):
        np.testing.assert_array_equal(column.stacked(len(trees)), stacked, strict=True)


def test_a_component_is_shared_as_a_whole_or_not_at_all():
    other = replicate_with(STARTS[0], yaw_rad=[2.0])[0]
    parts = [(STARTS[0], STARTS[0]), (STARTS[0], other)]
    columns = leaf_columns(parts, lambda node: isinstance(node, Start))
    half = len(jax.tree.leaves(STARTS[0]))
    assert [column.shared for column in columns] == [True] * half + [False] * half


def test_codes_are_those_of_structures_and_shapes():
    trees = [STARTS[0], (1.0, 2.0), STARTS[1], (3, 4), (np.ones(2), 4.0), None, {"a": ()}]
    assert structure_codes(trees) == [0, 1, 0, 1, 2, 3, 4]
    assert structure_codes([1.0, 2, np.ones(())]) == [0, 0, 0]
    assert structure_codes([np.ones(2), np.ones(3)]) == [0, 1]


def test_a_group_has_the_numbers_of_its_vehicles():
    vehicles = Scenario.load("hover-pelican", {**COUNTED, "vehicles.pelican.count": 3}).vehicles
    (group,) = group_vehicles(vehicles, np.dtype(np.float64), live_parameters=True)
    for index, vehicle in enumerate(vehicles.values()):
        assert jax.tree.leaves(group.member(index)) == jax.tree.leaves(vehicle)


@pytest.mark.slow
def test_a_counted_entry_takes_microseconds_per_vehicle():
    kw.load("hover-pelican", {**COUNTED, "vehicles.pelican.count": 2})
    began = time.process_time()
    simulation = kw.load("hover-pelican", COUNTED)
    # 0.5 s on a busy machine; 13 s with work in Python for each vehicle
    assert time.process_time() - began < 3.0
    assert len(simulation.names) == MANY
