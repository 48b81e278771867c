"""Pure pursuit: the point that is chased, limits of the command, places visited, the flight."""

import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from tests.unit.guidance.point_mass import ANYWHERE

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.route import Route
from kittiwake.guidance.trajectories.pursue import Pursue
from kittiwake.interfaces.guidance import GuidanceInputs
from kittiwake.scenario import library

KEY = jax.random.key(0)
DT_S = 0.02
PLACES = np.array([[0, 0, 6], [0, 25, 6.5], [25, 50, 7], [50, 0, 5]], float)


def prepared(**parameters):
    return Pursue(Route("places.json", PLACES), **parameters).prepare(ANYWHERE)


def followed(guidance, places, yaw_rad=0.0, velocity=(0.0, 0.0, 0.0)):
    """States and signals of a vehicle that is put at places, tick by tick."""

    def step(state, numbered):
        tick, place = numbered
        start = Start(Vec3(*place), yaw_rad=yaw_rad, velocity_world_mps=Vec3(*velocity))
        inputs = GuidanceInputs(tick * DT_S, 0, start.kinematics())
        state, signal = guidance.step(state, inputs, DT_S, KEY)
        return state, (state, signal)

    rows = jnp.asarray(places, float)
    ticks = jnp.arange(len(rows), dtype=float)
    return jax.jit(lambda: jax.lax.scan(step, guidance.init(KEY), (ticks, rows))[1])()


def array(vector):
    return np.stack([vector.x, vector.y, vector.z], axis=-1)


def test_the_curve_is_the_clamped_cubic_spline():
    curve = CubicSpline(np.linspace(0.0, 100.0, 4), PLACES, bc_type="clamped")
    times_s = np.linspace(0.0, 100.0, 1000)
    sampled = prepared().sampled
    np.testing.assert_allclose(sampled.positions_world_m, curve(times_s), atol=1e-10)
    np.testing.assert_allclose(sampled.accelerations_world_mps2, curve(times_s, 2), atol=1e-12)


def ported(guidance, places, speed):
    """The law of the source in NumPy, for a vehicle that is put at places and looks east."""
    samples = guidance.sampled
    index, error, velocity, yaw_error, yaw_rate = 0, None, np.zeros(3), None, 0.0
    rows = []
    for place in places:
        look_ahead = min(max(2.0 + speed, 2.0), 8.0)
        while (
            index < 999 and np.hypot(*(samples.positions_world_m[index] - place)[:2]) < look_ahead
        ):
            index += 1
        new = samples.positions_world_m[index] - place
        rate = np.zeros(3) if error is None else (new - error) / DT_S
        acceleration = samples.accelerations_world_mps2[index]
        desired = 1.2 * new + 1e-4 * rate + 0.1 * acceleration * DT_S
        desired *= min(1.0, 12.0 / np.linalg.norm(desired))
        change = desired - velocity
        velocity = velocity + change * min(1.0, 2.0 / np.linalg.norm(change))
        turn = math.atan2(new[1], new[0])
        growth = 0.0 if yaw_error is None else (turn - yaw_error) / DT_S
        wanted = np.clip(turn + 1e-4 * growth, -math.pi / 2, math.pi / 2)
        yaw_rate += np.clip(wanted - yaw_rate, -math.pi / 2, math.pi / 2)
        error, yaw_error = new, turn
        rows.append([*velocity, yaw_rate, index])
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.0, 3.0, 11.0])
def test_the_law_is_that_of_the_source(speed):
    guidance = prepared()
    # beside the curve, along it
    places = guidance.sampled.positions_world_m[:400:8] + np.array([1.0, -0.5, 0.3])
    states, signals = followed(guidance, places, velocity=(speed, 0.0, 0.0))
    found = np.column_stack(
        [array(signals.velocity_world_mps), signals.yaw_rate_radps, states.point]
    )
    # the same sums in another order
    np.testing.assert_allclose(found, ported(guidance, places, speed), rtol=0, atol=1e-9)


