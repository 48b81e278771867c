"""Messages for validation errors: place, given value and allowed values.

A line reads ``keep-spot.yaml:12: vehicles.pelican.guidance.radius_m: -1 is not allowed; must be
above 0``.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from kittiwake.core.errors import KittiwakeError, ScenarioError, did_you_mean, listed

KeyPath: TypeAlias = tuple[str | int, ...]
# numbers, text, booleans, null, and lists and mappings of them
Plain: TypeAlias = Any
# pydantic's record of one error: type, loc, msg, input, ctx.
Details: TypeAlias = Mapping[str, Any]

MAX_CHARACTERS = 60
MAX_PROBLEMS = 20
# keys that are shown of a mapping without required ones
SHOWN_KEYS = 3

# a message about one vehicle: its place, the vehicle's name, the rest
VEHICLE_MESSAGE = re.compile(
    r"(?P<place>.*?: vehicles\.)(?P<vehicle>[\w-]+)(?P<rest>\W.*)", re.DOTALL
)

# the type of an error whose message is complete without the given value
STATEMENT = "statement"
# that of an error whose message is a rule
NO_MAPPING = "no_mapping"
# the end of a key in radians, which users write in degrees
_RADIANS = re.compile(r"(?<!_per)_rad\Z")

_WORDS = {None: "null", True: "true", False: "false"}

_NUMBER = "must be a number"
_WHOLE = "must be a whole number"
_LIST = "must be a list"
_MAPPING = "must be a mapping"
_KEYS_AND_VALUES = f"{_MAPPING} (key: value)"
_RULES = {
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": _WHOLE,
    "int_from_float": _WHOLE,
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "dict_type": _KEYS_AND_VALUES,
    "mapping_type": _KEYS_AND_VALUES,
    "model_type": _KEYS_AND_VALUES,
    "model_attributes_type": _KEYS_AND_VALUES,
    "none_required": "must be null",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match the pattern {pattern}",
}


def shortened(value: Plain) -> str:
    """Return a value as a user would write it, in at most sixty characters."""
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    text = f"the class {value.__name__}" if isinstance(value, type) else repr(value)
    if len(text) <= MAX_CHARACTERS:
        return text
    end = text[-1] if text[-1] in "'\"]})" else ""
    return text[: MAX_CHARACTERS - 3 - len(end)] + "..." + end


def dotted(path: KeyPath) -> str:
    """Return a path as it is written after ``--set``."""
    return ".".join(_segment(key) for key in path)


@dataclass(frozen=True)
class UnknownKey:
    """Mark of the value under a key that a model does not have."""

    known: list[str]
    advice: str


class DeclaredModel(BaseModel):
    """Model that reports an unknown key with those that it has."""

    # the validators of a model are built when they are used: most models are part of others
    model_config = ConfigDict(extra="forbid", protected_namespaces=(), defer_build=True)

    advice_on_keys: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _mark_unknown_keys(cls, data: Plain) -> Plain:
        if not isinstance(data, Mapping):
            return data if isinstance(data, cls) else cls._refuse_other_than_mapping()
        known = cls.model_fields
        return {
            key: value if key in known else UnknownKey([*known], cls.advice_on(key, data))
            for key, value in data.items()
        }

    @classmethod
    def advice_on(cls, key: Plain, data: Mapping[Plain, Plain]) -> str:
        """Return what to write instead of a key that the model does not have, beside its keys."""
        del key, data
        return cls.advice_on_keys

    @classmethod
    def _refuse_other_than_mapping(cls) -> NoReturn:
        """Refuse what is no mapping, with the required keys, or else the first ones.

        Raises:
            PydanticCustomError: always.
        """
        names = [*cls.model_fields]
        shown = [name for name, one in cls.model_fields.items() if one.is_required()]
        shown = shown or names[:SHOWN_KEYS]
        keys = ", ".join(f"{name}: ..." for name in shown)
        others = [name for name in names if name not in shown]
        further = f"; further keys: {listed(others)}" if others else ""
        rule = {"rule": f"{_MAPPING} {{{keys}}}{further}"}
        raise PydanticCustomError(NO_MAPPING, "{rule}", rule)


def render_problems(
    error: ValidationError,
    where: Callable[[KeyPath], str],
    prefix_path: KeyPath = (),
    *,
    shown_by: str = "",
) -> str:
    """Return all errors of a validation, one line each.

    Args:
        error: the error that pydantic raised.
        where: returns file and line of a full path.
        prefix_path: the path of the validated data in the file.
        shown_by: the command that lists the model's keys.
    """
    lines = merge_similar(
        _line(details, where, prefix_path, shown_by) for details in error.errors(include_url=False)
    )
    shown = lines[:MAX_PROBLEMS]
    if len(lines) > len(shown):
        shown.append(f"and {len(lines) - len(shown)} more")
    return "\n".join(shown)


def merge_similar(lines: Iterable[str]) -> list[str]:
    """Return one line for all vehicles with the same mistake: the first one, and a count.

    Mistakes are the same if key and message are equal, in whatever line of the file.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for line in dict.fromkeys(lines):
        found = VEHICLE_MESSAGE.fullmatch(line)
        alike[line if found is None else f"vehicles.{found['rest']}"].append(line)
    return [
        first + (f" (and {len(others)} more vehicles alike)" if others else "")
        for first, *others in alike.values()
    ]


