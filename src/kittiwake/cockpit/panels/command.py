"""Panel of commands: maneuvers, mission steps and sliders for any command type."""

from collections.abc import Mapping
from math import degrees, radians

import numpy as np
import viser

from kittiwake.cockpit.box_selection import BoxSelection
from kittiwake.cockpit.command_sliders import CommandSliders, SliderContext, command_sliders
from kittiwake.cockpit.fleet_commands import (
    DISARM,
    GO_TO,
    HOLD,
    LAND,
    RESUME,
    TAKE_OFF,
    go_to_point,
    maneuvers_of,
    start_maneuvers,
)
from kittiwake.cockpit.ground_click import ground_point
from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.runtime.maneuvers import (
    HoldAttitude,
    HoldCommand,
    Maneuver,
    PositionManeuver,
    go_to,
)
from kittiwake.runtime.session import Session
from kittiwake.runtime.vehicle_estimate import PositionArray, VehicleEstimate
from kittiwake.scene.scene_state import SceneState

MAX_TILT_DEG, HEIGHT_M = 22.5, 10.0
KEYS = {TAKE_OFF: "T", LAND: "L", HOLD: "H", DISARM: "X", RESUME: "B"}
NO_COMMAND_TYPE = "none"
STEP_M, TURN_DEG = 0.5, 15.0
# by label: key, steps forward, left and up, and turn to the left
MOVES: dict[str, tuple[str, float, float, float, float]] = {
    "Forward": ("W", 1.0, 0.0, 0.0, 0.0),
    "Backward": ("S", -1.0, 0.0, 0.0, 0.0),
    "Left": ("A", 0.0, 1.0, 0.0, 0.0),
    "Right": ("D", 0.0, -1.0, 0.0, 0.0),
    "Up": ("R", 0.0, 0.0, 1.0, 0.0),
    "Down": ("F", 0.0, 0.0, -1.0, 0.0),
    "Turn left": ("Q", 0.0, 0.0, 0.0, TURN_DEG),
    "Turn right": ("E", 0.0, 0.0, 0.0, -TURN_DEG),
}
# number of steps of a slider
SLIDER_STEPS = 400


