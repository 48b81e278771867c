"""Measures of motion against logs whose numbers are known."""

import math

import numpy as np
import pytest
from tests.unit.analysis.reproduction.hand_made import TIMES_S, log

from kittiwake.analysis.log import Log
from kittiwake.analysis.reproduction import measures_motion
from kittiwake.analysis.reproduction.measures import MEASURES, measured
from kittiwake.core.errors import LogError, ScenarioError


def test_measures_are_registered_by_their_names():
    assert MEASURES["parameter"] is measures_motion.parameter


def found(flight, name, **arguments):
    return measured(flight, {"type": name, **arguments})


SCENARIO = {
    "name": "made-up",
    "time": {"rate_hz": 100, "duration_s": 1},
    "vehicles": {"boat": {"model": "strider", "parameters": {"mass_kg": 5}}},
}
FLOWN = Log({}, scenario=SCENARIO)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "rate_hz"}, 100.0),
        ({"path": "dynamics.mass_kg", "vehicle": "boat"}, 5.0),
        ({"path": "dynamics.hull.y_v_kgps", "vehicle": "boat", "divided_by": 2.0}, -1.9497509405),
        ({"path": "cascade.1.component.max_thrust_n", "vehicle": "boat"}, 3.0),
    ],
)
def test_parameters_are_those_of_the_built_scenario(arguments, expected):
    assert found(FLOWN, "parameter", **arguments) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "dynamics.mass_kh", "vehicle": "boat"}, "Did you mean 'mass_kg'"),
        ({"path": "cascade.9.component", "vehicle": "boat"}, "no '9'"),
        ({"path": "rate_hz", "vehicle": "boot"}, "no vehicle 'boot'. Did you mean 'boat'"),
    ],
)
def test_unknown_parameters_are_refused_with_the_nearest_name(arguments, said):
    with pytest.raises(LogError, match=said):
        found(FLOWN, "parameter", **arguments)


def test_whole_numbers_of_a_data_file_are_numbers():
    flight = log(z_m=TIMES_S)
    assert found(flight, "percent", quantity="z_m", of=10, begin_s=10 - 1) == pytest.approx(95.0)
    assert found(flight, "largest_miss_m", positions_m=[[0, 0, 3]]) == pytest.approx(0.0)


def test_slender_body_theory_needs_no_flight():
    arguments = {"length_m": 2.0, "draft_m": 0.1, "density_kgpm3": 1000.0, "speed_mps": 0.5}
    k = 0.5 * math.pi * 1000.0 * 0.5 * 0.1**2
    assert found(None, "slender_body", derivative="y_v_kgps", **arguments) == pytest.approx(-k)
    assert found(None, "slender_body", derivative="n_r_kgm2ps", **arguments) == pytest.approx(-k)


