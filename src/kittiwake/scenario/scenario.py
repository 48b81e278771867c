"""A scenario that was read, checked and built: all that a flight needs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kittiwake.contact.engine import AbstractPhysics
from kittiwake.control.feed_forward import uses_acceleration
from kittiwake.core.commands import MotorsOff, VelocityYaw
from kittiwake.core.errors import ScenarioError
from kittiwake.interfaces.cascade import ControllerOrType, cascade_path, controller_name
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.rendering.camera_renderer import mujoco_renderer
from kittiwake.scenario.document import Document
from kittiwake.scenario.files.network import Network
from kittiwake.scenario.joystick_settings import JoystickSettings
from kittiwake.scenario.problems import KeyPath
from kittiwake.scenario.ros_settings import RosSettings
from kittiwake.scenario.size import check_duration, check_log_size
from kittiwake.scenario.survey_areas import coverages
from kittiwake.sensors.errors.stuck import Stuck
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.team_radio import Membership
from kittiwake.vehicles import VEHICLES
from kittiwake.world.world import World

# the keys of what is drawn for each episode of a task: fully, in both spellings, and by difficulty
BY_DIFFICULTY = "curriculum"
DRAWN = ("randomize", "randomise", BY_DIFFICULTY)


@dataclass(frozen=True)
class Scenario:
    """A scenario ready to fly.

    Attributes:
        document: the data it was built from, overrides applied.
        folder: where the names of its files start.
        partners: whose deck each vehicle follows that has a partner.
        teams: who flies with whom.
        tables: the recorded files that it reads, by the path of the key that names them.
        joystick: what a gamepad's sticks ask for when a person flies it.
        ros: how it looks to ROS.
        policy: what flies the agents of its task instead of their guidance: a network, or
            ``TASK_POLICY`` for the task's own.
        written_out: what stands for a key in what a run leaves, where its file needs others.
        notes: what was found while it was built that may not be meant.
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
    world: World
    physics: AbstractPhysics
    vehicles: dict[str, Vehicle]
    partners: dict[str, str]
    teams: dict[str, Membership]
    tables: dict[KeyPath, Path]
    joystick: JoystickSettings
    ros: RosSettings
    policy: Network | str | None = None
    written_out: dict[KeyPath, dict[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def check_flight(self, duration_s: float | None = None) -> None:
        """Refuses a flight without a step, and one whose log would not fit into memory.

        Raises:
            ScenarioError: with what would be possible.
        """
        flown_s = self.duration_s if duration_s is None else duration_s
        check_duration(flown_s, self.rate_hz)
        self._check_processes(flown_s)
        pictured = sum(map(_pictured, self.vehicles.values()))
        check_log_size(len(self.vehicles), flown_s, self.rate_hz / self.log_every, pictured)

    def _check_processes(self, duration_s: float) -> None:
        for name, process in self.world.processes.items():
            end_s = process.component.end_s()
            if end_s is not None and duration_s > end_s:
                message = (
                    f"world.{name}: is known for {end_s:g} s from start_utc on, the flight lasts "
                    f"{duration_s:g} s; fly a shorter time, or write an earlier start_utc or "
                    "another file"
                )
                raise ScenarioError(message)

    def warnings(self) -> list[str]:
        """What can be flown and may yet not be meant."""
        found = [*self.notes]
        in_vain: dict[type, bool] = {}
        for name, vehicle in self.vehicles.items():
            said = [
                *vehicle.dynamics.warnings(self.world.gravity_mps2),
                *_fed_in_vain(vehicle, in_vain),
                *self._too_late(vehicle),
                *(_passed_over(vehicle) if self._names_controllers(name) else []),
            ]
            found += [f"{name}: {one}" for one in said]
        for name, pattern in coverages(self.document, self.vehicles, self.tables).items():
            found += [f"{name}: {said}" for said in pattern.warnings(self.world.origin)]
        winds = self.world.wind.warnings(self.duration_s, 1.0 / self.rate_hz)
        found += [f"world.wind{said}" for said in winds]
        for name, process in self.world.processes.items():
            found += [
                f"world.{name}: {said}" for said in process.component.warnings(self.duration_s)
            ]
        return [*found, *self.undrawn()]

    def undrawn(self) -> list[str]:
        """Return what to say of draws, which count in the episodes of a task alone."""
        data = self.document.data
        said = "a flight takes the values that the rest of the scenario says"
        if data.get("task") is None:
            said = "this scenario has no task, so that it has no effect"
        return [
            f"{key}: counts in the episodes of a task alone (kw.make, Gymnasium, PettingZoo); "
            + said
            for key in DRAWN
            if data.get(key)
        ]

    def _names_controllers(self, vehicle: str) -> bool:
        """Whether the scenario says what is to fly a vehicle, alone or as one of a count.

        Where something is to be learned in it, it may also say what flies from the learner's rung.
        """
        if self.document.data.get("task") is not None:
            return False
        entries = self.document.data["vehicles"]
        entry = entries.get(vehicle) or entries.get(vehicle.rpartition("-")[0]) or {}
        return entry.get("controller") is not None

    def _too_late(self, vehicle: Vehicle) -> list[str]:
        """Of what would begin when the flight is over."""
        begins = [(f"'{fault.event()}' would be", fault.at_s) for fault in vehicle.faults]
        begins += [
            (f"the sensor '{name}' would be stuck", error.at_s)
            for name, sensor in vehicle.sensors.items()
            for error in sensor.component.errors
            if isinstance(error, Stuck)
        ]
        return [
            f"{what} at {float(at_s):g} s, when the flight of {self.duration_s:g} s is over; "
            "write an earlier at_s"
            for what, at_s in begins
            if at_s >= self.duration_s
        ]

    def fleet(self, *, single_precision: bool = False, tunable: bool = False) -> Fleet:
        """The fleet in the given precision; of a tunable one the vehicles' numbers are arrays."""
        return Fleet.of(
            *(self.world, self.vehicles, self.rate_hz, self.physics, self.partners, self.teams),
            rendering=mujoco_renderer,
            single_precision=single_precision,
            tunable=tunable,
        )


def _pictured(vehicle: Vehicle) -> int:
    """How many numbers its pictures have."""
    sensors = [part.component.sensor for part in vehicle.sensors.values()]
    return sum(sensor.numbers for sensor in sensors)


def _passed_over(vehicle: Vehicle) -> list[str]:
    """Of controllers that the scenario names and that its guidance does not come through."""
    levels = [level.component for level in vehicle.cascade]
    native = vehicle.dynamics.command_type
    starts = [one for one in vehicle.guidance.component.command_types() if one is not MotorsOff]
    if not starts:
        # somebody else will give it commands
        return []
    ways = {start: cascade_path(levels, start, native) for start in starts}
    used = {i for way in ways.values() for i in way}
    brought = len(VEHICLES.find(vehicle.model).bridges)
    idle = [i for i in range(len(levels) - brought) if i not in used]
    if not idle:
        return []
    named = _listed(levels, idle)
    said = " and ".join(
        f"the way from {start.__name__} to {native.__name__} is {_listed(levels, way)}"
        for start, way in ways.items()
    )
    return [
        f"{said}, and does not come through {named}; name what leads there and on from there, or "
        "leave it out"
    ]


def _fed_in_vain(vehicle: Vehicle, known: dict[type, bool]) -> list[str]:
    """Of a feed-forward that the vehicle's controller has no use for.

    What is found of a type of controllers is put into ``known``.
    """
    if not vehicle.guidance.component.feeds_forward:
        return []
    levels = [level.component for level in vehicle.cascade]
    way = cascade_path(levels, VelocityYaw, vehicle.dynamics.command_type)
    if not way:
        return []
    first = levels[way[0]]
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
