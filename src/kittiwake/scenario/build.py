"""From a document to a fleet: names looked up, parameters checked, rungs connected."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kittiwake.actuators import FAULTS
from kittiwake.control import CONTROLLERS
from kittiwake.core.component import AbstractController, AbstractDynamics
from kittiwake.core.errors import LadderError, ScenarioError, did_you_mean
from kittiwake.core.kinematics import Start
from kittiwake.core.ladder import ladder_path
from kittiwake.core.recording import Recording
from kittiwake.core.registry import Registry
from kittiwake.core.units import stored_name
from kittiwake.core.vehicle import Scheduled, Vehicle
from kittiwake.core.world import World
from kittiwake.environment import (
    ATMOSPHERES,
    CURRENTS,
    INTERACTIONS,
    PLATFORMS,
    REGIONS,
    TURBULENCE,
    WINDS,
)
from kittiwake.environment.proximity import Proximity
from kittiwake.estimation import ESTIMATORS
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance import GUIDANCE
from kittiwake.guidance.playback import Playback
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.document import Document
from kittiwake.scenario.near import near_pairs
from kittiwake.scenario.parameters import build_component, parameters_model
from kittiwake.scenario.problem_list import ProblemList
from kittiwake.scenario.problems import MAX_PROBLEMS, KeyPath, render_problems
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import (
    Repetition,
    ScenarioSchema,
    TimeSettings,
    VehicleSchema,
    WorldSettings,
)
from kittiwake.scenario.size import check_duration, check_fleet_size
from kittiwake.sensors import SENSORS
from kittiwake.sim.schedule import steps_between
from kittiwake.vehicles import VEHICLES
from kittiwake.vehicles.model import VehicleModel

# feet that start deeper in the ground would be thrown out of it
MAX_DEPTH_M = 0.01
WORLD_MAPPINGS = {"regions": REGIONS, "platforms": PLATFORMS}
WORLD_ENTRIES = {
    "wind": (WINDS, "none"),
    "current": (CURRENTS, "none"),
    "atmosphere": (ATMOSPHERES, "isa"),
}


def build(document: Document, folder: Path) -> Scenario:
    """The scenario that a document describes; ``folder`` is where its own file names start.

    Raises:
        ScenarioError: one line for each mistake, with the place in the file.
    """
    problems = ProblemList(document.where)
    schema = _schema(document, problems)
    time = TimeSettings()
    with problems.noting(("time",), placed=True):
        time = build_component(TimeSettings, schema.time, document.where, ("time",))
    components = ComponentBuilder(document, folder, float(time.rate_hz), problems)
    return _Builder(document, problems, components).scenario(schema, time)


def _schema(document: Document, problems: ProblemList) -> ScenarioSchema:
    """The file's parts; what is wrong with some is noted, and the sound ones are looked at too."""
    try:
        return ScenarioSchema.model_validate(document.data)
    except ValidationError as error:
        problems.lines += render_problems(error, document.where, model=ScenarioSchema).splitlines()
        broken = [details["loc"] for details in error.errors(include_url=False)]
    given = document.data
    sound = {key: value for key, value in given.items() if (key,) not in {p[:1] for p in broken}}
    vehicles = given.get("vehicles")
    kept = {
        name: VehicleSchema.model_validate(entry)
        for name, entry in (vehicles.items() if isinstance(vehicles, dict) else ())
        if not any(p[:2] in {("vehicles",), ("vehicles", name)} for p in broken)
    }
    defaults = ScenarioSchema(name="unnamed", vehicles={"unnamed": VehicleSchema(model="")})
    return defaults.model_copy(update={**sound, "vehicles": kept})