def test_percent_is_that_of_the_mean():
    flight = log(z_m=np.where(TIMES_S < 5.0, 0.0, 3.0))
    assert found(flight, "percent", quantity="z_m", of=4.0, begin_s=6.0) == pytest.approx(75.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_overshoot_is_seen_from_the_side_of_the_beginning(sign):
    """That of a damping ratio of 0.5 is exp(-pi 0.5 / sqrt(0.75))."""
    w, z = 2.0, 0.5
    wd = w * math.sqrt(1.0 - z * z)
    step = 1.0 - np.exp(-z * w * TIMES_S) * (
        np.cos(wd * TIMES_S) + z * w / wd * np.sin(wd * TIMES_S)
    )
    overshoot = found(log(z_m=sign * step), "overshoot", quantity="z_m", target=sign)
    assert overshoot == pytest.approx(math.exp(-math.pi * z / math.sqrt(1.0 - z * z)), abs=1e-4)
    assert found(log(z_m=0.5 * step), "overshoot", quantity="z_m", target=1.0) == 0.0


@pytest.mark.parametrize("end", [2.0, -3.0])
def test_time_constant_counts_from_the_beginning(end):
    flight = log(z_m=end * (1.0 - np.exp(-np.maximum(TIMES_S - 2.0, 0.0) / 0.7)))
    arguments = {"quantity": "z_m", "target": end, "begin_s": 2.0}
    # the rows are 10 ms apart, and the curve between them is straight here
    assert found(flight, "time_constant_s", **arguments) == pytest.approx(0.7, abs=1e-4)
    assert math.isnan(found(flight, "time_constant_s", quantity="z_m", target=9.0 * end))


def test_lowest_is_looked_for_within_the_span():
    flight = log(z_m=np.cos(TIMES_S) + 0.1 * TIMES_S)
    arguments = {"quantity": "z_m", "begin_s": 1.0, "end_s": 5.0}
    assert found(flight, "lowest_s", **arguments) == pytest.approx(
        math.pi - math.asin(0.1), abs=0.01
    )


def test_longest_time_above_is_that_of_one_stretch():
    high = ((TIMES_S > 1.0) & (TIMES_S <= 2.0)) | ((TIMES_S > 4.0) & (TIMES_S <= 6.5))
    flight = log(z_m=high.astype(float))
    assert found(flight, "longest_above_s", quantity="z_m", level=0.5) == pytest.approx(
        2.5, abs=0.02
    )
    arguments = {"quantity": "z_m", "level": 0.5, "end_s": 3.0}
    assert found(flight, "longest_above_s", **arguments) == pytest.approx(1.0, abs=0.02)
    assert found(flight, "longest_above_s", quantity="z_m", level=1.5) == 0.0


@pytest.mark.parametrize("ratio", [0.3, 0.8, 1.5])
def test_free_response_gives_frequency_and_damping(ratio):
    w = 4.0
    roots = np.roots([1.0, 2.0 * ratio * w, w * w]).astype(complex)
    shares = np.linalg.solve(np.stack([np.ones(2), roots]), [1.0, 0.0])
    modes = np.exp(np.outer(TIMES_S, roots))
    angle, rate = (modes @ shares).real, (modes @ (shares * roots)).real
    # the rest position is part of the fit
    arguments = {"angle": "z_m", "rate": "vz_mps", "begin_s": 0.02, "end_s": 2.0}
    flight = log(z_m=0.2 + angle, vz_mps=rate)
    assert found(flight, "natural_frequency_radps", **arguments) == pytest.approx(w, rel=2e-3)
    assert found(flight, "damping_ratio", **arguments) == pytest.approx(ratio, rel=3e-3)


def test_unstable_response_has_no_frequency():
    flight = log(z_m=np.cosh(TIMES_S), vz_mps=np.sinh(TIMES_S))
    arguments = {"angle": "z_m", "rate": "vz_mps"}
    assert math.isnan(found(flight, "natural_frequency_radps", **arguments))
    assert math.isnan(found(flight, "damping_ratio", **arguments))


def test_circle_has_its_radius_and_its_lag():
    place = 2.0 + 1.0j + 1.5 * np.exp(1j * (TIMES_S - 0.4))
    aim = 2.0 + 1.0j + np.exp(1j * TIMES_S)
    flight = log(
        **{
            "x_m": place.real,
            "y_m": place.imag,
            "setpoint.position_x_world_m": aim.real,
            "setpoint.position_y_world_m": aim.imag,
            "setpoint.position_z_world_m": 0.0,
        }
    )
    assert found(flight, "circle_radius_m", center_m=[2.0, 1.0]) == pytest.approx(1.5)
    lag_deg = found(flight, "circle_lag_deg", center_m=[2.0, 1.0], begin_s=3.0)
    assert lag_deg == pytest.approx(math.degrees(0.4))
    error_m = abs(1.0 - 1.5 * np.exp(-0.4j))
    assert found(flight, "mean", quantity="setpoint_distance_m") == pytest.approx(error_m)


def test_largest_miss_is_that_of_the_worst_place():
    flight = log(x_m=TIMES_S, z_m=1.0)
    arguments = {"positions_m": [[2.0, 0.5, 1.0], [5.0, 0.0, 3.0], [13.0, 0.0, 1.0]]}
    assert found(flight, "largest_miss_m", **arguments) == pytest.approx(3.0)


def test_rate_that_is_another_axis_has_an_error():
    flight = log(x_m=np.sin(TIMES_S), vx_mps=np.cos(TIMES_S))
    assert found(flight, "rate_error", quantity="x_m", rate="vx_mps") < 1e-4
    assert found(flight, "rate_error", quantity="x_m", rate="vy_mps") > 0.5


def test_deck_distance_is_horizontal():
    deck = {"ideal.deck.position_x_world_m": 3.0, "ideal.deck.position_y_world_m": 4.0}
    assert found(log(z_m=7.0, **deck), "value", quantity="deck_distance_m") == pytest.approx(5.0)


def test_tilt_is_the_angle_from_upright():
    flight = log(qw=math.cos(0.1), qx=math.sin(0.1))
    assert found(flight, "value", quantity="tilt_deg") == pytest.approx(math.degrees(0.2))


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"type": "overshot", "quantity": "z_m", "target": 1.0}, ScenarioError, "'overshoot'"),
        ({"type": "overshoot", "quantity": "z_m"}, ScenarioError, "target"),
        ({"type": "overshoot", "quantity": "zz_m", "target": 1.0}, LogError, "Did you mean 'z_m'"),
        (
            {"type": "overshoot", "quantity": "z_m", "target": 1.0, "vehicle": "drohne"},
            LogError,
            "Did you mean 'drone'",
        ),
        (
            {"type": "lowest_s", "quantity": "z_m", "begin_s": 11.0},
            LogError,
            "no row between 11 and inf s",
        ),
    ],
)
def test_mistakes_in_a_data_file_are_named(given, error, said):
    with pytest.raises(error, match=said):
        measured(log(), given)
