"""Probe samples of a flight, their maps of fields, and the coverage of water areas.

A sample has the position of its vehicle in the row of the log that contains it. A log that is
slower than the probe keeps the newest sample of each row, up to one row late.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.probed import field_of, mapping_in
from kittiwake.analysis.table import POSITION_WORLD_M
from kittiwake.guidance.planning.survey_pattern import SurveyPattern
from kittiwake.scenario import survey_areas
from kittiwake.scenario.scenario import Scenario
from kittiwake.world.field import FIELD, FieldProcess

PROBE = ("value", "valid", "fresh")
# number of cells along the longer side of a water area
CELLS_ACROSS = 100
# number of nearest samples in inverse-distance interpolation
NEIGHBORS = 8

Places = Float64[np.ndarray, "places 2"]


@dataclass(frozen=True, eq=False)
class ProbeSamples:
    """Valid samples of one probe."""

    vehicle: str
    sensor: str
    field: str
    unit: str
    time_s: Float64[np.ndarray, " samples"]
    values: Float64[np.ndarray, " samples"]
    positions_world_m: Float64[np.ndarray, "samples 3"]


def probe_samples(log: Log) -> list[ProbeSamples]:
    """Return the samples of all probes in log order, also of those without valid samples."""
    return [
        _found(log, vehicle, sensor)
        for vehicle in log.names
        for sensor in _probes(log.columns(vehicle))
    ]


def _probes(columns: tuple[str, ...]) -> list[str]:
    there = set(columns)
    sensors = dict.fromkeys(name.split(".")[1] for name in columns if name.startswith("sensor."))
    return [s for s in sensors if all(f"sensor.{s}.{part}" in there for part in PROBE)]


def _found(log: Log, vehicle: str, sensor: str) -> ProbeSamples:
    value, valid, fresh = (log.column(vehicle, f"sensor.{sensor}.{part}") for part in PROBE)
    kept = (valid > 0.0) & (fresh > 0.0) & np.isfinite(value)
    name, unit = field_of(log, vehicle, sensor)
    time_s = log.column(vehicle, "time_s")
    positions_m = log.tables[vehicle].part(POSITION_WORLD_M)
    found = (time_s[kept], value[kept], positions_m[kept])
    return ProbeSamples(vehicle, sensor, name, unit, *found)


def coverages(scenario: Scenario) -> dict[str, SurveyPattern]:
    """Return the coverage pattern of each vehicle that has one; the first one of a mission."""
    return survey_areas.coverages(scenario.document, scenario.vehicles, scenario.tables)


@dataclass(frozen=True, eq=False)
class TrueField:
    """Field of a world as it was during a flight."""

    field: FieldProcess
    drawn: Any
    single_precision: bool

    @classmethod
    def of(cls, scenario: Scenario, name: str, seed: int, log: Log) -> "TrueField | None":
        """Return the named field, drawn again with the seed and precision of the flight."""
        single = mapping_in(log.summary, "metrics").get("precision") == "float32"
        return cls.drawn_again(scenario, name, seed, single=single)

    @classmethod
    def drawn_again(
        cls, scenario: Scenario, name: str, seed: int, *, single: bool
    ) -> "TrueField | None":
        """Return the named field for a seed and a precision; None if there is no such field."""
        import jax

        from kittiwake.core.keys import fold_in_name, seed_key
        from kittiwake.core.streams import Stream

        process = scenario.world.processes.get(FIELD + name)
        if process is None or not isinstance(process.component, FieldProcess):
            return None
        with jax.enable_x64(not single):
            key = fold_in_name(
                fold_in_name(seed_key(seed), Stream.WORLD.of(f"{FIELD}{name}")), Stream.INIT
            )
            return cls(process.component, process.component.init(key), single)

    def at(self, positions_m: Places, time_s: float) -> Float64[np.ndarray, " places"]:
        """Return the values at positions on the surface."""
        import jax
        import jax.numpy as jnp

        with jax.enable_x64(not self.single_precision):
            east, north = (jnp.asarray(part, float) for part in positions_m.T)
            return np.asarray(self._values(east, north, jnp.asarray(time_s, float)), float)

    @cached_property
    def _values(self) -> Callable[..., Any]:
        """Compiled function from east, north and time to values."""
        import jax

        from kittiwake.geometry.vec3 import Vec3

        def value(x: Any, y: Any, time_s: Any) -> Any:
            return self.field.kind.value(self.drawn, Vec3(x, y, 0.0), time_s)

        return jax.jit(jax.vmap(value, in_axes=(0, 0, None)))


def survey_metrics(log: Log, scenario: Scenario, seed: int) -> dict[str, Any]:
    """Return the covered share of water by vehicle, and the error of a map by field.

    The map interpolates all samples of the field over all water areas; the true values are those
    of the surface at the end. The result is empty for a flight without a coverage pattern.
    """
    patterns = coverages(scenario)
    water = {name: pattern.water(scenario.world.origin) for name, pattern in patterns.items()}
    if not water:
        return {}
    covered = {
        name: {"covered_share": covered_share(log, name, water[name], pattern)}
        for name, pattern in patterns.items()
    }
    import shapely

    together = shapely.union_all(list(water.values()))
    positions_m = _places_in(together)
    fields = {found.field: found.unit for found in probe_samples(log)}
    maps = {name: _map(log, scenario, seed, name, positions_m) for name in fields}
    errors = {name: {"map_rms": rms, "unit": fields[name]} for name, rms in maps.items()}
    return {"survey": covered | ({"fields": errors} if errors else {})}


def covered_share(log: Log, vehicle: str, water: Any, pattern: SurveyPattern) -> float:
    """Return the share of positions in the water within half a lane spacing of the track."""
    import shapely

    assert pattern.lane_spacing_m is not None
    track_m = log.tables[vehicle].part(POSITION_WORLD_M)[:, :2]
    track_m = track_m[np.isfinite(track_m).all(axis=1)]
    positions_m = _places_in(water)
    if len(track_m) < 2 or not len(positions_m):
        return 0.0
    lines: Any = shapely.linestrings(np.stack([track_m[:-1], track_m[1:]], axis=1))
    tree = shapely.STRtree(lines)
    # plus half a centimeter, as logged positions cut corners of turns
    reach_m = 0.5 * float(pattern.lane_spacing_m) + 0.005
    near, _ = tree.query(shapely.points(positions_m), predicate="dwithin", distance=reach_m)
    return float(len(np.unique(near)) / len(positions_m))


def _map(log: Log, scenario: Scenario, seed: int, name: str, positions_m: Places) -> float | None:
    """Return the RMS error of a map of a field; None without samples."""
    of_field = [found for found in probe_samples(log) if found.field == name]
    values = np.concatenate([found.values for found in of_field])
    truth = TrueField.of(scenario, name, seed, log)
    if not len(values) or truth is None or not len(positions_m):
        return None
    at_m = np.concatenate([found.positions_world_m[:, :2] for found in of_field])
    end_s = max(float(found.time_s[-1]) for found in of_field if len(found.time_s))
    errors = interpolated(at_m, values, positions_m) - truth.at(positions_m, end_s)
    return float(np.sqrt(np.square(errors).mean()))


def interpolated(
    at_m: Float64[np.ndarray, "samples 2"],
    values: Float64[np.ndarray, " samples"],
    positions_m: Places,
) -> Float64[np.ndarray, " places"]:
    """Return the mean of the nearest eight samples with inverse squared distances as weights.

    Source: D. Shepard, "A two-dimensional interpolation function for irregularly-spaced data",
    ACM 1968.
    """
    # imported here, as it takes 0.2 s and most runs do not need it
    from scipy.spatial import KDTree

    nearest: Any = list(range(1, min(NEIGHBORS, len(at_m)) + 1))
    away, indices = KDTree(at_m).query(positions_m, k=nearest)
    weights = 1.0 / np.maximum(away, 1e-6) ** 2
    return (weights * values[indices]).sum(axis=1) / weights.sum(axis=1)


def nearest_sample_m(
    at_m: Float64[np.ndarray, "samples 2"], positions_m: Places
) -> Float64[np.ndarray, " places"]:
    """Return the distance to the nearest sample."""
    # as above
    from scipy.spatial import KDTree

    away, _ = KDTree(at_m).query(positions_m)
    return np.asarray(away)


def _places_in(water: Any) -> Places:
    """Return the centers of regular cells in a water area."""
    import shapely

    west, south, east, north = water.bounds
    cell = max(east - west, north - south) / CELLS_ACROSS
    x, y = np.meshgrid(
        np.arange(west, east, cell) + cell / 2, np.arange(south, north, cell) + cell / 2
    )
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    inside: Bool[np.ndarray, " places"] = shapely.contains_xy(water, places)
    return places[inside]
