"""Winds in scenarios: the short form, lists that add up, files, and error messages."""

import jax
import numpy as np
import pytest

from kittiwake.cockpit.panels.wind_sliders import wind_controls
from kittiwake.core.errors import ScenarioError
from kittiwake.environment.prescribed_winds import ConstantWind
from kittiwake.environment.wind import Calm, ShearWind
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.build import build
from kittiwake.scenario.changing import with_changes
from kittiwake.scenario.document import apply_overrides, parse_document
from kittiwake.scenario.dormant_faults import with_dormant_faults
from kittiwake.tasks.randomization import Randomization
from kittiwake.world.environment import SumOfWinds

SCENARIO = """
name: winds
time: {rate_hz: 100, duration_s: 0.1}
world: {wind: WIND}
vehicles: {tern: {model: angle-velocity, start: {position_world_m: [0, 0, 6.096]}}}
"""
SUM = (
    "[{type: shear, speed_at_6m_mps: 3, from_deg: 0}, "
    "{type: gust, start_s: 0.02, rise_s: 0.02, speed_mps: 4, from_deg: 270}, [0, 0, 1]]"
)
GUST = "{type: gust, start_s: 1, rise_s: 2, wind_world_mps: [1, 2, 3]}"


def built(wind, folder=None, overrides=()):
    document = parse_document(SCENARIO.replace("WIND", wind), "winds.yaml")
    return build(apply_overrides(document, overrides), folder)


def wind_of(*arguments, **named):
    return built(*arguments, **named).world.wind


def air(wind, time_s=0.0):
    with jax.enable_x64(True):
        return np.array(wind.velocity_world_mps(6.096, time_s).array, float)


@pytest.fixture
def refusal(tmp_path):
    def message_of(wind):
        with pytest.raises(ScenarioError) as refused:
            built(wind, tmp_path)
        return str(refused.value)

    return message_of


def test_three_numbers_are_a_constant_wind_to_east_north_and_up(tmp_path):
    wind = wind_of("[6, -1, 0.5]", tmp_path)
    assert isinstance(wind, ConstantWind)
    np.testing.assert_array_equal(air(wind, 99.0), [6.0, -1.0, 0.5])


def test_default_wind_is_calm(tmp_path):
    assert isinstance(wind_of("none", tmp_path), Calm)
    assert isinstance(wind_of("shear", tmp_path, ["world.wind=none"]), Calm)


