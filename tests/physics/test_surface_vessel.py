"""The vessel: the Strider's published figures, its limits, and what physics asks of it."""

import dataclasses
import math
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.physics.pelican_dynamics import about_z, rows_of
from tests.physics.strider_dynamics import DT_S, around, orders, sail, sailing, strider

import kittiwake as kw
from kittiwake.control.vessel_heading_speed import VesselHeadingSpeed
from kittiwake.control.vessel_position import VesselPosition
from kittiwake.core.commands import PositionYaw
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.hull import slender_body_derivatives
from kittiwake.physics.integrators import MechanicalState
from kittiwake.physics.rudder import Rudder
from kittiwake.physics.surface_vessel import VesselPose, VesselVelocities

LEVER_M = 0.34727
SOURCE_INFLOW = {"vehicles.strider.parameters.rudder.inflow_x_body_m": LEVER_M}
SWEEP_M = [(20, 0), (20, 20), (10, 20), (10, 10), (0, 10), (0, 20)]
# resistance of the hulls in surge, and none of the air
DAMPED = {
    "hull": {"x_u_kgps": -1.0, "x_uu_kgpm": -2.0},
    "air_drag_surge_kgpm": 0.0,
    "air_drag_sway_kgpm": 0.0,
}
UNDAMPED = {
    **DAMPED,
    "hull": dict.fromkeys(("y_v_kgps", "y_r_kgmps", "n_v_kgmps", "n_r_kgm2ps"), 0.0),
    "rudder": {"max_lift_coefficient": 0.0},
}
ADDED = {"added_mass": {"surge_kg": 0.4, "sway_kg": 6.0, "sway_yaw_kgm": 0.3, "yaw_kgm2": 0.4}}


# published figures


def test_slender_body_theory_gives_the_published_derivatives():
    theory = slender_body_derivatives(0.91, 0.05, 998.0, 1.0)
    hull = strider().hull
    for name in ("y_v_kgps", "y_r_kgmps", "n_v_kgmps", "n_r_kgm2ps"):
        # all four are half a per cent high, as if the draft had been 0.04987 m
        assert getattr(theory, name) == pytest.approx(getattr(hull, name), rel=0.006)


@cache
def cruised(source_inflow, positions=None, duration_s=46.0):
    """The cruise of the library's scenario, with when it reached each place."""
    changes = (
        {} if positions is None else {"vehicles.strider.guidance.positions_world_m": positions}
    )
    area = {"world.area": {"x_m": [-30, 30], "y_m": [-30, 30]}}
    inflow = SOURCE_INFLOW if source_inflow else {}
    log = kw.load("cruise-strider", {**changes, **area, **inflow}).run(duration_s)
    frame = log.frame("strider")
    legs = frame["guidance.legs"].to_numpy()
    return frame, frame["time_s"].to_numpy()[1:][np.diff(legs) > 0]


@pytest.mark.parametrize(
    ("source_inflow", "published_s"),
    [(True, [5.5, 15.1, 22.3, 29.6, 36.0]), (False, [6.3, 17.8, 29.5, 36.4, 44.8])],
)
def test_box_is_sailed_in_the_published_times(source_inflow, published_s):
    frame, hits_s = cruised(source_inflow)
    # the filter of the rudder begins otherwise, which shows in the second per cent
    np.testing.assert_allclose(hits_s[:5], published_s, rtol=0.02)
    last = frame.iloc[-1]
    yaw = 2.0 * math.atan2(last["qz"], last["qw"])
    surge = last["vx_mps"] * math.cos(yaw) + last["vy_mps"] * math.sin(yaw)
    # a proportional loop gives way by 0.012 m/s for each newton that the rudder takes in a turn
    assert surge == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize(("source_inflow", "within"), [(True, 0.005), (False, 0.05)])
def test_sweep_is_sailed_in_the_published_times(source_inflow, within):
    positions = tuple((float(x), float(y), 0.0) for x, y in SWEEP_M)
    _, hits_s = cruised(source_inflow, positions, 90.0)
    # the published ones are of the source's inflow, which turns more tightly
    np.testing.assert_allclose(hits_s, [20.2, 41.1, 51.9, 62.6, 73.8, 84.5], rtol=within)


