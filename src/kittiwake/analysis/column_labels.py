"""Labels of log columns in words with units, for pictures and pages."""

import re
from dataclasses import dataclass
from functools import cache
from math import degrees

from kittiwake.core.units import UNIT_SYMBOLS

# unit and factor by ending of a column; angles are in degrees
UNITS = {ending: (symbol, 1.0) for ending, symbol in UNIT_SYMBOLS.items()} | {
    "rad": ("deg", degrees(1.0)),
    "radps": ("deg/s", degrees(1.0)),
    "t": ("µT", 1e6),
    "deg": ("deg", 1.0),
}
# words of shafts, whose speeds are not usual in degrees
SHAFTS = {"rotor", "speeds", "left", "right"}
FRAMES = ("world", "body")
# height of a wind
HEIGHT = re.compile(r"\b(\d+)m\b")
# element of a vector or of an array
PART = re.compile(r"[wxyz]|\d+")
# words in place of the prefix of a column
PREFIXES = {
    "estimate.": "estimated",
    "setpoint.": "setpoint",
    "cmd_": "commanded",
    "act_": "",
    "guidance.": "guidance",
}
SENSOR = re.compile(r"(sensor|ideal)\.([^.]+)\.")
# columns that are not named by whole words
STATE = {
    **{f"{part}_m": ("position", part, "", "m", 1.0) for part in "xyz"},
    **{f"q{part}": ("quaternion", part, "", "", 1.0) for part in "wxyz"},
    **{f"v{part}_mps": ("velocity", part, "", "m/s", 1.0) for part in "xyz"},
    **{f"w{part}_radps": ("angular velocity", part, "body", *UNITS["radps"]) for part in "xyz"},
    # unlike that of a compass
    "heading_rad": ("heading from east", "", "", *UNITS["rad"]),
}
NAMES = {
    "time_s": ("time", "", "", "s", 1.0),
    "status": ("violated limit", "", "", "", 1.0),
    "contact": ("contact with a surface", "", "", "", 1.0),
    "touch_speed_mps": ("touchdown speed", "", "", "m/s", 1.0),
    "touch_offset_m": ("touchdown offset from the deck center", "", "", "m", 1.0),
    "touched_deck": ("touchdown on a deck", "", "", "", 1.0),
    "act_battery_a": ("battery current", "", "", "A", 1.0),
    "act_battery_v": ("battery voltage", "", "", "V", 1.0),
    "act_battery_charge": ("battery charge", "", "", "%", 100.0),
    "guidance.legs": ("reached waypoints", "", "", "", 1.0),
}


@dataclass(frozen=True)
class ColumnLabel:
    """Words, unit and factor of a column.

    Attributes:
        prefix: what the value is, such as "estimated" or a sensor; empty for a true value.
        name: the quantity.
        part: the element of a vector or array; empty for a scalar.
        frame: the axes of a vector, if the column names them.
        unit: the unit in which values are shown.
        factor: the factor from the logged to the shown value.
    """

    prefix: str
    name: str
    part: str
    frame: str
    unit: str
    factor: float

    @property
    def short(self) -> str:
        """Name and part."""
        return " ".join(filter(None, (self.name, self.part)))

    @property
    def text(self) -> str:
        """Label of the column, such as "Acceleration x (world) [m/s²]"."""
        return self._text(self.part)

    @property
    def vector(self) -> str:
        """Label of all parts of the vector or array."""
        return self._text("")

    def _text(self, part: str) -> str:
        frame = self.frame and f"({self.frame})"
        unit = self.unit and f"[{self.unit}]"
        words = " ".join(filter(None, (self.prefix, self.name, part, frame, unit)))
        # the name of a sensor is kept as it was given
        return words if self.prefix.endswith(":") else words[:1].upper() + words[1:]


@cache
def column_label(column: str) -> ColumnLabel:
    """Return the label of a column: ``setpoint.yaw_rad`` is "Setpoint yaw [deg]"."""
    if column in NAMES:
        return ColumnLabel("", *NAMES[column])
    prefix, rest = _prefix(column)
    if rest in STATE:
        return ColumnLabel(prefix, *STATE[rest])
    words = rest.split("_")
    if words[0] == "q":  # such as q_world_from_body_w, where w is not a unit
        return ColumnLabel(prefix, "quaternion", words[-1], "", "", 1.0)
    if words[0] == "cov":
        return ColumnLabel(prefix, f"covariance of {words[1]} and {words[2]}", "", "", "", 1.0)
    unit, factor = UNITS.get(words[-1], ("", 1.0)) if len(words) > 1 else ("", 1.0)
    words = words[:-1] if unit else words
    if unit == "deg/s" and SHAFTS & set(words):
        unit, factor = "rad/s", 1.0
    parts = [word for word in words if PART.fullmatch(word)]
    name = " ".join(word for word in words if word not in (*FRAMES, *parts))
    name = HEIGHT.sub(r"\1 m", name)
    frame = next((word for word in words if word in FRAMES), "")
    if not name:
        return ColumnLabel(prefix, " ".join(words), "", "", unit, factor)
    return ColumnLabel(prefix, name, " ".join(parts), frame, unit, factor)


def _prefix(column: str) -> tuple[str, str]:
    """Return the words of a column's prefix, and its other words."""
    sensor = SENSOR.match(column)
    if sensor is not None:
        ideal = " without errors" if sensor[1] == "ideal" else ""
        return f"{sensor[2]}{ideal}:", column[sensor.end() :]
    for start, words in PREFIXES.items():
        if column.startswith(start):
            return words, column.removeprefix(start)
    return "", column
