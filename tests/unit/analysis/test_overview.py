import logging
from dataclasses import replace
from io import BytesIO
from itertools import combinations

import jax
import matplotlib
import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.patches import Polygon
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from tests.selection import slow_besides

from kittiwake.analysis.log import Log
from kittiwake.analysis.plots import draw_overview, save_overview
from kittiwake.analysis.plots.events import free_row
from kittiwake.analysis.plots.legs import with_legs
from kittiwake.analysis.plots.map_objects import (
    OBSTACLE,
    FlightConditions,
    find_map_objects,
    surfaces_in,
)
from kittiwake.analysis.plots.map_scene import (
    build_map_scene,
    in_single_precision,
    stops,
    usual_wind,
)
from kittiwake.analysis.plots.overview import SecondRun
from kittiwake.analysis.plots.quantities import (
    input_panels,
    panels_over_time,
    readable_yaw_deg,
    vehicle_inputs,
)
from kittiwake.analysis.plots.style import ALARM, DPI, HUES, PAPER, REPORT
from kittiwake.analysis.plots.traces import find_losses, partner_of, select_traces
from kittiwake.analysis.table import STATE_COLUMNS, Event, Table
from kittiwake.core.errors import LogError
from kittiwake.core.keys import seed_key
from kittiwake.runtime.loading import load

RATE_HZ = 10.0
QUANTITIES = ("non-finite position_world_m", "x_m", "y_m", "z_m")
PLACES_M = np.array([[0.0, 30.0, 12.0], [25.0, 30.0, 18.0], [0.0, 0.0, 10.0]])
COMMANDS = {
    "cmd_pitch_rad": lambda t: 0.2 * np.sin(t),
    "cmd_roll_rad": lambda t: 0.1 * np.cos(t),
    "cmd_throttle": lambda t: 0.6 + 0.01 * np.sin(t),
    "cmd_yaw_rate_radps": lambda t: 0.05 * np.sin(2.0 * t),
    "cmd_battery_v": lambda t: np.full_like(t, 11.9),
    "act_thrust_n": lambda t: 16.0 + np.sin(t),
}
WAYPOINT_TOUR = {"name": "waypoint-tour", "seed": 4, "world": {"ground_z_m": 0.0}}


def table(columns, rows):
    """Rows of these columns after the state's; level and at rest where nothing else is given."""
    names = (*STATE_COLUMNS, *(c for c in columns if c not in (*STATE_COLUMNS, "status")), "status")
    given = {"time_s": np.arange(rows) / RATE_HZ, "qw": 1.0} | columns
    values = [np.broadcast_to(np.asarray(given.get(c, 0.0), float), (rows,)) for c in names]
    return Table(names, np.stack(values, axis=1), QUANTITIES)


