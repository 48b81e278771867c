"""Partners of vehicles: pairs by number, and error messages for invalid partners."""

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
    text = problem("deck-landing", {OWN: partner})
    assert OWN in text
    assert message in text


def test_one_of_a_counted_entry_is_answered_with_the_entry():
    text = problem("survey-pairs", {OWN: "strider-1"})
    assert "'strider-1' is one vehicle of strider; write the entry's name: strider" in text


def test_one_without_a_deck_is_refused():
    text = problem("deck-landing", {"vehicles.strider.parameters.deck": None})
    assert "strider has no deck; give it one under parameters.deck" in text


def test_unequal_counts_are_refused():
    text = problem("survey-pairs", {"vehicles.strider.count": 2})
    assert "strider has count 2, drone 3; write equal counts" in text


@pytest.mark.parametrize("wrong", ["strider", "drone"])
def test_a_pair_of_which_one_is_refused_has_that_one_message(wrong):
    text = problem("survey-pairs", {f"vehicles.{wrong}.start.yaw_degg": 1})
    assert "yaw_degg" in text
    assert "write equal counts" not in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize("wrong", ["strider", "drone"])
def test_a_count_that_is_no_number_has_one_message(wrong):
    text = problem("survey-pairs", {f"vehicles.{wrong}.count": "x"})
    assert "must be a whole number" in text
    assert len(text.splitlines()) == 1


def test_a_beacon_needs_a_partner():
    text = problem("deck-landing", {OWN: None})
    assert f"{OWN}: is missing; write the vehicle whose deck the sensors observe" in text