@dataclass
class _Builder:
    document: Document
    problems: ProblemList
    components: ComponentBuilder

    def scenario(self, schema: ScenarioSchema, time: TimeSettings) -> Scenario:
        count = sum(entry.count or 1 for entry in schema.vehicles.values())
        try:
            check_fleet_size(
                count, paired=bool({"collision_distance_m", "interactions"} & {*schema.world})
            )
        except ScenarioError as error:
            # building them to look for more mistakes would take what was just refused
            self.problems.lines.append(self.problems.sentence(("vehicles",), str(error)))
            self.problems.refuse()
        settings, world, turbulence = self._world(schema)
        vehicles: dict[str, Vehicle] = {}
        for name, entry in schema.vehicles.items():
            for member, vehicle in self._vehicles(name, entry, settings, turbulence).items():
                if member in vehicles:
                    self.problems.lines.append(
                        self.problems.sentence(
                            ("vehicles", name), f"there are two vehicles '{member}'"
                        )
                    )
                vehicles[member] = vehicle
        duration_s = self._duration_s(time, vehicles)
        log_every, rate_hz = 1, float(time.rate_hz)
        with self.problems.noting(("time", "log_rate_hz")):
            log_every = steps_between(rate_hz, time.log_rate_hz)
        self.problems.refuse()
        assert world is not None
        if schema.lost_vehicle == "fail":
            self._refuse_lost_starts(world, vehicles)
        return Scenario(
            document=self.document,
            name=schema.name,
            description=schema.description,
            seed=schema.seed,
            duration_s=duration_s,
            rate_hz=rate_hz,
            log_every=log_every,
            fails_when_lost=schema.lost_vehicle == "fail",
            world=world,
            origin=settings.origin,
            vehicles=vehicles,
            tables=self.components.tables,
        )

    def _refuse_lost_starts(self, world: World, vehicles: Mapping[str, Vehicle]) -> None:
        """Refuses vehicles that would be lost before they have moved."""
        starts_m = {name: v.start.position_world_m for name, v in vehicles.items()}
        found = [
            f"{name}: it starts where {limit.violation()}"
            for name, start_m in starts_m.items()
            for limit in world.area.limits(start_m)
            if not limit.holds
        ]
        for name, vehicle in vehicles.items():
            height_m = vehicle.dynamics.standing_height_m
            if height_m is None:
                continue
            stands_z_m = world.ground_z_m + height_m
            below_m = stands_z_m - starts_m[name].z
            if below_m > MAX_DEPTH_M:
                found.append(
                    f"{name}: its feet start {below_m:.3g} m below the ground (world.ground_z_m); "
                    f"it stands at a z of {stands_z_m:.6g}"
                )
        if world.collision_distance_m:
            found += [
                f"{one} and {other} start {apart_m:.6g} m apart, which is not at least "
                f"{world.collision_distance_m:g} (world.collision_distance_m)"
                for one, other, apart_m in islice(
                    near_pairs(starts_m, float(world.collision_distance_m)), MAX_PROBLEMS
                )
            ]
        for said in found[:MAX_PROBLEMS]:
            advice = "move the start, or write lost_vehicle: continue"
            self.problems.lines.append(self.problems.sentence(("vehicles",), f"{said}; {advice}"))
        self.problems.refuse()

    def _settings(self, kind: type[Any], data: Mapping[str, Any], path: KeyPath) -> Any:
        with self.problems.noting(path, placed=True):
            return build_component(kind, data, self.document.where, path)
        return None

    def _world(self, schema: ScenarioSchema) -> tuple[WorldSettings, World | None, Any]:
        """Settings, world and turbulence, the last two None where something was refused."""
        data = dict(schema.world)
        parts = {
            key: self.components.component(registry, data.pop(key, default), ("world", key))
            for key, (registry, default) in WORLD_ENTRIES.items()
        }
        turbulence = self.components.scheduled(
            TURBULENCE, data.pop("turbulence", "none"), ("world", "turbulence")
        )
        named = {
            key: self._named(registry, data.pop(key, {}), ("world", key))
            for key, registry in WORLD_MAPPINGS.items()
        }
        interactions = self._listed(
            INTERACTIONS, data.pop("interactions", []), ("world", "interactions")
        )
        self._refuse_unknown_world_keys(data)
        settings = self._settings(WorldSettings, data, ("world",)) or WorldSettings()
        distance = settings.collision_distance_m
        if None in (
            *parts.values(),
            *interactions,
            *(p for group in named.values() for p in group),
        ):
            return settings, None, turbulence
        if distance is not None and not any(isinstance(i, Proximity) for i in interactions):
            interactions = (*interactions, Proximity())
        world = World(
            gravity_mps2=settings.gravity_mps2,
            ground_z_m=settings.ground_z_m,
            origin_altitude_m=settings.origin.altitude_m,
            atmosphere=parts["atmosphere"],
            wind=parts["wind"],
            current=parts["current"],
            area=settings.area,
            collision_distance_m=distance or 0.0,
            interactions=interactions,
            **named,
        )
        return settings, world, turbulence

    def _refuse_unknown_world_keys(self, data: dict[str, Any]) -> None:
        """Takes unknown keys out, noted with the components of the world among what is allowed."""
        settings = parameters_model(WorldSettings).model_fields
        for key in [key for key in data if key not in settings]:
            del data[key]
            components = (*WORLD_ENTRIES, *WORLD_MAPPINGS, "turbulence", "interactions")
            known = did_you_mean(key, [*settings, *components])
            sentence = self.problems.sentence(("world", key), f"there is no such key. {known}")
            self.problems.lines.append(sentence)

    def _named(self, registry: Registry, entries: Any, path: KeyPath) -> tuple[Any, ...]:
        """Components by names of the user's own, None for each that was refused."""
        if not isinstance(entries, dict):
            message = f"write names, and under each the {registry.noun} that it stands for"
            self.problems.lines.append(self.problems.sentence(path, message))
            return (None,)
        return tuple(
            self.components.component(registry, entry, (*path, name))
            for name, entry in entries.items()
        )

    def _listed(self, registry: Registry, entries: Any, path: KeyPath) -> tuple[Any, ...]:
        """Components in a list, None for each that was refused."""
        if not isinstance(entries, list):
            message = f"write a list; each {registry.noun} is one of {', '.join(registry.names())}"
            self.problems.lines.append(self.problems.sentence(path, message))
            return (None,)
        return tuple(
            self.components.component(registry, entry, (*path, i))
            for i, entry in enumerate(entries)
        )

    def _vehicles(
        self, name: str, entry: VehicleSchema, world: WorldSettings, turbulence: Any
    ) -> dict[str, Vehicle]:
        """An entry's vehicles by name: itself, or counted from NAME-1 on."""
        path = ("vehicles", name)
        vehicle = self._vehicle(entry, path, world, turbulence)
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
        self, entry: VehicleSchema, path: KeyPath, world: WorldSettings, turbulence: Any
    ) -> Vehicle | None:
        with self.problems.noting((*path, "model")):
            model: VehicleModel = VEHICLES.find(entry.model)
            parameters_path = (*path, "parameters")
            given = self.components.with_mass_properties(
                model.dynamics, entry.parameters, parameters_path
            )
            dynamics = self._settings(
                model.dynamics, merged(model.parameters(), given), parameters_path
            )
            start = self._settings(Start, _placed(entry, dynamics, world), (*path, "start"))
            sensors = {
                key: self.components.scheduled(SENSORS, sensor, (*path, "sensors", key))
                for key, sensor in entry.sensors.items()
            }
            estimator = self.components.scheduled(ESTIMATORS, entry.estimator, (*path, "estimator"))
            guidance = self.components.scheduled(GUIDANCE, entry.guidance, (*path, "guidance"))
            bridges = self._bridges(model, dynamics, world.gravity_mps2, path)
            ladder = (*self._ladder(entry, model, path), *bridges)
            faults = self._listed(FAULTS, entry.faults, (*path, "faults"))
            parts = (turbulence, dynamics, start, estimator, guidance, *ladder, *faults)
            if None in (*parts, *sensors.values()):
                return None
            self._check_faults(faults, dynamics, path)
            with self.problems.noting((*path, "start")):
                dynamics.check_start(start)
            with self.problems.noting(parameters_path):
                dynamics.check_rate(self.components.rate_hz, world.gravity_mps2)
            self._check_ladder(guidance.component, ladder, dynamics, path)
            return Vehicle(
                model=entry.model,
                dynamics=dynamics,
                start=start,
                turbulence=turbulence,
                sensors=sensors,
                estimator=estimator,
                guidance=guidance,
                ladder=ladder,
                faults=tuple(sorted(faults, key=lambda fault: fault.at_s)),
            )
        return None

    def _check_faults(
        self, faults: tuple[Any, ...], dynamics: AbstractDynamics, path: KeyPath
    ) -> None:
        """Notes faults of what the vehicle does not have."""
        for i, fault in enumerate(faults):
            with self.problems.noting((*path, "faults", i)):
                if fault.signal is dynamics.native:
                    fault.check(dynamics.command_bounds)
            if fault.signal is not dynamics.native:
                fitting = [
                    name for name in FAULTS.names() if FAULTS.find(name).signal is dynamics.native
                ]
                message = (
                    f"it breaks what {fault.signal.__name__} command, and this vehicle is "
                    f"commanded by {dynamics.native.__name__}. Faults of such a vehicle: "
                    f"{', '.join(fitting) or 'none is registered'}."
                )
                self.problems.lines.append(self.problems.sentence((*path, "faults", i), message))

    def _bridges(
        self,
        model: VehicleModel,
        dynamics: AbstractDynamics | None,
        gravity_mps2: Real,
        path: KeyPath,
    ) -> tuple[Any, ...]:
        """The controllers that the vehicle brings itself, a None if its parameters allow none."""
        if dynamics is None:
            return ()
        with self.problems.noting((*path, "parameters")):
            return tuple(Scheduled(bridge) for bridge in model.bridges(dynamics, gravity_mps2))
        return (None,)

    def _ladder(self, entry: VehicleSchema, model: VehicleModel, path: KeyPath) -> tuple[Any, ...]:
        """The scenario's controllers, None for each that was refused."""
        given = entry.controller if entry.controller is not None else model.default_controller
        key = (*path, "controller")
        if isinstance(given, list):
            return tuple(
                self.components.scheduled(CONTROLLERS, c, (*key, i)) for i, c in enumerate(given)
            )
        return (self.components.scheduled(CONTROLLERS, given, key),)

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

    def _duration_s(self, time: TimeSettings, vehicles: Mapping[str, Vehicle]) -> float:
        ends = [vehicle.guidance.component.end_s() for vehicle in vehicles.values()]
        finite = [end for end in ends if end]
        if time.duration_s is None and not finite:
            if self.problems.lines:  # the guidance that was refused may have said it
                return 0.0
            message = "is missing; write how long to fly, such as duration_s: 60"
            self.problems.lines.append(self.problems.sentence(("time", "duration_s"), message))
            return 0.0
        duration_s = float(time.duration_s if time.duration_s is not None else max(finite))
        with self.problems.noting(("time", "duration_s")):
            check_duration(duration_s, float(time.rate_hz))
        return duration_s


