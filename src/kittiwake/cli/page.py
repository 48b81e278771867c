"""Cockpit page, for the commands that show it."""

import json
import sys
import webbrowser
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from kittiwake.cli.hub import read_token
from kittiwake.cockpit.desktop import has_desktop
from kittiwake.core.errors import CockpitError

if TYPE_CHECKING:
    from kittiwake.cockpit.auth_proxy import AuthProxy
    from kittiwake.cockpit.cockpit import Cockpit
    from kittiwake.cockpit.server import PageServer

DEFAULT_PORT = 8080
LOOPBACK = "127.0.0.1"

Port = Annotated[
    int | None,
    typer.Option(metavar="P", help=f"Port of the page; default {DEFAULT_PORT}, or any.", min=0),
]
Host = Annotated[
    str, typer.Option(metavar="H", help="Address of the page; needs a token beyond loopback.")
]
TokenFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File with a secret that opens the page.")
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")]


class PageOptions(NamedTuple):
    """Address of the page, and options of its presentation."""

    port: int | None
    host: str
    token_file: Path | None
    browser: bool
    quiet: bool


@contextmanager
def open_page(build: "Callable[[PageServer], Cockpit]", page: PageOptions) -> "Generator[Cockpit]":
    """Serve the page that ``build`` creates, and print its address, while the context lasts.

    Raises:
        CockpitError: if the address is not available.
    """
    from kittiwake.cockpit.auth_proxy import AuthProxy
    from kittiwake.cockpit.server import PageServer

    token = None if page.token_file is None else read_token(page.token_file)
    with ExitStack() as stack:
        server = PageServer()
        stack.callback(server.stop)
        inner, secret = server.get_port(), server.secret
        proxy = _open_proxy(
            lambda port: stack.enter_context(AuthProxy(page.host, port, inner, token, secret)),
            page.port,
        )
        cockpit = stack.enter_context(build(server))
        if not page.quiet:
            sys.stderr.write(f"The cockpit is at {proxy.address}\n")
        if page.browser and has_desktop():
            address = _browser_address(proxy.address, secret=token is not None)
            webbrowser.open(stack.enter_context(address))
        yield cockpit


@contextmanager
def _browser_address(address: str, *, secret: bool) -> Generator[str]:
    """Yield the address for the browser: for a secret one, that of a file that redirects to it.

    Any user of the machine can read the browser's command line, but not this file.
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


def _open_proxy(open_at: "Callable[[int], AuthProxy]", port: int | None) -> "AuthProxy":
    """Open the proxy at the given port, or else at the default one or any."""
    if port is not None:
        return open_at(port)
    try:
        return open_at(DEFAULT_PORT)
    except CockpitError:
        return open_at(0)