def tour(rows=301):
    """A vehicle from one place to the next, with everything that a Pelican logs."""
    time_s = np.arange(rows) / RATE_HZ
    leg = np.minimum((time_s // 10.0).astype(int), 2)
    columns = {"qz": 0.01 * np.sin(time_s), "vx_mps": np.cos(time_s), "setpoint.yaw_rad": 0.0}
    for axis, name in enumerate("xyz"):
        ends = np.concatenate([[0.0], PLACES_M[:, axis]])
        columns[f"{name}_m"] = np.interp(time_s, [0.0, 8.0, 18.0, 28.0], ends)
        columns[f"setpoint.position_{name}_world_m"] = PLACES_M[leg, axis]
    columns |= {"wind_x_world_mps": 3.0, "wind_y_world_mps": 4.0 + np.sin(0.2 * np.pi * time_s)}
    return table(columns | {name: shape(time_s) for name, shape in COMMANDS.items()}, rows)


def hovering(number, rows=60):
    time_s = np.arange(rows) / RATE_HZ
    place = {"x": 5.0 * (number % 40), "y": 5.0 * (number // 40), "z": 10.0}
    columns = {f"{axis}_m": at + 0.3 * np.sin(time_s + number) for axis, at in place.items()}
    columns |= {f"setpoint.position_{axis}_world_m": at for axis, at in place.items()}
    return table(columns, rows)


def changed(old, column, rows, value):
    values = old.values.copy()
    values[rows, old.columns.index(column)] = value
    return Table(old.columns, values, old.quantities)


def diverging():
    """A circle until 20 s; then away ever faster, past what squares can hold, to NaN at 28 s."""
    time_s = np.arange(301) / RATE_HZ
    away = np.where(time_s < 20.0, 0.0, np.expm1(np.maximum(time_s - 20.0, 0.0) * 60.0))
    columns = {"x_m": np.sin(time_s) + away, "y_m": np.cos(time_s), "z_m": 5.0, "vx_mps": away}
    found = table(columns | {"cmd_rudder_rad": 0.1 * np.sin(time_s)}, 301)
    found.values[280:, 1:-1] = np.nan
    found.values[280:, -1] = 1.0
    return found


def summary(names, **other):
    own = {"tracking_rms_m": 0.25, "max_tilt_rad": 0.5, "distance_m": 80.0}
    return {
        "scenario": "waypoint-tour",
        "seed": 7,
        "status": "completed",
        "reason": None,
        "duration_s": 30.0,
        "vehicles": {
            name: own | {"tracking_rms_m": 0.25 + place} for place, name in enumerate(names)
        },
        "min_separation_m": None,
        "metrics": {},
    } | other


def tour_log():
    events = tuple(Event(10.0 * n, "pelican", f"reached {n}") for n in (1, 2))
    return Log({"pelican": tour()}, events, WAYPOINT_TOUR, summary(["pelican"]))


def fleet_log(count):
    tables = {f"gull-{n}": hovering(n) for n in range(count)}
    lost = Event(3.0, "gull-1", "lost: x_m outside its limits")
    return Log(tables, (lost,), {}, summary(tables, min_separation_m=4.5))


def paired_log(rows=60):
    """A drone half a meter beside its vessel that goes through three parts of its task."""
    x_m, part = np.arange(rows) / RATE_HZ, np.arange(rows) // 20
    drone = {"x_m": x_m + 0.3, "y_m": 0.4, "z_m": 2.0 - 0.5 * part, "guidance.phase": part}
    drone |= {"setpoint.position_x_world_m": x_m, "setpoint.position_y_world_m": 0.0}
    drone |= {"setpoint.position_z_world_m": 2.0}
    scenario = {"vehicles": {"strider": {}, "drone": {"partner": "strider"}}}
    tables = {"strider": table({"x_m": x_m, "guidance.phase": 0.0}, rows)}
    return Log(tables | {"drone": table(drone, rows)}, (), scenario, summary(["strider", "drone"]))


def left(time_s, name, value, low, high):
    """The event of a vehicle that left its flight area."""
    words = f"lost: y_m = {value} is not from {low} to {high} (world.area.y_m)"
    return Event(time_s, name, words)


def late_log():
    """One vehicle, lost at the very end, right after a waypoint."""
    reached = (Event(t, "pelican", f"reached waypoint {n}") for n, t in [(8, 20.0), (109, 29.7)])
    lost = left(30.0, "pelican", -0.0237243, 0, 20)
    return Log({"pelican": tour()}, (*reached, lost), WAYPOINT_TOUR, summary(["pelican"]))


def scattered_log():
    """Ten vehicles, three of them lost at different places, two of these at once."""
    tables = {f"gull-{n}": hovering(n) for n in range(10)}
    events = (
        Event(5.7, "gull-3", "reached waypoint 112233"),
        left(0.0, "gull-1", -80.0, -50, 50),
        left(0.0, "gull-2", -60.0, -50, 50),
        left(5.9, "gull-9", 100.0, -50, 50),
    )
    return Log(tables, events, {}, summary(tables, min_separation_m=4.5))


def bare_log(rows, columns=STATE_COLUMNS):
    return Log({"otter": Table(columns, np.zeros((rows, len(columns))))})


def standing_log(**world):
    """A flight of 12 m east at 3 m up past whatever stands in the world."""
    time_s = np.arange(101) / RATE_HZ
    columns = {"x_m": 1.2 * time_s, "z_m": 3.0, "wind_x_world_mps": 0.0, "wind_z_world_mps": 0.0}
    columns |= {"wind_y_world_mps": np.where(abs(time_s - 5.0) < 2.0, 5.0, 0.0)}
    return Log({"gull": table(columns, 101)}, (), {"world": world})


DRAFT = {
    "type": "wind",
    "from_world_m": [3, -4, 0],
    "to_world_m": [7, 4, 6],
    "wind_world_mps": [0, 3, 4],
}
FERRY = {
    "type": "moving",
    "position_world_m": [2, 1, 0.5],
    "length_m": 2.0,
    "width_m": 1.0,
    "yaw_deg": 90,
    "velocity_world_mps": [0.5, 0, 0],
}


def battery_log():
    """Four rotors and a battery: all that a rotor vehicle can log."""
    time_s = np.arange(101) / RATE_HZ
    columns = {f"cmd_speeds_{n}_radps": 1500.0 + n * np.sin(time_s) for n in range(4)}
    columns |= {f"act_rotor_{n}_radps": 1500.0 + n * np.cos(time_s) for n in range(4)}
    columns |= {"act_battery_v": 4.0 - 0.1 * time_s, "act_battery_a": 2.0 + 0.1 * time_s}
    columns |= {"act_battery_charge": 0.05 - 0.005 * time_s, "act_battery_empty": time_s > 9.0}
    return Log({"crazyflie": table(columns | {"z_m": 10.0 - time_s}, 101)})


def flat_log():
    """A hover of which nothing is left but the rounding of sums."""
    noise = 1e-13 * np.sin(np.arange(101))
    columns = {name: noise for name in ("x_m", "y_m", "qx", "qz", "vx_mps", "cmd_torque_x_nm")}
    return Log({"gull": table(columns | {"z_m": 10.0 + noise, "cmd_thrust_n": 5.0 + noise}, 101)})


LOGS = {
    "pair": paired_log,
    "standing": lambda: standing_log(regions={"draft": DRAFT}, platforms={"ferry": FERRY}),
    "battery": battery_log,
    "flat": flat_log,
    "tour": tour_log,
    "fleet": lambda: fleet_log(10),
    "crowd": lambda: fleet_log(300),
    "late": late_log,
    "scattered": scattered_log,
    "diverging": lambda: Log({"pelican": diverging()}),
    "nan": lambda: Log({"pelican": changed(tour(), "x_m", slice(None), np.nan)}),
    "gaps": lambda: Log({"pelican": changed(tour(), "y_m", slice(50, 70), np.nan)}),
    "infinite": lambda: Log({"pelican": changed(tour(), "cmd_pitch_rad", slice(50, 70), np.inf)}),
    "no state": lambda: bare_log(30, ("time_s", "status")),
    "vessel": lambda: bare_log(30),
    "one row": lambda: bare_log(1),
    "odd words": lambda: Log(
        {"a": tour(), "$b_$": tour()},
        (Event(1.0, "$b_$", "found $x_ 5% \\frac"), Event(np.nan, "a", "never")),
        {"name": "$\\alpha" * 40, "world": {"area": {"x_m": "wide", "y_m": [0], "z_m": None}}},
    ),
}
# the others differ from these in a number
QUICK = ("standing", "scattered", "nan", "gaps", "one row", "no state", "odd words")


DRAWN = (
    "pair",
    "tour",
    "fleet",
    "crowd",
    "diverging",
    "late",
    "scattered",
    "standing",
    "battery",
    "flat",
)


@pytest.fixture(scope="module")
def figures():
    drawn = {name: draw_overview(LOGS[name]()) for name in DRAWN}
    for figure in drawn.values():
        # places of words and scales of maps are those of a drawing
        figure.draw_without_rendering()
    return drawn


def trace_of(log):
    return select_traces(log, find_losses(log))[0]


def axes_labeled(figure, label):
    return next(axes for axes in figure.axes if axes.get_ylabel() == label)


def words(figure):
    """All text of a figure outside its axes."""
    return [text.get_text() for text in figure.texts]


def listed(axes):
    legend = axes.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def in_key(figure):
    """The entries of the key below the panels."""
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def labels_of(figure):
    """The labels of the panels over time from top to bottom."""
    return [axes.get_ylabel() for axes in over_time(figure)]


def over_time(figure):
    return [axes for axes in figure.axes[2:] if axes.get_ylabel()]


def event_names(figure):
    """The names of events above the panels, and the note about those left out."""
    names = next(axes for axes in figure.axes[2:] if not axes.axison)
    return [text.get_text().strip() for text in names.texts], names.get_title(loc="left")


def curves_of(trace):
    """The panels over time of one vehicle by label."""
    found = panels_over_time([trace], [""], {}, many=False)
    return {panel.label: panel for panel, _ in found}


def page_boxes(figure, artists):
    renderer = figure.canvas.get_renderer()
    return [artist.get_window_extent(renderer) for artist in artists]


def inside(page, box):
    return (box.min >= page.min).all() and (box.max <= page.max).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_besides(QUICK, LOGS))
def test_every_log_becomes_a_picture_that_is_not_blank(name, tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "matplotlib"):
        save_overview(LOGS[name](), tmp_path / "overview.png")
    assert caplog.messages == []
    pixels = imread(tmp_path / "overview.png")
    assert pixels.shape[1] == round(REPORT.width_in * DPI)
    drawn = (pixels[..., :3] < 0.99).any(axis=2)
    assert 0.001 < drawn.mean() < 0.5


@pytest.mark.slow
def test_the_same_log_gives_the_same_file(tmp_path):
    for name in ("a", "b"):
        save_overview(fleet_log(3), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.slow
def test_drawing_leaves_matplotlib_as_it_was():
    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"font.size": 31.0, "axes.grid": False}):
        figure = draw_overview(bare_log(3))
        assert matplotlib.rcParams["font.size"] == 31.0
    assert dict(matplotlib.rcParams) == before
    assert isinstance(figure, Figure)
    assert max(text.get_fontsize() for text in figure.findobj(matplotlib.text.Text)) < 31.0


@pytest.mark.slow
def test_a_plot_is_shown_as_a_picture_in_a_notebook():
    figure = Log({"drone": tour()}).plot()
    shown, _ = DisplayFormatter().format(figure)
    picture = imread(BytesIO(shown["image/png"]), format="png")
    width_in, height_in = figure.get_size_inches()
    assert picture.shape[1] == round(width_in * DPI)
    assert abs(picture.shape[0] - height_in * DPI) <= 1.0
    assert np.ptp(picture) > 0.9


def test_one_vehicle_is_shown_with_all_its_state_and_inputs(figures):
    assert labels_of(figures["tour"]) == [
        "position\n(m)",
        "height\n(m)",
        "attitude\n(deg)",
        "yaw\n(deg)",
        "speed\n(m/s)",
        "inputs\n(deg)",
        "yaw rate\n(deg/s)",
        "thrust\n(N)",
        "throttle",
    ]
    space, plan = figures["tour"].axes[:2]
    assert isinstance(space, Axes3D)
    assert (plan.get_xlabel(), plan.get_ylabel()) == ("east x (m)", "north y (m)")
    assert listed(axes_labeled(figures["tour"], "position\n(m)")) == ["x", "y", "setpoint"]


def test_time_series_share_one_axis_over_the_whole_flight(figures):
    panels = over_time(figures["tour"])
    assert {panel.get_xlim() for panel in panels} == {(0.0, 30.0)}
    assert panels[-1].get_xlabel() == "time (s)"
    assert len({round(panel.get_position().x0, 6) for panel in panels}) == 1


def test_maps_have_equal_scales_on_all_axes(figures):
    for figure in figures.values():
        space, plan = figure.axes[:2]
        assert isinstance(space, Axes3D)
        limits = np.array([space.get_xlim(), space.get_ylim(), space.get_zlim()])
        spans_m = limits[:, 1] - limits[:, 0]
        # matplotlib keeps the box's sides in its own unit; only their ratios count
        assert np.ptp(space._box_aspect / spans_m) < 1e-9 * max(space._box_aspect / spans_m)
        unit_px = plan.transData.transform([[0.0, 0.0], [1.0, 1.0]])
        assert np.allclose(*(unit_px[1] - unit_px[0]), rtol=1e-9)


def test_curves_of_one_vehicle_hold_what_was_logged(figures):
    log = tour_log()
    axes = axes_labeled(figures["tour"], "position\n(m)")
    curves = [line for line in axes.lines if len(line.get_xdata()) > 2]
    for line, column in zip(curves, ("x_m", "y_m"), strict=False):
        assert np.array_equal(line.get_ydata(), log.column("pelican", column))
    wanted = curves[2]
    assert np.array_equal(wanted.get_ydata(), log.column("pelican", "setpoint.position_x_world_m"))


def test_euler_angles_are_those_of_the_quaternion():
    roll, pitch, yaw = np.radians([20.0, -35.0, 100.0])
    parts = [[np.cos(angle / 2), np.sin(angle / 2)] for angle in (roll, pitch, yaw)]
    (cr, sr), (cp, sp), (cy, sy) = parts
    q = {"qw": cr * cp * cy + sr * sp * sy, "qx": sr * cp * cy - cr * sp * sy}
    q |= {"qy": cr * sp * cy + sr * cp * sy, "qz": cr * cp * sy - sr * sp * cy}
    angles = trace_of(Log({"a": table(q, 2)})).table.roll_pitch_yaw_deg
    assert np.allclose(angles, [20.0, -35.0, 100.0], atol=1e-12)


def test_yaw_is_drawn_without_vertical_lines():
    drifting = np.linspace(170.0, 200.0, 50)
    wrapped = (drifting + 180.0) % 360.0 - 180.0
    smooth = readable_yaw_deg(wrapped)
    assert np.ptp(smooth) == pytest.approx(30.0)
    assert np.allclose((smooth - drifting) % 360.0 % 360.0 % 359.9999999, 0.0, atol=1e-6)
    spinning = (np.linspace(0.0, 3600.0, 500) + 180.0) % 360.0 - 180.0
    cut = readable_yaw_deg(spinning)
    assert np.nanmax(np.abs(cut)) <= 180.0
    assert np.nanmax(np.abs(np.diff(cut))) < 180.0
    assert np.count_nonzero(np.isnan(cut)) == 10


def test_the_height_has_an_axis_of_its_own():
    time_s = np.arange(50) / RATE_HZ
    log = Log({"a": table({"x_m": np.sin(time_s), "z_m": 500.0 + np.sin(time_s)}, 50)})
    figure = draw_overview(log)
    assert listed(axes_labeled(figure, "position\n(m)")) == ["x", "y"]
    assert axes_labeled(figure, "position\n(m)").get_ylim()[1] < 2.0
    assert axes_labeled(figure, "height\n(m)").get_ylim()[0] > 498.0


def test_inputs_are_grouped_by_unit_and_constant_ones_are_noted():
    angles, rate, thrust, throttle = input_panels(trace_of(tour_log()))
    assert [line.label for line in angles.lines] == ["pitch", "roll"]
    logged = tour_log().column("pelican", "cmd_pitch_rad")
    np.testing.assert_allclose(angles.lines[0].values, np.degrees(logged))
    assert [panel.label for panel in (rate, thrust, throttle)] == [
        "yaw rate\n(deg/s)",
        "thrust\n(N)",
        "throttle",
    ]
    assert throttle.notes == ("battery 11.9 V",)


def test_commands_of_any_vehicle_are_shown_with_their_units():
    columns = {"cmd_rudder_rad": 0.1, "cmd_force_x_body_n": 2.0, "act_rotor_speed_1_radps": 500.0}
    inputs = vehicle_inputs(trace_of(Log({"otter": table(columns, 5)})))
    assert [(item.label, item.unit) for item in inputs] == [
        ("rudder", "deg"),
        ("force x", "N"),
        ("rotor speed 1", "rad/s"),
    ]
    assert inputs[2].values[0] == 500.0
    (shafts,) = vehicle_inputs(trace_of(Log({"otter": table({"cmd_left_radps": 90.0}, 5)})))
    assert (shafts.unit, shafts.values[0]) == ("rad/s", 90.0)


@pytest.mark.slow
def test_more_inputs_than_fit_beside_a_panel_are_counted():
    columns = {f"cmd_rotor_{n}_radps": float(n) for n in range(50)}
    figure = draw_overview(Log({"octo": table(columns, 5)}))
    axes = axes_labeled(figure, "inputs\n(rad/s)")
    assert len(axes.lines) == 50
    named = listed(axes)
    assert named[-1] == f"and {51 - len(named)} more"


def test_many_vehicles_are_compared_by_error_height_and_speed(figures):
    figure = figures["fleet"]
    for label in ("position error\n(m)", "height z\n(m)", "speed\n(m/s)"):
        curves = [line for line in axes_labeled(figure, label).lines if len(line.get_xdata()) > 2]
        assert len(curves) == 10
        assert len({line.get_color() for line in curves}) == 10
    names = [label for label in in_key(figure) if label.startswith("gull-")]
    assert names == [f"gull-{n}" for n in range(10)]


def test_a_vehicle_that_follows_a_deck_is_compared_by_how_far_beside_it_is(figures):
    axes = axes_labeled(figures["pair"], "beside the\ndeck\n(m)")
    (curve,) = (line for line in axes.lines if len(line.get_xdata()) > 2)
    np.testing.assert_allclose(curve.get_ydata(), 0.5)
    assert "position error\n(m)" not in [axes.get_ylabel() for axes in figures["pair"].axes]


def test_the_path_of_a_vehicle_that_follows_a_deck_is_dotted(figures):
    for axes in figures["pair"].axes[:2]:
        paths = [line for line in axes.lines if len(line.get_xdata()) > 2]
        solid = [line for line in paths if line.get_color() == HUES[0]]
        dotted = [line for line in paths if line.get_color() == HUES[1]]
        assert [line.get_linestyle() for line in solid] == ["-"]
        assert [line.get_linestyle() for line in dotted] == ["--"]
    assert "follows a deck" in in_key(figures["pair"])


def test_the_height_is_shaded_by_the_parts_of_the_only_task_that_has_some(figures):
    axes = axes_labeled(figures["pair"], "height z\n(m)")
    spans = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches]
    np.testing.assert_allclose(spans, [(0.0, 2.0), (2.0, 4.0), (4.0, 5.9)])
    assert not axes_labeled(figures["fleet"], "height z\n(m)").patches


def test_shaded_parts_are_named_by_the_events_that_they_began_with():
    log = paired_log()
    happened = [(0.0, "land: waiting"), (2.0, "land: approaching"), (2.0, "reached waypoint 1")]
    happened += [(4.0, "motors off"), (4.5, "touched down at 0.3 m/s")]
    figure = draw_overview(replace(log, events=tuple(Event(t, "drone", s) for t, s in happened)))
    names = ["land: waiting", "land: approaching", "motors off"]
    assert [label for label in in_key(figure) if label in names] == names
    # nor are they cut at their colons
    labels, _ = event_names(figure)
    assert {"drone land: waiting", "drone land: approaching"} <= set(labels)


@pytest.mark.slow
def test_many_waypoints_are_counted_and_not_marked():
    events = tuple(Event(0.5 * n, "pelican", f"reached waypoint {n}") for n in range(1, 22))
    figure = draw_overview(Log({"pelican": tour()}, (*events, Event(29.0, "pelican", "landed"))))
    assert event_names(figure) == (["landed"], "")
    assert "21 waypoints reached" in words(figure)[2]
    few = draw_overview(Log({"pelican": tour()}, events[:20]))
    assert not any("waypoints reached" in text for text in words(few))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "names"), [("cmd_left_radps", []), ("cmd_thrust_n", ["yaw", "setpoint"])]
)
def test_setpoint_position_has_no_speed_and_for_a_vessel_no_yaw(command, names):
    setpoints = {f"setpoint.position_{axis}_world_m": 5.0 for axis in "xyz"}
    setpoints |= {f"setpoint.velocity_{axis}_world_mps": 0.0 for axis in "xyz"}
    figure = draw_overview(
        Log({"a": table(setpoints | {"setpoint.yaw_rad": 0.3, command: 2.0}, 50)})
    )
    assert listed(axes_labeled(figure, "yaw\n(deg)")) == names
    # one curve needs no legend
    assert listed(axes_labeled(figure, "speed\n(m/s)")) == []
    moving = setpoints | {"setpoint.velocity_x_world_mps": 1.0}
    figure = draw_overview(Log({"a": table(moving, 50)}))
    assert listed(axes_labeled(figure, "speed\n(m/s)")) == ["speed", "setpoint"]


