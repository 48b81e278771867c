"""Controllers of one's own in a scenario: objects of a Python program, or classes of a file.

In a scenario's data an ``OwnComponent`` stands where a file has an entry. Entries with ``file``
and ``class`` become one only by ``with_code``, for files that the caller allows; wherever else an
entry comes from, the builder of scenarios refuses it. So code is never loaded from what comes
through a page, ROS, the hub or a log.
"""

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from typing_extensions import override

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.interfaces.controller import AbstractController
from kittiwake.scenario.own_components.host_object import described
from kittiwake.scenario.problems import KeyPath, Plain, dotted, shortened

FILE, CLASS, RATE, TYPE = "file", "class", "rate_hz", "type"
CONTROLLER = "controller"
# between file and class, where both are given as one word
COLON = ":"


@dataclass(eq=False)
class OwnComponent:
    """Controller of one's own: plain Python, or a component in JAX.

    Attributes:
        controller: an object with ``update``, or a component; a component's class if the scenario
            gives its parameters; None if its code is not loaded, as for pictures of a log.
        title: name of the class.
        entry: its entry in a scenario file; None if only a Python program can give it.
        file: the file with the class; None for an object of a Python program.
    """

    controller: Any
    title: str
    entry: dict[str, Any] | None = None
    file: Path | None = None

    @classmethod
    def of(cls, controller: Any) -> "OwnComponent":
        """Return the entry of an object that a Python program gives."""
        return cls(controller, type(controller).__name__)

    def as_entry(self) -> dict[str, Any]:
        """Return the entry of a scenario file, without ``file`` if only a program can give it."""
        return {CLASS: self.title} if self.entry is None else dict(self.entry)

    def __deepcopy__(self, memo: object) -> "OwnComponent":
        return self

    @override
    def __repr__(self) -> str:
        return f"<{self.title} {id(self):#x}>"


def is_own(value: object) -> bool:
    """Return True for an object that is a controller in plain Python or JAX, or a class of one."""
    if isinstance(value, AbstractController):
        return True
    return callable(getattr(value, "update", None)) and not isinstance(value, Mapping | set)


def holds_own(value: Any) -> bool:
    """Return True for a controller of one's own, and for a list with one."""
    return any(
        isinstance(one, OwnComponent) for one in (value if isinstance(value, list) else [value])
    )


def as_file_data(value: Any) -> Plain:
    """Return a scenario's data with the entries of own controllers in their place."""
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
            "cannot hold; write file and class, such as {file: mine.py, class: MyController}, or a "
            "registered controller"
        )
    return (
        f"{shortened(entry[FILE])} holds code, which is loaded only where it is allowed; add "
        "--allow-code DIR with its folder (in Python: allow_code=DIR)"
    )


def is_code(entry: Plain) -> bool:
    """Return True for an entry that names a class of a file."""
    return isinstance(entry, dict) and TYPE not in entry and bool({FILE, CLASS} & entry.keys())


def with_code(
    data: dict[str, Any],
    file_of: Callable[[str, KeyPath], Path],
    where: Callable[[KeyPath], str],
    allowed: Sequence[Path],
) -> dict[str, Any]:
    """Return a scenario's data with own controllers for the entries whose files are allowed.

    Args:
        data: the data.
        file_of: returns the file of a name at a path.
        where: returns file and line of a path.
        allowed: files and folders.

    Raises:
        ScenarioError: if such a file cannot be loaded, or has no such class.
    """

    def load(entry: Plain, path: KeyPath) -> Plain:
        if not is_code(entry) or not isinstance(entry.get(FILE), str):
            return entry
        file = file_of(entry[FILE], (*path, FILE))
        if not _is_allowed(file, allowed):
            return entry
        try:
            return from_file(file, entry)
        except ScenarioError as error:
            message = f"{where(path)}: {dotted(path)}: {error}"
            raise ScenarioError(message) from None

    return _each_controller(data, load)


