"""Builder of components from scenario entries: type, parameters and rate."""

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import isclose
from pathlib import Path
from typing import Any, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

from kittiwake.core.component import AbstractComponent, Scheduled
from kittiwake.core.errors import KittiwakeError, ScenarioError, did_you_mean
from kittiwake.core.parameters import Annotation, Parameters
from kittiwake.core.recording import Recording
from kittiwake.core.registry import Registry
from kittiwake.core.units import stored_name
from kittiwake.environment.fields.raster import Grid
from kittiwake.environment.obstacles.triangles import TriangleMesh
from kittiwake.environment.satellites.precise import OrbitTable
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.route import Route
from kittiwake.guidance.shore import Shore
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.physics.mass_elements import MassElement, MassShape, combine_masses
from kittiwake.pytree import Module
from kittiwake.scenario.document import Document
from kittiwake.scenario.files.grids import read_grid
from kittiwake.scenario.files.meshes import read_mesh
from kittiwake.scenario.files.network import Network
from kittiwake.scenario.files.networks import read_network
from kittiwake.scenario.files.routes import read_route
from kittiwake.scenario.files.shores import read_shore
from kittiwake.scenario.files.sp3 import read_sp3
from kittiwake.scenario.files.tables import read_table
from kittiwake.scenario.files.urdf import MassProperties, UrdfSource, read_body
from kittiwake.scenario.parameters import REGISTRIES, build_component
from kittiwake.scenario.problems import (
    MAX_CHARACTERS,
    KeyPath,
    Plain,
    ProblemList,
    dotted,
    shortened,
)
from kittiwake.sensors import SENSOR_ERRORS, SENSORS
from kittiwake.sim.schedule import steps_between

Settings = TypeVar("Settings", bound=Module)
Own = TypeVar("Own", bound=AbstractComponent)
Content = TypeVar("Content")

READERS: dict[type, Callable[[Path], Any]] = {
    Recording: read_table,
    TriangleMesh: read_mesh,
    OrbitTable: read_sp3,
    Route: read_route,
    Shore: read_shore,
    Grid: read_grid,
    Network: read_network,
}
# contents of files that are kept, as scenarios are built again for each draw or candidate
KEPT_CONTENTS = 4
MAX_FILE_CHARACTERS = 1000
SLOWEST_HZ = 1e-6
# the parameter of a vehicle that names a URDF file, which gives mass and inertia
URDF = "urdf"
MASS, INERTIA, FROM = "mass_kg", "inertia_kgm2", "from"
MAX_SOLIDS = 1000
# relative tolerance between the mass of the solids and a mass that is given as well
SAME_MASS = 1e-9
# a center of mass nearer to the origin than this counts as being there
SAME_PLACE_M = 1e-9
MASS_PROPERTIES = {field.name for field in dataclasses.fields(MassProperties)}

# cached, as the hints are the same for all entries of one type
_hints = cache(get_type_hints)


