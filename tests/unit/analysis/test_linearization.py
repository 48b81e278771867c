"""Linearization: against finite differences, published linear models, and flights."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.selection import slow_besides

import kittiwake as kw
from kittiwake.analysis.linearization import SampledLoop
from kittiwake.analysis.trim import surroundings
from kittiwake.control.linearize import linearize as linearize_hover
from kittiwake.core.errors import ScenarioError
from kittiwake.interfaces.continuous import POSITION, RATES, ROTATION, VELOCITY, ContinuousState
from kittiwake.vehicles import VEHICLES

MODELS = sorted(VEHICLES.names())
VESSELS = {"otter", "strider"}
# one of each kind of dynamics; the others take half a minute
QUICK = {"hummingbird", "pelican"}


def moved_point(model):
    """Return a steady state of a vehicle under way, in wind if it flies."""
    world = None if model in VESSELS else kw.World(wind=[0.5, -1.0, 0.0])
    return kw.trim(model, world, velocity_world_mps=(1.2, 0.4, 0.0))


def state_rates(point, states, inputs, x, u):
    """Return the rates of the states, with rotations by SciPy."""
    deviation = dict(zip([signal.name for signal in states], x, strict=True))

    def vector(names):
        return np.array([deviation.get(name, 0.0) for name in names])

    base = point.start.kinematics()
    q = base.q_world_from_body
    turned = Rotation.from_quat([q.x, q.y, q.z, q.w]) * Rotation.from_rotvec(vector(ROTATION))
    yaw, pitch, roll = turned.as_euler("ZYX")
    velocity = turned.apply(base.velocity_body_mps.array + vector(VELOCITY))
    omega = base.angular_velocity_body_radps.array + vector(RATES)
    place = base.position_world_m.array + vector(POSITION)
    motion = kw.Start(
        kw.Vec3(*place), roll, pitch, yaw, kw.Vec3(*velocity), kw.Vec3(*omega)
    ).kinematics()
    actuators = {
        name: value + deviation[f"act_{name}"]
        for name, value in point.dynamics.steady_actuators(point.command).items()
    }
    command = moved_command(point.command, inputs, u)
    state = ContinuousState(motion, actuators)
    around = surroundings(point.world, point.dynamics, state)
    rates = point.dynamics.rates(state, command, around)
    turning = np.asarray(rates.turning_body_radps.array)
    # SciPy's rotation vector differs from theta in the third order
    by_name = {
        **dict(zip(POSITION, velocity, strict=True)),
        **dict(zip(ROTATION, turning + np.cross(vector(ROTATION), turning) / 2, strict=True)),
        **dict(zip(VELOCITY, rates.velocity_rate_body_mps2.array, strict=True)),
        **dict(zip(RATES, rates.angular_acceleration_body_radps2.array, strict=True)),
        **{f"act_{name}": rate for name, rate in rates.actuators.items()},
    }
    return np.array([float(by_name[signal.name]) for signal in states])


def moved_command(command, inputs, u):
    """Return a command with deviations, by the order of its numbers."""
    if isinstance(command, kw.ThrustAttitude):
        q = command.q_world_from_body
        turned = Rotation.from_quat([q.x, q.y, q.z, q.w]) * Rotation.from_rotvec(u[1:])
        x, y, z, w = turned.as_quat()
        return kw.ThrustAttitude(command.thrust_n + u[0], kw.Quaternion(w, x, y, z))
    leaves, treedef = jax.tree.flatten(command)
    return jax.tree.unflatten(treedef, [leaf + d for leaf, d in zip(leaves, u, strict=True)])


def differences(function, sizes):
    """Return the Jacobian by central differences, with steps relative to the sizes."""
    columns = []
    for i, size in enumerate(sizes):
        step = np.zeros(len(sizes))
        step[i] = 1e-7 * max(1.0, abs(size))
        columns.append((function(step) - function(-step)) / (2.0 * step[i]))
    return np.array(columns).T


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [pytest.param(m, marks=() if m in QUICK else pytest.mark.slow) for m in MODELS],
)
def test_matrices_are_the_finite_differences(model):
    point = moved_point(model)
    linear = kw.linearize(point)
    states, inputs = linear.states, linear.inputs
    zero_x, zero_u = np.zeros(len(states)), np.zeros(len(inputs))
    sizes_x = [linear.operating_point.get(s.name, 0.0) for s in states]
    sizes_u = [linear.operating_point[s.name] for s in inputs]
    with jax.enable_x64(True):
        rates = partial(state_rates, point, states, inputs)
        a = differences(lambda x: rates(x, zero_u), sizes_x)
        b = differences(lambda u: rates(zero_x, u), sizes_u)
    # rounding of rates up to 200 over a step of 1e-7 is 2e-7
    for matrix, expected in ((linear.A, a), (linear.B, b)):
        np.testing.assert_allclose(matrix, expected, rtol=1e-6, atol=1e-6)
    assert max(abs(linear.drift[s.name]) for s in states[3:]) < 1e-9 or model in VESSELS


@pytest.mark.slow
def test_pelican_has_the_published_linear_response():
    """QRSim manual, equations p, q, r, u, v, w at hover, with the constants of its program."""
    linear = kw.linearize(kw.trim("pelican"))
    roll = linear.part(
        states=["rotation_x_body_rad", "angular_velocity_x_body_radps"],
        inputs=["cmd_roll_rad"],
        outputs=["roll_rad"],
    )
    k_pq0, k_pq1, k_pq2 = 0.7449826435409016, -179.797, -24.3536
    np.testing.assert_allclose(roll.A, [[0.0, 1.0], [k_pq1, k_pq2]], atol=1e-9)
    np.testing.assert_allclose(roll.B, [[0.0], [-k_pq0 * k_pq1]], atol=1e-9)
    forward = linear.part(states=["velocity_x_body_mps", "rotation_y_body_rad"])
    np.testing.assert_allclose(forward.A, [[-0.497391, 9.81], [0.0, 0.0]], atol=1e-9)
    up = linear.part(states=["velocity_z_body_mps"], inputs=["cmd_throttle"])
    slope = 3.050826953 + 2.0 * 40.26064275695 * linear.operating_point["cmd_throttle"]
    np.testing.assert_allclose(up.A, [[-1.35341]], atol=1e-9)
    np.testing.assert_allclose(up.B, [[slope / 1.68]], rtol=1e-6)
    turn = linear.part(states=["angular_velocity_z_body_radps"], inputs=["cmd_yaw_rate_radps"])
    np.testing.assert_allclose(turn.A, [[-5.08944]], atol=1e-9)
    np.testing.assert_allclose(turn.B, [[2.2179957336998273]], atol=1e-9)


@pytest.mark.slow
def test_angle_velocity_drone_has_the_lag_of_its_source():
    """Equation 5-1 of the Matlab simulator: 0.1 of the error each 5 ms, a lag of 47.46 ms."""
    linear = kw.linearize(kw.trim("angle-velocity"))
    response = linear.step("cmd_rotation_x_body_rad", "roll_rad", duration_s=0.5)
    after = np.interp(0.005, response.time_s, response.values)
    assert response.final == pytest.approx(1.0, abs=1e-9)
    assert after == pytest.approx(0.1, abs=1e-3)


@pytest.mark.slow
def test_strider_turns_as_nomoto_describes():
    """Second-order model r / delta of the derivatives in the program of Velasco et al. (2020).

    At a speed of 1 m/s, with the rudder's slope pi/2 / stall_rad and its arm aft, as corrected.
    """
    mass, inertia, arm = 4.11, 0.639, 0.34727
    pressure = 0.5 * 998.0 * 1.2 * 0.0064 * (np.pi / 2.0) / 0.5235987755982988
    hull = 2.0 * np.array([[-3.899501881, 1.774273356], [-1.774273356, -0.807294377]])
    # attack angle: delta less the drift at the rudder, -(v - arm r) / u
    blade = np.array([1.0, -arm])
    a = hull + pressure * np.outer([1.0, -arm], -blade)
    a[0, 1] -= mass  # centripetal
    a = np.diag([1.0 / mass, 1.0 / inertia]) @ a
    b = np.array([-pressure / mass, pressure * arm / inertia])
    linear = kw.linearize(kw.trim("strider", velocity_world_mps=(1.0, 0.0, 0.0)))
    turn = linear.part(
        states=["velocity_y_body_mps", "angular_velocity_z_body_radps"],
        inputs=["cmd_rudder_rad"],
        outputs=["wz_radps"],
    )
    np.testing.assert_allclose(turn.A, a, rtol=1e-9)
    np.testing.assert_allclose(turn.B[:, 0], b, rtol=1e-9)
    # Nomoto's gain K = r / delta in the steady turn
    assert turn.step("cmd_rudder_rad", "wz_radps").final == pytest.approx(
        -np.linalg.solve(a, b)[1], rel=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", slow_besides(["hummingbird"], ["hummingbird", "os4", "uav-gazebo"])
)
def test_body_has_the_matrix_on_which_the_lqr_is_based(model):
    point = kw.trim(model, position_world_m=(0.0, 0.0, 1000.0))
    linear = kw.linearize(point)
    body = [*POSITION, *ROTATION, *VELOCITY, *RATES]
    own = linear.part(states=body).A
    expected, _ = linearize_hover(point.dynamics, 9.81)
    # blade-element rotors depend on the air, which is that of sea level for the law
    rtol = 0.15 if model == "os4" else 1e-9
    own, expected = own[3:, 3:], np.array(expected)[3:, 3:]
    np.testing.assert_allclose(own, expected, rtol=rtol, atol=1e-3 * rtol)


def test_thrust_and_torques_are_inputs_through_the_mixer():
    """Torques cause the angular acceleration I^-1 tau once the motors have followed."""
    point = kw.trim("hummingbird")
    linear = kw.linearize(point, command_type=kw.ThrustTorque)
    assert [tuple(signal) for signal in linear.inputs] == [
        ("setpoint.thrust_n", "N"),
        *((f"setpoint.torque_{axis}_body_nm", "N m") for axis in "xyz"),
    ]
    mass_kg = point.dynamics.vehicle_parameters(9.81)["mass_kg"]
    weight_n = mass_kg * float(point.world.gravity_mps2)
    assert linear.operating_point["setpoint.thrust_n"] == pytest.approx(weight_n, rel=1e-9)
    rotors, names = kw.linearize(point), [signal.name for signal in linear.states]
    mixer = np.linalg.lstsq(rotors.B, linear.B, rcond=None)[0]
    rates = [names.index(name) for name in RATES]
    speeds = [names.index(f"act_rotor_{i}_radps") for i in range(4)]
    # in the steady state of the motors, speeds follow commands
    given = linear.A[np.ix_(rates, speeds)] @ mixer[:, 1:]
    inertia = point.dynamics.inertia_kgm2.matrix
    np.testing.assert_allclose(given, np.linalg.inv(inertia), rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_a_law_of_the_attitude_without_states_is_part_of_the_model():
    """The roll follows its setpoint: alpha = w^2 (phi_0 - phi) - 2 z w p, behind the motors."""
    scenario = kw.Scenario(
        vehicles={
            "h": kw.Vehicle(
                model="hummingbird",
                guidance={"type": "hold", "position_world_m": [0, 0, 10]},
                controllers=["position", "acceleration", "attitude"],
            )
        },
        rate_hz=500,
        duration_s=1.0,
    )
    point = kw.trim(scenario.vehicles["h"])
    linear = kw.linearize(point, command_type=kw.ThrustAttitude)
    roll = linear.step("setpoint.rotation_x_body_rad", "roll_rad", duration_s=5.0)
    assert roll.values[-1] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("command_type", "words"),
    [
        ("ThrustTorque", r"got 'ThrustTorque'; must be one of .*kw.ThrustTorque"),
        (kw.Vec3, "got the class Vec3; must be one of"),
        (kw.ThrustTorque(1.0, [0, 0, 0]), "got a ThrustTorque; must be one of"),
        (kw.HeadingSpeed, "no controller leads from HeadingSpeed to RotorSpeeds"),
    ],
)
def test_only_commands_above_the_actuators_are_inputs(command_type, words):
    with pytest.raises(ScenarioError, match=f"`command_type`: {words}"):
        kw.linearize(kw.trim("hummingbird"), command_type=command_type)


def test_a_command_type_belongs_to_a_steady_state(scenario):
    with pytest.raises(ScenarioError, match="`command_type`: got .* with a scenario"):
        kw.linearize(scenario, command_type=kw.ThrustTorque)


SCENARIO = {
    "name": "loop",
    "time": {"rate_hz": 250, "duration_s": 2},
    "vehicles": {
        "drone": {
            "model": "uav-gazebo",
            "start": {"position_world_m": [0, 0, 10]},
            "guidance": {"type": "hold", "position_world_m": [0, 0, 10]},
        }
    },
}


@pytest.fixture(scope="module")
def scenario():
    return kw.Scenario.load(SCENARIO)


@pytest.fixture(scope="module")
def loop(scenario):
    with jax.enable_x64(True):
        return SampledLoop.at(scenario, None, 2.0, None)


@pytest.fixture(scope="module")
def linear_loop(loop):
    with jax.enable_x64(True):
        return loop.linearize()


@pytest.mark.slow
def test_loop_is_the_finite_difference_of_a_period(loop, linear_loop):
    states, inputs = loop.coordinates()
    with jax.enable_x64(True):
        ahead = loop.after()
        period = jax.jit(partial(loop.period, states, inputs, ahead))
        kept = [states.names.index(signal.name) for signal in linear_loop.states]
        zero_x, zero_u = jnp.zeros(len(states.names)), jnp.zeros(len(inputs.names))

        def after(x, u):
            return np.asarray(period(jnp.asarray(x), jnp.asarray(u))[0])

        step = 1e-5
        directions = step * np.eye(len(states.names))[kept]
        a = [(after(d, zero_u) - after(-d, zero_u))[kept] / (2 * step) for d in directions]
        directions = step * np.eye(len(inputs.names))
        b = [(after(zero_x, d) - after(zero_x, -d))[kept] / (2 * step) for d in directions]
    np.testing.assert_allclose(linear_loop.A, np.array(a).T, atol=1e-6)
    np.testing.assert_allclose(linear_loop.B, np.array(b).T, atol=1e-6)


@pytest.mark.slow
def test_flight_to_a_near_setpoint_is_the_step_response(loop, linear_loop):
    step_m, count = 1e-4, 500
    setpoint = loop.setpoint
    near = kw.PositionYaw(setpoint.position_world_m + kw.Vec3(step_m, 0.0, step_m), 0.0)

    def fly(state, _):
        motion = loop.fleet.truths(state)[0]
        return loop.fleet.advance(state, {"drone": near}), motion.position_world_m

    with jax.enable_x64(True):
        _, flown = jax.jit(lambda begin: jax.lax.scan(fly, begin, None, length=count + 1))(
            loop.state
        )
    for axis in "xz":
        response = linear_loop.step(
            f"setpoint.position_{axis}_world_m",
            f"{axis}_m",
            duration_s=count * linear_loop.period_s,
        )
        values = (np.asarray(getattr(flown, axis))[:, 0] - (10.0 if axis == "z" else 0.0)) / step_m
        np.testing.assert_allclose(response.values, values, atol=2e-5)


def test_loop_of_uav_gazebo_settles_as_its_gains_say(linear_loop):
    """Position gains Wp 0.5 rad/s, Xp 1: critically damped, 2 % after 5.83 / Wp (Ogata 2010)."""
    response = linear_loop.step("setpoint.position_z_world_m", "z_m")
    assert response.final == pytest.approx(1.0, abs=1e-6)
    assert response.settling_time_s == pytest.approx(5.834 / 0.5, abs=0.05)
    assert response.overshoot_percent < 1e-6


def test_loop_names_what_it_leaves_out(linear_loop):
    assert linear_loop.left_out["status"] == "counter"
    assert linear_loop.left_out["streams.dynamics"] == "random key"
    assert linear_loop.left_out["guidance.position_x_world_m"] == "without effect on outputs"
    assert linear_loop.period_s == pytest.approx(0.004)
    assert linear_loop.inputs[0] == ("setpoint.position_x_world_m", "m")
    assert max(map(abs, linear_loop.drift.values())) < 1e-9
    assert "sampled each 0.004 s" in repr(linear_loop)


def test_a_vehicle_must_be_named_among_several(scenario):
    with pytest.raises(ScenarioError, match="`vehicle`: got gull; must be one of the scenario"):
        kw.linearize(scenario, vehicle="gull")


def test_a_period_needs_a_step(scenario):
    with pytest.raises(ScenarioError, match="`steps`: got 0"):
        kw.linearize(scenario, steps=0)


def test_a_time_before_the_flight_is_refused(scenario):
    with pytest.raises(ScenarioError, match="`at_s`: got -1"):
        kw.linearize(scenario, at_s=-1.0)


def test_a_time_after_the_flight_is_refused(scenario):
    with pytest.raises(ScenarioError, match=r"`at_s`: got 1e.*at most"):
        kw.linearize(scenario, at_s=1e6)


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ("hummingbird", r"got the vehicle model 'hummingbird'; .*kw.trim\('hummingbird'\)"),
        (kw.Vehicle(model="os4"), r"got a Vehicle; must be a steady state, such as kw.trim"),
        ("hover-humingbird", "Did you mean 'hover-hummingbird'"),
        (3, "got 3; must be a steady state"),
    ],
)
def test_only_steady_states_and_scenarios_are_linearized(point, words):
    with pytest.raises(ScenarioError, match=words):
        kw.linearize(point)


def test_a_scenario_may_be_given_by_name_or_as_simulation():
    for given in ("hover-hummingbird", kw.load("hover-hummingbird")):
        with pytest.raises(ScenarioError, match="`steps`: got 0"):
            kw.linearize(given, steps=0)


@pytest.mark.slow
def test_contact_by_mujoco_is_refused():
    pytest.importorskip("mujoco")
    with pytest.raises(ScenarioError, match="contact by MuJoCo cannot be differentiated"):
        kw.linearize(kw.Scenario.load(SCENARIO | {"physics": "mujoco"}))


@pytest.mark.slow
def test_loop_includes_a_smooth_estimator_and_slower_controllers():
    """The period is that of the controllers; a filter's covariance is held."""
    document = {
        "name": "loop",
        "time": {"rate_hz": 200, "duration_s": 3},
        "world": {"satellites": "nominal"},
        "vehicles": {
            "drone": {
                "model": "hummingbird",
                "start": {"position_world_m": [0, 0, 10]},
                "sensors": {"imu": "imu", "gnss": "gnss", "compass": "magnetometer"},
                "estimator": "ekf",
                "controller": [{"type": "position", "rate_hz": 50}, "acceleration", "attitude"],
                "guidance": {"type": "hold", "position_world_m": [0, 0, 10]},
            }
        },
    }
    linear = kw.linearize(kw.Scenario.load(document))
    assert linear.period_s == pytest.approx(0.02)
    assert "matrix, held constant" in linear.left_out.values()
    assert any(signal.name.startswith("estimator.") for signal in linear.states)
    assert np.isfinite(linear.A).all()
