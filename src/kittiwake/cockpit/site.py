"""Address of the cockpit, which shows one flight after another and the start page between them."""

import re
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from kittiwake.cockpit.auth_proxy import AuthProxy
from kittiwake.cockpit.cockpit import Cockpit
from kittiwake.cockpit.server import PageServer
from kittiwake.cockpit.start_choices import Choice, ScenarioChoice
from kittiwake.cockpit.start_server import StartServer, Waiting
from kittiwake.core.errors import ScenarioError

# interval in which a wait notices Ctrl-C
POLL_S = 0.1
# other characters of an uploaded file's name are replaced
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
MAX_NAME = 60


class CockpitSite:
    """Server of the cockpit; it has one flight at a time, each with a page server of its own.

    Requests come from threads of the start page's server; the flights are shown by the thread that
    opened the site.

    Attributes:
        waiting: flight that is being opened; None for none.
        refusal: message about the last choice if it was refused, else empty.
        has_start_page: whether other flights may be chosen.
    """

    def __init__(self, open_proxy: Callable[[], AuthProxy], *, has_start_page: bool) -> None:
        """Open the address.

        Args:
            open_proxy: returns a proxy that is open, with any backend.
            has_start_page: whether other flights may be chosen.
        """
        self.has_start_page = has_start_page
        self.waiting: Waiting | None = None
        self.refusal = ""
        self._lock = threading.Lock()
        self._chosen = threading.Event()
        self._choice: Choice | None = None
        self._end_flight: Callable[[], None] = lambda: None
        with ExitStack() as stack:
            self._uploads = Path(stack.enter_context(TemporaryDirectory(prefix="kittiwake-")))
            self._start = stack.enter_context(StartServer(self)) if has_start_page else None
            self._proxy = open_proxy()
            if self._start is not None:
                self._proxy.backend = self._proxy.start_page = self._start.backend
            self._stack = stack.pop_all()

    def __enter__(self) -> "CockpitSite":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def address(self) -> str:
        """URL for a browser on this machine, with the token."""
        return self._proxy.address

    @contextmanager
    def show(
        self, build: Callable[[PageServer], Cockpit], end: Callable[[], None] = lambda: None
    ) -> Generator[Cockpit]:
        """Show a flight while the context lasts.

        Args:
            build: returns the cockpit of the flight on a page server.
            end: called once another choice was made, which is to end the flight.
        """
        server = PageServer()
        try:
            with build(server) as cockpit:
                with self._lock:
                    self._end_flight = end
                    chosen = self._chosen.is_set()
                    if not chosen:
                        self._proxy.backend, self.waiting = server.backend, None
                if chosen:
                    end()
                yield cockpit
        finally:
            with self._lock:
                self._end_flight = lambda: None
                if self._start is not None:
                    self._proxy.backend = self._start.backend
            server.stop()

    def await_choice(self) -> None:
        """Wait until a choice is made, or for Ctrl-C."""
        while not self._chosen.wait(POLL_S):
            pass

    def next_choice(self) -> Choice | None:
        """Wait for a choice and return it; None for the start page."""
        self.await_choice()
        with self._lock:
            self._chosen.clear()
            return self._choice

    def open(self, title: str, stage: str) -> None:
        """Show that a flight is being opened."""
        self.waiting, self.refusal = Waiting(title, stage), ""

    def refuse(self, message: str) -> None:
        """Show the start page with a message about the last choice."""
        self.refusal = re.sub(rf"{re.escape(str(self._uploads))}/[^/]+/", "", message)
        self.waiting = None

    def choose(self, choice: Choice | None) -> None:
        """End the present flight and show another; None for the start page."""
        with self._lock:
            self._choice = choice
            self.refusal = ""
            self.waiting = (
                None if choice is None else Waiting(choice.title, "Ending the last flight")
            )
            if self._start is not None:
                self._proxy.backend = self._start.backend
            end = self._end_flight
            self._chosen.set()
        end()

    def uploaded(self, name: str, content: bytes) -> Choice:
        """Return the choice of an uploaded scenario, which is kept in a folder of its own.

        Raises:
            ScenarioError: if it is not UTF-8 text.
        """
        stem = UNSAFE.sub("-", Path(name).stem)[:MAX_NAME].strip(".-") or "scenario"
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            message = f"{stem}.yaml: is not UTF-8 text; choose a scenario file"
            raise ScenarioError(message) from None
        file = Path(mkdtemp(dir=self._uploads)) / f"{stem}.yaml"
        file.write_text(text, "utf-8")
        return ScenarioChoice(str(file))
