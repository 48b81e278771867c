"""Publications of the UAV-USV simulator and of uav_gazebo, flown again."""

from pathlib import Path

import msgspec
import pytest

import kittiwake
from kittiwake.analysis.reproduction.measures import bound_measure
from kittiwake.analysis.reproduction.publication import PublishedItem, read_publication
from kittiwake.analysis.reproduction.verdict import Verdict
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.reproduction import reproduce as reproduction
from kittiwake.runtime.reproduction.reproduce import reproduce
from kittiwake.scenario.load import load_in_python

NAMES = ("uav-usv", "uav-gazebo")
ROOT = Path(kittiwake.__file__).parents[2]
FLIGHTS = [(name, flight) for name in NAMES for flight in read_publication(name).flights]
ITEMS = [(name, item) for name in NAMES for item in read_publication(name).items]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "flight"), FLIGHTS)
def test_every_flight_is_one_of_the_library(name, flight):
    own = read_publication(name).flights[flight]
    scenario = load_in_python(own.scenario, own.overrides)
    for key, values in own.vary.items():
        for value in values:
            load_in_python(own.scenario, {**own.overrides, key: value})
    assert {placed.vehicle for placed in own.teleports} <= {*scenario.vehicles}
    assert all(0.0 < placed.at_s < scenario.duration_s for placed in own.teleports)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "item"), ITEMS, ids=[f"{n}-{i.name}" for n, i in ITEMS])
def test_every_item_names_what_there_is(name, item):
    known = read_publication(name).flights
    assert {*item.flights()} <= {*known}
    assert (ROOT / "docs" / item.page).is_file()
    assert (ROOT / item.test).is_file()
    for number in item.numbers:
        # a wrong name or argument is an error
        bound_measure(number.measure, of_flight=number.flight is not None)


@pytest.mark.parametrize(("name", "item"), ITEMS, ids=[f"{n}-{i.name}" for n, i in ITEMS])
def test_notes_are_short(name, item):
    sentences = [
        sentence
        for text in (*item.notes, *(number.why for number in item.numbers))
        for sentence in text.replace("; ", ". ").split(". ")
    ]
    assert max((len(sentence.split()) for sentence in sentences), default=0) <= 25


def flown(monkeypatch, folder, publication):
    monkeypatch.setattr(reproduction, "read_publication", lambda _: publication)
    return reproduce([publication.name], out=folder)[0]


def only(name, *items):
    own = read_publication(name)
    return msgspec.structs.replace(own, items=[i for i in own.items if i.name in items])


def test_teleports_and_a_step_of_rates_agree(monkeypatch, tmp_path):
    report = flown(monkeypatch, tmp_path, only("uav-gazebo", "teleport", "thrust-rates"))
    verdicts = [v for _, items in report.parts for own in items for v in own.verdicts]
    # where it was before it was placed elsewhere has no published value
    assert verdicts == [Verdict.AGREES, Verdict.OURS, *[Verdict.AGREES] * 4]
    assert (tmp_path / "uav-gazebo.md").is_file()
    assert (tmp_path / "report.html").is_file()


def test_unknown_publication_is_refused_with_the_nearest_name():
    with pytest.raises(ScenarioError, match=r"got uav-usb. Did you mean 'uav-usv'"):
        reproduce(["uav-usb"])


def with_first_number(**changes):
    own = only("uav-gazebo", "thrust-rates")
    (item,) = own.items
    number = msgspec.structs.replace(item.numbers[0], **changes)
    changed = msgspec.structs.replace(item, numbers=[number])
    assert isinstance(changed, PublishedItem)
    return msgspec.structs.replace(own, items=[changed])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"flight": "rate"}, "there is no flight 'rate'. Did you mean 'rates'"),
        ({"measure": {"type": "time_constant"}}, "Did you mean 'time_constant_s'"),
        ({"measure": {"type": "value", "quantity": "zm"}}, "Did you mean 'z_m'"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest_one(monkeypatch, tmp_path, changes, said):
    with pytest.raises(ScenarioError, match=said):
        flown(monkeypatch, tmp_path, with_first_number(**changes))
