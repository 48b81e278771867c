"""Export of probe samples as maps: points in GeoJSON, cells in GeoTIFF.

GeoJSON (RFC 7946) has longitude first, then latitude, in degrees of WGS-84, and the height above
its ellipsoid. A GeoTIFF is on the UTM grid of the world's origin, north up, with cells at multiples
of their size. A cell has the mean of its samples, NaN without samples, or with ``fill`` the
inverse-distance mean of samples within ``REACH_CELLS``.
"""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.output_file import output_file, write_text, writing
from kittiwake.analysis.survey import ProbeSamples, interpolated, probe_samples
from kittiwake.core.errors import LogError, ScenarioError
from kittiwake.core.extras import import_optional
from kittiwake.geometry.geodesy import (
    Geodetic,
    geodetic_at,
    tangent_plane,
    utm_from_geodetic,
    utm_zone,
)
from kittiwake.scenario.parameters import build_component
from kittiwake.world.world import Origin

# 1e-8 degrees are about a millimeter
DECIMALS_DEG, DECIMALS_M = 9, 4
CELLS_ACROSS = 50
MOST_CELLS = 25_000_000
# distance from samples up to which cells are filled, in cells
REACH_CELLS = 5
NORTH_EPSG, SOUTH_EPSG = 32600, 32700


def export_geojson(log: Log, path: Path) -> None:
    """Write one point per sample, with its time, value and unit.

    Raises:
        LogError: if no vehicle has a probe, or the scenario gives no origin of its world.
    """
    found, origin = _found(log), _origin(log)
    start_utc = _start_utc(log)
    lines = [json.dumps(point) for probe in found for point in _points(probe, origin, start_utc)]
    joined = ",\n".join(lines)
    write_text(path, f'{{"type": "FeatureCollection", "features": [\n{joined}\n]}}\n')


def export_geotiff(
    log: Log, out: Path, cell_m: float | None = None, *, fill: bool = False
) -> list[Path]:
    """Write one map of each field from the samples of all probes; returns the paths.

    Args:
        log: the log of the run.
        out: a folder for ``FIELD.tif``, or for one field a file that ends in .tif.
        cell_m: the size of a cell; by default a round number of about a fiftieth of the map.
        fill: whether cells without samples are interpolated from those nearby.

    Raises:
        LogError: if no vehicle has a probe, or the scenario gives no origin of its world.
    """
    found, origin = _found(log), _origin(log)
    names = list(dict.fromkeys(probe.field for probe in found if len(probe.values)))
    if not names:
        message = "no probe was ever valid in this log; there is nothing to map"
        raise LogError(message)
    one_file = out.suffix in (".tif", ".tiff")
    if one_file and len(names) > 1:
        message = f"{len(names)} fields do not fit into one GeoTIFF; name a folder with -o"
        raise LogError(message)
    if not one_file:
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name in names:
        written.append(out if one_file else out / f"{_file_name(name)}.tif")
        probes = [probe for probe in found if probe.field == name]
        _write_map(probes, origin, written[-1], cell_m, fill=fill)
    return written


def _found(log: Log) -> list[ProbeSamples]:
    found = probe_samples(log)
    if not found:
        message = (
            "no vehicle in this log has a probe with samples for a map; write "
            "sensors: {probe: probe} in the scenario"
        )
        raise LogError(message)
    return found


def has_origin(log: Log) -> bool:
    """Return True if the scenario of a log gives the origin of its world."""
    world = log.scenario.get("world")
    return isinstance(world, Mapping) and isinstance(world.get("origin"), Mapping)


def _origin(log: Log) -> Origin:
    """Return the origin of the world, which must be in the scenario."""
    world = log.scenario.get("world")
    given = world.get("origin") if isinstance(world, Mapping) else None
    if not isinstance(given, Mapping):
        message = (
            "the scenario has no origin of its world; write origin: {latitude_deg: 47.2, "
            "longitude_deg: 8.7} under world, also in the run's scenario.yaml"
        )
        raise LogError(message)
    try:
        return build_component(Origin, given, lambda path: ".".join(map(str, ("world", *path))))
    except ScenarioError as error:
        message = f"world.origin in the run's scenario.yaml cannot be read: {error}"
        raise LogError(message) from None


def _start_utc(log: Log) -> datetime | None:
    """Return the start time of the flight, if its scenario gives it."""
    world = log.scenario.get("world")
    given = world.get("start_utc") if isinstance(world, Mapping) else None
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError:
            return None
    return given.replace(tzinfo=UTC) if isinstance(given, datetime) else None


def geodetic_places(
    origin: Origin, positions_world_m: Float64[np.ndarray, "samples 3"]
) -> list[Geodetic]:
    """Return positions in the world as positions on the Earth."""
    center_m, axes = _frame(
        float(origin.latitude_rad), float(origin.longitude_rad), float(origin.altitude_m)
    )
    return [geodetic_at(*place) for place in (center_m + positions_world_m @ axes).tolist()]


@cache
def _frame(
    latitude_rad: float, longitude_rad: float, altitude_m: float
) -> tuple[Float64[np.ndarray, " 3"], Float64[np.ndarray, "3 3"]]:
    """Return the Earth-centered origin of a tangent plane, and its axes as rows."""
    frame = tangent_plane(Geodetic(latitude_rad, longitude_rad, altitude_m))
    return np.asarray(frame.origin_ecef_m.array), np.stack(
        [axis.array for axis in (frame.east, frame.north, frame.up)]
    )


