"""A vehicle's end of the line to a hub, for whoever flies it, in simulation or in earnest.

    with Member(port=47100, name="drone-1", position_m=(0, 0, 2)) as member:
        while flying:
            set_point = member.update(
                time_s, position_m, velocity_mps, yaw_rad, acceleration_mps2
            )

Nothing here needs more than ``msgspec``: no JAX, no scenario.
"""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import TracebackType

from kittiwake.adapters.hub.link import Link, address_of, frame_of
from kittiwake.adapters.hub.packets import (
    VERSION,
    Accepted,
    Behavior,
    Connection,
    Hello,
    Idle,
    Leave,
    Numbered,
    Readiness,
    Reason,
    Refusal,
    SetPoint,
    Status,
    Triple,
    Update,
    proof_of,
)
from kittiwake.core.errors import HubError

FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 1.0
REAL_TIME_S = 1.0
LOCKSTEP_S = 60.0
HANDSHAKE_S = 2.0
# when nothing was reported that is not answered yet
NEVER_S = -1.0
# what may be otherwise when one asks again
PASSING = frozenset(
    {Reason.TAKEN, Reason.CROWD, Reason.HANDSHAKE, Reason.SILENCE, Reason.UNREAD, Reason.RATE}
)


class Member:
    """One vehicle at its port of a hub.

    When the hub is lost, ``update`` says None at once, and the vehicle should hold its position;
    later updates join again as soon as the hub is back, paused and with the behaviors as before.

    Args:
        port: the hub's port for this vehicle.
        name: the vehicle's in the hub's scenario.
        position_m: where it is, in world axes.
        host: the hub's address.
        token: the hub's, if it asks for one.
        timeout_s: how long to wait for an answer; 1 s if not given, 60 s in lockstep.

    Raises:
        HubError: if there is no hub, or it refuses.
    """

    def __init__(
        self,
        *,
        port: int,
        name: str,
        position_m: Iterable[float],
        host: str = "127.0.0.1",
        token: str | None = None,
        timeout_s: float | None = None,
    ) -> None:
        self._name, self._token = name, token
        self._position_m, self._timeout_s = _triple(position_m), timeout_s
        self._number, self._readiness = 0, Readiness.READY
        self._behaviors: list[str | int] | None = None
        self._wait_s, self._again_s, self._asked_s = FIRST_WAIT_S, 0.0, NEVER_S
        self._left = False
        self.hello: Hello | None = None
        self._link: Link | None = None
        try:
            self._address = address_of(host, port)
            self._begun(self._first_link(f"{host}:{port}"))
        except OSError as error:
            self.close()
            message = f"there is no hub for {name} at {host}:{port}: {error}; start kittiwake hub"
            raise HubError(message) from None
        except HubError:
            self.close()
            raise

    def __enter__(self) -> "Member":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()

    @property
    def joined(self) -> bool:
        """Whether the hub knows of this vehicle."""
        return self._link is not None and self._link.met

    def fileno(self) -> int:
        """The number of its socket, for those who wait for many at once; -1 without one."""
        return -1 if self._link is None else self._link.fileno()

    def update(
        self,
        time_s: float,
        position_m: Iterable[float],
        velocity_mps: Iterable[float],
        yaw_rad: float = 0.0,
        acceleration_mps2: Iterable[float] | None = None,
    ) -> SetPoint | None:
        """Tells the hub how the vehicle moves; what it is to do, or None: hold the position.

        The acceleration is that of the velocity, gravity not counted. The set point has one, too,
        if it is given.

        Raises:
            HubError: if the hub refuses what it was told, or the vehicle has left.
        """
        self.report(time_s, position_m, velocity_mps, yaw_rad, acceleration_mps2)
        return self.set_point()

    def report(
        self,
        time_s: float,
        position_m: Iterable[float],
        velocity_mps: Iterable[float],
        yaw_rad: float = 0.0,
        acceleration_mps2: Iterable[float] | None = None,
    ) -> None:
        """The first half of ``update``: tells how the vehicle moves, and does not wait.

        Raises:
            HubError: if the vehicle has left.
        """
        self._check_stay()
        self._position_m = _triple(position_m)
        if not self._is_there():
            return
        self._number += 1
        moves = (float(time_s), self._position_m, _triple(velocity_mps), float(yaw_rad))
        acceleration = None if acceleration_mps2 is None else _triple(acceleration_mps2)
        self._asked_s = time.monotonic()
        self._tell(Update(self._number, *moves, acceleration))

    def set_point(self, wait_s: float | None = None) -> SetPoint | None:
        """The second half of ``update``: waits for what the vehicle is to do.

        The time to wait counts from the report, so that several members that report together are
        waited for together. With a ``wait_s`` it waits no longer than that, and the hub is not
        given up for lost. Without a report since the last answer it is None at once.

        Raises:
            HubError: if the hub refused what it was told.
        """
        if not self.joined or self._asked_s == NEVER_S:
            return None
        left_s = self._asked_s + self._patience_s - time.monotonic()
        asked_s, self._asked_s = self._asked_s, NEVER_S
        answer = self._answer(self._number, left_s if wait_s is None else wait_s)
        if answer is None and wait_s is None:
            self._lose()
        elif answer is None and self.joined:
            self._asked_s = asked_s
        return answer if isinstance(answer, SetPoint) else None

    def pause(self) -> None:
        """Others keep clear of this vehicle, and do not fly along with it any more."""
        self._set(Readiness.PAUSE)

    def ready(self) -> None:
        """The vehicle flies along again."""
        self._set(Readiness.READY)

    def behave(self, behaviors: Sequence[str | int]) -> None:
        """Only these behaviors of the scenario count from now on, by name or place in its list.

        Raises:
            HubError: if there is no such behavior, or more of them than can be told at once.
        """
        before, self._behaviors = self._behaviors, list(behaviors)
        packet = Behavior(self._number + 1, self._behaviors)
        try:
            frame_of(packet)  # what is too long is told at once, also without a hub
            self._order(packet)
        except HubError:
            self._behaviors = before
            raise

    def leave(self) -> None:
        """Gives the vehicle's place back, and closes for good."""
        if self.joined:
            with suppress(HubError):
                self._order(Leave(self._number + 1))
        self.close()
        self._left = True

    def close(self) -> None:
        """Closes without a word, as if the vehicle were lost."""
        if self._link is not None:
            self._link.close()
        self._link, self._asked_s = None, NEVER_S

    def _set(self, readiness: Readiness) -> None:
        self._check_stay()
        self._readiness = readiness
        self._order(Status(self._number + 1, readiness))

    def _order(self, packet: Numbered) -> None:
        """Tells the hub, and waits until it is done; without a hub it is done when that is back."""
        self._check_stay()
        if not self.joined:
            return
        # an answer to a report before is passed over
        self._number, self._asked_s = packet.number, NEVER_S
        self._tell(packet)
        if self._answer(packet.number, self._patience_s) is None:
            self._lose()

    def _check_stay(self) -> None:
        if self._left:
            message = f"{self._name} has left the hub; to come back, make another Member"
            raise HubError(message)

    @property
    def _patience_s(self) -> float:
        if self._timeout_s is not None:
            return self._timeout_s
        return LOCKSTEP_S if self.hello is not None and self.hello.lockstep else REAL_TIME_S

    def _tell(self, packet: Numbered) -> None:
        if self._link is not None:
            try:
                self._link.send(packet)
            except OSError:
                self._lose()

    def _answer(self, number: int, wait_s: float) -> SetPoint | Idle | Accepted | None:
        """The hub's answer to the packet of this number; None if it does not come."""
        end_s = time.monotonic() + wait_s
        while self._link is not None:
            try:
                answer = self._link.receive(end_s - time.monotonic())
            except OSError:
                self._lose()
                return None
            if answer is None:
                return None
            if isinstance(answer, Refusal):
                if answer.number in {number, None} and answer.reason not in PASSING:
                    message = f"the hub refuses {self._name}: {answer.said}"
                    raise HubError(message, answer.reason.value)
            elif not isinstance(answer, Hello) and answer.number == number:
                return answer
        return None

    def _is_there(self) -> bool:
        """Whether there is a hub; if not, goes on to join again, without waiting for anything."""
        if self.joined:
            return True
        if self._link is None and time.monotonic() < self._again_s:
            return False
        try:
            self._link = self._link or Link(self._address)
            return self._meets(self._link)
        except OSError:
            self._lose()
        except HubError as error:
            self._lose()
            if error.reason not in {reason.value for reason in PASSING}:
                raise
        return False

    def _first_link(self, where: str) -> Link:
        """A connection whose handshake is done; where too many others wait, it is tried again.

        Raises:
            HubError: if the hub refuses, or has not answered in time.
        """
        end_s = time.monotonic() + HANDSHAKE_S
        while True:
            self._link = link = Link(self._address)
            try:
                if link.meet(end_s - time.monotonic(), self._introduced):
                    return link
            except HubError as error:
                if error.reason != Reason.CROWD.value or time.monotonic() > end_s - FIRST_WAIT_S:
                    raise
                link.close()
                time.sleep(FIRST_WAIT_S)
                continue
            message = f"{where} took the connection of {self._name} and does not answer"
            raise HubError(message)

    def _meets(self, link: Link) -> bool:
        """Goes on with a handshake; whether it is done."""
        if link.meet(0.0, self._introduced):
            self._begun(link)
            return True
        if link.age_s > HANDSHAKE_S:
            self._lose()
        return False

    def _introduced(self, hello: Hello) -> Connection:
        """What it says to a hub's hello."""
        if hello.version != VERSION:
            message = f"the hub speaks version {hello.version}, this client {VERSION}"
            raise HubError(message, Reason.VERSION.value)
        proof = "" if self._token is None else proof_of(self._token, hello.nonce)
        return Connection(VERSION, self._name, self._position_m, proof)

    def _begun(self, link: Link) -> None:
        """Joined: what was asked for before is asked for again."""
        self.hello, self._number, self._wait_s = link.hello, 0, FIRST_WAIT_S
        if self._behaviors is not None:
            self._number += 1
            self._tell(Behavior(self._number, self._behaviors))
        if self._readiness is not Readiness.READY:
            self._number += 1
            self._tell(Status(self._number, self._readiness))

    def _lose(self) -> None:
        """The hub is lost; later calls try again, less and less often."""
        self.close()
        self._again_s = time.monotonic() + self._wait_s
        self._wait_s = min(2.0 * self._wait_s, LONGEST_WAIT_S)


def _triple(numbers: Iterable[float]) -> Triple:
    x, y, z = numbers
    return float(x), float(y), float(z)
