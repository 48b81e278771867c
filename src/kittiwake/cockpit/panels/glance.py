"""Panel of the flight state at a glance, above the scene and always visible."""

import re
from collections.abc import Mapping
from html import escape
from math import hypot, inf, isfinite, sqrt
from time import monotonic

import numpy as np

from kittiwake.analysis.plots.traces import LOSSES, without_limits
from kittiwake.analysis.table import (
    CONTACT,
    ESTIMATE_PREFIX,
    POSITION_WORLD_M,
    Q_WORLD_FROM_BODY,
    VELOCITY_WORLD_MPS,
    lies_on_its_back,
    roll_pitch_yaw_deg,
)
from kittiwake.cockpit.flight_instruments import (
    compass_point,
    compass_svg,
    heading_deg,
    horizon_svg,
    wind_from_deg,
)
from kittiwake.cockpit.page_styles import GLANCE_STYLE
from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.cockpit.replay import Replay
from kittiwake.cockpit.speed_meter import SpeedMeter
from kittiwake.cockpit.time_source import TimeSource
from kittiwake.runtime.session import Session
from kittiwake.scene.scene_state import SceneState

# place beside the upper right corner of the scene, and width
MARGIN_PX, WIDTH_PX = 8.0, 660.0
# share of the asked speed below which a flight is slow
SLOW_SHARE = 0.95
# charge below which the battery is nearly empty
LOW_CHARGE = 0.2
# speed below which a rotor counts as stopped
ROTOR, LEAST_ROTOR_RADPS = "act_rotor_", 1.0

Row = Mapping[str, float]


class GlancePanel:
    """Status, instruments and main quantities of the selected vehicle."""

    def __init__(self, context: PanelContext) -> None:
        self._context, self._meter = context, SpeedMeter()
        gui = context.gui
        self._panel = gui.add_panel()
        with self._panel.add_tab("State"):
            gui.add_html(GLANCE_STYLE)
            self._html = gui.add_html("")
        self._panel.float(x=-MARGIN_PX, y=MARGIN_PX, width=WIDTH_PX)
        # sections of small screens are collapsed otherwise
        self._panel.expand()

    def update(self, scene_state: SceneState) -> None:
        """Show a scene state."""
        row = self._context.row(scene_state)
        status, alarming = self._status(scene_state, row)
        head = (
            f'<b class="kw-status{" kw-alarm" if alarming else ""}">{escape(status)}</b>'
            f"<b>{escape(self._context.selected)}</b>"
            f"<span>{scene_state.time_s:.1f} s</span>{self._speed(scene_state.time_s)}"
        )
        known = state_facts(row, afloat=self._context.vehicle.dynamics.is_vessel)
        facts = "".join(
            f"<div><i>{name}</i><b>{value}</b></div>"
            for name, value in (*known, ("Control", escape(self._control(row))))
        )
        self._html.content = (
            f'<div class="kw-glance">{instruments(row)}'
            f'<div class="kw-text"><div class="kw-head">{head}</div>'
            f'<div class="kw-facts">{facts}</div></div></div>'
        )

    def _status(self, scene_state: SceneState, row: Row) -> tuple[str, bool]:
        """Return the status in words, and whether it is a failure."""
        session, source = self._context.session, self._context.source
        if session is not None:
            if isinstance(source, TimeSource) and not source.live:
                return "Past", False
            return live_status(session, row, afloat=self._context.vehicle.dynamics.is_vessel)
        if not isinstance(source, Replay):
            return "", False
        for event in reversed(source.events):
            known = event.vehicle == self._context.selected and event.time_s <= scene_state.time_s
            if known and event.event.startswith(LOSSES):
                return without_limits(event.event).capitalize(), True
        if scene_state.time_s >= source.span_s[1]:
            early = source.playback.early_end
            return (f"Ended: {early}", True) if early else ("Ended", False)
        return ("Paused" if source.clock.paused else "Replay"), False

    def _speed(self, time_s: float) -> str:
        """Return the measured speed of a live flight."""
        session, source = self._context.session, self._context.source
        if session is None:
            return ""
        is_past = isinstance(source, TimeSource) and not source.live
        clock = session.clock
        executor = session.executor
        if is_past or clock.paused or executor.ended or not executor.ready:
            self._meter.clear()
            return ""
        self._meter.add(time_s, monotonic())
        return speed_text(self._meter.factor, clock.speed)

    def _control(self, row: Row) -> str:
        """Return the active maneuver, or the guidance and its phase."""
        session, context = self._context.session, self._context
        maneuver = session and session.executor.maneuvers.get(context.selected)
        if maneuver:
            return maneuver.description
        guidance = type(context.vehicle.guidance.component).__name__
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", guidance).lower()
        return ", ".join(filter(None, (words, context.phase(row))))