def _points(
    probe: ProbeSamples, origin: Origin, start_utc: datetime | None
) -> list[dict[str, Any]]:
    places = geodetic_places(origin, probe.positions_world_m)
    values = zip(places, probe.time_s.tolist(), probe.values.tolist(), strict=True)
    return [_point(probe, *sample, start_utc) for sample in values]


def _point(
    probe: ProbeSamples, place: Geodetic, time_s: float, value: float, start_utc: datetime | None
) -> dict[str, Any]:
    degrees = (math.degrees(place.longitude_rad), math.degrees(place.latitude_rad))
    coordinates = [round(part, DECIMALS_DEG) for part in degrees]
    when = (
        {} if start_utc is None else {"time_utc": _utc_text(start_utc + timedelta(seconds=time_s))}
    )
    return {
        "type": "Feature",
        "geometry": {
            "type": "Point",
            "coordinates": [*coordinates, round(place.altitude_m, DECIMALS_M)],
        },
        "properties": {
            "vehicle": probe.vehicle,
            "sensor": probe.sensor,
            "field": probe.field,
            "time_s": time_s,
            **when,
            "value": value,
            "unit": probe.unit,
        },
    }


def _utc_text(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _write_map(
    probes: Sequence[ProbeSamples], origin: Origin, path: Path, cell_m: float | None, *, fill: bool
) -> None:
    rasterio = import_optional("rasterio", "geo")
    places = [
        place for probe in probes for place in geodetic_places(origin, probe.positions_world_m)
    ]
    home = Geodetic(float(origin.latitude_rad), float(origin.longitude_rad), 0.0)
    zone, north = utm_zone(home), home.latitude_rad >= 0.0
    grid = [utm_from_geodetic(place, zone=zone, north=north) for place in places]
    at_m = np.array([[place.easting_m, place.northing_m] for place in grid])
    values = np.concatenate([probe.values for probe in probes])
    cell = _round_cell_m(at_m) if cell_m is None else cell_m
    west, top, cells = _gridded(at_m, values, cell, fill=fill)
    with (
        output_file(path) as unfinished,
        unfinished.open("w+b") as stream,
        rasterio.open(
            stream,
            "w",
            driver="GTiff",
            height=cells.shape[0],
            width=cells.shape[1],
            count=1,
            dtype="float64",
            crs=f"EPSG:{(NORTH_EPSG if north else SOUTH_EPSG) + zone}",
            transform=rasterio.Affine(cell, 0.0, west, 0.0, -cell, top),
            nodata=math.nan,
            compress="deflate",
        ) as file,
    ):
        file.write(cells, 1)
        file.set_band_description(1, probes[0].field)
        file.set_band_unit(1, probes[0].unit)
        file.update_tags(1, unit=probes[0].unit)


def _round_cell_m(at_m: Float64[np.ndarray, "samples 2"]) -> float:
    """Return 1, 2 or 5 times a power of ten, about a fiftieth of the longer side."""
    wanted = max(float(np.ptp(at_m, axis=0).max()) / CELLS_ACROSS, 0.1)
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(digit * power for digit in (1.0, 2.0, 5.0, 10.0) if digit * power >= wanted)


def _gridded(
    at_m: Float64[np.ndarray, "samples 2"],
    values: Float64[np.ndarray, " samples"],
    cell_m: float,
    *,
    fill: bool,
) -> tuple[float, float, Float64[np.ndarray, "rows columns"]]:
    """Return the map's western and northern edges, and its cells from the north-west on."""
    place = np.floor(at_m / cell_m).astype(int)
    first, last = place.min(axis=0), place.max(axis=0)
    columns, rows = (int(count) for count in last - first + 1)
    if columns * rows > MOST_CELLS:
        message = (
            f"{columns} x {rows} cells of {cell_m:g} m; at most {MOST_CELLS} are written. Give a "
            "larger --cell"
        )
        raise LogError(message)
    cell = (last[1] - place[:, 1]) * columns + place[:, 0] - first[0]
    count = np.bincount(cell, minlength=rows * columns)
    total = np.bincount(cell, weights=values, minlength=rows * columns)
    cells = np.divide(total, count, out=np.full(rows * columns, math.nan), where=count > 0)
    west, top = float(first[0] * cell_m), float((last[1] + 1) * cell_m)
    if fill:
        from scipy.spatial import KDTree

        empty = np.flatnonzero(count == 0)
        middles = np.stack(
            [west + (empty % columns + 0.5) * cell_m, top - (empty // columns + 0.5) * cell_m], 1
        )
        near = KDTree(at_m).query(middles)[0] <= REACH_CELLS * cell_m
        if near.any():
            cells[empty[near]] = interpolated(at_m, values, middles[near])
    return west, top, cells.reshape(rows, columns)


def _file_name(field: str) -> str:
    # a log may come from anywhere, and its names must not lead out of the folder
    if not field or "\\" in field or "\0" in field or Path(field).name != field:
        message = f"the field's name '{field}' cannot be a file's name"
        raise LogError(message)
    return field
