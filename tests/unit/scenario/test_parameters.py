"""Components from the values in a file: accepted values of each annotation, and error messages."""

import math
from typing import Annotated, Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from kittiwake.core.bounds import FRACTION, POSITIVE, Bounds
from kittiwake.core.errors import CommandError, ScenarioError
from kittiwake.core.recording import Recording
from kittiwake.core.units import DEGREE_RAD, FOOT_M, HECTOPASCAL_PA, KNOT_MPS, RPM_RADPS
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.parts import AbstractRotor
from kittiwake.pytree import Module, field
from kittiwake.scenario.document import apply_overrides, parse_document
from kittiwake.scenario.parameters import build_component, parameters_model
from kittiwake.world.environment import AbstractWind


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


GAINS_RULE = "must be a mapping {proportional: ...}; further keys: limit_rad, limit_deg"


class Gains(Module):
    """A record inside another."""

    proportional: Annotated[Real, POSITIVE]
    limit_rad: Annotated[Real, Bounds(low=0.0, high=math.pi)] = math.pi


class Everything(Module):
    """One field of each kind, all with defaults."""

    mass_kg: Annotated[Real, POSITIVE] = 1.0
    share: Annotated[Real, FRACTION] | None = None
    plain: float = 0.0
    count: Annotated[int, POSITIVE] = field(static=True, default=3)
    steps: Integer = 1
    armed: bool = False
    raised: Flag = False
    label: str = "a"
    mode: Literal["hold", "fly"] = field(static=True, default="hold")
    offset_body_m: Annotated[Vec3, Bounds(low=-10.0, high=10.0)] = field(default_factory=Vec3.zero)
    pair: tuple[Real, Real] = (0.0, 1.0)
    mixed: tuple[int, str] = (0, "a")
    series: tuple[Annotated[Real, POSITIVE], ...] = ()
    gains: Gains = field(default_factory=lambda: Gains(1.0))
    spare: Gains | None = None
    all_gains: tuple[Gains, ...] = ()
    quoted: "Annotated[Real, POSITIVE] | None" = None


class Needy(Module):
    """Fields without defaults."""

    from_rad: Real
    speed_mps: Annotated[Real, POSITIVE]


class Units(Module):
    """Every stored unit with another that users write."""

    heading_rad: Real = 0.0
    turn_radps: Annotated[Real, POSITIVE] | None = None
    rotor_radps: tuple[Real, ...] = ()
    speed_mps: Real = 0.0
    pressure_pa: Real = 0.0
    place_world_m: Vec3 = field(default_factory=Vec3.zero)
    range_m: tuple[Real, Real] = (0.0, 1.0)
    count_m: int = 0
    torque_nm: Real = 0.0


class Checked(Module):
    """Refuses by itself what no annotation can say."""

    low: Real
    high: Real

    def __post_init__(self) -> None:
        if self.low > self.high:
            message = f"low {self.low} is above high {self.high}"
            raise ValueError(message)


class Commanding(Module):
    """Raises one of the project's own errors."""

    name: str

    def __post_init__(self) -> None:
        message = "no such command"
        raise CommandError(message)


class Holder(Module):
    """Holds what checks itself."""

    checked: Checked | None = None
    commanding: Commanding | None = None


class Odd(Module):
    """Has a field that no file can give."""

    things: dict[str, int]


class HoldsOdd(Module):
    """Has it further in."""

    odd: Odd


class HoldsWind(Module):
    """Leaves open which wind."""

    wind: AbstractWind


class Recorded(Module):
    """Plays back a file."""

    table: Recording


def place(path):
    return "keep-spot.yaml:12"


def build(cls, **data: Any):
    return build_component(cls, data, place)


def refusal(cls, **data: Any):
    with pytest.raises(ScenarioError) as caught:
        build(cls, **data)
    return str(caught.value)


# what is taken


def test_parameters_default_to_those_of_the_class():
    assert eqx.tree_equal(build(Everything), Everything())


