"""From an entry of a scenario's ``vehicles`` to vehicles."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import numpy as np

from kittiwake.actuators import FAULTS
from kittiwake.control import CONTROLLERS
from kittiwake.core.commands import MotorsOff
from kittiwake.core.component import Scheduled
from kittiwake.core.copies import fresh_copy, replicate_with
from kittiwake.core.errors import CascadeError, ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.estimation import ESTIMATORS
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance import AVOIDANCE, GUIDANCE
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.interfaces.dynamics import AbstractDynamics, AbstractFault
from kittiwake.interfaces.estimator import AbstractEstimator
from kittiwake.interfaces.guidance import AbstractAvoidance, AbstractGuidance
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.merging import merged
from kittiwake.scenario.problem_list import ProblemList
from kittiwake.scenario.problems import KeyPath
from kittiwake.scenario.schema import Repetition, VehicleSchema, WorldSettings, member_names
from kittiwake.scenario.starts import placed, shifted
from kittiwake.sensors import SENSORS
from kittiwake.vehicles import VEHICLES
from kittiwake.vehicles.model import VehicleModel
from kittiwake.world.environment import AbstractTurbulence
from kittiwake.world.world import World

# what an entry says of its vehicles' places and company, and not of what they are
ABOUT_PLACES = {"start", "count", "spacing_m", "grid", "partner", "team", "leader"}


@dataclass
class VehicleBuilder:
    """Builds the vehicles of one document, in a world with these settings and this turbulence.

    ``world`` is None where something of it was refused. ``sound`` are vehicles that were built and
    found sound, by what is written of them.
    """

    components: ComponentBuilder
    settings: WorldSettings
    world: World | None
    turbulence: Scheduled[AbstractTurbulence] | None
    sound: dict[str, Vehicle] = field(default_factory=dict)

    @property
    def problems(self) -> ProblemList:
        """Takes the mistakes."""
        return self.components.problems

    def build(self, name: str, entry: VehicleSchema) -> dict[str, Vehicle]:
        """An entry's vehicles by name: itself, or counted from NAME-1 on."""
        path = ("vehicles", name)
        vehicle = self._vehicle(entry, path)
        if vehicle is None or entry.count is None:
            return {} if vehicle is None else self._ready({name: vehicle}, path)
        written = {"spacing_m": entry.spacing_m, "grid": entry.grid}
        given = {key: value for key, value in written.items() if value is not None}
        repetition = self.components.settings(Repetition, given, path) or Repetition()
        names = member_names(name, entry.count)
        places_m = shifted(vehicle.start, repetition.places_m(entry.count))
        beyond = ~np.isfinite(places_m).all(axis=1)
        if beyond.any():
            message = f"{names[beyond.argmax()]} would start beyond all numbers; write smaller ones"
            self.problems.note((*path, "spacing_m"), message)
            return {}
        places = map(jax.tree.structure(Vec3.zero()).unflatten, places_m.tolist())
        starts = replicate_with(vehicle.start, "position_world_m", places)
        return self._ready(
            dict(zip(names, replicate_with(vehicle, "start", starts), strict=True)), path
        )

    def _vehicle(self, entry: VehicleSchema, path: KeyPath) -> Vehicle | None:
        """The vehicle, or None after noting all that is wrong with it.

        What was built of the same words before is copied: to build it anew takes milliseconds. An
        entry of which there was more to say, such as the files that it reads, is no such model.
        """
        written = _written(entry)
        if written in self.sound:
            return self._another(self.sound[written], entry, path)
        before = self._said()
        vehicle = self._built(entry, path)
        if vehicle is not None and self._said() == before:
            self.sound[written] = vehicle
        return vehicle

    def _another(self, like: Vehicle, entry: VehicleSchema, path: KeyPath) -> Vehicle | None:
        """A vehicle that shares no component with the one that it is like, elsewhere."""
        given = placed(entry.start, like.dynamics, self.settings.ground_z_m)
        start = self.components.settings(Start, given, (*path, "start"))
        if start is None:
            return None
        with self.problems.noting((*path, "start")):
            like.dynamics.check_start(start)
        return dataclasses.replace(fresh_copy(like), start=start, turbulence=like.turbulence)

    def _said(self) -> tuple[int, ...]:
        """How much there is to say of what was built."""
        said = self.components
        return tuple(map(len, (self.problems.lines, said.tables, said.written_out, said.notes)))

    def _built(self, entry: VehicleSchema, path: KeyPath) -> Vehicle | None:
        model = self._model(entry, path)
        dynamics = None if model is None else self._dynamics(model, entry, path)
        given = placed(entry.start, dynamics, self.settings.ground_z_m)
        start = self.components.settings(Start, given, (*path, "start"))
        sensors = {
            key: self.components.instrument(sensor, (*path, "sensors", key))
            for key, sensor in entry.sensors.items()
        }
        estimator = self.components.scheduled(ESTIMATORS, entry.estimator, (*path, "estimator"))
        guidance = self.components.scheduled(GUIDANCE, entry.guidance, (*path, "guidance"))
        avoidance = self._avoidance(entry, path)
        controllers = self._controllers(entry, model, dynamics, path)
        faults = self.components.listed(FAULTS, entry.faults, (*path, "faults"))
        self._check_senses(entry, sensors, estimator, path)
        if model is None:
            return None
        self._check_faults(faults, model.dynamics, dynamics, path)
        bridges = self._bridges(model, dynamics, path)
        if guidance is not None:
            self._check_cascade(
                guidance, avoidance, controllers, bridges, model.dynamics.command_type, path
            )
        if dynamics is not None:
            self._check_dynamics(dynamics, start, path)
        cascade = (*(built for _, built in controllers), *bridges)
        parts = (start, estimator, *cascade, *avoidance, *faults, *sensors.values())
        if dynamics is None or guidance is None or self.turbulence is None or None in parts:
            return None
        return Vehicle(
            model=entry.model,
            dynamics=dynamics,
            start=start,
            turbulence=self.turbulence,
            sensors=sensors,
            estimator=estimator,
            guidance=guidance,
            cascade=cascade,
            avoidance=avoidance,
            faults=tuple(sorted(faults, key=lambda fault: fault.at_s)),
        )

    def _ready(self, members: dict[str, Vehicle], path: KeyPath) -> dict[str, Vehicle]:
        """The vehicles of an entry with estimator, guidance and avoidance as they will be flown."""
        if self.world is None:
            return members
        rate_hz = self.components.rate_hz
        vehicle = next(iter(members.values()))
        common = BuildContext(
            *(self.world, vehicle.dynamics, vehicle.start),
            {key: part.component.sensor for key, part in vehicle.sensors.items()},
            {key: part.every / rate_hz for key, part in vehicle.sensors.items()},
        )
        situations = [common._replace(start=member.start) for member in members.values()]
        estimators = self._prepared(vehicle.estimator, situations, (*path, "estimator"))
        guidances = self._prepared(vehicle.guidance, situations, (*path, "guidance"))
        avoidances = [
            self._prepared(part, situations, (*path, "avoidance", i))
            for i, part in enumerate(vehicle.avoidance)
        ]
        prepared = [estimators, guidances, *avoidances]
        if [] in prepared:
            return {}
        known = (vehicle.estimator, vehicle.guidance, *vehicle.avoidance)
        if all(each is one for one, parts in zip(known, prepared, strict=True) for each in parts):
            return members
        ready: dict[str, Vehicle] = {}
        before: Vehicle | None = None
        for i, (name, member) in enumerate(members.items()):
            avoidance = tuple(parts[i] for parts in avoidances)
            parts = {"estimator": estimators[i], "guidance": guidances[i], "avoidance": avoidance}
            if before is not None:
                parts = {key: _shared(getattr(before, key), own) for key, own in parts.items()}
            before = ready[name] = dataclasses.replace(member, **parts)
        return ready

    def _prepared(
        self, part: Scheduled[Any], situations: list[BuildContext], path: KeyPath
    ) -> list[Scheduled[Any]]:
        """A part for each context, or nothing after noting why there is none for one of them.

        Where there is nothing to prepare it is the same object, so that vehicles still share it.
        """
        ready: list[Scheduled[Any]] = []
        component = part.component
        prepare = component.prepare  # equinox makes a method anew wherever it is named
        with self.problems.noting(path):
            try:
                for context in situations:
                    prepared = prepare(context)
                    unchanged = prepared is component
                    own = part if unchanged else dataclasses.replace(part, component=prepared)
                    ready.append(own)
            except ValueError as error:
                raise ScenarioError(str(error)) from None
            return ready
        return []

    def _avoidance(self, entry: VehicleSchema, path: KeyPath) -> tuple[Any, ...]:
        """What the vehicle avoids by, None for each that was refused."""
        written, key = entry.avoidance, (*path, "avoidance")
        if not isinstance(written, list):
            return (self.components.scheduled(AVOIDANCE, written, key),)
        return tuple(
            self.components.scheduled(AVOIDANCE, one, (*key, i)) for i, one in enumerate(written)
        )

    def _model(self, entry: VehicleSchema, path: KeyPath) -> VehicleModel | None:
        if "model" in entry.model_fields_set:  # else the schema has noted it
            with self.problems.noting((*path, "model")):
                return VEHICLES.find(entry.model)
        return None

    def _dynamics(self, model: VehicleModel, entry: VehicleSchema, path: KeyPath) -> Any:
        key = (*path, "parameters")
        given = self.components.with_mass_properties(model.dynamics, entry.parameters, key)
        parameters, shown_by = merged(model.parameters(), given), f"kittiwake list {entry.model}"
        return self.components.settings(model.dynamics, parameters, key, shown_by)

    def _check_dynamics(self, dynamics: AbstractDynamics, start: Any, path: KeyPath) -> None:
        """Notes what the vehicle itself cannot do."""
        with self.problems.noting((*path, "start")):
            if start is not None:
                dynamics.check_start(start)
        with self.problems.noting((*path, "parameters")):
            dynamics.check_rate(self.components.rate_hz, self.settings.gravity_mps2)

    def _check_faults(
        self,
        faults: tuple[AbstractFault | None, ...],
        kind: type[AbstractDynamics],
        dynamics: AbstractDynamics | None,
        path: KeyPath,
    ) -> None:
        """Notes faults of what the vehicle does not have."""
        for i, fault in enumerate(faults):
            with self.problems.noting((*path, "faults", i)):
                if fault is not None:
                    _refuse_unfit(fault, kind)
                    if dynamics is not None:
                        fault.check(dynamics.command_bounds)

    def _check_senses(
        self,
        entry: VehicleSchema,
        sensors: dict[str, Scheduled[Instrument] | None],
        estimator: Scheduled[AbstractEstimator] | None,
        path: KeyPath,
    ) -> None:
        """Notes sensors of what the world does not have, and estimators without their sensors."""
        kinds: dict[str, Any] = {}
        for key, sensor in sensors.items():
            if sensor is None:
                kinds[key] = self.components.stand_in(SENSORS, entry.sensors[key])
                continue
            kinds[key] = sensor.component.sensor
            with self.problems.noting((*path, "sensors", key)):
                if self.world is not None:
                    sensor.component.sensor.check(self.world)
        if estimator is None or None in kinds.values():
            return
        with self.problems.noting((*path, "estimator")):
            try:
                estimator.component.check(kinds)
            except ScenarioError as error:
                raise ScenarioError(_with_kinds_of_sensors(str(error))) from None

    def _bridges(
        self, model: VehicleModel, dynamics: AbstractDynamics | None, path: KeyPath
    ) -> tuple[Any, ...]:
        """The controllers that the vehicle brings itself, by default where its parameters are bad.

        A None if they allow none.
        """
        key = (*path, "parameters")
        unnoted = self.components.unnoted()
        known = dynamics or unnoted.settings(model.dynamics, model.parameters(), key)
        if known is None:
            return (None,)
        return tuple(self._controller(name, model, known, key) for name in model.bridges)

    def _controllers(
        self,
        entry: VehicleSchema,
        model: VehicleModel | None,
        dynamics: AbstractDynamics | None,
        path: KeyPath,
    ) -> list[tuple[Any, Any]]:
        """The scenario's controllers as they are written and built, None for each refused one."""
        key, given = (*path, "controller"), entry.controller
        if given is None:
            given = [] if model is None else model.default_controller
        if isinstance(given, list):
            places = [((*key, i), written) for i, written in enumerate(given)]
        else:
            places = [(key, given)]
        return [
            (written, self._controller(written, model, dynamics, place))
            for place, written in places
        ]

    def _controller(
        self,
        written: Any,
        model: VehicleModel | None,
        dynamics: AbstractDynamics | None,
        path: KeyPath,
    ) -> Any:
        """A controller for this vehicle, or None after noting what is wrong with it.

        What the scenario does not say of it the vehicle's data do, and else the vehicle itself.
        """
        name = written.get("type") if isinstance(written, dict) else written
        if model is None or dynamics is None or not isinstance(name, str):
            return self.components.scheduled(CONTROLLERS, written, path)
        given = written if isinstance(written, dict) else {"type": written}
        with self.problems.noting(path):
            fitted = {}
            if name in CONTROLLERS.entries:
                fitted = CONTROLLERS.find(name).with_vehicle_defaults(
                    dynamics, self.settings.gravity_mps2
                )
            known = merged(fitted, model.gains(name))
            return self.components.scheduled(CONTROLLERS, merged(known, given), path)
        return None

    def _check_cascade(
        self,
        guidance: Scheduled[AbstractGuidance],
        avoidance: tuple[Any, ...],
        controllers: list[tuple[Any, Any]],
        bridges: tuple[Any, ...],
        native: type,
        path: KeyPath,
    ) -> None:
        """Notes a missing rung, where it is known of all controllers from where they lead where.

        Also what avoids on a rung that no way leads over.
        """
        # of a refused one its class says where it would lead
        known = [
            command_type.component if command_type else _kind_of(written)
            for written, command_type in controllers
        ]
        if None in (*known, *bridges):
            return
        levels = [*known, *(bridge.component for bridge in bridges)]
        passed: set[type] = set()
        with self.problems.noting((*path, "controller")):
            try:
                for start in guidance.component.command_types():
                    way = cascade_path(levels, start, native)
                    passed |= {start, *(levels[i].produces for i in way)}
            except CascadeError as error:
                message = f"{error} {_leading_from(error.command_type)}"
                raise ScenarioError(message) from None
        for i, part in enumerate(avoidance):
            if part is not None and passed and part.component.command_type not in passed:
                self.problems.note((*path, "avoidance", i), _off_the_way(part.component, passed))


