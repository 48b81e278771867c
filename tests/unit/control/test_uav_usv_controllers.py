"""Quadrotor controllers of the UAV-USV simulator: signs, scales, loops and flights."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kittiwake as kw
from kittiwake.control.butterworth import Butterworth
from kittiwake.control.pid import Pid
from kittiwake.control.uav_usv_cascade import UavUsvCascade
from kittiwake.control.uav_usv_flatness import UavUsvFlatness
from kittiwake.core.commands import PositionYaw
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.parameters import build_component
from kittiwake.vehicles import VEHICLES

KEY = jax.random.key(0)
DT_S = 0.01
GRAVITY = 9.81
FASTEST = 5000.0 * math.pi / 30.0
PLUS = ["ar-drone", "hummingbird", "os4"]


def dynamics(name):
    model = VEHICLES.find(name)
    return build_component(model.dynamics, model.parameters(), str)


def cascade(name, **gains):
    return UavUsvCascade(**UavUsvCascade.with_vehicle_defaults(dynamics(name), GRAVITY), **gains)


def throttles(controller, wanted, start, steps=1):
    """Return the throttles in percent."""
    state = controller.init(KEY)
    for _ in range(steps):
        state, command = controller.step(state, (wanted, start.kinematics()), DT_S, KEY)
    return 100.0 * np.array(command.speeds_radps) / controller.max_speed_radps


def place(x=0.0, y=0.0, z=0.0, yaw=0.0, **feed_forward):
    return PositionYaw(Vec3(x, y, z), yaw, **feed_forward)


def unbiased(name="ar-drone"):
    """Return the cascade with zero initial integrals of roll and yaw."""
    plain = UavUsvCascade(**UavUsvCascade.with_vehicle_defaults(dynamics("ar-drone"), GRAVITY))
    roll, yaw = (dataclasses.replace(pid, initial=0.0) for pid in (plain.roll, plain.yaw))
    return cascade(name, roll=roll, yaw=yaw)


# the cascade


def test_rows_of_the_ar_drone_are_the_sources_mixer():
    # throttle, roll, pitch, yaw; the source's roll and pitch count the other way
    expected = [[1, 0, -1, -1], [1, -1, 0, 1], [1, 0, 1, -1], [1, 1, 0, 1]]
    np.testing.assert_allclose(cascade("ar-drone").percent_from_outputs, expected, atol=1e-12)


@pytest.mark.parametrize("name", PLUS)
def test_a_percent_of_output_accelerates_every_vehicle_as_it_does_the_ar_drone(name):
    def accelerations(name):
        """Return the accelerations for one percent of throttle, roll, pitch and yaw about hover."""
        parameters, controller = dynamics(name).vehicle_parameters(GRAVITY), cascade(name)
        rows = np.array(controller.percent_from_outputs)
        hover = math.sqrt(parameters["mass_kg"] * GRAVITY / (4.0 * parameters["thrust_ns2"]))
        thrusts_n = (
            2.0 * parameters["thrust_ns2"] * hover * parameters["max_speed_radps"] * rows / 100.0
        )
        hubs, spins = np.array(parameters["hubs_body_m"]), np.array(parameters["spins"])
        inertia = parameters["inertia_kgm2"]
        return np.array(
            [
                thrusts_n.sum(0) / parameters["mass_kg"],
                hubs[:, 1] @ thrusts_n / inertia["xx"],
                -hubs[:, 0] @ thrusts_n / inertia["yy"],
                -parameters["torque_per_thrust_m"] * spins @ thrusts_n / inertia["zz"],
            ]
        )

    found, source = accelerations(name), accelerations("ar-drone")
    np.testing.assert_allclose(found, source, rtol=1e-9, atol=1e-12)
    assert (np.diag(source) > 0.0).all()
    # each output acts on its own motion alone
    np.testing.assert_allclose(source - np.diag(np.diag(source)), 0.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "faster", "slower"),
    [
        # rotors: ahead, right, behind, left
        (place(x=1.0), 2, 0),
        (place(x=-1.0), 0, 2),
        (place(y=1.0), 1, 3),
        (place(y=-1.0), 3, 1),
        (place(yaw=0.2), 1, 0),
        (place(yaw=-0.2), 0, 1),
    ],
)
def test_the_right_rotors_turn_faster(wanted, faster, slower):
    found = throttles(unbiased(), wanted, Start(), steps=3)
    assert found[faster] > found[slower] + 0.1


def test_position_errors_are_in_heading_axes():
    at_once = throttles(unbiased(), place(1.0, 2.0, 0.3, 0.4), Start(yaw_rad=0.4))
    c, s = math.cos(0.4), math.sin(0.4)
    turned = throttles(unbiased(), place(c + 2.0 * s, 2.0 * c - s, 0.3), Start())
    np.testing.assert_allclose(at_once, turned, rtol=1e-9)


def test_yaw_turns_the_short_way():
    found = throttles(unbiased(), place(yaw=3.1), Start(yaw_rad=-3.1))
    assert found[0] > found[1]


def test_first_throttles_are_those_of_the_gains_by_hand():
    # nothing moves yet: position, velocity, tilt, throttle
    found = throttles(unbiased(), place(x=0.3, z=0.3), Start())
    v = 0.3 * (2.0 + 1.1 * DT_S)
    pitch = 19.66 * v
    u_pitch = pitch * (0.3217 + 0.4324 * DT_S)
    u = 0.3 * (170.242 + 28.862 * DT_S)
    np.testing.assert_allclose(found, [u - u_pitch, u, u + u_pitch, u], rtol=1e-9)


def test_throttle_stays_within_its_limits():
    above = throttles(unbiased(), place(z=100.0), Start(), steps=3)
    below = throttles(unbiased(), place(z=-100.0), Start(), steps=3)
    np.testing.assert_allclose(above, 90.0)
    np.testing.assert_allclose(below, 35.0)
    far = throttles(unbiased(), place(-1e3, 1e3, 100.0, 2.0), Start(), steps=3)
    assert far.max() <= 100.0
    assert far.min() >= 0.0


@pytest.mark.slow
def test_roll_loop_has_the_sources_frequency_and_damping():
    controller, parameters = unbiased(), dynamics("ar-drone").vehicle_parameters(GRAVITY)
    hover = math.sqrt(0.441 * GRAVITY / (4.0 * 9.148e-6))

    def acceleration(roll, before):
        """Return the angular acceleration about x for two consecutive roll angles."""
        state = dataclasses.replace(
            controller.init(KEY),
            height=dataclasses.replace(
                controller.height.init(), integral=jnp.asarray(100.0 * hover / FASTEST)
            ),
        )
        for angle in (before, roll):
            inputs = place(), Start(roll_rad=angle).kinematics()
            state, command = controller.step(state, inputs, DT_S, KEY)
        squares = [speed * speed for speed in command.speeds_radps]
        return 9.148e-6 * 0.18 * (squares[3] - squares[1]) / parameters["inertia_kgm2"]["xx"]

    # a held roll: the proportional part and two steps of the integral
    held = -jax.grad(lambda roll: acceleration(roll, roll))(0.0)
    frequency = math.sqrt(held / (1.0 + 2.0 * DT_S * 0.4324 / 0.3217))
    # one that came in a step: what the filtered derivative adds, k_d N for a jump
    jumped = -jax.grad(lambda roll: acceleration(roll, 0.0))(0.0)
    derivative = (
        jumped - held * (1.0 + DT_S * 0.4324 / 0.3217) / (1.0 + 2.0 * DT_S * 0.4324 / 0.3217)
    ) / 100.0
    assert frequency == pytest.approx(8.8, abs=0.1)
    assert derivative / (2.0 * frequency) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("crazyflie", "a rotor on each half of the body's x and y axes"),
        ("uav-gazebo", "this vehicle has none"),
        ("pelican", "this vehicle has none"),
    ],
)
def test_vehicles_without_rotors_on_the_axes_are_rejected(name, said):
    with pytest.raises(ScenarioError, match=said):
        UavUsvCascade.with_vehicle_defaults(dynamics(name), GRAVITY)


def test_a_weightless_vehicle_is_rejected():
    with pytest.raises(ScenarioError, match="requires a vehicle with weight"):
        UavUsvCascade.with_vehicle_defaults(dynamics("ar-drone"), 0.0)


@pytest.mark.slow
def test_ar_drone_climbs_without_overshoot_and_hovers_at_its_throttle():
    frame = kw.load("step-ar-drone").run().frame("ar-drone")
    height, time_s = frame["z_m"].to_numpy(), frame["time_s"].to_numpy()
    assert height[0] == pytest.approx(0.35)
    assert height.max() < 2.0
    assert (np.abs(height - 2.0)[time_s >= 12.0] < 0.05).all()
    throttle = 100.0 * frame["act_rotor_0_radps"].iloc[-1] / FASTEST
    assert throttle == pytest.approx(65.67, abs=0.05)


@pytest.mark.slow
def test_another_vehicle_is_held_at_its_place():
    changes = {
        "vehicles.hummingbird.controller": "uav-usv-cascade",
        # ten meters above the ground feet change nothing but the time to compile
        "vehicles.hummingbird.parameters": {"landing_gear": None},
        "vehicles.hummingbird.guidance": {"type": "hold", "position_world_m": [0.5, -0.5, 10.5]},
    }
    frame = kw.load("hover-hummingbird", changes).run(30.0).frame("hummingbird")
    last = frame[["x_m", "y_m", "z_m"]].to_numpy()[-500:]
    assert np.linalg.norm(last - [0.5, -0.5, 10.5], axis=1).max() < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    "controller",
    [
        unbiased,
        lambda: UavUsvFlatness(0.441),
        lambda: UavUsvFlatness(0.6, low_pass=Butterworth(20.0, 5)),
    ],
    ids=["cascade", "flatness", "of higher order"],
)
def test_slopes_by_every_gain_are_finite(controller):
    wanted = place(0.3, 0.0, 0.1, -3.0, acceleration_world_mps2=Vec3(1.0, 5.0, 0.0))

    def size(traced):
        start = Start(yaw_rad=3.1, angular_velocity_body_radps=Vec3(0.1, 0.0, -3.0)).kinematics()
        state, _ = traced.step(traced.init(KEY), (wanted, start), DT_S, KEY)
        command = traced.step(state, (wanted, start), DT_S, KEY)[1]
        return sum(jnp.sum(jnp.asarray(leaf)) for leaf in jax.tree.leaves(command))

    traced = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), controller())
    assert all(np.isfinite(leaf) for leaf in jax.tree.leaves(jax.grad(size)(traced)))


# differential flatness


def extracted(force, yaw):
    """Return the rotation matrix by the source's cross products."""
    z_body = force / np.linalg.norm(force)
    heading = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    y_body = np.cross(z_body, heading)
    y_body /= np.linalg.norm(y_body)
    return np.column_stack([np.cross(y_body, z_body), y_body, z_body])


