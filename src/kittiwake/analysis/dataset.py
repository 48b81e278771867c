"""Conversion of a log to an xarray dataset with named axes and state vectors.

Every variable has the dimensions ``time`` (seconds) and ``vehicle``. The state's variables have a
third one: ``axis`` (x, y, z) or ``quaternion`` (w, x, y, z). All other columns are variables under
their own names. The value is NaN if a vehicle lacks a column or was not logged.
"""

from collections.abc import Mapping

import xarray

from kittiwake.analysis.table import (
    ANGULAR_VELOCITY_BODY_RADPS,
    POSITION_WORLD_M,
    Q_WORLD_FROM_BODY,
    STATE_COLUMNS,
    VELOCITY_WORLD_MPS,
    Table,
    at_common_times,
)

VECTORS = {
    "position_world_m": (POSITION_WORLD_M, "axis"),
    "q_world_from_body": (Q_WORLD_FROM_BODY, "quaternion"),
    "velocity_world_mps": (VELOCITY_WORLD_MPS, "axis"),
    "angular_velocity_body_radps": (ANGULAR_VELOCITY_BODY_RADPS, "axis"),
}


def to_dataset(tables: Mapping[str, Table]) -> xarray.Dataset:
    """Return the vehicles' tables as a dataset on common axes."""
    present = dict.fromkeys(column for table in tables.values() for column in table.columns)
    others = tuple(column for column in present if column not in STATE_COLUMNS)
    columns = STATE_COLUMNS + others
    times, gathered = at_common_times(tables.values(), columns)
    place = {column: index for index, column in enumerate(columns)}
    vectors = {
        name: (("time", "vehicle", axis), gathered[:, :, [place[part] for part in parts]])
        for name, (parts, axis) in VECTORS.items()
    }
    scalars = {column: (("time", "vehicle"), gathered[:, :, place[column]]) for column in others}
    coordinates = {
        "time": times,
        "vehicle": list(tables),
        "axis": list("xyz"),
        "quaternion": list("wxyz"),
    }
    return xarray.Dataset(vectors | scalars, coords=coordinates)
