"""What to do: maneuvers, steps of a mission, sliders on any rung of the control ladder."""

from collections.abc import Mapping
from math import degrees, radians
from typing import Any

import numpy as np
import viser

from kittiwake.cockpit.command_sliders import CommandSliders, Setting, sliders_of
from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.core.commands import MotorsOff
from kittiwake.runtime.maneuvers import (
    RISES_MPS,
    GoTo,
    HoldCommand,
    LandManeuver,
    Lean,
    Maneuver,
    Place,
    VehicleEstimate,
)
from kittiwake.runtime.session import Session
from kittiwake.scene.frame import Frame

TAKE_OFF_M = 2.0
MOST_LEAN_DEG, HEIGHT_M = 22.5, 10.0
AIRCRAFT = ("Take off", "Land", "Hold", "Go to a click", "Disarm", "Resume guidance")
VESSEL = ("Hold", "Go to a click", "Disarm", "Resume guidance")
LEANS = "Take off"
NO_COMMAND_TYPE = "none"
STEP_M, TURN_DEG = 0.5, 15.0
# by what it does: the key, the step ahead, to the left and up, and the turn to the left
NUDGES: dict[str, tuple[str, float, float, float, float]] = {
    "Ahead": ("W", 1.0, 0.0, 0.0, 0.0),
    "Back": ("S", -1.0, 0.0, 0.0, 0.0),
    "To the left": ("A", 0.0, 1.0, 0.0, 0.0),
    "To the right": ("D", 0.0, -1.0, 0.0, 0.0),
    "Up": ("R", 0.0, 0.0, 1.0, 0.0),
    "Down": ("F", 0.0, 0.0, -1.0, 0.0),
    "Turn left": ("Q", 0.0, 0.0, 0.0, TURN_DEG),
    "Turn right": ("E", 0.0, 0.0, 0.0, -TURN_DEG),
}
# a slider has so many places
PLACES = 400


