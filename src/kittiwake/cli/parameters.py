"""Parameters of registered components: keys, defaults, limits and alternative units."""

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.parameters import Annotation, Parameters
from kittiwake.core.units import USER_UNITS, stored_name
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.estimator import AbstractEstimator
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import Module
from kittiwake.scenario.parameters import FILES, REGISTRIES, parameters_model
from kittiwake.scenario.problems import Plain
from kittiwake.world.environment import AbstractProcessKind, AbstractTurbulence

WHOLE = "a whole number"
FORMS = {
    get_args(Real): "a number",
    get_args(Integer): WHOLE,
    get_args(Flag): "true or false",
    (float,): "a number",
    (int,): WHOLE,
    (bool,): "true or false",
    (str,): "text",
    **{(kind,): words for kind, words in FILES.items()},
    (Vec3,): "[x, y, z]",
}

# components whose rate is set in the scenario
SCHEDULED = (
    AbstractController,
    AbstractEstimator,
    AbstractGuidance,
    AbstractProcessKind,
    AbstractSensor,
    AbstractTurbulence,
)

NULL_OR_KEYS = "null, or the keys below"
LIST_OF_KEYS = "a list; each entry has the keys below"
# an entry of the section "Attributes" of a docstring, with its further lines
ATTRIBUTE = r"^    (\w+): (.+(?:\n {5,}.+)*)"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One key of a component's entry in a scenario file.

    Attributes:
        default: default as plain data; None if ``required``, or if there is none.
        allowed: description of the allowed values.
        other_keys: keys of the same parameter in other units.
        meaning: text of the docstring; empty without one.
    """

    default: Plain
    required: bool
    allowed: str
    other_keys: tuple[str, ...]
    meaning: str = ""


def parameters_of(
    cls: type[Module], defaults: Mapping[str, Plain] | None = None
) -> dict[str, Parameter]:
    """Return the parameters of a component by key; keys of its parts have dots.

    Args:
        cls: class of the component.
        defaults: defaults that take precedence over those of the class.
    """
    return dict(_parameters(cls, defaults or {}, ""))


def rate_parameter(cls: type[Module]) -> dict[str, Parameter]:
    """Return the parameter of a component's rate; empty if it has no rate."""
    if not issubclass(cls, SCHEDULED):
        return {}
    default_hz = cls.default_rate_hz
    allowed = f"{POSITIVE}, a divisor of time.rate_hz"
    if isinstance(default_hz, property):  # depends on other keys
        default_hz = cls().default_rate_hz
        allowed += "; its default depends on the keys above"
    elif default_hz is None:
        allowed += "; without it, every step"
    return {"rate_hz": Parameter(default_hz, False, allowed, (), "steps per second")}  # noqa: FBT003


def _parameters(
    cls: type[Module], defaults: Mapping[str, Plain], prefix: str
) -> Iterator[tuple[str, Parameter]]:
    hints = get_type_hints(cls, include_extras=True)
    keys = parameters_model(cls).model_fields
    texts = attribute_texts(cls)
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        default = _default_of(defaults, field)
        kind, optional = _without_null(hints[field.name])
        registry = REGISTRIES.get(kind)
        if registry is not None and isinstance(default, Mapping):
            yield (
                f"{prefix}{field.name}.type",
                Parameter(
                    default["type"],
                    required=False,
                    allowed=_allowed(kind),
                    other_keys=(),
                    meaning=texts.get(field.name, ""),
                ),
            )
            part = registry.find(default["type"])
        else:
            part = _part(kind)
        if part is not None:
            if optional:
                yield prefix + field.name, _optional(default, texts.get(field.name, ""))
            inner = default if isinstance(default, Mapping) else _inner(default)
            yield from _parameters(part, inner, f"{prefix}{field.name}.")
            continue
        entry = _entry(kind)
        if entry is not None:
            required = default is dataclasses.MISSING
            plain = None if required else _plain(default)
            meaning = texts.get(field.name, "")
            yield prefix + field.name, Parameter(plain, required, LIST_OF_KEYS, (), meaning)
            yield from _parameters(entry, {}, f"{prefix}{field.name}.N.")
            continue
        others = tuple(
            prefix + key for key in keys if key not in hints and stored_name(key) == field.name
        )
        required = default is dataclasses.MISSING
        plain = None if required else _plain(default)
        allowed = _allowed(hints[field.name])
        meaning = texts.get(field.name, "")
        yield prefix + field.name, Parameter(plain, required, allowed, others, meaning)


