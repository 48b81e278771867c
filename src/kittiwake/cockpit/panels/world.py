"""Panels of wind, sensor settings and faults."""

from collections.abc import Mapping
from typing import get_args

import viser

from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.cockpit.panels.wind_sliders import add_wind_sliders
from kittiwake.environment.turbulence import NoTurbulence
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.runtime.session import Session
from kittiwake.scenario.dormant_faults import fallible_parts
from kittiwake.scenario.problems import Plain
from kittiwake.scene.scene_state import SceneState
from kittiwake.sensors.round_robin import SchemeName
from kittiwake.sensors.ultrasonic_array import UltrasonicArray

MAX_GUSTS_MPS, MAX_RANGE_M = 15.0, 20.0
# by parameter of a sensor: label, and lowest value of the slider
RANGE_LIMITS = {
    "min_range_m": ("lower range limit [m]", 0.0),
    "max_range_m": ("upper range limit [m]", 0.1),
}


class WindPanel:
    """Wind and turbulence of the world."""

    def __init__(self, context: PanelContext, session: Session) -> None:
        self._context, self._session = context, session
        gui, world = self._context.gui, self._context.scenario.world
        gusts = self._context.vehicle.turbulence.component
        gusts_mps = float(getattr(gusts, "speed_at_6m_mps", 0.0))
        entry = self._context.scenario.document.data.get("world", {}).get("wind", "none")
        with gui.add_folder("Wind"):
            add_wind_sliders(
                gui,
                world.wind,
                entry,
                self._context.user_action,
                lambda path, text: self._session.executor.change(path, text),
            )
            gust = gui.add_slider("gusts [m/s]", 0.0, max(MAX_GUSTS_MPS, gusts_mps), 0.1, gusts_mps)

        def change_gusts(_: ControlEvent) -> None:
            if isinstance(gusts, NoTurbulence):
                text = f"{{type: dryden, speed_at_6m_mps: {gust.value}}}"
                self._session.executor.change("world.turbulence", text)
            else:
                self._session.executor.change("world.turbulence.speed_at_6m_mps", f"{gust.value}")

        gust.on_update(self._context.user_action(change_gusts))

    def update(self, scene_state: SceneState) -> None:
        """Do nothing: the controls change only by user input."""


class FaultsPanel:
    """Sensor settings and faults of the selected vehicle."""

    def __init__(self, context: PanelContext, session: Session) -> None:
        self._context, self._session = context, session
        self._folders: list[viser.GuiFolderHandle] = []
        self._boxes: dict[str, viser.GuiCheckboxHandle] = {}
        self._failing: Mapping[str, float] = {}
        context.build(self._build)

    def update(self, scene_state: SceneState) -> None:
        """Update the faults, which other pages may have changed."""
        del scene_state
        failing = self._session.executor.failing.get(self._context.selected, {})
        if failing != self._failing:
            self._failing = failing
            for part, box in self._boxes.items():
                box.value = part in failing

    def _build(self) -> None:
        """Create the controls of the selected vehicle."""
        self._context.discarded.add(*self._folders)
        self._folders, self._boxes = [], {}
        entry = self._context.scenario.document.data["vehicles"][self._context.entry]
        for name, sensor in self._context.vehicle.sensors.items():
            self._add_sensor(name, sensor.component.sensor, (entry.get("sensors") or {}).get(name))
        parts = fallible_parts(self._context.vehicle)
        if parts:
            self._add_faults(parts)

    def _add_sensor(self, name: str, sensor: AbstractSensor, entry: Plain) -> None:
        """Create the controls of a sensor: its range limits and its round-robin scheme."""
        limits = [key for key in RANGE_LIMITS if getattr(sensor, key, None) is not None]
        has_schemes = isinstance(sensor, UltrasonicArray) and sensor.slots is None
        if entry is None or not (limits or has_schemes):
            return
        gui = self._context.gui
        path = f"vehicles.{self._context.entry}.sensors.{name}"
        folder = gui.add_folder(f"Sensor {name}")
        self._folders.append(folder)
        with folder:
            for key in limits:
                self._add_range_limit(key, float(getattr(sensor, key)), f"{path}.{key}")

            if has_schemes:
                names = get_args(SchemeName)
                scheme = gui.add_button_group("Round robin", names)

                @scheme.on_click
                @self._context.user_action
                def _(event: ControlEvent) -> None:
                    self._session.executor.change(f"{path}.scheme", event.target.value)
                    self._context.notify(
                        "Round robin", f"Compiling; {event.target.value} takes effect when ready."
                    )

    def _add_range_limit(self, key: str, value_m: float, path: str) -> None:
        label, lowest_m = RANGE_LIMITS[key]
        highest_m = max(MAX_RANGE_M, value_m)
        slider = self._context.gui.add_slider(label, lowest_m, highest_m, 0.05, value_m)

        @slider.on_update
        @self._context.user_action
        def _(_: ControlEvent) -> None:
            self._session.executor.change(path, f"{slider.value}")

    def _add_faults(self, parts: tuple[str, ...]) -> None:
        gui = self._context.gui
        folder = gui.add_folder("Faults", expand_by_default=False)
        self._folders.append(folder)
        failing = self._failing = self._session.executor.failing.get(self._context.selected, {})
        with folder:
            for part in parts:
                box = self._boxes[part] = gui.add_checkbox(part, initial_value=part in failing)

                @box.on_update
                @self._context.user_action
                def _(event: ControlEvent, part: str = part) -> None:
                    failed = bool(event.target.value)
                    self._session.executor.fail(self._context.selected, part, failed=failed)
