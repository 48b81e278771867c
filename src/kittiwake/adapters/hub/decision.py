"""What all members of a hub are to do, as one function of what they have reported."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.commands import VelocityYaw
from kittiwake.core.component import Scheduled
from kittiwake.core.keys import named
from kittiwake.core.kinematics import Start
from kittiwake.core.neighbors import NeighborTable, StateReport
from kittiwake.core.streams import Stream
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Count, Flag
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.sim import team_radio
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.group import Group
from kittiwake.sim.schedule import Clock, run
from kittiwake.world.radio import AbstractRadio, Broadcast

# nobody's team: others keep clear of such a member, and do not fly along with it
ALONE = -1


class MemberReports(NamedTuple):
    """What is known of all vehicles, along the first axis.

    ``motion`` holds position, velocity, yaw, the age of what was said, and acceleration; ``flags``
    whether one is there, flies along, and is to be told what to do; ``ticks`` for how many steps
    it has been told. ``tick`` is the hub's own.
    """

    motion: Any
    flags: Any
    ticks: Any
    tick: Any


class Decision(eqx.Module):
    """The radio and the guidance of a fleet, without its vehicles.

    The radio runs at every so many steps, as in a simulation.
    """

    fleet: Fleet
    radio: Scheduled[AbstractRadio]
    key: PRNGKeyArray
    period_s: float = eqx.field(static=True)

    def begin(self) -> tuple[Any, Any]:
        """The states of each group's guidance, and of the radio, before the first step."""
        air, _ = team_radio.begin(self.radio, self.fleet.roster, self.period_s, self.key)
        states = tuple(group.map(_first, self._streams(group)) for group in self.fleet.groups)
        return states, air

    def step(self, states: Any, air: Any, told: MemberReports) -> tuple[Any, Any, Array]:
        """The next states, and velocity, yaw and acceleration of each vehicle."""
        reports = jax.vmap(partial(_foreseen, self.period_s))(told.motion, told.flags)
        air, peers = self._heard(air, reports, told)
        groups = self.fleet.groups
        ends = np.cumsum([len(group.names) for group in groups])[:-1]
        parts = zip(
            *(groups, states, team_radio.split(peers, groups), _parted(reports, ends)),
            *(jnp.split(told.motion[:, 8:], ends), jnp.split(told.flags[:, 2], ends)),
            jnp.split(told.ticks, ends),
            strict=True,
        )
        later, wanted = zip(*(self._group(*part) for part in parts), strict=True)
        return later, air, jnp.concatenate(wanted)

    def _heard(
        self, air: Any, reports: StateReport, told: MemberReports
    ) -> tuple[Any, NeighborTable]:
        """The radio, and what each vehicle knows by it."""
        roster = self.fleet.roster
        teams = jnp.where(told.flags[:, 1], roster.team, jnp.full_like(roster.team, ALONE))
        roster = eqx.tree_at(lambda roster: roster.team, roster, teams)
        message = Broadcast(
            reports, reports.position_world_m, told.flags[:, 0], roster, jnp.zeros(())
        )
        stream = named(named(self.key, Stream.WORLD.of(team_radio.RADIO)), Stream.STEP)
        clock = Clock(told.tick, self.period_s)
        air, peers = run(self.radio, air, message, clock, stream)
        return air, team_radio.advance(self.radio, peers, clock)

    def _group(
        self,
        group: Group,
        states: Any,
        peers: Any,
        reports: Any,
        accelerations: Any,
        do: Any,
        ticks: Any,
    ) -> tuple[Any, Any]:
        """The next states of a group's guidance, and what it asks for: nothing if unguided."""
        if not is_guided(group.vehicle.guidance.component):
            return states, jnp.zeros((len(group.names), 7))
        streams = self._streams(group)
        return group.map(self._one, states, peers, reports, accelerations, do, ticks, streams)

    def _one(
        self,
        vehicle: Vehicle,
        state: Any,
        peers: NeighborTable,
        report: StateReport,
        acceleration_world_mps2: Array,
        do: Flag,
        tick: Count,
        stream: PRNGKeyArray,
    ) -> tuple[Any, Any]:
        place, velocity = report.position_world_m, report.velocity_world_mps
        start = Start(place, yaw_rad=report.yaw_rad, velocity_world_mps=velocity)
        motion = start.kinematics()
        pull = Vec3.of(acceleration_world_mps2) + Vec3(0.0, 0.0, self.fleet.world.gravity_mps2)
        force = motion.q_world_from_body.inverse().rotate(pull)
        motion = replace(motion, specific_force_body_mps2=force)
        time_s = jnp.asarray(tick, jnp.result_type(float)) * self.period_s
        inputs = GuidanceInputs(time_s, tick, as_arrays(motion), neighbors=peers)
        draw = jax.random.fold_in(stream, tick)
        guidance = vehicle.guidance.component
        after, signal = guidance.step(state, inputs, self.period_s, draw)
        assert isinstance(signal, VelocityYaw)
        wanted, ahead = signal.velocity_world_mps, signal.acceleration_world_mps2
        numbers = jnp.concatenate([wanted.array, jnp.asarray(signal.yaw_rad)[None], ahead.array])
        return tree_where(do, match_dtypes(after, state), state), numbers

    def _streams(self, group: Group) -> Any:
        """The keys of the guidance of a group's vehicles, as in a simulation."""
        keys = jax.vmap(lambda own: jax.random.fold_in(self.key, own))(group.name_hashes)
        return jax.vmap(lambda key: named(key, Stream.GUIDANCE))(keys)


def is_guided(guidance: AbstractGuidance) -> bool:
    """Whether it follows from what others do, and asks for velocities alone."""
    return guidance.requires_radio and guidance.command_types() == (VelocityYaw,)


def _first(vehicle: Vehicle, stream: PRNGKeyArray) -> Any:
    return as_arrays(vehicle.guidance.component.init(named(stream, Stream.INIT)))


def _foreseen(period_s: float, motion: Array, flags: Array) -> StateReport:
    """What a member would report now: for a period it goes on to accelerate, then straight on."""
    report = StateReport(Vec3.of(motion[:3]), Vec3.of(motion[3:6]), motion[6], flags[0])
    age_s = motion[7]
    speeding_s = jnp.minimum(age_s, period_s)
    gained = Vec3.of(motion[8:]) * speeding_s
    later = report.after(age_s)
    return replace(
        later,
        position_world_m=later.position_world_m + gained * (age_s - 0.5 * speeding_s),
        velocity_world_mps=later.velocity_world_mps + gained,
    )


def _parted(tree: Any, ends: Any) -> list[Any]:
    """A tree of arrays cut along its first axis."""
    leaves, treedef = jax.tree.flatten(tree)
    columns = zip(*(jnp.split(leaf, ends) for leaf in leaves), strict=True)
    return [jax.tree.unflatten(treedef, column) for column in columns]
