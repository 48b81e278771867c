"""Scenario keys of a component, derived from its annotated fields.

A parameter is declared once, in the component: ``gain: Annotated[Real, POSITIVE] = 1.0`` becomes
an optional key ``gain`` for a finite number above zero. Where a field's name ends in a stored
unit, the same name with a unit of ``core.units.USER_UNITS`` is accepted as well and converted:
``from_deg`` for ``from_rad``.
"""

import dataclasses
import inspect
import math
import types
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, core_schema

from kittiwake.actuators import BATTERIES
from kittiwake.core.bounds import Bounds
from kittiwake.core.errors import KittiwakeError, ScenarioError
from kittiwake.core.recording import Recording
from kittiwake.core.registry import Registry
from kittiwake.core.units import USER_UNITS
from kittiwake.environment import RANGE_ERRORS
from kittiwake.environment.fields.raster import Grid
from kittiwake.environment.obstacles.triangles import TriangleMesh
from kittiwake.environment.satellites.precise import OrbitTable
from kittiwake.estimation import BASES
from kittiwake.forces import FORCES, GROUND_EFFECTS, ROTORS
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance import TASKS
from kittiwake.guidance.route import Route
from kittiwake.guidance.shore import Shore
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.interfaces.estimator import AbstractEstimator
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.interfaces.parts import (
    AbstractBattery,
    AbstractForce,
    AbstractGroundEffect,
    AbstractRotor,
)
from kittiwake.pytree import Module
from kittiwake.scenario.merging import as_written, merged
from kittiwake.scenario.problems import (
    MAX_CHARACTERS,
    STATEMENT,
    DeclaredModel,
    KeyPath,
    Plain,
    render_problems,
)
from kittiwake.swarm import BEHAVIORS
from kittiwake.world.satellites import AbstractRangeError

# range of integers in a compiled program
SMALLEST_INTEGER = -(2**63)
LARGEST_INTEGER = 2**63 - 1

NOT_FINITE = "finite_number"
OUT_OF_BOUNDS = "out_of_bounds"
WRONG_LENGTH = "wrong_length"
NOT_A_FILE = "not_a_file"

# key of a placeholder in JSON Schema: an entry of a family
FAMILY = "family"

# interfaces for which a parameter may be any registered implementation
REGISTRIES: dict[Any, Registry] = {
    AbstractBattery: BATTERIES,
    AbstractBehavior: BEHAVIORS,
    AbstractEstimator: BASES,
    AbstractGuidance: TASKS,
    AbstractForce: FORCES,
    AbstractGroundEffect: GROUND_EFFECTS,
    AbstractRangeError: RANGE_ERRORS,
    AbstractRotor: ROTORS,
}

# types whose parameter is the name of a file
FILES: dict[type, str] = {
    Recording: "the name of a CSV file of recorded values",
    TriangleMesh: "the name of an STL or OBJ file",
    OrbitTable: "the name of an SP3 file",
    Route: "the name of a JSON file of places",
    Shore: "the name of a GeoJSON file with a polygon",
    Grid: "the name of an ASCII grid or a CSV file of cells",
}

# a type, or a special form of the typing module
Annotation: TypeAlias = Any

Component = TypeVar("Component", bound=Module)
Value = TypeVar("Value")


@cache
def parameters_model(cls: type[Module]) -> type["ParametersModel"]:
    """Return the pydantic model of a component's parameters.

    Raises:
        TypeError: if a field's type cannot be written in a scenario file.
    """
    hints = get_type_hints(cls, include_extras=True)
    fields: dict[str, Any] = {}
    user_keys: dict[str, str] = {}
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        hint = hints[field.name]
        try:
            spellings = _user_spellings(field.name, hint)
            key = _key(hint, factor=1.0) if spellings else _readable(hint, (), factor=1.0)
            fields[field.name] = (key, _default(field))
            for user_key, factor in spellings.items():
                fields.setdefault(user_key, (_key(hint, factor), Field(default=None)))
                user_keys[user_key] = field.name
        except TypeError as error:
            message = f"{cls.__name__}.{field.name}: {error}"
            raise TypeError(message) from error
    model = create_model(cls.__name__, __base__=ParametersModel, __doc__=cls.__doc__, **fields)
    model.name_of_user_key = user_keys
    model.nested_defaults = _nested_defaults(cls)
    model.advice_on_keys = getattr(cls, "advice_on_keys", "")
    return model