def _placed(
    entry: VehicleSchema, dynamics: AbstractDynamics | None, world: WorldSettings
) -> dict[str, Any]:
    """A start as it is given; without a position, a vehicle with feet stands at the origin."""
    height_m = None if dynamics is None else dynamics.standing_height_m
    if height_m is None or "position_world_m" in entry.start:
        return entry.start
    return {"position_world_m": [0.0, 0.0, float(world.ground_z_m + height_m)], **entry.start}


def merged(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with those given in place of the defaults, inside nested ones too.

    A parameter given in another unit replaces its default all the same; a nested one of another
    ``type`` replaces it whole.
    """
    names = {stored_name(key) for key in given}
    kept = {key: value for key, value in defaults.items() if stored_name(key) not in names}
    for key, value in given.items():
        default = defaults.get(key)
        kept[key] = _merged_inside(default, value)
    return kept


def _merged_inside(default: Any, given: Any) -> Any:
    if not (isinstance(default, Mapping) and isinstance(given, Mapping)):
        return given
    kind = default.get("type")
    return merged(default, given) if given.get("type", kind) == kind else given


def _leading_from(rung: str) -> str:
    fitting = [
        name for name in CONTROLLERS.names() if CONTROLLERS.find(name).consumes.__name__ == rung
    ]
    return f"Controllers from {rung}: {', '.join(fitting) or 'none is registered'}."


def _shifted(start: Start, spacing: Vec3, times: int) -> Start:
    return dataclasses.replace(
        start, position_world_m=start.position_world_m + spacing * float(times)
    )


def _check_recorded_bounds(table: Recording, bounds: Mapping[str, tuple[Real, Real]]) -> None:
    for column, values in zip(table.columns, table.values.T, strict=True):
        low, high = map(float, bounds.get(column, (-float("inf"), float("inf"))))
        outside = (values < low) | (values > high)
        if outside.any():
            row = int(outside.argmax())
            message = (
                f"{table.source}: {column} = {values[row]:g} at time_s = {table.time_s[row]:g} is "
                f"not allowed; the vehicle takes {low:g} to {high:g}"
            )
            raise ScenarioError(message)
