"""Response metrics compared with textbook values of second-order systems."""

import numpy as np
import pytest

from kittiwake.analysis.response import command_spans, response
from kittiwake.analysis.table import STATE_COLUMNS, Table

TIMES = np.linspace(0.0, 20.0, 20001)
START, GOAL = np.array([1.0, -2.0, 5.0]), np.array([2.0, 0.0, 3.0])
SETPOINT = tuple(f"setpoint.position_{axis}_world_m" for axis in "xyz")


def flight(progress, *, goal=GOAL, times=TIMES, **columns):
    """A table of a vehicle that goes so much of the way, level and without turning."""
    position = START + np.outer(progress, GOAL - START)
    given = dict.fromkeys(STATE_COLUMNS, 0.0) | {"time_s": times, "qw": 1.0}
    given |= dict(zip(("x_m", "y_m", "z_m"), position.T, strict=True))
    given |= dict(zip(SETPOINT, np.broadcast_to(goal, position.shape).T, strict=True))
    given |= columns
    values = np.stack([np.broadcast_to(v, times.shape) for v in given.values()], axis=1)
    return Table(tuple(given), values)


def test_a_critically_damped_step_has_the_figures_of_textbooks():
    w = 1.3
    found = response(flight(1.0 - (1.0 + w * TIMES) * np.exp(-w * TIMES)), {})
    assert found.rise_time_s == pytest.approx(3.3579 / w, abs=2e-3)
    assert found.settling_time_s == pytest.approx(5.8339 / w, abs=2e-3)
    assert found.overshoot_percent == 0.0
    # integral of (1 + w t)^2 exp(-2 w t) dt is 5 / (4 w)
    expected = np.linalg.norm(GOAL - START) * np.sqrt(5.0 / (4.0 * w) / 20.0)
    assert found.tracking_rms_m == pytest.approx(expected, rel=1e-3)


def test_an_underdamped_step_overshoots_as_its_damping_says():
    z, w = 0.5, 2.0
    root = np.sqrt(1.0 - z * z)
    swing = np.cos(w * root * TIMES) + z / root * np.sin(w * root * TIMES)
    found = response(flight(1.0 - np.exp(-z * w * TIMES) * swing), {})
    assert found.overshoot_percent == pytest.approx(100.0 * np.exp(-np.pi * z / root), abs=1e-3)


def test_flight_that_never_arrives_has_no_settling_time():
    found = response(flight(0.95 * (1.0 - np.exp(-TIMES))), {})
    assert found.settling_time_s is None
    assert found.rise_time_s is not None


def test_a_moving_goal_is_no_step():
    goal = GOAL + np.outer(TIMES, [0.1, 0.0, 0.0])
    found = response(flight(0.0 * TIMES, goal=goal), {})
    assert (found.rise_time_s, found.settling_time_s, found.overshoot_percent) == (None, None, None)
    assert found.tracking_rms_m is not None


def test_effort_is_what_commands_stray_of_their_range():
    swing = 300.0 + 100.0 * np.sin(2.0 * np.pi * TIMES)
    small = 250.0 + 50.0 * np.sin(2.0 * np.pi * TIMES)
    table = flight(0.0 * TIMES, cmd_speeds_0_radps=swing, cmd_speeds_1_radps=small)
    bounds = {f"speeds_{i}_radps": (0.0, 500.0) for i in range(2)}
    found = response(table, bounds)
    # a sine of amplitude A has RMS A / sqrt(2)
    expected = 100.0 * np.sqrt((0.2**2 + 0.1**2) / 2.0 / 2.0)
    assert found.effort_percent == pytest.approx(expected, rel=1e-3)
    assert found.saturated_percent == 0.0


def test_a_command_that_never_changes_counts_in_nothing_beside_others():
    swing = 0.5 + 0.1 * np.sin(2.0 * np.pi * TIMES)
    bounds = {"throttle": (0.0, 1.0), "battery_v": (9.0, 12.0)}
    table = flight(0.0 * TIMES, cmd_throttle=swing, cmd_battery_v=12.0)
    found = response(table, bounds)
    assert found.effort_percent == pytest.approx(10.0 / np.sqrt(2.0), rel=1e-3)
    assert found.saturated_percent == 0.0


