"""The Pelican against flights of QRSim, each flown through a scenario as people do."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kittiwake as kw
from kittiwake.analysis.reproduction.reference_tables import FOLDER

DATA = FOLDER / "qrsim"
STICKS = ("pitch_rad", "roll_rad", "throttle", "yaw_rate_radps", "battery_v")
STICKS_FRD = ("u_pitch", "u_roll", "u_throttle", "u_yawrate", "v_batt")
TO_FLU = np.array([-1.0, 1.0, 1.0, -1.0, 1.0])
STATES = ("px", "py", "pz", "phi", "theta", "psi", "u", "v", "w", "p", "q", "r", "Fth")
ANGLES = [STATES.index(name) for name in ("phi", "theta", "psi")]
# NED from ENU and FRD from FLU, written out so that the package's own conversions are judged too
NED_FROM_ENU = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
FRD_FROM_FLU = np.diag([1.0, -1.0, -1.0])
OPEN_LOOP = (
    "a01_hover",
    "a02_pitch_step",
    "a04_yawrate_step",
    "a06_throttle_down",
    "a08_low_battery",
    "a10_chirp_combined",
    "a12_initial_velocity_decay",
    "a14_meanwind_dir0",
)
WORLDS = {
    "a14_meanwind_dir0": {"world.wind": {"type": "shear", "speed_at_6m_mps": 3, "from_deg": 0}}
}


def table(name):
    """A reference file as a record array."""
    return np.genfromtxt(DATA / f"{name}.csv.gz", delimiter=",", names=True)


def columns(record, names):
    return np.column_stack([record[name] for name in names])


def write_recording(path, time_s, names, values):
    """A file for guidance ``playback``; rows without values are left empty, as at the end."""
    lines = [",".join(("time_s", *names))]
    for t, row in zip(time_s, values, strict=True):
        lines.append(",".join([f"{t:.17g}", *("" if np.isnan(x) else f"{x:.17g}" for x in row)]))
    path.write_text("\n".join(lines) + "\n")
    return path


def sticks_file(path, reference, *, body_axes):
    sticks = columns(reference, STICKS_FRD)
    if body_axes == "flu":
        sticks = sticks * TO_FLU
    return write_recording(path, reference["t"], STICKS, sticks)


def start_of(reference):
    """The first row as a start in the project's own axes."""
    first = dict(zip(STATES, columns(reference, STATES)[0], strict=True))
    ned_from_frd = Rotation.from_euler("ZYX", [first["psi"], first["theta"], first["phi"]])
    velocity_ned = ned_from_frd.apply([first["u"], first["v"], first["w"]])
    vectors = {
        "position_world_m": NED_FROM_ENU.T @ [first["px"], first["py"], first["pz"]],
        "velocity_world_mps": NED_FROM_ENU.T @ velocity_ned,
        "angular_velocity_body_radps": FRD_FROM_FLU @ [first["p"], first["q"], first["r"]],
    }
    return {
        **{name: vector.tolist() for name, vector in vectors.items()},
        "roll_rad": float(first["phi"]),
        "pitch_rad": -float(first["theta"]),
        "yaw_rad": np.pi / 2.0 - float(first["psi"]),
    }


def states_of(log):
    """What QRSim calls the state, computed from the log's own columns."""

    def read(*names):
        return np.column_stack([log.column("pelican", name) for name in names])

    world_from_body = Rotation.from_quat(read("qx", "qy", "qz", "qw")).as_matrix()
    ned_from_frd = NED_FROM_ENU @ world_from_body @ FRD_FROM_FLU
    velocity_ned = read("vx_mps", "vy_mps", "vz_mps") @ NED_FROM_ENU.T
    angles = [
        np.arctan2(ned_from_frd[:, 2, 1], ned_from_frd[:, 2, 2]),
        -np.arcsin(ned_from_frd[:, 2, 0]),
        np.arctan2(ned_from_frd[:, 1, 0], ned_from_frd[:, 0, 0]),
    ]
    return np.column_stack(
        [
            read("x_m", "y_m", "z_m") @ NED_FROM_ENU.T,
            *angles,
            np.einsum("nij,ni->nj", ned_from_frd, velocity_ned),
            read("wx_radps", "wy_radps", "wz_radps") @ FRD_FROM_FLU.T,
            read("act_thrust_n"),
        ]
    )


def largest_errors(states, reference):
    """By state; angles by the short way round, as the reference counts whole turns of yaw."""
    difference = states - columns(reference, STATES)
    turned = difference[:, ANGLES]
    difference[:, ANGLES] = (turned + np.pi) % (2.0 * np.pi) - np.pi
    return dict(zip(STATES, np.abs(difference).max(axis=0).tolist(), strict=True))


