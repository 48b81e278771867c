"""Identification from real flights of QRSim's Pelican, and from noisy simulated ones.

The figures of docs/identification.md are held here.
"""

import gzip

import numpy as np
import pytest

import kittiwake as kw
from kittiwake.analysis.flight_logs.flight_log import FlightLog, Signal
from kittiwake.analysis.reproduction.reference_tables import FOLDER

pytestmark = pytest.mark.slow

THRUST = {
    "time": {"column": "time_s", "unit": "s"},
    "columns": {
        "cmd_throttle": {"column": "throttle_raw", "scale": 1.0 / 4097.0},
        "cmd_battery_v": {"column": "battery_v"},
        "cmd_pitch_rad": {"value": 0},
        "cmd_roll_rad": {"value": 0},
        "cmd_yaw_rate_radps": {"value": 0},
        "act_thrust_n": {"column": "thrust_measured_n"},
    },
}
# the log is FRD in NED
ROTATION = {
    "time": {"column": "time_s", "unit": "s"},
    "world_axes": "ned",
    "attitude": "euler_zyx",
    "body_axes": "frd",
    "columns": {
        "cmd_pitch_rad": {"column": "u_pitch_raw", "unit": "deg", "scale": -0.025},
        "cmd_roll_rad": {"column": "u_roll_raw", "unit": "deg", "scale": -0.025},
        "cmd_yaw_rate_radps": {"column": "u_yaw_raw", "unit": "deg/s", "scale": -254.760 / 2047},
        "cmd_throttle": {"value": 0.615},
        "cmd_battery_v": {"value": 11},
        "roll_rad": {"column": "phi_rad"},
        "pitch_rad": {"column": "theta_rad"},
        "yaw_rad": {"column": "psi_rad"},
        "wx_radps": {"column": "p_radps"},
        "wy_radps": {"column": "q_radps"},
        "wz_radps": {"column": "r_radps"},
    },
}


@pytest.fixture
def log(tmp_path):
    def unpacked(name):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(gzip.decompress((FOLDER / f"qrsim/flightlog_{name}.csv.gz").read_bytes()))
        return path

    return unpacked


def test_thrust_is_predicted_better_than_by_the_published_values(log, tmp_path):
    result = kw.identify(
        log("thrust"),
        "pelican",
        [
            *("battery_thrust_offset_n", "battery_thrust_slope_npv", "thrust_slew_nps"),
            "guidance.delay_s=0:0.2",
        ],
        columns=THRUST,
        train=(0.0, 20.0),
        test=(20.0, 39.5),
        window_s=5.0,
        rate_hz=50.0,
        out=tmp_path / "result",
    )
    (thrust,) = (error for error in result.errors if error.name == "act_thrust_n")
    before, after = thrust.test
    assert before == pytest.approx(0.79, abs=0.02)
    assert after == pytest.approx(0.54, abs=0.02)


def test_rotation_is_predicted_better_than_by_the_published_values(log, tmp_path):
    result = kw.identify(
        log("rotation"),
        "pelican",
        [
            *("attitude_gain", "attitude_stiffness_per_s2", "attitude_damping_per_s"),
            "guidance.delay_s=0:0.2",
        ],
        columns=ROTATION,
        train=(0.0, 80.0),
        test=(80.0, 106.0),
        window_s=2.0,
        rate_hz=50.0,
        out=tmp_path / "result",
    )
    for name, train, test in result.errors:
        for before, after in (train, test):
            # the parameters of the yaw are those that were published
            slack = 1e-3 if name in {"wz_radps", "attitude_z_rad"} else 0.0
            assert after <= before * (1.0 + slack), name


LOGS, EVERY = 20, 5
TRUE = {
    "rotor.thrust_ns2": 6.0e-6,
    "inertia_kgm2.xx": 0.0042,
    "inertia_kgm2.yy": 0.0033,
    "rotor.spin_up_s": 0.06,
}
CORNERS = [[2, 1, 11], [-1, 2, 9], [1, -2, 12], [0, 2, 10]] * 3
NOISE = {"position": 0.005, "attitude": 0.005, "velocity": 0.02, "rate": 0.01}
MEASURED = {
    "position": ("x_m", "y_m", "z_m"),
    "velocity": ("vx_mps", "vy_mps", "vz_mps"),
    "rate": ("wx_radps", "wy_radps", "wz_radps"),
}
Q = ("qw", "qx", "qy", "qz")


@pytest.fixture(scope="module")
def corners():
    """Table of a flight around corners by a Hummingbird that is not that of the library."""
    overrides = {f"vehicles.hummingbird.parameters.{key}": own for key, own in TRUE.items()} | {
        "vehicles.hummingbird.guidance": {
            "type": "waypoints",
            "positions_world_m": CORNERS,
            "acceptance_radius_m": 0.8,
        },
        "time": {"rate_hz": 500, "duration_s": 9, "log_rate_hz": 500},
    }
    return kw.load("hover-hummingbird", overrides).run().tables["hummingbird"]


def noisy(table, seed):
    """Log with all commands, and every fifth row of the motion with noise."""
    rng = np.random.default_rng(seed)
    time_s = table.part(("time_s",))[:, 0]
    signals = {
        name: Signal(time_s, table.part((name,))[:, 0])
        for name in table.columns
        if name.startswith("cmd_speeds")
    }
    rows_s = time_s[::EVERY]
    for kind, names in MEASURED.items():
        for name in names:
            noise = NOISE[kind] * rng.normal(size=len(rows_s))
            signals[name] = Signal(rows_s, table.part((name,))[::EVERY, 0] + noise)
    w, *v = table.part(Q)[::EVERY].T
    w, v = w[:, None], np.column_stack(v)
    half = 0.5 * NOISE["attitude"] * rng.normal(size=v.shape)
    turned = np.column_stack(
        [w - (v * half).sum(axis=1, keepdims=True), v + w * half + np.cross(v, half)]
    )
    signals |= {name: Signal(rows_s, own) for name, own in zip(Q, turned.T, strict=True)}
    return FlightLog("corners.csv", signals)


def test_parameters_of_noisy_logs_are_within_a_percent_and_their_deviations(corners, tmp_path):
    errors, scores = [], []
    for seed in range(LOGS):
        result = kw.identify(
            noisy(corners, seed), "hummingbird", [*TRUE], rate_hz=500.0, out=tmp_path / str(seed)
        )
        for own in result.values:
            errors.append(own.after / TRUE[own.name] - 1.0)
            scores.append((own.after - TRUE[own.name]) / own.deviation)
    assert np.abs(errors).max() < 0.01
    assert 0.80 <= np.mean(np.abs(scores) < 2.0) <= 0.99
