"""Flock server: members of a hub and their set points, without sockets or clock.

Reports of the members replace the broadcasts of simulated vehicles: they pass through the same
radio to the same guidance. All set points are computed together, in one compiled function. Each
report is extrapolated by its age: with its acceleration for one period of the hub, and straight
ahead from then on, as a vehicle extrapolates the messages of its neighbors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike

from kittiwake.adapters.hub.decision import Decision, MemberReports, is_guided
from kittiwake.adapters.hub.packets import Triple
from kittiwake.core.arrays import ArrayTree
from kittiwake.core.component import Scheduled
from kittiwake.core.errors import CommandError, HubError, ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.state_transfer import transfer_guidance
from kittiwake.scenario.scenario import Scenario
from kittiwake.world.radio import AbstractRadio

# longest extrapolation of the last report of a silent member
MAX_EXTRAPOLATION_S = 0.5
# double precision, as in the flights of scenarios
DOUBLE = True
# for guidance without a rate of its own, in a world whose radio has none either
DEFAULT_RATE_HZ = 25.0
# first step of a member that has not been guided yet
NOT_YET = -1


@dataclass(frozen=True)
class MemberSlot:
    """Vehicle of a scenario that a member may fly.

    Attributes:
        name: name of the vehicle.
        team: name of its team.
        index: index in the fleet.
        guided: True if the hub computes set points for it.
        behaviors: names of the behaviors that can be activated.
    """

    name: str
    team: str
    index: int
    guided: bool
    behaviors: tuple[str, ...]


class MemberSetpoint(NamedTuple):
    """Set point of a member."""

    tick: int
    velocity_world_mps: Triple
    position_world_m: Triple
    yaw_rad: float
    acceleration_world_mps2: Triple


class FlockServer:
    """Server of the set points for all members of a scenario's flocks.

    Members are identified by the names of their vehicles. Others receive the reports of joined
    members; active members that have reported are guided. Others keep clear of lost and paused
    members, too.
    """

    def __init__(self, scenario: Scenario, rate_hz: float | None = None) -> None:
        self.scenario, self._fleet = scenario, scenario.fleet()
        indices = {name: index for index, name in enumerate(self._fleet.names)}
        self.slots = {
            name: _slot(name, scenario.teams[name].team, indices[name], scenario.vehicles[name])
            for name in names_in_port_order(scenario)
        }
        guided = [scenario.vehicles[p.name] for p in self.slots.values() if p.guided]
        if not guided:
            message = (
                f"{scenario.name}: no vehicle flies in a flock, so a hub guides none; write "
                "guidance: {type: flock, behaviors: [...]}"
            )
            raise ScenarioError(message)
        self.rate_hz = rate_hz or max(_rate_hz(vehicle, scenario) for vehicle in guided)
        count = len(indices)
        self._motion = np.zeros((count, 11))
        self._last_heard_s = np.zeros(count)
        self._joined, self._reported = np.zeros(count, bool), np.zeros(count, bool)
        self._active, self._has_setpoint = np.zeros(count, bool), np.zeros(count, bool)
        self._guided = np.zeros(count, bool)
        self._guided[[slot.index for slot in self.slots.values() if slot.guided]] = True
        self._tick = 0
        self._first_tick = np.full(count, NOT_YET)
        self._setpoints: list[list[float]] = []
        with jax.enable_x64(DOUBLE):
            key = seed_key(scenario.seed)
            radio = _radio(scenario, self.rate_hz)
            self._decision = Decision(self._fleet, radio, key, self.period_s)
            self._initial_states, self._radio_state = self._decision.init()
        self._states = self._initial_states
        self._decide: Callable[..., ArrayTree] | None = None

    @property
    def period_s(self) -> float:
        """Time between two computations of all set points."""
        return 1.0 / self.rate_hz

    @property
    def compiled(self) -> bool:
        """True if set points can be computed."""
        return self._decide is not None

    def compile(self) -> None:
        """Compile the function that computes all set points; takes seconds."""
        with jax.enable_x64(DOUBLE):
            arguments = (self._states, self._radio_state, self._reports(0.0))
            self._decide = (
                jax.jit(lambda *inputs: self._decision.step(*inputs)).lower(*arguments).compile()
            )

    def of_scenario(self, scenario: Scenario) -> "FlockServer":
        """Return a compiled flock server of another scenario, at the same rate."""
        other = FlockServer(scenario, self.rate_hz)
        other.compile()
        return other

    def take_over(self, before: "FlockServer") -> None:
        """Continue with the members of another flock server that are vehicles of this one."""
        indices = [
            (slot.index, before.slots[name].index)
            for name, slot in self.slots.items()
            if name in before.slots
        ]
        here, there = np.array(indices, int).reshape(-1, 2).T
        for array, known in zip(self._arrays, before._arrays, strict=True):
            array[here] = known[there]
        setpoints = np.zeros((len(self.slots), 7))
        if before._setpoints:
            setpoints[here] = np.array(before._setpoints)[there]
        self._setpoints, self._tick = setpoints.tolist(), before._tick
        fresh = self._states, self._radio_state
        with jax.enable_x64(DOUBLE):
            self._states, self._radio_state = transfer_guidance(
                before._fleet, (before._states, before._radio_state), self._fleet, fresh
            )

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays with the vehicles along the first axis."""
        return (
            self._motion,
            self._last_heard_s,
            self._joined,
            self._reported,
            self._active,
            self._has_setpoint,
            self._first_tick,
        )

    def positions(self) -> dict[str, Vec3]:
        """Return the last known position of each member, in meters in the world."""
        return {
            name: Vec3(*self._motion[slot.index, :3].tolist())
            for name, slot in self.slots.items()
            if self._joined[slot.index]
        }

    def is_new(self, name: str) -> bool:
        """Return True if no member has flown a vehicle so far."""
        index = self.slots[name].index
        return not self._reported[index] and self._first_tick[index] == NOT_YET

    def join(self, name: str, position_world_m: Triple, now_s: float) -> None:
        """Add a member that flies a vehicle.

        The guidance of a lost member continues; otherwise it starts anew.
        """
        index = self.slots[name].index
        was_lost = self._joined[index]
        self._motion[index] = 0.0
        self._motion[index, :3] = position_world_m
        self._last_heard_s[index] = now_s
        self._joined[index] = self._active[index] = True
        self._reported[index] = self._has_setpoint[index] = False
        if was_lost:
            return
        self._first_tick[index] = NOT_YET
        group, place = self._fleet.locate(name)
        initial = jax.tree.map(lambda leaf: leaf[place], self._initial_states[group])
        self._set_state(group, place, initial)

    def report(
        self,
        name: str,
        position_world_m: Triple,
        velocity_world_mps: Triple,
        yaw_rad: float,
        now_s: float,
        acceleration_world_mps2: Triple = (0.0, 0.0, 0.0),
    ) -> None:
        """Store the reported motion of a member."""
        index = self.slots[name].index
        self._motion[index, :7] = (*position_world_m, *velocity_world_mps, yaw_rad)
        self._motion[index, 8:] = acceleration_world_mps2
        self._last_heard_s[index] = now_s
        self._reported[index] = True

    def pause(self, name: str) -> None:
        """Deactivate a member: it gets no set points, and is in no flock."""
        index = self.slots[name].index
        self._active[index] = self._has_setpoint[index] = False

    def resume(self, name: str) -> None:
        """Activate a member again."""
        self._active[self.slots[name].index] = True

    def lose(self, name: str) -> None:
        """Deactivate a lost member; others keep clear of its last known position."""
        self.pause(name)

    def leave(self, name: str) -> None:
        """Remove a member."""
        self.pause(name)
        self._joined[self.slots[name].index] = False

    def set_behaviors(self, name: str, behaviors: Sequence[str | int]) -> None:
        """Activate only these of a member's behaviors, given by name or by index in the list.

        Raises:
            CommandError: if it has no behaviors, or none of such a name or index.
        """
        names = [self._behavior_name(name, behavior) for behavior in behaviors]
        group, place = self._fleet.locate(name)
        guidance = self._fleet.groups[group].vehicle.guidance.component
        state = jax.tree.map(lambda leaf: leaf[place], self._states[group])
        with jax.enable_x64(DOUBLE):
            self._set_state(group, place, guidance.with_active_behaviors(state, names))

    def _behavior_name(self, name: str, behavior: str | int) -> str:
        known = self.slots[name].behaviors
        if isinstance(behavior, str):
            return behavior
        if not known:
            message = f"{name} has no behaviors"
            raise CommandError(message)
        if not 0 <= behavior < len(known):
            message = f"there is no behavior {behavior}; must be in 0 to {len(known) - 1}"
            raise CommandError(message)
        return known[behavior]

    def is_active(self, name: str) -> bool:
        """Return True if a member has joined, and is neither paused nor lost."""
        index = self.slots[name].index
        return bool(self._joined[index] and self._active[index])

    def has_reported(self, name: str) -> bool:
        """Return True if a member has reported its motion since it joined."""
        return bool(self._reported[self.slots[name].index])

    def advance(self, now_s: float) -> None:
        """Compute the set points of all members."""
        if self._decide is None:
            return
        reports = self._reports(now_s)
        begins = reports.flags[:, 2] & (self._first_tick == NOT_YET)
        self._first_tick[begins] = self._tick
        with jax.enable_x64(DOUBLE):
            self._states, self._radio_state, outputs = self._decide(
                self._states, self._radio_state, reports
            )
            setpoints = np.asarray(outputs)
        self._tick += 1
        self._has_setpoint = reports.flags[:, 2] & np.isfinite(setpoints).all(axis=1)
        self._setpoints = setpoints.tolist()

    def setpoint(self, name: str) -> MemberSetpoint | None:
        """Return a member's set point, from its reported position; None if it has none."""
        index = self.slots[name].index
        if not self._has_setpoint[index]:
            return None
        x_mps, y_mps, z_mps, yaw_rad, *acceleration_mps2 = self._setpoints[index]
        x_mps2, y_mps2, z_mps2 = acceleration_mps2
        x_m, y_m, z_m = self._motion[index, :3].tolist()
        dt_s = self.period_s
        position = (x_m + x_mps * dt_s, y_m + y_mps * dt_s, z_m + z_mps * dt_s)
        velocity, acceleration = (x_mps, y_mps, z_mps), (x_mps2, y_mps2, z_mps2)
        return MemberSetpoint(self._tick, velocity, position, yaw_rad, acceleration)

    def _reports(self, now_s: float) -> MemberReports:
        motion = self._motion.copy()
        motion[:, 7] = np.clip(now_s - self._last_heard_s, 0.0, MAX_EXTRAPOLATION_S)
        active = self._joined & self._active
        flags = np.stack([self._joined, active, active & self._reported & self._guided], axis=1)
        started = self._first_tick != NOT_YET
        ticks = np.where(started, self._tick - self._first_tick, 0).astype(np.int32)
        return MemberReports(motion, flags, ticks, np.asarray(self._tick, np.int32))

    def _set_state(self, group: int, place: int, state: ArrayTree) -> None:
        """Replace the guidance state of one member."""
        changed = jax.tree.map(lambda leaf, new: _put(leaf, place, new), self._states[group], state)
        states = [*self._states]
        states[group] = changed
        self._states = tuple(states)


