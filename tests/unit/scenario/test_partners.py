"""Whose deck a vehicle follows: pairs by number, and what is said of a wrong partner."""

import pytest

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.load import load_scenario

OWN = "vehicles.drone.partner"


def problem(name, changes):
    with pytest.raises(ScenarioError) as refused:
        kw.load(name, changes)
    return str(refused.value)


def test_of_two_counted_entries_each_has_that_of_the_same_number():
    assert load_scenario("survey-pairs").partners == {
        f"drone-{i}": f"strider-{i}" for i in (1, 2, 3)
    }


def test_all_of_an_entry_may_have_one_partner():
    alone = ("vehicles.strider.count=null", "vehicles.strider.spacing_m=null")
    assert set(load_scenario("survey-pairs", alone).partners.values()) == {"strider"}


@pytest.mark.slow
def test_a_platform_may_be_one():
    barge = {"type": "moving", "position_world_m": [0, 0, 0.35], "length_m": 1, "width_m": 1}
    changes = {"world.platforms": {"barge": barge}, OWN: "barge"}
    log = kw.load("deck-landing", changes).run(0.1)
    assert log.column("drone", "ideal.deck.position_z_world_m")[0] == pytest.approx(0.35)


@pytest.mark.parametrize(
    ("partner", "message"),
    [
        ("stridr", "there is no vehicle and no platform 'stridr'. Did you mean 'strider'?"),
        ("drone", "is the vehicle itself; write another one, or a platform"),
    ],
)
def test_a_wrong_partner_is_answered_with_a_right_one(partner, message):
    told = problem("deck-landing", {OWN: partner})
    assert OWN in told
    assert message in told


def test_one_of_a_counted_entry_is_answered_with_the_entry():
    told = problem("survey-pairs", {OWN: "strider-1"})
    assert "'strider-1' is one vehicle of strider; only the entry can be named: strider" in told


def test_one_without_a_deck_is_refused():
    told = problem("deck-landing", {"vehicles.strider.parameters.deck": None})
    assert "strider has no deck; give it one under parameters.deck" in told


def test_unequal_counts_are_refused():
    told = problem("survey-pairs", {"vehicles.strider.count": 2})
    assert "strider are 2, and drone 3; write equal counts" in told


@pytest.mark.parametrize("wrong", ["strider", "drone"])
def test_a_pair_of_which_one_is_refused_has_that_one_message(wrong):
    told = problem("survey-pairs", {f"vehicles.{wrong}.start.yaw_degg": 1})
    assert "yaw_degg" in told
    assert "write equal counts" not in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("wrong", ["strider", "drone"])
def test_a_count_that_is_no_number_has_one_message(wrong):
    told = problem("survey-pairs", {f"vehicles.{wrong}.count": "x"})
    assert "must be a whole number" in told
    assert len(told.splitlines()) == 1


def test_a_beacon_needs_a_partner():
    told = problem("deck-landing", {OWN: None})
    assert f"{OWN}: is missing; write whose deck the vehicle's sensors look for" in told