def test_actuators_stay_in_their_range_and_the_vessel_soon_cruises():
    frame, _ = cruised(False)
    assert frame["act_thrust_n"].abs().max() <= 3.0
    assert frame["act_rudder_rad"].abs().max() <= math.radians(35.0)
    # both are used to the full
    assert frame["act_thrust_n"].abs().max() == 3.0
    assert frame["act_rudder_rad"].abs().max() == pytest.approx(math.radians(35.0), rel=1e-12)


def test_full_thrust_reaches_cruise_speed_in_the_published_time():
    motion, _ = sail(strider(), orders(300, thrust_n=3.0), sailing(0.0))
    surge = np.asarray(motion.velocity_body_mps.x)
    assert (surge[1] - surge[0]) / DT_S == pytest.approx(3.0 / 4.11, rel=1e-3)
    assert DT_S * np.argmax(surge >= 0.95) == pytest.approx(1.3, abs=0.05)


def test_vessel_without_thrust_coasts_against_the_air_alone():
    motion, _ = sail(strider(), orders(6000), sailing(1.0))
    t = DT_S * np.arange(6001)
    # m u' = -k u^2; Kutta's rule is exact to 1e-12 here
    expected = 1.0 / (1.0 + 0.1 / 4.11 * t)
    np.testing.assert_allclose(motion.velocity_body_mps.x, expected, rtol=1e-10)
    # the published rate has three digits
    np.testing.assert_allclose(motion.velocity_body_mps.x, 1.0 / (1.0 + 0.0243 * t), rtol=1e-3)


# the rudder and the propeller


def test_positive_rudder_turns_to_the_left():
    motion, _ = sail(strider(), orders(200, rudder_rad=0.2), sailing(1.0))
    assert (np.asarray(motion.euler_world_from_body.yaw_rad)[1:] > 0.0).all()


def test_rudder_force_is_the_published_one():
    rudder, delta = strider().rudder, -0.3
    for u, v, r in [(1.0, 0.0, 0.0), (0.8, 0.1, -0.4), (1.2, -0.3, 0.5)]:
        attack = delta - math.atan((v - LEVER_M * r) / u)
        saturated = max(-1.0, min(1.0, attack / math.radians(30.0)))
        force = 0.5 * 998.0 * 1.2 * 0.0064 * u * u * math.sin(0.5 * math.pi * saturated)
        expected = -force * math.sin(delta), force * math.cos(delta)
        # the source counts the angle the other way round
        assert rudder.force(u, v, r, -delta, 998.0) == pytest.approx(expected, rel=1e-12)


def test_rudder_turns_no_faster_than_its_rate():
    model = strider(rudder={"max_rate_radps": 0.5})
    _, actuators = sail(model, orders(100, rudder_rad=0.2), sailing(1.0))
    expected = np.minimum(0.5 * DT_S * np.arange(101), 0.2)
    np.testing.assert_allclose(actuators["rudder_rad"], expected, rtol=0, atol=1e-13)


def test_rudder_without_a_rate_follows_at_once():
    _, actuators = sail(strider(), orders(3, rudder_rad=[0.2, -0.1, 0.3]), sailing(1.0))
    np.testing.assert_array_equal(actuators["rudder_rad"], [0.0, 0.2, -0.1, 0.3])


def test_commands_are_cut_at_the_stops():
    _, actuators = sail(strider(), orders(2, rudder_rad=2.0, thrust_n=-9.0), sailing(1.0))
    assert float(actuators["rudder_rad"][-1]) == pytest.approx(math.radians(35.0))
    assert float(actuators["thrust_n"][-1]) == -3.0


def test_inflow_of_the_source_lets_the_vessel_turn_more_tightly():
    radii = []
    for lever in (-LEVER_M, LEVER_M):
        model = strider(rudder={"inflow_x_body_m": lever})
        motion, _ = sail(model, orders(500, rudder_rad=0.35, thrust_n=0.6), sailing(1.0))
        speed = jnp.hypot(motion.velocity_body_mps.x, motion.velocity_body_mps.y)
        radii.append(float((speed / motion.angular_velocity_body_radps.z)[-1]))
    # 20 degrees at the thrust that keeps up 1 m/s in the wider of the two turns
    assert radii[0] == pytest.approx(2.25, abs=0.05)
    assert 0.0 < radii[1] < 0.65 * radii[0]


