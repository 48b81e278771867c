"""Static page of a flight: its file, and the storage of its scene."""

import base64
import json
import re
import zlib

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter

import kittiwake as kw
from kittiwake.cockpit.flight_page.charts import chart_panels
from kittiwake.cockpit.flight_page.recorder import MAX_FRAMES, MAX_HZ, MAX_NUMBERS, frame_times_s
from kittiwake.cockpit.flight_page.tracks import (
    GRID,
    ArrayStore,
    SceneTrack,
    store_numbers,
    store_track,
)
from kittiwake.core import extras
from kittiwake.core.errors import MissingExtraError

MAX_BYTES = 15_000_000


@pytest.fixture(scope="module")
def log():
    return kw.load("hover-angle-velocity", {"time.duration_s": 0.4}).run()


@pytest.fixture(scope="module")
def page(log):
    return log.page()


def unpacked(page):
    """The description and the numbers of a page."""
    text = re.search(r'id="kw-data">([^<]+)</script>', page.html)[1]
    content = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length + -length % 8 :]


def decoded(track, content):
    """Values of a track, as the page decodes them."""
    rows, numbers, used = track["rows"], track["numbers"], track["planes"]
    start, count = track["offset"], rows * numbers
    planes = np.frombuffer(content, np.uint8, used * count, start).reshape(used, count)
    coded = sum(plane.astype(np.int64) << (8 * number) for number, plane in enumerate(planes))
    coded = np.broadcast_to(coded, count)
    values = np.where(coded % 2, -(coded + 1) // 2, coded // 2).reshape(numbers, rows)
    for _ in range(track["order"]):
        values = np.cumsum(values, axis=1)
    return values.T * track["grid"]


def test_page_is_one_file_that_may_request_nothing(page):
    assert page.html.count("Content-Security-Policy") == 1
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page.html)[1]
    assert policy.startswith("default-src &#x27;none&#x27;;")
    assert not re.search(r"https?:|\*|&#x27;self&#x27;", policy)
    assert not re.search(
        r'<(?:script|img|iframe)[^>]+src="?(?!data:)|<link[^>]+href="https?:', page.html
    )
    assert len(page.html.encode()) < MAX_BYTES


def test_page_has_its_own_title_and_icon_and_the_results(page):
    assert "<title>hover-angle-velocity</title>" in page.html
    assert page.html.count('rel="icon"') == 1
    assert "f9e20b" not in page.html.partition("<title>")[0]
    assert "RMS error" in page.html
    assert re.search(
        r"Written by Kittiwake [\d.]+ on \d{4}-\d\d-\d\d\. Scene: 25 frames", page.html
    )


def test_page_has_the_flight_of_the_log(page, log):
    description, content = unpacked(page)
    name = log.names[0]
    assert description["vehicles"] == [name]
    times = np.array(description["times"])
    positions = decoded(description["positions"], content)
    logged = [np.interp(times, *(log.column(name, c) for c in ("time_s", f"{a}_m"))) for a in "xyz"]
    assert np.abs(positions - np.stack(logged, axis=1)).max() <= 0.51 * GRID
    tracks = {(track["node"], track["attribute"]): track for track in description["tracks"]}
    body = next(
        t for (node, a), t in tracks.items() if "bodies" in node and a.endswith("positions")
    )
    assert np.abs(decoded(body, content)[-1, :3] - positions[-1]).max() < 0.2


def test_charts_have_setpoints_beside_the_truth(page):
    description, content = unpacked(page)
    panels = {panel["label"]: panel["lines"] for panel in description["panels"]}
    kinds = {line["kind"] for line in panels["position (m)"]}
    assert {"actual", "setpoint"} <= kinds
    offset, size = panels["height (m)"][0]["values"]
    assert np.isfinite(np.frombuffer(content, "<f4", size // 4, offset)).all()


@pytest.mark.slow
def test_line_of_sight_guidance_has_a_chart_of_its_cross_track_error():
    simulation = kw.load("otter-in-waves", {"time.duration_s": 3.0})
    store = ArrayStore()
    panels = chart_panels(simulation.run(), simulation.scenario, store)
    lines = {panel["label"]: panel["lines"] for panel in panels}
    (line,) = lines["cross-track error (m)"]
    offset, size = line["values"]
    assert (np.frombuffer(store.content(), "<f4", size // 4, offset) < 1.0).all()


def test_a_notebook_stores_the_page_in_the_cell(page):
    html = DisplayFormatter().format(page)[0]["text/html"]
    assert html.startswith('<iframe srcdoc="')


def test_page_is_written_into_a_file(page, tmp_path):
    page.save(tmp_path / "flight.html")
    assert (tmp_path / "flight.html").read_text(encoding="utf-8") == page.html


def test_missing_extra_is_named(log, monkeypatch):
    monkeypatch.setattr(extras, "COCKPIT_MODULES", ("no_such_module",))
    with pytest.raises(MissingExtraError, match=r"kittiwake\[cockpit\]"):
        log.page()


@pytest.mark.parametrize("order", [1, 2])
def test_stored_numbers_are_read_back_on_their_grid(order):
    t = np.linspace(0.0, 60.0, 1500)[:, None]
    values = np.sin(t * [0.1, 2.0]) * 40.0 if order == 2 else np.sign(np.sin(7.0 * t * [1.0, 1.7]))
    store = ArrayStore()
    stored = store_numbers(values, GRID, store)
    assert stored["order"] == order
    assert np.abs(decoded(stored, store.content()) - values).max() <= 0.51 * GRID


def test_numbers_that_are_not_finite_keep_the_one_before():
    values = np.array([[np.nan], [1.0], [np.inf], [3.0]])
    store = ArrayStore()
    assert decoded(store_numbers(values, 1.0, store), store.content()).ravel().tolist() == [
        1,
        1,
        1,
        3,
    ]


def test_an_attribute_that_viser_does_not_repeat_is_known_at_each_frame():
    values = np.array([[0.0], [5.0]])
    track = SceneTrack(
        "SetPositionMessage", "/a", "position", None, np.array([0, 3], np.int32), values
    )
    store = ArrayStore()
    stored = store_track(track, store, frames=5)
    assert stored["frames"] is None
    assert decoded(stored, store.content()).ravel().tolist() == [0, 0, 0, 5, 5]


def test_equal_numbers_are_stored_once():
    store = ArrayStore()
    assert store.add(np.arange(9.0)) == store.add(np.arange(9.0))
    assert len(store.content()) == 72


def test_rate_decreases_with_duration_and_numbers():
    assert len(frame_times_s((0.0, 60.0), 200)) == 60 * MAX_HZ + 1
    assert len(frame_times_s((0.0, 3600.0), 200)) == MAX_FRAMES
    assert len(frame_times_s((0.0, 60.0), 56_000)) == MAX_NUMBERS // 56_000
