"""Vehicles that are added to a scenario during its flight, or removed from it."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.scenario.build import build
from kittiwake.scenario.definition import Vehicle, as_plain
from kittiwake.scenario.described_vehicle import DescribedVehicle
from kittiwake.scenario.document import Document
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import check_name

VEHICLES = "vehicles"
DURATION = ("time", "duration_s")
# each one is a table of the log, also after it has been removed
MAX_ADDED_TO = 200


NewVehicle: TypeAlias = Vehicle | DescribedVehicle | Mapping[str, Any]


def with_vehicle(scenario: Scenario, name: str, vehicle: NewVehicle) -> Scenario:
    """Return the scenario with another entry under ``vehicles``; the others stay as they are.

    Raises:
        ScenarioError: if the name exists, the entry is not allowed, one of its vehicles would be
            lost at its start, or the scenario has a task.
    """
    _require_no_task(scenario)
    check_name(name)
    require_new_name(scenario, name)
    path = (VEHICLES, name)
    entry = vehicle.entry if isinstance(vehicle, DescribedVehicle) else vehicle
    document = scenario.document.with_value(path, as_plain(entry), f"vehicle '{name}'")
    if entry is not vehicle:
        document = replace(document, without_files=document.without_files | {path})
    return _changed(scenario, document, (*scenario.added, name))


def require_new_name(flown: Scenario, name: str) -> None:
    """Check that no vehicle of a flight has had a name.

    Raises:
        ScenarioError: if one has.
    """
    if name in _entries(flown) or name in flown.vehicles:
        message = f"`{name}`: is the name of a vehicle of this flight; write another one"
        raise ScenarioError(message)


def require_few(vehicles: Collection[str]) -> None:
    """Check that another program may add a vehicle to a flight that has had these.

    Raises:
        ScenarioError: if they are too many.
    """
    if len(vehicles) >= MAX_ADDED_TO:
        message = (
            f"this flight has had {len(vehicles)} vehicles; other programs may add one to a flight "
            f"of less than {MAX_ADDED_TO}"
        )
        raise ScenarioError(message)


def without_vehicle(scenario: Scenario, name: str) -> Scenario:
    """Return the scenario without an entry under ``vehicles``.

    Raises:
        ScenarioError: if there is no such entry or no other one, if another vehicle depends on it,
            or if the scenario has a task.
    """
    _require_no_task(scenario)
    entries = _entries(scenario)
    if name not in entries:
        if name in scenario.vehicles:
            entry = name.rpartition("-")[0]
            message = f"`{name}`: is one of several vehicles of an entry; remove `{entry}`"
        else:
            message = f"there is no vehicle '{name}'. {did_you_mean(name, [*entries])}"
        raise ScenarioError(message)
    if len(entries) == 1:
        message = f"`{name}`: is the last vehicle, and a flight needs one; add another one before"
        raise ScenarioError(message)
    kept = {key: entry for key, entry in entries.items() if key != name}
    document = _with_entries(scenario.document, kept)
    return _changed(scenario, document, tuple(key for key in scenario.added if key != name))


def with_new_vehicles_of(scenario: Scenario, later: Scenario) -> Scenario:
    """Return the scenario with the vehicles that a later one has besides; all else stays.

    Raises:
        ScenarioError: if these cannot be vehicles of one scenario, since they start too close.
    """
    entries, others = _entries(scenario), _entries(later)
    new = {name: entry for name, entry in others.items() if name not in entries}
    return _joined(scenario, later, {**entries, **new}) if new else scenario


def with_vehicles_of(scenario: Scenario, former: Scenario) -> Scenario:
    """Return the scenario with the vehicles that a former one had besides, as a log shows them.

    Raises:
        ScenarioError: if these cannot be vehicles of one scenario, since they start too close.
    """
    entries, others = _entries(scenario), _entries(former)
    if others.keys() <= entries.keys():
        return scenario
    return _joined(scenario, former, {**others, **entries})


def _joined(scenario: Scenario, other: Scenario, entries: Mapping[str, Any]) -> Scenario:
    """Return the scenario with entries of both."""
    document = _with_entries(scenario.document, entries)
    document = replace(
        document,
        places=other.document.places | document.places,
        without_files=other.document.without_files | document.without_files,
    )
    return _changed(scenario, document, scenario.added)


def _require_no_task(scenario: Scenario) -> None:
    if scenario.document.data.get("task") is not None:
        message = (
            "`task`: the vehicles of a task are fixed; leave the task out to add or remove any"
        )
        raise ScenarioError(message)


def _entries(scenario: Scenario) -> dict[str, Any]:
    return scenario.document.data[VEHICLES]


def _with_entries(document: Document, entries: Mapping[str, Any]) -> Document:
    """Return the document with these vehicles, whose places stay as they are."""
    return replace(document, data={**document.data, VEHICLES: {**entries}})


def _changed(scenario: Scenario, document: Document, added: tuple[str, ...]) -> Scenario:
    """Return the scenario of a changed document, with the vehicles that it had as they are."""
    if scenario.document.data.get("time", {}).get("duration_s") is None:
        # else the guidance of the vehicles would decide again how long the flight is
        document = document.with_value(DURATION, scenario.duration_s, "the flight")
    changed = build(document, scenario.folder)
    vehicles = {name: scenario.vehicles.get(name, own) for name, own in changed.vehicles.items()}
    return changed.with_parts(vehicles=vehicles, added=added)