def live_status(session: Session, row: Row, *, afloat: bool) -> tuple[str, bool]:
    """Return the status of a live flight in words, and whether it is a failure."""
    if session.executor.ended:
        reason = without_limits(session.end_reason)
        return (f"Ended: {reason}", True) if reason else ("Ended", False)
    if row.get("status", 0.0) > 0.0:
        return "Lost", True
    if session.clock.paused:
        return "Paused", False
    if not session.executor.ready:
        return "Preparing", False
    turned = np.array([[row.get(column, 0.0) for column in ("qx", "qy", CONTACT)]])
    if not afloat and lies_on_its_back(turned).all():
        return "Turned over", True
    speeds = [value for column, value in row.items() if column.startswith(ROTOR)]
    if speeds and max(map(abs, speeds)) < LEAST_ROTOR_RADPS:
        return "Motors off", False
    return ("Under way" if afloat else "Flying"), False


def speed_text(factor: float | None, asked: float) -> str:
    """Return the measured speed, marked if it is below the asked one."""
    if factor is None:
        return ""
    if asked == inf:
        return f"<span>{factor:.1f}x real time</span>"
    slow = factor < SLOW_SHARE * asked
    mark = f" (asked {asked:g}x)" if slow else ""
    return f"<span{' class=kw-alarm' if slow else ''}>{factor:.2f}x real time{mark}</span>"


def instruments(row: Row) -> str:
    """Return the artificial horizon and the compass of a row."""
    roll, pitch, yaw = np.radians(_angles_deg(row)).tolist()
    return horizon_svg(roll, pitch) + compass_svg(yaw, _wind(row))


def state_facts(row: Row, *, afloat: bool) -> list[tuple[str, str]]:
    """Return names and values with units of what a pilot has to know; unknown ones are left out.

    Of what is ``afloat`` that is the position instead of height and vertical speed.
    """
    x, y, z = (row[column] for column in VELOCITY_WORLD_MPS)
    east, north, height = (row[column] for column in POSITION_WORLD_M)
    yaw_deg = float(_angles_deg(row)[2])
    heading = heading_deg(float(np.radians(yaw_deg)))
    ground_speed = ("Ground speed", f"{hypot(x, y):.2f} m/s", x + y)
    facts = [
        *(
            [("Position", f"x {east:z.1f}, y {north:z.1f} m", east + north), ground_speed]
            if afloat
            else [
                ("Height", f"{height:z.2f} m", height),
                ground_speed,
                ("Vertical speed", f"{z:+z.2f} m/s", z),
            ]
        ),
        ("Heading", f"{heading % 359.5:03.0f}° {compass_point(heading)}", heading),
        *_wind_facts(row),
        *_battery_facts(row),
        *_estimate_facts(row),
    ]
    return [(name, text) for name, text, value in facts if isfinite(value)]


def _wind_facts(row: Row) -> list[tuple[str, str, float]]:
    wind = _wind(row)
    if wind is None:
        return []
    speed_mps = hypot(*wind)
    if round(speed_mps, 1) == 0.0:
        return [("Wind", "calm", speed_mps)]
    point = compass_point(wind_from_deg(*wind))
    return [("Wind", f"{speed_mps:.1f} m/s from {point}", speed_mps)]


def _battery_facts(row: Row) -> list[tuple[str, str, float]]:
    charge = row.get("act_battery_charge")
    if charge is None:
        return []
    volts = row.get("act_battery_v")
    text = f"{100.0 * charge:z.0f} %" + ("" if volts is None else f", {volts:.1f} V")
    low = charge < LOW_CHARGE
    return [("Battery", f"<span class=kw-alarm>{text}</span>" if low else text, charge)]


def _estimate_facts(row: Row) -> list[tuple[str, str, float]]:
    if f"{ESTIMATE_PREFIX}{POSITION_WORLD_M[0]}" not in row:
        return []
    error_m = sqrt(sum((row[f"{ESTIMATE_PREFIX}{c}"] - row[c]) ** 2 for c in POSITION_WORLD_M))
    return [("Estimate error", f"{error_m:.2f} m" if error_m >= 0.005 else "none", error_m)]


def _wind(row: Row) -> tuple[float, float] | None:
    wind = row.get("wind_x_world_mps"), row.get("wind_y_world_mps")
    if wind[0] is None or wind[1] is None or not isfinite(wind[0] + wind[1]):
        return None
    return wind[0], wind[1]


def _angles_deg(row: Row) -> np.ndarray:
    return roll_pitch_yaw_deg(np.array([[row[part] for part in Q_WORLD_FROM_BODY]]))[0]