@pytest.mark.parametrize(
    ("name", "partner"),
    [("drone-02", "strider-02"), ("gull", "strider-01"), ("tern", None), ("strider-01", None)],
)
def test_a_partner_is_found_by_name_and_by_number(name, partner):
    scenario = {
        "vehicles": {
            "strider": {"count": 10},
            "drone": {"count": 10, "partner": "strider"},
            "gull": {"partner": "strider-01"},
            "tern": {"partner": "barge"},
        }
    }
    tables = dict.fromkeys(("strider-01", "strider-02", "drone-02", "gull", "tern"), table({}, 2))
    assert partner_of(name, Log(tables, (), scenario)) == partner


def test_without_set_points_only_height_and_speed_are_compared():
    log = Log({name: table({"z_m": 3.0}, 20) for name in "ab"})
    assert labels_of(draw_overview(log)) == ["height z\n(m)", "speed\n(m/s)"]


def test_many_vehicles_are_thinned_with_a_note(figures):
    figure = figures["crowd"]
    curves = axes_labeled(figure, "speed\n(m/s)").lines
    assert len([line for line in curves if len(line.get_xdata()) > 2]) == 1
    paths = figure.axes[1].lines
    assert len([line for line in paths if len(line.get_xdata()) > 2]) == 100
    assert "100 of 300 vehicles drawn" in words(figure)[2]
    assert not [label for label in in_key(figure) if label.startswith("gull")]
    assert axes_labeled(figure, "vehicle, in order").get_ylim() == (300.0, 1.0)


