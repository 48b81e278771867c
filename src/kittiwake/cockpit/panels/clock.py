"""Panel of a live flight's clock: pause, step, speed and restart."""

import random
from math import inf

from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.session import Session
from kittiwake.scene.scene_state import SceneState

FASTEST = "as fast as possible"
SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "10x", FASTEST)


def parse_speed(label: str) -> float:
    """Return the speed relative to real time of a label."""
    return inf if label == FASTEST else float(label.removesuffix("x"))


def speed_label(speed: float) -> str:
    """Return the label of a speed relative to real time."""
    return FASTEST if speed == inf else f"{speed:g}x"


class ClockPanel:
    """Clock controls of a live flight."""

    def __init__(self, context: PanelContext, session: Session) -> None:
        self._session = session
        gui, clock = context.gui, session.clock
        self._run = gui.add_button_group("Flight", ("Pause", "Resume", "Step"))
        current = speed_label(clock.speed)
        speeds = SPEEDS if current in SPEEDS else (*SPEEDS, current)
        self._speed = gui.add_dropdown("Speed", speeds, initial_value=current)
        self._restart = gui.add_button_group("Restart", ("Same seed", "New seed"))

        @self._run.on_click
        @context.user_action
        def _(event: ControlEvent) -> None:
            match event.target.value:
                case "Pause":
                    clock.paused = True
                case "Resume":
                    clock.paused = False
                case _:
                    self._step(clock)

        @self._speed.on_update
        @context.user_action
        def _(event: ControlEvent) -> None:
            if event.target.value in speeds:
                clock.speed = parse_speed(event.target.value)

        @self._restart.on_click
        @context.user_action
        def _(event: ControlEvent) -> None:
            new = event.target.value == "New seed"
            # a new seed is user input, not part of the flight
            seed = random.SystemRandom().randrange(2**31) if new else session.seed
            session.restart(seed)
            clock.paused = False

        gui.add_command("Pause / resume", hotkey="P").on_trigger(
            lambda _: setattr(clock, "paused", not clock.paused)
        )
        gui.add_command("Step", hotkey="N").on_trigger(lambda _: self._step(clock))

    def _step(self, clock: RealTimeClock) -> None:
        if not clock.paused:
            clock.paused = True
        clock.step()

    def update(self, scene_state: SceneState) -> None:
        """Do nothing: the controls change only by user input."""
