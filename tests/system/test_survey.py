"""Survey from the command line: run, pictures, and exports."""

import json
from dataclasses import replace

import numpy as np
import pytest
import rasterio
from tests.system.commands import kittiwake_does

import kittiwake as kw
from kittiwake.analysis.log import Log
from kittiwake.analysis.plots.survey import draw_survey, shore_paths
from kittiwake.analysis.survey import TrueField, probe_samples
from kittiwake.scenario.load import load_scenario

SCENARIO = """\
name: pond
time: {rate_hz: 50, duration_s: 240, log_rate_hz: 1}
world:
  origin: {latitude_deg: 47.2, longitude_deg: 8.7}
  fields:
    algae: {type: from-seed, unit: ug/l, mean: 8, deviation: 2, length_scale_m: 10}
vehicles:
  boat:
    model: strider
    count: 2
    spacing_m: [1, 0, 0]
    sensors: {probe: probe}
    guidance:
      type: line-of-sight
      pattern: {shape: coverage, file: pond.geojson, lane_spacing_m: 3}
"""
# of 20 m to the east and 15 m to the north, at the origin
POND = """\
{"type": "Polygon", "coordinates": [[[8.7, 47.2], [8.700264, 47.2], [8.7002, 47.200135],
 [8.7, 47.200135], [8.7, 47.2]]]}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    (folder / "pond.yaml").write_text(SCENARIO, encoding="utf-8")
    (folder / "pond.geojson").write_text(POND, encoding="utf-8")
    assert kittiwake_does("run", folder / "pond.yaml", "--out", folder / "run")[0] == 0
    return folder / "run"


def test_a_map_says_whose_samples_it_shows_and_where_the_shore_is(run):
    log = Log.read(run)
    figure = draw_survey(log, load_scenario(str(run / "scenario.yaml")), probe_samples(log))
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["shore", "lanes", "track", "boat-1", "boat-2"]
    one, other = legend.legend_handles[3:]
    assert one.get_marker() != other.get_marker()
    assert legend.legend_handles[0].get_linestyle() == "-"


@pytest.mark.slow
def test_the_map_from_samples_has_gaps_where_none_is_near(run):
    log, scenario = Log.read(run), load_scenario(str(run / "scenario.yaml"))
    whole = draw_survey(log, scenario, probe_samples(log))
    west = []
    for probe in probe_samples(log):
        near = probe.positions_world_m[:, 0] < 8.0
        kept = {part: getattr(probe, part)[near] for part in ("time_s", "values")}
        west.append(replace(probe, positions_world_m=probe.positions_world_m[near], **kept))
    half = draw_survey(log, scenario, west)

    def known(figure, from_m, to_m):
        """Share of the cells between two eastings in which the map has a value."""
        (image,) = [found for ax in figure.axes[1:] for found in ax.images if ax.get_xlabel()]
        cells = np.ma.getdata(image.get_array())
        edges = np.linspace(*image.get_extent()[:2], cells.shape[1])
        return np.isfinite(cells[:, (edges > from_m) & (edges < to_m)]).mean()

    assert known(whole, 1.0, 19.0) > 0.4
    assert known(half, 12.0, 19.0) == 0.0
    # three quarters of the spacing beyond the last sample
    assert known(half, 1.0, 8.0) > 0.4


def test_the_water_within_the_margin_is_dashed_inside_the_shore():
    paths = shore_paths(load_scenario("survey-lake"))
    shores = [path for path in paths if path.label == "shore"]
    waters = [path for path in paths if path.label == "shore, less the margin"]
    # shore and island of the Strider and of the drone, which has no margin
    assert (len(shores), len(waters)) == (4, 2)
    assert waters[0].looks["linestyle"] != "-"
    np.testing.assert_array_less(
        shores[0].points_world_m.min(axis=0), waters[0].points_world_m.min(axis=0)
    )


def test_a_survey_is_exported_as_points_and_as_a_map(run):
    status, output, _ = kittiwake_does("export", run, "--to", "geojson")
    assert (status, output) == (0, f"wrote {run / 'samples.geojson'}\n")
    points = json.loads((run / "samples.geojson").read_text(encoding="utf-8"))["features"]
    assert {point["properties"]["vehicle"] for point in points} == {"boat-1", "boat-2"}
    assert {point["properties"]["unit"] for point in points} == {"ug/l"}
    assert kittiwake_does("export", run, "--to", "geotiff", "--cell", 1, "-o", run / "maps")[0] == 0
    with rasterio.open(run / "maps" / "algae.tif") as file:
        cells = file.read(1)
    values = [point["properties"]["value"] for point in points]
    assert np.nanmin(cells) >= min(values)
    assert np.nanmax(cells) <= max(values)


def test_a_perfect_probe_says_what_the_field_of_the_seed_is(run):
    """So that the map's background is what was flown through."""
    log, scenario = kw.Log.read(run), kw.load(str(run / "scenario.yaml")).scenario
    truth = TrueField.of(scenario, "algae", scenario.seed, log)
    for found in probe_samples(log):
        there = truth.at(found.positions_world_m[:, :2], 0.0)
        np.testing.assert_allclose(there, found.values, rtol=1e-9)


