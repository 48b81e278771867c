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

from kittiwake.cli.token_file import read_token
from kittiwake.cockpit.desktop import has_desktop
from kittiwake.core.errors import CockpitError

if TYPE_CHECKING:
    from kittiwake.cockpit.auth_proxy import AuthProxy
    from kittiwake.cockpit.site import CockpitSite

DEFAULT_PORT = 8080
LOOPBACK = "127.0.0.1"
# port of no server, until one is set
NO_SERVER = 0

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
def open_site(page: PageOptions, *, has_start_page: bool = False) -> "Generator[CockpitSite]":
    """Open the address at which flights are shown.

    Raises:
        CockpitError: if it is not available.
    """
    from kittiwake.cockpit.auth_proxy import AuthProxy
    from kittiwake.cockpit.site import CockpitSite

    token = None if page.token_file is None else read_token(page.token_file)
    with ExitStack() as stack:

        def open_at(port: int) -> AuthProxy:
            return stack.enter_context(AuthProxy(page.host, port, NO_SERVER, token))

        yield stack.enter_context(
            CockpitSite(lambda: _open_proxy(open_at, page.port), has_start_page=has_start_page)
        )


@contextmanager
def announced(address: str, page: PageOptions) -> Generator[None]:
    """Print the address of the page, and open a browser if there is a desktop."""
    if not page.quiet:
        sys.stderr.write(f"The cockpit is at {address}\n")
    if not (page.browser and has_desktop()):
        yield
        return
    with _browser_address(address, secret=page.token_file is not None) as shown:
        webbrowser.open(shown)
        yield


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
