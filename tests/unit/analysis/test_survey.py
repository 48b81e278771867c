"""Probe samples as points and maps, and coverage."""

import json
import math

import numpy as np
import pytest
import rasterio
from pyproj import Transformer

from kittiwake.analysis.export_map import export_geojson, export_geotiff
from kittiwake.analysis.log import Log
from kittiwake.analysis.survey import covered_share, interpolated, probe_samples
from kittiwake.analysis.table import STATE_COLUMNS, Table
from kittiwake.core.errors import LogError
from kittiwake.guidance.planning.survey_pattern import SurveyPattern

COLUMNS = (*STATE_COLUMNS, *(f"sensor.probe.{part}" for part in ("value", "valid", "fresh")))
SCENARIO = {
    "world": {
        "origin": {"latitude_deg": 47.2, "longitude_deg": 8.7, "altitude_m": 400},
        "fields": {"heat": {"type": "patches", "unit": "K"}, "algae": "from-seed"},
    },
    "vehicles": {"boat": {"count": 2, "sensors": {"probe": {"type": "probe", "field": "heat"}}}},
}
PLACES = [(0.0, 0.0), (3.0, 1.0), (120.0, -80.0), (121.0, -81.0)]
VALUES = [280.0, 282.0, 290.0, 270.0]


def table(places=PLACES, values=VALUES, valid=None, fresh=None):
    rows = np.zeros((len(places), len(COLUMNS)))
    rows[:, 0] = np.arange(len(places))
    rows[:, 1:3] = places
    rows[:, 4] = 1.0
    rows[:, -3] = values
    rows[:, -2] = 1.0 if valid is None else valid
    rows[:, -1] = 1.0 if fresh is None else fresh
    return Table(COLUMNS, rows)


def log_of(*tables, scenario=SCENARIO):
    return Log({f"boat-{i}": one for i, one in enumerate(tables, 1)}, scenario=scenario)


def pixel(path, longitude, latitude):
    """The value of a map at a place on the Earth, read by others' libraries."""
    with rasterio.open(path) as file:
        there = Transformer.from_crs("EPSG:4326", file.crs, always_xy=True)
        row, column = file.index(*there.transform(longitude, latitude))
        return float(file.read(1)[row, column]), file.crs.to_epsg(), file.res


def test_held_or_invalid_values_are_not_samples():
    log = log_of(table(valid=[1, 0, 1, 1], fresh=[1, 1, 0, 1]))
    [found] = probe_samples(log)
    assert (found.vehicle, found.sensor, found.field, found.unit) == (
        "boat-1",
        "probe",
        "heat",
        "K",
    )
    assert found.time_s.tolist() == [0.0, 3.0]
    assert found.values.tolist() == [280.0, 270.0]


def test_points_have_longitude_first_and_lie_where_the_vehicle_was(tmp_path):
    scenario = {**SCENARIO, "world": {**SCENARIO["world"], "start_utc": "2026-06-30T09:30:00"}}
    export_geojson(log_of(table(), table(), scenario=scenario), tmp_path / "points.geojson")
    content = json.loads((tmp_path / "points.geojson").read_text(encoding="utf-8"))
    assert content["type"] == "FeatureCollection"
    assert len(content["features"]) == 8
    first, _, third, _ = content["features"][:4]
    assert first["type"] == "Feature"
    assert first["geometry"] == {"type": "Point", "coordinates": [8.7, 47.2, 400.0]}
    assert first["properties"] == {
        **{"vehicle": "boat-1", "sensor": "probe", "field": "heat"},
        **{"time_s": 0.0, "time_utc": "2026-06-30T09:30:00.000Z", "value": 280.0, "unit": "K"},
    }
    # PROJ's own tangent plane, to half a millimeter
    plane = "+proj=topocentric +ellps=WGS84 +lon_0=8.7 +lat_0=47.2 +h_0=400"
    pipeline = f"+proj=pipeline +step +inv {plane} +step +inv +proj=cart +ellps=WGS84"
    x, y, z = Transformer.from_pipeline(pipeline).transform(120.0, -80.0, 0.0)
    longitude, latitude, height = third["geometry"]["coordinates"]
    assert longitude == pytest.approx(math.degrees(x) if abs(x) < 4 else x, abs=6e-9)
    assert latitude == pytest.approx(math.degrees(y) if abs(y) < 4 else y, abs=6e-9)
    assert height == pytest.approx(z, abs=5e-4)


