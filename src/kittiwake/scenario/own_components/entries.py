"""Entries of components of the user's own in a scenario's data, and their roles in a vehicle.

In a scenario's data an ``OwnComponent`` stands where a file has an entry: an object of a Python
program, or a class of a file. Entries with ``file`` and ``class`` become one only by ``with_code``
of ``code_files``, for files that the caller allows; wherever else an entry comes from, the builder
of scenarios refuses it. So code is never loaded from what comes through a page, ROS, the hub or a
log.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from typing_extensions import override

from kittiwake.control import CONTROLLERS
from kittiwake.core.component import AbstractComponent
from kittiwake.core.registry import Registry
from kittiwake.estimation import ESTIMATORS
from kittiwake.guidance import GUIDANCE
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.estimator import AbstractEstimator
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.scenario.problems import Plain, shortened
from kittiwake.sensors import SENSORS
from kittiwake.sim.plain_python.python_commands import PythonController, PythonGuidance
from kittiwake.sim.plain_python.python_component import AbstractPythonComponent
from kittiwake.sim.plain_python.python_estimator import PythonEstimator
from kittiwake.sim.plain_python.python_sensor import PythonSensor

FILE, CLASS, RATE, TYPE, ERRORS = "file", "class", "rate_hz", "type", "errors"
# keys of an entry beside the arguments of the class
ENTRY_KEYS = (FILE, CLASS, RATE, ERRORS)


class Role(NamedTuple):
    """Role of a component.

    Attributes:
        key: key of a vehicle's entry in a scenario file.
        registry: the registered components of this role.
        interface: base class of components in JAX.
        python_type: the component that calls an object in plain Python.
        arguments: the arguments of ``update`` after the time.
    """

    key: str
    registry: Registry
    interface: type[AbstractComponent]
    python_type: type[AbstractPythonComponent]
    arguments: str

    @property
    def signature(self) -> str:
        """Signature of the method that makes an object a component of this role."""
        return f"update(self, t_s, {self.arguments})"


CONTROLLER = Role(
    "controller", CONTROLLERS, AbstractController, PythonController, "setpoint, estimate"
)
SENSOR = Role("sensors", SENSORS, AbstractSensor, PythonSensor, "truth")
ESTIMATOR = Role("estimator", ESTIMATORS, AbstractEstimator, PythonEstimator, "measurements")
GUIDE = Role("guidance", GUIDANCE, AbstractGuidance, PythonGuidance, "estimate")
ROLES = (SENSOR, ESTIMATOR, GUIDE, CONTROLLER)
# base classes of components in JAX
INTERFACES = tuple(role.interface for role in ROLES)


@dataclass(eq=False)
class OwnComponent:
    """Component of the user's own: plain Python, or JAX.

    Attributes:
        given: an object with ``update``, or a component; a component's class if the scenario gives
            its parameters; None if its code is not loaded, as for pictures of a log.
        title: name of the class.
        entry: its entry in a scenario file; None if only a Python program can give it.
        file: the file with the class; None for an object of a Python program.
        beside: the files that it imports from its folder, by their paths from there.
    """

    given: Any
    title: str
    entry: dict[str, Any] | None = None
    file: Path | None = None
    beside: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> "OwnComponent":
        """Return the entry of an object that a Python program gives."""
        named = isinstance(given, type | FunctionType)
        return cls(given, given.__name__ if named else type(given).__name__)

    def as_entry(self) -> dict[str, Any]:
        """Return the entry of a scenario file, without ``file`` if only a program can give it."""
        return {CLASS: self.title} if self.entry is None else dict(self.entry)

    def parameters(self) -> dict[str, Any]:
        """Return the arguments of the class in the entry."""
        return {key: value for key, value in (self.entry or {}).items() if key not in ENTRY_KEYS}

    def __deepcopy__(self, memo: object) -> "OwnComponent":
        return self

    @override
    def __repr__(self) -> str:
        return f"<{self.title} {id(self):#x}>"


def is_own(value: object) -> bool:
    """Return True for an object that is a component in plain Python or JAX, or a class of one."""
    if isinstance(value, INTERFACES):
        return True
    return callable(getattr(value, "update", None)) and not isinstance(value, Mapping | set)


def own_or_unfit(written: Plain) -> OwnComponent | None:
    """Return an own component, also one of an object without ``update``; None for plain data."""
    if isinstance(written, OwnComponent):
        return written
    is_plain = written is None or isinstance(written, str | int | float | Mapping | list | tuple)
    return None if is_plain else OwnComponent.of(written)


def holds_own(value: Any) -> bool:
    """Return True for a component of the user's own, and for a list with one."""
    return any(
        isinstance(one, OwnComponent) for one in (value if isinstance(value, list) else [value])
    )


def own_components(value: Any) -> Iterator[OwnComponent]:
    """Yield the components of the user's own in a scenario's data."""
    if isinstance(value, OwnComponent):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from own_components(part)


def as_file_data(value: Any) -> Plain:
    """Return a scenario's data with the entries of components of the user's own in their place."""
    if isinstance(value, OwnComponent):
        return value.as_entry()
    if isinstance(value, dict):
        return {key: as_file_data(part) for key, part in value.items()}
    return [as_file_data(part) for part in value] if isinstance(value, list) else value


def refusal(entry: Mapping[str, Any]) -> str:
    """Return the reason why an entry with ``file`` or ``class`` is not built."""
    if FILE not in entry:
        return (
            f"{shortened(entry[CLASS])} is an object of a Python program, which a scenario file "
            "cannot hold; write file and class, such as {file: mine.py, class: Mine}, or a "
            "registered type"
        )
    return (
        f"{shortened(entry[FILE])} holds code, which is loaded only where it is allowed; add "
        "--allow-code DIR with its folder (in Python: allow_code=DIR)"
    )


def is_code(entry: Plain) -> bool:
    """Return True for an entry that names a class of a file."""
    return isinstance(entry, dict) and TYPE not in entry and bool({FILE, CLASS} & entry.keys())