# what physics asks of any vessel


@pytest.mark.parametrize("angle", [0.5, 2.0, -3.0])
@pytest.mark.parametrize("parameters", [{}, ADDED], ids=["strider", "added mass"])
def test_voyage_turns_with_the_world(angle, parameters):
    model, turn = strider(**parameters), about_z(angle)
    t = DT_S * np.arange(1000)
    rows = orders(1000, rudder_rad=0.5 * np.sin(t), thrust_n=1.0 + np.cos(0.7 * t))
    start = Start(Vec3(3.0, -1.0, 0.2), 0.0, 0.0, 0.4, Vec3(0.8, 0.3, 0.0), Vec3(0.0, 0.0, 0.2))
    wind, current = Vec3(1.0, 2.0, 0.0), Vec3(-0.2, 0.3, 0.0)
    plain, _ = sail(model, rows, start, around(wind, current))
    turned = dataclasses.replace(
        start,
        position_world_m=Vec3.of(turn @ start.position_world_m.array),
        velocity_world_mps=Vec3.of(turn @ start.velocity_world_mps.array),
        yaw_rad=0.4 + angle,
    )
    wind, current = (Vec3.of(turn @ v.array) for v in (wind, current))
    other, _ = sail(model, rows, turned, around(wind, current))
    # rounding over 1000 steps
    for name in ("position_world_m", "velocity_world_mps"):
        expected = rows_of(getattr(plain, name)) @ turn.T
        np.testing.assert_allclose(rows_of(getattr(other, name)), expected, rtol=0, atol=1e-11)
    for name in ("velocity_body_mps", "angular_velocity_body_radps", "specific_force_body_mps2"):
        found, expected = rows_of(getattr(other, name)), rows_of(getattr(plain, name))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
    yaws = other.euler_world_from_body.yaw_rad - plain.euler_world_from_body.yaw_rad
    np.testing.assert_allclose(yaws, angle, rtol=0, atol=1e-11)


def test_uniform_current_carries_the_whole_voyage_along():
    model = strider(air_drag_surge_kgpm=0.0, air_drag_sway_kgpm=0.0, **ADDED)
    current = Vec3(0.3, -0.4, 0.0)
    t = DT_S * np.arange(1000)
    rows = orders(1000, rudder_rad=0.5 * np.sin(t), thrust_n=1.5)
    still, _ = sail(model, rows, sailing(0.5, 0.1, 0.2))
    start = sailing(0.5, 0.1, 0.2)
    start = dataclasses.replace(start, velocity_world_mps=start.velocity_world_mps + current)
    carried, _ = sail(model, rows, start, around(current=current))
    drifted = rows_of(still.position_world_m) + np.outer(
        DT_S * np.arange(1001), np.array([0.3, -0.4, 0.0])
    )
    # Kutta's rule sees the current turn in the body: 1e-10 a step at a radian a second, over 1000
    np.testing.assert_allclose(rows_of(carried.position_world_m), drifted, rtol=0, atol=1e-8)


def test_vessel_at_rest_drifts_with_the_current_in_the_end():
    current = Vec3(0.3, -0.4, 0.0)
    motion, _ = sail(
        strider(**DAMPED), orders(6000), sailing(0.0, yaw=0.7), around(current=current)
    )
    velocity = rows_of(motion.velocity_world_mps)
    assert np.abs(velocity[0]).max() == 0.0
    # the slowest part dies with 1 / 4.11 per second: e^-14 of half a meter per second in a minute
    np.testing.assert_allclose(velocity[-1], [0.3, -0.4, 0.0], rtol=0, atol=1e-6)


def kinetic_energy_j(model, u, v, r):
    added = model.added_mass
    return 0.5 * (
        (model.mass_kg + added.surge_kg) * u**2
        + (model.mass_kg + added.sway_kg) * v**2
        + 2.0 * added.sway_yaw_kgm * v * r
        + (model.yaw_inertia_kgm2 + added.yaw_kgm2) * r**2
    )


