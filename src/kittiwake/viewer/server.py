"""The server of the page: for the gate alone, silent, and with no way to the internet."""

import hmac
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stdout
from http import HTTPStatus
from io import StringIO
from typing import Any

import viser
from websockets.asyncio import server as websockets

from kittiwake.viewer.gate import PASS_HEADER

LOOPBACK = "127.0.0.1"


class PageServer(viser.ViserServer):
    """viser's, on any free port of the loopback, for a ``Gate`` that shows its ``secret``.

    Others who find the port are refused.
    """

    def __init__(self) -> None:
        self.secret = secrets.token_hex(16)
        # it greets on standard output, with a port that nobody is to open
        with redirect_stdout(StringIO()), _for_one(self.secret):
            super().__init__(host=LOOPBACK, port=0, verbose=False)

    def stop(self) -> None:
        """Without a word on standard output."""
        with redirect_stdout(StringIO()):
            super().stop()

    def request_share_url(self, verbose: bool = True) -> str | None:  # noqa: FBT001, FBT002  viser's
        """Refuses: any page could ask for a tunnel through a server on the internet."""
        del verbose
        return None


@contextmanager
def _for_one(secret: str) -> Generator[None]:
    """Servers that are begun now answer nobody without the secret; viser has no way to say so."""
    serve = websockets.serve

    def guarded(*given: Any, process_request: Callable[..., Any], **more: Any) -> Any:
        def asked(connection: Any, request: Any) -> Any:
            shown = request.headers.get(PASS_HEADER, "")
            if not hmac.compare_digest(shown.encode(), secret.encode()):
                return connection.respond(HTTPStatus.FORBIDDEN, "This port is not for you.\n")
            return process_request(connection, request)

        return serve(*given, process_request=asked, **more)

    websockets.serve = guarded
    try:
        yield
    finally:
        websockets.serve = serve
