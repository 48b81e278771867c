"""Names of Kittiwake's columns that a recorded quantity can have."""

import re
from typing import get_args

from kittiwake.analysis.flight_logs.recorded_units import units_of
from kittiwake.analysis.table import (
    CONTACT,
    EULER,
    FAULTS,
    FINISHED,
    LANDINGS,
    LEGS,
    NEAREST_OBSTACLE,
    PHASE,
    STATE_COLUMNS,
    STATUS,
    TOUCH_OFFSET,
    TOUCH_SPEED,
    TOUCHED_DECK,
)
from kittiwake.core.columns import column_names
from kittiwake.core.commands import Command
from kittiwake.core.errors import did_you_mean

MOTION = STATE_COLUMNS[1:]
ESTIMATE = "estimate."
COMMAND, SETPOINT = "cmd_", "setpoint."
SURROUNDINGS = (
    *("wind_x_world_mps", "wind_y_world_mps", "wind_z_world_mps"),
    *("current_x_world_mps", "current_y_world_mps", "water_height_m", NEAREST_OBSTACLE),
)
FLIGHT = (
    *(STATUS, LEGS, PHASE, FINISHED, FAULTS),
    *(CONTACT, LANDINGS, TOUCH_SPEED, TOUCHED_DECK, TOUCH_OFFSET),
)
# columns with a part that a vehicle's model or a scenario names
FREE = re.compile(
    r"act_\w+(\.\w+)*|(sensor|ideal)\.[\w-]+(\.\w+)+|estimate\.cov_\w+|(cmd_|setpoint\.)speeds_\d+_radps"
)
QUATERNION = re.compile(r"(.*\.)?q[wxyz]|.*q_world_from_body_[wxyz]")


def known_columns() -> list[str]:
    """Return the columns that have fixed names."""
    commands = dict.fromkeys(
        column for command in get_args(Command) for column in column_names(command)
    )
    return [
        *MOTION,
        *(ESTIMATE + name for name in MOTION),
        *(prefix + name for prefix in (COMMAND, SETPOINT) for name in commands),
        *SURROUNDINGS,
        *FLIGHT,
    ]


def name_problem(name: str, *, euler: bool, recorded: str = "COLUMN") -> str | None:
    """Return what is wrong with the name of a column; None if it is one of Kittiwake's.

    Args:
        name: the name.
        euler: whether the attitude is given as roll, pitch and yaw.
        recorded: the column of the log.
    """
    is_euler, is_part = name.removeprefix(ESTIMATE) in EULER, name in quaternion_of(name)
    if is_euler and euler:
        return None
    if is_euler:
        return "requires `attitude: euler_zyx`"
    if is_part and euler and name.removeprefix(ESTIMATE) in MOTION:
        return "not allowed with `attitude: euler_zyx`; give roll_rad, pitch_rad and yaw_rad"
    known = known_columns()
    if name in known or FREE.fullmatch(name):
        return None
    if (found := _with_other_unit(name, [*known, *EULER])) is not None:
        own, unit = found
        instead = f"write {own}: {{column: {recorded}, unit: {unit}}}"
        needed = " and attitude: euler_zyx" if own in EULER and not euler else ""
        return f"not a column of Kittiwake; {instead}{needed}."
    shown = [*known, "sensor.NAME.FIELD", "act_NAME"]
    return f"not a column of Kittiwake. {did_you_mean(name, shown)}"


def _with_other_unit(name: str, known: list[str]) -> tuple[str, str] | None:
    """Return the known column that a name means with another unit, and that unit; None if none."""
    stem, _, end = name.rpartition("_")
    for own in known:
        units = units_of(own) if own.rpartition("_")[0] == stem else {}
        for unit in units:
            if end.lower() == unit.lower().replace("/s", "ps"):
                return own, unit
    return None


def quaternion_of(name: str) -> tuple[str, ...]:
    """Return the four columns of the attitude that a column is a part of, scalar first."""
    if QUATERNION.fullmatch(name) is None:
        return ()
    return tuple(name[:-1] + part for part in "wxyz")


def euler_of(name: str) -> tuple[str, ...]:
    """Return roll, pitch and yaw of the attitude that a column is a part of."""
    prefix = ESTIMATE if name.startswith(ESTIMATE) else ""
    return tuple(prefix + part for part in EULER) if name.removeprefix(prefix) in EULER else ()
