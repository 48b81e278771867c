"""Authenticating proxy in front of the cockpit's page server.

viser has no authentication, accepts WebSockets from any page, and silently uses the next port if
its own is busy. Therefore it listens on a port of the loopback interface, for this proxy only, and
the proxy listens on the requested port. Only the first request of a connection is checked; an
admitted client may then send anything over that connection. (viser closes a connection after each
response, and browsers open a new one for each WebSocket.)
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
from typing import NamedTuple
from urllib.parse import quote

from kittiwake.cockpit.auth import (
    COOKIE,
    HEAD_END,
    MAX_HEAD_BYTES,
    TOO_SLOW,
    Authenticator,
    AuthResponse,
    allowed_hosts,
)
from kittiwake.cockpit.relay import CHUNK, Pipe, close_writer, relay
from kittiwake.core.errors import CockpitError
from kittiwake.runtime.pending_connections import PendingConnections

# header by which the proxy authenticates itself to the page server
PASS_HEADER = "X-Kittiwake-Pass"
LOOPBACK, LOOPBACK_6 = "127.0.0.1", "::1"
IPV4 = 4
MAX_PORT = 65535
MIN_TOKEN_LENGTH = 16

# admitted connections
MAX_CONNECTIONS = 64
# connections that are not yet admitted; one more displaces one of them
MAX_PENDING = 32
# time limit for the head of a request
REQUEST_TIMEOUT_S = 10.0
# time for reading what a refused client still sends
DRAIN_TIMEOUT_S = 1.0

TOO_MANY = AuthResponse(HTTPStatus.SERVICE_UNAVAILABLE, "Too many connections. Close some pages.")
SERVER_DOWN = AuthResponse(HTTPStatus.BAD_GATEWAY, "The cockpit at this address has ended.")
# requests for this path and those below go to the server of the start page
START_PATH = "/start"


class Backend(NamedTuple):
    """Server on the loopback interface that answers admitted requests.

    Attributes:
        port: its port.
        secret: value of ``PASS_HEADER`` that it requires; empty for none.
    """

    port: int
    secret: str = ""


class AuthProxy:
    """Proxy between a public address and a page server on the loopback interface.

    It runs in its own thread while the context is open.

    Args:
        host: address to listen on; any other than loopback requires a token.
        port: port to listen on; 0 selects any free port.
        inner_port: port of the page server.
        token: secret that a browser presents in its first request.
        secret: value of ``PASS_HEADER`` that the page server requires.
        framed: whether other pages may ask for the page to show it in a frame.

    Attributes:
        backend: server of the page; another one may be set at any time, for later connections.
        start_page: server of ``START_PATH``; None without a start page.
    """

    def __init__(
        self,
        host: str,
        port: int,
        inner_port: int,
        token: str | None = None,
        secret: str = "",
        *,
        framed: bool = False,
    ) -> None:
        self._host, self._port, self._token = host, port, token
        self._framed = framed
        self.backend = Backend(inner_port, secret)
        self.start_page: Backend | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._pending = PendingConnections[asyncio.Task[None]](MAX_PENDING)
        self._admitted = 0

    @property
    def port(self) -> int:
        """Port that the proxy listens on."""
        return self._port

    @property
    def address(self) -> str:
        """URL for a browser on this machine, with the token."""
        bound = ip_address(self._bound_host)
        loopback = LOOPBACK if bound.version == IPV4 else LOOPBACK_6
        name = loopback if bound.is_unspecified else self._host
        shown = f"[{name}]" if ":" in name else name
        query = "" if self._token is None else f"?token={quote(self._token, safe='')}"
        return f"http://{shown}:{self._port}/{query}"

    def __enter__(self) -> "AuthProxy":
        """Open the port.

        Raises:
            CockpitError: if the port cannot be opened, or if it requires a token.
        """
        _check_token(self._token)
        listener = _listener(self._host, self._port, self._token)
        self._bound_host, self._port = listener.getsockname()[:2]
        names = {"localhost", LOOPBACK, LOOPBACK_6, self._host, self._bound_host}
        cookie_name = f"{COOKIE}-{self._port}"  # browsers share cookies between ports
        self._authenticator = Authenticator(
            allowed_hosts(names, self._port), self._token, cookie_name, self._framed
        )
        self._closing = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        # a program that has not closed its page may end
        self._thread = threading.Thread(
            target=self._run, args=(listener,), name="cockpit auth proxy", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(RuntimeError):  # the loop has already ended
            self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    def _run(self, listener: socket.socket) -> None:
        with listener, asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(listener))

    async def _serve(self, listener: socket.socket) -> None:
        server = await asyncio.start_server(self._handle, sock=listener, limit=CHUNK)
        await self._closing.wait()
        server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)
        try:
            first = await self._authenticate(connection, reader, writer)
            if first is not None and self._admitted >= MAX_CONNECTIONS:
                writer.write(TOO_MANY.encode())
            elif first is not None:
                self._admitted += 1
                try:
                    await self._relay(first, reader, writer)
                finally:
                    self._admitted -= 1
            await close_writer(writer)
        except (OSError, asyncio.CancelledError):
            pass  # a peer has disconnected, or the proxy is closing
        finally:
            writer.transport.abort()

    async def _authenticate(
        self,
        connection: asyncio.Task[None],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bytes | None:
        """Return the first bytes of an admitted connection; refuse it and return None otherwise."""
        peer = writer.get_extra_info("peername") or ("",)
        displaced = self._pending.add(connection, peer[0])
        if displaced is not None:
            displaced.cancel()
        try:
            first = bytearray()
            try:
                async with asyncio.timeout(REQUEST_TIMEOUT_S):
                    await _read_head(reader, first)
                response = self._authenticator.respond(bytes(first))
            except TimeoutError:
                response = TOO_SLOW
            if not first:  # opened in advance by a browser, and unused
                return None
            if response is None:
                return bytes(first)
            await _send(response, reader, writer)
            return None
        finally:
            self._pending.discard(connection)

    async def _relay(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        line, end, rest = first.partition(b"\r\n")
        port, secret = self._backend_of(line)
        pass_header = f"{PASS_HEADER}: {secret}\r\n".encode() if secret else b""
        try:
            inner = await asyncio.open_connection(LOOPBACK, port, limit=CHUNK)
        except OSError:
            await _send(SERVER_DOWN, reader, writer)
            return
        inner_reader, inner_writer = inner
        try:
            inner_writer.write(line + end + pass_header + rest)
            await relay(Pipe(reader, inner_writer), Pipe(inner_reader, writer))
        except BaseException:
            inner_writer.transport.abort()
            raise
        await close_writer(inner_writer)

    def _backend_of(self, request_line: bytes) -> Backend:
        path = request_line.split(b" ")[1].partition(b"?")[0].decode("latin-1")
        if self.start_page is not None and (path + "/").startswith(START_PATH + "/"):
            return self.start_page
        return self.backend


async def _read_head(reader: asyncio.StreamReader, head: bytearray) -> None:
    """Read into ``head`` up to its end, or while it can still be an HTTP head."""
    searched = 0
    while head.find(HEAD_END, searched) < 0 and len(head) < MAX_HEAD_BYTES:
        searched = max(len(head) - len(HEAD_END), 0)
        data = await reader.read(MAX_HEAD_BYTES - len(head))
        head += data
        if not data or not head[:1].isalpha():
            return


async def _send(
    response: AuthResponse, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Send a response, then drain the input: unread data would reset the connection."""
    writer.write(response.encode())
    writer.write_eof()
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_TIMEOUT_S):
            while await reader.read(CHUNK):
                pass


