"""Sensor pages: grouping of columns, and drawing."""

import numpy as np
import pytest

from kittiwake.analysis.log import Log
from kittiwake.analysis.plots.sensor_quantities import quantities
from kittiwake.analysis.plots.sensors import MAX_ROWS, draw_page, save_sensor_pages
from kittiwake.analysis.plots.style import INK, PAPER
from kittiwake.analysis.table import Table
from kittiwake.core.errors import LogError

TIMES = np.linspace(0.0, 1.0, 11)


def log_of(columns):
    """A log of a vehicle with these columns beside time and status."""
    given = {"time_s": TIMES, **columns, "status": 0.0 * TIMES}
    values = np.stack([np.broadcast_to(column, TIMES.shape) for column in given.values()], axis=1)
    return Log({"tern": Table(tuple(given), values), "gull": Table(("time_s",), TIMES[:, None])})


@pytest.fixture
def log():
    fresh = np.arange(11) % 2 == 0
    imu = {
        f"sensor.imu.angular_velocity_{axis}_body_radps": i + TIMES for i, axis in enumerate("xyz")
    }
    ideal = {name.replace("sensor.", "ideal."): 0.25 for name in imu}
    lidar = {f"sensor.lidar.ranges_{i}_m": i + TIMES for i in range(40)}
    return log_of(
        {
            **imu,
            **ideal,
            "sensor.imu.fresh": fresh,
            **lidar,
            "sensor.lidar.fresh": 1.0,
            "estimate.x_m": 0.0,
        }
    )


