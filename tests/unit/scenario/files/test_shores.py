"""GeoJSON files of shores: content, and error messages for invalid files."""

import json

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.files import shores
from kittiwake.scenario.files.shores import read_shore

RING = [[8.7, 47.2], [8.8, 47.2], [8.75, 47.3], [8.7, 47.2]]
ISLAND = [[8.74, 47.22], [8.76, 47.22], [8.75, 47.24], [8.74, 47.22]]
POLYGON = {"type": "Polygon", "coordinates": [RING, ISLAND]}
FEATURE = {"type": "Feature", "properties": {"name": "[8, 9]"}, "geometry": POLYGON}


def read(tmp_path, content):
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    (tmp_path / "lake.geojson").write_text(text, encoding="utf-8")
    return read_shore(tmp_path / "lake.geojson")


@pytest.mark.parametrize(
    "content", [POLYGON, FEATURE, {"type": "FeatureCollection", "features": [FEATURE, {}]}]
)
def test_a_polygon_is_read_alone_and_in_features(tmp_path, content):
    shore = read(tmp_path, content)
    assert shore.source == "lake.geojson"
    assert len(shore.rings_rad) == 2
    for ring, given in zip(shore.rings_rad, (RING, ISLAND), strict=True):
        np.testing.assert_allclose(np.degrees(ring), given[:-1], rtol=1e-15)


def polygon(*rings):
    return {"type": "Polygon", "coordinates": list(rings)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"lake\.geojson:1: not JSON"),
        ('{"type":\n\n ?}', r"lake\.geojson:3: not JSON"),
        ("[" * 200_000, "cannot be read as JSON"),
        ("[]", r"lake\.geojson:1: has no Polygon; write for example"),
        ({"type": "Point", "coordinates": [8, 47]}, "has no Polygon but 'Point'"),
        ({"type": "FeatureCollection", "features": []}, "has no Polygon; write"),
        ({"type": "Polygon"}, "has no coordinates; write for example"),
        (
            polygon(RING[:-1]),
            r"coordinates\[0\]: a ring has four positions or more, and the last one",
        ),
        (polygon(RING, [RING[0]]), r"coordinates\[1\]: a ring has four positions"),
        (polygon([*RING[:2], [8.7], RING[0]]), r"coordinates\[0\]\[2\]: write longitude and lat"),
        (polygon([*RING[:2], [8.7, 90.1], RING[0]]), "90.1 is not allowed; write the latitude"),
        (polygon([*RING[:2], ["8", 47], RING[0]]), "'8' is not allowed; write the longitude in"),
        (polygon([*RING[:2], [True, 47], RING[0]]), "true is not allowed"),
        ('{"type": "Polygon", "coordinates": [[[1e999, 2], 1, 1, [1e999, 2]]]}', "inf is not all"),
    ],
)
def test_file_without_a_polygon_is_refused_with_the_reason(tmp_path, content, message):
    with pytest.raises(ScenarioError, match=message) as refused:
        read(tmp_path, content)
    assert len(str(refused.value)) < 300


def test_invalid_position_is_refused_with_its_line(tmp_path):
    places = ["[8.7, 47.2]", "[8.8, 47.2]", "[8.75, 147.3]", "[8.7, 47.2]"]
    text = '{"type": "Feature", "geometry": {"type": "Polygon",\n"coordinates": [[\n'
    with pytest.raises(ScenarioError, match=r"lake\.geojson:5: coordinates\[0\]\[2\]: 147.3"):
        read(tmp_path, text + ",\n".join(places) + "]]}}")


def test_too_much_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(shores, "MAX_PLACES", 5)
    with pytest.raises(ScenarioError, match="6 positions; at most 5 are read"):
        read(tmp_path, POLYGON)
    monkeypatch.setattr(shores, "MAX_BYTES", 5)
    with pytest.raises(ScenarioError, match="larger than 0 MiB"):
        read(tmp_path, POLYGON)


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path):
    with pytest.raises(ScenarioError, match="cannot read '.*none"):
        read_shore(tmp_path / "none.geojson")
    (tmp_path / "bytes.geojson").write_bytes(b"\xff\xfe{")
    with pytest.raises(ScenarioError, match=r"bytes\.geojson: cannot be read as JSON"):
        read_shore(tmp_path / "bytes.geojson")


def test_a_scenario_names_the_file_and_says_what_is_wrong_with_it(tmp_path):
    (tmp_path / "lake.geojson").write_text('{"type": "Point"}', encoding="utf-8")
    (tmp_path / "my.yaml").write_text(
        "name: my\ntime: {rate_hz: 100, duration_s: 1}\nvehicles:\n  boat:\n    model: strider\n"
        "    guidance:\n      type: line-of-sight\n"
        "      pattern: {shape: coverage, lane_spacing_m: 5, file: lake.geojson}\n",
        encoding="utf-8",
    )
    with pytest.raises(ScenarioError, match=r"my\.yaml:8: .*pattern\.file: lake\.geojson:1: has"):
        kw.load(str(tmp_path / "my.yaml"))
