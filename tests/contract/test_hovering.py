"""Every controller on every vehicle: it hovers, or is rejected with the missing command type.

A controller that requires others above or below it in the cascade is flown with the usual ones. In
calm air the vehicle begins at its setpoint with a yaw error and, for position setpoints, tilted.
After 20 s, which the slowest need, it must stay within 0.1 m for 30 s, with the commanded yaw.
"""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.control import CONTROLLERS
from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import (
    BodyVelocityYawRate,
    HeadingSpeed,
    ModeCommand,
    PositionYaw,
    SurfaceMotion,
    VelocityHeightYaw,
    VelocityYaw,
    VelocityYawRate,
)
from kittiwake.core.component import Scheduled
from kittiwake.core.errors import CascadeError, ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.parameters import build_component
from kittiwake.sim.fleet_builder import build_fleet
from kittiwake.vehicles import VEHICLES

RATE_HZ = 250.0
SETTLING_S, HOLDING_S, ALLOWED_M, ALLOWED_RAD = 20.0, 30.0, 0.1, 0.02
# these ask for a yaw of zero
LOOKING = (PositionYaw, VelocityYaw, VelocityHeightYaw, ModeCommand)
# over land, and on the water
PLACE, ON_WATER = Vec3(1.0, -2.0, 10.0), Vec3(1.0, -2.0, 0.0)
STILL = Vec3.zero()
# what leads to a controller and on from it, where nothing else does
USUAL = (
    *("position", "velocity", "yaw-rate", "acceleration"),
    *("attitude", "attitude-rates", "rates", "mixer"),
)
# command types in order of preference
SETPOINTS = {
    PositionYaw: lambda place: PositionYaw(place, 0.0),
    VelocityYaw: lambda _: VelocityYaw(STILL, 0.0),
    VelocityYawRate: lambda _: VelocityYawRate(STILL, 0.0),
    BodyVelocityYawRate: lambda _: BodyVelocityYawRate(STILL, 0.0),
    VelocityHeightYaw: lambda place: VelocityHeightYaw(0.0, 0.0, place.z, 0.0),
    # as far from a floor as it should be
    SurfaceMotion: lambda _: SurfaceMotion(1.0, 1.0, Vec3(0.0, 0.0, 1.0), 0.0),
    HeadingSpeed: lambda _: HeadingSpeed(0.0, 0.0),
    ModeCommand: lambda place: ModeCommand(
        1.0, position=PositionYaw(place, 0.0), position_given=True
    ),
}
# noise of its own would move it from its place
STILLED = {"pelican": "parameters: {linear_noise_mps2: 0, angular_noise_radps2: 0}"}
FOOTLESS = "parameters: {landing_gear: null}"


class Constant(AbstractGuidance):
    """Guidance with a constant setpoint."""

    command: Any

    def command_types(self):
        return (type(self.command),)

    def step(self, state, inputs, dt_s, key):
        del inputs, dt_s, key
        return state, as_arrays(self.command)


def bridges_of(vehicle):
    return [CONTROLLERS.find(name) for name in VEHICLES.find(vehicle).builtin_controllers]


def chain(vehicle, controller):
    """Return the command type and the controllers beside the vehicle's own; None without a path."""
    tested = CONTROLLERS.find(controller)
    brought = bridges_of(vehicle)
    names = [
        controller,
        *(name for name in USUAL if CONTROLLERS.find(name) not in (tested, *brought)),
    ]
    available = [*(CONTROLLERS.find(name) for name in names), *brought]
    for signal in SETPOINTS:
        try:
            path = cascade_path(available, signal, VEHICLES.find(vehicle).dynamics.command_type)
        except CascadeError:
            continue
        if any(available[i] is tested for i in path):
            return signal, [names[i] for i in path if i < len(names)]
    return None


def unsuitable(vehicle, controller):
    """Return the error of a controller that does not suit a vehicle; None if it does."""
    model = VEHICLES.find(vehicle)
    dynamics = build_component(model.dynamics, model.parameters(), str)
    try:
        CONTROLLERS.find(controller).with_vehicle_defaults(dynamics, 9.81)
    except ScenarioError as error:
        return str(error)
    return None