def _written(entry: VehicleSchema) -> str:
    """The words of an entry, without where its vehicles are and with whom."""
    return repr({key: said for key, said in vars(entry).items() if key not in ABOUT_PLACES})


def written_controllers(entry: Mapping[str, Any]) -> list[Any]:
    """The controllers that a sound entry names, or its model's own one."""
    given = entry.get("controller")
    if given is None:
        given = VEHICLES.find(entry["model"]).default_controller
    return given if isinstance(given, list) else [given]


def _kind_of(written: Any) -> Any:
    """The class of a controller as a scenario names it; None if there is none of this name."""
    name = written.get("type") if isinstance(written, dict) else written
    if not isinstance(name, str) or name not in CONTROLLERS.entries:
        return None
    return CONTROLLERS.find(name)


def _shared(one: Any, other: Any) -> Any:
    """The first of two equal things, so that vehicles share what was prepared alike for them."""
    return one if eqx.tree_equal(one, other, typematch=True) else other


def _refuse_unfit(fault: AbstractFault, vehicle: type[AbstractDynamics]) -> None:
    if fault.command is vehicle.command_type:
        return
    fitting = [name for name in FAULTS.names() if FAULTS.find(name).command is vehicle.command_type]
    message = (
        f"{FAULTS.name_of(type(fault))} breaks {fault.command.__name__}, and this vehicle is "
        f"commanded by {vehicle.command_type.__name__}; faults of such a vehicle: "
        f"{', '.join(fitting) or 'none is registered'}"
    )
    raise ScenarioError(message)


