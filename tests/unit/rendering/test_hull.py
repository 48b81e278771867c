"""Meshes of vessels and their model parameters."""

import numpy as np
import pytest

from kittiwake.rendering.hull import propeller_mesh, rudder_mesh, vessel_meshes, vessel_of
from kittiwake.rendering.shapes import is_closed
from kittiwake.scenario.load import load_scenario


def dynamics_of(model):
    (vehicle,) = load_scenario(f"cruise-{model}").vehicles.values()
    return vehicle.dynamics


@pytest.mark.parametrize("model", ["strider", "otter"])
def test_hulls_have_the_dimensions_of_the_model(model):
    dynamics = dynamics_of(model)
    meshes = dict(vessel_meshes(vessel_of(dynamics)))
    points = np.concatenate([meshes["hulls"].vertices_m, meshes["bows"].vertices_m])
    sides = np.ptp(points, axis=0)
    assert sides[0] == pytest.approx(float(dynamics.size_body_m.x), rel=1e-6)
    assert sides[1] == pytest.approx(float(dynamics.size_body_m.y), rel=1e-6)
    assert is_closed(meshes["hulls"])
    assert is_closed(meshes["bows"])


@pytest.mark.parametrize("model", ["strider", "otter"])
def test_the_deck_is_at_the_landing_surface(model):
    dynamics = dynamics_of(model)
    deck = dynamics.deck
    plate = dict(vessel_meshes(vessel_of(dynamics)))["deck"].vertices_m
    assert plate[:, 2].max() == pytest.approx(float(deck.center_body_m.z))
    assert np.ptp(plate[:, 0]) == pytest.approx(float(deck.length_m), rel=1e-6)
    assert np.ptp(plate[:, 1]) == pytest.approx(float(deck.width_m), rel=1e-6)


def test_an_otter_has_the_draft_of_the_model():
    dynamics = dynamics_of("otter")
    hulls = dict(vessel_meshes(vessel_of(dynamics)))["hulls"].vertices_m
    assert -hulls[:, 2].min() == pytest.approx(float(dynamics.cross_flow.draft_m), rel=1e-6)


def test_a_catamaran_has_water_between_its_hulls():
    meshes = dict(vessel_meshes(vessel_of(dynamics_of("strider"))))
    assert np.abs(meshes["hulls"].vertices_m[:, 1]).min() > 0.1


def test_rudder_and_propellers_are_those_of_the_model():
    strider, otter = vessel_of(dynamics_of("strider")), vessel_of(dynamics_of("otter"))
    assert strider.rudder_x_m == pytest.approx(-0.34727)
    assert strider.propellers_y_m == ()
    assert otter.rudder_x_m is None
    assert otter.propellers_y_m == (0.395, -0.395)
    # the rudder extends astern of its axis
    assert rudder_mesh(strider).vertices_m[:, 0].mean() < 0.0
    # blades are balanced about x
    np.testing.assert_allclose(propeller_mesh(otter).vertices_m[:, 1:].mean(axis=0), 0.0, atol=1e-3)