def build_component(
    cls: type[Component],
    data: Plain,
    where: Callable[[KeyPath], str],
    prefix_path: KeyPath = (),
    *,
    shown_by: str = "",
) -> Component:
    """Return the component with the parameters in a file.

    Args:
        cls: the component's class.
        data: the parameters by key; anything else than a mapping is refused.
        where: returns file and line of a full path.
        prefix_path: the path of ``data`` in the file.
        shown_by: the command that lists the component's keys.

    Raises:
        ScenarioError: one message with a line for each problem.
    """
    try:
        return _reader(cls)(data)
    except ValidationError as error:
        message = render_problems(error, where, prefix_path, shown_by=shown_by)
        raise ScenarioError(message) from None


class _Mark:
    """Placeholder for a value whose key is not validated."""


class _GivenElsewhere(_Mark):
    """Mark of a parameter that is given under another key."""


@dataclasses.dataclass(frozen=True)
class _GivenTwice(_Mark):
    """Mark of a parameter that is given under another key as well."""

    other_key: str


class ParametersModel(DeclaredModel):
    """Base model, which refuses parameters given in two units.

    ``name_of_user_key`` is the stored name of each key in another unit.
    """

    name_of_user_key: ClassVar[dict[str, str]] = {}
    nested_defaults: ClassVar[dict[str, dict[str, Any]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _mark_spellings(cls, data: Plain) -> Plain:
        """Mark all keys of a parameter but one, so that each parameter is validated once."""
        if not isinstance(data, Mapping):
            return data
        marked = dict(data)
        for name, default in cls.nested_defaults.items():
            if isinstance(marked.get(name), Mapping):
                marked[name] = merged(default, marked[name])
        first_key = {name: name for name in cls.name_of_user_key.values() if name in data}
        for key, name in cls.name_of_user_key.items():
            if key not in data:
                continue
            if name in first_key:
                marked[key] = _GivenTwice(first_key[name])
            else:
                first_key[name] = key
                marked[name] = _GivenElsewhere()
        return marked


@cache
def _reader(cls: type[Module]) -> Callable[[Plain], Any]:
    return TypeAdapter(_component(cls)).validate_python


def _component(cls: type[Module]) -> Annotation:
    return Annotated[parameters_model(cls), AfterValidator(partial(_constructed, cls))]


def _constructed(cls: type[Module], parameters: ParametersModel) -> Module:
    """Return the component; parameters that the file leaves out take the class defaults."""
    names = parameters.name_of_user_key
    given = {key: getattr(parameters, key) for key in parameters.model_fields_set}
    values = {
        names.get(key, key): value
        for key, value in given.items()
        if key != "type" and not isinstance(value, _Mark)
    }
    try:
        return cls(**values)
    except KittiwakeError as error:
        raise ValueError(str(error)) from error


def _nested_defaults(cls: type[Module]) -> dict[str, dict[str, Any]]:
    """Return defaults of parameters that are mappings, of which a file may give some keys."""
    written = {
        field.name: as_written(field.default)
        for field in dataclasses.fields(cls)
        if isinstance(field.default, Module) and not isinstance(field.default, tuple(REGISTRIES))
    }
    return {name: default for name, default in written.items() if isinstance(default, dict)}


def _default(field: "dataclasses.Field[Any]") -> FieldInfo:
    if field.default is not dataclasses.MISSING:
        return Field(default=field.default)
    if field.default_factory is not dataclasses.MISSING:
        return Field(default_factory=field.default_factory)
    return Field()


def _user_spellings(name: str, hint: Annotation) -> dict[str, float]:
    """Return keys for the parameter in other units, with the factors to the stored unit."""
    if not _is_real(hint):
        return {}
    return {
        name.removesuffix(stored) + user: factor
        for user, (stored, factor) in USER_UNITS.items()
        if name.endswith(stored) and not name.removesuffix(stored).endswith("_per")
    }


def _key(hint: Annotation, factor: float) -> Annotation:
    """Return the annotation for one of several keys of a parameter."""
    return Annotated[_readable(hint, (), factor), WrapValidator(_unless_marked)]


def _unless_marked(value: Plain, read: Callable[[Plain], Value]) -> Value | _Mark:
    if isinstance(value, _GivenTwice):
        sentence = "{other_key} is given as well; give one of them"
        raise PydanticCustomError(STATEMENT, sentence, {"other_key": value.other_key})
    return value if isinstance(value, _Mark) else read(value)


def _readable(hint: Annotation, bounds: tuple[Bounds, ...], factor: float) -> Annotation:
    """Return the annotation with which pydantic validates a component's field."""
    if get_origin(hint) is Annotated:
        base, *metadata = get_args(hint)
        bounds = (*bounds, *(item for item in metadata if isinstance(item, Bounds)))
        return _readable(base, bounds, factor)
    inner = partial(_readable, bounds=bounds, factor=factor)
    if type(None) in _members(hint):
        return inner(_without_none(hint)) | None
    if get_origin(hint) is tuple:
        items = tuple(item if item is ... else inner(item) for item in get_args(hint))
        numbers = all(
            item is ... or (item is not Vec3 and _is_real(item)) for item in get_args(hint)
        )
        return _entries(items, "numbers" if numbers else "entries")
    if hint is Vec3:
        return Annotated[_entries((inner(Real),) * 3, "numbers"), AfterValidator(Vec3.of)]
    return _single(hint, bounds, factor)


def _single(hint: Annotation, bounds: tuple[Bounds, ...], factor: float) -> Annotation:
    """Return the annotation for one number, flag or string, or for a record of these."""
    members = _members(hint)
    if members in (_members(Real), {float}):
        return Annotated[float, _Number(bounds, factor)]
    if is_whole(hint):
        return _whole(bounds)
    if members in (_members(Flag), {bool}):
        return Annotated[bool, Strict()]
    if hint is str or get_origin(hint) is Literal:
        return hint
    if hint in FILES:
        text = WithJsonSchema({"type": "string", "description": FILES[hint]})
        return Annotated[Any, AfterValidator(partial(_file_content, hint)), text]
    if hint in REGISTRIES:
        registry = REGISTRIES[hint]
        entry = WithJsonSchema({FAMILY: registry.family})
        return Annotated[Any, AfterValidator(partial(_registered, registry)), entry]
    if isinstance(hint, type) and issubclass(hint, Module) and not inspect.isabstract(hint):
        return _component(hint)
    message = f"{hint} cannot be written in a scenario file"
    raise TypeError(message)


@cache
def is_whole(hint: Annotation) -> bool:
    """Return True for the annotation of a whole number."""
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return _members(base) in (_members(Integer), {int})


def _typed_reader(cls: type[Module], name: str) -> Callable[[Plain], Any]:
    fields: dict[str, Any] = {"type": (Literal[name], name)}
    model = create_model(cls.__name__, __base__=parameters_model(cls), **fields)
    annotation: Annotation = Annotated[model, AfterValidator(partial(_constructed, cls))]
    return TypeAdapter(annotation).validate_python


def _registered(registry: Registry, value: Plain) -> Module:
    """Return the component of a mapping with ``type``; a bare word is a type without parameters."""
    given = {"type": value} if isinstance(value, str) else value
    type_name = given.get("type") if isinstance(given, Mapping) else None
    if isinstance(type_name, str) and type_name in registry.entries:
        return _typed_reader(registry.find(type_name), type_name)(given)
    if isinstance(type_name, str):
        sentence = registry.unknown(type_name[:MAX_CHARACTERS])
    else:
        sentence = f"type is missing; write one of {registry.listed_names()}"
    raise PydanticCustomError(STATEMENT, "{sentence}", {"sentence": sentence})


def _members(hint: Annotation) -> set[Any]:
    return set(get_args(hint)) if get_origin(hint) in (Union, types.UnionType) else {hint}


def _without_none(hint: Annotation) -> Annotation:
    return Union[tuple(member for member in get_args(hint) if member is not type(None))]  # noqa: UP007


def _is_real(hint: Annotation) -> bool:
    """Return True if a field holds real numbers, which can have a unit."""
    if get_origin(hint) is Annotated:
        return _is_real(get_args(hint)[0])
    if type(None) in _members(hint):
        return _is_real(_without_none(hint))
    if get_origin(hint) is tuple:
        return all(item is ... or _is_real(item) for item in get_args(hint))
    return hint is Vec3 or _members(hint) in (_members(Real), {float})


@dataclasses.dataclass(frozen=True)
class _Number:
    """Annotation of a finite number, which is converted to the stored unit.

    One annotation in place of pydantic's own for each of its rules: numbers are most of all keys,
    and the time in which pydantic builds a model is in proportion to the annotations.
    """

    bounds: tuple[Bounds, ...]
    factor: float

    def __get_pydantic_core_schema__(self, *_: Any) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            partial(_converted, bounds=self.bounds, factor=self.factor),
            core_schema.float_schema(strict=True, allow_inf_nan=False),
        )

    def __get_pydantic_json_schema__(self, *_: Any) -> dict[str, Any]:
        return {"type": "number", **_limits_in_json(self.bounds, self.factor)}


def _limits_in_json(bounds: tuple[Bounds, ...], factor: float) -> dict[str, float]:
    """Return bounds in the unit of a key as JSON Schema writes them."""
    limits: dict[str, float] = {}
    for bound in bounds:
        low, high = bound.low / factor, bound.high / factor
        if math.isfinite(low):
            limits["exclusiveMinimum" if bound.open_below else "minimum"] = low
        if math.isfinite(high):
            limits["maximum"] = high
    return limits


def _converted(value: float, bounds: tuple[Bounds, ...], factor: float) -> float:
    stored = value * factor
    if not math.isfinite(stored):
        raise PydanticKnownError(NOT_FINITE)
    for bound in bounds:
        if not bound.contains(stored):
            in_user_unit = dataclasses.replace(
                bound, low=bound.low / factor, high=bound.high / factor
            )
            raise _out_of_bounds(in_user_unit)
    return stored


def _whole(bounds: tuple[Bounds, ...]) -> Annotation:
    representable = Annotated[int, Field(strict=True, ge=SMALLEST_INTEGER, le=LARGEST_INTEGER)]
    return Annotated[representable, AfterValidator(partial(_bounded, bounds=bounds))]


def _bounded(value: int, bounds: tuple[Bounds, ...]) -> int:
    for bound in bounds:
        if not bound.contains(float(value)):
            raise _out_of_bounds(bound)
    return value


def _out_of_bounds(bound: Bounds) -> PydanticCustomError:
    return PydanticCustomError(OUT_OF_BOUNDS, "must be {bound}", {"bound": str(bound)})


def _entries(items: tuple[Annotation, ...], noun: str) -> Annotation:
    """Return the annotation for a list that is stored as a tuple."""
    if items[-1] is ...:
        return tuple[items]
    return Annotated[
        tuple[items], BeforeValidator(partial(_of_length, length=len(items), noun=noun))
    ]


def _file_content(content_type: type, value: Plain) -> Plain:
    """Return the file content that the builder has read; refuse anything else."""
    if not isinstance(value, content_type):
        raise PydanticCustomError(NOT_A_FILE, "must be {file}", {"file": FILES[content_type]})
    return value


def _of_length(value: Plain, length: int, noun: str) -> Plain:
    if not isinstance(value, list | tuple) or len(value) != length:
        rule = "must be a list of exactly {length} {noun}"
        raise PydanticCustomError(WRONG_LENGTH, rule, {"length": length, "noun": noun})
    return value