def without_code(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a log's scenario, whose own controllers nobody flies."""

    def leave_out(entry: Plain, path: KeyPath) -> Plain:
        del path
        title = str(entry.get(CLASS)) if is_code(entry) else ""
        return OwnComponent(None, title, dict(entry)) if title else entry

    return _each_controller(data, leave_out)


def allowed_paths(
    allow_code: "str | PathLike[str] | Iterable[str | PathLike[str]] | None",
) -> list[Path]:
    """Return the folders and files whose code may be loaded.

    Raises:
        ScenarioError: if one of them does not exist.
    """
    if allow_code is None:
        return []
    given = [allow_code] if isinstance(allow_code, str | PathLike) else [*allow_code]
    for path in given:
        if not os.path.exists(path):
            message = f"`allow_code`: got '{os.fspath(path)}'; must be an existing folder"
            raise ScenarioError(message)
    return [Path(os.path.realpath(path)) for path in given]


def parse_class(written: str) -> dict[str, Any]:
    """Return the entry of ``FILE.py:CLASS``.

    Raises:
        ScenarioError: if it is something else.
    """
    file, _, name = written.rpartition(COLON)
    if not file.endswith(".py") or not name.isidentifier():
        message = (
            f"{written}: write a registered controller, such as lee, or a class of a file, such as "
            "mine.py:MyController"
        )
        raise ScenarioError(message)
    return {FILE: file, CLASS: name}


def from_file(file: Path, entry: Mapping[str, Any]) -> OwnComponent:
    """Return the controller of a file's class, made with the parameters of an entry.

    Raises:
        ScenarioError: if the file cannot be loaded, or has no such class.
    """
    name = entry.get(CLASS)
    try:
        stamp = os.stat(file).st_mtime_ns
    except OSError as error:
        message = f"cannot read '{file}': {error.strerror}"
        raise ScenarioError(message) from None
    module = _module(file, stamp)
    classes = {
        key: thing
        for key, thing in vars(module).items()
        if isinstance(thing, type) and thing.__module__ == module.__name__
        if is_own(thing) or issubclass(thing, AbstractController)
    }
    if not isinstance(name, str) or name not in classes:
        given = "write the class" if name is None else f"there is no controller {shortened(name)}"
        message = (
            f"{given} in {file.name}: a class with update(self, t_s, setpoint, estimate). "
            f"{did_you_mean(str(name), classes)}"
        )
        raise ScenarioError(message)
    kind = classes[name]
    parameters = {key: value for key, value in entry.items() if key not in (FILE, CLASS, RATE)}
    if issubclass(kind, AbstractController):
        return OwnComponent(kind, name, dict(entry), file)
    try:
        made = kind(**parameters)
    except Exception as error:
        listed = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
        message = f"{name}({listed}): {described(error)}"
        raise ScenarioError(message) from error
    return OwnComponent(made, name, dict(entry), file)


@lru_cache(maxsize=32)
def _module(file: Path, stamp: int) -> ModuleType:
    """Return the module of a file; it may import modules beside it.

    Raises:
        ScenarioError: if it cannot be imported.
    """
    name = file.stem
    unique = f"{name}_{stamp:x}"
    spec = importlib.util.spec_from_file_location(unique, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    sys.path.append(str(file.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[unique]
        message = f"{file.name} cannot be imported: {described(error)}"
        raise ScenarioError(message) from error
    finally:
        sys.path.remove(str(file.parent))
    return module


def _is_allowed(file: Path, allowed: Iterable[Path]) -> bool:
    real = Path(os.path.realpath(file))
    return any(real == path or real.is_relative_to(path) for path in allowed)


def _each_controller(
    data: dict[str, Any], change: Callable[[Plain, KeyPath], Plain]
) -> dict[str, Any]:
    """Return a scenario's data with each entry of a controller changed."""
    vehicles = data.get("vehicles")
    if not isinstance(vehicles, dict):
        return data

    def changed(entry: Plain, path: KeyPath) -> Plain:
        if not isinstance(entry, dict) or CONTROLLER not in entry:
            return entry
        given, key = entry[CONTROLLER], (*path, CONTROLLER)
        if isinstance(given, list):
            return entry | {CONTROLLER: [change(one, (*key, i)) for i, one in enumerate(given)]}
        return entry | {CONTROLLER: change(given, key)}

    return data | {
        "vehicles": {name: changed(entry, ("vehicles", name)) for name, entry in vehicles.items()}
    }
