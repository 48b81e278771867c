"""The cockpit's page for commands that show one."""

import json
import os
import sys
import webbrowser
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kittiwake.cli.hub import token_in
from kittiwake.core.errors import CockpitError
from kittiwake.core.extras import optional

if TYPE_CHECKING:
    from kittiwake.cockpit.auth_proxy import AuthProxy
    from kittiwake.cockpit.cockpit import Cockpit

EXTRA = "cockpit"
MODULES = ("viser", "websockets")
USUAL_PORT = 8080
LOOPBACK = "127.0.0.1"

Port = Annotated[
    int | None,
    typer.Option(metavar="P", help=f"Port of the page; {USUAL_PORT} or, if taken, any.", min=0),
]
Host = Annotated[
    str, typer.Option(metavar="H", help="Address of the page; beyond this machine with a token.")
]
TokenFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File with a secret that opens the page.")
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")]


class PageOptions(NamedTuple):
    """Where the page is, and who opens it."""

    port: int | None
    host: str
    token_file: Path | None
    browser: bool
    quiet: bool


def require_cockpit() -> None:
    """Refuse to go on without what the page needs.

    Raises:
        MissingExtraError: with the extra that brings it.
    """
    for module in MODULES:
        optional(module, EXTRA)


@contextmanager
def open_page(build: "Callable[[Any], Cockpit]", page: PageOptions) -> "Generator[Cockpit]":
    """The page that ``build`` makes of a server, at an address that is told, while it lasts.

    Raises:
        CockpitError: if the address cannot be had.
    """
    from kittiwake.cockpit.auth_proxy import AuthProxy
    from kittiwake.cockpit.server import PageServer

    token = None if page.token_file is None else token_in(page.token_file)
    with ExitStack() as stack:
        server = PageServer()
        stack.callback(server.stop)
        inner, secret = server.get_port(), server.secret
        gate = _gate(
            lambda at: stack.enter_context(AuthProxy(page.host, at, inner, token, secret)),
            page.port,
        )
        cockpit = stack.enter_context(build(server))
        if not page.quiet:
            sys.stderr.write(f"The cockpit is at {gate.address}\n")
        if page.browser and _has_desktop():
            webbrowser.open(stack.enter_context(_way_in(gate.address, secret=token is not None)))
        yield cockpit


@contextmanager
def _way_in(address: str, *, secret: bool) -> Generator[str]:
    """What a browser is told to open: for a secret address, a file of ours that leads to it.

    Any user of a machine can read the command line of a browser, and nobody else this file.
    """
    if not secret:
        yield address
        return
    with TemporaryDirectory(prefix="kittiwake-") as folder:
        file = Path(folder, "cockpit.html")
        file.touch(mode=0o600)
        to = json.dumps(address)
        file.write_text(f"<!doctype html><script>location.replace({to})</script>\n", "utf-8")
        yield file.as_uri()


def _gate(opened: "Callable[[int], AuthProxy]", port: int | None) -> "AuthProxy":
    """At the port that was asked for, or at the usual one or any."""
    if port is not None:
        return opened(port)
    try:
        return opened(USUAL_PORT)
    except CockpitError:
        return opened(0)


def _has_desktop() -> bool:
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