HOLDING = """\
name: holding
time: {rate_hz: 50, duration_s: 0.1}
world:
  fields:
    algae: {type: from-seed, mean: 8, deviation: 2, length_scale_m: 10}
vehicles:
  boat:
    model: strider
    start: {position_world_m: [2, 3, 0]}
    sensors: {probe: probe}
"""


def test_a_log_that_does_not_say_its_precision_is_one_in_double_precision(run):
    log, scenario = kw.Log.read(run), kw.load(str(run / "scenario.yaml")).scenario
    for one in (log, replace(log, summary=None)):
        assert not TrueField.of(scenario, "algae", 0, one).single_precision


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "off"), [("float64", 1e-12), ("float32", 1e-5)])
def test_true_field_has_the_precision_of_the_flight(tmp_path, precision, off):
    """At whole meters places are alike in either precision, and fields of a seed are not."""
    (tmp_path / "holding.yaml").write_text(HOLDING, encoding="utf-8")
    simulation = kw.load(str(tmp_path / "holding.yaml"), precision=precision)
    log = simulation.run()
    assert log.summary["metrics"].get("precision", "float64") == precision
    truth = TrueField.of(simulation.scenario, "algae", log.summary["seed"], log)
    [found] = probe_samples(log)
    assert found.positions_world_m[0].tolist() == [2.0, 3.0, 0.0]
    there = truth.at(found.positions_world_m[:, :2], 0.0)
    np.testing.assert_allclose(there, found.values, rtol=off)


def test_the_summary_says_what_was_covered_and_how_good_its_map_is(run):
    survey = json.loads((run / "summary.json").read_text(encoding="utf-8"))["metrics"]["survey"]
    # all but what it cuts off where it turns
    assert 0.95 < survey["boat-1"]["covered_share"] <= 1.0
    assert survey["fields"]["algae"]["unit"] == "ug/l"
    # lanes are 3 m apart and values alike over 10 m: a tenth of the deviation is left
    assert 0.0 < survey["fields"]["algae"]["map_rms"] < 0.2


@pytest.mark.slow
def test_a_survey_is_drawn(run):
    status, output, _ = kittiwake_does("plot", run)
    assert status == 0
    assert f"Survey map: {run / 'survey-algae.png'}" in output
    assert (run / "survey-algae.png").stat().st_size > 10_000


def test_fill_for_csv_is_refused(run):
    status, _, output = kittiwake_does("export", run, "--to", "csv", "--fill")
    assert status == 2
    assert "`--cell` and `--fill`: only allowed with --to geotiff, not with --to csv" in output


@pytest.mark.slow
def test_the_lake_of_the_library_is_covered():
    survey = kw.load("survey-lake").run().summary["metrics"]["survey"]
    assert survey["strider"]["covered_share"] > 0.995
    assert survey["drone"]["covered_share"] > 0.995
    assert survey["fields"]["chlorophyll"]["map_rms"] < 0.6
