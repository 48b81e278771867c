"""Client of a hub for one vehicle, simulated or real.

    with Member(port=47100, name="drone-1", position_m=(0, 0, 2)) as member:
        while flying:
            set_point = member.update(
                time_s, position_m, velocity_mps, yaw_rad, acceleration_mps2
            )

This module requires only ``msgspec``: neither JAX nor a scenario.
"""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import inf
from types import TracebackType

from kittiwake.adapters.hub.link import Link, encode_frame, resolve_address
from kittiwake.adapters.hub.packets import (
    VERSION,
    Accepted,
    Behavior,
    Connection,
    Hello,
    Leave,
    NoSetPoint,
    Numbered,
    Readiness,
    Reason,
    Refusal,
    SetPoint,
    Status,
    Triple,
    Update,
    VehicleNotice,
    VehicleRemoved,
    compute_proof,
)
from kittiwake.core.errors import HubError

FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 1.0
REAL_TIME_S = 1.0
LOCKSTEP_S = 60.0
HANDSHAKE_S = 2.0
# no report is waiting for its answer
NOT_REPORTED_S = -1.0
# refusals that may not recur at the next attempt
TRANSIENT = frozenset(
    {Reason.TAKEN, Reason.CROWD, Reason.HANDSHAKE, Reason.SILENCE, Reason.UNREAD, Reason.RATE}
)


