"""TCP server of a hub: one port for each vehicle, and one timer for all."""

import asyncio
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from ipaddress import ip_address

from kittiwake.adapters.hub.connection import MemberConnection
from kittiwake.adapters.hub.control_connection import CONTROL, ControlConnection
from kittiwake.adapters.hub.counters import Counters
from kittiwake.adapters.hub.flock_server import FlockServer, MemberSlot
from kittiwake.adapters.hub.hub_connection import AbstractHubConnection, PendingHubConnections
from kittiwake.adapters.hub.limits import Limits
from kittiwake.adapters.hub.link import LAST_PORT
from kittiwake.adapters.hub.sessions import HubPeer, MemberSessions
from kittiwake.adapters.hub.vehicle_changes import VehicleChanges
from kittiwake.core.errors import HubError
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.pending_connections import PendingConnections

LOOPBACK = "127.0.0.1"
BASE_PORT = 47100
# period of the timeout checks in lockstep, where the timer makes no steps
TIMEOUT_CHECK_PERIOD_S = 0.1
MIN_TOKEN_CHARACTERS = 16


class Hub:
    """Server that guides the members that connect to its ports.

    Its ports open before the set points can be computed; until then updates are answered by
    ``idle``.
    """

    def __init__(
        self,
        flock_server: FlockServer,
        limits: Limits | None = None,
        token: str | None = None,
        *,
        lockstep: bool = False,
    ) -> None:
        if token is not None and len(token) < MIN_TOKEN_CHARACTERS:
            message = (
                f"the token has {len(token)} characters; must have at least {MIN_TOKEN_CHARACTERS}"
            )
            raise HubError(message)
        limits = limits or Limits.usual(flock_server.rate_hz, lockstep=lockstep)
        self._sessions = MemberSessions(flock_server, limits, token, lockstep)
        self._pending: PendingHubConnections = PendingConnections(
            len(flock_server.slots) + limits.pending_connections
        )
        self._servers: dict[str, asyncio.Server] = {}

    @property
    def flock_server(self) -> FlockServer:
        """Flock server of the hub's members."""
        return self._sessions.flock_server

    @property
    def counters(self) -> Counters:
        """Counters of accepted, answered and refused frames."""
        return self._sessions.counters

    async def serve(
        self,
        host: str,
        base_port: int,
        until: asyncio.Event,
        opened: Callable[[Mapping[str, int]], None],
        control_port: int | None = None,
    ) -> None:
        """Open the ports, call ``opened`` with them, and guide members until ``until`` is set.

        Args:
            host: address to listen on.
            base_port: port of the first vehicle; 0 for any free ports.
            until: event that ends the server.
            opened: callback that receives the port of each vehicle by name, and the control port by
                the name ``CONTROL``.
            control_port: port at which vehicles are added and removed, 0 for any free one; None for
                none.

        Raises:
            HubError: if a port cannot be opened, or the host requires a token.
        """
        self._check_address(host, base_port)
        changes = VehicleChanges(
            self._sessions, partial(self._open_port, host, 0), self._close_port
        )
        try:
            ports = {
                slot.name: await self._open_port(host, base_port and base_port + i, slot)
                for i, slot in enumerate(self.flock_server.slots.values())
            }
            if control_port is not None:
                control = partial(ControlConnection, self._sessions, self._pending, changes.request)
                ports[CONTROL] = await self._listen(CONTROL, control, host, control_port)
            opened(ports)
            compiling = asyncio.create_task(self._compile())
            changing = asyncio.create_task(self._change_vehicles(compiling, changes))
            try:
                await self._run_timer(until, [compiling, changing])
            finally:
                changing.cancel()
                await compiling
        finally:
            self._close()

    async def _change_vehicles(
        self, compiling: "asyncio.Task[None]", changes: VehicleChanges
    ) -> None:
        """Make changes of the vehicles, once the first set points can be computed."""
        await asyncio.wait([compiling])
        await changes.make()

    def _check_address(self, host: str, base_port: int) -> None:
        if self._sessions.token is None and not _is_loopback(host):
            message = (
                f"{host} can be reached from other machines, so members must authenticate; give "
                f"--token-file FILE with a token of at least {MIN_TOKEN_CHARACTERS} characters, "
                f"or --host {LOOPBACK}"
            )
            raise HubError(message)
        last = base_port + len(self.flock_server.slots) - 1
        if base_port < 0 or last > LAST_PORT:
            message = f"the ports would be {base_port} to {last}; must be in 1 to {LAST_PORT}"
            raise HubError(message)

    async def _open_port(self, host: str, port: int, slot: MemberSlot) -> int:
        """Open the port of a vehicle and return its number."""
        factory = partial(MemberConnection, self._sessions, slot, self._pending)
        return await self._listen(slot.name, factory, host, port)

    async def _listen(
        self, name: str, factory: Callable[[], AbstractHubConnection], host: str, port: int
    ) -> int:
        try:
            server = await asyncio.get_running_loop().create_server(factory, host, port)
        except (OSError, OverflowError) as error:
            option = "--base-port" if name else "--control-port"
            message = (
                f"port {port} of {host}, for {name or 'controllers'}, cannot be opened: "
                f"{getattr(error, 'strerror', None) or error}; give another {option}"
            )
            raise HubError(message) from None
        self._servers[name] = server
        return server.sockets[0].getsockname()[1]

    def _close_port(self, name: str) -> None:
        self._servers.pop(name).close()

    async def _compile(self) -> None:
        if not self.flock_server.compiled:
            await asyncio.to_thread(self.flock_server.compile)
        self._sessions.take_turns()

    async def _run_timer(self, until: asyncio.Event, tasks: Sequence["asyncio.Task[None]"]) -> None:
        """Run the timer: in real time a step for all members, and always the timeout checks."""
        loop, sessions = asyncio.get_running_loop(), self._sessions
        period_s = TIMEOUT_CHECK_PERIOD_S if sessions.lockstep else self.flock_server.period_s
        # a late step is not caught up
        clock, steps = RealTimeClock(late_s=0.0), 0
        clock.left_s(0.0)
        while not until.is_set():
            for task in tasks:
                if task.done():
                    task.result()  # raises the error of a failed compilation
            now_s = loop.time()
            if not sessions.lockstep and self.flock_server.compiled:
                self.flock_server.advance(now_s)
                sessions.counters.batches += 1
            for connection in self._connections():
                connection.check_timeouts(now_s)
            steps += 1
            left_s = clock.left_s(steps * period_s)
            with suppress(TimeoutError):
                await asyncio.wait_for(until.wait(), left_s)
            if not sessions.lockstep and not until.is_set():
                late_s = max(-left_s, clock.lateness_s(steps * period_s))
                sessions.counters.deadlines.add(late_s, period_s)

    def _connections(self) -> list[HubPeer]:
        controller = self._sessions.controller
        identified = [*self._sessions.members.values(), *([controller] if controller else [])]
        return [*identified, *self._pending]

    def _close(self) -> None:
        for connection in self._connections():
            connection.close()
        for server in self._servers.values():
            server.close()


@contextmanager
def serving(
    hub: Hub, host: str = LOOPBACK, base_port: int = 0, control_port: int | None = None
) -> Generator[Mapping[str, int]]:
    """Run a hub in a thread for as long as the context lasts; yield its ports by name."""
    loop = asyncio.new_event_loop()
    until, ports = asyncio.Event(), dict[str, int]()
    is_open = threading.Event()
    failures: list[BaseException] = []

    def opened(opened_ports: Mapping[str, int]) -> None:
        ports.update(opened_ports)
        is_open.set()

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(hub.serve(host, base_port, until, opened, control_port))
        except BaseException as error:
            failures.append(error)
        finally:
            is_open.set()

    thread = threading.Thread(target=run, name="hub")
    thread.start()
    is_open.wait()
    try:
        if not failures:
            yield ports
    finally:
        if thread.is_alive():
            with suppress(RuntimeError):  # the loop has already ended
                loop.call_soon_threadsafe(until.set)
        thread.join()
    if failures:
        raise failures[0]


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