def attribute_texts(cls: type) -> dict[str, str]:
    """Return the texts of the sections "Attributes" of a class and of its bases, by name."""
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        documented = inspect.cleandoc(vars(base).get("__doc__") or "")
        section = documented.partition("Attributes:\n")[2].split("\n\n")[0]
        for name, words in re.findall(ATTRIBUTE, section, re.MULTILINE):
            texts[name] = " ".join(words.split()).replace("``", "`").removesuffix(".")
    return texts


def _without_null(hint: Annotation) -> tuple[Annotation, bool]:
    """Return a type without its ``| None``, and whether it had one."""
    members = get_args(hint)
    if get_origin(hint) not in (Union, UnionType) or NoneType not in members:
        return hint, False
    return Union[tuple(member for member in members if member is not NoneType)], True  # noqa: UP007


def _optional(default: Plain, meaning: str) -> Parameter:
    return Parameter(_plain(default), False, NULL_OR_KEYS, (), meaning)  # noqa: FBT003


def _default_of(defaults: Mapping[str, Plain], field: "dataclasses.Field[Plain]") -> Plain:
    """Return the default of a field, which may be given under a key in another unit."""
    for key, value in defaults.items():
        if key != field.name and stored_name(key) == field.name:
            factors = [factor for unit, (_, factor) in USER_UNITS.items() if key.endswith(unit)]
            return value * factors[0]
    return defaults.get(field.name, _default(field))


def _default(field: "dataclasses.Field[Plain]") -> Plain:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _inner(default: Plain) -> Parameters:
    """Return the fields of a record as defaults of its parameters."""
    if not isinstance(default, Module):
        return {}
    return {field.name: getattr(default, field.name) for field in dataclasses.fields(default)}


def _plain(value: Plain) -> Plain:
    """Return a default as in a scenario file."""
    if isinstance(value, Module):
        parts = {name: _plain(own) for name, own in _inner(value).items()}
        return list(parts.values()) if isinstance(value, Vec3) else parts
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _part(hint: Annotation) -> type[Module] | None:
    """Return the record type of a parameter; None if it is not a record."""
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    is_record = isinstance(hint, type) and issubclass(hint, Module)
    known = hint in (Vec3, *FILES) or hint in REGISTRIES
    return hint if is_record and not known else None


def _entry(hint: Annotation) -> type[Module] | None:
    """Return the record type of a list's entries; None if it is not a list of records."""
    items = get_args(hint)
    if get_origin(hint) is not tuple or len(items) != 2 or items[1] is not ...:
        return None
    return _part(items[0])


def _allowed(hint: Annotation) -> str:
    """Return a description of the values that a parameter of this type allows."""
    if get_origin(hint) is Annotated:
        base, *metadata = get_args(hint)
        form = _allowed(base)
        bounds = " and ".join(str(item) for item in metadata if isinstance(item, Bounds))
        if not bounds:
            return form
        return bounds if form == FORMS[(float,)] else f"{form}, {bounds}"
    if get_origin(hint) is Literal:
        return ", ".join(map(str, get_args(hint)))
    if get_origin(hint) is tuple:
        return _listed(get_args(hint))
    if hint in REGISTRIES:
        return ", ".join(REGISTRIES[hint].names())
    kind, optional = _without_null(hint)
    if optional:
        return f"null or {_allowed(kind)}" if kind in REGISTRIES else _allowed(kind)
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if members in FORMS:
        return FORMS[members]
    return " or ".join(_allowed(member) for member in members) if len(members) > 1 else "a mapping"


def _listed(items: tuple[Annotation, ...]) -> str:
    form = _allowed(items[0])
    if items[0] in REGISTRIES:
        return f"a list of {form}"
    several = "whole numbers" + form.removeprefix(WHOLE) if form.startswith(WHOLE) else form
    if items[-1] is ...:
        return f"a list of {several}"
    if form == FORMS[(float,)]:
        return f"{len(items)} numbers"
    return f"{len(items)} {several}" if several != form else f"{len(items)} times {form}"
