"""The door of the cockpit: a relay that lets browsers in to a server which lets in anybody.

viser knows no token, takes a WebSocket from any page, and takes the next port when its own is busy.
So it listens on a port of the loopback, for nobody but the gate, which listens on the one that was
asked for. Only the first request of a connection is looked at: who was admitted may go on to send
what it likes over that connection. (viser closes one after each answer, and browsers open a new one
for each WebSocket.)
"""

import asyncio
import errno
import os
import socket
import threading
from contextlib import suppress
from http import HTTPStatus
from ipaddress import ip_address
from types import TracebackType
from urllib.parse import quote

from kittiwake.cockpit.auth import (
    COOKIE,
    HEAD_END,
    MOST_HEAD_BYTES,
    TOO_SLOW,
    Answer,
    Authenticator,
    hosts_of,
)
from kittiwake.cockpit.relay import CHUNK, Way, closed, relay
from kittiwake.core.errors import CockpitError
from kittiwake.runtime.pending_connections import PendingConnections

# by which the server behind the gate knows it
PASS_HEADER = "X-Kittiwake-Pass"
LOOPBACK, LOOPBACK_6 = "127.0.0.1", "::1"
IPV4 = 4
LAST_PORT = 65535
SHORTEST_TOKEN = 16

# of those that have come in
MOST_CONNECTIONS = 64
# of those that have not; when there is one more, one of them gives way
MOST_STRANGERS = 32
# for the head of a request
PATIENCE_S = 10.0
# for what a visitor still sends when it has its answer
FAREWELL_S = 1.0

CROWDED = Answer(HTTPStatus.SERVICE_UNAVAILABLE, "Too many are connected; close some pages.")
NOBODY_HOME = Answer(HTTPStatus.BAD_GATEWAY, "The cockpit behind this address has ended.")


