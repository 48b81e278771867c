"""Contract of all registered vehicles: valid parameters, a source, and a default controller."""

import dataclasses
from pathlib import Path

import jax.numpy as jnp
import pytest
from tests.contract.operating_points import CRUISING

from kittiwake.control import CONTROLLERS
from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.physics import DYNAMICS
from kittiwake.physics.surface_vessel import SurfaceVessel
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.parameters import build_component
from kittiwake.vehicles import VEHICLES


@pytest.fixture(params=VEHICLES.names())
def model(request):
    return VEHICLES.find(request.param)


@pytest.fixture
def dynamics(model):
    return build_component(model.dynamics, model.parameters(), str)


def test_data_file_names_every_required_parameter_and_no_other(model):
    required = {
        field.name
        for field in dataclasses.fields(model.dynamics)
        if field.default is field.default_factory is dataclasses.MISSING
    }
    known = {field.name for field in dataclasses.fields(model.dynamics)}
    assert required <= set(model.parameters()) <= known


def test_data_file_names_its_sources(model):
    text = model.data.read_text(encoding="utf-8")
    assert "Source:" in text


def test_dynamics_of_a_vehicle_are_registered(model):
    assert model.dynamics in {DYNAMICS.find(name) for name in DYNAMICS.names()}


@pytest.fixture
def cascade(model):
    """Return the cascade of a vehicle for which a scenario gives only the model."""
    name = VEHICLES.name_of(model)
    text = f"name: one\ntime: {{rate_hz: 400, duration_s: 1}}\nvehicles: {{one: {{model: {name}}}}}"
    vehicle = build(parse_document(text, "one.yaml"), Path()).vehicles["one"]
    return [level.component for level in vehicle.cascade]


@pytest.mark.slow
def test_default_controller_leads_to_the_actuator_command(model, cascade):
    path = cascade_path(cascade, cascade[0].consumes, model.dynamics.command_type)
    assert type(cascade[0]) is CONTROLLERS.find(model.default_controller)
    assert path[:1] == (0,)


@pytest.mark.slow
def test_bridges_lead_to_the_actuator_command(model, cascade):
    builtin_controllers = cascade[1:]
    assert [CONTROLLERS.name_of(type(bridge)) for bridge in builtin_controllers] == list(
        model.builtin_controllers
    )
    for bridge in builtin_controllers:
        assert cascade_path(builtin_controllers, bridge.consumes, model.dynamics.command_type)


@pytest.mark.slow
def test_gains_in_a_data_file_reach_the_controller_they_are_for(model, cascade):
    for bridge in cascade:
        for name, given in model.gains(CONTROLLERS.name_of(type(bridge))).items():
            assert getattr(bridge, name) == given


@pytest.mark.slow
def test_vehicle_begins_at_its_start(model, dynamics):
    start = CRUISING.start
    if model.dynamics is SurfaceVessel:  # of a start it takes what lies in the water's plane
        start = Start(
            start.position_world_m,
            yaw_rad=start.yaw_rad,
            velocity_world_mps=dataclasses.replace(start.velocity_world_mps, z=0.0),
            angular_velocity_body_radps=Vec3(0.0, 0.0, start.angular_velocity_body_radps.z),
        )
    state = as_arrays(dynamics.init(start.kinematics(), CRUISING.surroundings))
    motion = dynamics.kinematics(state)
    for found, given in (
        (motion.position_world_m, start.position_world_m),
        (motion.velocity_world_mps, start.velocity_world_mps),
        (motion.angular_velocity_body_radps, start.angular_velocity_body_radps),
    ):
        # the velocity goes through the body's axes and back
        assert jnp.allclose(found.array, given.array, rtol=0.0, atol=1e-14)
    assert all(limit.is_satisfied for limit in dynamics.limits(state))