def test_command_keeps_its_limits_for_any_position():
    rng = np.random.default_rng(3)
    places = rng.normal(0.0, 200.0, (300, 3))
    _, signals = followed(prepared(integral_gain_per_s2=5.0), places, yaw_rad=2.0)
    velocity = array(signals.velocity_world_mps)
    assert np.linalg.norm(velocity, axis=1).max() <= 12.0 + 1e-9
    assert np.linalg.norm(np.diff(velocity, axis=0), axis=1).max() <= 2.0 + 1e-9
    assert np.abs(signals.yaw_rate_radps).max() <= math.pi / 2.0 + 1e-12
    assert np.abs(np.diff(signals.yaw_rate_radps)).max() <= math.pi / 2.0 + 1e-12


def test_pursued_point_never_goes_back():
    rng = np.random.default_rng(4)
    states, _ = followed(prepared(), rng.normal(20.0, 20.0, (200, 3)))
    assert (np.diff(states.point) >= 0).all()


def test_the_integral_is_held_within_its_limit():
    states, _ = followed(prepared(max_integral_ms=0.7), np.full((400, 3), -50.0))
    assert np.abs(array(states.integral_world_ms)).max() == pytest.approx(0.7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "yaw_rad"),
    [
        ({"look": "fixed", "yaw_rad": 0.4}, 0.4),
        ({"look": "point", "point_of_interest_world_m": Vec3(10.0, 10.0, 0.0)}, math.pi / 4.0),
        ({"look": "movement"}, math.pi / 2.0),
    ],
)
def test_yaw_turns_to_the_desired_direction(parameters, yaw_rad):
    _, signals = followed(prepared(**parameters), np.array([[0.0, 0.0, 6.0]]))
    # 1.0 per second; the first pursued point is to the north, but for the bend of the curve
    assert float(signals.yaw_rate_radps[0]) == pytest.approx(yaw_rad, abs=0.3)
    if parameters["look"] != "movement":
        assert float(signals.yaw_rate_radps[0]) == pytest.approx(yaw_rad, abs=1e-12)


@pytest.mark.slow
def test_waypoints_count_in_order_and_the_last_one_only_at_the_end():
    guidance = prepared()
    states, _ = followed(guidance, [PLACES[3], PLACES[0], PLACES[2], PLACES[1], PLACES[2]])
    assert jax.vmap(guidance.waypoints_reached)(states).tolist() == [0, 1, 1, 2, 3]
    along = guidance.sampled.positions_world_m
    states, _ = followed(guidance, along)
    finished = np.asarray(jax.vmap(guidance.finished)(states))
    near = np.linalg.norm(along - PLACES[-1], axis=1) <= 0.5
    assert (finished == near).all()
    assert 0 < near.sum() < 50


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "got 0; must be at least two"),
        ({"positions_world_m": (Vec3.zero(),)}, "got 1; must be at least two"),
        (
            {"positions_world_m": (Vec3.zero(),) * 2, "file": Route("a.json", PLACES)},
            "not allowed with positions_world_m; omit one of them",
        ),
        ({"positions_world_m": (Vec3.zero(), Vec3(math.inf, 0.0, 0.0))}, "must be finite"),
    ],
)
def test_invalid_paths_are_refused(parameters, message):
    with pytest.raises((ValueError, ScenarioError), match=message):
        Pursue(**parameters).prepare(ANYWHERE)


@pytest.mark.slow
def test_library_pursuit_visits_its_ten_waypoints():
    log = kw.load("pursuit").run()
    assert log.summary["metrics"]["waypoints"]["uav-gazebo"] == {"reached": 10, "planned": 10}
    frame = log.frame("uav-gazebo")
    written = json.loads((library.FOLDER / "pursuit.json").read_text())["poses"]
    track = frame[["x_m", "y_m", "z_m"]].to_numpy()
    for pose in written:
        place = [pose["pose"]["position"][axis] for axis in "xyz"]
        # corners are cut by no more than the longest look-ahead
        assert np.linalg.norm(track - place, axis=1).min() < 8.0
    speed = np.linalg.norm(frame[["vx_mps", "vy_mps", "vz_mps"]].to_numpy(), axis=1)
    assert speed.max() <= 12.0
    legs = frame["guidance.legs"].to_numpy()
    assert frame["time_s"].to_numpy()[np.argmax(legs == 10)] < 100.0
    # it stays at the last place
    assert np.linalg.norm(track[-1] - [0.0, 0.0, 6.0]) < 0.05
