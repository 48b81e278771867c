"""Specifications of registered components: what a scenario in Python consists of.

A family's package offers one class per registered component, such as ``kittiwake.control.Lee``. Its
keyword arguments are the keys of the component in a scenario file, so that all of them but the
required ones may be left out, and are then those of the vehicle or the defaults. A specification is
data: ``kittiwake.Scenario`` builds the component from it, as it does from a file.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from typing_extensions import override

from kittiwake.core.errors import (
    ScenarioError,
    did_you_mean,
    unknown_argument,
    unnamed_argument,
)
from kittiwake.core.registry import Registry
from kittiwake.core.units import stored_name


class ComponentSpec:
    """Registered component with parameters, from which a scenario builds it.

    Attributes:
        registry: the registry of the component's family.
        name: the component's name there.
        parameters: the given parameters by key.
    """

    registry: ClassVar[Registry]
    name: ClassVar[str]

    def __init__(self, *unnamed: Any, **parameters: Any) -> None:
        """Take parameters by the keys of a scenario file.

        Raises:
            ScenarioError: for a key that the component does not have, or a value without one.
        """
        known = self.keys()
        if unnamed:
            raise ScenarioError(unnamed_argument(type(self).__name__, unnamed[0], known))
        for key in parameters:
            if stored_name(key) not in known:
                raise ScenarioError(unknown_argument(type(self).__name__, key, known))
        self.parameters = parameters

    @classmethod
    def keys(cls) -> list[str]:
        """Return the keys that the component accepts, each in its stored unit."""
        return [*inspect.signature(cls).parameters]

    def as_entry(self) -> dict[str, Any]:
        """Return the entry of a scenario file, whose values are those that were given."""
        return {"type": self.name, **self.parameters}

    @override
    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        return f"{type(self).__name__}({given})"

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComponentSpec) and self.as_entry() == other.as_entry()

    @override
    def __hash__(self) -> int:
        return hash(self.name)


if TYPE_CHECKING:
    from os import PathLike

    import numpy as np

    from kittiwake.geometry.vec3 import Vec3
    from kittiwake.pytree import Module

    # values of parameters as the stubs of the namespaces declare them (scripts/stubs)
    Component: TypeAlias = ComponentSpec | str | Mapping[str, Any]
    Record: TypeAlias = Mapping[str, Any] | Module
    Vector: TypeAlias = Sequence[float] | Vec3 | np.ndarray
    FileName: TypeAlias = str | PathLike[str]


def namespace(
    package: str, *registries: Registry, interfaces: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names are specifications.

    Args:
        package: name of the package.
        registries: registries of the specified components.
        interfaces: modules of further names, for components of one's own.
    """
    modules = interfaces or {}

    def find(name: str) -> Any:
        if name in modules:
            return getattr(import_module(modules[name]), name)
        names = _by_class_name(registries)
        if name not in names:
            message = f"module '{package}' has no attribute '{name}'"
            if not name.startswith("_"):
                message += f". {did_you_mean(name, [*names, *modules])}"
            raise AttributeError(message)
        return specification(*names[name])

    return find, lambda: sorted([*_by_class_name(registries), *modules])


@cache
def specification(registry: Registry, name: str) -> type[ComponentSpec]:
    """Return the specification class of a registered component."""
    component = registry.parameters_of(name)
    return type(
        registry.python_name(name),
        (ComponentSpec,),
        {
            "registry": registry,
            "name": name,
            "__doc__": f"{_sentence(registry.entries[name].summary)}\n\n{component.__doc__}",
            "__module__": component.__module__.split(".", 2)[0],
            "__signature__": _signature(component, registry.entry_keys),
        },
    )


def _by_class_name(registries: tuple[Registry, ...]) -> dict[str, tuple[Registry, str]]:
    return {
        registry.python_name(name): (registry, name)
        for registry in registries
        for name in registry.entries
    }


def _plain_type(hint: Any) -> Any:
    """Return a type as users write its values: a number for a scalar that may be traced."""
    # imported here, so that names can be listed without JAX
    from kittiwake.geometry.scalar import Flag, Integer, Real
    from kittiwake.geometry.vec3 import Vec3

    if hint in (Real, Integer, Flag):
        return {Real: float, Integer: int, Flag: bool}[hint]
    inner = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(map(_plain_type, inner))]  # noqa: UP007
    return Sequence[float] if hint is Vec3 else hint


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _signature(component: type, entry_keys: tuple[str, ...]) -> inspect.Signature:
    """Return the keyword arguments of a specification, with the defaults of the component."""
    hints = get_type_hints(component)
    own = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=_plain_type(hints[field.name]),
            default=None if field.default is dataclasses.MISSING else field.default,
        )
        for field in dataclasses.fields(component)
        if field.init
    ]
    others = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None) for key in entry_keys
    ]
    return inspect.Signature([*own, *others])
