"""What the connections of a hub share: the hive, who holds which place, and the turns."""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from kittiwake.adapters.hub.counters import Counters
from kittiwake.adapters.hub.flock_server import FlockServer
from kittiwake.adapters.hub.limits import Limits
from kittiwake.adapters.hub.packets import Idle, SetPoint


@runtime_checkable
class Holder(Protocol):
    """A connection that has taken a place."""

    def answer_update(self, number: int) -> None:
        """Tells the member what to do, as an answer to its update of this number."""
        ...


@dataclass
class MemberSessions:
    """Takes what members report, and gives each one's set point when it is its turn.

    In real time that is at once, with what a timer has computed last. In lockstep it is when all
    members that fly along have reported: then all set points are computed, and all are answered.
    The first time all vehicles of the scenario are waited for, so that every flight is the same.
    """

    flock_server: FlockServer
    limits: Limits
    token: str | None = None
    lockstep: bool = False
    counters: Counters = field(default_factory=Counters)
    holders: dict[str, Holder] = field(default_factory=dict[str, Holder])
    waiting: dict[str, int] = field(default_factory=dict[str, int])
    begun: bool = False

    def updated(self, name: str, number: int) -> None:
        """A member has reported."""
        if not self.lockstep:
            self.holders[name].answer_update(number)
            return
        self.waiting[name] = number
        self.take_turns()

    def take_turns(self) -> None:
        """In lockstep, a step if all have reported that have to."""
        if not self.lockstep or not self.flock_server.compiled or not self._all_are_there():
            return
        self.flock_server.advance(now_s=0.0)
        self.counters.batches += 1
        self.begun = True
        waiting, self.waiting = self.waiting, {}
        for name, number in waiting.items():
            if name in self.holders:
                self.holders[name].answer_update(number)

    def forget(self, name: str) -> None:
        """A member has given its place up; its number is not answered any more."""
        self.holders.pop(name, None)
        self.waiting.pop(name, None)

    def answer(self, name: str, number: int, *, with_acceleration: bool) -> SetPoint | Idle:
        """What a member is told."""
        wanted = self.flock_server.wanted(name)
        if wanted is None:
            self.counters.idle += 1
            return Idle(number)
        self.counters.set_points += 1
        return SetPoint(
            number,
            wanted.tick,
            wanted.velocity_world_mps,
            wanted.position_world_m,
            wanted.yaw_rad,
            wanted.acceleration_world_mps2 if with_acceleration else None,
        )

    def _all_are_there(self) -> bool:
        places = self.flock_server.places
        if not self.waiting or (not self.begun and len(self.holders) < len(places)):
            return False
        return all(name in self.waiting for name in places if self.awaits(name))

    def awaits(self, name: str) -> bool:
        """Whether the next turn does not come without an update of a member.

        Who joins a flight that has begun is waited for from its first update on, so that one that
        joins again and again without any keeps nobody waiting.
        """
        flies = self.lockstep and self.flock_server.flies_along(name)
        return flies and (not self.begun or self.flock_server.has_reported(name))
