"""From a document to a fleet: names looked up, parameters checked, rungs connected."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import ValidationError

from kittiwake.control import CONTROLLERS
from kittiwake.core.component import AbstractComponent, AbstractController, AbstractDynamics
from kittiwake.core.errors import KittiwakeError, LadderError, ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.core.ladder import ladder_path
from kittiwake.core.registry import Registry
from kittiwake.core.table import Table
from kittiwake.core.vehicle import Scheduled, Vehicle
from kittiwake.core.world import World
from kittiwake.environment import ATMOSPHERES, TURBULENCE, WINDS
from kittiwake.environment.proximity import Proximity
from kittiwake.estimation import ESTIMATORS
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance import GUIDANCE
from kittiwake.guidance.playback import Playback
from kittiwake.scenario.document import Document
from kittiwake.scenario.parameters import build_component
from kittiwake.scenario.problem_list import ProblemList
from kittiwake.scenario.problems import MAX_CHARACTERS, KeyPath, Plain, render_problems, shortened
from kittiwake.scenario.schema import (
    Origin,
    Repetition,
    ScenarioSchema,
    TimeSettings,
    VehicleSchema,
    WorldSettings,
)
from kittiwake.scenario.tables import read_table
from kittiwake.sensors import SENSORS
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.schedule import steps_between
from kittiwake.vehicles import VEHICLES
from kittiwake.vehicles.model import VehicleModel

WORLD_ENTRIES = {"wind": (WINDS, "none"), "atmosphere": (ATMOSPHERES, "isa")}
MAX_STEPS = 2**31 - 1
# what a vehicle takes while it is stepped, logged and compiled: measured on the Pelican, rounded up
BYTES_PER_VEHICLE = 20_000
BYTES_PER_PAIR = 40
# sixty columns in double precision, twice while a log is read
BYTES_PER_ROW = 1_000
MEMORY_SHARE = 0.5
MAX_FILE_CHARACTERS = 1000


@dataclass(frozen=True)
class Scenario:
    """A scenario ready to fly.

    Attributes:
        document: the data it was built from, overrides applied.
        models: each vehicle's model by vehicle name.
        origin: where the world's zero lies on the Earth.
        tables: the recorded files that it reads, by the path of the key that names them.
    """

    document: Document
    name: str
    description: str
    seed: int
    duration_s: float
    rate_hz: float
    log_every: int
    fails_when_lost: bool
    world: World
    origin: Origin
    vehicles: dict[str, Vehicle]
    models: dict[str, str]
    tables: dict[KeyPath, Path]

    def check_log_size(self, duration_s: float | None = None) -> None:
        """Refuses a flight whose log would not fit into memory.

        Raises:
            ScenarioError: with the rate at which it would fit.
        """
        flown_s = self.duration_s if duration_s is None else duration_s
        rows = flown_s * self.rate_hz / self.log_every + 1
        needed = rows * len(self.vehicles) * BYTES_PER_ROW
        if needed > _memory():
            slower = self.rate_hz / self.log_every * _memory() / needed
            message = (
                f"the log of {len(self.vehicles)} vehicles over {flown_s:g} s needs about "
                f"{needed / 1e9:.0f} GB of memory, more than the {_memory() / 1e9:.0f} GB that it "
                f"may take here; set time.log_rate_hz below {slower:.2g}, or fly a shorter time"
            )
            raise ScenarioError(message)

    def fleet(self, *, single_precision: bool = False) -> Fleet:
        """The fleet in the given precision."""
        return Fleet.of(self.world, self.vehicles, self.rate_hz, single_precision=single_precision)


def build(document: Document, folder: Path) -> Scenario:
    """The scenario that a document describes; ``folder`` is where its own file names start.

    Raises:
        ScenarioError: one line for each mistake, with the place in the file.
    """
    return _Builder(document, folder, ProblemList(document.where)).scenario()


@dataclass
class _Builder:
    document: Document
    folder: Path
    problems: ProblemList
    tables: dict[KeyPath, Path] = dataclasses.field(default_factory=dict)
    rate_hz: float = 1.0

    def scenario(self) -> Scenario:
        schema = self._schema()
        time = self._settings(TimeSettings, schema.time, ("time",)) or TimeSettings()
        self.rate_hz = float(time.rate_hz)
        self._refuse_absurd_size(schema)
        world, origin, turbulence = self._world(schema)
        vehicles: dict[str, Vehicle] = {}
        models: dict[str, str] = {}
        for name, entry in schema.vehicles.items():
            for member, vehicle in self._vehicles(name, entry, turbulence).items():
                if member in vehicles:
                    self.problems.lines.append(
                        self.problems.sentence(
                            ("vehicles", name), f"there are two vehicles '{member}'"
                        )
                    )
                vehicles[member] = vehicle
                models[member] = entry.model
        duration_s = self._duration_s(time, vehicles)
        log_every = 1
        with self.problems.noting(("time", "log_rate_hz")):
            log_every = steps_between(self.rate_hz, time.log_rate_hz)
        self.problems.refuse()
        return Scenario(
            document=self.document,
            name=schema.name,
            description=schema.description,
            seed=schema.seed,
            duration_s=duration_s,
            rate_hz=self.rate_hz,
            log_every=log_every,
            fails_when_lost=schema.lost_vehicle == "fail",
            world=world,
            origin=origin,
            vehicles=vehicles,
            models=models,
            tables=self.tables,
        )

    def _schema(self) -> ScenarioSchema:
        try:
            return ScenarioSchema.model_validate(self.document.data)
        except ValidationError as error:
            message = render_problems(error, self.document.where, model=ScenarioSchema)
            raise ScenarioError(message) from None

    def _settings(self, kind: type[Any], data: Mapping[str, Any], path: KeyPath) -> Any:
        with self.problems.noting(path, placed=True):
            return build_component(kind, data, self.document.where, path)
        return None

    def _world(self, schema: ScenarioSchema) -> tuple[World, Origin, Scheduled[Any]]:
        data = dict(schema.world)
        parts = {
            key: self._component(registry, data.pop(key, default), ("world", key))
            for key, (registry, default) in WORLD_ENTRIES.items()
        }
        turbulence = self._scheduled(
            TURBULENCE, data.pop("turbulence", "none"), ("world", "turbulence")
        )
        settings = self._settings(WorldSettings, data, ("world",)) or WorldSettings()
        distance = settings.collision_distance_m
        self.problems.refuse()
        world = World(
            gravity_mps2=settings.gravity_mps2,
            ground_z_m=settings.ground_z_m,
            origin_altitude_m=settings.origin.altitude_m,
            atmosphere=parts["atmosphere"],
            wind=parts["wind"],
            area=settings.area,
            interactions=() if distance is None else (Proximity(distance),),
        )
        return world, settings.origin, turbulence

    def _vehicles(
        self, name: str, entry: VehicleSchema, turbulence: Scheduled[Any]
    ) -> dict[str, Vehicle]:
        """An entry's vehicles by name: itself, or counted from NAME-1 on."""
        path = ("vehicles", name)
        vehicle = self._vehicle(entry, path, turbulence)
        if vehicle is None or entry.count is None:
            return {} if vehicle is None else {name: vehicle}
        given = {} if entry.spacing_m is None else {"spacing_m": entry.spacing_m}
        repetition = self._settings(Repetition, given, path) or Repetition()
        width = len(str(entry.count))
        return {
            f"{name}-{i + 1:0{width}}": dataclasses.replace(
                vehicle, start=_shifted(vehicle.start, repetition.spacing_m, i)
            )
            for i in range(entry.count)
        }

    def _vehicle(
        self, entry: VehicleSchema, path: KeyPath, turbulence: Scheduled[Any]
    ) -> Vehicle | None:
        with self.problems.noting((*path, "model")):
            model: VehicleModel = VEHICLES.find(entry.model)
            dynamics = self._settings(
                model.dynamics, {**model.parameters(), **entry.parameters}, (*path, "parameters")
            )
            start = self._settings(Start, entry.start, (*path, "start"))
            sensors = {
                key: self._scheduled(SENSORS, sensor, (*path, "sensors", key))
                for key, sensor in entry.sensors.items()
            }
            estimator = self._scheduled(ESTIMATORS, entry.estimator, (*path, "estimator"))
            guidance = self._scheduled(GUIDANCE, entry.guidance, (*path, "guidance"))
            ladder = self._ladder(entry, model, path)
            if None in (dynamics, start, estimator, guidance, *ladder, *sensors.values()):
                return None
            rungs = (*ladder, *(Scheduled(bridge) for bridge in model.bridges(dynamics)))
            self._check_ladder(guidance.component, rungs, dynamics, path)
            return Vehicle(
                model=entry.model,
                dynamics=dynamics,
                start=start,
                turbulence=turbulence,
                sensors=sensors,
                estimator=estimator,
                guidance=guidance,
                ladder=rungs,
            )
        return None

    def _ladder(self, entry: VehicleSchema, model: VehicleModel, path: KeyPath) -> tuple[Any, ...]:
        """The scenario's controllers, None for each that was refused."""
        given = entry.controller if entry.controller is not None else model.default_controller
        key = (*path, "controller")
        if isinstance(given, list):
            return tuple(self._scheduled(CONTROLLERS, c, (*key, i)) for i, c in enumerate(given))
        return (self._scheduled(CONTROLLERS, given, key),)

    def _check_ladder(
        self,
        guidance: Any,
        rungs: tuple[Scheduled[AbstractController], ...],
        dynamics: AbstractDynamics,
        path: KeyPath,
    ) -> None:
        with self.problems.noting((*path, "controller")):
            controllers = [rung.component for rung in rungs]
            try:
                ladder_path(controllers, guidance.signal_type(), dynamics.native)
            except LadderError as error:
                message = f"{error} {_leading_from(error.rung)}"
                raise ScenarioError(message) from None
        if isinstance(guidance, Playback) and guidance.signal_type() is dynamics.native:
            with self.problems.noting((*path, "guidance", "file")):
                _check_recorded_bounds(guidance.file, dynamics.command_bounds)

    def _scheduled(self, registry: Registry, entry: Plain, path: KeyPath) -> Any:
        """A component with its rate, or None after noting what is wrong."""
        rate_hz = entry.get("rate_hz") if isinstance(entry, dict) else None
        if isinstance(entry, dict):
            entry = {key: value for key, value in entry.items() if key != "rate_hz"}
        component = self._component(registry, entry, path)
        if component is None:
            return None
        with self.problems.noting((*path, "rate_hz")):
            return Scheduled(component, self._every(component, rate_hz))
        return None

    def _every(self, component: AbstractComponent, rate_hz: object) -> int:
        if rate_hz is None:
            return steps_between(self.rate_hz, component.default_rate_hz)
        if isinstance(rate_hz, bool) or not isinstance(rate_hz, int | float) or not rate_hz > 0:
            message = f"{shortened(rate_hz)} is not allowed; must be a number above 0"
            raise ScenarioError(message)
        return steps_between(self.rate_hz, float(rate_hz))

    def _component(self, registry: Registry, entry: Plain, path: KeyPath) -> Any:
        parameters = dict(entry) if isinstance(entry, dict) else {"type": entry}
        kind = parameters.pop("type", None)
        with self.problems.noting((*path, "type")):
            if not isinstance(kind, str) or len(kind) > MAX_CHARACTERS:
                message = f"write the kind of {registry.noun}: one of {', '.join(registry.names())}"
                raise ScenarioError(message)
            cls = registry.find(kind)
            with self.problems.noting(path, placed=True):
                return build_component(
                    cls, self._with_tables(cls, parameters, path), self.document.where, path
                )
        return None

    def _with_tables(
        self, cls: type[Any], parameters: dict[str, Any], path: KeyPath
    ) -> dict[str, Any]:
        """The parameters with the names of recorded files replaced by their tables."""
        read = dict(parameters)
        for name, hint in get_type_hints(cls).items():
            if hint is Table and isinstance(parameters.get(name), str):
                key = (*path, name)
                try:
                    file = self._file(parameters[name], key)
                    read[name] = read_table(file)
                except KittiwakeError as error:
                    raise ScenarioError(self.problems.sentence(key, str(error))) from None
                self.tables[key] = file
        return read

    def _file(self, name: str, path: KeyPath) -> Path:
        """A file that the scenario may read: in its folder, or wherever the command line says."""
        if len(name) > MAX_FILE_CHARACTERS:
            message = f"a file's name of {len(name)} characters; at most {MAX_FILE_CHARACTERS}"
            raise ScenarioError(message)
        if self.document.from_override(path):
            return Path(name)
        file = (self.folder / name).resolve()
        if Path(name).is_absolute() or not file.is_relative_to(self.folder.resolve()):
            message = (
                f"'{name}' lies outside the scenario's folder; move it there, or name it on the "
                "command line with --set"
            )
            raise ScenarioError(message)
        return file

    def _duration_s(self, time: TimeSettings, vehicles: Mapping[str, Vehicle]) -> float:
        ends = [vehicle.guidance.component.end_s() for vehicle in vehicles.values()]
        finite = [end for end in ends if end is not None]
        if time.duration_s is None and not finite:
            if self.problems.lines:  # the guidance that was refused may have said it
                return 0.0
            message = "is missing; write how long to fly, such as duration_s: 60"
            self.problems.lines.append(self.problems.sentence(("time", "duration_s"), message))
            return 0.0
        duration_s = float(time.duration_s if time.duration_s is not None else max(finite))
        if duration_s * self.rate_hz > MAX_STEPS:
            message = (
                f"{duration_s:g} s at {self.rate_hz:g} Hz are {duration_s * self.rate_hz:.3g} "
                f"steps; at most {MAX_STEPS} can be counted"
            )
            self.problems.lines.append(self.problems.sentence(("time", "duration_s"), message))
        return duration_s

    def _refuse_absurd_size(self, schema: ScenarioSchema) -> None:
        count = sum(entry.count or 1 for entry in schema.vehicles.values())
        pairs = count * count if "collision_distance_m" in schema.world else 0
        needed = count * BYTES_PER_VEHICLE + pairs * BYTES_PER_PAIR
        if needed > _memory():
            message = (
                f"{count} vehicles need about {needed / 1e9:.1f} GB of memory, more than the "
                f"{_memory() / 1e9:.1f} GB that a run may take here"
            )
            self.problems.lines.append(self.problems.sentence(("vehicles",), message))


def _memory() -> float:
    """What a run may take of this machine's memory, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * MEMORY_SHARE


def _leading_from(rung: str) -> str:
    fitting = [
        name for name in CONTROLLERS.names() if CONTROLLERS.find(name).consumes.__name__ == rung
    ]
    return f"Controllers from {rung}: {', '.join(fitting) or 'none is registered'}."


def _shifted(start: Start, spacing: Vec3, times: int) -> Start:
    return dataclasses.replace(
        start, position_world_m=start.position_world_m + spacing * float(times)
    )


def _check_recorded_bounds(table: Table, bounds: Mapping[str, tuple[float, float]]) -> None:
    for column, values in zip(table.columns, table.values.T, strict=True):
        low, high = bounds.get(column, (-float("inf"), float("inf")))
        outside = (values < low) | (values > high)
        if outside.any():
            row = int(outside.argmax())
            message = (
                f"{table.source}:{row + 2}: {column} = {values[row]:g} is not allowed; "
                f"the vehicle takes {low:g} to {high:g}"
            )
            raise ScenarioError(message)
