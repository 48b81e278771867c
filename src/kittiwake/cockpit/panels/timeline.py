"""Time line of a live flight or a log: pause, speed, a bar over the whole span, and its events."""

import random
from collections.abc import Sequence
from html import escape
from math import inf

from kittiwake.analysis.table import Event
from kittiwake.cockpit.live_source import LiveSource
from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.cockpit.time_source import TimeSource
from kittiwake.core.errors import CommandError
from kittiwake.runtime.session import Session
from kittiwake.scene.scene_state import SceneState

FASTEST = "as fast as possible"
SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x", "10x", FASTEST)
PAUSE, RESUME, STEP, LIVE, REWIND = "Pause", "Resume", "Step", "Live", "Rewind"
SAME_SEED, NEW_SEED = "Same seed", "New seed"
STEP_S = 0.02
NO_EVENT = "select an event"
# playback starts this time before a selected event
LEAD_S = 1.0
# space beside viser's bar: its label, and its number
BAR_LEFT_EM, BAR_RIGHT_EM = 8.125, 4.5
# marks in the bar, and events in the list; the last ones of a flight with more
MAX_MARKS = 200
ALARM_RGB, EVENT_RGB = "#e03131", "#24608c"
ALARMS = ("lost", "collision", "diverged", "fault", "empty", "fails")


def parse_speed(label: str) -> float:
    """Return the speed relative to real time of a label."""
    return inf if label == FASTEST else float(label.removesuffix("x"))


def speed_label(speed: float) -> str:
    """Return the label of a speed relative to real time."""
    return FASTEST if speed == inf else f"{speed:g}x"


class TimelinePanel:
    """Time line, the same for a live flight and a log.

    Args:
        context: data shared by the panels.
        source: what is shown.
        session: live session; None for a log.
    """

    def __init__(self, context: PanelContext, source: TimeSource, session: Session | None) -> None:
        self._source, self._session = source, session
        gui = context.gui
        self._run = gui.add_button_group("Time", self._buttons())
        self._marks = gui.add_html("", visible=False)
        begin_s, end_s = source.span_s
        self._bar = gui.add_slider(
            "time [s]", begin_s, max(end_s, begin_s + STEP_S), STEP_S, begin_s
        )
        current = speed_label(source.clock.speed)
        self._speeds = SPEEDS if current in SPEEDS else (*SPEEDS, current)
        if session is None:
            self._speeds = tuple(one for one in self._speeds if one != FASTEST)
        self._speed = gui.add_dropdown("Speed", self._speeds, initial_value=current)
        self._times_s: dict[str, float] = {}
        self._list = gui.add_dropdown("Events", [NO_EVENT, *self._times_s])
        self._moved = False
        self._run.on_click(context.user_action(lambda event: self._control(event.target.value)))
        self._bar.on_update(context.user_action(lambda event: self._seek(event.target.value)))
        self._speed.on_update(context.user_action(lambda event: self._pace(event.target.value)))
        self._list.on_update(context.user_action(lambda event: self._jump(event.target.value)))
        if session is not None:
            restart = gui.add_button_group("Restart", (SAME_SEED, NEW_SEED))
            restart.on_click(context.user_action(lambda event: self._restart(event.target.value)))
            gui.add_command("Step", hotkey="N").on_trigger(lambda _: self._step())
        gui.add_command("Pause / resume", hotkey="P").on_trigger(lambda _: self._toggle())

    def update(self, scene_state: SceneState) -> None:
        """Show the span, the events and the time; a paused bar is left to the user."""
        begin_s, end_s = self._source.span_s
        if self._bar.max < end_s or self._bar.min != _rounded(begin_s) or end_s < self._bar.value:
            self._bar.min, self._bar.max = _rounded(begin_s), _rounded(max(end_s, begin_s + STEP_S))
        if self._moved or not self._source.clock.paused:
            self._moved = False
            self._bar.value = min(max(_rounded(scene_state.time_s), self._bar.min), self._bar.max)
        if self._run.options != self._buttons():
            self._run.options = self._buttons()
        shown = speed_label(self._source.clock.speed)
        if shown in self._speeds and self._speed.value != shown:
            self._speed.value = shown
        self._show_events(self._source.events[-MAX_MARKS:])

    def _buttons(self) -> tuple[str, ...]:
        """Return the buttons that have an effect now."""
        run = RESUME if self._source.clock.paused else PAUSE
        if self._session is None:
            return (run, REWIND)
        if not self._source.live:
            return (run, LIVE)
        return (REWIND,) if self._session.executor.ended else (run, STEP, REWIND)

    def _control(self, button: str) -> None:
        match button:
            case "Pause" | "Resume":
                self._toggle()
            case "Step":
                self._step()
            case "Live":
                self._go_live()
            case _:
                self._source.seek(self._source.span_s[0])
                self._moved = True

    def _toggle(self) -> None:
        source = self._source
        begin_s, end_s = source.span_s
        if self._session is None and source.clock.paused and self._bar.value >= end_s:
            source.seek(begin_s)
        source.clock.paused = not source.clock.paused

    def _step(self) -> None:
        if self._session is None or self._session.executor.ended:
            message = "only a flight that has not ended can be stepped"
            raise CommandError(message)
        self._go_live()
        clock = self._session.clock
        if not clock.paused:
            clock.paused = True
        clock.step()

    def _go_live(self) -> None:
        if isinstance(self._source, LiveSource):
            self._source.go_live()
        self._moved = True

    def _restart(self, button: str) -> None:
        session = self._session
        assert session is not None, "a log has no restart"
        # a new seed is user input, not part of the flight
        new = button == NEW_SEED
        session.restart(random.SystemRandom().randrange(2**31) if new else session.seed)
        self._go_live()
        session.clock.paused = False

    def _seek(self, time_s: float) -> None:
        self._source.seek(float(time_s))

    def _pace(self, label: str) -> None:
        if label in self._speeds:
            self._source.clock.speed = parse_speed(label)

    def _jump(self, label: str) -> None:
        if label in self._times_s:
            self._source.seek(self._times_s[label] - LEAD_S)
            self._moved = True
            self._list.value = NO_EVENT

    def _show_events(self, events: Sequence[Event]) -> None:
        marks = _marks(events, self._bar.min, self._bar.max)
        if marks != self._marks.content:
            self._marks.content, self._marks.visible = marks, bool(events)
        times_s = {_label(event): event.time_s for event in events}
        if times_s != self._times_s:
            self._times_s = times_s
            self._list.options = (NO_EVENT, *times_s)


def _rounded(time_s: float) -> float:
    """Return a time as the bar shows it."""
    return round(time_s / STEP_S) * STEP_S


def _label(event: Event) -> str:
    return f"{event.time_s:.2f} s {event.vehicle}: {event.event}"


def _marks(events: Sequence[Event], begin_s: float, end_s: float) -> str:
    """Return a strip above the bar with a mark for each event, whose name is shown on hovering."""
    if not events:
        return ""
    marks = "".join(
        f'<rect x="{1000.0 * (event.time_s - begin_s) / (end_s - begin_s) - 2.5:.1f}" width="5" '
        f'height="10" fill="{_color(event)}"><title>{escape(_label(event))}</title></rect>'
        for event in events
    )
    return (
        '<svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="events" '
        'style="display: block; overflow: visible; height: 10px; margin: 4px 0 0 '
        f'{BAR_LEFT_EM}em; width: calc(100% - {BAR_LEFT_EM + BAR_RIGHT_EM}em)">{marks}</svg>'
    )


def _color(event: Event) -> str:
    return ALARM_RGB if any(word in event.event for word in ALARMS) else EVENT_RGB