def test_winds_of_a_list_add_up(tmp_path):
    wind = wind_of(SUM, tmp_path)
    assert isinstance(wind, SumOfWinds)
    np.testing.assert_allclose(air(wind, 0.0), [0.0, -3.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(air(wind, 0.04), [4.0, -3.0, 1.0], atol=1e-12)


def test_a_number_of_a_list_can_be_set(tmp_path):
    wind = wind_of(SUM, tmp_path, ["world.wind.2=[0, 0, 2]", "world.wind.0.speed_at_6m_mps=5"])
    np.testing.assert_allclose(air(wind, 0.0), [0.0, -5.0, 2.0], atol=1e-12)


@pytest.mark.parametrize("wind", ["6", "-2.5", "[6, 0]", "[1, 2, 3, 4]", "[]"])
def test_a_speed_without_a_direction_is_refused_with_what_to_write(refusal, wind):
    message = refusal(wind)
    assert message.startswith(f"winds.yaml:4: world.wind: {wind} is not allowed")
    assert "[6, 0, 0]" in message
    assert "{type: constant, speed_mps: 6, from_deg: 270}" in message


def test_each_wrong_wind_of_a_list_is_named_by_its_place(refusal):
    message = refusal("[[1, 2, null], 3, {type: breeze}]")
    assert "world.wind.0.wind_world_mps.2" in message
    assert "world.wind.1: 3 is not allowed" in message
    assert "world.wind.2.type: there is no wind 'breeze'" in message


def test_a_wind_is_read_from_a_table_beside_the_scenario(tmp_path):
    (tmp_path / "wind.csv").write_text("time_s,east_mps,north_mps\n0,1,0\n2,3,4\n")
    scenario = built("{type: recorded, file: wind.csv}", tmp_path)
    np.testing.assert_allclose(air(scenario.world.wind, 1.0), [2.0, 2.0, 0.0])
    scenario = built("[[1, 0, 0], {type: recorded, file: wind.csv, scale: 2}]", tmp_path)
    np.testing.assert_allclose(air(scenario.world.wind, 1.0), [5.0, 4.0, 0.0])


def test_a_table_outside_or_with_other_columns_is_refused(tmp_path, refusal):
    (tmp_path / "wind.csv").write_text("time_s,x,y\n0,1,0\n")
    assert "lies outside the scenario's folder" in refusal("{type: recorded, file: ../wind.csv}")
    assert "a wind has time_s, east_mps, north_mps" in refusal("{type: recorded, file: wind.csv}")


def test_warns_of_a_plume_in_a_changing_wind(tmp_path):
    plume = ["world.plumes={smoke: {type: gaussian-dispersion}}"]
    plume += ["world.area={x_m: [-50, 50], y_m: [-50, 50], z_m: [0, 40]}"]
    steady = built("[[3, 0, 0]]", tmp_path, plume)
    assert steady.warnings() == []
    remarks = built(f"[[3, 0, 0], {GUST}]", tmp_path, plume).warnings()
    assert any(
        one.startswith("world.plumes.smoke: world.wind changes with time") for one in remarks
    )


@pytest.mark.slow
def test_a_flight_meets_each_wind_when_it_blows(tmp_path):
    log = Simulation(built(SUM, tmp_path)).run()
    columns = [log.column("tern", f"wind_{axis}_world_mps") for axis in "xy"]
    times_s = log.column("tern", "time_s")
    share = 0.5 * (1.0 - np.cos(np.pi * np.clip((times_s - 0.02) / 0.02, 0.0, 2.0)))
    # to the float32 of a log
    np.testing.assert_allclose(columns[0], 4.0 * share, atol=1e-6)
    np.testing.assert_allclose(columns[1][0], -3.0, atol=1e-6)


def test_numbers_of_winds_can_be_drawn_for_each_episode(tmp_path):
    draws = [
        "randomize.world.wind.0.from_deg={uniform: [0, 360]}",
        "randomize.world.wind.1.start_s={uniform: [0.0, 0.05]}",
    ]
    found = Randomization.of(built(SUM, tmp_path, draws))
    assert [part.path for part in found.parts] == ["world.wind.0.from_deg", "world.wind.1.start_s"]
    assert len(found.leaves) == 2
    assert found.variants == (None, None)


@pytest.mark.parametrize(
    ("wind", "wanted"),
    [
        ("none", {"world.wind"}),
        ("{type: shear, speed_at_6m_mps: 3, from_deg: 0}", {"world.wind"}),
        ("[1, 2, 3]", {"world.wind"}),
        ("{type: constant, wind_world_mps: [1, 2, 3]}", {"world.wind.wind_world_mps"}),
        (
            "{type: constant, speed_mps: 30, from_deg: 10}",
            {"world.wind.speed_mps", "world.wind.from_deg"},
        ),
        (
            "{type: step, start_s: 3, wind_world_mps: [1, 2, 3]}",
            {"world.wind.wind_world_mps", "world.wind.start_s"},
        ),
        (
            "{type: sinusoid, period_s: 3, wind_world_mps: [1, 2, 3]}",
            {f"world.wind.{key}" for key in ("wind_world_mps", "period_s", "phase_deg")},
        ),
        (
            f"[[1, 2, 3], {GUST}]",
            {
                "world.wind.0",
                *(f"world.wind.1.{key}" for key in ("wind_world_mps", "start_s", "rise_s")),
                "world.wind.1.hold_s",
            },
        ),
        ("{type: recorded, file: wind.csv}", {"world.wind.scale"}),
    ],
)
def test_each_number_of_a_wind_has_a_slider_that_changes_it_without_compiling(
    tmp_path, wind, wanted
):
    (tmp_path / "wind.csv").write_text("time_s,east_mps,north_mps\n0,1,0\n2,3,4\n")
    scenario = built(wind, tmp_path)
    entry = scenario.document.data["world"]["wind"]
    found = {control.path: control for control in wind_controls(scenario.world.wind, entry)}
    assert found.keys() == wanted

    def form(one):
        return jax.tree.structure(with_dormant_faults(one, {}).fleet(live_parameters=True))

    for path, control in found.items():
        values = [scale.value for scale in control.scales]
        assert all(scale.low <= scale.value <= scale.high for scale in control.scales)
        same = with_changes(scenario, [f"{path}={control.to_yaml(values)}"]).world.wind
        np.testing.assert_allclose(air(same, 1.5), air(scenario.world.wind, 1.5), atol=1e-12)
        other = with_changes(
            scenario, [f"{path}={control.to_yaml([value + 1.0 for value in values])}"]
        )
        assert form(other) == form(scenario)
        numbers = [
            jax.tree.leaves(with_dormant_faults(one, {}).world.wind) for one in (other, scenario)
        ]
        assert any(not np.array_equal(a, b) for a, b in zip(*numbers, strict=True))


def test_the_shear_keeps_its_numbers(tmp_path):
    wind = wind_of("{type: shear, speed_at_6m_mps: 3, from_deg: 0}", tmp_path)
    assert isinstance(wind, ShearWind)
    np.testing.assert_array_equal(air(wind, 7.0), air(wind))