@pytest.mark.slow
def test_many_vehicles_over_time_are_median_and_bands():
    names = [f"drone-{number:02}" for number in range(1, 22)]
    tables = {
        name: table({"z_m": float(number), "vx_mps": 1.0}, 50) for number, name in enumerate(names)
    }
    figure = draw_overview(Log(tables, (), {}))
    (height,) = [axes for axes in figure.axes if axes.get_ylabel() == "height z\n(m)"]
    (median,) = height.lines
    np.testing.assert_allclose(median.get_ydata(), 10.0)
    extremes, most = (band.get_datalim(height.transData) for band in height.collections)
    assert (extremes.y0, extremes.y1) == pytest.approx((0.0, 20.0))
    assert (most.y0, most.y1) == pytest.approx((1.0, 19.0))
    shown = [text.get_text() for text in height.get_legend().get_texts()]
    assert shown == ["median", "5 to 95 %", "extremes"]


def test_a_setpoint_below_the_ground_is_not_drawn_over_time():
    setpoint = np.where(np.arange(50) < 25, 1.0, -2.0)
    columns = {"z_m": 1.0, "setpoint.position_z_world_m": setpoint}
    log = Log({"gull": table(columns, 50)}, (), {})
    (trace,) = select_traces(log, find_losses(log))
    panels = [panel for panel, _ in panels_over_time([trace], [HUES[0]], {}, many=False)]
    (height,) = (panel for panel in panels if "height" in panel.names)
    (drawn,) = (line.values for line in height.lines if line.kind == "setpoint")
    assert np.nanmin(drawn) == 1.0
    assert np.isnan(drawn[25:]).all()


def test_measured_concentrations_have_a_panel():
    log = Log({"gull": table({"sensor.smoke.concentration": 0.2}, 50)}, (), {})
    (trace,) = select_traces(log, find_losses(log))
    panels = [panel for panel, _ in panels_over_time([trace], [HUES[0]], {}, many=False)]
    (panel,) = (one for one in panels if one.names == ("concentration",))
    assert [line.label for line in panel.lines] == ["smoke"]


