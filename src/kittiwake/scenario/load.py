"""Loader of scenarios by library name or file path."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.scenario import library
from kittiwake.scenario.build import build
from kittiwake.scenario.changing import rebuilt
from kittiwake.scenario.definition import as_plain
from kittiwake.scenario.document import Document, Override, apply_overrides, read_document
from kittiwake.scenario.own_components.code_files import allowed_paths, with_code, without_code
from kittiwake.scenario.own_components.entries import ROLES, SENSOR, holds_own
from kittiwake.scenario.problems import KeyPath
from kittiwake.scenario.scenario import IN_PYTHON, Scenario
from kittiwake.scenario.schema import ScenarioSchema

# the scenario's file name in a run folder
RUN_FILE = "scenario.yaml"
VEHICLES_KEY = "vehicles"


def find(scenario: str) -> Path:
    """Return the file of a scenario given by library name or path.

    Raises:
        ScenarioError: if there is no such library scenario or file.
    """
    path = Path(scenario)
    inside = path / RUN_FILE
    if scenario not in library.names() and os.path.isfile(
        inside
    ):  # unlike Path.is_file, never raises
        message = f"'{scenario}' is a folder. Give the scenario in it: {inside}"
        raise ScenarioError(message)
    if path.suffix in {".yaml", ".yml"} or path.parent != Path():
        return path
    if scenario in library.names():
        return library.FOLDER / f"{scenario}.yaml"
    message = (
        f"there is no library scenario '{scenario}' (a file's name ends in .yaml). "
        f"{did_you_mean(scenario, library.names(), 'kittiwake list scenarios')}"
    )
    raise ScenarioError(message)


# folders or files of which a scenario may load code, or one of them
AllowedCode: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]] | None


def load_scenario(
    scenario: str,
    overrides: Sequence[str | Override] = (),
    *,
    logged: bool = False,
    allow_code: AllowedCode = None,
) -> Scenario:
    """Return a scenario with overrides such as ``vehicles.pelican.start.yaw_deg=90``.

    Args:
        scenario: a library name or a file path.
        overrides: values by path.
        logged: whether the flight has a log, which limits the number of vehicles.
        allow_code: the folders whose Python files the scenario may load.

    Raises:
        ScenarioError: if the scenario cannot be read or flown; one line for each mistake.
    """
    path = find(scenario)
    document = apply_overrides(_read_scenario(path), overrides)
    return build(_with_code(document, path.parent, allow_code), path.parent, logged=logged)


def _read_scenario(path: Path) -> Document:
    document = read_document(path)
    _refuse_foreign(document, path)
    return document


def load_recorded(path: Path) -> Scenario:
    """Return the scenario of a log, to show it; components of code are left out.

    Raises:
        ScenarioError: if the scenario cannot be read; one line for each mistake.
    """
    document = read_document(path)
    return build(replace(document, data=without_code(document.data)), path.parent)


def _with_code(document: Document, folder: Path, allow_code: AllowedCode) -> Document:
    """Return the document with the components of those files whose code is allowed."""

    def file_of(name: str, path: KeyPath) -> Path:
        return Path(name) if document.from_override(path) else folder / name

    allowed = allowed_paths(allow_code)
    if not allowed:
        return document
    return replace(document, data=with_code(document.data, file_of, document.where, allowed))


def load_in_python(
    source: str | PathLike[str] | Mapping[str, Any],
    overrides: Mapping[str, Any] | None,
    allow_code: AllowedCode = None,
) -> Scenario:
    """Return a scenario by library name, path or data, with overrides by path.

    Raises:
        ScenarioError: if an argument has another type, or the scenario cannot be flown.
    """
    kinds = "a library name, a file's path, or a mapping as in a file"
    _require_type(source, str | PathLike | Mapping, "scenario", kinds)
    example = 'a mapping such as {"vehicles.pelican.start.yaw_deg": 90}'
    _require_type(overrides, Mapping | None, "overrides", example)
    folder, document = Path(), Document({}, {}, IN_PYTHON)
    if isinstance(source, Mapping):
        document = Document(as_plain(source), {(): IN_PYTHON}, IN_PYTHON)
    else:
        path = find(fspath(source))
        folder, document = path.parent, _read_scenario(path)
    document = _overridden(document, overrides)
    return build(_with_code(document, folder, allow_code), folder)


def overridden(
    scenario: str | PathLike[str] | Scenario,
    overrides: Mapping[str, Any] | None,
    allow_code: AllowedCode = None,
) -> Scenario:
    """Return a scenario, or that by library name or path, with overrides by path.

    Raises:
        ScenarioError: if an argument has another type, or the scenario cannot be flown.
    """
    if not isinstance(scenario, Scenario):
        return load_in_python(scenario, overrides, allow_code)
    if not overrides:
        return scenario
    document = _overridden(scenario.document, overrides)
    return rebuilt(scenario, _with_code(document, scenario.folder, allow_code))


def _overridden(document: Document, overrides: Mapping[str, Any] | None) -> Document:
    """Return a document with overrides by path, among them objects of the user's own."""
    plain = {str(path): as_plain(value) for path, value in (overrides or {}).items()}
    items = [
        Override.from_python(path, value) for path, value in plain.items() if not holds_own(value)
    ]
    document = apply_overrides(document, items)
    for path, value in plain.items():
        if holds_own(value):
            document = _with_own(document, path, value)
    return document


def _with_own(document: Document, path: str, value: Any) -> Document:
    """Return the document with a component of the user's own, which no text can hold.

    Raises:
        ScenarioError: if the path is not that of a vehicle's component.
    """
    first, _, rest = path.partition(".")
    name, _, last = rest.partition(".")
    entries = document.data.get(VEHICLES_KEY)
    role, *sensor = last.split(".")
    length = 1 if role == SENSOR.key else 0
    known = role in {one.key for one in ROLES} and len(sensor) == length
    if first != VEHICLES_KEY or name not in (entries or {}) or not known:
        allowed = ", ".join(
            f"vehicles.NAME.{one.key}{'.NAME' if one is SENSOR else ''}" for one in ROLES
        )
        message = (
            f"overrides={{'{path}': ...}}: an object of your own is a component of a vehicle; "
            f"write one of {allowed}"
        )
        raise ScenarioError(message)
    given_by = f"overrides={{'{path}': ...}}"
    return document.with_value((first, name, role, *sensor), value, given_by)


def _require_type(given: object, kind: Any, name: str, expected: str) -> None:
    if not isinstance(given, kind):
        message = f"`{name}`: got {given!r}; must be {expected}"
        raise ScenarioError(message)


def _refuse_foreign(document: Document, path: Path) -> None:
    """Refuse a file of another kind with one message instead of one for each key."""
    known = list(ScenarioSchema.model_fields)
    unknown = [key for key in document.data if key not in known]
    if "name" in document.data or 2 * len(unknown) <= len(document.data):
        return
    beside = path.with_name(RUN_FILE)
    instead = f" Give {beside}." if beside != path and beside.is_file() else ""
    message = (
        f"{document.name}:1: this is not a scenario: most of its keys are none of "
        f"{', '.join(known)}.{instead}"
    )
    raise ScenarioError(message)