@pytest.mark.slow
@settings(deadline=None)
@given(*[st.floats(-3.0, 3.0)] * 2, st.floats(-2.0, 2.0), st.floats(-math.pi, math.pi))
def test_thrust_and_attitude_are_those_of_the_cross_products(x, y, z, yaw):
    with jax.enable_x64(True):
        controller = UavUsvFlatness(0.441)
        wanted = place(z=0.1 * z, yaw=yaw, acceleration_world_mps2=Vec3(x, y, 0.0))
        inputs = wanted, Start().kinematics()
        command = controller.step(controller.init(KEY), inputs, DT_S, KEY)[1]
        lift = np.clip(4.35 + 10.0 * 0.1 * z * (1.0 + DT_S), 2.0, 7.0)
        force = np.array([0.441 * x, 0.441 * y, lift])
        assert float(command.thrust_n) == pytest.approx(np.linalg.norm(force), rel=1e-12)
        rotation = extracted(force, yaw)
        for i, axis in enumerate(np.eye(3)):
            found = command.q_world_from_body.rotate(Vec3.of(axis)).array
            np.testing.assert_allclose(found, rotation[:, i], atol=1e-12)


def test_heights_thrust_is_in_proportion_to_the_weight():
    def thrust(mass_kg, gravity_mps2):
        controller = UavUsvFlatness(mass_kg, gravity_mps2)
        inputs = place(z=0.1), Start().kinematics()
        return float(controller.step(controller.init(KEY), inputs, DT_S, KEY)[1].thrust_n)

    assert thrust(1.323, 9.81) == pytest.approx(3.0 * thrust(0.441, 9.81))
    assert thrust(0.441, 1.62) == pytest.approx(1.62 / 9.81 * thrust(0.441, 9.81))