@pytest.mark.slow
def test_waypoints_of_line_of_sight_guidance_are_legs(tmp_path):
    simulation = load("otter-in-waves")
    simulation.run(3.0, out=tmp_path / "run")
    log = Log.read(tmp_path / "run")
    (trace,) = with_legs(select_traces(log, find_losses(log)), tmp_path / "run")
    assert trace.legs_world_m is not None
    assert with_legs([trace], None) == [trace]
    figure = draw_overview(log, tmp_path / "run")
    assert "legs" in [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.slow
def test_long_logs_are_thinned_to_two_thousand_rows_with_first_and_last():
    log = Log({"a": tour(rows=9001)})
    trace = trace_of(log)
    assert trace.step == 5
    assert len(trace.time_s) == 1801
    assert (trace.time_s[0], trace.time_s[-1]) == (0.0, 900.0)
    assert "one row in 5 drawn" in words(draw_overview(log))[2]


def test_paths_of_vehicles_that_flew_for_different_times_are_drawn_together(figures):
    log = Log({"early": tour(120), "long": tour(301)}, (), WAYPOINT_TOUR)
    figure = draw_overview(log, None)
    lengths = {len(line.get_data_3d()[0]) for line in figure.axes[0].lines}
    assert {120, 301} <= lengths


def test_lost_vehicles_of_a_crowd_are_always_drawn():
    names = [f"gull-{n}" for n in range(500)]
    lost = {f"gull-{n}" for n in (3, 77, 401)}
    events = tuple(Event(1.0, name, "lost: x_m outside its limits") for name in sorted(lost))
    log = Log(dict.fromkeys(names, hovering(0, rows=15)), events)
    traces = select_traces(log, find_losses(log))
    assert len(traces) == 100
    assert {trace.name for trace in traces if trace.loss is not None} == lost
    assert [trace.place for trace in traces] == sorted({trace.place for trace in traces})


def test_a_loss_is_found_in_events_in_the_status_and_in_the_numbers():
    sound = hovering(0)
    log = Log(
        {
            "reported": sound,
            "judged": changed(sound, "status", slice(40, None), 3.0),
            "broken": changed(sound, "qw", slice(50, None), np.nan),
            "sound": changed(sound, "x_m", slice(20, 30), np.nan),
        },
        (Event(2.05, "reported", "lost: z_m outside its limits"), Event(1.0, "sound", "reached 1")),
    )
    losses = find_losses(log)
    assert {name: (loss.time_s, loss.reason) for name, loss in losses.items()} == {
        "reported": (2.05, "lost: z_m outside its limits"),
        "judged": (4.0, "lost: y_m outside its limits"),
        "broken": (5.0, "diverged: not finite"),
    }
    assert np.array_equal(losses["reported"].position_world_m, sound.values[20, 1:4])


def test_a_lost_vehicle_has_a_cross_and_its_reason_on_the_maps(figures):
    figure = figures["fleet"]
    plan = figure.axes[1]
    [cross] = [line for line in plan.lines if line.get_marker() == "X"]
    at = np.array([cross.get_xdata()[0], cross.get_ydata()[0]])
    assert np.array_equal(at, hovering(1).values[30, 1:3])
    assert "lost: x_m outside its limits" in in_key(figure)


def test_a_diverging_vehicle_does_not_shrink_the_rest_of_the_picture(figures):
    figure = figures["diverging"]
    west, east = figure.axes[1].get_xlim()
    assert -40.0 < west < -1.0 < 1.0 < east < 40.0
    assert axes_labeled(figure, "speed\n(m/s)").get_ylim()[1] < 20.0
    assert axes_labeled(figure, "speed\n(m/s)").get_xlim() == (0.0, 30.0)
    assert "diverged: non-finite position_world_m" in in_key(figure)


def test_events_are_lines_in_every_panel_with_their_words_above(figures):
    for axes in over_time(figures["tour"]):
        lines = [line for line in axes.lines if np.ptp(line.get_xdata()) == 0.0]
        assert [line.get_xdata()[0] for line in lines] == [10.0, 20.0]
    assert event_names(figures["tour"]) == (["reached 1", "reached 2"], "")


@pytest.mark.slow
def test_names_of_events_never_cover_each_other_and_the_rest_is_counted():
    events = tuple(Event(0.03 * n, "pelican", f"reached {n}") for n in range(400))
    lost = Event(28.0, "pelican", "lost: x_m outside its limits")
    figure = draw_overview(Log({"pelican": tour()}, (*events, lost)))
    names, note = event_names(figure)
    assert names[0].startswith("lost")
    assert note == f"{len(names)} of 401 events named"
    texts = next(axes for axes in figure.axes[2:] if not axes.axison).texts
    boxes = page_boxes(figure, texts)
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_names_of_events_at_the_right_edge_stay_on_the_page(figures):
    names, _ = event_names(figures["late"])
    assert sorted(names) == ["lost: y_m = -0.0237243", "reached waypoint 109", "reached waypoint 8"]
    names, _ = event_names(figures["scattered"])
    assert sorted(names) == [
        "2 vehicles lost",
        "gull-3 reached waypoint 112233",
        "gull-9 lost",
    ]


def test_vehicles_that_left_the_same_limits_share_an_entry_of_the_key(figures):
    crosses = [label for label in in_key(figures["scattered"]) if "lost" in label]
    assert crosses == ["3 lost: y_m is not from -50 to 50"]
    crosses = [label for label in in_key(figures["late"]) if "lost" in label]
    assert crosses == ["lost: y_m is not from 0 to 20"]


def test_names_of_events_are_in_the_lowest_free_row():
    placed = []
    for span in ((0.0, 1.0), (0.5, 1.5), (0.9, 1.2), (3.0, 3.5), (1.0, 1.2)):
        placed.append((*span, free_row(span, placed)))
    assert [row for *_, row in placed] == [0, 1, 2, 0, 0]


def outer_words(axes):
    """An axes' words; numbers outside its limits keep a place although they are not shown."""
    low, high = sorted(axes.get_ylim())
    ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    numbers = [label for at, label in ticks if low <= at <= high]
    inside = [text for text in axes.texts if text.get_text()]
    names = [axes.xaxis.label, axes.yaxis.label, *numbers]
    if isinstance(axes, Axes3D):
        # words that stand in space have a place on the page only while they are drawn
        inside, names = [], [axes.xaxis.label, axes.yaxis.label, axes.zaxis.label]
    legend = [] if axes.get_legend() is None else [axes.get_legend()]
    return inside + [name for name in names if name.get_text() and axes.axison] + legend


@pytest.mark.parametrize("name", DRAWN)
def test_no_words_cover_other_words_or_leave_the_page(figures, name):
    figure = figures[name]
    artists = [text for text in figure.texts if text.get_text()]
    artists += [artist for axes in figure.axes for artist in outer_words(axes)]
    boxes = page_boxes(figure, artists)
    page = figure.bbox
    assert [a for a, box in zip(artists, boxes, strict=True) if not inside(page, box)] == []
    pairs = combinations(zip(artists, boxes, strict=True), 2)
    assert [(one, other) for (one, a), (other, b) in pairs if a.overlaps(b)] == []


@pytest.mark.slow
def test_the_title_says_what_was_flown_and_how_it_ended(figures):
    title, subtitle, _ = words(figures["tour"])
    assert title == "waypoint-tour"
    assert subtitle.split(" · ") == ["pelican", "30 s", "seed 7", "completed"]
    failed = summary(["pelican"], status="failed", reason="pelican: lost: x_m outside its limits")
    log = Log({"pelican": tour()}, (), {}, failed, complete=False)
    subtitle = words(draw_overview(log))[1]
    assert subtitle.endswith(
        "failed: pelican: lost: x_m outside its limits · the recording was cut off at 30 s"
    )


@pytest.mark.parametrize("log", [Log({}), Log({}, complete=False)])
def test_a_log_without_rows_is_not_drawn(log, tmp_path):
    with pytest.raises(LogError, match="there is nothing to draw"):
        save_overview(log, tmp_path / "overview.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_without_a_summary_the_title_comes_from_scenario_and_log():
    texts = words(draw_overview(Log({"a": tour()}, (), WAYPOINT_TOUR)))
    assert texts == ["waypoint-tour", "a · 30 s · seed 4"]


def test_the_footer_has_the_metrics(figures):
    footer = words(figures["tour"])[-1]
    assert footer.split(" · ") == [
        "tracking RMS 0.25 m",
        "max tilt 28.6°",
        "distance flown 80 m",
    ]
    footer = words(figures["fleet"])[-1]
    assert "tracking RMS 9.25 m (gull-9), median 4.75 m" in footer
    assert "min separation 4.5 m" in footer


def test_the_wind_is_named_by_where_it_comes_from(figures):
    traces = [trace_of(tour_log())]
    assert usual_wind(traces) == pytest.approx([3.0, 4.0], abs=0.1)
    # 180 + atan(3 / 4) degrees
    assert "wind 5 m/s from 217°" in in_key(figures["tour"])
    assert usual_wind([trace_of(Log({"a": hovering(0)}))]) is None


def test_boxes_and_decks_are_named_on_the_map_and_explained_in_the_key(figures):
    figure = figures["standing"]
    assert {text.get_text() for text in figure.axes[1].texts} >= {"draft 5 m/s", "ferry"}
    faces = [patch.get_xy() for patch in figure.axes[1].patches if isinstance(patch, Polygon)]
    # the four sides are lines from above
    flat = [set(map(tuple, face.tolist())) for face in faces if len(set(map(tuple, face))) == 4]
    assert {(3, -4), (3, 4), (7, -4), (7, 4)} in flat
    assert in_key(figure)[-3:] == ["box of wind", "deck at the end", "deck at the start"]


def test_a_deck_is_drawn_where_it_is_at_the_start_and_at_the_end(figures):
    plan = figures["standing"].axes[1]
    end = [patch.get_xy() for patch in plan.patches if isinstance(patch, Polygon)][-1]
    (start,) = [line.get_xydata() for line in plan.lines if len(line.get_xdata()) == 5]
    # turned by 90 degrees, it is 1 m long from west to east; it sails 5 m in 10 s
    for outline, west in ((start, 1.5), (end, 6.5)):
        corners = outline[:4]
        assert np.allclose(corners.min(axis=0), [west, 0.0], atol=1e-6)
        assert np.allclose(corners.max(axis=0), [west + 1.0, 2.0], atol=1e-6)


@pytest.mark.slow
def test_a_turned_box_is_drawn_as_it_lies():
    region = {"type": "wind", "wind_world_mps": [1, 0, 0], "yaw_deg": 45}
    region |= {"from_world_m": [1, -1, 0], "to_world_m": [3, 1, 4]}
    log = Log({"pelican": tour()}, (), WAYPOINT_TOUR | {"world": {"regions": {"jet": region}}})
    plan = draw_overview(log).axes[1]
    faces = [patch.get_xy()[:4] for patch in plan.patches if isinstance(patch, Polygon)]
    reach = 2.0**0.5
    corners = sorted(np.concatenate(faces).tolist())
    assert np.allclose(corners[0], [2.0 - reach, 0.0])
    assert np.allclose(corners[-1], [2.0 + reach, 0.0])


@pytest.mark.slow
def test_obstacles_are_outlined_and_named_where_they_stand():
    crate = {"type": "box", "center_world_m": [2.0, 1.0, 0.5], "sides_m": [2.0, 1.0, 1.0]}
    shape = {"type": "mesh", "file": "elsewhere.stl"}
    world = {"obstacles": {"crate": crate, "unread": shape}}
    log = Log({"pelican": tour()}, (), WAYPOINT_TOUR | {"world": world})
    figure = draw_overview(log)
    plan = figure.axes[1]
    assert "crate" in {text.get_text() for text in plan.texts}
    assert "obstacle" in in_key(figure)
    drawn = [line.get_xydata() for line in plan.lines if line.get_color() == OBSTACLE]
    corners = np.concatenate(drawn)
    assert np.allclose(np.nanmin(corners, axis=0), [1.0, 0.5])
    assert np.allclose(np.nanmax(corners, axis=0), [3.0, 1.5])


TRIANGLE = "solid s\nfacet normal 0 0 1\nouter loop\n{}endloop\nendfacet\nendsolid s\n"
CORNERS = "".join(f"vertex {x} {y} 0\n" for x, y in ((1, 2), (4, 2), (1, 6)))


@pytest.mark.slow
def test_an_obstacle_from_a_file_is_outlined_if_the_file_is_in_the_folder(tmp_path):
    (tmp_path / "rock.stl").write_text(TRIANGLE.format(CORNERS))
    world = {"obstacles": {"rock": {"type": "mesh", "file": "rock.stl"}}}
    log = Log({"pelican": tour()}, (), WAYPOINT_TOUR | {"world": world})
    there, gone = draw_overview(log, tmp_path), draw_overview(log)
    drawn = [line.get_xydata() for line in there.axes[1].lines if line.get_color() == OBSTACLE]
    # the box around triangles leaves a hair of room
    assert np.allclose(np.nanmin(np.concatenate(drawn), axis=0), [1.0, 2.0], atol=1e-3)
    assert np.allclose(np.nanmax(np.concatenate(drawn), axis=0), [4.0, 6.0], atol=1e-3)
    assert any(
        "not drawn: rock, whose file is not in the folder" in t.get_text() for t in gone.texts
    )
    assert not any("not drawn" in text.get_text() for text in there.texts)


AREA = {"x_m": [-40, 40], "y_m": [-40, 40], "z_m": [0, 40]}


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.slow
def test_ground_and_persons_are_where_the_flight_had_them(precision):
    world = {"area": AREA, "terrain": {"type": "pour", "persons": [5, 5]}}
    single = precision == "float32"
    with jax.enable_x64(not single):
        state = load("person-search", {"world": world}, precision).init(seed_key(3))
    begun = jax.tree.map(np.asarray, state.processes["terrain"].state)
    places = begun.persons_world_m.astype(float)
    given = {"world": world, "time": {"rate_hz": 50}}
    layers = find_map_objects(given, FlightConditions(seed=3, single_precision=single)).layers
    np.testing.assert_array_equal(layers.persons.positions_world_m[:, :2], places)
    np.testing.assert_array_equal(layers.ground.classes, begun.classes)


def test_ground_persons_and_plumes_are_on_the_map_and_explained_beside_it():
    sources = {"positions_world_m": [[3, 4, 10], [7, 8, 10]]}
    smoke = {"type": "gaussian-dispersion", "sources": sources}
    cloud = {"type": "gaussian", "position_world_m": [-5, -6, 10]}
    world = {"area": AREA, "terrain": "pour", "plumes": {"smoke": smoke, "cloud": cloud}}
    world |= {"wind": {"type": "shear", "speed_at_6m_mps": 3, "from_deg": 270}}
    given = WAYPOINT_TOUR | {"world": world, "time": {"rate_hz": 50}}
    figure = draw_overview(Log({"pelican": tour()}, (), given))
    plan = figure.axes[1]
    marks = [line.get_xydata().tolist() for line in plan.lines if line.get_marker() == "^"]
    assert marks == [[[3.0, 4.0]], [[7.0, 8.0]], [[-5.0, -6.0]]]
    assert [text.get_text() for text in plan.texts].count("smoke") == 2
    assert len(plan.images) == 1
    assert set(in_key(figure)) >= {"clutter", "hides persons", "person", "source of a plume"}


def test_the_precision_of_a_flight_is_in_its_summary_or_shows_in_its_places():
    flown = tour()
    rounded = Table(flown.columns, flown.values.astype(np.float32).astype(float), QUANTITIES)
    whole, cut = ([trace_of(Log({"a": table}))] for table in (flown, rounded))
    assert not in_single_precision(whole, None)
    assert in_single_precision(cut, None)
    # such as one at rest, whose places fit into 32 bits
    assert not in_single_precision(cut, {"metrics": {}})
    assert in_single_precision(whole, {"metrics": {"precision": "float32"}})


def test_a_box_crossed_on_the_way_is_not_the_wind_but_a_curve(figures):
    figure = figures["standing"]
    assert usual_wind([trace_of(LOGS["standing"]())]) is None
    assert listed(axes_labeled(figure, "wind\n(m/s)")) == ["x", "y", "z"]


@pytest.mark.parametrize(
    "world",
    [
        {"regions": {"draft": DRAFT | {"type": "no such kind"}}},
        {"regions": ["draft"]},
        {"platforms": {"ferry": FERRY | {"length_m": -1}}},
        {"obstacles": ["crate"]},
        {"obstacles": {"crate": {"type": "box"}}},
    ],
)
def test_a_world_that_no_scenario_may_have_is_drawn_empty(world):
    scene = build_map_scene([trace_of(tour_log())], {"world": world})
    assert scene.objects.extents == []


def test_distant_objects_do_not_shrink_the_paths():
    far = DRAFT | {"from_world_m": [-900, -900, 0], "to_world_m": [900, 900, 500]}
    near = build_map_scene([trace_of(LOGS["standing"]())], {"world": {"regions": {"draft": DRAFT}}})
    wide = build_map_scene([trace_of(LOGS["standing"]())], {"world": {"regions": {"draft": far}}})
    assert near.low[1] < -4.0
    assert near.high[1] > 4.0
    assert max(wide.high - wide.low) < 15.0


def test_axes_never_magnify_rounding(figures):
    for axes in over_time(figures["flat"]):
        # noise of 1e-13 is a straight line
        assert np.ptp(axes.get_ylim()) > 0.99e-4
        assert axes.yaxis.get_offset_text().get_text() == ""


def test_commands_are_dashed_in_the_color_of_what_follows_them(figures):
    axes = axes_labeled(figures["battery"], "inputs\n(rad/s)")
    commands, rotors = axes.lines[:4], axes.lines[4:8]
    assert all(line.is_dashed() for line in commands)
    assert not any(line.is_dashed() for line in rotors)
    assert [line.get_color() for line in commands] == [line.get_color() for line in rotors]
    assert listed(axes)[:5] == [*(f"rotor {n}" for n in range(4)), "command"]


def test_yaw_begins_within_half_a_turn_and_goes_on_from_there():
    falling = np.linspace(-100.0, -650.0, 400)
    smooth = readable_yaw_deg((falling + 180.0) % 360.0 - 180.0)
    assert np.allclose(smooth, falling, atol=1e-9)


def test_set_points_above_each_other_share_a_mark_on_the_map():
    places = np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [2.0, 0.0, 0.0]])
    assert stops(places, 2) == {(0.0, 0.0): [1], (2.0, 0.0): [2, 3]}


