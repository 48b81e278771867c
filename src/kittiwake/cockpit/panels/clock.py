"""When: pause, step, speed, begin anew."""

import random
from math import inf
from typing import Any

from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.session import Session
from kittiwake.scene.frame import Frame

FASTEST = "as fast as possible"
SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "10x", FASTEST)


def speed_of(said: str) -> float:
    """How many times real time."""
    return inf if said == FASTEST else float(said.removesuffix("x"))


def said_speed(speed: float) -> str:
    """As the page says it; one of its own is added there."""
    return FASTEST if speed == inf else f"{speed:g}x"


class ClockPanel:
    """Of a flight that goes on."""

    def __init__(self, context: PanelContext, session: Session) -> None:
        self._session = session
        gui, clock = context.gui, session.clock
        self._pause = gui.add_button_group("Flight", ("Pause", "Go on", "Step"))
        now = said_speed(clock.speed)
        speeds = SPEEDS if now in SPEEDS else (*SPEEDS, now)
        self._speed = gui.add_dropdown("Speed", speeds, initial_value=now)
        self._again = gui.add_button_group("Begin anew", ("Same seed", "New seed"))

        @self._pause.on_click
        @context.by_hand
        def _(event: Any) -> None:
            match event.target.value:
                case "Pause":
                    clock.paused = True
                case "Go on":
                    clock.paused = False
                case _:
                    self._step(clock)

        @self._speed.on_update
        @context.by_hand
        def _(event: Any) -> None:
            if event.target.value in speeds:
                clock.speed = speed_of(event.target.value)

        @self._again.on_click
        @context.by_hand
        def _(event: Any) -> None:
            new = event.target.value == "New seed"
            # of whoever sits there, not of the flight
            seed = random.SystemRandom().randrange(2**31) if new else session.seed
            session.restart(seed)
            clock.paused = False

        gui.add_command("Pause or go on", hotkey="P").on_trigger(
            lambda _: setattr(clock, "paused", not clock.paused)
        )
        gui.add_command("Step", hotkey="N").on_trigger(lambda _: self._step(clock))

    def _step(self, clock: RealTimeClock) -> None:
        if not clock.paused:
            clock.paused = True
        clock.step()

    def update(self, frame: Frame) -> None:
        """Nothing of it changes by itself."""