@pytest.mark.parametrize(
    ("key", "given_value", "taken"),
    [
        ("mass_kg", 2, 2.0),
        ("mass_kg", 2.5, 2.5),
        ("share", None, None),
        ("share", 1, 1.0),
        ("plain", -1e-3, -1e-3),
        ("count", 7, 7),
        ("steps", -7, -7),
        ("armed", True, True),
        ("raised", True, True),
        ("label", "yes", "yes"),
        ("mode", "fly", "fly"),
        ("offset_body_m", [1, 2, 3.5], Vec3(1.0, 2.0, 3.5)),
        ("pair", [3, 4], (3.0, 4.0)),
        ("mixed", [3, "b"], (3, "b")),
        ("series", [], ()),
        ("series", [1, 2], (1.0, 2.0)),
        ("gains", {"proportional": 2}, Gains(2.0)),
        ("spare", {"proportional": 2, "limit_rad": 1}, Gains(2.0, 1.0)),
        ("spare", None, None),
        ("all_gains", [{"proportional": 1}, {"proportional": 2}], (Gains(1.0), Gains(2.0))),
        ("quoted", 3, 3.0),
    ],
)
def test_each_kind_of_field_takes_its_values(key, given_value, taken):
    value = getattr(build(Everything, **{key: given_value}), key)
    assert value == taken or eqx.tree_equal(value, taken)
    assert type(value) is type(taken)


def test_model_is_cached_and_has_all_keys():
    model = parameters_model(Needy)
    assert parameters_model(Needy) is model
    assert issubclass(model, BaseModel)
    assert list(model.model_fields) == ["from_rad", "from_deg", "speed_mps", "speed_kn"]
    assert model.model_json_schema()["required"] == ["from_rad", "speed_mps"]


def test_the_model_validates_by_itself():
    assert parameters_model(Needy).model_validate({"from_deg": 180, "speed_mps": 1})
    with pytest.raises(ValidationError):
        parameters_model(Needy).model_validate({"from_deg": "x", "speed_mps": 1})


# what is refused

LARGEST = "at most 9223372036854775807"


@pytest.mark.parametrize(
    ("key", "given_value", "sentence"),
    [
        ("mass_kg", 0, "0 is not allowed; must be above 0"),
        ("mass_kg", True, "true is not allowed; must be a number"),
        ("mass_kg", "2", "'2' is not allowed; must be a number"),
        ("mass_kg", None, "null is not allowed; must be a number"),
        ("mass_kg", [1], "[1] is not allowed; must be a number"),
        ("mass_kg", math.nan, "nan is not allowed; must be a finite number"),
        ("mass_kg", math.inf, "inf is not allowed; must be a finite number"),
        ("share", 1.5, "1.5 is not allowed; must be from 0 to 1"),
        ("plain", False, "false is not allowed; must be a number"),
        ("count", 1.0, "1.0 is not allowed; must be a whole number"),
        ("count", True, "true is not allowed; must be a whole number"),
        ("count", 0, "0 is not allowed; must be above 0"),
        ("steps", 2**63, f"9223372036854775808 is not allowed; must be {LARGEST}"),
        ("steps", -(10**400), None),
        ("mass_kg", 10**400, None),
        ("armed", "yes", "'yes' is not allowed; must be true or false"),
        ("raised", 1, "1 is not allowed; must be true or false"),
        ("label", 4, "4 is not allowed; must be text"),
        ("mode", "holt", "'holt' is not known. Did you mean 'hold'? Allowed: fly, hold."),
        ("mode", 7, "7 is not known. Allowed: fly, hold."),
        ("offset_body_m", [1, 2], "[1, 2] is not allowed; must be a list of exactly 3 numbers"),
        ("offset_body_m", 4, "4 is not allowed; must be a list of exactly 3 numbers"),
        ("offset_body_m", "abc", "'abc' is not allowed; must be a list of exactly 3 numbers"),
        ("pair", [1, 2, 3], "[1, 2, 3] is not allowed; must be a list of exactly 2 numbers"),
        ("mixed", [1], "[1] is not allowed; must be a list of exactly 2 entries"),
        ("series", 4, "4 is not allowed; must be a list"),
        ("series", "12", "'12' is not allowed; must be a list"),
        ("series", {"a": 1}, "{'a': 1} is not allowed; must be a list"),
        ("gains", 3, f"3 is not allowed; {GAINS_RULE}"),
        ("gains", [3], f"[3] is not allowed; {GAINS_RULE}"),
        ("quoted", 0, "0 is not allowed; must be above 0"),
    ],
)
def test_invalid_value_is_refused_with_the_rule(key, given_value, sentence):
    message = refusal(Everything, **{key: given_value})
    if sentence is None:
        sentence = message.partition(f"{key}: ")[2]
        assert "0000... is not allowed; must be" in sentence
    assert message == f"keep-spot.yaml:12: {key}: {sentence}"


