"""Recorded motion: between rows, beyond them, and what follows from differences of rows."""

import jax
import numpy as np
import pytest

from kittiwake.core.recording import Recording
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sim.recorded_motion import RecordedMotion, RecordedMotionState

GRAVITY = 9.81
NAMES = ("x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")
VELOCITIES = ("vx_mps", "vy_mps", "vz_mps", "wx_radps", "wy_radps", "wz_radps")
RATE, SPEED, RADIUS = 0.8, 1.6, 2.0


def circle(times_s, *, velocities=False, flip=False):
    """Flight on a circle, nose ahead; its quaternion may change its sign in the middle."""
    angle = RATE * times_s
    half = 0.5 * (angle + np.pi / 2.0)
    q = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1)
    q[len(q) // 2 :] *= -1.0 if flip else 1.0
    place = RADIUS * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    columns, values = NAMES, [place, q]
    if velocities:
        velocity = SPEED * np.stack([-np.sin(angle), np.cos(angle), 0 * angle], axis=1)
        columns = (*NAMES, *VELOCITIES)
        values += [velocity, np.tile([0.0, 0.0, RATE], (len(angle), 1))]
    return Recording(
        columns, "flight.csv", float(times_s[-1]), times_s, np.concatenate(values, axis=1)
    )


def motion_at(recording, time_s):
    with jax.enable_x64(True):
        state = RecordedMotionState(np.float64(time_s), np.float64(GRAVITY))
        return RecordedMotion(file=recording).kinematics(state)


@pytest.mark.slow
@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("velocities", [False, True])
def test_motion_between_rows_is_that_of_the_flight(velocities, flip):
    recording = circle(np.arange(0.0, 4.0, 0.01), velocities=velocities, flip=flip)
    for time_s in (0.5, 1.234, 1.995, 3.0):
        motion, angle = motion_at(recording, time_s), RATE * time_s
        np.testing.assert_allclose(
            motion.position_world_m.array,
            [RADIUS * np.cos(angle), RADIUS * np.sin(angle), 0.0],
            atol=2e-5,
        )
        np.testing.assert_allclose(
            motion.velocity_world_mps.array,
            [-SPEED * np.sin(angle), SPEED * np.cos(angle), 0.0],
            atol=1e-4,
        )
        omega = motion.angular_velocity_body_radps
        np.testing.assert_allclose(omega.array, [0.0, 0.0, RATE], atol=1e-4)
        # centripetal to the left of the nose, and against gravity
        force = motion.specific_force_body_mps2
        np.testing.assert_allclose(force.array, [0.0, RATE * SPEED, GRAVITY], atol=2e-2)
        q = motion.q_world_from_body
        assert float(q.w**2 + q.x**2 + q.y**2 + q.z**2) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.slow
def test_the_last_place_holds_after_the_end():
    recording = circle(np.arange(0.0, 1.0, 0.01))
    end, later = motion_at(recording, 0.99), motion_at(recording, 5.0)
    np.testing.assert_array_equal(end.position_world_m.array, later.position_world_m.array)
    np.testing.assert_array_equal(later.velocity_world_mps.array, np.zeros(3))
    np.testing.assert_array_equal(later.angular_velocity_body_radps.array, np.zeros(3))
    np.testing.assert_allclose(later.specific_force_body_mps2.array, [0.0, 0.0, GRAVITY])


def test_the_start_is_the_first_row():
    start = RecordedMotion(file=circle(np.arange(0.0, 1.0, 0.01), velocities=True)).start()
    np.testing.assert_allclose(start.position_world_m.array, [RADIUS, 0.0, 0.0])
    assert start.yaw_rad == pytest.approx(np.pi / 2.0)
    np.testing.assert_allclose(start.velocity_world_mps.array, [0.0, SPEED, 0.0], atol=1e-12)


def test_files_that_are_no_motion_are_refused():
    whole = circle(np.arange(0.0, 1.0, 0.1))
    part = Recording(whole.columns[:6], "a.csv", 1.0, whole.time_s, whole.values[:, :6])
    with pytest.raises(ValueError, match="a.csv has no column 'qz'. Did you mean 'q"):
        RecordedMotion(file=part)
    late = Recording(whole.columns, "a.csv", 1.0, whole.time_s + 3.0, whole.values)
    with pytest.raises(ValueError, match="begins at 3 s; must begin at 0"):
        RecordedMotion(file=late)
    short = Recording(whole.columns, "a.csv", 1.0, whole.time_s[:1], whole.values[:1])
    with pytest.raises(ValueError, match="two rows or more"):
        RecordedMotion(file=short)
    assert RecordedMotion(file=whole).size_body_m == Vec3(0.0, 0.0, 0.0)