@dataclass
class ProblemList:
    """Mistakes found so far in one document; ``where`` returns file and line of a path."""

    where: Callable[[KeyPath], str]
    lines: list[str] = field(default_factory=list)

    @contextmanager
    def collecting(self, path: KeyPath, *, placed: bool = False) -> Generator[None]:
        """Collect an error raised inside the context; a ``placed`` one has its line already."""
        try:
            yield
        except KittiwakeError as error:
            if placed:
                self.lines.append(str(error))
            else:
                self.add(path, str(error))

    def add(self, path: KeyPath, message: str) -> None:
        """Add a mistake at a path."""
        self.lines.append(self.sentence(path, message))

    def sentence(self, path: KeyPath, message: str) -> str:
        """Return a message with its place in the file before it."""
        shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
        return f"{self.where(path)}: {dotted(path)}: {shown}"

    def raise_if_any(self) -> None:
        """Raise all collected mistakes, if there are any.

        Raises:
            ScenarioError: with a line for each mistake.
        """
        if self.lines:
            raise ScenarioError("\n".join(merge_similar(self.lines)))


def rule_of(details: Details) -> str:
    """Return the rule that an error of pydantic violates."""
    error_type, context = details["type"], details.get("ctx", {})
    if error_type in ("value_error", "assertion_error"):
        return str(context["error"])
    if error_type in _RULES:
        return _RULES[error_type].format(**context)
    return details["msg"].replace("Input should", "must")


def _line(
    details: Details, where: Callable[[KeyPath], str], prefix_path: KeyPath, shown_by: str
) -> str:
    # "[key]" stands for the name of an entry, not for its value
    path = (*prefix_path, *(key for key in details["loc"] if key != "[key]"))
    if details["type"] == "missing":
        path = (*path[:-1], _RADIANS.sub("_deg", str(path[-1])))
    return f"{where(path)}: {dotted(path) or 'the top level'}{_sentence(details, shown_by)}"


def _sentence(details: Details, shown_by: str) -> str:
    """Return the message after the key."""
    error_type, given = details["type"], details["input"]
    if error_type == "missing":
        return " is missing"
    if error_type == "extra_forbidden":
        key = str(details["loc"][-1])[:MAX_CHARACTERS]
        known = did_you_mean(key, given.known, shown_by)
        return f": there is no such key. {known} {given.advice}".rstrip()
    if error_type == "literal_error":
        # pydantic lists the allowed words as 'a', 'b' or 'c'
        allowed = re.findall(r"'([^']*)'", details["ctx"]["expected"])
        nearest = did_you_mean(str(given)[:MAX_CHARACTERS], allowed)
        return f": {shortened(given)} is not known. {nearest}"
    if error_type == STATEMENT or (error_type == "value_error" and isinstance(given, dict)):
        return f": {rule_of(details)}"
    return f": {shortened(given)} is not allowed; {rule_of(details)}"


def _segment(key: str | int) -> str:
    text = str(key)
    return text if text.isprintable() and 0 < len(text) <= MAX_CHARACTERS else shortened(key)
