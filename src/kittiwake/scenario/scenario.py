"""Scenario as built from a document: everything that a flight requires."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from kittiwake.contact.engine import AbstractPhysics
from kittiwake.control.feed_forward import uses_acceleration
from kittiwake.core.arguments import ArgumentRule, checked_arguments
from kittiwake.core.commands import MotorsOff, VelocityYaw
from kittiwake.core.errors import OTHER_NAMES, ScenarioError, unknown_argument
from kittiwake.core.specification import ComponentSpec
from kittiwake.interfaces.cascade import ControllerOrType, cascade_path, controller_name
from kittiwake.interfaces.time_constant import TimeConstant, coarse_steps
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.rendering.camera_renderer import mujoco_renderer
from kittiwake.scenario.angle_warnings import angle_warnings
from kittiwake.scenario.definition import Vehicle, World, as_plain
from kittiwake.scenario.document import Document, dump_document
from kittiwake.scenario.files.network import Network
from kittiwake.scenario.joystick_settings import JoystickSettings
from kittiwake.scenario.problems import KeyPath
from kittiwake.scenario.ros_settings import RosSettings
from kittiwake.scenario.schema import FORMAT, entry_vehicle_names
from kittiwake.scenario.size import check_duration, check_log_size
from kittiwake.scenario.survey_areas import coverages
from kittiwake.sensors.errors.playback import MeasurementPlayback
from kittiwake.sensors.errors.stuck import Stuck
from kittiwake.sim.commander import AbstractCommander
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.fleet_builder import build_fleet
from kittiwake.sim.plain_python.hosts import with_new_hosts
from kittiwake.sim.recorded_motion import RecordedMotion
from kittiwake.sim.team_radio import Membership
from kittiwake.vehicles import VEHICLES
from kittiwake.world.world import WorldModel

if TYPE_CHECKING:
    from kittiwake.scenario.load import AllowedCode
    from kittiwake.scenario.vehicle_builder import BuiltVehicles

# the keys of values that are drawn: for each flight and episode from the full range, in both
# spellings, and for each episode of a task by difficulty
CURRICULUM = "curriculum"
RANDOMIZE = ("randomize", "randomise")
RANDOMIZED = (*RANDOMIZE, CURRICULUM)
# the place of values that Python code gives, in messages
IN_PYTHON = "kittiwake.Scenario"


@dataclass(frozen=True, init=False, repr=False)
class Scenario:
    """Scenario ready to fly, defined in Python or read from a file.

    Attributes:
        document: its data with overrides applied.
        folder: the folder to which its file names are relative.
        partners: the vehicle or platform whose deck a vehicle follows, by the vehicle's name.
        teams: team and leader of each vehicle.
        tables: the files that it reads, by the path of the key that names them.
        joystick: the scales of a gamepad's sticks.
        ros: the settings of the ROS interface.
        policy: the policy that commands the agents of its task instead of their guidance: a
            network, or ``TASK_POLICY`` for the task's own.
        inlined: values that replace a key in the scenario of a run folder, because its file needs
            other files.
        notes: warnings that were found while it was built.
        added: entries of vehicles that were added in flight.
        draws: the values that the seed of a flight has drawn, by path.
        built: its vehicles as they were built, to be used again.
    """

    document: Document
    folder: Path
    name: str
    description: str
    seed: int
    duration_s: float
    rate_hz: float
    log_every: int
    fails_when_lost: bool
    until_done: bool
    world: WorldModel
    physics: AbstractPhysics
    vehicles: dict[str, AssembledVehicle]
    partners: dict[str, str]
    teams: dict[str, Membership]
    tables: dict[KeyPath, Path]
    joystick: JoystickSettings
    ros: RosSettings
    policy: Network | str | None = None
    inlined: dict[KeyPath, dict[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    draws: dict[str, Any] = field(default_factory=dict)
    built: "BuiltVehicles | None" = field(default=None, compare=False)

    @checked_arguments(
        "Scenario",
        world=ArgumentRule(
            lambda value: isinstance(value, World | Mapping),
            "a kw.World, or a mapping as in a scenario file",
        ),
        vehicles=ArgumentRule(
            lambda value: isinstance(value, Mapping) and all(map(_is_vehicle, value.values())),
            "a mapping of names, such as {'h': kw.Vehicle(...)}",
            lambda value: f"vehicles={_vehicles_instead(value)}",
        ),
    )
    def __init__(
        self,
        world: World | Mapping[str, Any] | None = None,
        vehicles: Mapping[str, Vehicle | Mapping[str, Any]] | None = None,
        *,
        name: str = "scenario",
        description: str = "",
        seed: int = 0,
        rate_hz: float | int = 50.0,
        duration_s: float | int | None = None,
        log_rate_hz: float | int | None = None,
        until_done: bool = False,
        **others: Any,
    ) -> None:
        """Define a scenario, with the values of a scenario file.

        Args:
            world: the world; still air over flat ground by default.
            vehicles: the vehicles by name.
            name: its name in logs and folders.
            description: a line about it.
            seed: seed of all random streams.
            rate_hz: physics steps per second.
            duration_s: simulated time; by default until guidance ends.
            log_rate_hz: rows of the log per second; one for every step by default.
            until_done: True if a flight ends when all guidance with an end is done; the duration
                is then the longest one, an hour by default.
            others: further keys of a scenario file, such as ``physics``, ``task`` or
                ``lost_vehicle``.

        Raises:
            ScenarioError: one line for each mistake.
        """
        from kittiwake.scenario.build import build

        for key in others:
            if key in OTHER_NAMES:
                raise ScenarioError(
                    unknown_argument("Scenario", key, signature(Scenario).parameters)
                )
        time = {"rate_hz": rate_hz, "duration_s": duration_s, "log_rate_hz": log_rate_hz}
        time |= {"until_done": until_done}
        data = {
            "name": name,
            "description": description,
            "seed": seed,
            "time": {k: v for k, v in time.items() if v is not None and v is not False},
            "world": world or {},
            **others,
            "vehicles": vehicles or {},
        }
        document = Document(as_plain(data), {(): IN_PYTHON}, IN_PYTHON)
        vars(self).update(vars(build(document, Path())))

    @classmethod
    def of(cls, **fields: Any) -> "Scenario":
        """Return a scenario of built parts."""
        scenario = object.__new__(cls)
        vars(scenario).update(fields)
        return scenario

    def with_parts(self, **changes: Any) -> "Scenario":
        """Return the scenario with other built parts."""
        return Scenario.of(**{**vars(self), **changes})

    @classmethod
    def load(
        cls,
        source: "str | PathLike[str] | Mapping[str, Any]",
        overrides: Mapping[str, Any] | None = None,
        allow_code: "AllowedCode" = None,
    ) -> "Scenario":
        """Return a library scenario by name, that of a YAML file, or that of its data.

        Args:
            source: a library name, the path of a file, or a mapping as in a file.
            overrides: values by path, such as ``{"vehicles.pelican.start.yaw_deg": 90}``.
            allow_code: the folder whose Python files the scenario may load, or several.

        Raises:
            ScenarioError: one line for each mistake, with file and line.
        """
        from kittiwake.scenario.load import load_in_python

        return load_in_python(source, overrides, allow_code)

    def to_yaml(self) -> str:
        """Return the text of a scenario file that flies the same.

        An object of one's own is written as its class alone, with which no file can be read again.
        """
        return dump_document({"format": FORMAT, **self.document.data})

    @override
    def __repr__(self) -> str:
        return f"<Scenario {self.summary_line()}>"

    def summary_line(self) -> str:
        """Return its name, the number of its vehicles, its times and its seed."""
        count = len(self.vehicles)
        return (
            f"'{self.name}': {count} vehicle{'' if count == 1 else 's'}, {self.duration_s:g} s "
            f"at {self.rate_hz:g} Hz, seed {self.seed}"
        )

    def _repr_html_(self) -> str:
        from kittiwake.scenario.scenario_html import scenario_html

        return scenario_html(self, "Scenario")

    def check_flight(self, duration_s: float | None = None) -> None:
        """Refuse a flight without a step, and one whose log would not fit into memory.

        Raises:
            ScenarioError: with the allowed values.
        """
        flown_s = self.duration_s if duration_s is None else duration_s
        check_duration(flown_s, self.rate_hz)
        self._check_processes(flown_s)
        image_numbers = sum(map(_image_size, self.vehicles.values()))
        check_log_size(len(self.vehicles), flown_s, self.rate_hz / self.log_every, image_numbers)

    def _check_processes(self, duration_s: float) -> None:
        for name, process in self.world.processes.items():
            end_s = process.component.end_s()
            if end_s is not None and duration_s > end_s:
                message = (
                    f"world.{name}: the data end {end_s:g} s after start_utc, the flight lasts "
                    f"{duration_s:g} s; fly a shorter time, or write an earlier start_utc or "
                    "another file"
                )
                raise ScenarioError(message)

    def warnings(self) -> list[str]:
        """Return warnings about settings that can be flown but may be unintended."""
        found = [*self.notes, *angle_warnings(self.document.data)]
        unused: dict[type, bool] = {}
        time_constants = self.time_constants()
        for name, vehicle in self.vehicles.items():
            own = [
                *vehicle.dynamics.warnings(self.world.gravity_mps2),
                *coarse_steps(time_constants[name], self.rate_hz),
                *_unused_feed_forward(vehicle, unused),
                *_falls_through_ground(vehicle),
                *self._faults_after_end(vehicle),
                *self._ends_of_recordings(vehicle),
                *(_unused_controllers(vehicle) if self._names_controllers(name) else []),
            ]
            found += [f"{name}: {warning}" for warning in own]
        for name, pattern in coverages(self.document, self.vehicles, self.tables).items():
            found += [f"{name}: {text}" for text in pattern.warnings(self.world.origin)]
        winds = self.world.wind.warnings(self.duration_s, 1.0 / self.rate_hz)
        found += [f"world.wind{text}" for text in winds]
        for name, process in self.world.processes.items():
            found += [
                f"world.{name}: {text}" for text in process.component.warnings(self.duration_s)
            ]
        if self.until_done and self.document.data.get("task") is not None:
            found.append("time.until_done: episodes of a task end by its own rules; omit it")
        return [*found, *self.unused_randomization()]

    def time_constants(self) -> dict[str, dict[str, TimeConstant]]:
        """Return the time constants by vehicle; those of one entry have the same ones."""
        gravity_mps2 = self.world.gravity_mps2
        dynamics = {id(own.dynamics): own.dynamics for own in self.vehicles.values()}
        found = {
            key: own.time_constants(self.rate_hz, gravity_mps2) for key, own in dynamics.items()
        }
        return {name: found[id(own.dynamics)] for name, own in self.vehicles.items()}

    def unused_randomization(self) -> list[str]:
        """Return a warning about values of a curriculum, which episodes of a task alone draw."""
        if not self.document.data.get(CURRICULUM):
            return []
        consequence = "a flight uses the values in the rest of the scenario"
        if self.document.data.get("task") is None:
            consequence = "this scenario has no task, so it has no effect"
        return [
            f"{CURRICULUM}: applies only to the episodes of a task (kw.make, Gymnasium, "
            f"PettingZoo); {consequence}"
        ]

    def _names_controllers(self, vehicle: str) -> bool:
        """Return True if the scenario names the controllers of a vehicle or its counted entry.

        Not for a task, where controllers may lead on from the agent's command type.
        """
        if self.document.data.get("task") is not None:
            return False
        entries = self.document.data["vehicles"]
        entry = entries.get(vehicle) or entries.get(vehicle.rpartition("-")[0]) or {}
        return entry.get("controller") is not None

    def _faults_after_end(self, vehicle: AssembledVehicle) -> list[str]:
        """Return warnings about faults that would begin after the end of the flight."""
        begins = [(f"'{fault.event()}' would be", fault.at_s) for fault in vehicle.faults]
        begins += [
            (f"the sensor '{name}' would be stuck", error.at_s)
            for name, sensor in vehicle.sensors.items()
            for error in sensor.component.errors
            if isinstance(error, Stuck)
        ]
        return [
            f"{fault} at {float(at_s):g} s, after the end of the flight of {self.duration_s:g} s; "
            "write an earlier at_s"
            for fault, at_s in begins
            if at_s >= self.duration_s
        ]

    def _ends_of_recordings(self, vehicle: AssembledVehicle) -> list[str]:
        """Return warnings about recordings that end before the flight."""
        dynamics = vehicle.dynamics
        files = ({"the motion": dynamics.file} if isinstance(dynamics, RecordedMotion) else {}) | {
            f"the sensor '{name}'": error.file
            for name, sensor in vehicle.sensors.items()
            for error in sensor.component.errors
            if isinstance(error, MeasurementPlayback)
        }
        return [
            f"{what} stays as it is from {file.end_s:g} s on, the end of {file.source}; the flight "
            f"lasts {self.duration_s:g} s"
            for what, file in files.items()
            if file.end_s < self.duration_s
        ]

    def fleet(
        self,
        commander: AbstractCommander | None = None,
        *,
        single_precision: bool = False,
        live_parameters: bool = False,
    ) -> Fleet:
        """Return the fleet in the given precision; with ``live_parameters`` as arrays."""
        fleet = build_fleet(
            self.world,
            self.vehicles,
            self.rate_hz,
            self.physics,
            self.partners,
            self.teams,
            rendering=mujoco_renderer,
            additions=self._additions(),
            single_precision=single_precision,
            live_parameters=live_parameters,
        )
        return with_new_hosts(fleet if commander is None else replace(fleet, commander=commander))

    def _additions(self) -> dict[str, str]:
        """Return the entry of each vehicle that was added in flight."""
        entries = self.document.data["vehicles"]
        return {
            vehicle: entry
            for entry in self.added
            for vehicle in entry_vehicle_names(entry, entries[entry].get("count"))
        }


def _is_vehicle(given: Any) -> bool:
    return isinstance(given, Vehicle | Mapping)


def _vehicles_instead(given: Any) -> str:
    """Return how vehicles are written instead of what was given."""
    several = given if isinstance(given, Mapping) else {"h": given}
    written = {
        name: f"kw.Vehicle(model={one!r})"
        if isinstance(one, str)
        else f"kw.Vehicle(dynamics=kw.vehicles.{one!r})"
        if isinstance(one, ComponentSpec)
        else "kw.Vehicle(...)"
        for name, one in several.items()
        if not (isinstance(given, Mapping) and _is_vehicle(one))
    }
    return "{" + ", ".join(f"{name!r}: {one}" for name, one in written.items()) + "}"


def _image_size(vehicle: AssembledVehicle) -> int:
    """Return the number of values in a vehicle's images."""
    sensors = [part.component.sensor for part in vehicle.sensors.values()]
    return sum(sensor.image_size for sensor in sensors)