@pytest.mark.parametrize(("latitude", "epsg"), [(47.2, 32632), (-33.0, 32732)])
def test_a_place_is_found_in_its_pixel_on_the_utm_grid(tmp_path, latitude, epsg):
    origin = {"latitude_deg": latitude, "longitude_deg": 8.7, "altitude_m": 400}
    scenario = {**SCENARIO, "world": {**SCENARIO["world"], "origin": origin}}
    log = log_of(table(), scenario=scenario)
    [path] = export_geotiff(log, tmp_path, 0.5)
    assert path == tmp_path / "heat.tif"
    export_geojson(log, tmp_path / "points.geojson")
    points = json.loads((tmp_path / "points.geojson").read_text(encoding="utf-8"))["features"]
    for point, value in zip(points, VALUES, strict=True):
        longitude, north, _ = point["geometry"]["coordinates"]
        assert pixel(path, longitude, north) == (value, epsg, (0.5, 0.5))
    with rasterio.open(path) as file:
        assert math.isnan(file.nodata)
        assert np.isfinite(file.read(1)).sum() == 4
        assert file.descriptions == ("heat",)
        assert file.tags(1)["unit"] == "K"
        assert file.units == ("K",)
        # cells lie at whole multiples of their size, so that maps of several runs do, too
        assert file.transform.c % 0.5 == 0.0


def test_a_cell_holds_the_mean_of_its_samples_of_all_vehicles(tmp_path):
    [path] = export_geotiff(log_of(table(), table(values=[0.0] * 4)), tmp_path / "all.tif", 0.5)
    assert path == tmp_path / "all.tif"
    with rasterio.open(path) as file:
        values = file.read(1)
    assert sorted(values[np.isfinite(values)]) == [135.0, 140.0, 141.0, 145.0]


def test_a_filled_map_reaches_five_cells_around_its_samples(tmp_path):
    [path] = export_geotiff(log_of(table()), tmp_path, 2.0, fill=True)
    with rasterio.open(path) as file:
        values = file.read(1)
    filled = np.isfinite(values)
    assert 4 < filled.sum() < filled.size / 2
    assert values[filled].min() >= 270.0
    assert values[filled].max() <= 290.0


def test_an_inverse_distance_is_that_of_shepard():
    at, values = np.array([[0.0, 0.0], [3.0, 0.0]]), np.array([1.0, 10.0])
    # at one and two meters weights are 4 to 1
    np.testing.assert_allclose(interpolated(at, values, np.array([[1.0, 0.0]])), [2.8], rtol=1e-12)
    np.testing.assert_allclose(interpolated(at, values, at), values, rtol=1e-9)


def test_a_track_covers_a_band_of_a_spacing():
    square = ((0.0, 0.0), (100.0, 0.0), (100.0, 100.0), (0.0, 100.0))
    pattern = SurveyPattern("coverage", lane_spacing_m=20.0, polygon_world_m=square)
    log = log_of(table([(-20.0, 30.0), (120.0, 30.0)], [0.0, 0.0]))
    assert covered_share(log, "boat-1", pattern.water(), pattern) == pytest.approx(0.2, abs=0.01)
    way = [(p.x, p.y) for p in pattern.positions_world_m()]
    log = log_of(table(way, [0.0] * len(way)))
    assert covered_share(log, "boat-1", pattern.water(), pattern) == 1.0


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (Log({"boat": Table(STATE_COLUMNS, np.zeros((2, len(STATE_COLUMNS))))}), "has a probe"),
        (log_of(table(), scenario={}), "has no origin of its world; write origin: {lat"),
        (
            log_of(table(), scenario={"world": {"origin": {"latitude_deg": 99}}}),
            "99 is not allowed",
        ),
    ],
)
def test_log_without_probe_or_origin_is_refused(tmp_path, log, message):
    for write in (export_geojson, export_geotiff):
        with pytest.raises(LogError, match=message):
            write(log, tmp_path / "out.tif")


def test_maps_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(LogError, match="no probe was ever valid"):
        export_geotiff(log_of(table(valid=[0.0] * 4)), tmp_path)
    with pytest.raises(LogError, match="at most 25000000 are written. Give a larger --cell"):
        export_geotiff(log_of(table()), tmp_path, 0.01)
    fields = {"../heat": {"type": "patches"}}
    vehicles = {"boat": {"sensors": {"probe": "probe"}}}
    scenario = {"world": {**SCENARIO["world"], "fields": fields}, "vehicles": vehicles}
    with pytest.raises(LogError, match="cannot be a file's name"):
        export_geotiff(log_of(table(), scenario=scenario), tmp_path)