def test_set_points_are_numbered_in_the_order_of_the_tour(figures):
    assert stops(PLACES_M[[0, 0, 1, 2, 0]]) == {
        (0.0, 30.0, 12.0): [1, 4],
        (25.0, 30.0, 18.0): [2],
        (0.0, 0.0, 10.0): [3],
    }
    assert [text.get_text() for text in figures["tour"].axes[1].texts] == ["1", "2", "3"]
    assert "setpoint" in in_key(figures["tour"])


def test_a_moving_set_point_is_a_line():
    time_s = np.arange(200) / RATE_HZ
    columns = {f"setpoint.position_{axis}_world_m": time_s for axis in "xyz"}
    plan = draw_overview(Log({"a": table(columns | {"x_m": time_s}, 200)})).axes[1]
    assert not [line for line in plan.lines if line.get_marker() == "D"]
    assert any(line.get_linestyle() == "--" for line in plan.lines)


@pytest.mark.slow
@pytest.mark.parametrize(("limits", "drawn"), [([-2, 35], True), ([-1000, 1000], False)])
def test_the_flight_area_is_drawn_where_it_is_in_the_map(limits, drawn):
    area = {"x_m": limits, "y_m": limits, "z_m": [0, 40]}
    scenario = {"world": {"area": area}}
    free = build_map_scene([trace_of(tour_log())], {})
    scene = build_map_scene([trace_of(tour_log())], scenario)
    assert (scene.area is not None) == drawn
    # nor does it change the limits
    np.testing.assert_array_equal([scene.low, scene.high], [free.low, free.high])
    figure = draw_overview(Log({"pelican": tour()}, (), scenario))
    assert ("flight area" in in_key(figure)) == drawn