def names_in_port_order(scenario: Scenario) -> list[str]:
    """Return the names of all vehicles in the order of their ports: by team, as in the file."""
    teams = list(dict.fromkeys(member.team for member in scenario.teams.values()))
    return sorted(scenario.teams, key=lambda name: teams.index(scenario.teams[name].team))


def _slot(name: str, team: str, index: int, vehicle: AssembledVehicle) -> MemberSlot:
    guidance = vehicle.guidance.component
    return MemberSlot(name, team, index, is_guided(guidance), guidance.behavior_names)


def _rate_hz(vehicle: AssembledVehicle, scenario: Scenario) -> float:
    """Return the default rate of the hub for a vehicle.

    A mission has no rate of its own: its default is the rate of the radio.
    """
    radio = scenario.world.radio
    for every in (vehicle.guidance.every, 1 if radio is None else radio.every):
        if every > 1:
            return scenario.rate_hz / every
    steps = scenario.rate_hz / DEFAULT_RATE_HZ
    return DEFAULT_RATE_HZ if steps == round(steps) else scenario.rate_hz


def _radio(scenario: Scenario, rate_hz: float) -> Scheduled[AbstractRadio]:
    """Return the scenario's radio at its rate there, rounded to whole steps of the hub.

    Raises:
        HubError: if the radio cannot run at that rate.
    """
    radio = scenario.world.radio
    assert radio is not None, "a world with flocks has a radio"
    every = max(1, round(radio.every / scenario.rate_hz * rate_hz))
    try:
        radio.component.check(every / rate_hz)
    except ScenarioError as error:
        message = f"world.radio: at the hub's {rate_hz:g} Hz: {error}; or give another --rate"
        raise HubError(message) from None
    return Scheduled(radio.component, every)


def _put(leaf: Array | np.ndarray, place: int, new: ArrayLike) -> Array | np.ndarray:
    """Return a leaf with one vehicle's part replaced; on the host, where that is cheapest."""
    if isinstance(leaf, Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return leaf.at[place].set(new)
    changed = np.array(leaf)
    changed[place] = new
    return changed
