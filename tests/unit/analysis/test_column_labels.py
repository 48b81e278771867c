"""Labels of log columns."""

import pytest

from kittiwake.analysis.column_labels import column_label


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("acceleration_x_world_mps2", "Acceleration x (world) [m/s²]"),
        ("x_m", "Position x [m]"),
        ("wz_radps", "Angular velocity z (body) [deg/s]"),
        ("estimate.vy_mps", "Estimated velocity y [m/s]"),
        ("estimate.cov_x_vx", "Estimated covariance of x and vx"),
        ("setpoint.yaw_rad", "Setpoint yaw [deg]"),
        ("setpoint.heading_rad", "Setpoint heading from east [deg]"),
        ("setpoint.jerk_z_world_mps3", "Setpoint jerk z (world) [m/s³]"),
        ("cmd_speeds_2_radps", "Commanded speeds 2 [rad/s]"),
        ("cmd_q_world_from_body_w", "Commanded quaternion w"),
        ("act_battery_charge", "Battery charge [%]"),
        ("sensor.imu.specific_force_x_body_mps2", "imu: specific force x (body) [m/s²]"),
        ("ideal.gnss.valid", "gnss without errors: valid"),
        ("guidance.legs", "Reached waypoints"),
        ("wind_speed_at_6m_mps", "Wind speed at 6 m [m/s]"),
    ],
)
def test_columns_are_named_in_words_with_units(column, text):
    assert column_label(column).text == text


def test_angles_are_in_degrees_and_charges_in_percent():
    assert column_label("setpoint.yaw_rad").factor == pytest.approx(57.29578)
    assert column_label("act_battery_charge").factor == 100.0
    assert column_label("act_rotor_0_radps").factor == 1.0


def test_parts_of_a_vector_have_a_common_label():
    labels = {column_label(f"wind_{axis}_world_mps").vector for axis in "xyz"}
    assert labels == {"Wind (world) [m/s]"}
