"""What each avoidance makes of ranges: the laws by hand, the projection beside SciPy's."""

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import nnls

from kittiwake.core.commands import PositionYaw, ThrustAttitude, VelocityYaw
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.core.measurements import RangeMeasurement, RangesMeasurement
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.avoidance.barrier import Barrier
from kittiwake.guidance.avoidance.gageik import Gageik
from kittiwake.guidance.avoidance.half_spaces import nearest_point
from kittiwake.guidance.avoidance.repulsion import Repulsion
from kittiwake.guidance.avoidance.wagster import Wagster
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AvoidanceInputs
from kittiwake.interfaces.sensor import AbstractSensor

KEY = jax.random.key(0)
DT_S = 0.05
# sums and products of a few meters in double precision
EXACT = 1e-12
HERE = Vec3(1.0, 2.0, 3.0)
AHEAD, LEFT, BACK, RIGHT = range(4)
RING = tuple(Vec3(math.cos(a), math.sin(a), 0.0) for a in (0.0, math.pi / 2, math.pi, -math.pi / 2))
NOTHING = 5.0


class Looking(AbstractSensor):
    """Tells ranges along given directions, or none."""

    measures: ClassVar[type] = RangesMeasurement

    looks: Any

    def step(self, state, inputs, dt_s, key):
        raise NotImplementedError

    def beam_directions_body(self):
        return self.looks


def ready(avoidance, looks=RING, name="ring"):
    return avoidance.prepare(BuildContext(None, None, Start(), {name: Looking(looks)}))


def seeing(signal, distances, start=None, *, fresh=True):
    """Of four sensors, of which those that tell less than their range see something."""
    motion = (start or Start(HERE)).kinematics()
    ranges = jnp.asarray(distances)
    measurements = {"ring": RangesMeasurement(ranges, ranges < NOTHING)}
    return AvoidanceInputs(signal, motion, measurements, {"ring": jnp.asarray(fresh)})


def near(sensor_number, distance_m):
    return [distance_m if i == sensor_number else NOTHING for i in range(4)]


def modified(avoidance, signal, distances, start=None, state=None):
    own = ready(avoidance)
    state = own.init(KEY) if state is None else state
    return own.step(state, seeing(signal, distances, start), DT_S, KEY)


def way(signal):
    return (signal.position_world_m - HERE).array


def goal(*offset_m, **changes):
    return PositionYaw(HERE + Vec3(*offset_m), 0.3, **changes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("distance_m", "ahead_m"),
    [
        (1.1, 4.0),
        # close: the meter of the way that counts, a quarter of it
        (0.9, 0.25),
        (0.5, 0.25),
        # dangerous: back by that meter and what is missing to half a meter
        (0.3, -1.2),
    ],
)
def test_gageik_has_three_states(distance_m, ahead_m):
    _, signal = modified(Gageik(), goal(4.0, 1.0, 0.5), near(AHEAD, distance_m))
    # along the wall and upwards nothing is changed
    np.testing.assert_allclose(way(signal), [ahead_m, 1.0, 0.5], atol=EXACT)
    assert signal.yaw_rad == 0.3


def test_gageik_passes_retreating_commands_and_retreats_from_danger():
    _, away = modified(Gageik(), goal(-2.0, 0.0, 0.0), near(AHEAD, 0.3))
    np.testing.assert_allclose(way(away), [-2.0, 0.0, 0.0], atol=EXACT)
    _, hovering = modified(Gageik(), goal(0.0, 0.0, 0.0), near(LEFT, 0.3))
    np.testing.assert_allclose(way(hovering), [0.0, -0.2, 0.0], atol=EXACT)


def test_gageik_uses_the_yaw_and_not_the_tilt():
    start = Start(HERE, roll_rad=0.3, pitch_rad=-0.2, yaw_rad=math.pi / 2)
    _, signal = modified(Gageik(), goal(0.0, 3.0, 0.0), near(AHEAD, 0.4), start)
    np.testing.assert_allclose(way(signal), [0.0, -1.1, 0.0], atol=EXACT)


def test_gageik_limits_feed_forward_towards_danger():
    moving = goal(3.0, 0.0, 0.0, velocity_world_mps=Vec3(2.0, 1.0, 0.0))
    for distance_m, speed in ((0.3, 0.0), (0.8, 0.5), (2.0, 2.0)):
        _, signal = modified(Gageik(), moving, near(AHEAD, distance_m))
        np.testing.assert_allclose(signal.velocity_world_mps.array, [speed, 1.0, 0.0], atol=EXACT)


