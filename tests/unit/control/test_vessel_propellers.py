"""Controller of a vessel with two propellers: signs, limits, allocation, and a survey."""

import math
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.control.vessel_propellers import VesselPropellers
from kittiwake.core.commands import HeadingSpeed
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3

KEY = jax.random.key(0)
AHEAD, ASTERN, FASTEST_AHEAD, FASTEST_ASTERN, ARM = 0.011, 0.0064, 104.0, 102.0, 0.395


def controller(**parameters):
    return VesselPropellers(
        *(60.0, 43.0, ARM, AHEAD, ASTERN, FASTEST_AHEAD, FASTEST_ASTERN), **parameters
    )


def output_of(heading=0.0, speed=0.0, surge=0.0, yaw=0.0, rate=0.0, **parameters):
    """Return the first output for setpoints and motion."""
    velocity = Vec3(surge * math.cos(yaw), surge * math.sin(yaw), 0.0)
    start = Start(
        yaw_rad=yaw, velocity_world_mps=velocity, angular_velocity_body_radps=Vec3(0.0, 0.0, rate)
    )
    pilot = controller(**parameters)
    inputs = HeadingSpeed(heading, speed), start.kinematics()
    return pilot.step(pilot.init(KEY), inputs, 0.01, KEY)[1]


def thrusts(speeds):
    """Return force and moment of two shafts, by an independent propeller law."""
    left, right = (
        (AHEAD if n > 0.0 else ASTERN) * float(n) * abs(float(n))
        for n in (speeds.left_radps, speeds.right_radps)
    )
    return left + right, ARM * (right - left)


@pytest.mark.parametrize("error", [0.1, -0.1])
def test_vessel_turns_to_the_side_of_the_wanted_heading(error):
    _, moment = thrusts(output_of(heading=error))
    # the proportional part and the first step of the integral
    rate = 0.8 * error
    assert moment == pytest.approx(43.0 * (3.0 * rate + 0.01 * rate), rel=1e-9)


@pytest.mark.parametrize("error", [0.2, -0.2])
def test_speed_error_gives_the_same_thrust_to_both(error):
    order = output_of(speed=1.0 + error, surge=1.0)
    assert float(order.left_radps) == float(order.right_radps)
    force, _ = thrusts(order)
    assert force == pytest.approx(60.0 * error * (1.0 + 0.3 * 0.01), rel=1e-9)


def test_feed_forward_holds_speed_and_rate():
    order = output_of(speed=2.0, surge=2.0, surge_damping_kgps=77.0)
    assert thrusts(order)[0] == pytest.approx(154.0, rel=1e-9)
    order = output_of(1.0, rate=0.25, yaw_damping_nms=45.0, yaw_damping_nms2=450.0)
    assert thrusts(order)[1] == pytest.approx(0.25 * (45.0 + 450.0 * 0.25), rel=1e-9)


def test_moment_has_priority_over_force():
    both = output_of(heading=2.0, speed=9.0)
    alone = output_of(heading=2.0)
    assert float(both.right_radps) == pytest.approx(FASTEST_AHEAD, rel=1e-12)
    assert thrusts(both)[1] == pytest.approx(thrusts(alone)[1], rel=1e-9)
    assert thrusts(both)[1] > 20.0


@pytest.mark.parametrize("heading", [-3.0, 3.0])
@pytest.mark.parametrize("speed", [-50.0, 50.0])
def test_shafts_stay_in_their_range(heading, speed):
    order = output_of(heading, speed, rate=-heading)
    for n in (float(order.left_radps), float(order.right_radps)):
        assert -FASTEST_ASTERN * (1.0 + 1e-12) <= n <= FASTEST_AHEAD * (1.0 + 1e-12)


def test_vessel_turns_the_short_way():
    assert thrusts(output_of(heading=-3.0, yaw=3.0))[1] > 0.0
    assert thrusts(output_of(heading=3.0, yaw=-3.0))[1] < 0.0


def test_shafts_have_finite_slopes_at_rest_and_no_jump_when_slow():
    def speed(error):
        return output_of(speed=error).left_radps

    assert jnp.isfinite(jax.grad(speed)(0.0))
    # one radian a second is 2 AHEAD newtons, from either side
    edge = 2.0 * AHEAD / (60.0 * 1.003)
    below, above = (float(speed(edge * share)) for share in (1.0 - 1e-9, 1.0 + 1e-9))
    assert below == pytest.approx(1.0, rel=1e-6)
    assert above == pytest.approx(1.0, rel=1e-6)


@cache
def survey():
    return kw.load("survey-otter").run().frame("otter")


@pytest.mark.slow
def test_otter_surveys_its_lanes_in_a_current():
    frame = survey()
    assert frame["guidance.legs"].iloc[-1] == 8
    legs = frame["guidance.legs"].to_numpy()
    x, y = frame["x_m"].to_numpy(), frame["y_m"].to_numpy()
    for leg, track in ((1, 0.0), (3, 8.0), (5, 16.0), (7, 24.0)):
        # east on the first and the third; turns of 5 m take the first halves of the others
        ahead = x if leg in (1, 5) else 30.0 - x
        away = np.abs(y - track)[(legs == leg) & (ahead > 15.0)]
        assert away.size
        assert away.max() < 0.7
    assert frame["act_left_radps"].abs().max() <= 103.94


@pytest.mark.slow
def test_otter_keeps_its_station():
    changes = {
        "vehicles.otter.controller": "vessel-position",
        "vehicles.otter.guidance": {"type": "hold", "position_world_m": [12.0, 5.0, 0.0]},
    }
    frame = kw.load("cruise-otter", changes).run(60.0).frame("otter")
    away = np.hypot(frame["x_m"] - 12.0, frame["y_m"] - 5.0).to_numpy()[-1000:]
    speed = np.hypot(frame["vx_mps"], frame["vy_mps"]).to_numpy()[-1000:]
    assert away.max() < 1.5
    assert speed.max() < 1e-2
