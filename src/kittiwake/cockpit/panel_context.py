"""Context shared by panels: their controls, the flight and the selected vehicle."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeAlias

import numpy as np
import viser
from numpy import ndarray

from kittiwake.cockpit.discarded_controls import DiscardedControls
from kittiwake.cockpit.frame_buffer import FrameSource
from kittiwake.core.errors import CommandError, KittiwakeError
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.session import Session
from kittiwake.scenario.scenario import Scenario
from kittiwake.scene.scene_state import FlightInfo, SceneState

# display time of notifications
NOTIFICATION_S = 8.0
# arrays with more elements are not listed by element
MAX_ELEMENTS = 32
# event of a control, of the scene or of a key
ControlEvent: TypeAlias = Any
NUMBER = re.compile(r"\d+")


@dataclass
class PanelContext:
    """Controls of one browser or of all browsers, and the flight that they show.

    Attributes:
        gui: API that creates the controls.
        clients: browsers that show the controls.
        flight: scenario and log columns of the flight.
        source: source of scene states.
        session: live session; None for a log.
        selected: vehicle that the panels show; each browser has its own.
        tab: tab in which panels are being created.
        charted: vehicles that charts show besides the selected one.
        discarded: controls that rebuilt panels no longer use.
        lock: held while panels are rebuilt or updated, so that removed controls are not updated.
    """

    gui: viser.GuiApi
    clients: Callable[[], Iterable[viser.ClientHandle]]
    flight: FlightInfo
    source: FrameSource
    session: Session | None = None
    selected: str = ""
    tab: AbstractContextManager[viser.GuiTabHandle] | None = None
    _builders: list[tuple[AbstractContextManager[viser.GuiTabHandle], Callable[[], None]]] = field(
        default_factory=list
    )
    charted: frozenset[str] = frozenset()
    discarded: DiscardedControls = field(default_factory=DiscardedControls)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.selected = self.selected or next(iter(self.flight.scenario.vehicles))

    @property
    def vehicle(self) -> AssembledVehicle:
        """Selected vehicle."""
        # of the flight as shown if the scenario is already that without the vehicle
        return {**self.flight.scenario.vehicles, **self.scenario.vehicles}[self.selected]

    @property
    def scenario(self) -> Scenario:
        """Scenario of the flight, with the changes made in flight."""
        return self.flight.scenario if self.session is None else self.session.executor.scenario

    @property
    def entry(self) -> str:
        """Name of the selected vehicle's scenario entry, which may describe several vehicles."""
        entries = self.scenario.document.data["vehicles"]
        return self.selected if self.selected in entries else self.selected.rpartition("-")[0]

    def select(self, vehicle: str) -> None:
        """Select another vehicle and rebuild the panels.

        Raises:
            CommandError: if there is no vehicle of this name.
        """
        if vehicle not in self.flight.columns:
            message = f"there is no vehicle '{vehicle}'"
            raise CommandError(message)
        with self.lock:
            self.selected = vehicle
            self.rebuild()

    def rebuild(self) -> None:
        """Rebuild all panels."""
        with self.lock:
            for tab, build in self._builders:
                with tab:
                    build()

    def build(self, build: Callable[[], None]) -> None:
        """Create controls in the current tab, and recreate them on ``rebuild``.

        Panels are rebuilt when another vehicle is selected, and when the flight is restarted.
        """
        assert self.tab is not None, "panels are created in tabs"
        self._builders.append((self.tab, build))
        build()

    def logged_columns(self, vehicle: str) -> list[str]:
        """Return the log columns of a vehicle, without the elements of long arrays."""
        columns = self.flight.columns[vehicle]
        elements = Counter(NUMBER.sub("#", name) for name in columns)
        return [name for name in columns if elements[NUMBER.sub("#", name)] <= MAX_ELEMENTS]

    def row(self, scene_state: SceneState) -> dict[str, float]:
        """Return the values of the selected vehicle by column; NaN if it has no row."""
        columns = self.flight.columns[self.selected]
        row: ndarray = scene_state.rows.get(self.selected, np.full(len(columns), np.nan))
        return dict(zip(columns, row.tolist(), strict=True))

    def phase(self, row: Mapping[str, float]) -> str:
        """Return the phase of the selected vehicle's guidance in words; empty without phases."""
        phases = self.vehicle.guidance.component.phases()
        number = row.get("guidance.phase", 0.0)
        return phases[int(number)] if number == number else ""

    def notify(self, title: str, text: str, *, error: bool = False) -> None:
        """Show a notification in the browsers of this context."""
        for client in self.clients():
            client.add_notification(
                title, text, color="red" if error else "blue", auto_close_seconds=NOTIFICATION_S
            )

    def user_action(self, action: Callable[[ControlEvent], None]) -> Callable[[ControlEvent], None]:
        """Return a callback for user input: it ignores programmatic updates and shows errors."""

        @wraps(action)
        def callback(event: ControlEvent) -> None:
            if event.client is None:
                return
            try:
                action(event)
            except (KittiwakeError, TimeoutError) as error:
                self.notify("Action failed", str(error), error=True)
            except Exception as error:
                self.notify("Internal error", repr(error), error=True)
                raise

        return callback