def assert_flown_alike(log, reference, tolerance):
    assert log.summary["status"] == "completed"
    np.testing.assert_allclose(log.column("pelican", "time_s"), reference["t"], rtol=0, atol=1e-12)
    errors = largest_errors(states_of(log), reference)
    assert max(errors.values()) < tolerance, errors


def playback(path, reference, **overrides):
    of_vehicle = {"guidance.file": str(path), "start": start_of(reference), **overrides}
    return {f"vehicles.pelican.{key}": value for key, value in of_vehicle.items()}


# 1e-9: the same formulas in double precision, in other axes; QRSim and a second program agree to
# 7e-15 after 500 steps
@pytest.mark.parametrize("name", OPEN_LOOP)
def test_open_loop_flight_is_that_of_qrsim(name, tmp_path):
    reference = table(name)
    file = sticks_file(tmp_path / "inputs.csv", reference, body_axes="flu")
    overrides = {**playback(file, reference), **WORLDS.get(name, {})}
    log = kw.load("pelican-playback", overrides).run()
    assert_flown_alike(log, reference, tolerance=1e-9)


@pytest.mark.parametrize("name", ["a04_yawrate_step", "a10_chirp_combined"])
def test_inputs_recorded_in_frd_are_flown_without_changing_their_signs(name, tmp_path):
    reference = table(name)
    file = sticks_file(tmp_path / "inputs.csv", reference, body_axes="frd")
    overrides = playback(file, reference, **{"guidance.body_axes": "frd"})
    log = kw.load("pelican-playback", overrides).run()
    assert_flown_alike(log, reference, tolerance=1e-9)


