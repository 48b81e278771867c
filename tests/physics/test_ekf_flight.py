"""The Kalman filter in flight: how far it is off, and whether it says so."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.analysis.consistency import nees_bounds
from kittiwake.interfaces.instrument import AbstractSensorError

SEEDS, SECONDS = 50, 300.0
EVERY_S = 0.1


class Outcome(NamedTuple):
    """Of some flights, by time: the nine errors, their NEES, and the worst verdict."""

    errors: np.ndarray
    nees: np.ndarray
    status: np.ndarray
    strayed_m: np.ndarray


class Silence(AbstractSensorError):
    """Loses all samples of a time."""

    from_s: float
    to_s: float

    def init(self, key, first, dt_s):
        """The time and the sample before the first one."""
        return jnp.zeros(()), first

    def step(self, state, sample, dt_s, key):
        """The sample, or the last one as not new."""
        time_s, last = state
        lost = (self.from_s <= time_s) & (time_s < self.to_s)
        kept = jax.tree.map(lambda a, b: jnp.where(lost, a, b), last, sample)
        told = dataclasses.replace(kept, fresh=sample.fresh & ~lost)
        return (time_s + dt_s, kept), told


def seen(snapshots):
    """The errors of the estimate, their NEES, the verdict, and the way from the set point."""
    lone = jax.tree.map(lambda leaf: leaf[0], snapshots[0])
    true, believed = lone.truth, lone.estimate
    turn = true.q_world_from_body * believed.q_world_from_body.inverse()
    errors = jnp.concatenate(
        [
            jnp.asarray((true.position_world_m - believed.position_world_m).array),
            jnp.asarray((true.velocity_world_mps - believed.velocity_world_mps).array),
            2.0 * jnp.sign(turn.w) * jnp.asarray(turn.vector.array),
        ]
    )
    nees = errors @ jnp.linalg.solve(lone.uncertainty.covariance, errors)
    strayed = (true.position_world_m - lone.setpoint.position_world_m).norm()
    return Outcome(errors, nees, lone.status, strayed)


def flights(simulation, seeds, seconds):
    """Of so many seeds, ten rows a second."""
    every = round(EVERY_S / simulation.dt_s)

    def some(state, _):
        state, rows = simulation.rollout(state, every, seen)
        return state, jax.tree.map(lambda rows: rows[-1], rows)

    @jax.jit
    @jax.vmap
    def fly(key):
        return jax.lax.scan(some, simulation.init(key), length=round(seconds / EVERY_S))[1]

    return Outcome(*map(np.asarray, fly(jax.random.split(kw.seed_key(0), seeds))))


def distances_m(outcome):
    return np.linalg.norm(outcome.errors[:, :, :3], axis=2)


@pytest.mark.slow
def test_covariance_of_fifty_flights_of_five_minutes_is_consistent():
    outcome = flights(kw.load("ekf-flight"), SEEDS, SECONDS)
    assert not outcome.status.any()
    off_m = distances_m(outcome)
    # the accepted meter, of all flights together at any time and over all of it
    assert np.sqrt(np.mean(off_m**2)) < 1.0
    low, high = nees_bounds(SEEDS)
    mean = outcome.nees.mean(axis=0)
    assert ((low < mean) & (mean < high)).mean() >= 0.9


@pytest.mark.slow
def test_covariance_of_a_few_flights_of_half_a_minute_is_consistent():
    seeds = 4
    # in the air feet change nothing but the time to compile
    quick = {"time.rate_hz": 100, "vehicles.hummingbird.parameters": {"landing_gear": None}}
    outcome = flights(kw.load("ekf-flight", quick), seeds, 30.0)
    assert not outcome.status.any()
    assert np.sqrt(np.mean(distances_m(outcome) ** 2)) < 1.0
    # errors of four flights that go together for half a minute: hardly more than four draws
    low, high = nees_bounds(seeds)
    assert low < outcome.nees.mean() < high
    # velocity and attitude are found in seconds: half and a twentieth of the first deviations
    late = np.sqrt(np.mean(outcome.errors[:, -50:] ** 2, axis=(0, 1)))
    assert (late[3:6] < 0.06).all()
    assert (late[6:] < 0.003).all()


def without_fixes(simulation, from_s, to_s):
    """The same flight, in which the receiver is silent for a time."""
    scenario = simulation.scenario
    vehicle = scenario.vehicles["hummingbird"]
    gnss = vehicle.sensors["gnss"]
    deaf = dataclasses.replace(gnss.component, errors=(Silence(from_s, to_s),))
    sensors = vehicle.sensors | {"gnss": dataclasses.replace(gnss, component=deaf)}
    vehicles = {"hummingbird": dataclasses.replace(vehicle, sensors=sensors)}
    return kw.Simulation(scenario.with_parts(vehicles=vehicles))


@pytest.mark.slow
def test_twenty_seconds_without_satellites_are_survived():
    simulation = kw.load("ekf-flight", {"time.rate_hz": 100})
    outcome = flights(without_fixes(simulation, 30.0, 50.0), 20, 90.0)
    assert not outcome.status.any()
    off_m = np.sqrt(np.mean(distances_m(outcome) ** 2, axis=0))
    before, lost, after = (
        off_m[round(from_s / EVERY_S) : round(to_s / EVERY_S)].max()
        for from_s, to_s in ((20.0, 30.0), (30.0, 50.0), (55.0, 90.0))
    )
    # what 3 cm/s and 0.02 deg of tilt make in 20 s, 0.6 and 0.7 m, beside what it was before
    assert before < lost < 2.5
    # and back to what satellites say
    assert after < 1.5 * before
    # the filter knows that it does not know
    low, high = nees_bounds(20)
    during = outcome.nees.mean(axis=0)[round(30.0 / EVERY_S) :]
    assert ((low < during) & (during < high)).mean() >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("controller", ["lee", "mellinger", "lqr"])
def test_other_controllers_fly_on_it(controller):
    changes = {"vehicles.hummingbird.controller": controller}
    outcome = flights(kw.load("ekf-flight", changes), 2, 20.0)
    assert not outcome.status.any()
    # as far as the estimate is off, and the controller from its set point
    assert outcome.strayed_m[:, -50:].max() < 2.5