@pytest.mark.parametrize(
    ("data", "path", "sentence"),
    [
        (
            {"offset_body_m": [1, 2, 11]},
            "offset_body_m.2",
            ": 11 is not allowed; must be from -10 to 10",
        ),
        ({"pair": [1, "x"]}, "pair.1", ": 'x' is not allowed; must be a number"),
        ({"series": [1, -1]}, "series.1", ": -1 is not allowed; must be above 0"),
        ({"gains": {}}, "gains.proportional", " is missing"),
        (
            {"spare": {"proportional": -1}},
            "spare.proportional",
            ": -1 is not allowed; must be above 0",
        ),
        (
            {"all_gains": [{"proportional": 1, "limit": 2}]},
            "all_gains.0.limit",
            ": there is no such key. Did you mean 'limit_deg'? "
            "Allowed: limit_deg, limit_rad, proportional.",
        ),
    ],
)
def test_a_problem_inside_a_value_is_named_by_its_path(data, path, sentence):
    assert refusal(Everything, **data) == f"keep-spot.yaml:12: {path}{sentence}"


def test_a_recorded_file_is_taken_once_it_is_read():
    table = Recording(("throttle",), "inputs.csv", 1.0, jnp.zeros(1), jnp.zeros((1, 1)))
    assert build(Recorded, table=table).table is table
    message = refusal(Recorded, table=5)
    assert message.endswith("5 is not allowed; must be the name of a CSV file of recorded values")


class WithRotor(Module):
    """A component of any registered kind inside another."""

    rotor: AbstractRotor


LUMPED = {
    "type": "lumped",
    "thrust_ns2": 1e-8,
    "torque_nms2": 1e-10,
    "radius_m": 0.1,
    "max_speed_radps": 900,
}


@pytest.mark.parametrize(
    ("rotor", "sentence"),
    [
        ({"type": "lumpd"}, ": there is no rotor 'lumpd'. Did you mean 'lumped'?"),
        ({"thrust_ns2": 1}, ": type is missing; write one of blade-element, lumped"),
        (LUMPED | {"thrust_ns2": "x"}, ".thrust_ns2: 'x' is not allowed; must be"),
        (
            LUMPED | {"thrust_ns": 1},
            ".thrust_ns: there is no such key. Did you mean 'thrust_ns2'?",
        ),
        (5, ": type is missing; write one of blade-element, lumped"),
    ],
)
def test_only_the_component_with_the_given_type_is_reported(rotor, sentence):
    message = refusal(WithRotor, rotor=rotor)
    assert message.splitlines()[0].startswith(f"keep-spot.yaml:12: rotor{sentence}")


def test_a_parameter_missing_inside_a_component_of_given_type_is_named_by_its_path():
    assert "keep-spot.yaml:12: rotor.thrust_ns2 is missing" in refusal(WithRotor, rotor="lumped")


def test_an_unknown_key_is_refused_with_the_nearest_name():
    message = refusal(Needy, from_rad=1, speed_mps=1, speed=2)
    assert message == (
        "keep-spot.yaml:12: speed: there is no such key. "
        "Did you mean 'speed_kn'? Allowed: from_deg, from_rad, speed_kn, speed_mps."
    )


def test_all_problems_are_reported_at_once():
    message = refusal(Everything, mass_kg=-1, label=3, masss=2, gains={"limit_deg": 181})
    assert message.splitlines() == [
        "keep-spot.yaml:12: mass_kg: -1 is not allowed; must be above 0",
        "keep-spot.yaml:12: label: 3 is not allowed; must be text",
        "keep-spot.yaml:12: gains.proportional is missing",
        "keep-spot.yaml:12: gains.limit_deg: 181 is not allowed; must be from 0 to 180",
        next(line for line in message.splitlines() if ": masss: there is no such key." in line),
    ]


def test_a_huge_value_does_not_flood_the_message():
    message = refusal(Everything, label=[1] * 50_000, mass_kg="x" * 50_000)
    assert "[1, 1, 1" in message
    assert "...] is not allowed; must be text" in message
    assert "xxx...' is not allowed; must be a number" in message
    assert all(len(line) < 140 for line in message.splitlines())


def test_many_problems_do_not_flood_the_message():
    lines = refusal(Everything, series=[-1] * 5_000).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "and 4980 more"


def test_a_problem_stands_at_its_full_path_and_line():
    text = "vehicles:\n  pelican:\n    guidance:\n      from_deg: 3\n      speed_mps: -1\n"
    document = apply_overrides(
        parse_document(text, "keep-spot.yaml"), ["vehicles.pelican.guidance.from_deg=north"]
    )
    path = ("vehicles", "pelican", "guidance")
    data = document.data["vehicles"]["pelican"]["guidance"]
    with pytest.raises(ScenarioError) as caught:
        build_component(Needy, data, document.where, path)
    assert str(caught.value).splitlines() == [
        "--set vehicles.pelican.guidance.from_deg=north: vehicles.pelican.guidance.from_deg: "
        "'north' is not allowed; must be a number",
        "keep-spot.yaml:5: vehicles.pelican.guidance.speed_mps: -1 is not allowed; must be above 0",
    ]


