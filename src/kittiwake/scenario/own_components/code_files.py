"""Files of Python code with components, loaded only where the caller allows it."""

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.scenario.own_components.entries import CLASS, FILE, OwnComponent, is_code
from kittiwake.scenario.own_components.host_object import described
from kittiwake.scenario.own_components.roles import CONTROLLER, ROLES, SENSOR, Role
from kittiwake.scenario.problems import KeyPath, Plain, dotted, shortened

# between file and class, where both are given as one word
COLON = ":"


def with_code(
    data: dict[str, Any],
    file_of: Callable[[str, KeyPath], Path],
    where: Callable[[KeyPath], str],
    allowed: Sequence[Path],
) -> dict[str, Any]:
    """Return a scenario's data with components for the entries whose files are allowed.

    Args:
        data: the data.
        file_of: returns the file of a name at a path.
        where: returns file and line of a path.
        allowed: files and folders.

    Raises:
        ScenarioError: if such a file cannot be loaded, or has no such class.
    """

    def load(entry: Plain, path: KeyPath, role: Role) -> Plain:
        if not is_code(entry) or not isinstance(entry.get(FILE), str):
            return entry
        file = file_of(entry[FILE], (*path, FILE))
        if not _is_allowed(file, allowed):
            return entry
        try:
            return from_file(file, entry, role)
        except ScenarioError as error:
            message = f"{where(path)}: {dotted(path)}: {error}"
            raise ScenarioError(message) from None

    return _each_component(data, load)


def without_code(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a log's scenario, whose components nobody flies."""

    def leave_out(entry: Plain, path: KeyPath, role: Role) -> Plain:
        del path, role
        title = str(entry.get(CLASS)) if is_code(entry) else ""
        return OwnComponent(None, title, dict(entry)) if title else entry

    return _each_component(data, leave_out)


def allowed_paths(allow_code: Any) -> list[Path]:
    """Return the folders and files whose code may be loaded, given as one or several.

    Raises:
        ScenarioError: if one of them does not exist, or is no path.
    """
    if allow_code is None:
        return []
    several = isinstance(allow_code, Iterable) and not isinstance(allow_code, str | PathLike)
    given: list[Any] = [*allow_code] if several else [allow_code]
    if not all(isinstance(path, str | PathLike) for path in given):
        message = f"`allow_code`: got {allow_code!r}; must be a folder, such as allow_code='.'"
        raise ScenarioError(message)
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


def from_file(file: Path, entry: Mapping[str, Any], role: Role) -> OwnComponent:
    """Return the component of a file's class, made with the parameters of an entry.

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
        if callable(getattr(thing, "update", None)) or issubclass(thing, role.interface)
    }
    if not isinstance(name, str) or name not in classes:
        noun = role.registry.noun
        given = "write the class" if name is None else f"there is no {noun} {shortened(name)}"
        message = (
            f"{given} in {file.name}: a class with {role.signature}. "
            f"{did_you_mean(str(name), classes)}"
        )
        raise ScenarioError(message)
    own = OwnComponent(classes[name], name, dict(entry), file)
    if issubclass(classes[name], role.interface):
        return own
    try:
        own.given = classes[name](**own.parameters())
    except Exception as error:
        listed = ", ".join(f"{key}={value!r}" for key, value in own.parameters().items())
        message = f"{name}({listed}): {described(error)}"
        raise ScenarioError(message) from error
    return own


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


def _each_component(
    data: dict[str, Any], change: Callable[[Plain, KeyPath, Role], Plain]
) -> dict[str, Any]:
    """Return a scenario's data with each entry of a component that can be one's own changed."""
    vehicles = data.get("vehicles")
    if not isinstance(vehicles, dict):
        return data

    def changed(value: Plain, path: KeyPath, role: Role) -> Plain:
        if role is CONTROLLER and isinstance(value, list):
            return [change(one, (*path, i), role) for i, one in enumerate(value)]
        if role is not SENSOR:
            return change(value, path, role)
        if not isinstance(value, dict):
            return value
        return {name: change(one, (*path, name), role) for name, one in value.items()}

    def vehicle(entry: Plain, path: KeyPath) -> Plain:
        if not isinstance(entry, dict):
            return entry
        given = [role for role in ROLES if role.key in entry]
        return entry | {
            role.key: changed(entry[role.key], (*path, role.key), role) for role in given
        }

    return data | {
        "vehicles": {name: vehicle(entry, ("vehicles", name)) for name, entry in vehicles.items()}
    }
