"""Demonstrations of Velasco et al. (2020), Drones 4(3), 37, and landings on moving decks.

Times at which places are reached: the authors' block diagram, simulated again.
"""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.keys import seed_key
from kittiwake.guidance.landing.deck_landing import DESCENDING, GOING_AROUND, MOTORS_OFF
from kittiwake.guidance.landing.uav_usv_landing import APPROACHING, FOLLOWING, LANDING
from kittiwake.scenario.load import load_scenario

INFLOW = "vehicles.strider.parameters.rudder.inflow_x_body_m"
GUIDANCE = "vehicles.drone.guidance"
BOX_S = (5.5, 15.1, 22.3, 29.6, 36.0)
GEOMETRIC_BOX_S = (6.3, 17.8, 29.5, 36.4, 44.8)
SWEEP_S = (20.2, 41.1, 51.9, 62.6, 73.8, 84.5)
PAD_M, STANDING_M = 0.35, 0.06
FEW, MANY = 5, 100
EVERY = 5
# until the last of a hundred has stood on the deck for a minute
LONG_S = 95.0


class Flight(NamedTuple):
    """A drone and its vessel: place of one over the other, and what the log says of both."""

    time_s: np.ndarray
    beside_m: np.ndarray
    over_m: np.ndarray
    drone: dict[str, np.ndarray]
    vessel: dict[str, np.ndarray]
    reached_s: list[float]

    def during(self, since_s, until_s):
        """The distance beside the deck in a span of time."""
        return self.beside_m[(self.time_s >= since_s) & (self.time_s < until_s)]

    @property
    def phases(self):
        """In the order in which they come."""
        phase = self.drone["guidance.phase"].astype(int)
        return phase[np.flatnonzero(np.diff(phase, prepend=-1))].tolist()


@cache
def flown(name):
    return kw.load(name).run()


@cache
def flight(name, number=""):
    return paired(flown(name), number)


def paired(log, number=""):
    """A drone and its vessel in a log."""
    drone, vessel = (
        {column: log.column(one, column) for column in log.columns(one)}
        for one in (f"drone{number}", f"strider{number}")
    )
    beside = np.hypot(*(drone[axis] - vessel[axis] for axis in ("x_m", "y_m")))
    reached = [e.time_s for e in log.events if e.vehicle == "strider" and "reached" in e.event]
    over = drone["z_m"] - vessel["z_m"] - PAD_M
    return Flight(drone["time_s"], beside, over, drone, vessel, reached)


@pytest.mark.slow
def test_the_box_is_sailed_in_the_time_of_the_original():
    assert flight("survey-box").reached_s == pytest.approx(BOX_S, rel=0.1)


@pytest.mark.slow
def test_with_the_rudder_by_geometry_the_box_takes_the_longer_time_of_the_original():
    sailed = paired(kw.load("survey-box", {INFLOW: -0.34727}).run(47.0))
    assert sailed.reached_s[:5] == pytest.approx(GEOMETRIC_BOX_S, rel=0.1)


@pytest.mark.slow
def test_the_sweep_is_sailed_in_the_time_of_the_original():
    assert flight("survey-sweep").reached_s == pytest.approx(SWEEP_S, rel=0.1)


