"""Builder of vehicles from the entries of a scenario's ``vehicles``."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from kittiwake.actuators import FAULTS
from kittiwake.core.commands import MotorsOff, PositionYaw
from kittiwake.core.component import Scheduled
from kittiwake.core.copies import fresh_copy, replicate_with
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance import AVOIDANCE
from kittiwake.interfaces.dynamics import AbstractDynamics, AbstractFault
from kittiwake.interfaces.estimator import AbstractEstimator
from kittiwake.interfaces.guidance import AbstractAvoidance, AbstractGuidance
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.cascade_builder import (
    CascadeBuilder,
    accepted_types,
    given_controllers,
    valid_parts,
)
from kittiwake.scenario.components import ComponentBuilder
from kittiwake.scenario.merging import merged
from kittiwake.scenario.own_components.builder import OwnComponentBuilder
from kittiwake.scenario.own_components.entries import (
    ESTIMATOR,
    GUIDE,
    SENSOR,
    Role,
    is_code,
    own_or_unfit,
    refusal,
)
from kittiwake.scenario.problems import KeyPath, ProblemList
from kittiwake.scenario.recorded_flight import RecordedFlight
from kittiwake.scenario.schema import (
    Repetition,
    VehicleSchema,
    WorldSettings,
    entry_vehicle_names,
)
from kittiwake.scenario.size import steps_in
from kittiwake.scenario.starts import default_start, shifted_positions
from kittiwake.scenario.vehicle_preparation import VehiclePreparation
from kittiwake.sensors import SENSORS
from kittiwake.sim.plain_python.host_object import HostObject
from kittiwake.sim.plain_python.hosts import is_loaded, vehicle_with_hosts
from kittiwake.sim.plain_python.python_component import OwnSetting
from kittiwake.vehicles import VEHICLES
from kittiwake.vehicles.model import VehicleModel
from kittiwake.world.environment import AbstractTurbulence
from kittiwake.world.world import WorldModel

# the commands under way are moved at each step
MAX_DELAY_STEPS = 1000
# keys about position and partners, which do not affect the vehicle itself
PLACEMENT_KEYS = {"start", "count", "spacing_m", "grid", "partner", "team", "leader"}


@dataclass(frozen=True)
class BuiltVehicles:
    """Valid vehicles by the text of their entry, and that for which they were built.

    Attributes:
        setting: the physics rate and gravity, of which all but starts and sensors depend alone.
        by_entry: the vehicles, before they were prepared for their world.
    """

    setting: tuple[float, float]
    by_entry: dict[str, AssembledVehicle] = field(default_factory=dict)


@dataclass
class VehicleBuilder:
    """Builder of the vehicles of one document, in a world with these settings and turbulence.

    ``world`` is None if a part of it is invalid. ``former`` are the vehicles of a scenario that was
    built before, which are used again where entry and setting are the same.
    """

    components: ComponentBuilder
    settings: WorldSettings
    world: WorldModel | None
    turbulence: Scheduled[AbstractTurbulence] | None
    former: BuiltVehicles | None = None

    def __post_init__(self) -> None:
        gravity_mps2 = float(self.settings.gravity_mps2)
        self.built = BuiltVehicles((self.components.rate_hz, gravity_mps2))

    @property
    def problems(self) -> ProblemList:
        """List that collects the mistakes."""
        return self.components.problems

    @property
    def own(self) -> OwnComponentBuilder:
        """Builder of components of the user's own."""
        return OwnComponentBuilder(self.components, float(self.settings.gravity_mps2))

    def build(self, name: str, entry: VehicleSchema) -> dict[str, AssembledVehicle]:
        """Return an entry's vehicles by name: the entry's own, or numbered from NAME-1."""
        path = ("vehicles", name)
        vehicle = self._vehicle(entry, path)
        if vehicle is None or entry.count is None:
            return {} if vehicle is None else self._prepared({name: vehicle}, path)
        written = {"spacing_m": entry.spacing_m, "grid": entry.grid}
        given = {key: value for key, value in written.items() if value is not None}
        repetition = self.components.settings(Repetition, given, path) or Repetition()
        names = entry_vehicle_names(name, entry.count)
        positions_m = shifted_positions(vehicle.start, repetition.offsets_m(entry.count))
        beyond = ~np.isfinite(positions_m).all(axis=1)
        if beyond.any():
            message = f"{names[beyond.argmax()]} would start at infinity; write smaller numbers"
            self.problems.add((*path, "spacing_m"), message)
            return {}
        east, north, up = positions_m.T.tolist()
        places = replicate_with(Vec3.zero(), x=east, y=north, z=up)
        starts = replicate_with(vehicle.start, position_world_m=places)
        vehicles = dict(zip(names, replicate_with(vehicle, start=starts), strict=True))
        return self._prepared(vehicles, path)

    def _prepared(
        self, vehicles: dict[str, AssembledVehicle], path: KeyPath
    ) -> dict[str, AssembledVehicle]:
        """Return the vehicles of an entry, each with its own objects in plain Python, prepared."""
        if next(iter(vehicles.values())).on_host:
            vehicles = {
                name: vehicle_with_hosts(vehicle, name, partial(_host_of, vehicle))
                for name, vehicle in vehicles.items()
            }
        if self.world is None:
            return vehicles
        preparation = VehiclePreparation(self.world, self.components.rate_hz, self.problems, path)
        return preparation.prepared(vehicles)

    def _vehicle(self, entry: VehicleSchema, path: KeyPath) -> AssembledVehicle | None:
        """Return the vehicle, or None after collecting all mistakes in its entry.

        A vehicle with an equal entry is copied, as building one takes milliseconds. An entry with
        notes or files is built again.
        """
        written = _written(entry)
        if written in self.built.by_entry:
            vehicle = self._at_start(self.built.by_entry[written], entry, path)
            if vehicle is None:
                return None
            # all vehicles of a world share its turbulence
            return dataclasses.replace(fresh_copy(vehicle), turbulence=vehicle.turbulence)
        before = self._record_counts()
        former = self._former(written)
        if former is None:
            vehicle = self._built(entry, path)
        else:
            self._check_world(former.sensors, path)
            vehicle = self._at_start(former, entry, path)
        if vehicle is not None and self._record_counts() == before:
            self.built.by_entry[written] = vehicle
        return vehicle

    def _former(self, written: str) -> AssembledVehicle | None:
        """Return the vehicle of the former scenario with this entry, if it can be used again."""
        if self.former is None or self.former.setting != self.built.setting:
            return None
        vehicle = self.former.by_entry.get(written)
        # objects in plain Python have states of their own
        return None if vehicle is None or vehicle.on_host else vehicle

    def _at_start(
        self, original: AssembledVehicle, entry: VehicleSchema, path: KeyPath
    ) -> AssembledVehicle | None:
        """Return a vehicle at another start and in the turbulence of this world."""
        given = default_start(entry.start, original.dynamics, self.settings.ground_z_m)
        start = self.components.settings(Start, given, (*path, "start"))
        if start is None:
            return None
        with self.problems.collecting((*path, "start")):
            original.dynamics.check_start(start)
        if self.turbulence is None:
            return None
        return dataclasses.replace(original, start=start, turbulence=self.turbulence)

    def _record_counts(self) -> tuple[int, ...]:
        """Return the numbers of mistakes, files, inlined values and notes so far."""
        built = self.components
        return tuple(map(len, (self.problems.lines, built.tables, built.inlined, built.notes)))

    def _built(self, entry: VehicleSchema, path: KeyPath) -> AssembledVehicle | None:
        model = self._model(entry, path)
        dynamics = None if model is None else self._dynamics(model, entry, path)
        given = default_start(entry.start, dynamics, self.settings.ground_z_m)
        start = self.components.settings(Start, given, (*path, "start"))
        recorded = RecordedFlight(self.components, entry, path)
        dynamics, start = recorded.motion(dynamics, start)
        setting = OwnSetting(dynamics, start, PositionYaw)
        sensors = {
            key: self._part(sensor, SENSOR, setting, (*path, "sensors", key))
            for key, sensor in entry.instruments.items()
        }
        sensors = recorded.sensors(sensors)
        estimator = self._part(entry.estimator, ESTIMATOR, setting, (*path, "estimator"))
        commanded = setting._replace(
            accepted=accepted_types(given_controllers(entry, model), model)
        )
        guidance = self._part(entry.guidance, GUIDE, commanded, (*path, "guidance"))
        avoidance = self._avoidance(entry, path)
        setting = setting._replace(command_type=_command_type(guidance))
        cascade = CascadeBuilder(self.components, self.own, self.settings)
        controllers = cascade.controllers(entry, model, setting, path)
        faults = self.components.listed(FAULTS, entry.faults, (*path, "faults"))
        self._check_sensors(entry, sensors, estimator, path)
        if model is None:
            return None
        self._check_faults(faults, model.dynamics, dynamics, path)
        levels = ()
        if entry.motion is None:
            builtin = cascade.builtin(model, dynamics, path)
            levels = (*(built for _, built in controllers), *builtin)
            if guidance is not None:
                command_type = model.dynamics.command_type
                cascade.check(guidance, avoidance, controllers, builtin, command_type, path)
        if dynamics is not None:
            self._check_dynamics(dynamics, start, path)
        parts = (estimator, *levels, *avoidance, *faults, *sensors.values())
        if start is None or dynamics is None or guidance is None or self.turbulence is None:
            return None
        if None in parts:
            return None
        return AssembledVehicle(
            model=entry.model,
            dynamics=dynamics,
            start=start,
            turbulence=self.turbulence,
            sensors={key: sensor for key, sensor in sensors.items() if sensor is not None},
            estimator=estimator,
            guidance=guidance,
            cascade=valid_parts(levels),
            avoidance=valid_parts(avoidance),
            faults=tuple(sorted(faults, key=lambda fault: fault.at_s)),
            delay_steps=self._delay_steps(entry, path),
        )

    def _part(self, written: Any, role: Role, setting: OwnSetting, path: KeyPath) -> Any:
        """Return a sensor, estimator or guidance, or None after collecting its mistakes."""
        if (own := own_or_unfit(written)) is not None:
            return self.own.build(own, role, setting, path)
        if is_code(written):
            self.problems.add(path, refusal(written))
            return None
        if role is SENSOR:
            return self.components.instrument(written, path)
        return self.components.scheduled(role.registry, written, path)

    def _avoidance(
        self, entry: VehicleSchema, path: KeyPath
    ) -> tuple[Scheduled[AbstractAvoidance] | None, ...]:
        """Return the vehicle's avoidance components, None for each invalid one."""
        written, key = entry.avoidance, (*path, "avoidance")
        if not isinstance(written, list):
            return (self.components.scheduled(AVOIDANCE, written, key),)
        return tuple(
            self.components.scheduled(AVOIDANCE, one, (*key, i)) for i, one in enumerate(written)
        )

    def _model(self, entry: VehicleSchema, path: KeyPath) -> VehicleModel | None:
        if "model" in entry.model_fields_set:  # otherwise the schema has noted it
            with self.problems.collecting((*path, "model")):
                return VEHICLES.find(entry.model)
        return None

    def _dynamics(
        self, model: VehicleModel, entry: VehicleSchema, path: KeyPath
    ) -> AbstractDynamics | None:
        key = (*path, "parameters")
        given = self.components.with_mass_properties(model.dynamics, entry.parameters, key)
        parameters, shown_by = merged(model.parameters(), given), f"kittiwake list {entry.model}"
        return self.components.settings(model.dynamics, parameters, key, shown_by)

    def _check_dynamics(
        self, dynamics: AbstractDynamics, start: Start | None, path: KeyPath
    ) -> None:
        """Note settings that the vehicle's dynamics do not allow."""
        with self.problems.collecting((*path, "start")):
            if start is not None:
                dynamics.check_start(start)
        with self.problems.collecting((*path, "parameters")):
            dynamics.check_rate(self.components.rate_hz, self.settings.gravity_mps2)

    def _delay_steps(self, entry: VehicleSchema, path: KeyPath) -> int:
        """Return the computation delay in physics steps, rounded up."""
        delay_s, rate_hz = entry.computation_delay_s, self.components.rate_hz
        longest_s = MAX_DELAY_STEPS / rate_hz
        if delay_s <= longest_s:
            return steps_in(delay_s, rate_hz)
        message = (
            f"{delay_s:g} s is not allowed; must be at most {longest_s:g} s, which is "
            f"{MAX_DELAY_STEPS} physics steps at {rate_hz:g} Hz"
        )
        self.problems.add((*path, "computation_delay_s"), message)
        return 0

    def _check_faults(
        self,
        faults: tuple[AbstractFault | None, ...],
        dynamics_type: type[AbstractDynamics],
        dynamics: AbstractDynamics | None,
        path: KeyPath,
    ) -> None:
        """Note faults of parts that the vehicle does not have."""
        for i, fault in enumerate(faults):
            with self.problems.collecting((*path, "faults", i)):
                if fault is not None:
                    _refuse_unfit(fault, dynamics_type)
                    if dynamics is not None:
                        fault.check(dynamics)

    def _check_sensors(
        self,
        entry: VehicleSchema,
        sensors: Mapping[str, Scheduled[Instrument] | None],
        estimator: Scheduled[AbstractEstimator] | None,
        path: KeyPath,
    ) -> None:
        """Note sensors without their source in the world, and estimators without sensors."""
        sensor_types: dict[str, AbstractSensor | None] = {}
        for key, sensor in sensors.items():
            if sensor is None:
                sensor_types[key] = self.components.default_instance(SENSORS, entry.sensors[key])
                continue
            own = sensor.component.sensor
            sensor_types[key] = own if is_loaded(own) else None
        self._check_world(sensors, path)
        known = {key: sensor for key, sensor in sensor_types.items() if sensor is not None}
        if estimator is None or len(known) < len(sensor_types):
            return
        with self.problems.collecting((*path, "estimator")):
            try:
                estimator.component.check(known)
            except ScenarioError as error:
                raise ScenarioError(_with_sensor_types(str(error))) from None

    def _check_world(
        self, sensors: Mapping[str, Scheduled[Instrument] | None], path: KeyPath
    ) -> None:
        """Note sensors without their source in the world."""
        for key, sensor in sensors.items():
            with self.problems.collecting((*path, "sensors", key)):
                if sensor is not None and self.world is not None:
                    sensor.component.sensor.check(self.world)