def _with_kinds_of_sensors(said: str) -> str:
    """A sentence with kinds of sensors in place of the classes of what they measure."""
    kinds: dict[str, list[str]] = {}
    for name in SENSORS.names():
        kinds.setdefault(SENSORS.find(name).measures.__name__, []).append(name)
    for measured, names in kinds.items():
        told = " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        said = said.replace(f"a sensor of {measured}", f"a sensor of kind {told}")
        said = said.replace(f"gives {measured}", f"measures what {told} does")
    return said


def _off_the_way(avoidance: AbstractAvoidance, passed: set[type]) -> str:
    command_type = avoidance.command_type.__name__
    ways = ", ".join(sorted(kind.__name__ for kind in passed - {MotorsOff}))
    name, there = (
        AVOIDANCE.name_of(type(avoidance)),
        f"{_leading_to(command_type)} {_leading_from(command_type)}",
    )
    return (
        f"{name} changes {command_type}, and the cascade passes {ways}. Write controllers that "
        f"pass {command_type}. {there}"
    )


def _leading_to(command_type: str) -> str:
    fitting = [
        name
        for name in CONTROLLERS.names()
        if CONTROLLERS.find(name).produces.__name__ == command_type
    ]
    return f"Controllers to {command_type}: {', '.join(fitting) or 'none is registered'}."


def _leading_from(command_type: str) -> str:
    fitting = [
        name
        for name in CONTROLLERS.names()
        if CONTROLLERS.find(name).consumes.__name__ == command_type
    ]
    return f"Controllers from {command_type}: {', '.join(fitting) or 'none is registered'}."
