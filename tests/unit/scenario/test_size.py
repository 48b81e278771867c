"""Limits of memory and logs, checked before construction."""

from pathlib import Path

import jax.numpy as jnp
import pytest
from tests.system.commands import kittiwake_does

import kittiwake as kw
from kittiwake.core.columns import to_column_groups
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario import size
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.scenario.load import load_scenario
from kittiwake.scenario.vehicle_builder import VehicleBuilder
from kittiwake.sensors.camera import Camera
from kittiwake.sensors.range_camera import RangeCamera


@pytest.fixture
def eight_gigabytes(monkeypatch):
    """As much as a run may take."""
    monkeypatch.setattr(size, "_available", lambda: 8e9)


def with_camera(width, height, log_rate_hz, *, depth=True):
    """A flight of 30 s that takes pictures."""
    eye = f"{{type: camera, width: {width}, height: {height}, depth: {str(depth).lower()}}}"
    changes = (f"vehicles.drone.sensors.eye={eye}", f"time.log_rate_hz={log_rate_hz}")
    return load_scenario("deck-landing", changes)


def test_pictures_that_do_not_fit_are_refused_with_what_would(eight_gigabytes):
    too_many = with_camera(640, 480, 10)
    with pytest.raises(ScenarioError) as refused:
        too_many.check_flight()
    message = str(refused.value)
    # 301 rows of 640 x 480 x 5 numbers, three times in memory
    assert "2 vehicles, with 1536000 numbers in images, over 30 s needs about 11 GB" in message
    assert "set time.log_rate_hz below 7, reduce the image resolution, or fly" in message
    too_many.check_flight(10.0)
    with_camera(640, 480, 5).check_flight()
    with_camera(320, 240, 10).check_flight()
    with_camera(640, 480, 10, depth=False).check_flight()


def test_single_image_that_does_not_fit_gets_no_suggested_rate(eight_gigabytes):
    with pytest.raises(ScenarioError) as refused:
        size.check_log_size(1, 1.0, 10.0, 10**9)
    assert "log_rate_hz" not in str(refused.value)
    assert "reduce the image resolution, or fly a shorter time" in str(refused.value)


@pytest.mark.parametrize("depth", [True, False])
def test_a_camera_knows_how_many_numbers_it_logs(depth):
    scenario = with_camera(6, 4, 10, depth=depth)
    (sensor,) = [
        part.component.sensor
        for part in scenario.vehicles["drone"].sensors.values()
        if isinstance(part.component.sensor, Camera)
    ]
    own = sensor.measures(*sensor_form(sensor))
    assert sensor.image_size == sum(len(group.columns) for group in to_column_groups(own))


def sensor_form(camera):
    """Fields of a picture, empty."""
    size = (camera.height, camera.width)
    depths = (jnp.zeros(size), jnp.zeros(size, bool)) if camera.depth else ()
    return jnp.zeros((*size, 3)), *depths


def test_an_error_of_depths_that_are_not_measured_is_refused():
    own = "vehicles.drone.sensors.eye"
    error = {"type": "noise", "field": "depth_m", "deviation": 0.1}
    eye = {"type": "camera", "errors": [error]}
    with pytest.raises(ScenarioError, match=r"field: depth_m is not measured. Allowed: color"):
        kw.load("deck-landing", {own: eye})
    load_scenario("deck-landing", (f"{own}={{type: camera, depth: true, errors: [{error}]}}",))


# judged before anything is built


@pytest.fixture
def nothing_is_built(monkeypatch):
    """Building a vehicle fails the test."""
    monkeypatch.setattr(VehicleBuilder, "build", lambda *_: pytest.fail("it builds"))


@pytest.mark.parametrize("count", [65_535, 66_000, 100_000])
def test_more_vehicles_than_a_log_takes_are_refused_before_they_are_built(
    count, nothing_is_built, monkeypatch
):
    monkeypatch.setattr(size, "_available", lambda: 1e12)
    answer = kittiwake_does("check", "keep-spot-10", "--set", f"vehicles.pelican.count={count}")
    assert answer.status == 2
    assert f"{count} vehicles cannot be logged; at most 65534" in answer.err
    assert "init, advance, rollout" in answer.err


def test_flight_without_a_log_is_limited_by_memory_only(nothing_is_built, monkeypatch):
    many = ("vehicles.pelican.count=100000",)
    monkeypatch.setattr(size, "_available", lambda: 1e9)
    with pytest.raises(ScenarioError, match=r"100000 vehicles need about 2\.0 GB of memory"):
        load_scenario("keep-spot-10", many)
    monkeypatch.setattr(size, "_available", lambda: 1e12)
    with pytest.raises(pytest.fail.Exception, match="it builds"):
        load_scenario("keep-spot-10", many)


def test_more_entries_than_are_read_within_seconds_are_refused(nothing_is_built):
    entries = "".join(f"  v{number}: {{model: pelican}}\n" for number in range(2_001))
    document = parse_document(f"name: many\nvehicles:\n{entries}", "many.yaml")
    with pytest.raises(ScenarioError, match="2001 entries; at most 2000 are allowed; .* count"):
        build(document, Path())


def test_a_range_camera_knows_how_many_numbers_it_logs():
    eye = RangeCamera(width=6, height=4)
    depths = eye.measures(jnp.zeros((4, 6)), jnp.zeros((4, 6), bool))
    # as measured, and as it is without errors
    assert eye.image_size == 2 * sum(len(group.columns) for group in to_column_groups(depths))


def test_a_range_camera_whose_log_does_not_fit_is_refused(eight_gigabytes):
    eye = "vehicles.hummingbird.sensors.eye={type: range-camera, width: 1000, height: 1000}"
    answer = kittiwake_does("check", "hover-hummingbird", "--set", eye)
    assert answer.status == 2
    assert "the log of one vehicle, with 4000000 numbers in images" in answer.err
