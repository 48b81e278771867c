"""Files of Python code with components, loaded only where the caller allows it."""

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.scenario.own_components.entries import (
    CLASS,
    CONTROLLER,
    FILE,
    ROLES,
    SENSOR,
    OwnComponent,
    Role,
    is_code,
)
from kittiwake.scenario.problems import KeyPath, Plain, dotted, shortened
from kittiwake.sim.plain_python.host_object import described

# between file and class, where both are given as one word
COLON = ":"


@dataclass(frozen=True)
class LoadedFile:
    """Module of a file.

    Attributes:
        module: the module.
        beside: the files beside it that it has imported, by their paths from its folder.
        stamps: the times of change of all these files.
    """

    module: ModuleType
    beside: Mapping[str, Path]
    stamps: Mapping[Path, int]

    def is_current(self) -> bool:
        """Return True if no file has changed since."""
        return self.stamps == _stamps(self.stamps)


# the last version of each file
_LOADED: dict[Path, LoadedFile] = {}


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
    if file.suffix != ".py":
        message = f"`{FILE}`: got {shortened(file.name)}; must be a Python file, such as mine.py"
        raise ScenarioError(message)
    try:
        stamp = os.stat(file).st_mtime_ns
    except OSError as error:
        message = f"cannot read '{file}': {error.strerror}"
        raise ScenarioError(message) from None
    loaded = _loaded(Path(os.path.abspath(file)), stamp)
    module = loaded.module
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
    own = OwnComponent(classes[name], name, dict(entry), file, loaded.beside)
    if issubclass(classes[name], role.interface):
        return own
    try:
        own.given = classes[name](**own.parameters())
    except (Exception, SystemExit) as error:
        listed = ", ".join(f"{key}={value!r}" for key, value in own.parameters().items())
        message = f"{name}({listed}): {described(error)}"
        raise ScenarioError(message) from error
    return own


def _loaded(file: Path, stamp: int) -> LoadedFile:
    """Return the module of a file; it may import modules beside it.

    Raises:
        ScenarioError: if it cannot be imported.
    """
    known = _LOADED.get(file)
    if known is not None and known.is_current():
        return known
    unique = f"{file.stem}_{stamp:x}"
    spec = importlib.util.spec_from_file_location(unique, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = {*sys.modules}
    sys.modules[unique] = module
    folder = str(file.parent)
    sys.path.insert(0, folder)
    # a folder may have changed within the resolution of its time
    importlib.invalidate_caches()
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[unique]
        message = f"{file.name} cannot be imported: {described(error)}"
        raise ScenarioError(message) from error
    finally:
        sys.path.remove(folder)
        beside = _take_out(before | {unique}, file.parent)
    stamps = {file: stamp} | _stamps(beside.values())
    loaded = _LOADED[file] = LoadedFile(module, beside, stamps)
    return loaded


def _take_out(before: set[str], folder: Path) -> dict[str, Path]:
    """Take the new modules of a folder out of those that all imports share.

    Another folder may have modules of the same names. Packages installed below the folder stay.

    Returns:
        the modules' files, by their paths from the folder.
    """
    files: dict[str, Path] = {}
    for name in {*sys.modules} - before:
        top, *_ = name.split(".")
        places = [folder / f"{top}.py", folder / top]
        origin = getattr(sys.modules[name], "__file__", None)
        if top in before or not any(place.exists() for place in places):
            continue
        if origin is not None:
            file = Path(origin)
            if not any(file.is_relative_to(place) for place in places):
                continue
            files[file.relative_to(folder).as_posix()] = file
        del sys.modules[name]
    return dict(sorted(files.items()))


def _stamps(files: Iterable[Path]) -> dict[Path, int]:
    """Return the times of change of files, 0 for one that is missing."""
    return {file: os.stat(file).st_mtime_ns if file.exists() else 0 for file in files}


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
