"""Every controller on every vehicle: it holds a place, or is refused with the missing rung named.

A controller that needs others above or below it is flown with the usual ones there. In calm air the
vehicle begins at its place, turned away and, where a place is asked for, tilted. After 20 s, which
the slowest need to come back, it has to stay within 0.1 m for thirty, and to look where it should.
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
from kittiwake.sim.fleet import Fleet
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
# from what is asked for at first to what is where the others do not lead
ASKED = {
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
    """Asks for the same for ever."""

    command: Any

    def command_types(self):
        return (type(self.command),)

    def step(self, state, inputs, dt_s, key):
        del inputs, dt_s, key
        return state, as_arrays(self.command)


def bridges_of(vehicle):
    return [CONTROLLERS.find(name) for name in VEHICLES.find(vehicle).bridges]


def chain(vehicle, controller):
    """The signal to begin with, and the controllers beside the vehicle's own; None if none leads.

    Ladders look at what controllers take and give, which their classes say.
    """
    wanted = CONTROLLERS.find(controller)
    brought = bridges_of(vehicle)
    names = [
        controller,
        *(name for name in USUAL if CONTROLLERS.find(name) not in (wanted, *brought)),
    ]
    at_hand = [*(CONTROLLERS.find(name) for name in names), *brought]
    for signal in ASKED:
        try:
            path = cascade_path(at_hand, signal, VEHICLES.find(vehicle).dynamics.command_type)
        except CascadeError:
            continue
        if any(at_hand[i] is wanted for i in path):
            return signal, [names[i] for i in path if i < len(names)]
    return None


def misfit(vehicle, controller):
    """What a controller says of a vehicle that it is not made for; None if it fits."""
    model = VEHICLES.find(vehicle)
    dynamics = build_component(model.dynamics, model.parameters(), str)
    try:
        CONTROLLERS.find(controller).with_vehicle_defaults(dynamics, 9.81)
    except ScenarioError as error:
        return str(error)
    return None


PAIRS = [(v, c) for c in CONTROLLERS.names() for v in VEHICLES.names()]
LED = [pair for pair in PAIRS if chain(*pair)]
FLOWN = [pair for pair in LED if misfit(*pair) is None]
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
def test_a_controller_holds_a_place_in_calm_air(vehicle, controller):
    signal, names = chain(vehicle, controller)
    default = VEHICLES.find(vehicle).default_controller
    place = place_of(vehicle)
    tilted = signal in (PositionYaw, ModeCommand) and place is PLACE
    scenario = scenario_of(vehicle, names, default, tilted=tilted)
    told = Scheduled(Constant(ASKED[signal](place)))
    flown = eqx.tree_at(
        lambda v: v.guidance, scenario.vehicles["one"], told, is_leaf=lambda x: x is None
    )
    used = cascade_path([r.component for r in flown.cascade], signal, flown.dynamics.command_type)
    assert any(type(flown.cascade[i].component) is CONTROLLERS.find(controller) for i in used)
    fleet = Fleet.of(scenario.world, {"one": flown}, RATE_HZ)
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
    # a boat lies as it came
    if signal in LOOKING and place is PLACE:
        assert abs(float(yaws[-1])) < ALLOWED_RAD


@pytest.mark.parametrize("vehicle", VEHICLES.names())
def test_what_leads_to_no_command_of_the_vehicle_is_refused_with_the_missing_rung(vehicle):
    native = VEHICLES.find(vehicle).dynamics.command_type
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
        said = str(refused.value)
        if (vehicle, controller) in LED:
            assert misfit(vehicle, controller) in said
        else:
            assert f"to {native.__name__}, the vehicle's native command" in said
            assert "nothing leads from" in said
