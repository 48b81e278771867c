"""Registries: names, help with wrong ones, and entries of other packages."""

from importlib.metadata import EntryPoint

import pytest

from kittiwake.core import registry as registry_module
from kittiwake.core.errors import KittiwakeError, RegistryError, did_you_mean, nearest
from kittiwake.core.registry import Registry, RegistryEntry

VECTOR = RegistryEntry("kittiwake.geometry.vec3:Vec3", "a vector")
QUATERNION = RegistryEntry("kittiwake.geometry.quaternion:Quaternion", "a rotation")


@pytest.fixture
def shapes():
    return Registry("shapes", "shape", {"vector": VECTOR, "quaternion": QUATERNION})


@pytest.fixture
def installed(monkeypatch):
    """Entry points as if another package were installed."""
    points = [
        EntryPoint("euler", "kittiwake.geometry.euler:EulerZYX", "kittiwake.shapes"),
        EntryPoint("vector", "kittiwake.geometry.euler:EulerZYX", "kittiwake.shapes"),
        EntryPoint("stray", "kittiwake.geometry.euler:EulerZYX", "kittiwake.colors"),
    ]
    monkeypatch.setattr(
        registry_module, "entry_points", lambda group: [p for p in points if p.group == group]
    )


def test_names_are_in_alphabetical_order(shapes):
    assert shapes.names() == ["quaternion", "vector"]


def test_name_leads_to_what_it_names(shapes):
    found = shapes.find("vector")
    assert (found.__module__, found.__name__) == ("kittiwake.geometry.vec3", "Vec3")


def test_wrong_name_is_refused_with_the_nearest_one_and_all_that_are_allowed(shapes):
    with pytest.raises(RegistryError) as refusal:
        shapes.find("vectro")
    expected = "there is no shape 'vectro'. Did you mean 'vector'? Allowed: quaternion, vector."
    assert str(refusal.value) == expected
    assert isinstance(refusal.value, KittiwakeError)


def test_name_that_resembles_nothing_gets_the_list_without_a_guess(shapes):
    with pytest.raises(RegistryError) as refusal:
        shapes.find("xyz")
    assert str(refusal.value) == "there is no shape 'xyz'. Allowed: quaternion, vector."


def test_empty_registry_says_that_nothing_is_allowed():
    with pytest.raises(RegistryError, match=r"there is no shape 'a'\. There are none\.$"):
        Registry("shapes", "shape", {}).find("a")


@pytest.mark.usefixtures("installed")
def test_other_packages_add_entries(shapes):
    assert shapes.names() == ["euler", "quaternion", "vector"]
    assert shapes.find("euler").__name__ == "EulerZYX"
    assert shapes.entries["euler"].summary == "from kittiwake.geometry.euler"


@pytest.mark.usefixtures("installed")
def test_other_packages_cannot_take_over_a_builtin_name(shapes):
    assert shapes.entries["vector"] is VECTOR
    assert shapes.find("vector").__name__ == "Vec3"


@pytest.mark.usefixtures("installed")
def test_entries_of_another_family_are_not_taken(shapes):
    assert "stray" not in shapes.names()


def test_guess_is_made_among_the_allowed_words_only():
    assert (
        did_you_mean("drydn", ["none", "dryden"]) == "Did you mean 'dryden'? Allowed: dryden, none."
    )
    assert did_you_mean("", ["none"]) == "Allowed: none."


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ("foo", ["goto", "hold"]),
        ("mat", ["csv", "geojson", "geotiff", "mcap", "parquet", "rosbag1", "rosbag2"]),
        ("pid", ["indi", "lee", "lqr", "mellinger", "position"]),
        ("wind", ["indi", "none"]),
    ],
)
def test_no_guess_is_made_where_nothing_is_near(given, allowed):
    assert did_you_mean(given, allowed) == f"Allowed: {', '.join(sorted(allowed))}."


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("waypoint-tuor", "waypoint-tour"),
        ("Pelican", "pelican"),
        ("haet", "heat"),
        ("rate", "rate_hz"),
        ("survey", "survey-lake"),
        ("hummingbird", "hover-hummingbird"),
        ("position_m", "position_world_m"),
    ],
)
def test_a_slip_of_the_pen_and_a_part_of_a_name_are_guessed(given, meant):
    allowed = ["pelican", "heat", "curve", "rate_hz", "survey-lake", "waypoint-tour"]
    assert nearest(given, [*allowed, "hover-hummingbird", "position_world_m"]) == meant


def test_at_most_ten_names_are_told_the_guess_first_and_where_the_others_are():
    names = [f"wing-{i:03}" for i in range(289)]
    said = did_you_mean("tren", [*names, "tern"], "kittiwake list wings")
    assert said.startswith("Did you mean 'tern'? Allowed: tern, wing-000, ")
    assert said.count("wing-") == 9
    assert said.endswith(" and 280 more ('kittiwake list wings' shows all 290).")
