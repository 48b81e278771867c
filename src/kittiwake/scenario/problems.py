"""Messages for validation errors: place, given value and allowed values.

A line reads ``keep-spot.yaml:12: vehicles.pelican.guidance.radius_m: -1 is not allowed; must be
above 0``.
"""

import re
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from kittiwake.core.errors import did_you_mean, listed

KeyPath: TypeAlias = tuple[str | int, ...]
# numbers, text, booleans, null, and lists and mappings of them
Plain: TypeAlias = Any
# a type, or a special form of the typing module
Annotation: TypeAlias = Any
# pydantic's record of one error: type, loc, msg, input, ctx.
Details: TypeAlias = Mapping[str, Any]

MAX_CHARACTERS = 60
MAX_PROBLEMS = 20

# a message about one vehicle: its place, the vehicle's name, the rest
VEHICLE_MESSAGE = re.compile(
    r"(?P<place>.*?: vehicles\.)(?P<vehicle>[\w-]+)(?P<rest>\W.*)", re.DOTALL
)

# the type of an error whose message is complete without the given value
STATEMENT = "statement"
CHOICES = ("literal_error", "enum")

_WORDS = {None: "null", True: "true", False: "false"}

_NUMBER = "must be a number"
_WHOLE = "must be a whole number"
_LIST = "must be a list"
_MAPPING = "must be a mapping (key: value)"
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
    "dict_type": _MAPPING,
    "mapping_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
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
    text = repr(value)
    if len(text) <= MAX_CHARACTERS:
        return text
    end = text[-1] if text[-1] in "'\"]})" else ""
    return text[: MAX_CHARACTERS - 3 - len(end)] + "..." + end


def dotted(path: KeyPath) -> str:
    """Return a path as it is written after ``--set``."""
    return ".".join(_segment(key) for key in path)


def render_problems(
    error: ValidationError,
    where: Callable[[KeyPath], str],
    prefix_path: KeyPath = (),
    *,
    model: type[BaseModel] | None = None,
    shown_by: str = "",
) -> str:
    """Return all errors of a validation, one line each.

    Args:
        error: the error that pydantic raised.
        where: returns file and line of a full path.
        prefix_path: the path of the validated data in the file.
        model: the model of the data; without it unknown keys get no suggestion, and errors in a
            union are reported for each of its types.
        shown_by: the command that lists the model's keys.
    """
    problems = _without_alternatives(
        [_Problem.of(details, model, shown_by) for details in error.errors(include_url=False)]
    )
    lines = merge_similar(problem.line(where, prefix_path) for problem in problems)
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


def rule_of(details: Details) -> str:
    """Return the rule that an error of pydantic violates."""
    kind, context = details["type"], details.get("ctx", {})
    if kind in ("value_error", "assertion_error"):
        return str(context["error"])
    if kind in _RULES:
        return _RULES[kind].format(**context)
    return details["msg"].replace("Input should", "must")


@dataclass(frozen=True)
class _Problem:
    """Error of pydantic: its path in the data, and the union of types on that path."""

    details: Details
    path: KeyPath
    known_keys: list[str]
    shown_by: str
    missing_key: str
    advice_on_keys: str
    choice_path: KeyPath | None
    alternative: str | int | None

    @classmethod
    def of(cls, details: Details, model: type[BaseModel] | None, shown_by: str) -> "_Problem":
        route = _Route(shown_by)
        node: Annotation = model
        for segment in details["loc"]:
            node = route.follow(node, segment)
        return cls(
            details=details,
            path=route.path,
            known_keys=route.known_keys,
            shown_by=route.shown_by,
            missing_key=route.missing_key,
            advice_on_keys=route.advice_on_keys,
            choice_path=route.choice_path,
            alternative=route.alternative,
        )

    def line(self, where: Callable[[KeyPath], str], prefix_path: KeyPath) -> str:
        path = self.path
        if self.details["type"] == "missing" and self.missing_key:
            path = (*path[:-1], self.missing_key)
        full_path = (*prefix_path, *path)
        subject = dotted(full_path) or "the top level"
        return f"{where(full_path)}: {subject}{self._sentence()}"

    def _sentence(self) -> str:
        """Return the message after the key."""
        kind, given = self.details["type"], self.details["input"]
        if kind == "missing":
            return " is missing"
        if kind == "extra_forbidden":
            known = self._nearest_key() if self.known_keys else ""
            return f": there is no such key. {known} {self.advice_on_keys}".rstrip()
        if kind in CHOICES:
            return f": {shortened(given)} is not known. {_nearest(given, self._choices)}"
        if kind == STATEMENT or (kind == "value_error" and isinstance(given, dict)):
            return f": {self.rule}"
        if kind.startswith("union_tag"):
            return self._unknown_tag()
        return f": {shortened(given)} is not allowed; {self.rule}"

    def _nearest_key(self) -> str:
        given = str(self.path[-1])[:MAX_CHARACTERS]
        return did_you_mean(given, self.known_keys, self.shown_by)

    def _unknown_tag(self) -> str:
        context = self.details["ctx"]
        key = context["discriminator"].strip("'")
        if "tag" not in context:
            return f".{key} is missing"
        nearest = _nearest(context["tag"], _words(context["expected_tags"]))
        return f".{key}: {shortened(context['tag'])} is not known. {nearest}"

    @property
    def _choices(self) -> list[str]:
        return _words(self.details["ctx"]["expected"])

    @property
    def rule(self) -> str:
        """Rule that the value must obey."""
        if self.details["type"] in CHOICES:
            return f"must be one of {listed(self._choices)}"
        return rule_of(self.details)