class AuthProxy:
    """Relays between a public address and a server on a port of the loopback.

    It stands while the context lasts, in a thread of its own.

    Args:
        host: the address to listen on; beyond the loopback it takes a token.
        port: exactly the one to listen on; 0 takes any that is free.
        inner_port: where the server behind it listens.
        token: what a browser has to bring at its first visit.
        secret: what the server behind it wants to see of each connection.
    """

    def __init__(
        self, host: str, port: int, inner_port: int, token: str | None = None, secret: str = ""
    ) -> None:
        self._host, self._port, self._token = host, port, token
        self._inner_port = inner_port
        self._pass = f"{PASS_HEADER}: {secret}\r\n".encode() if secret else b""
        self._visits: set[asyncio.Task[None]] = set()
        self._strangers = PendingConnections[asyncio.Task[None]](MOST_STRANGERS)
        self._guests = 0

    @property
    def port(self) -> int:
        """The one that it listens on."""
        return self._port

    @property
    def address(self) -> str:
        """What to open in a browser of this machine, with the token that lets it in."""
        bound = ip_address(self._bound)
        anywhere = LOOPBACK if bound.version == IPV4 else LOOPBACK_6
        name = anywhere if bound.is_unspecified else self._host
        shown = f"[{name}]" if ":" in name else name
        query = "" if self._token is None else f"?token={quote(self._token, safe='')}"
        return f"http://{shown}:{self._port}/{query}"

    def __enter__(self) -> "AuthProxy":
        """Opens the port.

        Raises:
            CockpitError: if it cannot be had, or not without a token.
        """
        _check_token(self._token)
        listener = _listener(self._host, self._port, self._token)
        self._bound, self._port = listener.getsockname()[:2]
        names = {"localhost", LOOPBACK, LOOPBACK_6, self._host, self._bound}
        cookie_name = f"{COOKIE}-{self._port}"  # a browser has one jar for all ports
        self._admission = Authenticator(hosts_of(names, self._port), self._token, cookie_name)
        self._ending = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(listener,), name="cockpit gate")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(RuntimeError):  # the loop has ended by itself
            self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()

    def _run(self, listener: socket.socket) -> None:
        with listener, asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(listener))

    async def _serve(self, listener: socket.socket) -> None:
        server = await asyncio.start_server(self._received, sock=listener, limit=CHUNK)
        await self._ending.wait()
        server.close()
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)

    async def _received(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = asyncio.current_task()
        assert visit is not None
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)
        try:
            first = await self._admitted(visit, reader, writer)
            if first is not None and self._guests >= MOST_CONNECTIONS:
                writer.write(CROWDED.encoded())
            elif first is not None:
                self._guests += 1
                try:
                    await self._relay(first, reader, writer)
                finally:
                    self._guests -= 1
            await closed(writer)
        except (OSError, asyncio.CancelledError):
            pass  # a side broke off, or the gate closes
        finally:
            writer.transport.abort()

    async def _admitted(
        self,
        visit: asyncio.Task[None],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bytes | None:
        """What a connection begins with, if it may come in; otherwise it gets its answer."""
        peer = writer.get_extra_info("peername") or ("",)
        displaced = self._strangers.add(visit, peer[0])
        if displaced is not None:
            displaced.cancel()
        try:
            first = bytearray()
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await _read_head(reader, first)
                answer = self._admission.answer(bytes(first))
            except TimeoutError:
                answer = TOO_SLOW
            if not first:  # opened in advance, as browsers do, and not used
                return None
            if answer is None:
                return bytes(first)
            await _say(answer, reader, writer)
            return None
        finally:
            self._strangers.discard(visit)

    async def _relay(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            inner = await asyncio.open_connection(LOOPBACK, self._inner_port, limit=CHUNK)
        except OSError:
            await _say(NOBODY_HOME, reader, writer)
            return
        inner_reader, inner_writer = inner
        try:
            line, end, rest = first.partition(b"\r\n")
            inner_writer.write(line + end + self._pass + rest)
            await relay(Way(reader, inner_writer), Way(inner_reader, writer))
        except BaseException:
            inner_writer.transport.abort()
            raise
        await closed(inner_writer)


async def _read_head(reader: asyncio.StreamReader, head: bytearray) -> None:
    """Fills ``head`` up to its end, or as far as it can be one."""
    searched = 0
    while head.find(HEAD_END, searched) < 0 and len(head) < MOST_HEAD_BYTES:
        searched = max(len(head) - len(HEAD_END), 0)
        data = await reader.read(MOST_HEAD_BYTES - len(head))
        head += data
        if not data or not head[:1].isalpha():
            return


async def _say(answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers, and listens a moment longer: what is left unread would undo the answer."""
    writer.write(answer.encoded())
    writer.write_eof()
    with suppress(TimeoutError):
        async with asyncio.timeout(FAREWELL_S):
            while await reader.read(CHUNK):
                pass


def _check_token(token: str | None) -> None:
    if token is not None and len(token) < SHORTEST_TOKEN:
        message = f"the token has {len(token)} characters; write {SHORTEST_TOKEN} at least"
        raise CockpitError(message)


def _listener(host: str, port: int, token: str | None) -> socket.socket:
    """A socket that listens at exactly this address."""
    if not 0 <= port <= LAST_PORT:
        message = f"there is no port {port}; give --port 1 to {LAST_PORT}, or 0 for any free one"
        raise CockpitError(message)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, where = found[0]
        # by what the name means here and now, not by how it looks
        if token is None and not ip_address(str(where[0])).is_loopback:
            message = (
                f"{host} can be reached from other machines, so a browser has to prove who it is; "
                f"give --token-file FILE with a token of {SHORTEST_TOKEN} characters or more, "
                f"or --host {LOOPBACK}"
            )
            raise CockpitError(message)
        return socket.create_server(where, family=family)
    except (socket.gaierror, UnicodeError):
        message = f"there is no address {host}; give --host {LOOPBACK}, or one of this machine"
    except OSError as error:
        message = f"port {port} of {host} is taken; give another --port, or 0 for any free one"
        if error.errno != errno.EADDRINUSE:
            why = os.strerror(error.errno or 0)
            message = (
                f"port {port} of {host} cannot be opened: {why}; give another --port or --host"
            )
    raise CockpitError(message)
