"""Layout of Foxglove: the flight in 3-D, and plots of the first vehicles beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from kittiwake.analysis.log import Log
from kittiwake.analysis.log_fields import as_fields
from kittiwake.analysis.log_format import field_names, topic_of

# number of vehicles that are plotted
MAX_PLOTTED = 4
POSITION_SETPOINT = "setpoint.position_{axis}_world_m"
PLOTS = {
    "position": ("x_m", "y_m", *(POSITION_SETPOINT.format(axis=axis) for axis in "xy")),
    "height": ("z_m", POSITION_SETPOINT.format(axis="z")),
    "velocity": ("vx_mps", "vy_mps", "vz_mps"),
    "body rates": ("wx_radps", "wy_radps", "wz_radps"),
}
PANEL_3D = "3D!flight"


def layout(log: Log, topics: Mapping[str, str]) -> dict[str, Any]:
    """Return the layout of a log.

    Args:
        log: the log, whose columns are plotted.
        topics: the topics that are shown in 3-D.
    """
    plots = {title: _plot(title, _paths(log, columns)) for title, columns in PLOTS.items()}
    plots = {f"Plot!{title}": plot for title, plot in plots.items() if plot["paths"]}
    shown = {topic: {"visible": True} for topic in topics.values()}
    followed = log.names[0] if len(log.names) == 1 else "world"
    scene = {
        "cameraState": {"perspective": True, "distance": 20.0, "phi": 60.0, "thetaOffset": 45.0},
        "followMode": "follow-position",
        "followTf": followed,
        "scene": {"transforms": {"axisScale": 0.5}},
        "topics": shown,
    }
    return {
        "configById": {PANEL_3D: scene, **plots},
        "globalVariables": {},
        "userNodes": {},
        "playbackConfig": {"speed": 1.0},
        "layout": {
            "direction": "row",
            "first": PANEL_3D,
            "second": _stacked(list(plots)),
            "splitPercentage": 60,
        },
    }


def _paths(log: Log, columns: Sequence[str]) -> list[str]:
    """Return the message paths of columns of the first vehicles."""
    found = []
    for name in log.names[:MAX_PLOTTED]:
        fields = as_fields(log.columns(name))
        written = field_names(field.name + field.ending for field in fields)
        names = {f.name: path for f, path in zip(fields, written, strict=True) if not f.shape}
        found += [f"{topic_of(name)}.{names[one]}" for one in columns if one in names]
    return found


def _plot(title: str, paths: Sequence[str]) -> dict[str, Any]:
    return {
        "title": title,
        "paths": [
            {"value": path, "enabled": True, "timestampMethod": "receiveTime"} for path in paths
        ],
        "xAxisVal": "timestamp",
        "showLegend": True,
        "legendDisplay": "floating",
        "isSynced": True,
    }


def _stacked(panels: Sequence[str]) -> Any:
    """Return panels below each other, of equal heights."""
    first, *others = panels
    if not others:
        return first
    return {
        "direction": "column",
        "first": first,
        "second": _stacked(others),
        "splitPercentage": 100 / len(panels),
    }