def _unused_controllers(vehicle: AssembledVehicle) -> list[str]:
    """Return warnings about named controllers that are outside the control cascade."""
    levels = [level.component for level in vehicle.cascade]
    native = vehicle.dynamics.command_type
    starts = [one for one in vehicle.guidance.component.command_types() if one is not MotorsOff]
    if not starts:
        # an external source gives the commands
        return []
    paths = {start: cascade_path(levels, start, native) for start in starts}
    used = {i for path in paths.values() for i in path}
    builtin_count = len(VEHICLES.find(vehicle.model).builtin_controllers)
    unused = [i for i in range(len(levels) - builtin_count) if i not in used]
    if not unused:
        return []
    named = _listed(levels, unused)
    cascades = " and ".join(
        f"the cascade from {start.__name__} to {native.__name__} is {_listed(levels, path)}"
        for start, path in paths.items()
    )
    return [
        f"{cascades}, without {named}; add the controllers that lead to it and on from it, or "
        "leave it out"
    ]


def _falls_through_ground(vehicle: AssembledVehicle) -> list[str]:
    """Return a warning about an aircraft that switches its motors off and has no landing gear."""
    dynamics = vehicle.dynamics
    can_fall = not (dynamics.is_vessel or isinstance(dynamics, RecordedMotion))
    has_gear = dynamics.standing_height_m is not None
    if has_gear or not can_fall or MotorsOff not in vehicle.guidance.component.command_types():
        return []
    return [
        "it has no landing gear, and falls through the ground when its motors are off; write a "
        "model with landing gear, such as hummingbird, or a guidance that stays in the air"
    ]


def _unused_feed_forward(vehicle: AssembledVehicle, known: dict[type, bool]) -> list[str]:
    """Return a warning about a feed-forward that the vehicle's controller does not use.

    Results by type of controller are cached in ``known``.
    """
    if not vehicle.guidance.component.feeds_forward:
        return []
    levels = [level.component for level in vehicle.cascade]
    path = cascade_path(levels, VelocityYaw, vehicle.dynamics.command_type)
    if not path:
        return []
    first = levels[path[0]]
    if type(first) not in known:
        known[type(first)] = not uses_acceleration(first, vehicle.start.kinematics())
    if not known[type(first)]:
        return []
    return [
        f"feed_forward has no effect: {controller_name(first)} does not use the acceleration of a "
        "velocity; write another controller, such as velocity, or leave feed_forward out"
    ]


def _listed(levels: Sequence[ControllerOrType], which: Iterable[int]) -> str:
    return ", ".join(controller_name(levels[i]) for i in which)