class CommandPanel:
    """Commands to the selected vehicle.

    A moved slider overrides guidance and earlier commands until guidance is resumed.
    """

    def __init__(self, context: PanelContext, session: Session, scene: viser.SceneApi) -> None:
        self._context, self._session = context, session
        self._folder: viser.GuiFolderHandle | None = None
        self._sliders: list[viser.GuiSliderHandle[float]] = []
        self._awaiting_click = False
        self._status = context.gui.add_markdown("")
        self._clear = context.gui.add_button("Clear selection", visible=False)
        self._clear.on_click(context.user_action(lambda _: self._selection.set(())))
        context.build(self._build)
        scene.on_click()(self._on_click)
        self._selection = BoxSelection(context, scene, self._show_selection)
        for label, key in KEYS.items():
            context.gui.add_command(label, hotkey=key).on_trigger(  # pyright: ignore[reportArgumentType]
                lambda _, label=label: self._on_key(label)
            )

        for label, (key, ahead, left, up, turn) in MOVES.items():
            step = np.array([ahead, left, up])
            context.gui.add_command(label, hotkey=key).on_trigger(  # pyright: ignore[reportArgumentType]
                lambda _, step=step, turn=turn: self._move(step, turn)
            )

    def update(self, scene_state: SceneState) -> None:
        """Update the status line and the visibility of the controls."""
        self._selection.update(scene_state)
        executor = self._session.executor
        maneuver = executor.maneuvers.get(self._context.selected)
        source = "guidance" if maneuver is None else f"command: {maneuver.description}"
        ready = "" if executor.ready else " (preparing commands)"
        phase = self._context.phase(self._context.row(scene_state))
        control = ", ".join(filter(None, (source, phase)))
        text = f"**{self._context.selected}** is controlled by {control}{ready}"
        if executor.ended:
            text = "The flight has ended. Restart it to fly again."
        if text != self._status.content:
            self._status.content = text
        if self._folder is not None and self._folder.visible == executor.ended:
            # button groups cannot be disabled, so the folder is hidden
            self._folder.visible = not executor.ended

    def _build(self) -> None:
        """Create the controls of the selected vehicle."""
        if self._folder is not None:
            self._context.discarded.add(self._folder)
        context = self._context
        self._folder = context.gui.add_folder(context.selected)
        with self._folder:
            buttons = context.gui.add_button_group("Maneuver", self._maneuvers())
            buttons.on_click(context.user_action(lambda event: self._maneuver(event.target.value)))
            self._add_mission_steps()
            if TAKE_OFF in self._maneuvers():
                self._add_attitude_sliders()
            self._add_command_types()

    def _maneuvers(self) -> tuple[str, ...]:
        """Return the labels of the maneuvers of the selected vehicle."""
        return maneuvers_of(self._context.vehicle)

    def _commanded(self) -> tuple[str, ...]:
        """Return the vehicles in the box; without one the selected vehicle."""
        return self._selection.vehicles or (self._context.selected,)

    def _show_selection(self) -> None:
        names = self._selection.vehicles
        self._clear.visible = bool(names)
        self._clear.label = f"Clear selection ({len(names)} vehicles)"
        if names:
            text = f"Maneuvers and their keys now command {len(names)} vehicles."
            self._context.notify("Selection", text)

    def _add_mission_steps(self) -> None:
        names = self._context.vehicle.guidance.component.mission_step_names
        if not names:
            return
        gui = self._context.gui
        step = gui.add_dropdown("Mission step", names)
        start = gui.add_button("Start step")

        @start.on_click
        @self._context.user_action
        def _(_: ControlEvent) -> None:
            self._session.executor.command(self._context.selected, None)
            self._session.executor.jump_to_mission_step(self._context.selected, step.value)

    def _add_attitude_sliders(self) -> None:
        """Add sliders of attitude and height, as in the Matlab drone simulator."""
        gui = self._context.gui
        with gui.add_folder("Attitude and height"):
            low = self._session.executor.capabilities(self._context.selected).ground_z_m
            now_m = float(self._estimate_or_start().position_m[2])
            high = max(low + HEIGHT_M, now_m + HEIGHT_M)
            sliders = [
                gui.add_slider("roll [deg]", -MAX_TILT_DEG, MAX_TILT_DEG, 0.5, 0.0),
                gui.add_slider("pitch [deg]", -MAX_TILT_DEG, MAX_TILT_DEG, 0.5, 0.0),
                gui.add_slider("yaw [deg]", -180.0, 180.0, 1.0, 0.0),
                gui.add_slider("height [m]", low, high, 0.1, max(now_m, low)),
            ]

        def hold_attitude(event: ControlEvent) -> None:
            maneuver = self._session.executor.maneuvers.get(self._context.selected)
            if not isinstance(maneuver, HoldAttitude):
                # untouched values stay as they are
                estimate = self._estimate_or_start()
                yaw_deg, height_m = degrees(estimate.yaw_rad), float(estimate.position_m[2])
                for slider, value in ((sliders[2], yaw_deg), (sliders[3], height_m)):
                    if slider is not event.target:
                        slider.value = min(max(value, slider.min), slider.max)
            roll, pitch, yaw, up_m = (float(slider.value) for slider in sliders)
            self._start(HoldAttitude(radians(roll), radians(pitch), radians(yaw), up_m))

        for slider in sliders:
            slider.on_update(self._context.user_action(hold_attitude))

    def _add_command_types(self) -> None:
        gui = self._context.gui
        estimate = self._estimate_or_start()
        capabilities = self._session.executor.capabilities(self._context.selected)
        initial = SliderContext(estimate, capabilities, self._context.vehicle, self._last_command())
        groups = command_sliders(initial)
        self._sliders = []
        with gui.add_folder("Direct command") as folder:
            choice = gui.add_dropdown("Command type", (NO_COMMAND_TYPE, *groups))

        @choice.on_update
        @self._context.user_action
        def _(_: ControlEvent) -> None:
            self._context.discarded.add(*self._sliders)
            self._sliders = []
            if choice.value == NO_COMMAND_TYPE:
                self._session.executor.command(self._context.selected, None)
                return
            current = SliderContext(
                self._estimate_or_start(),
                capabilities,
                self._context.vehicle,
                self._last_command(),
            )
            group = command_sliders(current)[choice.value]
            with folder:
                self._sliders = self._add_sliders(group)

    def _add_sliders(self, group: CommandSliders) -> list[viser.GuiSliderHandle[float]]:
        gui = self._context.gui
        sliders = [
            gui.add_slider(
                slider.label,
                slider.low,
                slider.high,
                (slider.high - slider.low) / SLIDER_STEPS,
                min(max(slider.initial, slider.low), slider.high),
            )
            for slider in group.sliders
        ]

        def hold(_: ControlEvent) -> None:
            self._start(HoldCommand(group.command([float(slider.value) for slider in sliders])))

        for slider in sliders:
            slider.on_update(self._context.user_action(hold))
        return sliders

    def _maneuver(self, label: str) -> None:
        """Start a maneuver by label."""
        self._awaiting_click = label == GO_TO
        if self._awaiting_click:
            self._context.notify("Go to", "Click a point on the ground or the water.")
            return
        start_maneuvers(self._session.executor, label, self._commanded())

    def _move(self, step: PositionArray, turn_deg: float) -> None:
        """Move the current target by a step in the level axes of the vehicle."""
        position_m, yaw_rad = self._target()
        c, s = np.cos(yaw_rad), np.sin(yaw_rad)
        moved = np.array([c * step[0] - s * step[1], s * step[0] + c * step[1], step[2]])
        to = go_to(position_m + moved * STEP_M, yaw_rad + radians(turn_deg))
        self._context.user_action(lambda _: self._start(to))(_KeyPress())

    def _target(self) -> tuple[PositionArray, float]:
        """Return the position and yaw of the current maneuver, or else of the vehicle."""
        maneuver = self._session.executor.maneuvers.get(self._context.selected)
        if isinstance(maneuver, PositionManeuver):
            return maneuver.position_world_m, maneuver.yaw_rad
        estimate = self._estimate_or_start()
        return estimate.position_m, estimate.yaw_rad

    def _on_key(self, label: str) -> None:
        if label not in self._maneuvers() and not self._selection.vehicles:
            return
        self._context.user_action(lambda _: self._maneuver(label))(_KeyPress())

    def _on_click(self, event: viser.SceneClickEvent) -> None:
        """Go to the clicked point on the ground, at the current heights."""
        if not self._awaiting_click:
            return
        executor = self._session.executor
        point = ground_point(event, executor.capabilities(self._context.selected).ground_z_m)
        if point is None:
            self._context.notify("Go to", "The click is not on the ground.", error=True)
            return
        self._awaiting_click = False
        send = self._context.user_action(lambda _: go_to_point(executor, self._commanded(), *point))
        send(event)

    def _start(self, maneuver: Maneuver) -> None:
        self._session.executor.command(self._context.selected, maneuver)

    def _estimate(self) -> VehicleEstimate | None:
        return self._session.executor.estimate(self._context.selected)

    def _last_command(self) -> Mapping[str, float]:
        """Return the values of the last command by log column."""
        scene_state = self._context.source.scene_state()
        row = {} if scene_state is None else self._context.row(scene_state)
        return {name: value for name, value in row.items() if name.startswith("cmd_")}

    def _estimate_or_start(self) -> VehicleEstimate:
        """Return the estimate of the vehicle; before the flight, its start."""
        estimate = self._estimate()
        if estimate is not None and np.isfinite([*estimate.position_m, estimate.yaw_rad]).all():
            return estimate
        return VehicleEstimate(0.0, self._context.vehicle.start.kinematics())


class _KeyPress:
    """Event of a key press, which counts as user input."""

    client = True
