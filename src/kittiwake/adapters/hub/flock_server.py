"""The members of a hub, and what each of them is to do: no socket, no clock.

What members report stands in for what vehicles of the simulation tell each other: it goes through
the same radio, and to the same guidance. All set points are computed together, in one compiled
function. A report is carried on by its age: with its acceleration for a period of the hub, and
straight ahead from then on, as a vehicle does with what it heard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.adapters.hub.decision import Decision, MemberReports, is_guided
from kittiwake.adapters.hub.packets import Triple
from kittiwake.core.component import Scheduled
from kittiwake.core.errors import CommandError, HubError, ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.world.radio import AbstractRadio

# a member that has fallen silent is not carried on for longer
LONGEST_FORESIGHT_S = 0.5
# as scenarios are flown
DOUBLE = True
# of guidance without a rate of its own, in a world whose radio has none either
USUAL_HZ = 25.0
# the first step of a member that has not been told anything
NOT_YET = -1


@dataclass(frozen=True)
class Place:
    """One of the vehicles of a scenario, to be taken by a member.

    Attributes:
        name: the vehicle's.
        team: its team's.
        own: its number in the fleet.
        guided: whether the hub has anything to tell it.
        behaviors: what may be switched, by name.
    """

    name: str
    team: str
    own: int
    guided: bool
    behaviors: tuple[str, ...]


class MemberSetpoint(NamedTuple):
    """What a member is to do."""

    tick: int
    velocity_world_mps: Triple
    position_world_m: Triple
    yaw_rad: float
    acceleration_world_mps2: Triple


class FlockServer:
    """All members of a scenario's flocks.

    Members are known by the names of their vehicles. Those who have joined are heard by others;
    those who are ready and have reported are guided. A lost or paused one is still kept clear of.
    """

    def __init__(self, scenario: Scenario, rate_hz: float | None = None) -> None:
        self._fleet = scenario.fleet()
        own = {name: number for number, name in enumerate(self._fleet.names)}
        self.places = {
            name: _place(name, scenario.teams[name].team, own[name], scenario.vehicles[name])
            for name in in_order_of_ports(scenario)
        }
        guided = [scenario.vehicles[p.name] for p in self.places.values() if p.guided]
        if not guided:
            message = (
                f"{scenario.name}: no vehicle flies in a flock, so a hub has nothing to do; write "
                "guidance: {type: flock, behaviors: [...]}"
            )
            raise ScenarioError(message)
        self.rate_hz = rate_hz or max(_rate_hz(vehicle, scenario) for vehicle in guided)
        count = len(own)
        self._motion = np.zeros((count, 11))
        self._heard_s = np.zeros(count)
        self._joined, self._reported = np.zeros(count, bool), np.zeros(count, bool)
        self._along, self._fresh = np.zeros(count, bool), np.zeros(count, bool)
        self._guided = np.zeros(count, bool)
        self._guided[[place.own for place in self.places.values() if place.guided]] = True
        self._tick = 0
        self._first_tick = np.full(count, NOT_YET)
        self._wanted: list[list[float]] = []
        with jax.enable_x64(DOUBLE):
            key = seed_key(scenario.seed)
            radio = _radio(scenario, self.rate_hz)
            self._decision = Decision(self._fleet, radio, key, self.period_s)
            self._first, self._air = self._decision.begin()
        self._states = self._first
        self._decide: Any = None

    @property
    def period_s(self) -> float:
        """Between two computations of all set points."""
        return 1.0 / self.rate_hz

    @property
    def compiled(self) -> bool:
        """Whether set points can be computed."""
        return self._decide is not None

    def compile(self) -> None:
        """Makes the function that computes all set points; takes seconds."""
        with jax.enable_x64(DOUBLE):
            arguments = (self._states, self._air, self._told(0.0))
            self._decide = (
                jax.jit(lambda *told: self._decision.step(*told)).lower(*arguments).compile()
            )

    def join(self, name: str, position_world_m: Triple, now_s: float) -> None:
        """Somebody takes the place of a vehicle.

        Where one was lost before, its guidance goes on; otherwise it begins.
        """
        own = self.places[name].own
        goes_on = self._joined[own]
        self._motion[own] = 0.0
        self._motion[own, :3] = position_world_m
        self._heard_s[own] = now_s
        self._joined[own] = self._along[own] = True
        self._reported[own] = self._fresh[own] = False
        if goes_on:
            return
        self._first_tick[own] = NOT_YET
        number, lane = self._fleet.place(name)
        first = jax.tree.map(lambda leaf: leaf[lane], self._first[number])
        self._change(number, lane, first)

    def report(
        self,
        name: str,
        position_world_m: Triple,
        velocity_world_mps: Triple,
        yaw_rad: float,
        now_s: float,
        acceleration_world_mps2: Triple = (0.0, 0.0, 0.0),
    ) -> None:
        """How a member moves."""
        own = self.places[name].own
        self._motion[own, :7] = (*position_world_m, *velocity_world_mps, yaw_rad)
        self._motion[own, 8:] = acceleration_world_mps2
        self._heard_s[own] = now_s
        self._reported[own] = True

    def pause(self, name: str) -> None:
        """The member does not fly along any more."""
        own = self.places[name].own
        self._along[own] = self._fresh[own] = False

    def resume(self, name: str) -> None:
        """The member flies along again."""
        self._along[self.places[name].own] = True

    def lose(self, name: str) -> None:
        """Nothing is known of the member any more; others keep clear of where it was."""
        self.pause(name)

    def leave(self, name: str) -> None:
        """The member is gone."""
        self.pause(name)
        self._joined[self.places[name].own] = False

    def behave(self, name: str, behaviors: Sequence[str | int]) -> None:
        """Only these of a member's behaviors count from now on, by name or place in the list.

        Raises:
            CommandError: if it has none, or none of such a name or place.
        """
        named_all = [self._named(name, one) for one in behaviors]
        number, lane = self._fleet.place(name)
        guidance = self._fleet.groups[number].vehicle.guidance.component
        present = jax.tree.map(lambda leaf: leaf[lane], self._states[number])
        with jax.enable_x64(DOUBLE):
            self._change(number, lane, guidance.with_active_behaviors(present, named_all))

    def _named(self, name: str, behavior: str | int) -> str:
        """A behavior of a member by its name."""
        known = self.places[name].behaviors
        if isinstance(behavior, str):
            return behavior
        if not known:
            message = f"{name} has no behaviors to be counted"
            raise CommandError(message)
        if not 0 <= behavior < len(known):
            message = f"there is no behavior {behavior} here; they are 0 to {len(known) - 1}"
            raise CommandError(message)
        return known[behavior]

    def flies_along(self, name: str) -> bool:
        """Whether a member has joined, and is neither paused nor lost."""
        own = self.places[name].own
        return bool(self._joined[own] and self._along[own])

    def has_reported(self, name: str) -> bool:
        """Whether a member has said how it moves since it has joined."""
        return bool(self._reported[self.places[name].own])

    def advance(self, now_s: float) -> None:
        """Computes what all are to do."""
        if self._decide is None:
            return
        told = self._told(now_s)
        begins = told.flags[:, 2] & (self._first_tick == NOT_YET)
        self._first_tick[begins] = self._tick
        with jax.enable_x64(DOUBLE):
            self._states, self._air, wanted = self._decide(self._states, self._air, told)
            found = np.asarray(wanted)
        self._tick += 1
        self._fresh = told.flags[:, 2] & np.isfinite(found).all(axis=1)
        self._wanted = found.tolist()

    def wanted(self, name: str) -> MemberSetpoint | None:
        """What a member is to do, from where it said that it is; None if there is nothing."""
        own = self.places[name].own
        if not self._fresh[own]:
            return None
        x_mps, y_mps, z_mps, yaw_rad, *ahead = self._wanted[own]
        x_mps2, y_mps2, z_mps2 = ahead
        x_m, y_m, z_m = self._motion[own, :3].tolist()
        dt_s = self.period_s
        place = (x_m + x_mps * dt_s, y_m + y_mps * dt_s, z_m + z_mps * dt_s)
        velocity, acceleration = (x_mps, y_mps, z_mps), (x_mps2, y_mps2, z_mps2)
        return MemberSetpoint(self._tick, velocity, place, yaw_rad, acceleration)

    def _told(self, now_s: float) -> MemberReports:
        motion = self._motion.copy()
        motion[:, 7] = np.clip(now_s - self._heard_s, 0.0, LONGEST_FORESIGHT_S)
        along = self._joined & self._along
        flags = np.stack([self._joined, along, along & self._reported & self._guided], axis=1)
        begun = self._first_tick != NOT_YET
        ticks = np.where(begun, self._tick - self._first_tick, 0).astype(np.int32)
        return MemberReports(motion, flags, ticks, np.asarray(self._tick, np.int32))

    def _change(self, number: int, lane: int, state: Any) -> None:
        """With the state of one member's guidance replaced."""
        changed = jax.tree.map(lambda leaf, new: _put(leaf, lane, new), self._states[number], state)
        states = [*self._states]
        states[number] = changed
        self._states = tuple(states)


