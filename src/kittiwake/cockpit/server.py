"""The server of the page: for the gate alone, silent, and with no way to the internet."""

import asyncio
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, redirect_stdout
from http import HTTPStatus
from io import StringIO
from typing import Any

import viser
from typing_extensions import override
from viser import _messages as messages
from websockets.asyncio import server as websockets
from websockets.frames import CloseCode

from kittiwake.cockpit.auth_proxy import PASS_HEADER
from kittiwake.cockpit.values import is_allowed

LOOPBACK = "127.0.0.1"
# of what a browser says at once: the largest is a picture of a page
MOST_MESSAGE_BYTES = 16 * 2**20
MOST_SAID = 200
LONGEST_PATH = 1000
# viser's page is one file with its scripts, fonts and decoders in it; it evaluates what it makes of
# Markdown
ALLOWED = {
    "default-src": "'none'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "worker-src": "'self' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' data: blob:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
PAGE_FIELDS = (
    ("Content-Security-Policy", "; ".join(f"{what} {where}" for what, where in ALLOWED.items())),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
)

log = logging.getLogger(__name__)


class PageServer(viser.ViserServer):
    """viser's, on any free port of the loopback, for a ``Gate`` that shows its ``secret``.

    Others who find the port are refused; so are messages that no page of ours sends.
    """

    def __init__(self) -> None:
        self.secret = secrets.token_hex(16)
        # it greets on standard output, with a port that nobody is to open
        with redirect_stdout(StringIO()), _for_one(self.secret):
            super().__init__(host=LOOPBACK, port=0, verbose=False)
        _check_values(self.gui)
        self.on_client_connect(_greet)

    @override
    def stop(self) -> None:
        with redirect_stdout(StringIO()):
            super().stop()

    @override
    def request_share_url(self, verbose: bool = True) -> str | None:
        del verbose
        return None


async def _greet(client: viser.ClientHandle) -> None:
    _check_values(client.gui)


def _check_values(gui: viser.GuiApi) -> None:
    """Has no control set to what it cannot have; viser has no way to say so."""
    take = gui._handle_gui_updates  # pyright: ignore[reportPrivateUsage]
    interface = gui._websock_interface  # pyright: ignore[reportPrivateUsage]
    controls = gui._gui_input_handle_from_uuid  # pyright: ignore[reportPrivateUsage]

    async def checked(client_id: Any, message: messages.GuiUpdateMessage) -> None:
        control = controls.get(message.uuid)
        if control is None:
            return
        if not is_allowed(control, message.updates):
            said = repr(dict(message.updates))[:MOST_SAID]
            log.warning("a page set a control to what it cannot have, %s: not done", said)
            return
        await take(client_id, message)

    interface.unregister_handler(messages.GuiUpdateMessage, take)
    interface.register_handler(messages.GuiUpdateMessage, checked)


@contextmanager
def _for_one(secret: str) -> Generator[None]:
    """Servers that are begun now answer nobody without the secret; viser has no way to say so."""
    serve = websockets.serve

    def guarded(
        handler: Callable[[Any], Awaitable[None]],
        *given: Any,
        process_request: Callable[..., Any],
        **more: Any,
    ) -> Any:
        def asked(connection: Any, request: Any) -> Any:
            shown = request.headers.get(PASS_HEADER, "")
            if not hmac.compare_digest(shown.encode(), secret.encode()):
                return connection.respond(HTTPStatus.FORBIDDEN, "This port is not for you.\n")
            return _answer(connection, request, process_request)

        more["max_size"] = MOST_MESSAGE_BYTES
        return serve(_parted(handler), *given, process_request=asked, **more)

    websockets.serve = guarded
    try:
        yield
    finally:
        websockets.serve = serve


def _answer(connection: Any, request: Any, process_request: Callable[..., Any]) -> Any:
    """The page, with what it may do said to the browser; None for a WebSocket."""
    if len(request.path) > LONGEST_PATH:
        return connection.respond(HTTPStatus.REQUEST_URI_TOO_LONG, "This address is too long.\n")
    try:
        response = process_request(connection, request)
    except (OSError, ValueError):  # a path that no file can have
        return connection.respond(HTTPStatus.NOT_FOUND, "There is no such page.\n")
    if response is not None:
        for name, value in PAGE_FIELDS:
            response.headers[name] = value
    return response


def _parted(handler: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    """A handler of connections which is parted from one that sends what cannot be read."""

    async def tended(connection: Any) -> None:
        asyncio.get_running_loop().set_exception_handler(_note)
        try:
            await handler(connection)
        except Exception as error:
            log.warning("a page sent what cannot be read, and is parted from: %s", _line(error))
            await connection.close(CloseCode.UNSUPPORTED_DATA, "This cannot be read.")

    return tended


def _note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """One line of what goes wrong with a message, and not the whole way to it."""
    del loop
    log.warning("a message of a page: %s", _line(context.get("exception") or context["message"]))


def _line(error: object) -> str:
    return " ".join(repr(error).split())[:MOST_SAID]
