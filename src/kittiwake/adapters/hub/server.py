"""A hub on its ports: one for each vehicle, one timer for all."""

import asyncio
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from functools import partial
from ipaddress import ip_address

from kittiwake.adapters.hub.connection import MemberConnection
from kittiwake.adapters.hub.counters import Counters
from kittiwake.adapters.hub.flock_server import FlockServer, Place
from kittiwake.adapters.hub.limits import Limits
from kittiwake.adapters.hub.link import LAST_PORT
from kittiwake.adapters.hub.sessions import MemberSessions
from kittiwake.core.errors import HubError
from kittiwake.runtime.pending_connections import PendingConnections

LOOPBACK = "127.0.0.1"
BASE_PORT = 47100
# how often silence is looked for where no step is due
PATIENCE_S = 0.1
SHORTEST_TOKEN = 16


class Hub:
    """Guides the members of a hive that connect to its ports, until it is told to stop.

    Its ports open before the set points can be computed; until then members are told nothing.
    """

    def __init__(
        self,
        flock_server: FlockServer,
        limits: Limits | None = None,
        token: str | None = None,
        *,
        lockstep: bool = False,
    ) -> None:
        if token is not None and len(token) < SHORTEST_TOKEN:
            message = f"the token has {len(token)} characters; write {SHORTEST_TOKEN} at least"
            raise HubError(message)
        limits = limits or Limits.usual(flock_server.rate_hz, lockstep=lockstep)
        self._exchange = MemberSessions(flock_server, limits, token, lockstep)
        self._strangers = PendingConnections[MemberConnection](
            len(flock_server.places) + limits.strangers
        )

    @property
    def flock_server(self) -> FlockServer:
        """The members."""
        return self._exchange.flock_server

    @property
    def counters(self) -> Counters:
        """What has been taken, answered and refused."""
        return self._exchange.counters

    async def serve(
        self,
        host: str,
        base_port: int,
        until: asyncio.Event,
        opened: Callable[[Mapping[str, int]], None],
    ) -> None:
        """Opens the ports, tells ``opened`` which ones they are, and guides ``until`` it is set.

        Args:
            host: the address to listen on.
            base_port: the first vehicle's; if 0, any free ones.
            until: ends it.
            opened: gets the port of each vehicle by name.

        Raises:
            HubError: if a port cannot be had, or the host is one that asks for a token.
        """
        self._check_address(host, base_port)
        async with AsyncExitStack() as stack:
            ports: dict[str, int] = {}
            for i, place in enumerate(self.flock_server.places.values()):
                server = await self._listening(place, host, base_port and base_port + i)
                stack.callback(server.close)
                ports[place.name] = server.sockets[0].getsockname()[1]
            stack.callback(self._close)
            opened(ports)
            compiling = asyncio.create_task(self._compile())
            try:
                await self._keep_time(until, compiling)
            finally:
                await compiling

    def _check_address(self, host: str, base_port: int) -> None:
        if self._exchange.token is None and not _is_loopback(host):
            message = (
                f"{host} can be reached from other machines, so members have to prove who they "
                f"are; give --token-file FILE with a token of {SHORTEST_TOKEN} characters or more, "
                f"or --host {LOOPBACK}"
            )
            raise HubError(message)
        last = base_port + len(self.flock_server.places) - 1
        if base_port < 0 or last > LAST_PORT:
            message = f"the ports would be {base_port} to {last}; there are 1 to {LAST_PORT}"
            raise HubError(message)

    async def _listening(self, place: Place, host: str, port: int) -> asyncio.Server:
        factory = partial(MemberConnection, self._exchange, place, self._strangers)
        try:
            return await asyncio.get_running_loop().create_server(factory, host, port)
        except OSError as error:
            message = (
                f"port {port} of {host}, for {place.name}, cannot be opened: "
                f"{error.strerror or error}; give another --base-port"
            )
            raise HubError(message) from None

    async def _compile(self) -> None:
        if not self.flock_server.compiled:
            await asyncio.to_thread(self.flock_server.compile)
        self._exchange.take_turns()

    async def _keep_time(self, until: asyncio.Event, compiling: "asyncio.Task[None]") -> None:
        """The one timer: a step for all members, where time is real, and a look at the silent."""
        loop, exchange = asyncio.get_running_loop(), self._exchange
        period_s = PATIENCE_S if exchange.lockstep else self.flock_server.period_s
        due_s = loop.time()
        while not until.is_set():
            if compiling.done():
                compiling.result()  # what went wrong with it goes on from here
            now_s = loop.time()
            if not exchange.lockstep and self.flock_server.compiled:
                self.flock_server.advance(now_s)
                exchange.counters.batches += 1
            for connection in self._connections():
                connection.check_patience(now_s)
            # a step that is late is not made up for
            due_s = max(due_s + period_s, loop.time())
            with suppress(TimeoutError):
                await asyncio.wait_for(until.wait(), due_s - loop.time())

    def _connections(self) -> list[MemberConnection]:
        members = self._exchange.holders.values()
        both = [*members, *self._strangers]
        return [one for one in both if isinstance(one, MemberConnection)]

    def _close(self) -> None:
        for connection in self._connections():
            connection.close()


@contextmanager
def serving(hub: Hub, host: str = LOOPBACK, base_port: int = 0) -> Generator[Mapping[str, int]]:
    """A hub in a thread of its own for as long as the context lasts; gives its ports by name."""
    loop = asyncio.new_event_loop()
    until, ports = asyncio.Event(), dict[str, int]()
    is_open = threading.Event()
    failures: list[BaseException] = []

    def opened(which: Mapping[str, int]) -> None:
        ports.update(which)
        is_open.set()

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(hub.serve(host, base_port, until, opened))
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
            with suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(until.set)
        thread.join()
    if failures:
        raise failures[0]


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
