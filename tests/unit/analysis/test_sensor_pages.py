"""Pages of sensors against the truth: which columns belong together, and that they are drawn."""

import numpy as np
import pytest

from kittiwake.analysis.log import Log
from kittiwake.analysis.sensor_pages import (
    MAX_ROWS,
    draw_page,
    quantities,
    save_sensor_pages,
)
from kittiwake.analysis.table import Table

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


def test_an_array_is_one_quantity_without_truth_if_none_is_logged(log):
    _, lidar = quantities(log, "tern")
    assert lidar.measured.shape == (11, 40)
    assert lidar.ideal is None


def test_every_vehicle_with_sensors_gets_a_page(log, tmp_path):
    assert save_sensor_pages(log, tmp_path) == [tmp_path / "sensors-tern.png"]
    assert (tmp_path / "sensors-tern.png").stat().st_size > 10_000


def test_errors_are_told_with_mean_and_deviation(log):
    figure = draw_page("tern", quantities(log, "tern"))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    # a mean of 0.5 - 0.25 rad/s, and the deviation of 0, 0.2, ... 1 rad/s
    assert "error: x 14.3 ± 19.6, y 71.6 ± 19.6, z 129 ± 19.6" in titles


def test_a_page_says_which_samples_it_shows(log):
    said = draw_page("tern", quantities(log, "tern")).get_suptitle()
    assert "of each row of the log the newest sample, at most 2,000 of them" in said


def test_what_does_not_fit_on_a_page_is_named():
    names = [f"s{i}" for i in range(MAX_ROWS + 2)]
    columns = {f"sensor.{name}.range_m": 1.0 for name in names}
    fresh = {f"sensor.{name}.fresh": 1.0 for name in names}
    figure = draw_page("tern", quantities(log_of(columns | fresh), "tern"))
    said = " ".join(text.get_text() for text in figure.texts)
    assert f"Left out: s{MAX_ROWS}: range (m), s{MAX_ROWS + 1}: range (m)" in said


def test_a_sensor_that_never_spoke_has_an_empty_row(tmp_path):
    columns = {"sensor.gps.height_m": 0.0, "ideal.gps.height_m": 0.0, "sensor.gps.fresh": 0.0}
    (gps,) = quantities(log_of(columns), "tern")
    assert gps.measured.shape == (0, 1)
    assert save_sensor_pages(log_of(columns), tmp_path)
