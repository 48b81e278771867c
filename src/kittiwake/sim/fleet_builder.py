"""Builder of a fleet: groups of vehicles, their contact engine, partners, teams and cameras."""

from collections.abc import Mapping
from types import MappingProxyType

import jax
import numpy as np

from kittiwake.contact.engine import AbstractPhysics
from kittiwake.interfaces.renderer import Rendering
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.sim import camera_bodies, interactions, team_radio
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.group import group_vehicles
from kittiwake.sim.team_radio import Membership
from kittiwake.world.world import WorldModel


def build_fleet(
    world: WorldModel,
    vehicles: Mapping[str, AssembledVehicle],
    rate_hz: float,
    physics: AbstractPhysics | None = None,
    partners: Mapping[str, str] = MappingProxyType({}),
    teams: Mapping[str, Membership] = MappingProxyType({}),
    rendering: Rendering | None = None,
    additions: Mapping[str, str] = MappingProxyType({}),
    *,
    single_precision: bool = False,
    live_parameters: bool = False,
) -> Fleet:
    """Return a fleet of the given vehicles.

    Args:
        world: the environment.
        vehicles: the vehicles, by name; those of equal structure are stepped as one group.
        rate_hz: the physics rate.
        physics: the kind of contact physics; None for contact by each vehicle's own model.
        partners: for each vehicle that follows a deck, the vehicle or platform that carries it.
        teams: the membership of each vehicle; all others form one team.
        rendering: builds the renderer of the cameras, if there are any.
        additions: the name of the addition in flight with which a vehicle came, by vehicle.
        single_precision: true for float32, false for float64.
        live_parameters: true if the vehicles' parameters are arrays that may be replaced.
    """
    dtype = np.dtype(np.float32 if single_precision else np.float64)
    with jax.enable_x64(not single_precision):
        groups = group_vehicles(
            vehicles, dtype, live_parameters=live_parameters, additions=additions
        )
    ordered = {name: vehicles[name] for group in groups for name in group.names}
    return Fleet(
        world,
        groups,
        engine=None if physics is None else physics.engine(world, ordered),
        partners=interactions.partner_decks(world, groups, partners),
        roster=team_radio.build_roster([*ordered], teams),
        renderer=camera_bodies.build_renderer(rendering, world, ordered),
        rate_hz=rate_hz,
        single_precision=single_precision,
    )