@dataclass
class ComponentBuilder:
    """Builder of the components of one document, which notes their mistakes.

    Attributes:
        document: the document with the entries.
        folder: the folder to which file names in the scenario are relative.
        rate_hz: the physics rate.
        problems: the list of mistakes found so far.
        tables: the files that were read, by the path of the key that names them.
        inlined: values that replace a key in the scenario of a run folder, because its file needs
            other files.
        notes: warnings about allowed values that may be unintended.
    """

    document: Document
    folder: Path
    rate_hz: float
    problems: ProblemList
    tables: dict[KeyPath, Path] = field(default_factory=dict)
    inlined: dict[KeyPath, Parameters] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def scheduled(self, registry: Registry, entry: Plain, path: KeyPath) -> Any:
        """Return a component with its rate, or None after collecting its mistakes."""
        rate_hz, rest = _pop_key("rate_hz", entry)
        component = self.component(registry, rest, path)
        default_hz = None if component is None else component.default_rate_hz
        with self.problems.collecting((*path, "rate_hz")):
            every = self._every(default_hz, rate_hz)
            return None if component is None else Scheduled(component, every)
        return None

    def scheduled_own(self, component: Own, rate_hz: Plain, path: KeyPath) -> Scheduled[Own] | None:
        """Return a component of one's own with its rate, or None after collecting a mistake."""
        with self.problems.collecting((*path, "rate_hz")):
            return Scheduled(component, self._every(component.default_rate_hz, rate_hz))
        return None

    def instrument(self, entry: Plain, path: KeyPath) -> Scheduled[Instrument] | None:
        """Return a sensor with its rate and errors, or None after collecting its mistakes."""
        errors, rest = _pop_key("errors", entry)
        sensor = self.scheduled(SENSORS, rest, path)
        checked = sensor.component if sensor else self.default_instance(SENSORS, rest)
        return self.with_errors(sensor, checked, errors, _pop_key("rate_hz", rest)[0], path)

    def with_errors(
        self,
        sensor: Scheduled[AbstractSensor] | None,
        checked: AbstractSensor | None,
        errors_given: Plain,
        rate_hz: Plain,
        path: KeyPath,
    ) -> Scheduled[Instrument] | None:
        """Return a sensor with errors, or None after collecting their mistakes.

        Args:
            sensor: the sensor with its rate; None if it is invalid.
            checked: a sensor for which the errors are checked; None for none.
            errors_given: the entries of the errors; None for none.
            rate_hz: the given rate of the sensor.
            path: the sensor's path.
        """
        errors = self.listed(
            SENSOR_ERRORS, [] if errors_given is None else errors_given, (*path, "errors")
        )
        for i, error in enumerate(errors):
            if checked is not None and error is not None:
                with self.problems.collecting((*path, "errors", i)):
                    error.check(checked.measured_type(), self._period_s(checked, rate_hz))
        if sensor is None or None in errors:
            return None
        return Scheduled(Instrument(sensor.component, errors), sensor.every)

    def _period_s(self, component: AbstractComponent, rate_hz: Plain) -> float:
        """Return the period of the given rate, even if it does not divide the physics rate."""
        if _is_positive(rate_hz) and SLOWEST_HZ <= rate_hz <= self.rate_hz:
            return 1.0 / rate_hz
        return 1.0 / (component.default_rate_hz or self.rate_hz)

    def default_instance(self, registry: Registry, entry: Plain) -> Any:
        """Return a default component in place of an invalid one; None if its type has none.

        With it, other entries can be checked against the type before the entry is corrected.
        """
        type_name = entry.get("type") if isinstance(entry, dict) else entry
        return self.without_notes().component(registry, {"type": type_name}, ())

    def without_notes(self) -> "ComponentBuilder":
        """Return a copy that discards the mistakes which it notes."""
        return dataclasses.replace(self, problems=ProblemList(self.document.where))

    def _every(self, default_hz: float | None, rate_hz: Plain) -> int:
        if rate_hz is None:
            return steps_between(self.rate_hz, default_hz, "its default rate_hz")
        if not _is_positive(rate_hz):
            message = f"{shortened(rate_hz)} is not allowed; must be a number above 0"
            raise ScenarioError(message)
        return steps_between(self.rate_hz, float(rate_hz))

    def component(self, registry: Registry, entry: Plain, path: KeyPath) -> Any:
        """Return a component without a rate, or None after collecting its mistakes."""
        parameters = dict(entry) if isinstance(entry, dict) else {"type": entry}
        type_name = parameters.pop("type", None)
        place = (*path, "type") if isinstance(entry, dict | str) else path
        with self.problems.collecting(place):
            if not isinstance(type_name, str) or len(type_name) > MAX_CHARACTERS:
                given = "" if type_name is None else f"{shortened(type_name)} is not allowed; "
                if isinstance(type_name, type):
                    given = f"got the class {type_name.__name__}; write an object of it, or "
                known = registry.listed_names()
                kinds = registry.noun.removeprefix("kind of ")
                message = f"{given}write the kind of {kinds}: one of {known}"
                raise ScenarioError(message)
            cls = registry.find(type_name)
            with self.problems.collecting(path, placed=True):
                return build_component(
                    cls,
                    self._with_files(cls, parameters, path),
                    self.document.where,
                    path,
                    shown_by=f"kittiwake list {type_name}",
                )
        return None

    def named(self, registry: Registry, entries: Plain, path: KeyPath) -> tuple[Any, ...]:
        """Return components from a mapping of user-chosen names; None for each invalid one."""
        if not isinstance(entries, dict):
            message = f"write a mapping of names, with a {registry.noun} under each"
            self.problems.add(path, message)
            return (None,)
        return tuple(
            self.component(registry, entry, (*path, name)) for name, entry in entries.items()
        )

    def listed(self, registry: Registry, entries: Plain, path: KeyPath) -> tuple[Any, ...]:
        """Return components from a list; None for each invalid one."""
        if not isinstance(entries, list):
            message = f"write a list; each {registry.noun} is one of {registry.listed_names()}"
            self.problems.add(path, message)
            return (None,)
        return tuple(self.component(registry, entry, (*path, i)) for i, entry in enumerate(entries))

    def settings(
        self,
        settings_type: type[Settings],
        data: Mapping[str, Plain],
        path: KeyPath,
        shown_by: str = "",
    ) -> Settings | None:
        """Return a settings record, or None after collecting its mistakes."""
        with self.problems.collecting(path, placed=True):
            parameters = self._with_files(settings_type, dict(data), path)
            return build_component(
                settings_type, parameters, self.document.where, path, shown_by=shown_by
            )
        return None

    def read(self, content_type: type[Content], name: str, path: KeyPath) -> Content:
        """Return the content of a file.

        Raises:
            ScenarioError: if the file may not be read, or is of another type.
        """
        file = self._file(name, path)
        content = _content(content_type, file)
        self.tables[path] = file
        return content

    def _with_files(self, cls: type[Module], parameters: Parameters, path: KeyPath) -> Parameters:
        """Return the parameters with file names replaced by file contents, also in nested ones."""
        hints = _hints(cls)
        return {
            name: self._with_file(hints.get(name), given, (*path, name))
            for name, given in parameters.items()
        }

    def _with_file(self, hint: Annotation, given: Plain, path: KeyPath) -> Plain:
        if type(None) in get_args(hint):
            hint = next(one for one in get_args(hint) if one is not type(None))
        if hint in READERS and isinstance(given, str):
            try:
                return self.read(hint, given, path)
            except KittiwakeError as error:
                raise ScenarioError(self.problems.sentence(path, str(error))) from None
        if get_origin(hint) is tuple and isinstance(given, list):
            item = get_args(hint)[0]
            return [self._with_file(item, one, (*path, i)) for i, one in enumerate(given)]
        if isinstance(hint, type) and isinstance(given, dict):
            type_name = given.get("type")
            if (
                hint in REGISTRIES
                and isinstance(type_name, str)
                and type_name in REGISTRIES[hint].entries
            ):
                return self._with_files(REGISTRIES[hint].find(type_name), given, path)
            if issubclass(hint, Module):
                return self._with_files(hint, given, path)
        return given

    def with_mass_properties(
        self, cls: type[AbstractDynamics], parameters: Parameters, path: KeyPath
    ) -> Parameters:
        """Return a vehicle's parameters with mass and inertia from a URDF file or from shapes."""
        if URDF not in parameters:
            return self._with_shapes(cls, parameters, path)
        key = (*path, URDF)
        given = {name: value for name, value in parameters.items() if name != URDF}
        with self.problems.collecting(key):
            _refuse_without_mass_and_inertia(cls)
            for name in [*given]:
                with self.problems.collecting((*path, name)):
                    if stored_name(name) in MASS_PROPERTIES:
                        del given[name]
                        message = "urdf is given as well; give one of them"
                        raise ScenarioError(message)
            with self.problems.collecting(key, placed=True):
                return given | self._mass_properties(parameters[URDF], key)
        return given

    def _mass_properties(self, entry: Plain, key: KeyPath) -> Parameters:
        """Return mass and inertia of a URDF file as parameters; empty after a mistake."""
        spelled_out = entry if isinstance(entry, dict) else {"file": entry}
        source = build_component(UrdfSource, spelled_out, self.document.where, key)
        file_key = (*key, "file") if spelled_out is entry else key
        with self.problems.collecting(key):
            file = self._file(source.file, file_key)
            body = read_body(file, source.link)
            read = dataclasses.asdict(body.properties)
            self._note_center(key, body.center_m, f"from the origin of {shortened(body.link)}")
            if body.includes:
                self.inlined[key] = read
            else:
                self.tables[file_key] = file
            return read
        return {}

    def _with_shapes(
        self, cls: type[AbstractDynamics], parameters: Parameters, path: KeyPath
    ) -> Parameters:
        """Return the parameters with inertia from given solids, and their mass unless given."""
        given = parameters.get(INERTIA)
        if not isinstance(given, dict) or not has_mass_and_inertia(cls):
            return parameters
        if FROM not in given:
            entries = [field.name for field in dataclasses.fields(Inertia)]
            unknown = next((name for name in given if name not in entries), None)
            if unknown is None:
                return parameters
            with self.problems.collecting((*path, INERTIA, unknown)):
                message = f"there is no such key. {did_you_mean(unknown, [FROM, *entries])}"
                raise ScenarioError(message)
            return {name: value for name, value in parameters.items() if name != INERTIA}
        key = (*path, INERTIA, FROM)
        with self.problems.collecting(key):
            shapes = self._shapes(given, key)
            if not shapes:
                return {name: value for name, value in parameters.items() if name != INERTIA}
            whole = _assembled(shapes)
            mass_kg = parameters.get(MASS, whole.mass_kg)
            if _is_positive(mass_kg) and not isclose(mass_kg, whole.mass_kg, rel_tol=SAME_MASS):
                message = (
                    f"the solids weigh {whole.mass_kg:g} kg together, but mass_kg is {mass_kg:g}; "
                    "leave mass_kg out, or give solids of this mass"
                )
                raise ScenarioError(message)
            self._note_center(key, whole.center_body_m, "from the origin of the solids")
            inertia = dataclasses.asdict(whole.inertia_kgm2)
            return parameters | {MASS: mass_kg, INERTIA: inertia}
        return {name: value for name, value in parameters.items() if name != INERTIA}

    def _shapes(self, given: Parameters, key: KeyPath) -> list[MassShape]:
        """Return the shapes of a list; empty after collecting a mistake in one of them."""
        entries = given[FROM]
        if len(given) > 1 or not isinstance(entries, list) or not entries:
            message = (
                "write a list of solids and no other key, such as "
                "[{cuboid: {mass_kg: 0.5, edges_body_m: [0.1, 0.1, 0.04]}}]"
            )
            raise ScenarioError(message)
        if len(entries) > MAX_SOLIDS:
            message = f"{len(entries)} solids; at most {MAX_SOLIDS} are allowed"
            raise ScenarioError(message)
        shapes = [self.settings(MassShape, one, (*key, i)) for i, one in enumerate(entries)]
        return [shape for shape in shapes if shape is not None] if None not in shapes else []

    def _note_center(self, key: KeyPath, center_m: Vec3, reference: str) -> None:
        """Note that a description's origin is not the center of mass, to which positions refer."""
        if float(center_m.norm()) > SAME_PLACE_M:
            place = ", ".join(f"{float(part):.6g}" for part in (center_m.x, center_m.y, center_m.z))
            self.notes.append(
                f"{dotted(key)}: the center of mass lies [{place}] m {reference}; positions of the "
                "vehicle, hubs, feet and sensors are relative to the center of mass"
            )

    def _file(self, name: str, path: KeyPath) -> Path:
        """Return a file that the scenario may read: in its folder, or given by an override."""
        if not self.document.may_name_files(path):
            message = (
                f"got the file {shortened(name)}; no file is read for a vehicle that another "
                "program adds; write the values themselves"
            )
            raise ScenarioError(message)
        if len(name) > MAX_FILE_CHARACTERS:
            message = f"a file's name of {len(name)} characters; at most {MAX_FILE_CHARACTERS}"
            raise ScenarioError(message)
        if self.document.from_override(path):
            return Path(name)
        # realpath never raises, as in a loop of links
        file = Path(os.path.realpath(self.folder / name))
        if Path(name).is_absolute() or not file.is_relative_to(os.path.realpath(self.folder)):
            message = (
                f"'{name}' lies outside the scenario's folder; move it there, or name it with "
                "--set on the command line or in overrides in Python"
            )
            raise ScenarioError(message)
        return file