@pytest.mark.parametrize(
    "name", ["survey-box", pytest.param("survey-sweep", marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_the_vessel_keeps_to_its_limits(name):
    vessel = flight(name).vessel
    assert np.hypot(vessel["vx_mps"], vessel["vy_mps"]).max() <= 1.05
    assert np.degrees(np.abs(vessel["act_rudder_rad"]).max()) <= 35.0 + 1e-9
    assert np.abs(vessel["act_thrust_n"]).max() <= 3.0 + 1e-12


@pytest.mark.slow
def test_the_drone_lands_on_the_box_goes_up_again_and_lands_for_good():
    landed = flight("survey-box")
    assert landed.phases[:3] == [FOLLOWING, APPROACHING, LANDING]
    assert landed.phases.count(LANDING) >= 2
    assert landed.phases[-1] == LANDING
    # the error of the turn makes it go up before it comes down for the last time
    down = np.flatnonzero(landed.drone["guidance.phase"] == LANDING)
    assert landed.over_m[down[0] :].max() > 0.5
    assert landed.drone["touch_offset_m"][-1] <= 0.1
    assert landed.beside_m[-2000:].max() <= 0.1
    np.testing.assert_allclose(landed.over_m[-2000:], STANDING_M, atol=0.01)


@pytest.mark.slow
def test_drone_with_an_unreachable_threshold_never_lands():
    hovers = flight("survey-sweep")
    assert LANDING not in hovers.phases
    assert hovers.drone["contact"][100:].max() == 0.0
    np.testing.assert_allclose(hovers.over_m[hovers.time_s > 40.0], 0.65, atol=0.1)


def legs(hovers):
    return zip([4.0, *hovers.reached_s], hovers.reached_s, strict=False)


@pytest.mark.slow
def test_on_straight_legs_the_drone_of_the_original_comes_back_over_the_deck():
    hovers = paired(kw.load("survey-sweep", {f"{GUIDANCE}.feed_velocity": False}).run())
    for begins_s, ends_s in legs(hovers):
        # an integral estimates its velocity again on each leg
        assert hovers.during(begins_s + 6.0, ends_s).max() < 0.1
        assert hovers.during(begins_s, ends_s).max() < 0.55


@pytest.mark.slow
def test_with_the_velocity_fed_forward_it_is_back_within_three_seconds_of_a_turn():
    hovers = flight("survey-sweep")
    for begins_s, ends_s in legs(hovers):
        assert hovers.during(begins_s + 3.0, ends_s).max() < 0.1
        assert hovers.during(begins_s, ends_s).max() < 0.15


@pytest.mark.slow
def test_the_profile_ends_where_its_accelerations_lead():
    drone = flight("inverse-kinematics-profile").drone
    assert drone["x_m"].max() == pytest.approx(5.0, abs=0.05)
    assert abs(drone["x_m"][-1]) < 0.5
    assert drone["y_m"][-1] == pytest.approx(25.0, abs=0.1)
    upright = 1.0 - 2.0 * (drone["qx"] ** 2 + drone["qy"] ** 2)
    assert np.degrees(np.arccos(upright)).max() <= 2.8


@pytest.mark.slow
def test_a_gust_during_the_descent_makes_it_go_around_and_land_later():
    gust = {
        "type": "force",
        "from_world_m": [7.4, -9, 0.55],
        "to_world_m": [7.8, 9, 3],
        "force_world_n": [0, 2, 0],
    }
    pushed = paired(kw.load("deck-landing", {"world.regions": {"gust": gust}}).run(20.0))
    assert pushed.phases == [1, 2, 3, DESCENDING, GOING_AROUND, 3, DESCENDING, MOTORS_OFF]
    strays = int(np.argmax(pushed.drone["guidance.phase"] == GOING_AROUND))
    assert pushed.beside_m[strays] > 0.1
    assert pushed.drone["landings"][-1] == 1
    assert pushed.drone["touch_offset_m"][-1] < 0.1
    assert pushed.drone["touch_speed_mps"][-1] < 0.5


@pytest.mark.slow
def test_a_mission_lands_rests_takes_off_and_lands_again():
    drone = flight("deck-landing-legs").drone
    assert drone["landings"][-1] == 2
    off = drone["act_rotor_0_radps"] < 1.0
    rests = np.flatnonzero(np.diff(off.astype(int)))
    first = drone["time_s"][rests]
    assert first[1] - first[0] == pytest.approx(6.0, abs=0.2)
    between = slice(rests[1], rests[2])
    assert drone["z_m"][between].max() > PAD_M + 1.6
    assert off[-1]


@pytest.mark.slow
@pytest.mark.parametrize("number", ["-1", "-2", "-3"])
def test_each_of_several_drones_lands_on_the_deck_of_its_own_vessel(number):
    landed = flight("survey-pairs", number)
    assert landed.drone["touched_deck"][-1] == 1
    assert landed.beside_m[-500:].max() < 0.1


class Landings(NamedTuple):
    """By seed and time: the place over the deck in its axes, motors off, and the last landing."""

    position_m: np.ndarray
    off: np.ndarray
    landings: np.ndarray
    touch_speed_mps: np.ndarray
    touch_offset_m: np.ndarray
    lost: np.ndarray
    period_s: float

    @property
    def good(self):
        """Whether it touched the deck near its middle and slowly, by seed."""
        near, slow = self.touch_offset_m[:, -1] < 0.1, self.touch_speed_mps[:, -1] < 0.5
        return (self.landings[:, -1] == 1) & near & slow & ~self.lost[:, -1]

    @property
    def stays(self):
        """Whether it stands on the deck during the minute after its motors went off, by seed."""
        minute = round(60.0 / self.period_s)
        begins = self.off.argmax(axis=1)
        assert self.off[:, -1].all()
        assert (begins + minute <= self.off.shape[1]).all()
        after = np.array(
            [own[i : i + minute] for own, i in zip(self.position_m, begins, strict=True)]
        )
        beside = np.hypot(after[..., 0], after[..., 1]).max(axis=1)
        return (beside < 0.3) & (np.abs(after[..., 2] - STANDING_M) < 0.02).all(axis=1)


def landings(name, count, duration_s, *overrides):
    """Of as many seeds, in one program."""
    scenario = load_scenario(name, overrides)
    fleet = scenario.fleet()
    (drone,) = [i for i, group in enumerate(fleet.groups) if "drone" in group.names]
    deck = scenario.vehicles["strider"].dynamics.deck
    steps = round(duration_s * scenario.rate_hz)

    @jax.jit
    @jax.vmap
    def fly(key):
        def kept(snapshots):
            one, other = (jax.tree.map(lambda leaf: leaf[0], snapshots[i]) for i in order)
            place = deck.carried_by(other.truth).to_deck_axes(one.truth.position_world_m)
            foot = one.ground_contact
            touch = foot.landings, foot.touch_speed_mps, foot.touch_offset_m
            return place, one.phase == MOTORS_OFF, *touch, one.status

        return fleet.rollout(fleet.init(key), steps, kept)[1]

    order = (drone, 1 - drone)
    rows = fly(jnp.stack([seed_key(seed) for seed in range(count)]))
    place, *others, status = jax.tree.map(lambda leaf: np.asarray(leaf)[:, ::EVERY], rows)
    places = np.stack([place.x, place.y, place.z], axis=-1)
    return Landings(places, *others, status != 0, EVERY / scenario.rate_hz)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["deck-landing", "deck-landing-waves"])
def test_a_few_land_near_the_middle_and_softly(name):
    assert landings(name, FEW, 30.0).good.all()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("deck-landing", 99), ("deck-landing-waves", 95)])
def test_of_a_hundred_nearly_all_land_near_the_middle_and_none_falls_off(name, least):
    found = landings(name, MANY, LONG_S)
    assert found.good.sum() >= least
    assert found.stays.all()


BY_MODEL = "vehicles.drone.sensors.marker.rendered=false"


@pytest.mark.slow
def test_a_few_land_by_the_marker_alone():
    assert landings("marker-landing", FEW, 20.0, BY_MODEL).good.all()


@pytest.mark.slow
def test_of_a_hundred_nearly_all_land_by_the_marker_alone():
    faster = "vehicles.strider.controller.cruise_speed_mps=1"
    assert landings("marker-landing", MANY, 30.0, BY_MODEL, faster).good.sum() >= 90
