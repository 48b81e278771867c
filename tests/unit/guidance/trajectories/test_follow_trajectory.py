"""Following a trajectory: the way to it, what is fed forward, its end, and what is refused."""

import math
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.guidance.point_mass import ANYWHERE

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.trajectories.acceleration_profile import AccelerationProfile
from kittiwake.guidance.trajectories.follow_trajectory import FollowTrajectory
from kittiwake.interfaces.guidance import GuidanceInputs

KEY = jax.random.key(0)
PLACES = (Vec3(1.0, 2.0, 3.0), Vec3(5.0, 2.0, 4.0), Vec3(5.0, 9.0, 3.0))
FAR = Start(Vec3(0.0, 0.0, 3.0), yaw_rad=1.0)


def prepared(places=PLACES, **parameters):
    return FollowTrajectory(places, **parameters).prepare(ANYWHERE)


def flown(guidance, times_s, start=FAR):
    """The signals and states at times, of a vehicle that stays at its start."""

    def step(state, time_s):
        inputs = GuidanceInputs(time_s, 0, start.kinematics())
        state, signal = guidance.step(state, inputs, 0.01, KEY)
        return state, (state, signal, guidance.finished(state))

    times = jnp.asarray(times_s)
    return jax.jit(lambda: jax.lax.scan(step, strongly(guidance.init(KEY)), times)[1])()


def strongly(tree):
    return jax.tree.map(lambda leaf: leaf if leaf.dtype == bool else leaf + 0, tree)


def columns(vector):
    return np.stack([vector.x, vector.y, vector.z], axis=-1)


def test_lead_in_begins_at_the_estimate_and_is_straight():
    times_s = np.linspace(0.0, 20.0, 2001)
    guidance = prepared()
    states, signals, _ = flown(guidance, times_s)
    place = columns(signals.position_world_m)
    leading = np.asarray(states.time_s) < 0.0
    np.testing.assert_allclose(place[0], [0.0, 0.0, 3.0], atol=1e-15)
    across = np.cross(place[leading] - place[0], np.array([1.0, 2.0, 0.0]))
    np.testing.assert_allclose(across, 0.0, atol=1e-12)
    # 35/16 of the mean speed at its fastest
    speed = np.linalg.norm(columns(signals.velocity_world_mps)[leading], axis=1)
    assert speed.max() == pytest.approx(1.0, rel=1e-3)
    assert leading.sum() * 0.01 == pytest.approx(35.0 / 16.0 * math.sqrt(5.0), abs=0.02)


def test_setpoint_is_continuous_at_the_end_of_the_lead_in():
    times_s = np.linspace(0.0, 15.0, 15_001)
    _, signals, _ = flown(prepared(), times_s)
    for vector, most in (
        (signals.position_world_m, 6.0),
        (signals.velocity_world_mps, 5.0),
        (signals.acceleration_world_mps2, 40.0),
    ):
        steps = np.abs(np.diff(columns(vector), axis=0)).max()
        # by no more than the next derivative in a millisecond
        assert steps < most * 1e-3
    assert np.abs(np.diff(np.unwrap(signals.yaw_rad))).max() < 0.01


def test_vehicle_at_the_first_waypoint_begins_at_once():
    start = Start(PLACES[0], yaw_rad=float(prepared().plan.first_yaw_rad))
    states, signals, _ = flown(prepared(), [0.0], start)
    assert float(states.time_s[0]) == 0.0
    np.testing.assert_allclose(columns(signals.position_world_m)[0], [1.0, 2.0, 3.0], atol=1e-12)


def test_yaw_follows_the_velocity_with_its_rate():
    times_s = np.linspace(0.0, 12.0, 12_001)
    states, signals, _ = flown(prepared(), times_s)
    velocity = columns(signals.velocity_world_mps)
    on_it = np.asarray(states.time_s) > 0.0
    fast = on_it & (np.hypot(velocity[:, 0], velocity[:, 1]) > 0.06)
    bearing = np.arctan2(velocity[:, 1], velocity[:, 0])
    np.testing.assert_allclose(np.asarray(signals.yaw_rad)[fast], bearing[fast], atol=1e-12)
    middle = fast[1:-1] & fast[2:] & fast[:-2]
    differences = (np.unwrap(bearing)[2:] - np.unwrap(bearing)[:-2]) / 2e-3
    # central differences of a millisecond
    np.testing.assert_allclose(
        np.asarray(signals.yaw_rate_radps)[1:-1][middle], differences[middle], atol=1e-3
    )


@pytest.mark.slow
def test_given_yaws_are_passed_with_the_waypoints_by_the_shorter_turn():
    guidance = prepared(yaws_rad=(3.0, -3.0, 1.0), times_s=(0.0, 4.0, 8.0))
    start = Start(PLACES[0], yaw_rad=3.0)
    _, signals, _ = flown(guidance, [0.0, 4.0, 8.0], start)
    np.testing.assert_allclose(signals.yaw_rad, [3.0, -3.0, 1.0], atol=1e-9)
    _, signals, _ = flown(guidance, np.linspace(0.0, 4.0, 9), start)
    # the long way round would pass zero
    assert (np.abs(signals.yaw_rad) > 2.5).all()