def _host_of(vehicle: AssembledVehicle, name: str, component: str, host: HostObject) -> HostObject:
    """Return an object of a vehicle alone, with its name and start."""
    del component
    return host.of_vehicle(name, vehicle.start.kinematics())


def _written(entry: VehicleSchema) -> str:
    """Return an entry as text, without the keys about placement."""
    return repr({key: value for key, value in vars(entry).items() if key not in PLACEMENT_KEYS})


def _command_type(guidance: Scheduled[AbstractGuidance] | None) -> type:
    """Return the first command type of guidance; that of holding a place if it has none."""
    known = () if guidance is None else guidance.component.command_types()
    return next((one for one in known if one is not MotorsOff), PositionYaw)


def _refuse_unfit(fault: AbstractFault, vehicle: type[AbstractDynamics]) -> None:
    if fault.command_type is vehicle.command_type:
        return
    fitting = [
        name for name in FAULTS.names() if FAULTS.find(name).command_type is vehicle.command_type
    ]
    message = (
        f"{FAULTS.name_of(type(fault))} affects {fault.command_type.__name__}, but this vehicle "
        f"takes {vehicle.command_type.__name__}; faults of this vehicle: "
        f"{', '.join(fitting) or 'none is registered'}"
    )
    raise ScenarioError(message)


def _with_sensor_types(message: str) -> str:
    """Return a message with types of sensors in place of the classes of their measurements."""
    types_by_measurement: dict[str, list[str]] = {}
    for name in SENSORS.names():
        types_by_measurement.setdefault(SENSORS.find(name).measures.__name__, []).append(name)
    for measured, names in types_by_measurement.items():
        listed = " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        message = message.replace(f"a sensor that gives {measured}", f"a sensor of type {listed}")
        message = message.replace(f"gives {measured}", f"measures the same as {listed}")
    return message
