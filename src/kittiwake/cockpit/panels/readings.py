"""Panel of readings: true and estimated states, ranges, setpoints and commands."""

from collections.abc import Iterable, Mapping
from math import asin, atan2, degrees

from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.interfaces.head import AbstractHead
from kittiwake.scene.scene_state import SceneState
from kittiwake.sensors.round_robin import SENSORS

# groups with more than twice as many columns are not shown
MAX_COLUMNS = 8


class ReadingsPanel:
    """Tables of the values of the selected vehicle."""

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._shown: tuple[str, list[str]] = ("", [])
        self._text = context.gui.add_markdown("")

    def _head(self, row: Mapping[str, float]) -> "list[Line]":
        """Return the angles of sensor heads."""
        heads = [
            f"sensor.{name}."
            for name, sensor in self._context.vehicle.sensors.items()
            if isinstance(sensor.component.sensor, AbstractHead)
        ]
        return [line for head in heads for line in _angles(row, ("pitch_rad", "yaw_rad"), head)]

    def _names(self) -> list[str]:
        if self._shown[0] != self._context.selected:
            self._shown = self._context.selected, self._context.logged_columns
        return self._shown[1]

    def update(self, scene_state: SceneState) -> None:
        """Update the tables to a scene state."""
        row = self._context.row(scene_state)
        row = {name: row[name] for name in self._names()}
        sections = {
            "True state": _motion(row, ""),
            "Estimated state": _motion(row, "estimate."),
            "Ranges": _ranges(row),
            "Sensor head": self._head(row),
            "Setpoints": _columns(row, "setpoint."),
            "Commands and actuators": [*_columns(row, "cmd_"), *_columns(row, "act_")],
        }
        self._text.content = "\n\n".join(
            _table(title, lines) for title, lines in sections.items() if lines
        )


Line = tuple[str, str]


def _table(title: str, lines: Iterable[Line]) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in lines)
    return f"| {title} | |\n|:--|--:|\n{rows}"


def _motion(row: Mapping[str, float], prefix: str) -> list[Line]:
    if f"{prefix}x_m" not in row:
        return []
    w, x, y, z = (row[f"{prefix}q{axis}"] for axis in "wxyz")
    angles = (
        degrees(atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))),
        degrees(asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))),
        degrees(atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))),
    )
    return [
        ("position [m]", _numbers(row[f"{prefix}{axis}_m"] for axis in "xyz")),
        ("velocity [m/s]", _numbers(row[f"{prefix}v{axis}_mps"] for axis in "xyz")),
        ("roll, pitch, yaw [deg]", _numbers(angles, 1)),
    ]


def _ranges(row: Mapping[str, float]) -> list[Line]:
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


def _angles(row: Mapping[str, float], endings: tuple[str, ...], prefix: str) -> list[Line]:
    return [
        (column.removeprefix(prefix).replace("_rad", " [deg]"), f"{degrees(number):z.1f}")
        for column, number in row.items()
        if column.startswith(prefix) and column.endswith(endings)
    ]


def _columns(row: Mapping[str, float], prefix: str) -> list[Line]:
    found = {
        column.removeprefix(prefix): number
        for column, number in row.items()
        if column.startswith(prefix)
    }
    if len(found) > 2 * MAX_COLUMNS:
        return []
    return [(name, f"{number:z.4g}") for name, number in found.items()]


def _numbers(values: Iterable[float], digits: int = 2) -> str:
    return ", ".join(f"{value:z.{digits}f}" for value in values)
