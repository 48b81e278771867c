"""Computation of the set points of all members of a hub from their reports."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from kittiwake.core.arrays import ArrayTree, as_arrays, match_dtypes
from kittiwake.core.commands import VelocityYaw
from kittiwake.core.component import Scheduled
from kittiwake.core.keys import fold_in_name
from kittiwake.core.kinematics import Start
from kittiwake.core.neighbors import NeighborTable, StateReport
from kittiwake.core.streams import Stream
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Integer
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module, field
from kittiwake.sim import team_radio
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.group import Group
from kittiwake.sim.schedule import Clock, ScheduledState, run
from kittiwake.world.radio import AbstractRadio, Broadcast

# team of inactive members: others keep clear of them, and form no flock with them
NO_TEAM = -1

# the state of each group's guidance, along an axis of its vehicles
GuidanceStates: TypeAlias = tuple[ArrayTree, ...]


class MemberReports(NamedTuple):
    """Reports of all vehicles, along the first axis.

    ``motion`` (vehicles, 11) holds position, velocity, yaw, age of the report, and acceleration;
    ``flags`` (vehicles, 3) whether a vehicle is present, active, and guided; ``ticks`` the number
    of steps for which it has been guided. ``tick`` is the hub's own.
    """

    motion: np.ndarray
    flags: np.ndarray
    ticks: np.ndarray
    tick: np.ndarray


class Decision(Module):
    """Radio and guidance of a fleet, without its vehicles.

    The radio runs at its own rate, as in a simulation.
    """

    fleet: Fleet
    radio: Scheduled[AbstractRadio]
    key: PRNGKeyArray
    period_s: float = field(static=True)

    def init(self) -> tuple[GuidanceStates, ScheduledState]:
        """Return the states of each group's guidance, and of the radio, before the first step."""
        radio_state, _ = team_radio.init(self.radio, self.fleet.roster, self.period_s, self.key)
        states = tuple(
            group.map(_initial_state, self._streams(group)) for group in self.fleet.groups
        )
        return states, radio_state

    def step(
        self, states: GuidanceStates, radio_state: ScheduledState, reported: MemberReports
    ) -> tuple[GuidanceStates, ScheduledState, Array]:
        """Return the next states, and (vehicles, 7) velocity, yaw and acceleration."""
        motion, flags, ticks, tick = map(jnp.asarray, reported)
        reports = jax.vmap(partial(_extrapolate, self.period_s))(motion, flags)
        radio_state, neighbors = self._run_radio(radio_state, reports, flags, tick)
        groups = self.fleet.groups
        ends = np.cumsum([len(group.names) for group in groups])[:-1]
        parts = zip(
            groups,
            states,
            team_radio.split(neighbors, groups),
            _split_reports(reports, ends),
            jnp.split(motion[:, 8:], ends),
            jnp.split(flags[:, 2], ends),
            jnp.split(ticks, ends),
            strict=True,
        )
        later, setpoints = zip(*(self._step_group(*part) for part in parts), strict=True)
        return later, radio_state, jnp.concatenate(setpoints)

    def _run_radio(
        self, radio_state: ScheduledState, reports: StateReport, flags: Array, tick: Array
    ) -> tuple[ScheduledState, NeighborTable]:
        """Return the radio's next state, and the neighbor table of each vehicle."""
        roster = self.fleet.roster
        teams = jnp.where(flags[:, 1], roster.team, jnp.full_like(roster.team, NO_TEAM))
        roster = replace(roster, team=teams)
        message = Broadcast(reports, reports.position_world_m, flags[:, 0], roster, jnp.zeros(()))
        stream = fold_in_name(
            fold_in_name(self.key, Stream.WORLD.of(team_radio.RADIO)), Stream.STEP
        )
        clock = Clock(tick, self.period_s)
        radio_state, neighbors = run(self.radio, radio_state, message, clock, stream)
        return radio_state, team_radio.advance(self.radio, neighbors, clock)

    def _step_group(
        self,
        group: Group,
        states: ArrayTree,
        neighbors: NeighborTable | None,
        reports: StateReport,
        accelerations: Array,
        guided: Array,
        ticks: Array,
    ) -> tuple[ArrayTree, Array]:
        """Return the next states of a group's guidance, and its set points: zeros if unguided."""
        if not is_guided(group.vehicle.guidance.component):
            return states, jnp.zeros((len(group.names), 7))
        return group.map(
            self._step_member,
            states,
            neighbors,
            reports,
            accelerations,
            guided,
            ticks,
            self._streams(group),
        )

    def _step_member(
        self,
        vehicle: AssembledVehicle,
        state: ArrayTree,
        neighbors: NeighborTable | None,
        report: StateReport,
        acceleration_world_mps2: Array,
        guided: Flag,
        tick: Integer,
        stream: PRNGKeyArray,
    ) -> tuple[ArrayTree, Array]:
        position, velocity = report.position_world_m, report.velocity_world_mps
        start = Start(position, yaw_rad=report.yaw_rad, velocity_world_mps=velocity)
        motion = start.kinematics()
        specific_force_world_mps2 = Vec3.of(acceleration_world_mps2) + Vec3(
            0.0, 0.0, self.fleet.world.gravity_mps2
        )
        force = motion.q_world_from_body.inverse().rotate(specific_force_world_mps2)
        motion = replace(motion, specific_force_body_mps2=force)
        time_s = jnp.asarray(tick, jnp.result_type(float)) * self.period_s
        inputs = GuidanceInputs(time_s, tick, as_arrays(motion), neighbors=neighbors)
        key = jax.random.fold_in(stream, tick)
        guidance = vehicle.guidance.component
        after, command = guidance.step(state, inputs, self.period_s, key)
        assert isinstance(command, VelocityYaw)
        velocity, acceleration = command.velocity_world_mps, command.acceleration_world_mps2
        setpoint = jnp.concatenate(
            [velocity.array, jnp.asarray(command.yaw_rad)[None], acceleration.array]
        )
        return tree_where(guided, match_dtypes(after, state), state), setpoint

    def _streams(self, group: Group) -> Array:
        """Return the keys of the guidance of a group's vehicles, as in a simulation."""
        keys = jax.vmap(lambda own: jax.random.fold_in(self.key, own))(group.name_hashes)
        return jax.vmap(lambda key: fold_in_name(key, Stream.GUIDANCE))(keys)