def in_order_of_ports(scenario: Scenario) -> list[str]:
    """All vehicles, team by team as the file has them: their ports follow on each other."""
    teams = list(dict.fromkeys(member.team for member in scenario.teams.values()))
    return sorted(scenario.teams, key=lambda name: teams.index(scenario.teams[name].team))


def _place(name: str, team: str, own: int, vehicle: Vehicle) -> Place:
    guidance = vehicle.guidance.component
    return Place(name, team, own, is_guided(guidance), guidance.behavior_names)


def _rate_hz(vehicle: Vehicle, scenario: Scenario) -> float:
    """How often the hub decides for a vehicle, unless it is told.

    A mission has no rate of its own. It is asked as often as the radio brings something new.
    """
    radio = scenario.world.radio
    for every in (vehicle.guidance.every, 1 if radio is None else radio.every):
        if every > 1:
            return scenario.rate_hz / every
    steps = scenario.rate_hz / USUAL_HZ
    return USUAL_HZ if steps == round(steps) else scenario.rate_hz


def _radio(scenario: Scenario, rate_hz: float) -> Scheduled[AbstractRadio]:
    """The scenario's radio, as often as it runs there and the hub can run it.

    Raises:
        HubError: if it cannot run so often.
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


def _put(leaf: Any, lane: int, new: Any) -> Any:
    """With one vehicle's part replaced; on the host, where that costs least."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return leaf.at[lane].set(new)
    changed = np.array(leaf)
    changed[lane] = new
    return changed