PAIRS = [(v, c) for c in CONTROLLERS.names() for v in VEHICLES.names()]
LED = [pair for pair in PAIRS if chain(*pair)]
FLOWN = [pair for pair in LED if unsuitable(*pair) is None]
# each controller on the first vehicle that it flies; on the others where there is more time
FIRST = {c: v for v, c in reversed(FLOWN)}


def scenario_of(vehicle, controllers, default, *, tilted):
    kept = [name for name in controllers if name != default]
    listed = ", ".join([*kept, default])
    dynamics = VEHICLES.find(vehicle).dynamics
    extra = STILLED.get(
        vehicle, FOOTLESS if hasattr(dynamics, "landing_gear") else "parameters: {}"
    )
    place = place_of(vehicle)
    tilt = "roll_deg: 15, pitch_deg: -10, " if tilted else ""
    text = f"""
name: hover
time: {{rate_hz: {RATE_HZ:g}, duration_s: 50}}
vehicles:
  one:
    model: {vehicle}
    start: {{position_world_m: {[place.x, place.y, place.z]}, {tilt}yaw_deg: 30}}
    controller: [{listed}]
    guidance: hold
    {extra}
"""
    return build(parse_document(text, "hover.yaml"), Path())


def place_of(vehicle):
    return ON_WATER if VEHICLES.find(vehicle).default_controller.startswith("vessel") else PLACE


@pytest.mark.parametrize(
    ("vehicle", "controller"),
    [
        pytest.param(v, c, marks=[] if FIRST[c] == v else [pytest.mark.slow], id=f"{c}-{v}")
        for v, c in FLOWN
    ],
)
def test_a_controller_holds_its_position_in_calm_air(vehicle, controller):
    signal, names = chain(vehicle, controller)
    default = VEHICLES.find(vehicle).default_controller
    place = place_of(vehicle)
    tilted = signal in (PositionYaw, ModeCommand) and place is PLACE
    scenario = scenario_of(vehicle, names, default, tilted=tilted)
    guidance = Scheduled(Constant(SETPOINTS[signal](place)))
    flown = eqx.tree_at(
        lambda v: v.guidance, scenario.vehicles["one"], guidance, is_leaf=lambda x: x is None
    )
    used = cascade_path([r.component for r in flown.cascade], signal, flown.dynamics.command_type)
    assert any(type(flown.cascade[i].component) is CONTROLLERS.find(controller) for i in used)
    fleet = build_fleet(scenario.world, {"one": flown}, RATE_HZ)
    steps = round((SETTLING_S + HOLDING_S) * RATE_HZ)

    def away_m(groups):
        position = groups[0].truth.position_world_m
        apart = Vec3(position.x[0], position.y[0], position.z[0]) - place
        yaw = groups[0].truth.euler_world_from_body.yaw_rad[0]
        return apart.norm(), yaw, groups[0].status[0]

    distances, yaws, status = jax.jit(lambda key: fleet.rollout(fleet.init(key), steps, away_m)[1])(
        seed_key(0)
    )
    assert not np.asarray(status).any()
    assert float(jnp.max(distances[round(SETTLING_S * RATE_HZ) :])) < ALLOWED_M
    # a vessel keeps the heading with which it arrived
    if signal in LOOKING and place is PLACE:
        assert abs(float(yaws[-1])) < ALLOWED_RAD


@pytest.mark.slow
@pytest.mark.parametrize("vehicle", VEHICLES.names())
def test_unsuitable_controllers_are_rejected_with_the_missing_command_type(vehicle):
    actuator_command = VEHICLES.find(vehicle).dynamics.command_type
    apart = [c for v, c in PAIRS if v == vehicle and (v, c) not in FLOWN]
    assert apart
    for controller in apart:
        text = f"""
name: hover
time: {{rate_hz: {RATE_HZ:g}, duration_s: 1}}
vehicles:
  one: {{model: {vehicle}, guidance: hold, controller: {controller}}}
"""
        with pytest.raises(ScenarioError) as refused:
            build(parse_document(text, "hover.yaml"), Path())
        message = str(refused.value)
        if (vehicle, controller) in LED:
            assert unsuitable(vehicle, controller) in message
        else:
            assert f"to {actuator_command.__name__}, the vehicle's actuator command" in message
            assert "no controller leads from" in message