def test_shadows_fall_on_the_ground_if_it_is_near():
    near = build_map_scene([trace_of(tour_log())], {"world": {"ground_z_m": -5.0}})
    assert near.grounded
    assert near.low[2] == -5.0
    assert not build_map_scene([trace_of(tour_log())], {"world": {"ground_z_m": -500.0}}).grounded


LANDING = (
    *(Event(0.5 * n, "gull", f"phase {n} of the approach, which goes on") for n in range(12)),
    Event(9.0, "gull", "touched down at 0.3 m/s"),
    Event(9.3, "gull", "land: motors off"),
    Event(30.0, "ferry", "not finished"),
)


@pytest.mark.slow
@pytest.mark.parametrize("crew", [("gull",), ("gull", "ferry")])
def test_landings_are_named_before_phases_and_unfinished_tasks_last(crew):
    labels, note = event_names(draw_overview(Log(dict.fromkeys(crew, tour()), LANDING)))
    assert any("touched down" in label for label in labels)
    assert any("motors off" in label for label in labels)
    # phases were left out
    assert len(labels) < len(LANDING) - 1
    assert note == f"{len(labels)} of {len(LANDING)} events named"
    assert not any("not finished" in label for label in labels)


def test_set_points_below_the_ground_do_not_open_the_picture_downwards():
    rows = 100
    height_m = np.linspace(2.0, 0.0, rows)
    wanted = {f"setpoint.position_{axis}_world_m": 0.0 for axis in "xy"}
    wanted["setpoint.position_z_world_m"] = height_m - 2.5
    log = Log({"gull": table({"z_m": height_m} | wanted, rows)})
    space = draw_overview(log).axes[0]
    assert space.get_zlim()[0] == pytest.approx(0.0)
    drawn = np.concatenate([np.asarray(line.get_data_3d(), float)[2] for line in space.lines])
    assert np.nanmin(drawn) >= 0.0


def test_a_commanded_attitude_is_drawn_in_angles_beside_the_actual_one():
    rows, half = 50, np.radians(15.0)
    quaternion = {"w": np.cos(half), "x": 0.0, "y": np.sin(half), "z": 0.0}
    commands = {f"cmd_q_world_from_body_{part}": value for part, value in quaternion.items()}
    trace = trace_of(Log({"gull": table(commands | {"cmd_thrust_n": 5.0}, rows)}))
    assert [item.label for item in vehicle_inputs(trace)] == ["thrust"]
    tilt = curves_of(trace)["attitude\n(deg)"]
    roll, pitch = (line for line in tilt.lines if line.kind == "setpoint")
    np.testing.assert_allclose(roll.values, 0.0, atol=1e-12)
    np.testing.assert_allclose(pitch.values, 30.0, rtol=1e-12)


def surface_log():
    """Two meters above a slope of 45 degrees that is larger than the flight."""
    north_m = np.linspace(0.0, 10.0, 60)
    distances = {"setpoint.distance_m": 1.5, "setpoint.wanted_distance_m": 1.0}
    columns = {"y_m": north_m, "z_m": north_m + 2.0} | distances
    # its upper side passes through y = z
    middle = [0.0, np.sqrt(0.5), -np.sqrt(0.5)]
    slope = {"type": "box", "center_world_m": middle, "sides_m": [400, 400, 2], "roll_deg": 45}
    return Log({"gull": table(columns, 60)}, (), {"world": {"obstacles": {"slope": slope}}})


@pytest.mark.slow
def test_a_surface_larger_than_the_flight_is_drawn_below_it():
    log = surface_log()
    traces = [trace_of(log)]
    scene = build_map_scene(traces, log.scenario)
    assert scene.low[2] < 0.1
    (surface,) = surfaces_in(scene.large, scene.low, scene.high)
    up = np.broadcast_to(surface.y_m[:, None], surface.z_m.shape)
    known = np.isfinite(surface.z_m)
    assert np.count_nonzero(known) > 0.5 * known.size
    # single precision over 10 m
    np.testing.assert_allclose(surface.z_m[known], up[known], atol=1e-4)
    space, plan = draw_overview(log).axes[:2]
    assert any(isinstance(part, Poly3DCollection) for part in space.collections)
    assert any(isinstance(part, ContourSet) for part in plan.collections)


def test_the_distance_to_a_followed_surface_has_a_panel():
    axes = axes_labeled(draw_overview(surface_log()), "distance\n(m)")
    measured, wanted = (line.get_ydata()[0] for line in axes.lines[:2])
    assert (measured, wanted) == (1.5, 1.0)


