"""What vehicles meet: wind, gusts, how far their sensors see, and what of them fails."""

from collections.abc import Mapping
from typing import Any, get_args

import viser

from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.cockpit.panels.wind import add_wind_sliders
from kittiwake.environment.turbulence import NoTurbulence
from kittiwake.runtime.session import Session
from kittiwake.scenario.dormant_faults import fallible_parts
from kittiwake.scene.frame import Frame
from kittiwake.sensors.round_robin import SchemeName
from kittiwake.sensors.ultrasonic_array import UltrasonicArray

MOST_GUSTS_MPS, MOST_RANGE_M = 15.0, 20.0


class WeatherPanel:
    """Wind and gusts of the world."""

    def __init__(self, context: PanelContext, session: Session) -> None:
        self._context, self._session = context, session
        gui, world = self._context.gui, self._context.scenario.world
        gusts = self._context.vehicle.turbulence.component
        gusts_mps = float(getattr(gusts, "speed_at_6m_mps", 0.0))
        entry = self._context.scenario.document.data.get("world", {}).get("wind", "none")
        with gui.add_folder("Wind"):
            add_wind_sliders(
                *(gui, world.wind, entry, self._context.by_hand),
                lambda path, written: self._session.executor.change(path, written),
            )
            gust = gui.add_slider(
                "gusts [m/s]", 0.0, max(MOST_GUSTS_MPS, gusts_mps), 0.1, gusts_mps
            )

        def gust_anew(_: Any) -> None:
            if isinstance(gusts, NoTurbulence):
                written = f"{{type: dryden, speed_at_6m_mps: {gust.value}}}"
                self._session.executor.change("world.turbulence", written)
            else:
                self._session.executor.change("world.turbulence.speed_at_6m_mps", f"{gust.value}")

        gust.on_update(self._context.by_hand(gust_anew))

    def update(self, frame: Frame) -> None:
        """Nothing of it changes by itself."""


class FaultsPanel:
    """Sensors and failures of the picked vehicle."""

    def __init__(self, context: PanelContext, session: Session) -> None:
        self._context, self._session = context, session
        self._folders: list[viser.GuiFolderHandle] = []
        self._boxes: dict[str, viser.GuiCheckboxHandle] = {}
        self._failing: Mapping[str, float] = {}
        context.build(self._build)

    def update(self, frame: Frame) -> None:
        """What has failed, also by another page."""
        del frame
        failing = self._session.executor.failing.get(self._context.picked, {})
        if failing != self._failing:
            self._failing = failing
            for part, box in self._boxes.items():
                box.value = part in failing

    def _build(self) -> None:
        """Sensors and failures of the picked one."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._boxes = [], {}
        written = self._context.scenario.document.data["vehicles"][self._context.entry]
        for name, sensor in self._context.vehicle.sensors.items():
            self._sensor(name, sensor.component.sensor, (written.get("sensors") or {}).get(name))
        parts = fallible_parts(self._context.vehicle)
        if parts:
            self._failures(parts)

    def _sensor(self, name: str, sensor: Any, written: Any) -> None:
        """How far it sees, and in which turns."""
        far = getattr(sensor, "max_range_m", None)
        turns = isinstance(sensor, UltrasonicArray) and sensor.slots is None
        if written is None or (far is None and not turns):
            return
        gui = self._context.gui
        path = f"vehicles.{self._context.entry}.sensors.{name}"
        folder = gui.add_folder(f"Sensor {name}")
        self._folders.append(folder)
        with folder:
            if far is not None:
                most = max(MOST_RANGE_M, float(far))
                reach = gui.add_slider("range [m]", 0.1, most, 0.1, float(far))

                @reach.on_update
                @self._context.by_hand
                def _(_: Any) -> None:
                    self._session.executor.change(f"{path}.max_range_m", f"{reach.value}")

            if turns:
                names = get_args(SchemeName)
                scheme = gui.add_button_group("Round robin", names)

                @scheme.on_click
                @self._context.by_hand
                def _(event: Any) -> None:
                    self._session.executor.change(f"{path}.scheme", event.target.value)
                    self._context.say(
                        "Round robin", f"{event.target.value}, as soon as it is ready"
                    )

    def _failures(self, parts: tuple[str, ...]) -> None:
        gui = self._context.gui
        folder = gui.add_folder("Failures", expand_by_default=False)
        self._folders.append(folder)
        failing = self._failing = self._session.executor.failing.get(self._context.picked, {})
        with folder:
            for part in parts:
                box = self._boxes[part] = gui.add_checkbox(part, initial_value=part in failing)

                @box.on_update
                @self._context.by_hand
                def _(event: Any, part: str = part) -> None:
                    failed = bool(event.target.value)
                    self._session.executor.fail(self._context.picked, part, failed=failed)
