"""Meshes of multirotors and their model parameters."""

import numpy as np
import pytest
from tests.hexacopter import HEXACOPTER

from kittiwake.rendering.airframe import airframe_meshes, airframe_of, rotor_meshes
from kittiwake.rendering.shapes import is_closed
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.parameters import build_component

FLYING = ["hummingbird", "crazyflie", "ar-drone", "os4", "hexacopter"]


def dynamics_of(model):
    if model == "hexacopter":
        return build_component(HEXACOPTER.dynamics, HEXACOPTER.parameters(), str)
    (vehicle,) = load_scenario(f"hover-{model}").vehicles.values()
    return vehicle.dynamics


def of_all(meshes):
    return np.concatenate([mesh.vertices_m for _, mesh in meshes])


@pytest.mark.parametrize("model", FLYING)
def test_rotors_have_the_positions_and_radius_of_the_model(model):
    dynamics = dynamics_of(model)
    rotors = airframe_of(dynamics).rotors
    hubs = [(float(hub.x), float(hub.y), float(hub.z)) for hub in dynamics.hubs_body_m]
    assert list(rotors.hubs_body_m) == hubs
    assert list(rotors.spins) == [int(spin) for spin in dynamics.spins]
    for spin in (1, -1):
        for _, mesh in rotor_meshes(rotors.radius_m, spin):
            reach = np.linalg.norm(mesh.vertices_m[:, :2], axis=1).max()
            assert reach == pytest.approx(float(dynamics.rotor.disc_radius_m), rel=0.02)


@pytest.mark.parametrize("model", FLYING)
def test_arms_end_at_the_rotors_and_legs_at_the_feet(model):
    dynamics = dynamics_of(model)
    points = of_all(airframe_meshes(airframe_of(dynamics)))
    for hub in dynamics.hubs_body_m:
        beside = np.linalg.norm(points[:, :2] - [float(hub.x), float(hub.y)], axis=1)
        assert beside.min() < 0.1 * np.hypot(float(hub.x), float(hub.y))
    if dynamics.landing_gear is not None:
        lowest = min(float(foot.z) for foot in dynamics.landing_gear.points_body_m)
        assert points[:, 2].min() == pytest.approx(lowest, abs=1e-3)


@pytest.mark.parametrize("model", ["pelican", "angle-velocity", "uav-gazebo"])
def test_a_model_without_rotor_positions_fills_its_box(model):
    dynamics = dynamics_of(model)
    rotors = airframe_of(dynamics).rotors
    hubs = np.array(rotors.hubs_body_m)
    size = [float(dynamics.size_body_m.x), float(dynamics.size_body_m.y)]
    np.testing.assert_allclose(2.0 * (np.abs(hubs[0, :2]) + rotors.radius_m), size)
    assert sorted(rotors.spins) == [-1, -1, 1, 1]


@pytest.mark.parametrize("model", FLYING)
def test_bodies_and_blades_are_closed(model):
    airframe = airframe_of(dynamics_of(model))
    for name, mesh in airframe_meshes(airframe):
        assert is_closed(mesh), name
    assert is_closed(rotor_meshes(airframe.rotors.radius_m, 1)[0][1])


def test_front_arms_have_another_color():
    meshes = dict(airframe_meshes(airframe_of(dynamics_of("crazyflie"))))
    assert meshes["arms ahead"].rgb != meshes["arms"].rgb
    assert meshes["arms ahead"].vertices_m[:, 0].max() > 0.02
    assert meshes["arms"].vertices_m[:, 0].max() < 0.01


def test_blades_are_pitched_by_their_direction_of_rotation():
    # the leading edge is the upper one: for a blade along +x turning left, the edge towards +y
    for spin in (1, -1):
        points = rotor_meshes(1.0, spin)[0][1].vertices_m
        blade = points[(points[:, 0] > 0.2) & (points[:, 0] < 0.9)]
        left, right = blade[blade[:, 1] > 0.02], blade[blade[:, 1] < -0.02]
        assert spin * (left[:, 2].mean() - right[:, 2].mean()) > 0.01
