"""How far off dead reckoning and ranges to anchors are, against formulas and published figures."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.sensors.sample_series import seen

import kittiwake as kw
from kittiwake.analysis.consistency import nees_bounds
from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.kinematics import Start
from kittiwake.estimation.anchor_ekf import AnchorEkf
from kittiwake.estimation.dead_reckoning import DeadReckoning
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import EstimatorInputs
from kittiwake.sensors.anchor_ranging import AnchorRanging
from kittiwake.sensors.imu_sets import MicklischImu

SEEDS = 50
SLOT_S = 1.0 / 16.0
GRAVITY_MPS2 = 9.81
SPREAD = AnchorRanging(
    tuple(Vec3(x, y, z) for z in (0.0, 22.0) for x in (-8.0, 8.0) for y in (-8.0, 8.0))
)
WIDE = AnchorRanging(
    tuple(Vec3(x, y, z) for z in (-40.0, 40.0) for x in (-40.0, 40.0) for y in (-40.0, 40.0))
)


def observed(estimator, sensor, places, speeds, dt_s):
    """Errors of place and velocity by seed and time, and their covariances if there are any.

    The vehicle is level; each seed has its own way, and the sensor is named as in the estimator.
    """
    (name,) = {value for value in vars(estimator).values() if isinstance(value, str)}
    level, around = Start().kinematics(), seen()

    def motion(place, speed):
        return as_arrays(
            replace(
                level,
                position_world_m=Vec3.of(place),
                velocity_world_mps=Vec3.of(speed),
                specific_force_body_mps2=Vec3(0.0, 0.0, GRAVITY_MPS2),
            )
        )

    def one(key, places, speeds):
        keys = jax.random.split(key, 3)

        def step(states, now):
            tick, place, speed = now
            true = motion(place, speed)
            there = replace(around, time_s=tick * dt_s, truth=true)
            draw = jax.random.fold_in(keys[2], tick.astype(int))
            sensed, said = sensor.step(states[0], there, dt_s, draw)
            inputs = EstimatorInputs(true, {name: said}, {name: jnp.asarray(True)})
            believes, estimate = estimator.step(states[1], inputs, dt_s, key)
            told = estimator.uncertainty(believes)
            off = (
                true.position_world_m - estimate.position_world_m,
                true.velocity_world_mps - estimate.velocity_world_mps,
            )
            errors = jnp.concatenate([jnp.asarray(each.array) for each in off])
            return match_dtypes((sensed, believes), states), (
                errors,
                jnp.eye(6) if told is None else told.covariance[:6, :6],
            )

        begun = estimator.init(motion(places[0], speeds[0]), keys[0])
        ticks = jnp.arange(len(places)).astype(float)
        states = as_arrays((sensor.init(keys[1]), begun))
        return jax.lax.scan(step, states, (ticks, places, speeds))[1]

    fly = jax.jit(jax.vmap(one))
    keys = jax.random.split(kw.seed_key(0), SEEDS)
    ways = (jnp.asarray(np.broadcast_to(way, (SEEDS, *way.shape[-2:]))) for way in (places, speeds))
    return map(np.asarray, fly(keys, *ways))


def helix():
    """Of 5 m radius, three and a half turns and 22 m, as the library flies it."""
    t, turning = np.arange(0.0, 44.0, SLOT_S), 0.4998
    cosine, sine, ones = np.cos(turning * t), np.sin(turning * t), np.ones_like(t)
    places = np.stack([5.0 * cosine, 5.0 * sine, 0.5 * t], axis=1)
    return places, np.stack([-5.0 * turning * sine, 5.0 * turning * cosine, 0.5 * ones], axis=1)


def seen_by(sensor):
    return AnchorEkf(anchors_world_m=sensor.anchors_world_m)


def distances_m(errors):
    return np.linalg.norm(errors[:, :, :3], axis=2)


def root_mean_square(numbers):
    return float(np.sqrt(np.mean(np.square(numbers))))


@pytest.mark.slow
def test_dead_reckoning_without_noise_is_exact():
    log = kw.load("dead-reckoning").run()
    frame = log.frame("os4")
    place, believed = (
        frame[[f"{prefix}{axis}_m" for axis in "xyz"]].to_numpy() for prefix in ("", "estimate.")
    )
    assert np.linalg.norm(place - believed, axis=1).max() < 0.02
    # where its controller takes it in ten seconds
    assert np.linalg.norm(place[-1] - [2.0, 2.0, 5.0]) < 0.05


def test_dead_reckoning_at_rest_errs_as_white_noise_lets_it():
    # at 100 Hz: noise of the gyroscope makes the tilt walk, that of the accelerometer the velocity
    seconds, rate_hz, bound = 10.0, 100.0, 0.011
    still = np.zeros((round(seconds * rate_hz) + 1, 3))
    reckoning = DeadReckoning(gravity_mps2=GRAVITY_MPS2)
    errors, _ = observed(reckoning, MicklischImu(), still, still, 1.0 / rate_hz)
    density = bound**2 / 3.0 / rate_hz
    walked = density * seconds**3 / 3.0
    level = np.sqrt(GRAVITY_MPS2**2 * density * seconds**5 / 20.0 + walked)
    # four deviations of a root mean square of so many draws
    near = 4.0 / np.sqrt(2.0 * SEEDS)
    assert root_mean_square(errors[:, -1, 2]) == pytest.approx(np.sqrt(walked), rel=near)
    assert root_mean_square(errors[:, -1, :2]) == pytest.approx(level, rel=near / np.sqrt(2.0))


def test_anchors_in_a_corner_leave_about_a_meter_on_the_helix():
    # the source's picture shows about 1 m; its anchors lie within 2 m, up to 22 m away
    errors, _ = observed(seen_by(AnchorRanging()), AnchorRanging(), *helix(), SLOT_S)
    off_m = distances_m(errors)
    assert root_mean_square(off_m) < 1.0
    assert off_m.max() < 4.0
    # of the last quarter, where they are farthest away
    assert root_mean_square(off_m[:, -176:]) < 1.5


def test_anchors_around_the_helix_leave_little():
    errors, _ = observed(seen_by(SPREAD), SPREAD, *helix(), SLOT_S)
    # after two rounds, in which the start is forgotten
    assert root_mean_square(distances_m(errors)[:, 16:]) < 0.15


def test_covariance_of_fifty_anchor_flights_is_consistent():
    steps = round(20.0 / SLOT_S)
    draws = np.random.default_rng(5)
    pushes = draws.uniform(-5.0, 5.0, (SEEDS, steps, 3))
    # each acceleration holds for a slot
    speeds = np.cumsum(pushes * SLOT_S, axis=1) - pushes * SLOT_S
    places = np.cumsum(speeds * SLOT_S + pushes * SLOT_S**2 / 2.0, axis=1)
    places = np.concatenate([np.zeros((SEEDS, 1, 3)), places[:, :-1]], axis=1)
    errors, covariances = observed(seen_by(WIDE), WIDE, places, speeds, SLOT_S)
    solved = np.linalg.solve(covariances, errors[..., None])[..., 0]
    nees = (errors * solved).sum(axis=2)
    low, high = nees_bounds(SEEDS, 6)
    mean = nees.mean(axis=0)
    assert ((low < mean) & (mean < high)).mean() >= 0.9
    assert nees.mean() == pytest.approx(6.0, rel=0.05)


@pytest.mark.slow
def test_twenty_flights_on_anchors_stay_on_the_helix():
    simulation = kw.load("anchors")

    def told(snapshots):
        lone = jax.tree.map(lambda leaf: leaf[0], snapshots[0])
        place = lone.truth.position_world_m
        off = (place - lone.estimate.position_world_m).norm()
        return off, (place - lone.setpoint.position_world_m).norm(), lone.status

    fly = jax.jit(jax.vmap(lambda key: simulation.rollout(simulation.init(key), 17600, told)[1]))
    off_m, strayed_m, status = map(np.asarray, fly(jax.random.split(kw.seed_key(0), 20)))
    assert not status.any()
    # from the second second on
    assert root_mean_square(off_m[:, 400:]) < 0.15
    assert off_m.max() < 2.0
    assert root_mean_square(strayed_m) < 1.0