def test_wagster_holds_the_position_at_which_it_stopped():
    state, first = modified(Wagster(), goal(4.0, 0.0, 0.0), near(AHEAD, 0.55))
    np.testing.assert_allclose(way(first), 0.0, atol=EXACT)
    drifted = Start(HERE + Vec3(0.1, 0.0, 0.0))
    state, later = modified(Wagster(), goal(4.0, 0.0, 0.0), near(AHEAD, 0.45), drifted, state)
    np.testing.assert_allclose(way(later), 0.0, atol=EXACT)
    _, freed = modified(Wagster(), goal(4.0, 0.0, 0.0), near(AHEAD, 0.65), drifted, state)
    np.testing.assert_allclose(way(freed), [4.0, 0.0, 0.0], atol=EXACT)


def test_wagster_uses_the_direction_of_flight():
    _, passing = modified(Wagster(), goal(4.0, 0.0, 0.0), near(LEFT, 0.3))
    np.testing.assert_allclose(way(passing), [4.0, 0.0, 0.0], atol=EXACT)
    # just behind the set point of a moving one, which will be on the left
    moving = goal(-0.1, 0.0, 0.0, velocity_world_mps=Vec3(0.0, 1.0, 0.0))
    _, stopped = modified(Wagster(), moving, near(LEFT, 0.3))
    np.testing.assert_allclose(way(stopped), 0.0, atol=EXACT)
    np.testing.assert_allclose(stopped.velocity_world_mps.array, 0.0)


@pytest.mark.parametrize("turn", range(8))
def test_wagster_centers_in_any_direction_of_flight(turn):
    yaw = turn * math.pi / 4
    ahead = Vec3(math.cos(yaw), math.sin(yaw), 0.0)
    left = np.array([-ahead.y, ahead.x, 0.0])
    distances = [NOTHING, 2.5, NOTHING, 1.5]
    _, signal = modified(
        Wagster(), PositionYaw(HERE + ahead * 4.0, 0.0), distances, Start(HERE, yaw_rad=yaw)
    )
    np.testing.assert_allclose(way(signal), 4.0 * ahead.array + left, atol=EXACT)


def test_wagster_centers_only_between_two_walls():
    _, signal = modified(Wagster(), goal(4.0, 0.0, 0.0), near(LEFT, 1.0))
    np.testing.assert_allclose(way(signal), [4.0, 0.0, 0.0], atol=EXACT)


def leaned(distances, **parameters):
    command = ThrustAttitude(5.0, Quaternion.identity())
    _, signal = modified(Repulsion(**parameters), command, distances)
    return signal.q_world_from_body.rotate(Vec3(0.0, 0.0, 1.0)).array


def test_repulsion_has_its_angles_at_their_distances():
    lean = Repulsion().lean_rad
    found = lean(jnp.asarray([0.0, 0.4, 1.0, 4.4, 4.6]))
    # A + B = 0.08 and A / 0.16 + B / 0.4 = 0.1
    b = 0.08 + 0.1 / 3.75
    far = (0.08 - b) / 4.4**2 + b / 4.4
    np.testing.assert_allclose(found, [0.1, 0.1, 0.08, far, 0.0], atol=EXACT)
    assert (lean(jnp.linspace(0.0, 6.0, 500)) <= 0.1).all()


def test_repulsion_leans_away_and_opposite_walls_cancel():
    np.testing.assert_allclose(
        leaned(near(AHEAD, 1.0)), [-math.sin(0.08), 0.0, math.cos(0.08)], atol=EXACT
    )
    np.testing.assert_allclose(
        leaned(near(RIGHT, 1.0)), [0.0, math.sin(0.08), math.cos(0.08)], atol=EXACT
    )
    np.testing.assert_allclose(leaned([NOTHING, 0.7, NOTHING, 0.7]), [0.0, 0.0, 1.0], atol=EXACT)
    np.testing.assert_allclose(leaned([NOTHING] * 4), [0.0, 0.0, 1.0], atol=EXACT)


def quadratic_program(wanted, normals, limits):
    """By SciPy's least squares of numbers that are not negative (Lawson and Hanson, chapter 23).

    The shortest x with -N x >= N w - b is -r / r_4 of the first three parts of the residual r of
    min |[-N^T; (N w - b)^T] u - (0, 0, 0, 1)|, u >= 0.
    """
    aside = normals @ wanted - limits
    matrix, last = np.vstack([-normals.T, aside]), np.array([0.0, 0.0, 0.0, 1.0])
    shares, _ = nnls(matrix, last)
    residual = matrix @ shares - last
    return wanted - residual[:3] / residual[3]


def test_projection_matches_a_quadratic_program_solver():
    draw = np.random.default_rng(3)
    count, size = 60, 40
    wanted = draw.normal(0.0, 3.0, (count, 3))
    normals = draw.normal(0.0, 1.0, (count, size, 3))
    # half of them as a lidar's, in a plane and nearly parallel
    normals[::2, :, 2] *= 1e-3
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    limits = draw.uniform(0.0, 2.0, (count, size))
    relevant = np.ones((count, size), bool)
    found = np.asarray(jax.jit(jax.vmap(nearest_point))(wanted, normals, limits, relevant))
    expected = np.array(
        [quadratic_program(*case) for case in zip(wanted, normals, limits, strict=True)]
    )
    # the slack gives way by its square, 1e-5, times multipliers of some 10 m/s at narrow corners
    np.testing.assert_allclose(found, expected, atol=2e-3)
    excess = np.einsum("kij,kj->ki", normals, found) - limits
    assert excess.max() < 2e-3


