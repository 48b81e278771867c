"""Panel of log playback: time bar, speed and events."""

from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.cockpit.panels.clock import FASTEST, SPEEDS, parse_speed
from kittiwake.cockpit.replay import Replay
from kittiwake.scene.scene_state import SceneState

STEP_S = 0.02
NO_EVENT = "select an event"
# playback starts this time before a selected event
LEAD_S = 1.0


class PlayerPanel:
    """Playback controls of a log."""

    def __init__(self, context: PanelContext, replay: Replay) -> None:
        self._replay = replay
        gui = context.gui
        play = gui.add_button_group("Log", ("Play", "Pause", "Rewind"))
        self._bar = gui.add_slider(
            "time [s]", replay.begin_s, max(replay.end_s, replay.begin_s + STEP_S), STEP_S,
            replay.begin_s,
        )  # fmt: skip
        speed = gui.add_dropdown(
            "Speed", [one for one in SPEEDS if one != FASTEST], initial_value="1x"
        )
        self._events = {
            f"{event.time_s:.2f} s {event.vehicle}: {event.event}": event.time_s
            for event in replay.events
        }
        events = gui.add_dropdown("Events", (NO_EVENT, *self._events))
        self._jumped = False
        play.on_click(context.user_action(lambda event: self._control(event.target.value)))

        @self._bar.on_update
        @context.user_action
        def _(event: ControlEvent) -> None:
            replay.time_s = float(event.target.value)

        @speed.on_update
        @context.user_action
        def _(event: ControlEvent) -> None:
            if event.target.value in SPEEDS:
                replay.speed = parse_speed(event.target.value)

        @events.on_update
        @context.user_action
        def _(event: ControlEvent) -> None:
            if event.target.value in self._events:
                replay.time_s = self._events[event.target.value] - LEAD_S
                self._jumped = True
                events.value = NO_EVENT

        gui.add_command("Play / pause", hotkey="P").on_trigger(
            lambda _: setattr(replay, "paused", not replay.paused)
        )

    def _control(self, button: str) -> None:
        replay = self._replay
        match button:
            case "Play":
                if replay.time_s >= replay.end_s:
                    replay.time_s = replay.begin_s
                replay.paused = False
            case "Pause":
                replay.paused = True
            case _:
                replay.time_s = replay.begin_s
                self._jumped = True

    def update(self, scene_state: SceneState) -> None:
        """Move the time bar while playing and after a jump; leave it to the user while paused."""
        if not self._replay.paused or self._jumped:
            self._jumped = False
            self._bar.value = scene_state.time_s
