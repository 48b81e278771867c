"""Scenario as built from a document: everything that a flight requires."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from kittiwake.contact.engine import AbstractPhysics
from kittiwake.core.arguments import ArgumentRule, checked_arguments
from kittiwake.core.errors import OTHER_NAMES, ScenarioError, unknown_argument
from kittiwake.core.specification import ComponentSpec
from kittiwake.interfaces.time_constant import TimeConstant
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.rendering.camera_renderer import mujoco_renderer
from kittiwake.scenario.definition import Vehicle, World, as_plain
from kittiwake.scenario.document import Document, dump_document
from kittiwake.scenario.files.network import Network
from kittiwake.scenario.joystick_settings import JoystickSettings
from kittiwake.scenario.problems import KeyPath
from kittiwake.scenario.ros_settings import RosSettings
from kittiwake.scenario.scenario_warnings import scenario_warnings
from kittiwake.scenario.schema import FORMAT, entry_vehicle_names
from kittiwake.scenario.size import check_duration, check_log_size
from kittiwake.sim.commander import AbstractCommander
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.fleet_builder import build_fleet
from kittiwake.sim.plain_python.hosts import with_new_hosts
from kittiwake.sim.team_radio import Membership
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
        return scenario_warnings(self)

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

    def time_constants(self) -> dict[str, dict[str, TimeConstant]]:
        """Return the time constants by vehicle; those of one entry have the same ones."""
        gravity_mps2 = self.world.gravity_mps2
        dynamics = {id(own.dynamics): own.dynamics for own in self.vehicles.values()}
        found = {
            key: own.time_constants(self.rate_hz, gravity_mps2) for key, own in dynamics.items()
        }
        return {name: found[id(own.dynamics)] for name, own in self.vehicles.items()}

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
