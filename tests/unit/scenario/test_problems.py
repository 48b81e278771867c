"""Messages for errors of pydantic, for models of any kind."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from kittiwake.scenario.problems import dotted, render_problems, shortened


class Hold(BaseModel):
    model_config = ConfigDict(extra="forbid")
    type: Literal["hold"]
    radius_m: float = 1.0


class Playback(BaseModel):
    model_config = ConfigDict(extra="forbid")
    type: Literal["playback"]
    file: str


class Vehicle(BaseModel):
    model_config = ConfigDict(extra="forbid")
    model: Literal["pelican", "strider"] = "pelican"
    guidance: Annotated[Hold | Playback, Field(discriminator="type")] | None = None
    alternatives: list[Hold | Playback] = []


class Scenario(BaseModel):
    model_config = ConfigDict(extra="forbid")
    seed: int = Field(default=0, ge=0, le=100)
    rate_hz: float = Field(default=1.0, gt=0, lt=1000, allow_inf_nan=False)
    name: str = Field(default="aa", min_length=2, max_length=5, pattern="^[a-z]+$")
    wind: float | list[float] | Literal["calm", "storm"] = 0.0
    points: list[int] = Field(default=[1], min_length=1, max_length=3)
    even: int = Field(default=2, multiple_of=2)
    vehicles: dict[str, Vehicle] = {}
    strict: Annotated[bool, Field(strict=True)] = True
    renamed: int = Field(default=1, alias="called")

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


def problems(data, model=Scenario, prefix=()):
    with pytest.raises(ValidationError) as caught:
        Scenario.model_validate(data)
    return render_problems(caught.value, lambda path: "f:1", prefix, model=model)


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
        ({"vehicles": {"a": 3}}, "vehicles.a: 3 is not allowed; must be a mapping (key: value)"),
        (
            {"vehicles": {"a": {"model": "pelikan"}}},
            "vehicles.a.model: 'pelikan' is not known. Did you mean 'pelican'? "
            "Allowed: pelican, strider.",
        ),
        (
            {"vehicles": {"a": {"modell": "pelican"}}},
            "vehicles.a.modell: there is no such key. Did you mean 'model'? "
            "Allowed: alternatives, guidance, model.",
        ),
        ({"called": "x"}, "called: 'x' is not allowed; must be a whole number"),
    ],
)
def test_each_kind_of_error_becomes_a_sentence(data, sentence):
    # a bound is rendered as the model writes it: 0 may be shown as 0 or 0.0
    assert problems(data).replace("above 0.0", "above 0") == f"f:1: {sentence}"


def test_an_unknown_key_without_a_model_gets_no_suggestion():
    assert problems({"sed": 1}, model=None) == "f:1: sed: there is no such key."
    assert "called, even, name" in problems({"sed": 1})


def test_the_prefix_goes_before_the_path_and_into_the_place():
    with pytest.raises(ValidationError) as caught:
        Scenario.model_validate({"seed": -1})
    rendered = render_problems(caught.value, dotted, ("a", 1))
    assert rendered == "a.1.seed: a.1.seed: -1 is not allowed; must be at least 0"


# choices between types


def test_value_that_fits_no_alternative_is_reported_once():
    assert problems({"wind": "clam"}) == (
        "f:1: wind: 'clam' is not allowed; must be a number or a list or one of calm, storm"
    )


def test_value_close_to_an_alternative_is_reported_by_its_rule():
    assert problems({"wind": [1, "x"]}) == "f:1: wind.1: 'x' is not allowed; must be a number"


def test_closest_of_alternative_records_is_reported():
    data = {"vehicles": {"a": {"alternatives": [{"type": "playback", "fil": "x", "file": "y"}]}}}
    assert problems(data) == (
        "f:1: vehicles.a.alternatives.0.fil: there is no such key. Did you mean 'file'? "
        "Allowed: file, type."
    )


@pytest.mark.parametrize(
    ("guidance", "sentence"),
    [
        (
            {"type": "holt"},
            ".type: 'holt' is not known. Did you mean 'hold'? Allowed: hold, playback.",
        ),
        ({"radius_m": 1}, ".type is missing"),
        ({"type": "hold", "radius_m": "x"}, ".radius_m: 'x' is not allowed; must be a number"),
        (
            {"type": "hold", "radius": 1},
            ".radius: there is no such key. Did you mean 'radius_m'? Allowed: radius_m, type.",
        ),
        ({"type": "playback"}, ".file is missing"),
        (5, ": 5 is not allowed; must be a mapping (key: value)"),
    ],
)
def test_only_the_record_with_the_given_type_is_reported(guidance, sentence):
    rendered = problems({"vehicles": {"a": {"guidance": guidance}}})
    assert rendered == f"f:1: vehicles.a.guidance{sentence}"


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