def test_rate_of_yaw_is_passed_on_about_the_vertical():
    controller = UavUsvFlatness(0.441)
    wanted = place(yaw=0.3, yaw_rate_radps=0.7, acceleration_world_mps2=Vec3(1.0, 2.0, 0.0))
    command = controller.step(controller.init(KEY), (wanted, Start().kinematics()), DT_S, KEY)[1]
    found = command.q_world_from_body.rotate(command.angular_velocity_body_radps).array
    np.testing.assert_allclose(found, [0.0, 0.0, 0.7], atol=1e-12)


def come_back(time_s):
    """Return the acceleration of 10 m forward and back, each in 10 s with minimum jerk."""
    tau, sign = (time_s % 10.0) / 10.0, 1.0 if time_s < 10.0 else -1.0
    return sign * 0.1 * (60.0 * tau - 180.0 * tau**2 + 120.0 * tau**3)


def go_hover(time_s):
    """Return an acceleration for 10 s, and the opposite to rest."""
    tau, sign = (time_s % 10.0) / 10.0, 1.0 if time_s < 10.0 else -1.0
    return sign * 30.0 * tau**2 * (1.0 - tau) ** 2


def flown(**gains):
    """Return positions, and tilts in degrees, of the source's third demonstration at 100 Hz."""
    changes = {
        "vehicles.ar-drone.controller": {"type": "uav-usv-flatness", **gains},
        "vehicles.ar-drone.parameters": {"landing_gear": None},
        "vehicles.ar-drone.start": {"position_world_m": [0, 0, 2], "yaw_deg": -90},
        "time": {"rate_hz": 100, "duration_s": 20},
        "world.area": {"x_m": [-50, 50], "y_m": [-50, 50], "z_m": [0, 20]},
    }
    simulation = kw.load("hover-ar-drone", changes)
    simulation.reset()
    places, upright = [], []
    for step in range(2000):
        acceleration = kw.Vec3(come_back(step * DT_S) / 2.0, go_hover(step * DT_S) / 4.0, 0.0)
        wanted = kw.PositionYaw(
            kw.Vec3(0.0, 0.0, 2.0), -math.pi / 2.0, acceleration_world_mps2=acceleration
        )
        simulation.step({"ar-drone": wanted})
        truth = simulation.observe()["ar-drone"].truth
        places.append(truth.position_world_m.array)
        q = truth.q_world_from_body
        upright.append(1.0 - 2.0 * (q.x**2 + q.y**2))
    return np.array(places), np.degrees(np.arccos(np.clip(upright, -1.0, 1.0)))