def test_legs_and_the_end_are_reported():
    guidance = prepared(times_s=(10.0, 12.0, 15.0), max_acceleration_mps2=30.0, yaws_rad=(0.0,))
    states, _, finished = flown(guidance, [0.0, 1.9, 2.1, 4.9, 5.1], Start(PLACES[0]))
    assert guidance.planned_waypoints() == 3
    assert jax.vmap(guidance.waypoints_reached)(states).tolist() == [1, 1, 2, 2, 3]
    assert finished.tolist() == [False, False, False, False, True]
    assert jax.vmap(guidance.phase)(states).tolist() == [1, 1, 1, 1, 2]


def test_initial_state_has_reached_nothing():
    guidance = prepared()
    state = guidance.init(KEY)
    assert int(guidance.waypoints_reached(state)) == int(guidance.phase(state)) == 0
    assert not bool(guidance.finished(state))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"places": PLACES[:1]}, "must be at least two positions"),
        ({"places": ()}, "must be at least two positions"),
        ({"places": (*PLACES, PLACES[-1])}, "twice, in entries 2 and 3"),
        ({"places": (*PLACES, Vec3(math.nan, 0.0, 0.0))}, "in entry 3; must be finite"),
        ({"yaws_rad": (0.0, 1.0)}, "got 2 for 3 positions; must be one for each, or one for all"),
        ({"times_s": (0.0, 1.0)}, "got 2 for 3 positions"),
        ({"times_s": (0.0, 2.0, 2.0)}, "must be finite and increasing"),
        ({"times_s": (0.0, math.inf, 2.0)}, "must be finite"),
        ({"times_s": (0.0, 0.5, 1.0)}, "multiply all times by .*, or raise the limits"),
    ],
)
def test_invalid_trajectories_are_refused(parameters, message):
    with pytest.raises((ValueError, ScenarioError), match=message):
        prepared(**parameters)


def test_the_advised_stretch_of_the_times_is_accepted():
    with pytest.raises(ScenarioError) as refused:
        prepared(times_s=(0.0, 0.5, 1.0))
    stretch = float(str(refused.value).split("multiply all times by ")[1].split(",")[0])
    prepared(times_s=tuple(1.01 * stretch * t for t in (0.0, 0.5, 1.0)))


def test_a_refusal_names_file_and_line(tmp_path):
    (tmp_path / "there.yaml").write_text("""name: there
time: {rate_hz: 500, duration_s: 5}
vehicles:
  drone:
    model: ar-drone
    guidance: {type: follow-trajectory, positions_world_m: [[0, 0, 1], [0, 0, 1]]}
""")
    with pytest.raises(ScenarioError, match=r"there\.yaml:6: vehicles\.drone\.guidance: .* twice"):
        kw.load(tmp_path / "there.yaml")


def test_the_profiles_are_those_of_the_source():
    guidance = AccelerationProfile()
    times_s = np.linspace(0.0, 25.0, 2501)
    _, signals, finished = flown(guidance, times_s)
    place = columns(signals.position_world_m) - [0.0, 0.0, 3.0]
    half, end = 1000, 2000
    np.testing.assert_allclose(place[half], [5.0, 12.5, 0.0], atol=1e-9)
    np.testing.assert_allclose(place[end:], [[0.0, 25.0, 0.0]] * 501, atol=1e-9)
    acceleration = columns(signals.acceleration_world_mps2)
    # published peaks of the whole profiles: 0.577 and 1.875
    assert acceleration[:, 0].max() == pytest.approx(0.577 / 2.0, rel=1e-3)
    assert acceleration[:, 1].max() == pytest.approx(1.875 / 4.0, rel=1e-6)
    tau = times_s[:half] / 10.0
    np.testing.assert_allclose(
        acceleration[:half, 1], 30.0 * tau**2 * (1.0 - tau) ** 2 / 4.0, atol=1e-12
    )
    assert finished.tolist() == (times_s >= 20.0).tolist()


def test_profile_derivatives_match_the_position():
    times_s = np.linspace(0.0, 21.0, 21_001)
    _, signals, _ = flown(AccelerationProfile(), times_s)
    chain = [
        signals.position_world_m,
        signals.velocity_world_mps,
        signals.acceleration_world_mps2,
    ]
    for lower, higher in pairwise(chain):
        differences = (columns(lower)[2:] - columns(lower)[:-2]) / 2e-3
        # of the second order in a millisecond, but for the jump of the jerk between the halves
        np.testing.assert_allclose(differences, columns(higher)[1:-1], atol=1e-3)


def off_course_m(name, vehicle):
    frame = kw.load(name).run().frame(vehicle)
    wanted = [f"setpoint.position_{axis}_world_m" for axis in "xyz"]
    return np.linalg.norm(
        frame[["x_m", "y_m", "z_m"]].to_numpy() - frame[wanted].to_numpy(), axis=1
    )


@pytest.mark.slow
def test_library_helix_is_flown_within_5_cm():
    assert off_course_m("helix", "ar-drone").max() < 0.05


@pytest.mark.slow
def test_library_minimum_snap_is_flown_within_5_cm():
    assert off_course_m("minimum-snap", "ar-drone").max() < 0.05
