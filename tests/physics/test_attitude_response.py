"""The Pelican's response: its identified constants, its limits, and what physics asks of it."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.physics.pelican_dynamics import ALOFT, DT_S, HOVER, around, fly, pelican, rows_of, sticks

import kittiwake as kw
from kittiwake.core.commands import AttitudeThrottle
from kittiwake.core.kinematics import Start
from kittiwake.geometry.frames import swap_flu_frd
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.attitude_response import Disturbance

FINE_S = 0.001


@pytest.mark.parametrize("angle", ["roll_rad", "pitch_rad"])
def test_steady_tilt_is_a_fixed_share_of_the_command(angle):
    motion, _, _ = fly(sticks(500, **{angle: 0.2}))
    euler = motion.euler_world_from_body
    # ten seconds are 120 time constants
    assert float(getattr(euler, angle)[-1]) / 0.2 == pytest.approx(0.74498, abs=5e-6)


@pytest.mark.parametrize("angle", ["roll_rad", "pitch_rad"])
def test_tilt_answers_like_the_identified_second_order_system(angle):
    motion, _, _ = fly(sticks(500, **{angle: 0.1}), dt_s=FINE_S)
    t = FINE_S * np.arange(501)
    natural, damping = 13.41, 0.908
    damped = natural * math.sqrt(1.0 - damping**2)
    phase = np.cos(damped * t) + damping * natural / damped * np.sin(damped * t)
    expected = 0.074498 * (1.0 - np.exp(-damping * natural * t) * phase)
    # 13.41 and 0.908 are rounded to 4e-4; Heun's rule adds less than 1e-5 at a step of 1 ms
    found = getattr(motion.euler_world_from_body, angle)
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.0745 * 4e-4)


def test_yaw_rate_answers_like_the_identified_first_order_system():
    motion, _, _ = fly(sticks(500, yaw_rate_radps=1.0), dt_s=FINE_S)
    t = FINE_S * np.arange(501)
    # 0.43580 and 0.1965 are rounded to 1e-4 and 3e-4
    expected = 0.43580 * (1.0 - np.exp(-t / 0.1965))
    found = motion.angular_velocity_body_radps.z
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.4358 * 4e-4)


def test_steady_yaw_rate_is_a_fixed_share_of_the_command():
    motion, _, _ = fly(sticks(500, yaw_rate_radps=-2.0))
    ratio = float(motion.angular_velocity_body_radps.z[-1]) / -2.0
    assert ratio == pytest.approx(0.43580, abs=5e-6)


def test_hover_throttle_keeps_the_height():
    motion, thrust, _ = fly(sticks(500, throttle=HOVER))
    # nine digits of throttle leave 3e-8 N, which move 1e-6 m in ten seconds
    np.testing.assert_allclose(motion.position_world_m.z, 500.0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(thrust, 1.68 * 9.81, rtol=0, atol=1e-7)


def test_specific_force_at_hover_is_gravity_upwards():
    force = fly(sticks(500, throttle=HOVER))[0].specific_force_body_mps2
    np.testing.assert_allclose(rows_of(force)[-1], [0.0, 0.0, 9.81], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("battery_v", "ceiling_n"), [(12.0, 32.85), (9.0, 20.14)])
def test_thrust_approaches_the_ceiling_of_the_battery_and_never_exceeds_it(battery_v, ceiling_n):
    _, thrust, _ = fly(sticks(500, throttle=1.0, battery_v=battery_v))
    exact = -18.0007 + 4.23754 * battery_v
    assert exact == pytest.approx(ceiling_n, abs=0.005)
    assert float(thrust[-1]) == pytest.approx(exact, abs=1e-9)
    assert float(thrust.max()) <= exact + 1e-12


def test_thrust_slews_at_its_limit_while_the_target_is_far():
    _, thrust, _ = fly(sticks(500, throttle=1.0, battery_v=12.0))
    # 16.4 N to the ceiling at 46.8 N/s: 17 whole steps of 0.936 N
    np.testing.assert_allclose(np.diff(thrust[:17]), 46.8004 * DT_S, rtol=0, atol=1e-12)
    _, falling, _ = fly(sticks(500, throttle=0.2, battery_v=12.0))
    np.testing.assert_allclose(np.diff(falling[:12]), -46.8004 * DT_S, rtol=0, atol=1e-12)


def test_gap_to_the_wanted_thrust_halves_at_each_step_within_the_slew():
    c0, c1, c2 = pelican().thrust_polynomial_n
    wanted = c0 + 0.6 * (c1 + 0.6 * c2)
    _, thrust, _ = fly(sticks(500, throttle=0.6), thrust_n=wanted - 0.8)
    # Heun: the first stage closes the gap within the step, the second sees none
    expected = wanted - 0.8 * 0.5 ** np.arange(21)
    np.testing.assert_allclose(thrust[:21], expected, rtol=0, atol=1e-12)


def test_thrust_decays_slowly_below_the_slow_throttle():
    rows = sticks(500, throttle=0.05)
    _, thrust, _ = fly(rows, dt_s=FINE_S)
    target = 0.663881 + 3.050826953 * 0.05 + 40.26064275695 * 0.05**2
    expected = target + (16.4808 - target) * np.exp(-3.07321 * FINE_S * np.arange(501))
    # Heun's rule leaves (rate dt)^2 / 6 of the change of 16 N
    np.testing.assert_allclose(thrust, expected, rtol=0, atol=3e-5)


def test_vehicle_at_rest_in_a_wind_ends_with_the_speed_of_the_air():
    wind = Vec3(3.0, -2.0, 0.0)
    motion, _, _ = fly(sticks(500), Start(ALOFT, yaw_rad=0.7), wind)
    velocity = rows_of(motion.velocity_world_mps)
    # Heun's rule multiplies the difference by this at each step
    factor = 1.0 - 0.497391 * DT_S + (0.497391 * DT_S) ** 2 / 2.0
    left = factor ** np.arange(501)
    np.testing.assert_allclose(velocity[:, 0], 3.0 * (1.0 - left), rtol=0, atol=1e-9)
    np.testing.assert_allclose(velocity[:, 1], -2.0 * (1.0 - left), rtol=0, atol=1e-9)
    assert left[-1] < 0.01


def test_rising_air_carries_a_hovering_vehicle_along():
    motion, _, _ = fly(sticks(500), wind=Vec3(0.0, 0.0, 1.0))
    # 1.35341 1/s: ten seconds leave 1e-6 of the difference
    assert float(motion.velocity_world_mps.z[-1]) == pytest.approx(1.0, abs=2e-6)


def test_free_drift_decays_exponentially():
    velocity = Vec3(4.0, 3.0, 0.0)
    motion, _, _ = fly(sticks(500), Start(ALOFT, 0.0, 0.0, -1.1, velocity), dt_s=FINE_S)
    expected = np.exp(-0.497391 * FINE_S * np.arange(501))
    # Heun's rule: (rate dt)^2 / 6 of 5 m/s
    np.testing.assert_allclose(motion.velocity_world_mps.x, 4.0 * expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(motion.velocity_world_mps.y, 3.0 * expected, rtol=0, atol=1e-6)


def test_one_full_step_of_the_stick_stays_within_the_limits():
    motion, _, valid = fly(sticks(500, pitch_rad=0.9)[:100])
    peak = float(jnp.abs(motion.angular_velocity_body_radps.y).max())
    assert peak == pytest.approx(2.994, abs=5e-4)
    assert all(bool(flags.all()) for flags in valid)


def test_reversing_the_stick_overshoots_the_rate_limit_and_the_vehicle_is_lost(tmp_path):
    file = tmp_path / "reversal.csv"
    header = "time_s,pitch_rad,roll_rad,throttle,yaw_rate_radps,battery_v"
    file.write_text(f"{header}\n0,-0.7,0,0.59,0,11\n1,0.7,0,0.59,0,11\n2,,,,,\n")
    log = kw.load("pelican-playback", {"vehicles.pelican.guidance.file": str(file)}).run()
    status = log.column("pelican", "status").astype(int)
    rate = log.column("pelican", "wy_radps")
    lost = int(np.flatnonzero(status)[0])
    assert log.quantities("pelican")[status[lost] - 1] == "angular_velocity_body_radps"
    assert rate[lost] == pytest.approx(3.23, abs=0.005)
    frozen = ["x_m", "z_m", "qy", "vx_mps", "wy_radps"]
    rows = log.frame("pelican")[frozen].to_numpy()[lost:]
    assert len(rows) > 40
    assert (rows == rows[0]).all()
    assert (status[lost:] == status[lost]).all()
    assert log.summary["vehicles"]["pelican"]["valid"] is False


@pytest.mark.parametrize(("rate", "guarded"), [(2.7, True), (-2.7, False), (2.6, False)])
def test_rate_guard_stops_only_what_would_turn_faster(rate, guarded):
    start = Start(ALOFT, angular_velocity_body_radps=Vec3(rate, 0.0, 0.0))
    mechanical_state = pelican().init(start.kinematics(), around()).mechanical_state
    command = AttitudeThrottle(0.0, 0.9, HOVER, 0.0, 11.0)
    noise = Disturbance(Vec3.zero(), Vec3.zero())
    moved = pelican().derivative(mechanical_state, command, Vec3.zero(), 9.81, noise, DT_S)
    acceleration = float(moved.velocities.angular_velocity_body_radps.x)
    free = 179.797 * 0.7449826435409016 * 0.9 - 24.3536 * rate
    assert acceleration == pytest.approx(0.0 if guarded else free, abs=1e-9)


TURNING = Start(
    ALOFT,
    roll_rad=0.3,
    pitch_rad=-0.2,
    yaw_rad=0.7,
    velocity_world_mps=Vec3(2.0, -1.0, 0.5),
    angular_velocity_body_radps=Vec3(0.8, -0.6, 1.5),
)


def test_the_wind_is_held_in_body_axes_over_a_step_as_in_the_source():
    model, wind = pelican(), Vec3(4.0, -3.0, 0.0)
    command = AttitudeThrottle(0.1, 0.2, 0.6, 0.5, 12.0)
    state = model.init(TURNING.kinematics(), around(wind))
    found = model.step(state, command, around(wind), DT_S, jax.random.key(0)).mechanical_state
    at_tick = TURNING.kinematics().q_world_from_body.inverse().rotate(wind)
    calm, wind_frd = Disturbance(Vec3.zero(), Vec3.zero()), swap_flu_frd(at_tick)

    def rates(mechanical_state):
        return model.derivative(mechanical_state, command, wind_frd, 9.81, calm, DT_S)

    first = rates(state.mechanical_state)
    second = rates(jax.tree.map(lambda x, k: x + DT_S * k, state.mechanical_state, first))
    expected = jax.tree.map(
        lambda x, k1, k2: x + DT_S * (k1 + k2) / 2.0, state.mechanical_state, first, second
    )
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert float(one) == pytest.approx(float(other), abs=1e-14)


def test_the_specific_force_is_the_acceleration_less_gravity():
    model = pelican()
    dt_s = 1e-5
    state = model.init(TURNING.kinematics(), around())
    command = AttitudeThrottle(0.1, 0.2, 0.6, 0.5, 12.0)
    later = model.step(state, command, around(), dt_s, jax.random.key(0))
    before, after = model.kinematics(state), model.kinematics(later)
    change = (after.velocity_world_mps - before.velocity_world_mps) * (1.0 / dt_s)
    force_world = change + Vec3(0.0, 0.0, 9.81)
    expected = before.q_world_from_body.inverse().rotate(force_world)
    # the axes turn by 2e-5 rad in the step, on 10 m/s^2
    np.testing.assert_allclose(after.specific_force_body_mps2.array, expected.array, atol=2e-4)


def test_at_the_start_the_specific_force_balances_gravity():
    found = pelican().init(Start(ALOFT).kinematics(), around()).specific_force_body_mps2
    np.testing.assert_allclose(found.array, [0.0, 0.0, 9.81], atol=1e-12)


@pytest.mark.parametrize(
    ("quantity", "start"),
    [
        ("roll_rad", Start(ALOFT, roll_rad=3.2)),
        ("pitch_rad", Start(ALOFT, pitch_rad=-3.2)),
        ("yaw_rad", Start(ALOFT, yaw_rad=math.pi / 2.0 + 31.5)),
        ("velocity_body_mps", Start(ALOFT, velocity_world_mps=Vec3(0.0, -15.1, 0.0))),
        ("angular_velocity_body_radps", Start(angular_velocity_body_radps=Vec3(0.0, 0.0, 3.1))),
    ],
)
def test_each_limit_of_the_identified_range_is_watched(quantity, start):
    limits = pelican().limits(pelican().init(start.kinematics(), around()))
    assert {limit.name for limit in limits if not limit.is_satisfied} == {quantity}