def rounds(count):
    """The same four corners several times."""
    corners_m = np.array([[0.0, 0.0], [0.0, 5.0], [0.3, 5.0], [0.3, 0.0]])
    ends = np.repeat(np.tile(corners_m, (count, 1)), 20, axis=0)
    columns = {"x_m": ends[:, 0], "y_m": ends[:, 1], "z_m": 5.0}
    columns |= {"setpoint.position_x_world_m": ends[:, 0]}
    columns |= {"setpoint.position_y_world_m": ends[:, 1], "setpoint.position_z_world_m": 5.0}
    return Log({"gull": table(columns, len(ends))})


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 9])
def test_numbers_of_waypoints_do_not_cover_each_other(count):
    figure = draw_overview(rounds(count))
    numbers = [text for text in figure.axes[1].texts if text.get_text()[:1].isdigit()]
    assert len(numbers) == 4
    assert (count > 3) == numbers[0].get_text().endswith("…")
    boxes = page_boxes(figure, numbers)
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_between_waypoints_the_error_is_the_distance_from_the_leg():
    rows = 101
    east_m = np.linspace(0.0, 100.0, rows)
    beside_m = np.where(east_m < 50.0, 0.5, 0.0)
    columns = {"x_m": east_m, "y_m": beside_m, "guidance.legs": east_m // 50.0}
    columns |= {"setpoint.position_x_world_m": np.where(east_m < 50.0, 50.0, 100.0)}
    columns |= {"setpoint.position_y_world_m": 0.0, "setpoint.position_z_world_m": 0.0}
    legged = table(columns, rows)
    holding = hovering(1, rows)
    figure = draw_overview(Log({"surveyor": legged, "still": holding}))
    (across,) = axes_labeled(figure, "cross-track error\n(m)").lines[:1]
    # the first leg begins where the vehicle did, 0.5 m beside the line
    expected = np.where(east_m < 50.0, 0.5 * east_m / 50.0, 0.0)
    np.testing.assert_allclose(across.get_ydata(), expected, atol=1e-4)
    (error,) = axes_labeled(figure, "position error\n(m)").lines[:1]
    np.testing.assert_allclose(
        error.get_ydata(), np.abs(0.3 * np.sin(np.arange(rows) / 10 + 1)) * np.sqrt(3.0)
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_vector_files_hold_text_and_are_the_same_each_time(kind, tmp_path):
    for name in ("a", "b"):
        save_overview(fleet_log(3), tmp_path / f"{name}.{kind}")
    first = (tmp_path / f"a.{kind}").read_bytes()
    assert first == (tmp_path / f"b.{kind}").read_bytes()
    if kind == "svg":
        assert b"waypoint-tour</text>" in first


@pytest.mark.slow
def test_the_paper_style_is_a_column_in_eight_points_without_a_title():
    figure = draw_overview(tour_log(), style=PAPER)
    assert figure.get_figwidth() == 3.5
    assert words(figure) == []
    # one column of panels
    left = [axes.get_position().x0 for axes in over_time(figure)]
    assert max(left) < 0.35
    texts = figure.findobj(matplotlib.text.Text)
    assert {text.get_fontsize() for text in texts if text.get_text()} == {8.0}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tour", "pair", "scattered", "battery"])
def test_no_labels_of_a_paper_cover_each_other(name):
    figure = draw_overview(LOGS[name](), style=PAPER)
    artists = [artist for axes in figure.axes for artist in outer_words(axes)]
    artists += list(figure.legends)
    boxes = zip(artists, page_boxes(figure, artists), strict=True)
    assert [(a, b) for (a, one), (b, two) in combinations(boxes, 2) if one.overlaps(two)] == []


@pytest.mark.slow
def test_only_the_named_panels_are_drawn():
    figure = Log({"pelican": tour()}).plot(only=["position", "speed"])
    # the height belongs to the position
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["position\n(m)", "height\n(m)", "speed\n(m/s)"]
    assert in_key(figure) == []
    assert [axes.get_ylabel() for axes in tour_log().plot(only=["map"]).axes] == ["north y (m)"]
    east = fleet_log(3).plot(only=["position"]).axes[0]
    assert east.get_ylabel() == "east x\n(m)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": ["position", "sped"]}, r"`only`: got sped; unknown. Did you mean 'speed'\?"),
        # a flight without waves
        ({"only": ["waves"]}, r"`only`: got waves; unknown. .*Allowed: 3d, attitude, .*yaw"),
        ({"style": "papr"}, r"`style`: got papr; unknown. Did you mean 'paper'\? Allowed: paper"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest_one(options, message):
    with pytest.raises(LogError, match=message):
        tour_log().plot(**options)


@pytest.mark.slow
def test_a_second_run_is_dashed_in_the_colors_of_the_first_one():
    later = changed(tour(), "x_m", slice(None), 7.0)
    both = SecondRun(Log({"pelican": later, "gull": tour()}), ("calm", "windy"))
    figure = draw_overview(tour_log(), second=both)
    axes = axes_labeled(figure, "position\n(m)")
    (dashed,) = [line for line in axes.lines if np.all(np.equal(line.get_ydata(), 7.0))]
    (solid,) = [
        line
        for line in axes.lines
        if np.array_equal(line.get_ydata(), tour_log().column("pelican", "x_m"))
    ]
    assert (dashed.get_color(), dashed.is_dashed()) == (solid.get_color(), True)
    assert not solid.is_dashed()
    assert in_key(figure)[-2:] == ["calm", "windy"]
    west = [line.get_xdata()[0] for line in figure.axes[1].lines if len(line.get_xdata()) > 99]
    assert 7.0 in west


@pytest.mark.slow
def test_two_runs_are_described_with_their_names():
    failed = Log(
        {"pelican": tour()},
        summary={"scenario": "gusts", "status": "failed", "seed": 3, "duration_s": 2.0},
    )
    texts = draw_overview(tour_log(), second=SecondRun(failed, ("calm", "windy"))).texts
    words = {text.get_text(): text for text in texts}
    assert "waypoint-tour and gusts" in words
    calm, windy = (
        next(line for line in words if line.startswith(f"{name}: pelican"))
        for name in ("calm", "windy")
    )
    assert "seed 7" in calm
    assert "seed 3" in windy
    assert words[windy].get_color() == ALARM != words[calm].get_color()
    assert any(line.startswith("calm: tracking RMS") for line in words)


def test_maps_contain_the_paths_of_both_runs():
    far = SecondRun(Log({"pelican": changed(tour(), "x_m", slice(None), 70.0)}), ("near", "far"))
    left, right = draw_overview(tour_log(), second=far, only=["map"]).axes[0].get_xlim()
    assert left < tour_log().column("pelican", "x_m").min()
    assert right > 70.0


def test_vehicles_of_two_runs_are_compared_by_name():
    first, second = fleet_log(3), fleet_log(5)
    figure = first.plot(second)
    curves = [line for line in axes_labeled(figure, "speed\n(m/s)").lines if line.is_dashed()]
    assert len([line for line in curves if len(line.get_xdata()) > 2]) == 3
    with pytest.raises(
        LogError, match="no vehicle in common: first run has pelican; second run has gull-0, gull-1"
    ):
        tour_log().plot(second)


def test_a_far_set_point_does_not_open_the_map():
    rows = 100
    far = {
        f"setpoint.position_{axis}_world_m": at for axis, at in zip("xyz", (160, 0, 0), strict=True)
    }
    log = Log({"otter": table({"x_m": np.linspace(0.0, 10.0, rows)} | far, rows)})
    figure = draw_overview(log)
    assert figure.axes[1].get_xlim()[1] < 12.0
    assert "setpoints outside the map: 1" in words(figure)[2]


@pytest.mark.slow
def test_important_events_are_named_however_many_others_there_are():
    words_of = ["touched down at 0.1 m/s", "land: motors off", "motor 2 fails: it keeps 0 %"]
    others = tuple(Event(10.0 + 0.1 * n, "gull", f"phase {n}") for n in range(30))
    late = tuple(Event(10.0 + n, "gull", word) for n, word in enumerate(words_of * 4))
    names, _ = event_names(draw_overview(Log({"gull": tour()}, (*others, *late))))
    assert sorted(name for name in names if not name.startswith("phase")) == sorted(words_of * 4)


def test_estimation_errors_have_a_band_of_three_deviations():
    rows = 50
    columns = {f"estimate.{axis}_m": 0.1 * np.arange(rows) for axis in "xyz"}
    columns |= {"estimate.cov_x_x": 0.04, "estimate.cov_y_y": 0.0}
    panel = curves_of(trace_of(Log({"a": table(columns, rows)})))["estimation error\n(m)"]
    x, y, _ = panel.lines
    np.testing.assert_allclose(x.values, -0.1 * np.arange(rows))
    np.testing.assert_allclose(x.band, [np.full(rows, -0.6), np.full(rows, 0.6)])
    assert y.band is None
    exact = {f"estimate.{axis}_m": 0.0 for axis in "xyz"}
    assert "estimation error\n(m)" not in curves_of(trace_of(Log({"a": table(exact, rows)})))


def test_contact_and_waves_are_shown():
    time_s = np.arange(50) / RATE_HZ
    columns = {"contact": time_s > 2.05, "water_height_m": np.sin(time_s)}
    panels = curves_of(trace_of(Log({"otter": table(columns, 50)})))
    assert panels["height\n(m)"].contacts == ((2.1, 4.9),)
    assert [line.label for line in panels["water\n(m)"].lines] == ["surface", "vehicle"]
