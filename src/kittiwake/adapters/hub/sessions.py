"""State that the connections of a hub share: flock server, connected members, lockstep turns."""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from kittiwake.adapters.hub.counters import Counters
from kittiwake.adapters.hub.flock_server import FlockServer
from kittiwake.adapters.hub.limits import Limits
from kittiwake.adapters.hub.packets import NoSetPoint, SetPoint, Triple, VehicleNotice


@runtime_checkable
class HubPeer(Protocol):
    """A connection whose peer is identified."""

    def check_timeouts(self, now_s: float) -> None:
        """Close the connection if the peer has been silent for too long."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


@runtime_checkable
class ConnectedMember(HubPeer, Protocol):
    """A connection that occupies a slot."""

    def answer_update(self, number: int) -> None:
        """Send the member its set point, as the answer to its update of this number."""
        ...


@dataclass
class MemberSessions:
    """Connected members and the order in which their updates are answered.

    In real time an update is answered at once, with the last set point that the timer has
    computed. In lockstep it is answered when all active members have reported: then all set points
    are computed and sent. The first turn waits for all vehicles of the scenario, so that every
    flight is the same. While the vehicles are being changed no turn is taken.
    """

    flock_server: FlockServer
    limits: Limits
    token: str | None = None
    lockstep: bool = False
    counters: Counters = field(default_factory=Counters)
    members: dict[str, ConnectedMember] = field(default_factory=dict[str, ConnectedMember])
    waiting: dict[str, int] = field(default_factory=dict[str, int])
    started: bool = False
    controller: HubPeer | None = None
    changing: bool = False
    changes: list[VehicleNotice] = field(default_factory=list[VehicleNotice])

    def __post_init__(self) -> None:
        # the first turn waits for them, and later ones for the first update of any other vehicle
        self._initial = frozenset(self.flock_server.slots)
        self._awaited: set[str] = set()

    def note(self, change: VehicleNotice) -> None:
        """Note a change of the vehicles, for those who learn of it later."""
        added = [one for one in self.changes if one.name == change.name]
        self.changes = [one for one in self.changes if one.name != change.name]
        if not added:
            self.changes.append(change)

    def join(
        self, name: str, member: ConnectedMember, position_world_m: Triple, now_s: float
    ) -> None:
        """Let a member occupy its slot."""
        self.members[name] = member
        self.counters.joined += 1
        self.flock_server.join(name, position_world_m, now_s)
        if name not in self._initial and self.flock_server.is_new(name):
            self._awaited.add(name)

    def handle_update(self, name: str, number: int) -> None:
        """Answer a member's update, in lockstep when its turn comes."""
        self._awaited.discard(name)
        if not self.lockstep:
            self.members[name].answer_update(number)
            return
        self.waiting[name] = number
        self.take_turns()

    def take_turns(self) -> None:
        """Advance by one step in lockstep, if all required members have reported."""
        is_ready = self.flock_server.compiled and not self.changing
        if not (self.lockstep and is_ready and self._all_have_reported()):
            return
        self.flock_server.advance(now_s=0.0)
        self.counters.batches += 1
        self.started = True
        waiting, self.waiting = self.waiting, {}
        for name, number in waiting.items():
            if name in self.members:
                self.members[name].answer_update(number)

    def remove(self, name: str) -> None:
        """Free a member's slot; its pending update is not answered any more."""
        self.members.pop(name, None)
        self.waiting.pop(name, None)
        self._awaited.discard(name)

    def answer(self, name: str, number: int, *, with_acceleration: bool) -> SetPoint | NoSetPoint:
        """Return the answer to a member's update of this number."""
        setpoint = self.flock_server.setpoint(name)
        if setpoint is None:
            self.counters.idle += 1
            return NoSetPoint(number)
        self.counters.set_points += 1
        return SetPoint(
            number,
            setpoint.tick,
            setpoint.velocity_world_mps,
            setpoint.position_world_m,
            setpoint.yaw_rad,
            setpoint.acceleration_world_mps2 if with_acceleration else None,
        )

    def _all_have_reported(self) -> bool:
        slots = self.flock_server.slots
        missing = (self._initial & slots.keys()) - self.members.keys()
        if not self.waiting or (not self.started and missing):
            return False
        return all(name in self.waiting for name in slots if self.requires_update(name))

    def requires_update(self, name: str) -> bool:
        """Return True if the next turn requires an update of this member.

        A member that joins a running flight is waited for from its first update on, so that
        repeated joins without an update delay nobody. One of an added vehicle is waited for when it
        joins for the first time, as those of the scenario are at the start.
        """
        active = self.lockstep and self.flock_server.is_active(name)
        known = self.flock_server.has_reported(name) or name in self._awaited
        return active and (not self.started or known)