def _pop_key(key: str, entry: Plain) -> tuple[Plain, Plain]:
    """Return the value of an entry's key, or None, and the entry without the key."""
    if not isinstance(entry, dict):
        return None, entry
    return entry.get(key), {name: value for name, value in entry.items() if name != key}


def _is_positive(given: Plain) -> TypeGuard[int | float]:
    return isinstance(given, int | float) and not isinstance(given, bool) and given > 0


def has_mass_and_inertia(cls: type[AbstractDynamics]) -> bool:
    """Return True if a vehicle has mass and inertia as parameters."""
    return {field.name for field in dataclasses.fields(cls)} >= MASS_PROPERTIES


def _refuse_without_mass_and_inertia(cls: type[AbstractDynamics]) -> None:
    missing = MASS_PROPERTIES - {field.name for field in dataclasses.fields(cls)}
    if missing:
        message = (
            f"this vehicle has no {' and no '.join(sorted(missing))} that a URDF file could give; "
            "a vehicle with mass_kg and inertia_kgm2, such as rigid-body, takes one"
        )
        raise ScenarioError(message)


def _assembled(shapes: Sequence[MassShape]) -> MassElement:
    """Return one body that consists of all shapes.

    Raises:
        ScenarioError: if their sizes differ too much for the inertia of a body.
    """
    try:
        return combine_masses(*(shape.solid() for shape in shapes))
    except ValueError as error:
        message = f"the sizes of the solids differ too much: {error}"
        raise ScenarioError(message) from None


def _content(content_type: type[Content], file: Path) -> Content:
    """Return the content of a file, which is read again only if it has changed."""
    try:
        found = file.stat()
    except OSError:
        # the reader says what is wrong
        return READERS[content_type](file)
    return _content_of(content_type, file, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=KEPT_CONTENTS)
def _content_of(content_type: type[Content], file: Path, modified_ns: int, size: int) -> Content:
    del modified_ns, size
    return READERS[content_type](file)
