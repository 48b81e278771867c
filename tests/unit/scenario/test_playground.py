"""Scenarios as playgrounds: without an end, and with lost vehicles."""

from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, parse_document
from kittiwake.scenario.playground import as_playground

SCENARIO = """
name: short
time: {rate_hz: 100, duration_s: 30}
world: {area: {x_m: [-1, 1], y_m: [-1, 1], z_m: [0, 20]}}
vehicles:
  tern: {model: hummingbird, start: {position_world_m: [0, 0, 5]}, controller: position}
"""


def written(text, folder):
    return build(apply_overrides(parse_document(text, "short.yaml"), []), folder)


def test_a_playground_goes_on_after_its_duration_and_a_lost_vehicle(tmp_path):
    scenario = as_playground(written(SCENARIO, tmp_path))
    assert scenario.duration_s >= 600.0
    assert not scenario.fails_when_lost
    scenario.check_flight()


def test_a_duration_that_was_asked_for_is_kept(tmp_path):
    scenario = as_playground(written(SCENARIO, tmp_path), endless=False)
    assert scenario.duration_s == 30.0
    assert not scenario.fails_when_lost


def test_what_the_file_says_about_lost_vehicles_is_kept(tmp_path):
    scenario = as_playground(written("lost_vehicle: fail" + SCENARIO, tmp_path))
    assert scenario.fails_when_lost