@pytest.mark.slow
def test_projection_shares_unavoidable_violations():
    normals = jnp.asarray([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    wanted, limits = jnp.asarray([3.0, 1.0, 0.0]), jnp.asarray([-0.5, -0.1])
    found = nearest_point(wanted, normals, limits, jnp.ones(2, bool))
    # halfway between -0.5 and 0.1, less what the wish still weighs, and free along both
    np.testing.assert_allclose(found, [-0.2, 1.0, 0.0], atol=1e-3)
    free = nearest_point(wanted, normals, limits, jnp.zeros(2, bool))
    np.testing.assert_allclose(free, wanted, atol=0.0)


def flown(velocity, distances, start=None, **parameters):
    command = VelocityYaw(Vec3(*velocity), 0.3, Vec3(1.0, 0.0, 0.0))
    return modified(Barrier(**parameters), command, distances, start)[1]


@pytest.mark.slow
def test_barrier_changes_nothing_without_near_obstacles():
    signal = flown((2.0, 1.0, 0.5), [4.9, 4.9, NOTHING, NOTHING])
    np.testing.assert_allclose(signal.velocity_world_mps.array, [2.0, 1.0, 0.5])
    np.testing.assert_allclose(signal.acceleration_world_mps2.array, [1.0, 0.0, 0.0])


def test_barrier_permits_gamma_h_towards_a_wall_and_any_speed_along_it():
    signal = flown((2.0, 1.0, 0.5), near(AHEAD, 1.8))
    # gamma (r - d) = 0.5 m/s
    np.testing.assert_allclose(signal.velocity_world_mps.array, [0.5, 1.0, 0.5], atol=2e-4)
    np.testing.assert_allclose(signal.acceleration_world_mps2.array, 0.0)
    fast = Start(HERE, velocity_world_mps=Vec3(3.0, 0.0, 0.0))
    braking = flown((2.0, 1.0, 0.5), near(AHEAD, 1.8), fast)
    np.testing.assert_allclose(braking.velocity_world_mps.x, 0.5 * (1.0 - 1.5), atol=3e-4)


def test_barrier_remembers_detected_points():
    own = ready(Barrier())
    command = VelocityYaw(Vec3(2.0, 0.0, 0.0), 0.0)
    state, _ = own.step(own.init(KEY), seeing(command, near(AHEAD, 1.8)), DT_S, KEY)
    moved = Start(HERE + Vec3(0.4, 0.0, 0.0), yaw_rad=1.0)
    held = seeing(command, near(AHEAD, 1.8), moved, fresh=False)
    _, signal = own.step(state, held, DT_S, KEY)
    np.testing.assert_allclose(signal.velocity_world_mps.x, 0.5 * 0.6, atol=2e-4)


def test_several_sensors_are_concatenated_in_order():
    context = BuildContext(
        *(None, None, Start()),
        {"ring": Looking(RING), "clock": Looking(None), "nose": Looking(RING[:1])},
    )
    own = Repulsion().prepare(context)
    assert own.sensors == ("ring", "nose")
    assert own.beam_directions_body.shape == (5, 3)
    inputs = seeing(ThrustAttitude(5.0, Quaternion.identity()), [NOTHING] * 4)
    inputs.measurements["nose"] = RangeMeasurement(jnp.asarray(1.0), jnp.asarray(True))
    _, signal = own.step((), inputs, DT_S, KEY)
    up = signal.q_world_from_body.rotate(Vec3(0.0, 0.0, 1.0))
    assert float(up.x) == pytest.approx(-math.sin(0.08), abs=EXACT)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (("rign",), r"no range sensor 'rign'; range sensors of this vehicle: ring"),
        (("clock",), r"'clock' measures no ranges along fixed directions"),
        ((), r"write one under the vehicle's sensors, such as ring: ultrasonic-fan"),
    ],
)
def test_missing_sensors_are_refused_with_the_available_ones(wanted, expected):
    sensors = {"ring": Looking(RING), "clock": Looking(None)}
    with pytest.raises(ScenarioError, match=expected):
        Gageik(sensors=wanted).prepare(BuildContext(None, None, Start(), sensors))


@pytest.mark.parametrize(
    "changes", [{"least_m": 2.0}, {"farthest_m": 0.9}, {"reference_lean_rad": 0.2}]
)
def test_repulsion_refuses_invalid_hyperbolas(changes):
    with pytest.raises(ValueError, match="must (increase|be at most)"):
        Repulsion(**changes)
