"""Server of the start page, for an ``AuthProxy`` that presents its ``secret``.

Each connection has one request, so that the proxy checks all of them. What it serves is in the
package; what a request chooses is looked up in ``start_choices``.
"""

import hmac
import secrets
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple, Protocol, runtime_checkable
from urllib.parse import parse_qs, unquote

from typing_extensions import override

from kittiwake.cockpit.auth_proxy import LOOPBACK, PASS_HEADER, START_PATH, Backend
from kittiwake.cockpit.start_choices import (
    Choice,
    chosen_recent,
    chosen_run,
    chosen_scenario,
    recent_files,
    recorded_runs,
)
from kittiwake.cockpit.start_page import (
    ASSETS,
    ICON,
    PICTURES,
    SCRIPT,
    STYLE,
    start_page,
    waiting_page,
)
from kittiwake.core.errors import KittiwakeError
from kittiwake.scenario import library

# largest form, and largest scenario file that can be uploaded
MAX_FORM_BYTES, MAX_SCENARIO_BYTES = 4096, 512 * 1024
# time limit for reading a request and for writing a response
TIMEOUT_S = 10.0
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # without any, browsers would not name the origin of a form either
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
HTML, TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"
TYPES = {
    STYLE: "text/css; charset=utf-8",
    SCRIPT: "text/javascript; charset=utf-8",
    ICON: "image/svg+xml",
}
# what a form of the page chooses, by path: its field, and the choice of a value
FORMS: Mapping[str, tuple[str, Callable[[str], Choice | None]]] = {
    f"{START_PATH}/fly": ("scenario", chosen_scenario),
    f"{START_PATH}/replay": ("run", chosen_run),
    f"{START_PATH}/recent": ("file", chosen_recent),
}
UPLOAD_PATH, END_PATH = f"{START_PATH}/upload", f"{START_PATH}/end"


class Waiting(NamedTuple):
    """Flight that is being opened, and the stage of this in words."""

    title: str
    stage: str


@runtime_checkable
class StartActions(Protocol):
    """State and actions of the start page, used by threads of the server."""

    @property
    def waiting(self) -> Waiting | None:
        """Flight that is being opened; None for none."""
        ...

    @property
    def refusal(self) -> str:
        """Message about the last choice if it was refused, else empty."""
        ...

    def choose(self, choice: Choice | None) -> None:
        """End the present flight and show another; None for the start page."""
        ...

    def uploaded(self, name: str, content: bytes) -> Choice:
        """Return the choice of an uploaded scenario.

        Raises:
            KittiwakeError: if it is no scenario that can be flown.
        """
        ...


class StartServer:
    """HTTP server of the start page, which runs in its own threads while the context is open."""

    def __init__(self, actions: StartActions) -> None:
        secret = secrets.token_hex(16)

        class Handler(_Handler):
            pass

        Handler.actions, Handler.secret = actions, secret
        self._server = _Server((LOOPBACK, 0), Handler)
        self.backend = Backend(self._server.server_address[1], secret)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="start page", daemon=True
        )

    def __enter__(self) -> "StartServer":
        self._thread.start()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # a thread may wait for a slow client
    block_on_close = False

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        # a client that has disconnected
        del request, client_address


class _Handler(BaseHTTPRequestHandler):
    actions: StartActions
    secret: str
    timeout = TIMEOUT_S
    server_version, sys_version = "Kittiwake", ""

    def do_GET(self) -> None:
        if not self._is_admitted():
            return
        path = self.path.partition("?")[0]
        name = path.removeprefix(f"{START_PATH}/")
        if path == START_PATH or path == "/":
            self._send_page(is_start=path == START_PATH)
        elif name in TYPES:
            self._send(HTTPStatus.OK, TYPES[name], (ASSETS / name).read_bytes())
        elif (scenario := _pictured(name)) and (PICTURES / f"{scenario}.webp").is_file():
            content = (PICTURES / f"{scenario}.webp").read_bytes()
            self._send(HTTPStatus.OK, "image/webp", content)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "Page not found.")

    def do_POST(self) -> None:
        if not self._is_admitted():
            return
        if self.path == END_PATH:
            self.actions.choose(None)
            self._redirect(START_PATH)
        elif self.path == UPLOAD_PATH:
            self._upload()
        elif self.path in FORMS:
            field, chosen = FORMS[self.path]
            content = self._content(MAX_FORM_BYTES)
            if content is not None:
                values = parse_qs(content.decode("latin-1")).get(field, [""])
                self._choose(chosen(values[0]))
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "Page not found.")

    @override
    def log_message(self, format: str, *args: object) -> None:
        del format, args

    def _is_admitted(self) -> bool:
        presented = self.headers.get(PASS_HEADER, "")
        admitted = hmac.compare_digest(presented.encode(), self.secret.encode())
        if not admitted:
            self._refuse(HTTPStatus.FORBIDDEN, "Access to this port is denied.")
        return admitted

    def _send_page(self, *, is_start: bool) -> None:
        actions = self.actions
        waiting = actions.waiting
        if waiting is not None and not is_start:
            page = waiting_page(*waiting)
        else:
            page = start_page(
                library.groups(),
                library.summaries(),
                recorded_runs(),
                recent_files(),
                actions.refusal,
            )
        self._send(HTTPStatus.OK, HTML, page.encode())

    def _upload(self) -> None:
        content = self._content(MAX_SCENARIO_BYTES)
        if content is None:
            return
        try:
            choice = self.actions.uploaded(unquote(self.headers.get("X-File-Name", "")), content)
        except KittiwakeError as error:
            self._refuse(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
            return
        self.actions.choose(choice)
        self._send(HTTPStatus.OK, TEXT, b"")

    def _choose(self, choice: Choice | None) -> None:
        if choice is None:
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such scenario or run any more.")
            return
        self.actions.choose(choice)
        self._redirect("/")

    def _content(self, limit: int) -> bytes | None:
        """Return the body of a request; refuse it and return None if it is too large."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "The length of the content is missing.")
        elif int(length[:9]) > limit or len(length) > 9:
            text = f"The file is too large: {length} bytes; at most {limit} are allowed."
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
        else:
            return self.rfile.read(int(length))
        return None

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        self._send(status, TEXT, f"{text}\n".encode())

    def _redirect(self, path: str) -> None:
        self._send(HTTPStatus.SEE_OTHER, TEXT, b"", {"Location": path})

    def _send(
        self,
        status: HTTPStatus,
        content_type: str,
        content: bytes,
        fields: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        common = {"Content-Type": content_type, "Content-Length": str(len(content))}
        for name, value in {**common, **HEADERS, **(fields or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def _pictured(name: str) -> str | None:
    """Return the library scenario whose picture a path names; None for any other path."""
    found = name.removeprefix("pictures/").removesuffix(".webp")
    return found if name == f"pictures/{found}.webp" and found in library.names() else None
