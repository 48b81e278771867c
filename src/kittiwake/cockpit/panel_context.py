"""What panels share: where their controls are, the flight, and the vehicle they are about."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np
import viser
from numpy import ndarray

from kittiwake.cockpit.frame_buffer import FrameSource
from kittiwake.core.errors import CommandError, KittiwakeError
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.runtime.session import Session
from kittiwake.scenario.scenario import Scenario
from kittiwake.scene.frame import Frame, Show

# what is said to who looks at the page stays so long
SAID_S = 8.0
# of an array with more numbers none is shown by itself
MOST_PARTS = 32
NUMBER = re.compile(r"\d+")


@dataclass
class PanelContext:
    """The controls of one browser or of all, and what is shown there.

    Attributes:
        gui: where controls are made.
        clients: the browsers that have them.
        session: what flies, None where a log is replayed.
        picked: the vehicle that the panels are about; each browser has its own.
        tab: where panels are being made.
        lock: held while panels are made anew or written to, so that nothing is written to what is
            being removed.
    """

    gui: viser.GuiApi
    clients: Callable[[], Iterable[viser.ClientHandle]]
    show: Show
    source: FrameSource
    session: Session | None = None
    picked: str = ""
    tab: AbstractContextManager[Any] | None = None
    _builders: list[tuple[AbstractContextManager[Any], Callable[[], None]]] = field(
        default_factory=list
    )
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.picked = self.picked or next(iter(self.show.scenario.vehicles))

    @property
    def vehicle(self) -> Vehicle:
        """The record of the picked one."""
        return self.scenario.vehicles[self.picked]

    @property
    def scenario(self) -> Scenario:
        """What is flown, with what was changed on the way."""
        return self.show.scenario if self.session is None else self.session.executor.scenario

    @property
    def entry(self) -> str:
        """Under which name the scenario has the picked one, alone or as one of a count."""
        entries = self.scenario.document.data["vehicles"]
        return self.picked if self.picked in entries else self.picked.rpartition("-")[0]

    def pick(self, vehicle: str) -> None:
        """Makes the panels be about another vehicle.

        Raises:
            CommandError: if there is none of this name.
        """
        if vehicle not in self.show.columns:
            message = f"there is no vehicle '{vehicle}'"
            raise CommandError(message)
        with self.lock:
            self.picked = vehicle
            self.renew()

    def renew(self) -> None:
        """Has all panels begin anew."""
        with self.lock:
            for tab, build in self._builders:
                with tab:
                    build()

    def build(self, build: Callable[[], None]) -> None:
        """Makes controls in the present tab, and again when they are to be about another one.

        That is when another vehicle is picked, and when the flight has begun anew.
        """
        assert self.tab is not None, "panels are made in tabs"
        self._builders.append((self.tab, build))
        build()

    @property
    def logged_columns(self) -> list[str]:
        """The picked one's columns, without the parts of long arrays."""
        columns = self.show.columns[self.picked]
        parts = Counter(NUMBER.sub("#", name) for name in columns)
        return [name for name in columns if parts[NUMBER.sub("#", name)] <= MOST_PARTS]

    def row(self, frame: Frame) -> dict[str, float]:
        """The picked one's numbers by column; NaN where nothing of it was recorded."""
        columns = self.show.columns[self.picked]
        row: ndarray = frame.rows.get(self.picked, np.full(len(columns), np.nan))
        return dict(zip(columns, row.tolist(), strict=True))

    def say(self, title: str, words: str, *, wrong: bool = False) -> None:
        """Tells who looks at these controls."""
        for client in self.clients():
            client.add_notification(
                title, words, color="red" if wrong else "blue", auto_close_seconds=SAID_S
            )

    def by_hand(self, act: Callable[..., None]) -> Callable[[Any], None]:
        """An answer to what a person does on the page, not to what we set there ourselves."""

        @wraps(act)
        def answer(event: Any) -> None:
            if event.client is None:
                return
            try:
                act(event)
            except (KittiwakeError, TimeoutError) as error:
                self.say("That cannot be done", str(error), wrong=True)
            except Exception as error:
                self.say("A fault of the cockpit's", repr(error), wrong=True)
                raise

        return answer
