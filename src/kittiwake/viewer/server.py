"""The server of the page: on the loopback, silent, and with no way to the internet."""

from contextlib import redirect_stdout
from io import StringIO

import viser

LOOPBACK = "127.0.0.1"


class PageServer(viser.ViserServer):
    """viser's, on any free port of the loopback, which a ``Gate`` stands before."""

    def __init__(self) -> None:
        # it greets on standard output, with a port that nobody is to open
        with redirect_stdout(StringIO()):
            super().__init__(host=LOOPBACK, port=0, verbose=False)

    def stop(self) -> None:
        """Without a word on standard output."""
        with redirect_stdout(StringIO()):
            super().stop()

    def request_share_url(self, verbose: bool = True) -> str | None:  # noqa: FBT001, FBT002  viser's
        """Refuses: any page could ask for a tunnel through a server on the internet."""
        del verbose
        return None
