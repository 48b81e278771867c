"""Page server: accepts only the authenticating proxy, prints nothing, and stays offline."""

import asyncio
import hmac
import logging
import secrets
import warnings
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, TypeAlias

import viser
from typing_extensions import override
from viser import _messages as messages
from viser.infra import ClientId
from websockets.asyncio import server as websockets
from websockets.asyncio.server import ServerConnection
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from kittiwake.cockpit.auth_proxy import PASS_HEADER, Backend
from kittiwake.cockpit.branding import set_title_and_icon
from kittiwake.cockpit.desktop import quiet
from kittiwake.cockpit.values import is_allowed

LOOPBACK = "127.0.0.1"
# largest message from a browser: a screenshot of the page
MAX_MESSAGE_BYTES = 16 * 2**20
MAX_LOGGED_CHARACTERS = 200
MAX_PATH_LENGTH = 1000
# viser's page is one file that contains its scripts, fonts and decoders; it evaluates code that it
# generates from Markdown
CONTENT_SECURITY_POLICY = {
    "default-src": "'none'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "worker-src": "'self' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' data: blob:",
    "base-uri": "'none'",
    # back to the start page
    "form-action": "'self'",
}
# pages of notebooks on this machine, in a browser or in an editor
NOTEBOOKS = "http://localhost:* http://127.0.0.1:* http://[::1]:* vscode-webview: vscode-file:"

Handler: TypeAlias = Callable[[ServerConnection], Awaitable[None]]
ProcessRequest: TypeAlias = Callable[[ServerConnection, Request], Response | None]

log = logging.getLogger(__name__)


class PageServer(viser.ViserServer):
    """viser server on a free loopback port, for an ``AuthProxy`` that presents its ``secret``.

    Other clients and invalid messages are refused.

    Args:
        framed_by: the origins whose pages may show this one in a frame.
    """

    def __init__(self, framed_by: str = "'none'") -> None:
        self.secret = secrets.token_hex(16)
        headers = page_headers(framed_by)
        # a browser may leave at any time
        warnings.filterwarnings("ignore", "Queued a .* on a closed connection")
        # viser prints an address that no user should open
        with quiet(), _require_secret(self.secret, headers):
            super().__init__(host=LOOPBACK, port=0, verbose=False)
        _check_values(self.gui)
        self.on_client_connect(_on_connect)

    @property
    def backend(self) -> Backend:
        """Port and secret for a proxy."""
        return Backend(self.get_port(), self.secret)

    @override
    def stop(self) -> None:
        with quiet():
            super().stop()

    @override
    def request_share_url(self, verbose: bool = True) -> str | None:
        del verbose
        return None


async def _on_connect(client: viser.ClientHandle) -> None:
    _check_values(client.gui)


def _check_values(gui: viser.GuiApi) -> None:
    """Replace viser's update handler by one that rejects invalid values; viser has no hook."""
    original = gui._handle_gui_updates  # pyright: ignore[reportPrivateUsage]
    interface = gui._websock_interface  # pyright: ignore[reportPrivateUsage]
    controls = gui._gui_input_handle_from_uuid  # pyright: ignore[reportPrivateUsage]

    async def checked(client_id: ClientId, message: messages.GuiUpdateMessage) -> None:
        control = controls.get(message.uuid)
        if control is None:
            return
        if not is_allowed(control, message.updates):
            values = repr(dict(message.updates))[:MAX_LOGGED_CHARACTERS]
            log.warning("ignored an invalid control value from a page: %s", values)
            return
        await original(client_id, message)

    interface.unregister_handler(messages.GuiUpdateMessage, original)
    interface.register_handler(messages.GuiUpdateMessage, checked)


@contextmanager
def _require_secret(secret: str, headers: Mapping[str, str]) -> Generator[None]:
    """Make servers started in the context require the secret; viser has no hook."""
    serve = websockets.serve

    def guarded(
        handler: Handler,
        *args: Any,
        process_request: ProcessRequest,
        **options: Any,
    ) -> websockets.serve:
        def check_secret(connection: ServerConnection, request: Request) -> Response | None:
            presented = request.headers.get(PASS_HEADER, "")
            if not hmac.compare_digest(presented.encode(), secret.encode()):
                return connection.respond(HTTPStatus.FORBIDDEN, "Access to this port is denied.\n")
            return _respond(connection, request, process_request, headers)

        options["max_size"] = MAX_MESSAGE_BYTES
        return serve(_closing_on_errors(handler), *args, process_request=check_secret, **options)

    websockets.serve = guarded
    try:
        yield
    finally:
        websockets.serve = serve


def page_headers(framed_by: str) -> dict[str, str]:
    """Return the security headers of a page that the pages of some origins may show in a frame."""
    policy = CONTENT_SECURITY_POLICY | {"frame-ancestors": framed_by}
    return {
        "Content-Security-Policy": "; ".join(f"{name} {source}" for name, source in policy.items()),
        "X-Content-Type-Options": "nosniff",
        # without any, browsers would not name the origin of a form either
        "Referrer-Policy": "same-origin",
        # the same address shows other pages later
        "Cache-Control": "no-store",
    }


def _respond(
    connection: ServerConnection,
    request: Request,
    process_request: ProcessRequest,
    headers: Mapping[str, str],
) -> Response | None:
    """Return the page with its security headers; None for a WebSocket."""
    if len(request.path) > MAX_PATH_LENGTH:
        return connection.respond(HTTPStatus.REQUEST_URI_TOO_LONG, "The address is too long.\n")
    try:
        response = process_request(connection, request)
    except (OSError, ValueError):  # invalid file path
        return connection.respond(HTTPStatus.NOT_FOUND, "Page not found.\n")
    if response is not None:
        set_title_and_icon(response)
        for name, value in headers.items():
            response.headers[name] = value
    return response


def _closing_on_errors(
    handler: Handler,
) -> Handler:
    """Return a connection handler that disconnects clients which send unreadable messages."""

    async def handle(connection: ServerConnection) -> None:
        asyncio.get_running_loop().set_exception_handler(_log_exception)
        try:
            await handler(connection)
        except Exception as error:
            log.warning("disconnected a page that sent an unreadable message: %s", _line(error))
            await connection.close(CloseCode.UNSUPPORTED_DATA, "Unreadable message.")

    return handle


def _log_exception(loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Log an error of a message in one line, without a traceback."""
    del loop
    log.warning(
        "error in a message from a page: %s", _line(context.get("exception") or context["message"])
    )


def _line(error: Exception | str) -> str:
    return " ".join(repr(error).split())[:MAX_LOGGED_CHARACTERS]