class FlyingPanel:
    """Commands to the picked vehicle.

    Sliders that are moved take over from whatever it does, until guidance is resumed.
    """

    def __init__(self, context: PanelContext, session: Session, scene: viser.SceneApi) -> None:
        self._context, self._session = context, session
        self._folder: viser.GuiFolderHandle | None = None
        self._levers: list[Any] = []
        self._waits_for_click = False
        self._status = context.gui.add_markdown("")
        context.build(self._build)
        scene.on_click()(self._clicked)
        commands = {
            "Take off": "T",
            "Land": "L",
            "Hold": "H",
            "Disarm": "X",
            "Resume guidance": "B",
        }
        for what, key in commands.items():
            context.gui.add_command(what, hotkey=key).on_trigger(  # pyright: ignore[reportArgumentType]
                lambda _, what=what: self._try(what)
            )

        for what, (key, ahead, left, up, turn) in NUDGES.items():
            step = np.array([ahead, left, up])
            context.gui.add_command(what, hotkey=key).on_trigger(  # pyright: ignore[reportArgumentType]
                lambda _, step=step, turn=turn: self._nudge(step, turn)
            )

    def update(self, frame: Frame) -> None:
        """What it is doing."""
        executor = self._session.executor
        asked = executor.asked.get(self._context.picked)
        said = "its own guidance" if asked is None else f"you: {asked.said}"
        ready = "" if executor.ready else " (commands are being prepared)"
        words = f"**{self._context.picked}** is flown by {said}{self._phase(frame)}{ready}"
        if executor.over:
            words = "The flight is over; begin anew to fly."
        if words != self._status.content:
            self._status.content = words
        if self._folder is not None and self._folder.visible == executor.over:
            # there are groups of buttons in it, which cannot be disabled
            self._folder.visible = not executor.over

    def _phase(self, frame: Frame) -> str:
        row = self._context.row(frame)
        phases = self._context.vehicle.guidance.component.phases()
        place = row.get("guidance.phase", 0.0)
        told = phases[int(place)] if place == place else ""
        return f", {told}" if told else ""

    def _build(self) -> None:
        """The controls for the picked vehicle."""
        if self._folder is not None:
            self._folder.remove()
        context = self._context
        self._folder = context.gui.add_folder(context.picked)
        with self._folder:
            what = context.gui.add_button_group("Maneuver", self._maneuvers())
            what.on_click(context.by_hand(lambda event: self._do(event.target.value)))
            self._steps()
            if LEANS in self._maneuvers():
                self._leaning()
            self._levels()

    def _maneuvers(self) -> tuple[str, ...]:
        """What the picked one can do."""
        return VESSEL if self._context.vehicle.dynamics.floats else AIRCRAFT

    def _steps(self) -> None:
        names = self._context.vehicle.guidance.component.step_names
        if not names:
            return
        gui = self._context.gui
        step = gui.add_dropdown("Mission", names)
        begin = gui.add_button("Begin this step")

        @begin.on_click
        @self._context.by_hand
        def _(_: Any) -> None:
            self._session.executor.ask(self._context.picked, None)
            self._session.executor.begin_step(self._context.picked, step.value)

    def _leaning(self) -> None:
        """Angles and a height, as the Matlab drone simulator has them."""
        gui = self._context.gui
        with gui.add_folder("Angles and height"):
            low = self._session.executor.ability(self._context.picked).ground_z_m
            now_m = float(self._here().position_m[2])
            high = max(low + HEIGHT_M, now_m + HEIGHT_M)
            sliders = [
                gui.add_slider("roll [deg]", -MOST_LEAN_DEG, MOST_LEAN_DEG, 0.5, 0.0),
                gui.add_slider("pitch [deg]", -MOST_LEAN_DEG, MOST_LEAN_DEG, 0.5, 0.0),
                gui.add_slider("yaw [deg]", -180.0, 180.0, 1.0, 0.0),
                gui.add_slider("height [m]", low, high, 0.1, max(now_m, low)),
            ]

        def lean(event: Any) -> None:
            if not isinstance(self._session.executor.asked.get(self._context.picked), Lean):
                # what is not touched stays as it is now
                now = self._here()
                for one, value in ((2, degrees(now.yaw_rad)), (3, float(now.position_m[2]))):
                    if sliders[one] is not event.target:
                        sliders[one].value = min(max(value, sliders[one].min), sliders[one].max)
            roll, pitch, yaw, up_m = (float(slider.value) for slider in sliders)
            self._ask(Lean(radians(roll), radians(pitch), radians(yaw), up_m))

        for slider in sliders:
            slider.on_update(self._context.by_hand(lean))

    def _levels(self) -> None:
        gui = self._context.gui
        now = self._here()
        able = self._session.executor.ability(self._context.picked)
        levels = sliders_of(Setting(now, able, self._context.vehicle, self._last()))
        self._levers = []
        with gui.add_folder("Any rung of the ladder") as folder:
            choice = gui.add_dropdown("Rung", (NO_COMMAND_TYPE, *levels))

        @choice.on_update
        @self._context.by_hand
        def _(_: Any) -> None:
            for lever in self._levers:
                lever.remove()
            self._levers = []
            if choice.value == NO_COMMAND_TYPE:
                self._session.executor.ask(self._context.picked, None)
                return
            level = sliders_of(Setting(self._here(), able, self._context.vehicle, self._last()))[
                choice.value
            ]
            with folder:
                self._levers = self._sliders(level)

    def _sliders(self, level: CommandSliders) -> list[Any]:
        gui = self._context.gui
        sliders = [
            gui.add_slider(
                lever.label,
                lever.low,
                lever.high,
                (lever.high - lever.low) / PLACES,
                min(max(lever.begin, lever.low), lever.high),
            )
            for lever in level.levers
        ]

        def obey(_: Any) -> None:
            self._ask(HoldCommand(level.command([float(slider.value) for slider in sliders])))

        for slider in sliders:
            slider.on_update(self._context.by_hand(obey))
        return sliders

    def _do(self, what: str) -> None:
        """A maneuver by its name."""
        self._waits_for_click = what == "Go to a click"
        now = self._situation()
        if self._waits_for_click:
            self._context.say("Go to", "Click on the ground, or on the water.")
            return
        if what == "Resume guidance" or now is None:
            self._session.executor.ask(self._context.picked, None)
            return
        place = now.position_m.copy()
        match what:
            case "Take off":
                self._ask(GoTo(place + np.array([0.0, 0.0, TAKE_OFF_M]), now.yaw_rad, RISES_MPS))
            case "Land":
                self._ask(LandManeuver())
            case "Disarm":
                self._ask(HoldCommand(MotorsOff()))
            case _:
                self._ask(GoTo(place, now.yaw_rad))

    def _nudge(self, step: Place, turn_deg: float) -> None:
        """From where it is to go, or is, by a step in its own level axes."""
        asked, now = self._session.executor.asked.get(self._context.picked), self._here()
        going = asked if isinstance(asked, GoTo) else GoTo(now.position_m, now.yaw_rad)
        c, s = np.cos(going.yaw_rad), np.sin(going.yaw_rad)
        moved = np.array([c * step[0] - s * step[1], s * step[0] + c * step[1], step[2]])
        to = GoTo(going.place_m + moved * STEP_M, going.yaw_rad + radians(turn_deg))
        self._context.by_hand(lambda _: self._ask(to))(_Key())

    def _try(self, what: str) -> None:
        if what not in self._maneuvers():
            return
        self._context.by_hand(lambda _: self._do(what))(_Key())

    def _clicked(self, event: viser.SceneClickEvent) -> None:
        """To where the ray meets the height that the vehicle has, over the ground that was hit."""
        now = self._situation()
        if not self._waits_for_click or now is None:
            return
        origin, ahead = np.array(event.ray_origin), np.array(event.ray_direction)
        ground_m = self._session.executor.ability(self._context.picked).ground_z_m
        if ahead[2] >= 0.0 or origin[2] <= ground_m:
            self._context.say("Go to", "That is not on the ground.", wrong=True)
            return
        self._waits_for_click = False
        x, y, _ = origin + ahead * (ground_m - origin[2]) / ahead[2]
        area = self._context.scenario.world.area
        if not (area.x_m[0] < x < area.x_m[1] and area.y_m[0] < y < area.y_m[1]):
            words = f"({x:z.1f}, {y:z.1f}) m is outside the flight area, world.area."
            self._context.say("Go to", words, wrong=True)
            return
        place = np.array([x, y, now.position_m[2]])
        self._context.by_hand(lambda _: self._ask(GoTo(place, now.yaw_rad)))(event)

    def _ask(self, maneuver: Maneuver) -> None:
        self._session.executor.ask(self._context.picked, maneuver)

    def _situation(self) -> VehicleEstimate | None:
        return self._session.executor.situation(self._context.picked)

    def _last(self) -> Mapping[str, float]:
        """What it was told last, by column."""
        frame = self._context.source.frame()
        row = {} if frame is None else self._context.row(frame)
        return {name: value for name, value in row.items() if name.startswith("cmd_")}

    def _here(self) -> VehicleEstimate:
        """Where it believes to be; before the flight, where it starts."""
        start = self._context.vehicle.start
        place, yaw_rad = start.position_world_m, start.kinematics().euler_world_from_body.yaw_rad
        begun = np.array([float(place.x), float(place.y), float(place.z)])
        now = self._situation()
        if now is not None and np.isfinite([*now.position_m, now.yaw_rad]).all():
            return now
        return VehicleEstimate(0.0, begun, np.zeros(3), float(yaw_rad), None)


class _Key:
    """A key that was hit counts as what a person does."""

    client = True