@pytest.mark.parametrize("parameters", [{}, ADDED], ids=["strider", "added mass"])
def test_undamped_vessel_keeps_its_energy(parameters):
    model = strider(**{**UNDAMPED, "hull": {**UNDAMPED["hull"]}, **parameters})
    start = sailing(1.0, 0.3, 0.5)
    motion, _ = sail(model, orders(2000), start)
    u, v = motion.velocity_body_mps.x, motion.velocity_body_mps.y
    energy = np.asarray(kinetic_energy_j(model, u, v, motion.angular_velocity_body_radps.z))
    # Kutta's rule at a radian a second: (0.01)^5 a step over 2000 steps
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)
    assert np.ptp(np.asarray(u)) > 0.1, "the motion itself changes"


def powers(model, motions):
    """What everything but the propeller does to the kinetic energy in still water and air."""

    def power(velocities):
        u, v, r, rudder = velocities
        state = MechanicalState(VesselPose(0.0, 0.0, 0.3), VesselVelocities(u, v, r, rudder))
        rates = model.derivative(state, 0.0, 0.0, around()).velocities
        found = jax.jvp(
            lambda *nu: kinetic_energy_j(model, *nu),
            (u, v, r),
            (rates.surge_mps, rates.sway_mps, rates.yaw_rate_radps),
        )
        return found[1]

    return np.asarray(jax.jit(jax.vmap(power))(motions))


@pytest.fixture
def anyhow():
    """Velocities in all directions, and rudder angles between the stops."""
    draws = np.random.default_rng(5).uniform(-1.0, 1.0, (2000, 4))
    return draws * np.array([2.0, 1.0, 2.0, math.radians(35.0)])


@pytest.mark.parametrize("parameters", [{}, DAMPED, ADDED], ids=["strider", "damped", "added mass"])
def test_water_and_air_at_rest_never_add_energy(parameters, anyhow):
    assert (powers(strider(**parameters), anyhow) < 0.0).all()


def test_rudder_with_the_inflow_of_the_source_can_add_energy(anyhow):
    bare = {**UNDAMPED, "rudder": {"inflow_x_body_m": LEVER_M}}
    assert powers(strider(**bare), anyhow).max() > 0.0
    bare["rudder"] = {"inflow_x_body_m": -LEVER_M}
    assert powers(strider(**bare), anyhow).max() <= 1e-15


def test_lateral_acceleration_in_a_steady_turn_points_inwards():
    motion, _ = sail(strider(), orders(3000, rudder_rad=0.3, thrust_n=1.0), sailing(1.0))
    velocity, rate = motion.velocity_body_mps, motion.angular_velocity_body_radps.z
    force = motion.specific_force_body_mps2
    # it turns at a constant rate by now, so the acceleration is the turning of the velocity
    assert float(force.y[-1]) == pytest.approx(float(rate[-1] * velocity.x[-1]), rel=5e-3)
    assert float(force.x[-1]) == pytest.approx(float(-rate[-1] * velocity.y[-1]), rel=5e-2)
    assert float(force.z[-1]) == 9.81


def test_vessel_stays_level_at_the_height_of_its_start():
    start = Start(Vec3(0.0, 0.0, 0.7), 0.1, 0.2, 0.3, Vec3(1.0, 0.0, 0.5), Vec3(0.1, 0.2, 0.3))
    motion, _ = sail(strider(), orders(100, rudder_rad=0.3, thrust_n=1.0), start)
    assert (np.asarray(motion.position_world_m.z) == 0.7).all()
    for still in (
        motion.velocity_world_mps.z,
        motion.euler_world_from_body.roll_rad,
        motion.euler_world_from_body.pitch_rad,
        motion.angular_velocity_body_radps.x,
    ):
        assert (np.asarray(still) == 0.0).all()


def test_error_shrinks_with_the_order_of_the_integrator():
    def end(steps):
        rows = orders(steps, rudder_rad=0.3, thrust_n=1.5)
        motion, _ = sail(strider(), rows, sailing(0.5, 0.05), dt_s=2.0 / steps)
        return rows_of(motion.position_world_m)[-1]

    fine = end(3200)
    coarse, half = (np.abs(end(steps) - fine).max() for steps in (20, 40))
    assert 3.5 < math.log2(coarse / half) < 4.7


# differentiation, and what is refused