@pytest.mark.parametrize(("throttle", "share"), [(0.5, 0.0), (1.0, 100.0)])
def test_commands_that_all_stay_have_no_effort_and_are_at_a_bound_or_not(throttle, share):
    found = response(flight(0.0 * TIMES, cmd_throttle=throttle), {"throttle": (0.0, 1.0)})
    assert (found.effort_percent, found.saturated_percent) == (0.0, share)


def test_time_at_a_bound_is_counted_once_for_all_commands():
    half = np.where(TIMES < 10.0, 500.0, 100.0)
    quarter = np.where(TIMES < 5.0, 0.0, 100.0)
    table = flight(0.0 * TIMES, cmd_a=half, cmd_b=quarter)
    found = response(table, {"a": (0.0, 500.0), "b": (0.0, 500.0)})
    assert found.saturated_percent == pytest.approx(50.0, abs=0.01)


def test_effort_without_a_range_is_of_the_largest_span_of_the_compared():
    bounds = {"thrust_n": (0.0, np.inf)}
    gentle, eager = (
        flight(0.0 * TIMES, cmd_thrust_n=10.0 + size * np.sin(2.0 * np.pi * TIMES))
        for size in (1.0, 4.0)
    )
    spans = command_spans([gentle, eager], bounds)
    assert spans["thrust_n"] == pytest.approx(8.0, rel=1e-4)
    efforts = [response(table, bounds, spans).effort_percent for table in (gentle, eager)]
    expected = [100.0 * size / 8.0 / np.sqrt(2.0) for size in (1.0, 4.0)]
    assert efforts == pytest.approx(expected, rel=1e-3)
    assert response(eager, bounds, spans).saturated_percent is None


def test_rows_after_a_divergence_have_no_part_in_the_span():
    broken = np.where(TIMES > 15.0, np.nan, 0.0)
    table = flight(0.0 * TIMES, vx_mps=broken, cmd_thrust_n=np.where(TIMES > 15.0, 1e9, TIMES))
    assert command_spans([table], ["thrust_n"])["thrust_n"] == pytest.approx(15.0)


def test_roughness_is_none_of_one_bend_and_grows_with_what_is_not():
    bend = (TIMES / 20.0) ** 2
    rough = {
        size: response(flight(bend + size * np.sin(4.0 * TIMES)), {}).roughness["y"]
        for size in (0.0, 0.05, 0.1)
    }
    assert rough[0.0] < 1e-9
    # of a sine of amplitude A the residual is A / sqrt(2); y goes two meters
    assert rough[0.05] == pytest.approx(0.1 / np.sqrt(2.0), rel=0.02)
    assert rough[0.1] == pytest.approx(2.0 * rough[0.05], rel=0.02)


def test_rows_that_are_not_finite_count_in_nothing():
    broken = np.where(TIMES > 15.0, np.nan, 0.0)
    found = response(flight(1.0 - np.exp(-TIMES), vx_mps=broken), {})
    assert found.settling_time_s == pytest.approx(-np.log(0.02), abs=2e-3)
    assert all(np.isfinite(list(found.roughness.values())))


def test_the_motion_of_a_setpoint_is_no_roughness():
    turn = 2.0 * np.pi * TIMES / 6.0
    circle = GOAL + np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    near = circle + 0.1 * np.exp(-TIMES / 20.0)[:, None]
    flown = dict(zip(("x_m", "y_m", "z_m"), near.T, strict=True))
    found = response(flight(0.0 * TIMES, goal=circle, **flown), {}).roughness
    # without the circle of 1 m one smooth bend is left
    assert max(found["x"], found["y"]) < 1e-3
    trembling = flown | {"x_m": flown["x_m"] + 0.02 * np.sin(40.0 * TIMES)}
    found = response(flight(0.0 * TIMES, goal=circle, **trembling), {}).roughness
    assert found["x"] == pytest.approx(0.02 / np.sqrt(2.0), rel=0.02)


def test_a_flight_of_a_few_rows_has_no_roughness():
    times = np.linspace(0.0, 0.1, 5)
    assert response(flight(times, times=times), {}).roughness == {}
