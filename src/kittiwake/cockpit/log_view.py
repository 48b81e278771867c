"""Page that replays a log, for Python programs and notebooks."""

import atexit
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from typing_extensions import override

from kittiwake.analysis.log import Log
from kittiwake.cockpit.auth_proxy import LOOPBACK, AuthProxy
from kittiwake.cockpit.cockpit import Cockpit
from kittiwake.cockpit.desktop import has_desktop, in_notebook
from kittiwake.cockpit.recorded import playback_of
from kittiwake.cockpit.replay import Replay
from kittiwake.cockpit.server import NOTEBOOKS, PageServer
from kittiwake.core.errors import CockpitError
from kittiwake.core.html import frame

HEIGHT_PX = 600


class LogView:
    """Page that replays a log until it is closed, at the latest at the end of the program.

    Only browsers of this machine are served, and only notebooks of this machine may embed it.
    """

    def __init__(self, log: Log, port: int) -> None:
        """Open the page.

        Args:
            log: the log.
            port: the port; 0 selects any free one.
        """
        with ExitStack() as stack:
            folder = stack.enter_context(TemporaryDirectory(prefix="kittiwake-"))
            playback = playback_of(log, Path(folder))
            server = PageServer(NOTEBOOKS)
            stack.callback(server.stop)
            inner, secret = server.get_port(), server.secret
            proxy = AuthProxy(LOOPBACK, port, inner, secret=secret, framed=True)
            self.url = stack.enter_context(proxy).address
            cockpit = Cockpit(server, playback.flight, Replay(playback))
            stack.enter_context(cockpit)
            self._open = stack.pop_all()
        atexit.register(self.close)

    @override
    def __repr__(self) -> str:
        return f"<LogView at {self.url}>"

    def _repr_html_(self) -> str:
        return frame(self.url, HEIGHT_PX)

    def close(self) -> None:
        """Close the page."""
        atexit.unregister(self.close)
        self._open.close()


def open_view(log: Log, port: int | None = None) -> LogView:
    """Open the page of a log, and a browser if neither a notebook nor a terminal shows it.

    Raises:
        LogError: if the log has no rows, or its scenario is unknown.
        CockpitError: if the port is not available.
    """
    try:
        view = LogView(log, port or 0)
    except CockpitError as error:
        # options of the command line are arguments in Python
        message = str(error).replace("--", "")
        raise CockpitError(message) from None
    if has_desktop() and not in_notebook():
        webbrowser.open(view.url)
    return view
