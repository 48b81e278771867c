"""Panel of readings: true and estimated states, ranges, setpoints and commands."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite

import numpy as np

from kittiwake.analysis.column_labels import column_label
from kittiwake.analysis.plots.quantities import ACTUAL, COMMAND
from kittiwake.analysis.table import (
    ESTIMATE_PREFIX,
    POSITION_WORLD_M,
    Q_WORLD_FROM_BODY,
    VELOCITY_WORLD_MPS,
    roll_pitch_yaw_deg,
)
from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.interfaces.head import AbstractHead
from kittiwake.scene.scene_state import SceneState
from kittiwake.sensors.round_robin import SENSORS

# lines of a group; longer groups are those of images and large arrays
MAX_LINES = 16
SETPOINT = "setpoint."
# beginnings of setpoints that are shown even if they are zero
IMPORTANT = ("position", "velocity", "yaw", "heading", "speed", "height", "distance")

Row = Mapping[str, float]
Line = tuple[str, str]


class ReadingsPanel:
    """Tables of the values of the selected vehicle, the important ones first."""

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._shown: tuple[str, list[str]] = ("", [])
        self._text = context.gui.add_markdown("")

    def update(self, scene_state: SceneState) -> None:
        """Update the tables to a scene state."""
        row = self._context.row(scene_state)
        row = {name: row[name] for name in self._names()}
        sections = {
            "True state": state_lines(row, ""),
            "Estimated state": state_lines(row, ESTIMATE_PREFIX),
            "Setpoints": setpoint_lines(row),
            "Ranges": range_lines(row),
            "Sensor head": self._head(row),
            "Actuators": vector_lines(row, ACTUAL),
            "Commands": vector_lines(row, COMMAND),
        }
        self._text.content = "\n\n".join(
            _table(title, lines) for title, lines in sections.items() if lines
        )

    def _head(self, row: Row) -> list[Line]:
        """Return the angles of sensor heads."""
        heads = [
            f"sensor.{name}."
            for name, sensor in self._context.vehicle.sensors.items()
            if isinstance(sensor.component.sensor, AbstractHead)
        ]
        angles = {c: v for c, v in row.items() if c.endswith(("pitch_rad", "yaw_rad"))}
        return [line for head in heads for line in vector_lines(angles, head)]

    def _names(self) -> list[str]:
        selected = self._context.selected
        if self._shown[0] != selected:
            self._shown = selected, self._context.logged_columns(selected)
        return self._shown[1]


def state_lines(row: Row, prefix: str) -> list[Line]:
    """Return position, velocity and attitude of the true or the estimated state."""
    if f"{prefix}{POSITION_WORLD_M[0]}" not in row:
        return []
    angles = roll_pitch_yaw_deg(np.array([[row[f"{prefix}{part}"] for part in Q_WORLD_FROM_BODY]]))
    return [
        ("Position (east, north, up) [m]", _numbers(row[f"{prefix}{c}"] for c in POSITION_WORLD_M)),
        (
            "Velocity (east, north, up) [m/s]",
            _numbers(row[f"{prefix}{c}"] for c in VELOCITY_WORLD_MPS),
        ),
        ("Roll, pitch, yaw [deg]", _numbers(angles[0].tolist(), 1)),
    ]


def setpoint_lines(row: Row) -> list[Line]:
    """Return the setpoints; further derivatives only if they are not zero."""
    shown: dict[str, float] = {}
    for group in _vectors(row, SETPOINT).values():
        words = next(iter(group)).removeprefix(SETPOINT)
        if words.startswith(IMPORTANT) or any(round(value, 2) for value in group.values()):
            shown |= group
    return vector_lines(shown, SETPOINT)


def vector_lines(row: Row, prefix: str) -> list[Line]:
    """Return the columns with a prefix as lines of vectors or numbers, without unknown ones."""
    lines = []
    for title, group in _vectors(row, prefix).items():
        if any(map(isfinite, group.values())):
            factors = (column_label(column).factor for column in group)
            values = [f * v for f, v in zip(factors, group.values(), strict=True)]
            lines.append((title, ", ".join(_number(value) for value in values)))
    return lines if len(lines) <= MAX_LINES else []


def range_lines(row: Row) -> list[Line]:
    """Return the ranges by sensor, invalid ones in parentheses, active ones of an array in bold."""
    lines = []
    for column, number in row.items():
        if not column.startswith("sensor."):
            continue
        sensor, field = column.removeprefix("sensor.").split(".", 1)
        if field in ("range_m", "distance_m", "height_m"):
            valid = row.get(f"sensor.{sensor}.valid", 1.0)
            lines.append((sensor, f"{number:z.3f} m" if valid else f"({number:z.3f} m)"))
        elif field.startswith("ranges_") and f"sensor.{sensor}.active_0" in row:
            index = int(field.removeprefix("ranges_").removesuffix("_m"))
            active = row[f"sensor.{sensor}.active_{index}"]
            text = f"**{number:z.3f} m**" if active else f"{number:z.3f} m"
            valid = row[f"sensor.{sensor}.valid_{index}"]
            lines.append((f"{sensor} {SENSORS[index]}", text if valid else f"({text})"))
    return lines


def _vectors(row: Row, prefix: str) -> dict[str, dict[str, float]]:
    """Return the columns with a prefix by the label of their vector, without the prefix."""
    groups: dict[str, dict[str, float]] = {}
    for column, value in row.items():
        if column.startswith(prefix):
            label = replace(column_label(column), prefix="")
            groups.setdefault(label.vector, {})[column] = value
    return groups


def _table(title: str, lines: Iterable[Line]) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in lines)
    return f"| {title} | |\n|:--|--:|\n{rows}"


def _numbers(values: Iterable[float], digits: int = 2) -> str:
    return ", ".join(f"{value:z.{digits}f}" for value in values)


def _number(value: float) -> str:
    """Return a number with two decimals, or more for a small one."""
    return f"{value:z.2f}" if abs(value) >= 0.1 or abs(value) < 1e-6 else f"{value:.2g}"