def test_command_line_flies_recorded_inputs(tmp_path):
    reference = table("a10_chirp_combined")
    sticks_file(tmp_path / "inputs.csv", reference, body_axes="flu")
    kittiwake = str(Path(sys.executable).with_name("kittiwake"))
    file = "vehicles.pelican.guidance.file=inputs.csv"
    for arguments in (
        ["run", "pelican-playback", "--set", file, "--out", "flight", "--quiet"],
        ["export", "flight", "--to", "csv"],
    ):
        answer = subprocess.run(
            [kittiwake, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert answer.returncode == 0, answer.stderr
    flown = np.genfromtxt(tmp_path / "flight" / "pelican.csv", delimiter=",", names=True)
    position = columns(flown, ("x_m", "y_m", "z_m")) @ NED_FROM_ENU.T
    np.testing.assert_allclose(position, columns(reference, STATES[:3]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(flown["act_thrust_n"], reference["Fth"], rtol=0, atol=1e-9)
    sticks = columns(flown, [f"cmd_{name}" for name in STICKS])[:-1]
    np.testing.assert_array_equal(sticks, columns(reference, STICKS_FRD)[:-1] * TO_FLU)


def closed_loop(path, reference, controller, names, set_points):
    write_recording(path, [0.0, 10.0, 20.0], names, [*set_points, [np.nan] * len(names)])
    overrides = playback(path, reference, controller=controller)
    return kw.load("pelican-playback", overrides).run()


# 1e-6: a loop with integrals and differences divided by 0.02 s amplifies rounding, and switches at
# its limits; ten steps of margin remain to the millimeter that anybody would notice
def test_waypoint_controller_flies_as_in_qrsim(tmp_path):
    reference = table("b01_waypointPID_trueX")
    names = ("position_x_world_m", "position_y_world_m", "position_z_world_m", "yaw_rad")
    # NED (5, 3, -15), then (0, -4, -10), heading 0.5 from north to east
    yaw = np.pi / 2.0 - 0.5
    set_points = [[3.0, 5.0, 15.0, yaw], [-4.0, 0.0, 10.0, yaw]]
    log = closed_loop(tmp_path / "goals.csv", reference, "qrsim-waypoint", names, set_points)
    assert_flown_alike(log, reference, tolerance=1e-6)


def test_velocity_controller_flies_as_in_qrsim(tmp_path):
    reference = table("b03_velocityPID_trueX")
    names = ("velocity_x_world_mps", "velocity_y_world_mps", "velocity_z_world_mps", "yaw_rad")
    # NED (2, 0, 0), then (0, 1.5, -1), heading north
    set_points = [[0.0, 2.0, 0.0, np.pi / 2.0], [1.5, 0.0, 1.0, np.pi / 2.0]]
    log = closed_loop(tmp_path / "goals.csv", reference, "qrsim-velocity", names, set_points)
    assert_flown_alike(log, reference, tolerance=1e-6)


def clipped(value, limit):
    return min(max(value, -limit), limit)


def level_sticks(setpoints_ned, headings, states, heights_ned=None):
    """Sticks of QRSim's velocity controllers for recorded states, written out in its own axes.

    ``setpoints_ned`` has a velocity for each row. With ``heights_ned`` the throttle is that of the
    height loop (``VelocityHeightPID``), else that of the climb rate (``VelocityPID``).
    """
    step_s, hover = 0.02, 0.59
    sums, last, last_setpoint = np.zeros(3), np.zeros(3), np.zeros(4)
    height_sum = last_height_error = 0.0
    sticks = []
    for row, (velocity, heading, state) in enumerate(
        zip(setpoints_ned, headings, states, strict=True)
    ):
        z, psi = state[2], state[5]
        height = 0.0 if heights_ned is None else heights_ned[row]
        is_new = not np.array_equal([*velocity, height], last_setpoint)
        last_setpoint = np.array([*velocity, height])
        body_from_ned = Rotation.from_euler("ZYX", [psi, state[4], state[3]]).as_matrix().T
        wanted = [clipped(c, 3.0) for c in body_from_ned @ velocity]
        error = np.asarray(wanted) - state[6:9]
        rate = np.zeros(3) if is_new else (error - last) / step_s
        tilt = [
            clipped(0.25 * error[axis] + 0.003 * sums[axis] + 0.05 * rate[axis], 0.34)
            for axis in (0, 1)
        ]
        if heights_ned is None:
            throttle = np.clip(hover - 0.2 * error[2] - 0.002 * sums[2], 0.0, 1.0)
        else:
            height_error = z - height
            height_sum += height_error * step_s
            climb = 0.0 if is_new else (height_error - last_height_error) / step_s
            wanted = hover + 0.03 * height_error + 0.0008 * height_sum + 0.04 * climb
            throttle = np.clip(wanted, 0.0, 1.0)
            height_sum -= 2.0 * (wanted - throttle)
            last_height_error = height_error
        sums, last = sums + error, error
        turn = (heading - psi + np.pi) % (2.0 * np.pi) - np.pi
        # there the nose goes up with a positive pitch
        sticks.append([-tilt[0], tilt[1], throttle, clipped(6.0 * turn, 4.4), 12.0])
    return np.array(sticks) * TO_FLU


# small changes, so that the limit of tilt does not hide derivatives; one of the velocity alone, one
# of the height alone, one of the heading alone
LEVEL_CHANGES = {
    0.0: ([0.2, 0.0, 0.0], 10.0, 0.0),
    4.0: ([0.3, -0.1, 0.0], 10.0, 0.0),
    8.0: ([0.3, -0.1, 0.0], 10.4, 0.0),
    12.0: ([0.3, -0.1, 0.0], 10.4, 0.3),
    16.0: ([0.0, 0.1, 0.0], 10.1, 0.3),
}
CLIMBING_CHANGES = {
    time_s: ([*velocity[:2], climb], height, heading)
    for climb, (time_s, (velocity, height, heading)) in zip(
        (0.0, 0.0, -0.2, -0.2, 0.1), LEVEL_CHANGES.items(), strict=True
    )
}


@pytest.mark.parametrize("controller", ["qrsim-velocity", "qrsim-velocity-height"])
def test_sticks_are_those_of_qrsim_after_every_change_of_set_point(controller, tmp_path):
    by_height = controller == "qrsim-velocity-height"
    changes = LEVEL_CHANGES if by_height else CLIMBING_CHANGES
    names = ["velocity_x_world_mps", "velocity_y_world_mps"]
    names += ["height_world_m" if by_height else "velocity_z_world_mps", "yaw_rad"]
    rows = []
    for (north, east, down), height, heading in changes.values():
        rows.append([east, north, height if by_height else -down, np.pi / 2.0 - heading])
    reference = table("b03_velocityPID_trueX")
    path = write_recording(
        tmp_path / "goals.csv", [*changes, 20.0], names, [*rows, [np.nan] * len(names)]
    )
    log = kw.load("pelican-playback", playback(path, reference, controller=controller)).run()
    assert log.summary["status"] == "completed"
    time_s, states = log.column("pelican", "time_s")[:-1], states_of(log)[:-1]
    active = [list(changes.values())[np.searchsorted([*changes], t + 1e-9) - 1] for t in time_s]
    velocities, heights, headings = (np.array(part) for part in zip(*active, strict=True))
    expected = level_sticks(velocities, headings, states, -heights if by_height else None)
    flown = np.column_stack([log.column("pelican", f"cmd_{name}") for name in STICKS])[:-1]
    # 1e-10: the same sums over 1,000 steps in other axes; without the zeroed derivatives 0.25 rad
    np.testing.assert_allclose(flown, expected, rtol=0, atol=1e-10)
