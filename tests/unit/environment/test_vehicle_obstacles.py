"""Vehicles that see each other: which, as what, and how they move."""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from tests.unit.sensors.range_scene import EXACT_M, around, ideal

import kittiwake as kw
from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Start
from kittiwake.environment.vehicle_obstacles import VehicleObstacles
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.ultrasonic import Ultrasonic
from kittiwake.world.interaction_input import NO_WAKE, InteractionInput
from kittiwake.world.surroundings import Air, Surroundings

ALONE = Surroundings(9.81, Air(288.15, 101325.0, 1.225), Vec3.zero(), 5.0, math.inf)
SIZE = Vec3(0.6, 0.4, 0.2)
AHEAD = Ultrasonic()


def neighbors_of(starts, sizes=None, nearest=4, place=0):
    """What one of some vehicles is shown of the others."""
    sizes = [SIZE] * len(starts) if sizes is None else sizes
    each = [
        as_arrays(InteractionInput(start.kinematics(), NO_WAKE, size))
        for start, size in zip(starts, sizes, strict=True)
    ]
    together = jax.tree.map(lambda *leaves: jnp.stack(leaves), *each)
    air = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(starts)), as_arrays(ALONE))
    seen = _shown(VehicleObstacles(nearest), together, air).vehicle_obstacles
    return jax.tree.map(lambda leaf: leaf[place], seen)


@eqx.filter_jit
def _shown(visible, together, air):
    return visible(together, air)


def at(x, y=0.0, z=0.0, **turned):
    return Start(Vec3(x, y, z), **turned)


def range_m(starts, sensor=AHEAD, **given):
    """What the first of some vehicles reads of the others."""
    told = ideal(sensor, around(start=starts[0], neighbors=neighbors_of(starts, **given)))
    assert bool(told.valid) is (float(told.range_m) < 5.0)
    return float(told.range_m)


@pytest.mark.slow
def test_another_vehicle_is_read_as_the_box_around_it():
    assert range_m([at(0.0), at(3.0)]) == pytest.approx(2.7, abs=EXACT_M)
    across = at(3.0, 0.15, 0.05, yaw_rad=math.pi / 2)
    assert range_m([at(0.0), across]) == pytest.approx(2.8, abs=EXACT_M)
    assert range_m([at(0.0), at(3.0, 0.21)]) == 5.0


def test_no_vehicle_detects_itself():
    assert range_m([at(0.0), at(-3.0)]) == 5.0


def test_a_vehicle_alone_has_no_neighbors():
    assert neighbors_of([at(0.0)]) == ()


@pytest.mark.slow
def test_the_nearest_ones_are_shown():
    starts = [at(0.0), at(9.0), at(2.0), at(-1.0), at(0.0, 3.0)]
    shown = neighbors_of(starts, nearest=3)
    assert [float(n.position_world_m.x) for n in shown] == [-1.0, 2.0, 0.0]
    last = neighbors_of(starts, nearest=2, place=1)
    assert [float(n.position_world_m.x) for n in last] == [2.0, 0.0]


def test_more_neighbors_than_there_are_vehicles_are_all_of_them():
    assert len(neighbors_of([at(0.0), at(1.0), at(2.0)], nearest=64)) == 2


@pytest.mark.slow
def test_many_neighbors_are_read_like_few():
    crowd = [at(0.0), *(at(2.5, 3.0 * i) for i in range(-4, 5))]
    assert range_m(crowd, nearest=9) == pytest.approx(2.2, abs=EXACT_M)


@pytest.mark.slow
@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_a_diverged_vehicle_is_invisible(broken):
    starts = [at(0.0), at(2.0, 0.0, broken), at(3.0)]
    assert range_m(starts) == pytest.approx(2.7, abs=EXACT_M)
    numbers = jax.tree.leaves(neighbors_of(starts))
    assert all(bool(jnp.isfinite(number)) for number in numbers)
    spinning = dataclasses.replace(
        starts[1], position_world_m=Vec3(2.0, 0.0, 0.0), yaw_rad=math.nan
    )
    assert range_m([starts[0], spinning, starts[2]]) == pytest.approx(2.7, abs=EXACT_M)


def test_a_vehicle_without_a_size_is_not_seen():
    sizes = [SIZE, Vec3(0.0, 0.0, 0.0), SIZE]
    assert range_m([at(0.0), at(2.0), at(3.0)], sizes=sizes) == pytest.approx(2.7, abs=EXACT_M)


@pytest.mark.parametrize(("speed_mps", "valid"), [(2.0, True), (5.5, True), (-1.0, False)])
def test_the_speed_of_a_neighbor_counts(speed_mps, valid):
    sensor = Ultrasonic(max_range_rate_mps=3.0)
    starts = [
        dataclasses.replace(at(x), velocity_world_mps=Vec3(v, 0.0, 0.0))
        for x, v in ((0.0, 3.0), (3.0, speed_mps))
    ]
    assert (range_m(starts, sensor) < 5.0) is valid


def test_the_turning_of_a_neighbor_counts_about_its_own_axes():
    sensor = Ultrasonic(max_range_rate_mps=1.0)
    # of a plate on edge a point 0.25 m from its axis is read; about x it moves at 1.25 m/s
    size = Vec3(1.0, 1.0, 0.1)
    for about, valid in ((Vec3(5.0, 0.0, 0.0), False), (Vec3(0.0, 0.0, 5.0), True)):
        plate = at(3.0, -0.25, 0.0, pitch_rad=math.pi / 2, yaw_rad=0.0)
        plate = dataclasses.replace(plate, angular_velocity_body_radps=about)
        assert (range_m([at(0.0), plate], sensor, sizes=[SIZE, size]) < 5.0) is valid


@pytest.mark.slow
def test_the_range_to_a_neighbor_has_the_derivative_one_by_its_place():
    def told(x):
        starts = [at(0.0), at(x)]
        return AHEAD.ideal(around(neighbors=neighbors_of(starts))).range_m

    assert float(jax.grad(told)(3.0)) == pytest.approx(1.0, abs=EXACT_M)
    assert math.isfinite(float(jax.grad(told)(0.0)))


@pytest.mark.slow
def test_vehicles_of_a_fleet_read_each_other(tmp_path):
    (tmp_path / "pair.yaml").write_text(
        """
name: pair
time: {rate_hz: 50, duration_s: 0.1}
world: {interactions: [visible]}
vehicles:
  back:
    model: pelican
    start: {position_world_m: [0, 0, 10]}
    sensors: {sonar: {type: ultrasonic}}
  front: {model: pelican, start: {position_world_m: [4, 0, 10]}}
"""
    )
    first = kw.load(str(tmp_path / "pair.yaml")).run().frame("back").iloc[0]
    # the Pelican's data file says 0.651 m
    assert first["sensor.sonar.range_m"] == pytest.approx(4.0 - 0.651 / 2.0, abs=EXACT_M)
    assert first["sensor.sonar.valid"] == 1.0
