"""Registries: names, suggestions, and entries of other packages."""

from importlib.metadata import EntryPoint, EntryPoints

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
    """Simulate the entry points of another installed package."""
    points = [
        EntryPoint("euler", "kittiwake.geometry.euler:EulerZYX", "kittiwake.shapes"),
        EntryPoint("vector", "kittiwake.geometry.euler:EulerZYX", "kittiwake.shapes"),
        EntryPoint("stray", "kittiwake.geometry.euler:EulerZYX", "kittiwake.colors"),
    ]
    monkeypatch.setattr(registry_module, "_installed", lambda _path: EntryPoints(points).select)


def test_names_are_in_alphabetical_order(shapes):
    assert shapes.names() == ["quaternion", "vector"]


def test_name_finds_its_object(shapes):
    found = shapes.find("vector")
    assert (found.__module__, found.__name__) == ("kittiwake.geometry.vec3", "Vec3")


def test_unknown_name_is_rejected_with_a_suggestion_and_all_allowed_names(shapes):
    with pytest.raises(RegistryError) as refusal:
        shapes.find("vectro")
    expected = "there is no shape 'vectro'. Did you mean 'vector'? Allowed: quaternion, vector."
    assert str(refusal.value) == expected
    assert isinstance(refusal.value, KittiwakeError)


def test_dissimilar_name_gets_the_list_without_a_suggestion(shapes):
    with pytest.raises(RegistryError) as refusal:
        shapes.find("xyz")
    assert str(refusal.value) == "there is no shape 'xyz'. Allowed: quaternion, vector."


def test_empty_registry_reports_that_nothing_is_allowed():
    with pytest.raises(RegistryError, match=r"there is no shape 'a'\. There are none\.$"):
        Registry("shapes", "shape", {}).find("a")


@pytest.mark.usefixtures("installed")
def test_other_packages_add_entries(shapes):
    assert shapes.names() == ["euler", "quaternion", "vector"]
    assert shapes.find("euler").__name__ == "EulerZYX"
    assert shapes.entries["euler"].summary == "from kittiwake.geometry.euler"


@pytest.mark.usefixtures("installed")
def test_other_packages_cannot_replace_a_builtin_name(shapes):
    assert shapes.entries["vector"] is VECTOR
    assert shapes.find("vector").__name__ == "Vec3"


@pytest.mark.usefixtures("installed")
def test_entries_of_another_family_are_ignored(shapes):
    assert "stray" not in shapes.names()


def test_suggestion_is_one_of_the_allowed_names():
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
def test_dissimilar_names_give_no_suggestion(given, allowed):
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
def test_misspellings_and_parts_of_names_give_a_suggestion(given, meant):
    allowed = ["pelican", "heat", "curve", "rate_hz", "survey-lake", "waypoint-tour"]
    assert nearest(given, [*allowed, "hover-hummingbird", "position_world_m"]) == meant


def test_at_most_ten_names_are_listed_with_the_suggestion_first():
    names = [f"wing-{i:03}" for i in range(289)]
    said = did_you_mean("tren", [*names, "tern"], "kittiwake list wings")
    assert said.startswith("Did you mean 'tern'? Allowed: tern, wing-000, ")
    assert said.count("wing-") == 9
    assert said.endswith(" and 280 more ('kittiwake list wings' shows all 290).")
