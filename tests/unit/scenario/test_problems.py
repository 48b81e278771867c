"""Messages for errors of pydantic, for models of any kind."""

from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError, create_model, field_validator, model_validator

from kittiwake.scenario.problems import DeclaredModel, dotted, render_problems, shortened


class Vehicle(DeclaredModel):
    advice_on_keys = "See the manual."
    model: Literal["pelican", "strider"] = "pelican"
    angle_rad: float = 0.0


class Scenario(DeclaredModel):
    seed: int = Field(default=0, ge=0, le=100)
    rate_hz: float = Field(default=1.0, gt=0, lt=1000, allow_inf_nan=False)
    name: str = Field(default="aa", min_length=2, max_length=5, pattern="^[a-z]+$")
    points: list[int] = Field(default=[1], min_length=1, max_length=3)
    even: int = Field(default=2, multiple_of=2)
    vehicles: dict[Annotated[str, Field(max_length=5)], Vehicle] = Field(default={})
    strict: Annotated[bool, Field(strict=True)] = True
    bearing_rad: float
    gain_per_rad: float

    @field_validator("seed")
    @classmethod
    def refuse_thirteen(cls, seed):
        if seed == 13:
            message = "brings bad luck"
            raise ValueError(message)
        return seed

    @model_validator(mode="after")
    def refuse_pairs(self):
        if self.seed == 7 and self.even == 8:
            message = "seed 7 and even 8 do not go together"
            raise ValueError(message)
        return self


REQUIRED = {"bearing_rad": 1.0, "gain_per_rad": 1.0}


def problems(data):
    with pytest.raises(ValidationError) as caught:
        Scenario.model_validate(REQUIRED | data)
    return render_problems(caught.value, lambda path: "f:1")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"seed": -1}, "seed: -1 is not allowed; must be at least 0"),
        ({"seed": 101}, "seed: 101 is not allowed; must be at most 100"),
        ({"seed": 1.5}, "seed: 1.5 is not allowed; must be a whole number"),
        ({"seed": "x"}, "seed: 'x' is not allowed; must be a whole number"),
        ({"seed": 13}, "seed: 13 is not allowed; brings bad luck"),
        ({"seed": 7, "even": 8}, "the top level: seed 7 and even 8 do not go together"),
        ({"rate_hz": 0}, "rate_hz: 0 is not allowed; must be above 0"),
        ({"rate_hz": 1000}, "rate_hz: 1000 is not allowed; must be below 1000.0"),
        ({"rate_hz": "x"}, "rate_hz: 'x' is not allowed; must be a number"),
        ({"rate_hz": float("inf")}, "rate_hz: inf is not allowed; must be a finite number"),
        ({"name": "a"}, "name: 'a' is not allowed; must have at least 2 characters"),
        ({"name": "aaaaaa"}, "name: 'aaaaaa' is not allowed; must have at most 5 characters"),
        ({"name": "AAA"}, "name: 'AAA' is not allowed; must match the pattern ^[a-z]+$"),
        ({"name": 4}, "name: 4 is not allowed; must be text"),
        ({"points": []}, "points: [] is not allowed; must have at least 1 entries"),
        ({"points": [1] * 4}, "points: [1, 1, 1, 1] is not allowed; must have at most 3 entries"),
        ({"points": {}}, "points: {} is not allowed; must be a list"),
        ({"even": 3}, "even: 3 is not allowed; must be a multiple of 2"),
        ({"strict": 1}, "strict: 1 is not allowed; must be true or false"),
        ({"vehicles": 3}, "vehicles: 3 is not allowed; must be a mapping (key: value)"),
        (
            {"vehicles": {"a": 3}},
            "vehicles.a: 3 is not allowed; must be a mapping {model: ..., angle_rad: ...}",
        ),
        (
            {"vehicles": {"a": {"model": "pelikan"}}},
            "vehicles.a.model: 'pelikan' is not known. Did you mean 'pelican'? "
            "Allowed: pelican, strider.",
        ),
        (
            {"vehicles": {"a": {"modell": "pelican"}}},
            "vehicles.a.modell: there is no such key. Did you mean 'model'? "
            "Allowed: angle_rad, model. See the manual.",
        ),
        (
            {"vehicles": {"pelican": {}}},
            "vehicles.pelican: 'pelican' is not allowed; must have at most 5 characters",
        ),
    ],
)
def test_each_kind_of_error_becomes_a_sentence(data, sentence):
    # a bound is rendered as the model writes it: 0 may be shown as 0 or 0.0
    assert problems(data).replace("above 0.0", "above 0") == f"f:1: {sentence}"


def test_a_missing_angle_is_named_in_degrees_but_not_a_quantity_per_angle():
    with pytest.raises(ValidationError) as caught:
        Scenario.model_validate({})
    assert render_problems(caught.value, dotted).splitlines() == [
        "bearing_deg: bearing_deg is missing",
        "gain_per_rad: gain_per_rad is missing",
    ]


def test_an_unknown_key_among_many_is_shown_with_the_command_that_lists_them():
    fields = {f"key_{i}": (int, 0) for i in range(100)}
    many = create_model("Many", __base__=DeclaredModel, **fields)
    with pytest.raises(ValidationError) as caught:
        many.model_validate({"kay_7": 1})
    rendered = render_problems(caught.value, dotted, shown_by="kittiwake list many")
    assert "there is no such key. Did you mean 'key_7'? Allowed: key_7," in rendered
    assert "kittiwake list many" in rendered


def test_the_prefix_goes_before_the_path_and_into_the_place():
    with pytest.raises(ValidationError) as caught:
        Scenario.model_validate(REQUIRED | {"seed": -1})
    rendered = render_problems(caught.value, dotted, ("a", 1))
    assert rendered == "a.1.seed: a.1.seed: -1 is not allowed; must be at least 0"


# words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ("a", "'a'"),
        ("x" * 58, "'" + "x" * 58 + "'"),
        ("x" * 59, "'" + "x" * 55 + "...'"),
        ("a\n\x1b", "'a\\n\\x1b'"),
    ],
)
def test_a_value_is_shown_in_at_most_sixty_characters(value, text):
    assert shortened(value) == text
    assert len(shortened(value)) <= 60


def test_a_path_is_written_as_for_set():
    assert dotted(("vehicles", "pelican", "points", 2)) == "vehicles.pelican.points.2"
    assert dotted(("a\nb",)) == "'a\\nb'"