NAMES = ["mass", "speed gain", "heading gain", "rate gain", "x", "y", "yaw", "u", "v", "r"]


def end_of_voyage(numbers):
    """Place, yaw and velocities after 2 s under control, by mass, gains and start."""
    mass, speed_gain, heading_gain, rate_gain, x, y, yaw, u, v, r = numbers
    model = dataclasses.replace(strider(), mass_kg=mass)
    place = VesselPosition(hold_radius_m=0.0)
    helm = VesselHeadingSpeed(speed_gain, heading_gain, rate_gain)
    goal = PositionYaw(Vec3(20.0, 4.0, 0.0), 0.0)
    world = around(Vec3(1.0, -0.5, 0.0), Vec3(0.1, 0.2, 0.0))
    start = Start(Vec3(x, y, 0.0), 0.0, 0.0, yaw, Vec3(u, v, 0.0), Vec3(0.0, 0.0, r))
    key = jax.random.key(0)

    def step(carried, _):
        state, memory = carried
        motion = model.kinematics(state)
        _, course = place.step((), (goal, motion), DT_S, key)
        memory, command = helm.step(memory, (course, motion), DT_S, key)
        return (model.step(state, command, world, DT_S, key), memory), None

    began = model.init(start.kinematics(), world), helm.init(key)
    began = jax.tree.map(jnp.asarray, began)
    (state, _), _ = jax.lax.scan(step, began, None, length=200)
    pose, velocities = state.mechanical_state.configuration, state.mechanical_state.velocities
    return jnp.stack(
        [pose.x_world_m, pose.y_world_m, pose.yaw_rad, velocities.surge_mps, velocities.sway_mps]
    )


@pytest.mark.slow
def test_gradients_of_a_voyage_are_those_of_finite_differences():
    # near the wanted speed and course, so that the loops act and are not cut
    numbers = jnp.array([4.11, 82.65, 0.5, 0.6, 1.0, 2.0, 0.15, 0.98, 0.02, 0.01])
    found = jax.jit(jax.jacrev(end_of_voyage))(numbers)
    assert jnp.isfinite(found).all()
    steps = 1e-5 * jnp.eye(len(numbers))
    ends = jax.jit(jax.vmap(end_of_voyage))
    differences = (ends(numbers[None] + steps) - ends(numbers[None] - steps)).T / 2e-5
    # rounding of differences: 20 m / 1e-5 in double precision
    np.testing.assert_allclose(found, differences, rtol=1e-4, atol=1e-8)
    for name, column in zip(NAMES, np.asarray(jnp.abs(found).max(axis=0)), strict=True):
        assert column > 1e-6, f"{name} matters"


def test_gradients_are_finite_at_rest_and_in_the_goal():
    numbers = jnp.array([4.11, 82.65, 0.5, 0.6, 20.0, 4.0, 0.0, 0.0, 0.0, 0.0])
    assert jnp.isfinite(jax.jit(jax.jacrev(end_of_voyage))(numbers)).all()
    rudder: Rudder = strider().rudder
    slope = jax.grad(lambda u: sum(rudder.force(u, 0.0, 0.0, 0.1, 998.0)))(0.0)
    assert float(slope) == 0.0


def test_added_mass_that_no_water_has_is_refused():
    with pytest.raises(ScenarioError, match=r"sway_yaw_kgm: 3 is not allowed"):
        strider(added_mass={"sway_yaw_kgm": 3.0})


def test_current_of_a_scenario_takes_a_vessel_along(tmp_path):
    (tmp_path / "adrift.csv").write_text("time_s,rudder_rad,thrust_n\n0,0,0\n60,,\n")
    changes = {
        "world.current": {"type": "uniform", "speed_mps": 0.1, "towards_deg": 30},
        "vehicles.strider.parameters": DAMPED,
        "vehicles.strider.guidance": {"type": "playback", "file": str(tmp_path / "adrift.csv")},
    }
    last = kw.load("cruise-strider", changes).run().frame("strider").iloc[-1]
    # clockwise from north, where to
    expected = 0.1 * math.sin(math.pi / 6.0), 0.1 * math.cos(math.pi / 6.0)
    np.testing.assert_allclose([last["vx_mps"], last["vy_mps"]], expected, rtol=0, atol=1e-4)