@pytest.mark.slow
def test_the_sources_demonstration_ends_where_it_should_in_open_loop():
    places, tilts = flown(horizontal={"proportional": 0, "derivative_s": 0})
    x, y, z = places.T
    assert x.max() == pytest.approx(5.0, abs=0.25)
    assert x[-1] == pytest.approx(0.0, abs=0.5)
    assert y[-1] == pytest.approx(25.0, abs=0.5)
    assert tilts.max() <= 2.8
    np.testing.assert_allclose(z, 2.0, atol=0.05)


def test_filter_of_order_2_climbs_as_that_of_order_15_within_eight_percent():
    def height(order):
        loop = UavUsvFlatness(0.441, low_pass=Butterworth(20.0, order), horizontal=Pid(0.0))

        def once(carry, _):
            state, z, rate = carry
            start = Start(Vec3(0.0, 0.0, z), velocity_world_mps=Vec3(0.0, 0.0, rate))
            state, command = loop.step(state, (place(z=1.0), start.kinematics()), DT_S, KEY)
            later = rate + (command.thrust_n / 0.441 - GRAVITY) * DT_S
            return (state, z + later * DT_S, later), z

        initial = (loop.init(KEY), jnp.asarray(0.0), jnp.asarray(0.0))
        return np.asarray(jax.lax.scan(once, initial, None, 1500)[1])

    low, high = height(2), height(15)
    # 65 ms more of delay in a loop that rises in .3 s and overshoots by its integral
    assert np.abs(low - high).max() < 0.08
    np.testing.assert_allclose([low[-1], high[-1]], 1.0, atol=1e-2)