class Member:
    """One vehicle connected to its port of a hub.

    When the hub is lost, ``update`` returns None at once, and the vehicle should hold its position;
    later updates join again as soon as the hub is back, with the same status and behaviors.

    Args:
        port: port of the hub for this vehicle.
        name: name of the vehicle in the hub's scenario.
        position_m: position in world axes.
        host: address of the hub.
        token: token of the hub, if it requires one.
        timeout_s: longest wait for an answer; 1 s by default, 60 s in lockstep.
        follows: whether changes of the hub's vehicles are received, for ``take_changes``.

    Raises:
        HubError: if there is no hub, or it refuses the connection.
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
        follows: bool = False,
    ) -> None:
        self._name, self._token, self._follows = name, token, follows
        self._changes: list[VehicleNotice] = []
        self._position_m, self._timeout_s = _triple(position_m), timeout_s
        self._number, self._readiness = 0, Readiness.READY
        self._behaviors: list[str | int] | None = None
        self._wait_s, self._next_attempt_s, self._reported_s = FIRST_WAIT_S, 0.0, NOT_REPORTED_S
        self._left = False
        self.hello: Hello | None = None
        self._link: Link | None = None
        try:
            self._address = resolve_address(host, port)
            self._start_session(self._connect_first(f"{host}:{port}"))
        except OSError as error:
            self.close()
            message = f"no hub for {name} at {host}:{port}: {error}; start `kittiwake hub`"
            raise HubError(message) from None
        except HubError:
            self.close()
            raise

    def __enter__(self) -> "Member":
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()

    @property
    def joined(self) -> bool:
        """True if the hub has accepted this vehicle."""
        return self._link is not None and self._link.accepted

    def fileno(self) -> int:
        """Return the file descriptor of the socket, for selectors; -1 without one."""
        return -1 if self._link is None else self._link.fileno()

    def update(
        self,
        time_s: float,
        position_m: Iterable[float],
        velocity_mps: Iterable[float],
        yaw_rad: float = 0.0,
        acceleration_mps2: Iterable[float] | None = None,
    ) -> SetPoint | None:
        """Report the vehicle's motion and return its set point; None: hold the position.

        The acceleration is the derivative of the velocity, without gravity. If it is given, the set
        point has one, too.

        Raises:
            HubError: if the hub refuses the report, or the vehicle has left.
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
        """Report the vehicle's motion without waiting: the first half of ``update``.

        Raises:
            HubError: if the vehicle has left.
        """
        self._check_not_left()
        self._position_m = _triple(position_m)
        if not self._connect():
            return
        self._number += 1
        motion = (float(time_s), self._position_m, _triple(velocity_mps), float(yaw_rad))
        acceleration = None if acceleration_mps2 is None else _triple(acceleration_mps2)
        self._reported_s = time.monotonic()
        self._send(Update(self._number, *motion, acceleration))

    def set_point(self, wait_s: float | None = None) -> SetPoint | None:
        """Wait for the vehicle's set point and return it: the second half of ``update``.

        The timeout counts from the report, so that several members that report together share one
        wait. With ``wait_s`` it waits no longer than that, and a missing answer does not mean that
        the hub is lost. Without a report since the last answer it returns None at once.

        Raises:
            HubError: if the hub refused the report.
        """
        if not self.joined or self._reported_s == NOT_REPORTED_S:
            return None
        left_s = self._reported_s + self._answer_timeout_s - time.monotonic()
        reported_s, self._reported_s = self._reported_s, NOT_REPORTED_S
        answer = self._answer(self._number, left_s if wait_s is None else wait_s)
        if answer is None and wait_s is None:
            self._disconnect()
        elif answer is None and self.joined:
            self._reported_s = reported_s
        return answer if isinstance(answer, SetPoint) else None

    def pause(self) -> None:
        """Pause: the hub gives no set points, and the others only keep clear of this vehicle."""
        self._set(Readiness.PAUSE)

    def ready(self) -> None:
        """Resume after a pause."""
        self._set(Readiness.READY)

    def set_active_behaviors(self, behaviors: Sequence[str | int]) -> None:
        """Activate only these behaviors, given by name or by index in the scenario's list.

        Raises:
            HubError: if there is no such behavior, or the list does not fit into a frame.
        """
        before, self._behaviors = self._behaviors, list(behaviors)
        packet = Behavior(self._number + 1, self._behaviors)
        try:
            encode_frame(packet)  # raises if it is too long, also without a hub
            self._request(packet)
        except HubError:
            self._behaviors = before
            raise

    def take_changes(self) -> list[VehicleNotice]:
        """Return and clear the changes of the hub's vehicles that came before the last answer."""
        changes, self._changes = self._changes, []
        return changes

    def leave(self) -> None:
        """Leave the hub, and close for good."""
        if self.joined:
            with suppress(HubError):
                self._request(Leave(self._number + 1))
        self.close()
        self._left = True

    def close(self) -> None:
        """Close without leaving; to the hub the vehicle is lost."""
        if self._link is not None:
            self._link.close()
        self._link, self._reported_s = None, NOT_REPORTED_S

    def _set(self, readiness: Readiness) -> None:
        self._check_not_left()
        self._readiness = readiness
        self._request(Status(self._number + 1, readiness))

    def _request(self, packet: Numbered) -> None:
        """Send a request and wait until it is accepted; without a hub it is sent on rejoining."""
        self._check_not_left()
        if not self.joined:
            return
        # the answer to an earlier report is skipped
        self._number, self._reported_s = packet.number, NOT_REPORTED_S
        self._send(packet)
        if self._answer(packet.number, self._answer_timeout_s) is None:
            self._disconnect()

    def _check_not_left(self) -> None:
        if self._left:
            message = f"{self._name} has left the hub; create another Member to join again"
            raise HubError(message)

    @property
    def _answer_timeout_s(self) -> float:
        if self._timeout_s is not None:
            return self._timeout_s
        return LOCKSTEP_S if self.hello is not None and self.hello.lockstep else REAL_TIME_S

    def _send(self, packet: Numbered) -> None:
        if self._link is not None:
            try:
                self._link.send(packet)
            except OSError:
                self._disconnect()

    def _answer(self, number: int, wait_s: float) -> SetPoint | NoSetPoint | Accepted | None:
        """Return the hub's answer to the packet of this number; None if it does not arrive."""
        end_s = time.monotonic() + wait_s
        while self._link is not None:
            try:
                answer = self._link.receive(end_s - time.monotonic())
            except OSError:
                self._disconnect()
                return None
            if answer is None:
                return None
            if isinstance(answer, VehicleNotice):
                self._note(answer)
            elif isinstance(answer, Refusal):
                if answer.number in {number, None} and answer.reason not in TRANSIENT:
                    message = f"the hub refuses {self._name}: {answer.said}"
                    raise HubError(message, answer.reason.value)
            elif not isinstance(answer, Hello) and answer.number == number:
                return answer
        return None

    def _note(self, change: VehicleNotice) -> None:
        """Note a change of the hub's vehicles; a removed vehicle has no hub any more."""
        self._changes.append(change)
        if isinstance(change, VehicleRemoved) and change.name == self._name:
            self.close()
            self._next_attempt_s = inf

    def _connect(self) -> bool:
        """Return True if connected; otherwise continue to reconnect, without waiting."""
        if self.joined:
            return True
        if self._link is None and time.monotonic() < self._next_attempt_s:
            return False
        try:
            self._link = self._link or Link(self._address)
            return self._continue_handshake(self._link)
        except OSError:
            self._disconnect()
        except HubError as error:
            self._disconnect()
            if error.reason not in {reason.value for reason in TRANSIENT}:
                raise
        return False

    def _connect_first(self, address: str) -> Link:
        """Return a connection with a complete handshake; try again if the hub is crowded.

        Raises:
            HubError: if the hub refuses, or does not answer in time.
        """
        end_s = time.monotonic() + HANDSHAKE_S
        while True:
            self._link = link = Link(self._address)
            try:
                if link.handshake(end_s - time.monotonic(), self._connection_packet):
                    return link
            except HubError as error:
                if error.reason != Reason.CROWD.value or time.monotonic() > end_s - FIRST_WAIT_S:
                    raise
                link.close()
                time.sleep(FIRST_WAIT_S)
                continue
            message = f"{address} accepted the connection of {self._name} but does not answer"
            raise HubError(message)

    def _continue_handshake(self, link: Link) -> bool:
        """Continue a handshake; return True if it is complete."""
        if link.handshake(0.0, self._connection_packet):
            self._start_session(link)
            return True
        if link.age_s > HANDSHAKE_S:
            self._disconnect()
        return False

    def _connection_packet(self, hello: Hello) -> Connection:
        """Return the answer to a hub's hello."""
        if hello.version != VERSION:
            message = f"the hub uses protocol version {hello.version}, this client {VERSION}"
            raise HubError(message, Reason.VERSION.value)
        proof = "" if self._token is None else compute_proof(self._token, hello.nonce)
        return Connection(VERSION, self._name, self._position_m, proof, self._follows)

    def _start_session(self, link: Link) -> None:
        """Begin a session: repeat the earlier requests for behaviors and status."""
        self.hello, self._number, self._wait_s = link.hello, 0, FIRST_WAIT_S
        if self._behaviors is not None:
            self._number += 1
            self._send(Behavior(self._number, self._behaviors))
        if self._readiness is not Readiness.READY:
            self._number += 1
            self._send(Status(self._number, self._readiness))

    def _disconnect(self) -> None:
        """Close the connection; later calls try again, less and less often."""
        self.close()
        self._next_attempt_s = time.monotonic() + self._wait_s
        self._wait_s = min(2.0 * self._wait_s, LONGEST_WAIT_S)


def _triple(numbers: Iterable[float]) -> Triple:
    x, y, z = numbers
    return float(x), float(y), float(z)
