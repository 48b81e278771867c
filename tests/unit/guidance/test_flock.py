"""How a flock's behaviours become one velocity, and how they are switched."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.guidance.guided import DT_S, KEY, inputs_at
from tests.unit.swarm.companies import company, peer

from kittiwake.core.errors import CommandError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.flock import Flock
from kittiwake.guidance.hold import Hold
from kittiwake.guidance.mission import Mission, Step
from kittiwake.swarm.cohesion import Cohesion
from kittiwake.swarm.separation import Separation
from kittiwake.swarm.targeting import Targeting

# alone at the origin they want 1 m/s to the east, and 2 m/s to the north
EAST = Targeting(target_world_m=Vec3(1.0, 0.0, 0.0), gain_hz=1.0, limit_mps=5.0)
NORTH = Targeting(target_world_m=Vec3(0.0, 2.0, 0.0), gain_hz=1.0, limit_mps=5.0)


def wanted(flock, peers=None, state=None):
    state = flock.init(KEY) if state is None else state
    inputs = inputs_at(Vec3.zero(), peers=company() if peers is None else peers)
    return np.asarray(flock.step(state, inputs, DT_S, KEY)[1].velocity_world_mps.array)


def test_sum_is_weighted_and_limited():
    whole = Flock((EAST, NORTH), limit_mps=10.0)
    np.testing.assert_allclose(wanted(whole), [1.0, 2.0, 0.0])
    light = Targeting(target_world_m=Vec3(0.0, 2.0, 0.0), gain_hz=1.0, limit_mps=5.0, weight=0.5)
    np.testing.assert_allclose(wanted(Flock((EAST, light), limit_mps=10.0)), [1.0, 1.0, 0.0])
    speed = np.linalg.norm(wanted(Flock((EAST, NORTH), limit_mps=1.0)))
    assert speed == pytest.approx(1.0)


def test_in_order_the_first_ones_come_first():
    np.testing.assert_allclose(
        wanted(Flock((EAST, NORTH), combine="order", limit_mps=1.6)), [1.0, 0.6, 0.0]
    )
    np.testing.assert_allclose(
        wanted(Flock((NORTH, EAST), combine="order", limit_mps=1.6)), [0.0, 1.6, 0.0]
    )


def test_those_beyond_the_radius_do_not_count():
    flock = Flock((Cohesion(1.0, limit_mps=50.0),), limit_mps=50.0, radius_m=5.0)
    others = company(peer((4.0, 0.0, 0.0)), peer((0.0, 5.0, 0.0)))
    np.testing.assert_allclose(wanted(flock, others), [2.0, 0.0, 0.0])


def test_names_of_a_kind_are_counted():
    flock = Flock((EAST, Separation(), NORTH))
    assert flock.behaviour_names == ("targeting", "separation", "targeting-2")


def test_behaviours_are_switched_by_name():
    flock = Flock((EAST, NORTH), limit_mps=10.0, active=("targeting-2",))
    np.testing.assert_allclose(wanted(flock), [0.0, 2.0, 0.0])
    state = flock.switched(flock.init(KEY), ["targeting"])
    np.testing.assert_allclose(wanted(flock, state=state), [1.0, 0.0, 0.0])
    assert not wanted(flock, state=flock.switched(state, [])).any()
    with pytest.raises(CommandError, match="no behaviour 'towards' here. Allowed: targeting"):
        flock.switched(state, ["towards"])
    with pytest.raises(CommandError, match="write a list of them: \\['targeting'\\]"):
        flock.switched(state, "targeting")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Flock(()), "at least one"),
        (lambda: Flock((EAST,), active=("cohesion",)), "active: there is no behaviour 'cohesion'"),
    ],
    ids=["none", "unknown"],
)
def test_what_cannot_be_flown_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_mission_switches_its_flocks():
    flock = Flock((EAST, NORTH), limit_mps=10.0)
    mission = Mission((Step(Hold(), for_s=1.0), Step(flock)))
    assert mission.hears
    assert not Mission((Step(Hold()),)).hears
    assert mission.behaviour_names == ("targeting", "targeting-2")
    assert Mission((Step(flock), Step(Flock((NORTH,))))).behaviour_names == ("targeting",)
    assert Hold().behaviour_names == ()
    state = mission.switched(mission.init(KEY), ["targeting"])
    np.testing.assert_array_equal(state.steps[1].active, [True, False])
    with pytest.raises(CommandError, match="no step of this mission has behaviours"):
        Mission((Step(Hold()),)).switched(mission.init(KEY), ["targeting"])
    with pytest.raises(CommandError, match="this guidance has no behaviours"):
        Hold().switched(jnp.zeros(()), ["targeting"])