def is_guided(guidance: AbstractGuidance) -> bool:
    """Return True if the guidance requires the radio and commands only velocities."""
    return guidance.requires_radio and guidance.command_types() == (VelocityYaw,)


def _initial_state(vehicle: AssembledVehicle, stream: PRNGKeyArray) -> ArrayTree:
    return as_arrays(vehicle.guidance.component.init(fold_in_name(stream, Stream.INIT)))


def _extrapolate(period_s: float, motion: Array, flags: Array) -> StateReport:
    """Return the report extrapolated by its age: accelerated for a period, then straight."""
    report = StateReport(Vec3.of(motion[:3]), Vec3.of(motion[3:6]), motion[6], flags[0])
    age_s = motion[7]
    accelerated_s = jnp.minimum(age_s, period_s)
    gained_mps = Vec3.of(motion[8:]) * accelerated_s
    later = report.after(age_s)
    return replace(
        later,
        position_world_m=later.position_world_m + gained_mps * (age_s - 0.5 * accelerated_s),
        velocity_world_mps=later.velocity_world_mps + gained_mps,
    )


def _split_reports(reports: StateReport, ends: np.ndarray) -> list[StateReport]:
    """Return each group's reports, split along the first axis."""
    leaves, treedef = jax.tree.flatten(reports)
    columns = zip(*(jnp.split(leaf, ends) for leaf in leaves), strict=True)
    return [jax.tree.unflatten(treedef, column) for column in columns]