def test_the_parts_of_a_vector_are_one_quantity_in_the_unit_that_people_read(log):
    imu, _ = quantities(log, "tern")
    assert imu.title == "imu: angular velocity body (deg/s)"
    np.testing.assert_allclose(imu.measured[0], np.degrees([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(imu.ideal, np.degrees(0.25))


def test_only_new_samples_are_shown(log):
    imu, lidar = quantities(log, "tern")
    np.testing.assert_array_equal(imu.time_s, TIMES[::2])
    np.testing.assert_array_equal(lidar.time_s, TIMES)


def test_an_array_is_one_quantity_without_an_ideal_if_none_is_logged(log):
    _, lidar = quantities(log, "tern")
    assert lidar.measured.shape == (11, 40)
    assert lidar.ideal is None


@pytest.mark.slow
def test_every_vehicle_with_sensors_gets_a_page(log, tmp_path):
    assert save_sensor_pages(log, tmp_path) == [tmp_path / "sensors-tern.png"]
    assert (tmp_path / "sensors-tern.png").stat().st_size > 10_000


def test_errors_are_shown_with_mean_and_deviation(log):
    figure = draw_page("tern", quantities(log, "tern"))
    titles = [axes.get_title(loc="left").replace("\n", " ") for axes in figure.axes]
    # a mean of 0.5 - 0.25 rad/s, and the deviation of 0, 0.2, ... 1 rad/s
    assert "error: x 14.3 ± 19.6, y 71.6 ± 19.6, z 129 ± 19.6" in titles


def texts_on(figure):
    return [text.get_text() for text in figure.texts]


def over_time(figure):
    """The axes whose times are shown, which frames and scales of colors do not have."""
    return [axes for axes in figure.axes if axes.axison and axes.get_title(loc="left")]


def row_of(figure, title):
    """The axes of a quantity: measurements, and the error beside them."""
    axes = next(axes for axes in figure.axes if axes.get_title(loc="left").startswith(title))
    y = axes.get_position().y0
    errors = (a for a in figure.axes if a.get_position().x0 > axes.get_position().x1)
    return axes, min(errors, key=lambda other: abs(other.get_position().y0 - y))


def camera_log(rows, columns, times=TIMES):
    """Of a camera without errors, and a range with an error that grows."""
    pixels = [(v, u) for v in range(rows) for u in range(columns)]
    given = {}
    for kind in ("sensor", "ideal"):
        given |= {f"{kind}.camera.depth_{v}_{u}_m": 10.0 * v + u for v, u in pixels}
        given |= {f"{kind}.camera.valid_{v}_{u}": u != 0 for v, u in pixels}
        given |= {f"{kind}.nose.range_m": times * (kind == "sensor")}
    return log_of(given | {"sensor.camera.fresh": 1.0, "sensor.nose.fresh": 1.0})


def test_a_page_says_which_samples_it_shows_and_that_latency_is_no_error(log):
    text = " ".join(texts_on(draw_page("tern", quantities(log, "tern"))))
    assert "at most 2,000 samples drawn" in text
    assert "without errors (dark lines)" in text
    assert "A latency delays both and is not an error here" in text


@pytest.mark.slow
def test_further_quantities_are_on_the_next_page(tmp_path):
    names = [f"s{i}" for i in range(MAX_ROWS + 2)]
    columns = {f"sensor.{name}.range_m": 1.0 for name in names}
    many = log_of(columns | {f"sensor.{name}.fresh": 1.0 for name in names})
    second = draw_page("tern", quantities(many, "tern"), 1)
    titles = [axes.get_title(loc="left") for axes in second.axes]
    assert [title for title in titles if title] == ["s8: range (m)", "s9: range (m)"]
    assert "page 2 of 2" in texts_on(second)[0]
    written = save_sensor_pages(many, tmp_path)
    assert written == [tmp_path / "sensors-tern.png", tmp_path / "sensors-tern-2.png"]


@pytest.mark.slow
def test_a_second_page_is_not_written_over_the_page_of_another_vehicle(tmp_path):
    columns = {f"sensor.s{i}.range_m": 1.0 for i in range(MAX_ROWS + 1)}
    fresh = {f"sensor.s{i}.fresh": 1.0 for i in range(MAX_ROWS + 1)}
    crowded = log_of(columns | fresh).tables["tern"]
    alone = log_of({"sensor.s1.range_m": 1.0, "sensor.s1.fresh": 1.0}).tables["tern"]
    written = save_sensor_pages(Log({"tern": crowded, "tern-2": alone}), tmp_path)
    names = ["sensors-tern.png", "sensors-tern-page-2.png", "sensors-tern-2.png"]
    assert [path.name for path in written] == names


def test_only_wanted_sensors_are_drawn(log, tmp_path):
    (lidar,) = quantities(log, "tern", ["lidar"])
    assert lidar.title == "lidar: ranges (m)"
    assert save_sensor_pages(log, tmp_path, ["lidar"]) == [tmp_path / "sensors-tern.png"]


def test_a_sensor_that_no_vehicle_has_is_refused_with_the_nearest_name(log, tmp_path):
    with pytest.raises(LogError, match=r"--sensor lidr: .* Did you mean 'lidar'\?"):
        save_sensor_pages(log, tmp_path, ["imu", "lidr"])
    assert not list(tmp_path.iterdir())


def test_curves_and_maps_of_a_page_share_their_axis_of_time(log):
    found = over_time(draw_page("tern", quantities(log, "tern")))
    left = [axes for axes in found if axes.get_position().x0 < 0.5]
    assert len(left) == 2
    assert len({(a.get_position().x0, a.get_position().x1, *a.get_xlim()) for a in left}) == 1


def test_an_image_is_shown_in_frames_over_time():
    depth, valid, _ = quantities(camera_log(3, 4), "tern")
    assert (depth.shape, valid.shape) == ((3, 4), (3, 4))
    shown = draw_page("tern", [depth]).axes[0].child_axes
    assert [frame.get_xlabel() for frame in shown] == [
        f"{t:g} s" for t in (0, 0.2, 0.4, 0.6, 0.8, 1)
    ]
    np.testing.assert_array_equal(shown[0].images[0].get_array()[2], [20.0, 21.0, 22.0, 23.0])


def test_flags_and_counts_are_steps_without_an_error():
    wrong = np.where(TIMES < 0.25, 0.0, 1.0)
    columns = {"sensor.gps.valid": wrong, "ideal.gps.valid": 1.0}
    columns |= {"sensor.gps.satellites": 7.0, "ideal.gps.satellites": 8.0, "sensor.gps.fresh": 1.0}
    valid, satellites = quantities(log_of(columns), "tern")
    assert (valid.flag, satellites.flag, satellites.whole) == (True, False, True)
    figure = draw_page("tern", [valid, satellites])
    titles = [axes.get_title(loc="left") for axes in over_time(figure)]
    assert titles[0] == "gps: valid (27 % differ from without errors)"
    assert not any(title.startswith("error") for title in titles)
    assert {line.get_drawstyle() for line in figure.axes[0].lines} == {"steps-post"}


def test_ideal_values_are_dark_lines_above_the_samples(log):
    lines = draw_page("tern", quantities(log, "tern")).axes[0].lines
    dots = [line for line in lines if line.get_marker() == "."]
    ideal = [line for line in lines if line.get_linestyle() == "-"]
    assert len(dots) == len(ideal) == 3
    assert {line.get_color() for line in ideal} == {INK}
    assert min(line.zorder for line in ideal) > max(line.zorder for line in dots)


def test_the_members_of_an_array_have_their_names():
    columns = {f"sensor.turns.ranges_{i}_m": i + TIMES for i in range(5)}
    given = log_of(columns | {"sensor.turns.fresh": 1.0})
    (numbered,) = quantities(given, "tern")
    assert numbered.parts[:2] == ("beam 0", "beam 1")
    sensors = {"sensors": {"turns": {"type": "ultrasonic-array"}}}
    tables = {"tern-1": given.tables["tern"]}
    known = Log(tables, scenario={"vehicles": {"tern": sensors}})
    (found,) = quantities(known, "tern-1")
    assert found.parts == ("front", "bottom", "left", "right", "back")


def test_infinite_numbers_have_no_error():
    columns = {"sensor.sonar.range_m": np.inf, "ideal.sonar.range_m": np.inf}
    found = quantities(log_of(columns | {"sensor.sonar.fresh": 1.0}), "tern")
    texts = [text.get_text() for axes in draw_page("tern", found).axes for text in axes.texts]
    assert "no error" in texts


def test_invalid_samples_do_not_count_in_errors():
    beams = {
        **{f"sensor.lidar.ranges_{i}_m": 5.0 + i for i in range(2)},
        **{f"ideal.lidar.ranges_{i}_m": 4.0 for i in range(2)},
        **{f"sensor.lidar.valid_{i}": float(i) for i in range(2)},
        **{f"ideal.lidar.valid_{i}": 1.0 for i in range(2)},
        "sensor.lidar.fresh": 1.0,
    }
    ranges, flags = quantities(log_of(beams), "tern")
    np.testing.assert_array_equal(ranges.error[0], [np.nan, 2.0])
    low, high = row_of(draw_page("tern", [ranges, flags]), "lidar: valid")[0].get_ylim()
    # both lanes whole, whatever the flags are
    assert low < 0.0
    assert high > 1.0


def test_angles_differ_by_half_a_turn_at_most():
    ideal = np.radians(np.linspace(170.0, 190.0, 11))
    wrapped = {
        "sensor.deck.yaw_rad": np.angle(np.exp(1j * (ideal + np.radians(3.0)))),
        "ideal.deck.yaw_rad": np.angle(np.exp(1j * ideal)),
    }
    (yaw,) = quantities(log_of(wrapped | {"sensor.deck.fresh": 1.0}), "tern")
    np.testing.assert_allclose(yaw.error, 3.0)
    figure = draw_page("tern", [yaw])
    assert "error: 3 ± " in row_of(figure, "deck")[1].get_title(loc="left")
    _, line = figure.axes[0].lines
    # from 180 to -180 without a line
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(line.get_ydata())), [6])


def test_invalid_samples_are_gaps():
    found = TIMES < 0.55
    given = {f"{kind}.marker.x_m": np.where(found, 2.0, 0.0) for kind in ("sensor", "ideal")}
    flags = {f"{kind}.marker.valid": found for kind in ("sensor", "ideal")}
    marker = log_of(given | flags | {"sensor.marker.fresh": 1.0})
    figure = draw_page("tern", quantities(marker, "tern"))
    for line in figure.axes[0].lines:
        np.testing.assert_array_equal(np.isfinite(line.get_ydata()), found)
    # the flag, which has none, tells the same
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert not any(title.startswith("marker: valid") for title in titles)
    alone = quantities(log_of(flags | {"sensor.marker.fresh": 1.0}), "tern")
    flag, _ = row_of(draw_page("tern", alone), "marker: valid")
    assert np.isfinite(flag.lines[0].get_ydata()).all()
    lost = {f"{kind}.marker.valid": 0.0 for kind in ("sensor", "ideal")}
    (never, _) = quantities(log_of(given | lost | {"sensor.marker.fresh": 1.0}), "tern")
    axes, _ = row_of(draw_page("tern", [never]), "marker: x")
    assert "(never valid)" in axes.get_title(loc="left")
    assert not np.isfinite(axes.lines[0].get_ydata()).any()


def test_an_image_of_flags_that_always_agree_is_one_flag_over_time():
    flags = {f"sensor.eye.valid_{v}_{u}": TIMES > 0.5 for v in range(3) for u in range(4)}
    (valid,) = quantities(log_of(flags | {"sensor.eye.fresh": 1.0}), "tern")
    assert (valid.shape, valid.parts, valid.flag) == (None, ("",), True)
    np.testing.assert_array_equal(valid.measured[:, 0], TIMES > 0.5)


def test_probe_has_the_unit_of_its_field():
    columns = {"sensor.eye.value": 3.0 + TIMES, "sensor.eye.fresh": 1.0}
    scenario = {
        "world": {"fields": {"oxygen": {"unit": "mg/l"}, "algae": {"unit": "ug/l"}}},
        "vehicles": {"tern": {"sensors": {"eye": {"type": "probe", "field": "algae"}}}},
    }
    tables = {"tern-2": log_of(columns).tables["tern"]}
    (value,) = quantities(Log(tables, scenario=scenario), "tern-2")
    assert value.title == "eye: value (ug/l)"
    (unknown,) = quantities(log_of(columns), "tern")
    assert unknown.title == "eye: value"


def test_sensor_without_samples_has_an_empty_row(tmp_path):
    columns = {"sensor.gps.height_m": 0.0, "ideal.gps.height_m": 0.0, "sensor.gps.fresh": 0.0}
    (gps,) = quantities(log_of(columns), "tern")
    assert gps.measured.shape == (0, 1)
    assert save_sensor_pages(log_of(columns), tmp_path)


def test_flags_that_never_change_or_differ_are_noted_in_one_line():
    columns = {f"{kind}.gps.valid": 1.0 for kind in ("sensor", "ideal")}
    columns |= {f"{kind}.gps.height_m": TIMES for kind in ("sensor", "ideal")}
    figure = draw_page("tern", quantities(log_of(columns | {"sensor.gps.fresh": 1.0}), "tern"))
    assert "Always as without errors: gps: valid yes" in texts_on(figure)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert not any("valid" in title for title in titles)


def test_rows_of_measurements_and_errors_are_aligned(log):
    figure = draw_page("tern", quantities(log, "tern"))
    measured, errors = row_of(figure, "imu")
    assert measured.get_position().y0 == pytest.approx(errors.get_position().y0)
    assert measured.get_position().y1 == pytest.approx(errors.get_position().y1)


def test_in_a_paper_errors_are_below_the_measurements(log):
    figure = draw_page("tern", quantities(log, "tern", ["imu"]), 0, PAPER)
    measured, errors = figure.axes[:2]
    assert measured.get_position().x0 == pytest.approx(errors.get_position().x0)
    assert measured.get_position().y0 > errors.get_position().y1
