"""Guidance interface, which gives setpoints, and obstacle avoidance interface."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import field
from typing import ClassVar, Generic

from kittiwake.core.commands import Command, CommandChoice, zero_command
from kittiwake.core.component import AbstractKeyedComponent, Input, State
from kittiwake.core.errors import CommandError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import Measurements
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.pytree import Module


class GuidanceInputs(Module):
    """Inputs of guidance.

    Attributes:
        time_s: time since the guidance began.
        tick: number of the physics step.
        estimate: the estimated motion of the vehicle.
        measurements: the latest measurement of each sensor, by name.
        fresh: true for each sensor whose measurement is new at this step.
        readings: values of actuators and battery, as in the ``act_`` columns of logs.
        neighbors: what the vehicle knows of others by radio; None in a world without radio.
    """

    time_s: Real
    tick: Integer
    estimate: Kinematics
    measurements: Measurements = field(default_factory=dict)
    fresh: dict[str, Flag] = field(default_factory=dict)
    readings: dict[str, Real] = field(default_factory=dict)
    neighbors: NeighborTable | None = None


class AbstractGuidance(
    AbstractKeyedComponent[State, GuidanceInputs, Command | CommandChoice], Generic[State]
):
    """Guidance of a vehicle: maps the estimate and the time to a setpoint.

    ``step`` returns the setpoint.

    ``tracked`` is true if the setpoint is to be met at every instant, as on a trajectory, so that
    the distance to it is a tracking error. It is false if setpoints are distant waypoints.
    """

    tracked: ClassVar[bool] = True

    @property
    def requires_radio(self) -> bool:
        """True if the neighbor table is required."""
        return False

    @property
    def requires_leader(self) -> bool:
        """True if a leader is required."""
        return False

    @property
    def feeds_forward(self) -> bool:
        """True if velocity setpoints contain a feed-forward acceleration."""
        return False

    @independent_of_start
    def prepare(self, context: BuildContext) -> "AbstractGuidance":
        """Return this guidance prepared for a world, with everything that can be precomputed.

        Raises:
            ScenarioError: if it cannot be flown there.
        """
        del context
        return self

    @abstractmethod
    def command_types(self) -> tuple[type[Command], ...]:
        """Return the setpoint types; if there are several, ``step`` returns a ``CommandChoice``."""

    def zero_commands(self) -> tuple[Command, ...]:
        """Return a command of zeros of each of ``command_types``."""
        return tuple(map(zero_command, self.command_types()))

    def end_position_world_m(self, context: BuildContext) -> Vec3:
        """Return the position at the end of the task; where it began, if the end is not known."""
        return context.task_start_world_m

    def finished(self, state: State) -> Flag:
        """Return True if the task is done; always False for a task without an end."""
        del state
        return False

    @property
    def ends(self) -> bool:
        """True if the task has an end."""
        return type(self).finished is not AbstractGuidance.finished

    def phases(self) -> tuple[str, ...]:
        """Return the names of the task's phases in the log; an empty name is not logged."""
        return ("",)

    def phase(self, state: State) -> Integer:
        """Return the index of the current phase; a change is an event in the log."""
        del state
        return 0

    def waypoints_reached(self, state: State) -> Integer:
        """Return the number of waypoints reached; a change is an event in the log."""
        del state
        return 0

    @property
    def mission_step_names(self) -> tuple[str, ...]:
        """Names that ``jump_to_mission_step`` accepts; empty for guidance without steps."""
        return ()

    def jump_to_mission_step(self, state: State, name: str) -> State:
        """Return the state from which the task continues at the step of this name.

        Raises:
            CommandError: if there is no such step.
        """
        del state
        message = (
            f"this guidance has no step '{name}'; only a mission has steps: "
            "write guidance: {type: mission, steps: [...]}"
        )
        raise CommandError(message)

    @property
    def behavior_names(self) -> tuple[str, ...]:
        """Names that ``with_active_behaviors`` accepts; empty for guidance without behaviors."""
        return ()

    def with_active_behaviors(self, state: State, behaviors: Sequence[str]) -> State:
        """Return the state in which only these behaviors guide the vehicle.

        Raises:
            CommandError: if this guidance has no behaviors, or none of such a name.
        """
        del state, behaviors
        message = (
            "this guidance has no behaviors; only a flock has them: "
            "write guidance: {type: flock, behaviors: [...]}"
        )
        raise CommandError(message)

    def planned_waypoints(self) -> int | None:
        """Return the number of waypoints to reach; None if undefined or unbounded."""
        return None

    def end_s(self) -> Real | None:
        """Return the time at which the task ends by itself; None if it never does."""
        return None


class AvoidanceInputs(Module, Generic[Input]):
    """Inputs of an avoidance: the command to modify; the others are as in ``GuidanceInputs``."""

    command: Input
    estimate: Kinematics
    measurements: Measurements
    fresh: dict[str, Flag]


class AbstractAvoidance(
    AbstractKeyedComponent[State, AvoidanceInputs[Input], Input], Generic[State, Input]
):
    """Obstacle avoidance: modifies commands of one type according to the sensors.

    ``step`` returns the modified command, which has the same type.
    """

    command_type: ClassVar[type]

    @independent_of_start
    def prepare(self, context: BuildContext) -> "AbstractAvoidance":
        """Return this avoidance prepared for a vehicle.

        Raises:
            ScenarioError: if the vehicle lacks a required sensor.
        """
        del context
        return self
