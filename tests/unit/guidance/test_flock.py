"""Combination of a flock's behaviors into one velocity, and their activation."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.guidance.point_mass import DT_S, KEY, inputs_at
from tests.unit.swarm.neighbor_tables import neighbor, neighbor_table

from kittiwake.core.errors import CommandError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.flock import Flock
from kittiwake.guidance.maneuvers.hold import Hold
from kittiwake.guidance.mission import Mission, MissionStep
from kittiwake.swarm.alignment import Alignment
from kittiwake.swarm.cohesion import Cohesion
from kittiwake.swarm.formation import Formation
from kittiwake.swarm.informed_avoid import InformedAvoid
from kittiwake.swarm.olfati_saber import OlfatiSaber
from kittiwake.swarm.separation import Separation
from kittiwake.swarm.targeting import Targeting

# alone at the origin they propose 1 m/s to the east, and 2 m/s to the north
EAST = Targeting(target_world_m=Vec3(1.0, 0.0, 0.0), gain_hz=1.0, limit_mps=5.0)
NORTH = Targeting(target_world_m=Vec3(0.0, 2.0, 0.0), gain_hz=1.0, limit_mps=5.0)


def wanted(flock, neighbors=None, state=None):
    state = flock.init(KEY) if state is None else state
    inputs = inputs_at(Vec3.zero(), neighbors=neighbor_table() if neighbors is None else neighbors)
    return np.asarray(flock.step(state, inputs, DT_S, KEY)[1].velocity_world_mps.array)


def test_sum_is_weighted_and_limited():
    whole = Flock((EAST, NORTH), limit_mps=10.0)
    np.testing.assert_allclose(wanted(whole), [1.0, 2.0, 0.0])
    light = Targeting(target_world_m=Vec3(0.0, 2.0, 0.0), gain_hz=1.0, limit_mps=5.0, weight=0.5)
    np.testing.assert_allclose(wanted(Flock((EAST, light), limit_mps=10.0)), [1.0, 1.0, 0.0])
    speed = np.linalg.norm(wanted(Flock((EAST, NORTH), limit_mps=1.0)))
    assert speed == pytest.approx(1.0)


def test_order_gives_priority_to_earlier_behaviors():
    np.testing.assert_allclose(
        wanted(Flock((EAST, NORTH), combine="order", limit_mps=1.6)), [1.0, 0.6, 0.0]
    )
    np.testing.assert_allclose(
        wanted(Flock((NORTH, EAST), combine="order", limit_mps=1.6)), [0.0, 1.6, 0.0]
    )


def test_neighbors_beyond_the_radius_are_ignored():
    flock = Flock((Cohesion(1.0, limit_mps=50.0),), limit_mps=50.0, radius_m=5.0)
    others = neighbor_table(neighbor((4.0, 0.0, 0.0)), neighbor((0.0, 5.0, 0.0)))
    np.testing.assert_allclose(wanted(flock, others), [2.0, 0.0, 0.0])


@pytest.mark.slow
def test_feed_forward_is_the_velocity_derivative_for_straight_motion():
    behaviors = (
        Separation(distance_m=20.0),
        Alignment(),
        Cohesion(0.4),
        InformedAvoid(),
        Formation(),
        OlfatiSaber(distance_m=5.0),
        EAST,
    )
    position, speed = np.array([0.3, -0.2, 0.1]), np.array([0.5, 1.0, -0.4])
    others = neighbor_table(
        neighbor((4.0, 1.0, 0.0), (-0.5, 0.2, 0.3)), neighbor((-3.0, 5.0, 2.0), (0.7, -1.0, 0.1))
    )

    def command_after(flock, after_s):
        inputs = inputs_at(
            Vec3.of(position + after_s * speed),
            velocity=Vec3.of(speed),
            neighbors=others.after(after_s),
        )
        return flock.step(flock.init(KEY), inputs, DT_S, KEY)[1]

    with jax.enable_x64(True):
        for combine in ("sum", "order"):
            without = Flock(behaviors, combine, limit_mps=3.0, radius_m=30.0)
            flock = replace(without, feed_forward=True)
            now, span_s = command_after(flock, 0.0), 1e-5
            np.testing.assert_allclose(
                now.velocity_world_mps.array, command_after(without, 0.0).velocity_world_mps.array
            )
            assert not np.any(command_after(without, 0.0).acceleration_world_mps2.array)
            later, before = (
                np.asarray(command_after(without, s).velocity_world_mps.array)
                for s in (span_s, -span_s)
            )
            # the error of central differences is of the order of the span's square
            np.testing.assert_allclose(
                now.acceleration_world_mps2.array, (later - before) / (2.0 * span_s), atol=1e-7
            )
            assert np.linalg.norm(now.acceleration_world_mps2.array) > 0.01


def test_feed_forward_is_finite_when_alone_or_at_the_target():
    for position in (Vec3.zero(), Vec3(1.0, 0.0, 0.0)):
        flock = Flock((Separation(), Alignment(), Cohesion(), EAST), feed_forward=True)
        inputs = inputs_at(position, neighbors=neighbor_table(neighbor(position.array)))
        command = flock.step(flock.init(KEY), inputs, DT_S, KEY)[1]
        assert np.isfinite(command.acceleration_world_mps2.array).all()


def test_behaviors_of_one_kind_are_numbered():
    flock = Flock((EAST, Separation(), NORTH))
    assert flock.behavior_names == ("targeting", "separation", "targeting-2")


def test_behaviors_are_switched_by_name():
    flock = Flock((EAST, NORTH), limit_mps=10.0, active=("targeting-2",))
    np.testing.assert_allclose(wanted(flock), [0.0, 2.0, 0.0])
    state = flock.with_active_behaviors(flock.init(KEY), ["targeting"])
    np.testing.assert_allclose(wanted(flock, state=state), [1.0, 0.0, 0.0])
    assert not wanted(flock, state=flock.with_active_behaviors(state, [])).any()
    with pytest.raises(CommandError, match="no behavior 'towards'. Allowed: targeting"):
        flock.with_active_behaviors(state, ["towards"])
    with pytest.raises(CommandError, match="write a list of them: \\['targeting'\\]"):
        flock.with_active_behaviors(state, "targeting")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Flock(()), "at least one"),
        (lambda: Flock((EAST,), active=("cohesion",)), "active: there is no behavior 'cohesion'"),
    ],
    ids=["none", "unknown"],
)
def test_invalid_flock_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_mission_switches_its_flocks():
    flock = Flock((EAST, NORTH), limit_mps=10.0)
    mission = Mission((MissionStep(Hold(), for_s=1.0), MissionStep(flock)))
    assert mission.requires_radio
    assert not Mission((MissionStep(Hold()),)).requires_radio
    assert mission.behavior_names == ("targeting", "targeting-2")
    assert not mission.feeds_forward
    assert Mission(
        (MissionStep(Hold()), MissionStep(replace(flock, feed_forward=True)))
    ).feeds_forward
    assert Mission((MissionStep(flock), MissionStep(Flock((NORTH,))))).behavior_names == (
        "targeting",
    )
    assert Hold().behavior_names == ()
    state = mission.with_active_behaviors(mission.init(KEY), ["targeting"])
    np.testing.assert_array_equal(state.steps[1].active, [True, False])
    with pytest.raises(CommandError, match="no step of this mission has behaviors"):
        Mission((MissionStep(Hold()),)).with_active_behaviors(mission.init(KEY), ["targeting"])
    with pytest.raises(CommandError, match="this guidance has no behaviors"):
        Hold().with_active_behaviors(jnp.zeros(()), ["targeting"])
