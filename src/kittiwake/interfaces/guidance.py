"""What says where to go, and what changes that on the way to avoid what is seen."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import PRNGKeyArray

from kittiwake.core.commands import Command, CommandChoice
from kittiwake.core.component import AbstractComponent
from kittiwake.core.errors import CommandError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext


class GuidanceInputs(eqx.Module):
    """What guidance may know.

    ``time_s`` counts from when the guidance began. ``measurements`` are what the sensors say by
    name, or said last where ``fresh`` is False; ``readings`` is what the vehicle tells of its
    actuators and its battery, as in logs behind ``act_``. ``peers`` is what it knows of others by
    radio; None in a world without one.
    """

    time_s: Real
    tick: Count
    estimate: Kinematics
    measurements: dict[str, Any] = field(default_factory=dict)
    fresh: dict[str, Flag] = field(default_factory=dict)
    readings: dict[str, Real] = field(default_factory=dict)
    neighbors: NeighborTable | None = None


class AbstractGuidance(AbstractComponent):
    """Says where to go: estimate and time in, a signal out.

    ``tracked`` says whether the set point is to be met at every instant, so that the distance to it
    is an error; that to a place on the way is none.
    """

    tracked: ClassVar[bool] = True

    @property
    def requires_radio(self) -> bool:
        """Whether it has to know of others by radio."""
        return False

    @property
    def follows(self) -> bool:
        """Whether it has to know whom it follows."""
        return False

    @property
    def feeds_forward(self) -> bool:
        """Whether it is set to give velocities together with their acceleration."""
        return False

    def prepare(self, context: BuildContext) -> "AbstractGuidance":
        """This guidance as it will be flown, with what can be computed before.

        Raises:
            ScenarioError: if it cannot be done there.
        """
        del context
        return self

    @abstractmethod
    def command_types(self) -> tuple[type[Command], ...]:
        """The kinds of signal that this guidance gives; if several, it gives a ``OneOf`` them."""

    @abstractmethod
    def step(
        self, state: Any, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Command | CommandChoice]:
        """The next state and the signal to follow."""

    def leads_to(self, context: BuildContext) -> Vec3:
        """Where the vehicle is when the task is done; where it began, if that is not known."""
        return context.place_world_m

    def finished(self, state: Any) -> Flag:
        """Whether the task is done; never, for one without an end."""
        del state
        return False

    @property
    def ends(self) -> bool:
        """Whether the task has an end."""
        return type(self).finished is not AbstractGuidance.finished

    def phases(self) -> tuple[str, ...]:
        """What the log says of the parts of the task; of one that is empty nothing."""
        return ("",)

    def phase(self, state: Any) -> Count:
        """Which of the parts is going on; a change is an event in the log."""
        del state
        return 0

    def legs(self, state: Any) -> Count:
        """How many waypoints have been reached; a change is an event in the log."""
        del state
        return 0

    @property
    def step_names(self) -> tuple[str, ...]:
        """The parts of the task that ``begun_at`` takes; none where there are no such."""
        return ()

    def jump_to_step(self, state: Any, name: str) -> Any:
        """The state in which somebody has asked for a part of the task by its name.

        Raises:
            CommandError: if there is no such part.
        """
        del state
        message = (
            f"this guidance has no step '{name}', nor any other; steps are those of a mission: "
            "write guidance: {type: mission, steps: [...]}"
        )
        raise CommandError(message)

    @property
    def behavior_names(self) -> tuple[str, ...]:
        """What ``switched`` takes; nothing for guidance without behaviors."""
        return ()

    def with_active_behaviors(self, state: Any, behaviors: Sequence[str]) -> Any:
        """The state in which only these behaviors count, of those that guide the vehicle.

        Raises:
            CommandError: if it has no behaviors, or none of such a name.
        """
        del state, behaviors
        message = (
            "this guidance has no behaviors; they are those of a flock: "
            "write guidance: {type: flock, behaviors: [...]}"
        )
        raise CommandError(message)

    def planned_legs(self) -> int | None:
        """How many waypoints there are to reach; None where that has no meaning or no end."""
        return None

    def end_s(self) -> float | None:
        """When the task ends by itself; None if it never does."""
        return None


class AvoidanceInputs(eqx.Module):
    """What is asked for, and what an avoidance may know, as in ``GuidanceInputs``."""

    command: Any
    estimate: Kinematics
    measurements: dict[str, Any]
    fresh: dict[str, Flag]


class AbstractAvoidance(AbstractComponent):
    """Changes what is asked for on one rung of the ladder, away from what the sensors see."""

    command_type: ClassVar[type]

    def prepare(self, context: BuildContext) -> "AbstractAvoidance":
        """This avoidance for a vehicle with these sensors.

        Raises:
            ScenarioError: if it lacks one that is needed.
        """
        del context
        return self

    @abstractmethod
    def step(
        self, state: Any, inputs: AvoidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Command]:
        """The next state, and the signal to follow instead, of the same kind."""