def _check_token(token: str | None) -> None:
    if token is not None and len(token) < MIN_TOKEN_LENGTH:
        message = (
            f"`--token-file`: got a token of {len(token)} characters; "
            f"must have at least {MIN_TOKEN_LENGTH}"
        )
        raise CockpitError(message)


def _listener(host: str, port: int, token: str | None) -> socket.socket:
    """Return a socket that listens at exactly this address."""
    if not 0 <= port <= MAX_PORT:
        message = f"`--port`: got {port}; must be 1 to {MAX_PORT}, or 0 for any free port"
        raise CockpitError(message)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, where = found[0]
        # by the resolved address, not by the name
        if token is None and not ip_address(str(where[0])).is_loopback:
            message = (
                f"`--host`: got {host}, which other machines can reach, so browsers must "
                f"authenticate. Add --token-file FILE with a token of at least {MIN_TOKEN_LENGTH} "
                f"characters, or use --host {LOOPBACK}"
            )
            raise CockpitError(message)
        return socket.create_server(where, family=family)
    except (socket.gaierror, UnicodeError):
        message = f"`--host`: got {host}; must be {LOOPBACK} or another address of this machine"
    except OSError as error:
        message = f"`--port`: {port} of {host} is in use. Choose another, or 0 for any free port"
        if error.errno != errno.EADDRINUSE:
            why = os.strerror(error.errno or 0)
            message = (
                f"`--port`: {port} of {host} cannot be opened: {why}. "
                "Choose another --port or --host"
            )
    raise CockpitError(message)