def test_parameters_that_are_not_a_mapping_are_refused():
    with pytest.raises(ScenarioError) as caught:
        build_component(Needy, 5, place, ("wind",))
    assert str(caught.value) == (
        "keep-spot.yaml:12: wind: 5 is not allowed; must be a mapping {from_rad: ..., "
        "speed_mps: ...}; further keys: from_deg, speed_kn"
    )


# units


@pytest.mark.parametrize(
    ("key", "given_value", "name", "stored"),
    [
        ("heading_deg", 180, "heading_rad", 180 * DEGREE_RAD),
        ("turn_degps", 90, "turn_radps", 90 * DEGREE_RAD),
        ("turn_rpm", 60, "turn_radps", 60 * RPM_RADPS),
        ("rotor_rpm", [60, 120], "rotor_radps", (60 * RPM_RADPS, 120 * RPM_RADPS)),
        ("speed_kn", 10, "speed_mps", 10 * KNOT_MPS),
        ("pressure_hpa", 1013.25, "pressure_pa", 1013.25 * HECTOPASCAL_PA),
        ("place_world_ft", [1, 2, 3], "place_world_m", Vec3(FOOT_M, 2 * FOOT_M, 3 * FOOT_M)),
        ("range_ft", [1, 2], "range_m", (FOOT_M, 2 * FOOT_M)),
    ],
)
def test_a_user_unit_is_converted(key, given_value, name, stored):
    built = build(Units, **{key: given_value})
    assert eqx.tree_equal(built, Units(**{name: stored}))  # the same product, so the same bits


@pytest.mark.parametrize("key", ["count_ft", "torque_nft", "heading_degps", "_deg"])
def test_only_real_numbers_with_that_unit_have_another_spelling(key):
    assert "there is no such key" in refusal(Units, **{key: 1})


def test_a_user_unit_satisfies_a_required_parameter():
    built = build(Needy, from_deg=90, speed_kn=2)
    assert built.from_rad == math.pi / 2
    assert built.speed_mps == 2 * KNOT_MPS


def test_a_missing_angle_is_called_by_the_key_in_degrees_that_people_write():
    assert refusal(Needy, speed_kn=1) == "keep-spot.yaml:12: from_deg is missing"
    assert refusal(Needy, from_rad=1) == "keep-spot.yaml:12: speed_mps is missing"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"heading_rad": 1, "heading_deg": 1}, "heading_deg: heading_rad is given as well"),
        ({"turn_degps": 1, "turn_rpm": 1}, "turn_rpm: turn_degps is given as well"),
    ],
)
def test_a_parameter_given_in_two_units_is_refused(data, sentence):
    assert refusal(Units, **data) == f"keep-spot.yaml:12: {sentence}; give one of them"


def test_bound_is_reported_in_the_given_unit():
    assert "limit_deg: 200 is not allowed; must be from 0 to 180" in refusal(
        Gains, proportional=1, limit_deg=200
    )
    assert build(Gains, proportional=1, limit_deg=180).limit_rad == math.pi


def test_a_value_that_overflows_in_the_stored_unit_is_refused():
    assert "1e+308 is not allowed; must be a finite number" in refusal(Units, pressure_hpa=1e308)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300))
def test_angles_of_a_record_may_be_degrees(angle_deg):
    angles = build(EulerZYX, roll_deg=0, pitch_rad=0, yaw_deg=angle_deg)
    assert angles.yaw_rad == angle_deg * DEGREE_RAD


# a component's own checks


def test_error_of_a_constructor_is_reported_at_its_key():
    sentence = "low 2.0 is above high 1.0"
    assert refusal(Checked, low=2, high=1) == f"keep-spot.yaml:12: the top level: {sentence}"
    assert (
        refusal(Holder, checked={"low": 2, "high": 1}) == f"keep-spot.yaml:12: checked: {sentence}"
    )
    message = refusal(Holder, commanding={"name": "a"})
    assert message == "keep-spot.yaml:12: commanding: no such command"


def test_a_field_that_has_no_form_in_a_file_is_the_developers_mistake():
    with pytest.raises(TypeError, match=r"Odd\.things: dict\[str, int\] cannot be written"):
        parameters_model(Odd)
    with pytest.raises(TypeError, match=r"HoldsOdd\.odd: Odd\.things"):
        parameters_model(HoldsOdd)
    with pytest.raises(TypeError, match="AbstractWind.* cannot be written"):
        parameters_model(HoldsWind)