class _Route:
    """Path of an error through the models, without the segments that pydantic adds."""

    def __init__(self, shown_by: str) -> None:
        self.path: KeyPath = ()
        self.known_keys: list[str] = []
        self.shown_by = shown_by
        self.missing_key = ""
        self.advice_on_keys = ""
        self.choice_path: KeyPath | None = None
        self.alternative: str | int | None = None

    def follow(self, node: Annotation, segment: str | int) -> Annotation:
        """Return the annotation one segment further; None if the models have none."""
        node = _bare(node)
        if _is_model(node) and segment not in _keys(node) and _has_label(node, segment):
            return node  # a union of a single type has a label, too
        if _is_choice(node):
            if self.choice_path is None:
                self.choice_path, self.alternative = self.path, segment
            return next((m for m in get_args(node) if _has_label(_bare(m), segment)), None)
        if segment == "[key]":
            return None
        self.path = (*self.path, segment)
        self.known_keys = _keys(node)
        self.missing_key = getattr(node, "usual_keys", {}).get(segment, "")
        self.advice_on_keys = str(getattr(node, "advice_on_keys", ""))
        return _child(node, segment)


def _without_alternatives(problems: Sequence[_Problem]) -> list[_Problem]:
    """Return the problems with each failed union reported once.

    Pydantic reports the errors of every alternative. Alternatives with errors inside the value are
    closest to the intended one; if there are none, the alternatives are joined by "or".
    """
    groups: dict[object, list[_Problem]] = {}
    for number, problem in enumerate(problems):
        alone = problem.choice_path is None
        groups.setdefault(number if alone else problem.choice_path, []).append(problem)
    return [kept for group in groups.values() for kept in _closest(group)]


def _closest(problems: list[_Problem]) -> list[_Problem]:
    if len({problem.alternative for problem in problems}) == 1:
        return problems
    deeper = [problem for problem in problems if problem.path != problem.choice_path]
    if deeper:
        by_alternative = [
            [problem for problem in deeper if problem.alternative == alternative]
            for alternative in dict.fromkeys(problem.alternative for problem in deeper)
        ]
        return _joined_by_path(min(by_alternative, key=len))
    return [_any_of(problems)]


def _joined_by_path(problems: list[_Problem]) -> list[_Problem]:
    """Return the problems with those of equal path, from a nested union, joined."""
    by_path: dict[KeyPath, list[_Problem]] = {}
    for problem in problems:
        by_path.setdefault(problem.path, []).append(problem)
    return [group[0] if len(group) == 1 else _any_of(group) for group in by_path.values()]


def _any_of(problems: list[_Problem]) -> _Problem:
    rules = dict.fromkeys(problem.rule for problem in problems)
    first, *others = rules
    joined = " or ".join([first, *(rule.removeprefix("must be ") for rule in others)])
    details = {**problems[0].details, "type": "alternatives", "msg": joined}
    return _Problem(details, problems[0].path, [], "", "", "", None, None)


def _segment(key: str | int) -> str:
    text = str(key)
    return text if text.isprintable() and 0 < len(text) <= MAX_CHARACTERS else shortened(key)


def _words(expected: str) -> list[str]:
    """Return the allowed words, which pydantic lists as ``'a', 'b' or 'c'``."""
    return re.findall(r"'([^']*)'", expected) or re.split(", | or ", expected)


def _nearest(given: Plain, allowed: list[str]) -> str:
    return did_you_mean(str(given)[:MAX_CHARACTERS], allowed)


def _bare(annotation: Annotation) -> Annotation:
    """Return an annotation without its metadata and without ``| None``."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    members = [member for member in get_args(annotation) if member is not type(None)]
    return _bare(members[0]) if len(members) == 1 else Union[tuple(members)]  # noqa: UP007


def _is_choice(node: Annotation) -> bool:
    return get_origin(node) in (Union, types.UnionType)


def _is_model(node: Annotation) -> bool:
    return isinstance(node, type) and issubclass(node, BaseModel)


def _has_label(node: Annotation, label: str | int) -> bool:
    """Return True if pydantic labels this alternative so: by class, tag or type."""
    if not _is_model(node):
        origin = get_origin(node)
        return isinstance(origin, type) and str(label).startswith(f"{origin.__name__}[")
    words = [
        word
        for field in node.model_fields.values()
        if get_origin(_bare(field.annotation)) is Literal
        for word in get_args(_bare(field.annotation))
    ]
    return node.__name__ == label or label in words


def _keys(node: Annotation) -> list[str]:
    if not _is_model(node):
        return []
    return [field.alias or name for name, field in node.model_fields.items()]


def _child(node: Annotation, segment: str | int) -> Annotation:
    """Return the annotation of a value in a model, a mapping or a list."""
    if _is_model(node):
        fields = node.model_fields
        found = [field for name, field in fields.items() if segment in (name, field.alias)]
        return found[0].annotation if found else None
    members = get_args(node)
    if get_origin(node) is dict:
        return members[1]
    if get_origin(node) is list or (get_origin(node) is tuple and members[-1] is ...):
        return members[0]
    if get_origin(node) is tuple and isinstance(segment, int) and segment < len(members):
        return members[segment]
    return None
