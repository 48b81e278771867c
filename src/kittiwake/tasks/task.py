"""What a learning task is: who acts on which rung, what they see, and what it is worth.

A task is written for one agent in one world, as pure functions; ``Env`` steps it.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.requirements import Requirements
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.world import World


class Agent(eqx.Module):
    """A vehicle at the end of a control step.

    Attributes:
        truth: how it moves, for rewards.
        estimate: how it believes to move, for observations.
        measurements: what its sensors say, by name.
        command: the native command that it carried out last; nothing where an episode begins.
        told: what the last action told beside its signal; zeros where an episode begins.
        actuators: what its actuators do, by name with unit.
        number: its place among the agents; of other vehicles zero.
    """

    truth: Kinematics
    estimate: Kinematics
    measurements: dict[str, Any]
    command: Any
    reports: Float[Array, " told"]
    actuators: dict[str, Real]
    surroundings: Surroundings
    number: Count


class TaskScene(eqx.Module):
    """One world at the end of a control step.

    Attributes:
        time_s: since the episode began.
        agents: all of them, along a leading axis.
        others: vehicles that do not learn, by name.
        world: what does not evolve, with what was drawn for the episode.
        processes: the state of what evolves in the world, by name.
        last: whether the time is up.
    """

    time_s: Real
    agents: Agent
    others: dict[str, Agent]
    world: World
    processes: dict[str, Any]
    last: Flag

    def each(self, function: Callable[[Agent], Any]) -> Any:
        """What a function says of each agent, along a leading axis."""
        return jax.vmap(function)(self.agents)


class AbstractTask(eqx.Module):
    """What there is to learn in a scenario.

    Attributes:
        rate_hz: how often agents act; it divides the physics rate.
    """

    # the library scenario it is set in, unless another one is given
    scenario: ClassVar[str]
    # the entry of its vehicles that learns, one or as many as it counts
    agents: ClassVar[str]
    # changes to the scenario under a name, such as without noise
    conditions: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})
    # what has to be in the scenario beside the agents
    requirements: ClassVar[Requirements] = Requirements()
    # what each agent gets as soon as any vehicle is lost
    lost_reward: ClassVar[float] = -1000.0
    # whether that is of all agents together, and each gets its part of it
    lost_together: ClassVar[bool] = False
    # whether a reward is of all agents together, and each gets the same
    shared: ClassVar[bool] = False

    rate_hz: eqx.AbstractVar[Annotated[Real, POSITIVE]]

    def check(self, world: World, agents: int, steps: int) -> None:
        """Refuses numbers of the task that do not fit a scenario.

        Args:
            world: of the scenario.
            agents: how many there are.
            steps: of control, in an episode.

        Raises:
            ValueError: with what fits.
        """

    @abstractmethod
    def action_mapping(self, vehicle: Vehicle) -> ActionMapping:
        """How agents of this kind act."""

    def starts(self, given: Start, world: World, key: PRNGKeyArray) -> Start:
        """Where and how agents begin, along a leading axis; ``given`` is what the scenario says."""
        del world, key
        return given

    def begin(self, scene: TaskScene, vehicles: Sequence[Vehicle], key: PRNGKeyArray) -> Any:
        """What an episode is about and what is remembered of it.

        ``vehicles`` are the agents as the scenario has them, before anything is drawn.
        """
        del scene, vehicles, key
        return ()

    def proceed(self, goal: Any, scene: TaskScene, key: PRNGKeyArray) -> Any:
        """The same after a control step, before it is rewarded."""
        del scene, key
        return goal

    def others(self, goal: Any, scene: TaskScene) -> dict[str, Any]:
        """Signals for vehicles that do not learn and do not follow their guidance, by name."""
        del goal, scene
        return {}

    @abstractmethod
    def observe(self, goal: Any, agent: Agent, scene: TaskScene) -> eqx.Module:
        """What an agent sees: a record whose numbers have ``Bounds`` beside their types."""

    @abstractmethod
    def reward(self, goal: Any, agent: Agent, scene: TaskScene) -> Real:
        """What the last control step was worth."""

    def ended(self, goal: Any, scene: TaskScene) -> Flag:
        """Whether there is nothing left to do; a lost vehicle ends the episode in any case."""
        del goal, scene
        return False

    def figures(self, goal: Any, scene: TaskScene) -> dict[str, Real]:
        """Return the task's own figures of the episode so far, by name with unit."""
        del goal, scene
        return {}

    def baseline(
        self, goal: Any, agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"] | None:
        """The action of a controller without learning; None where the scenario has one itself."""
        del goal, agent, scene
        return None

    def with_beliefs(self) -> "AbstractTask":
        """The same task, remembering the beliefs that its baseline acts on; learners do without."""
        return self
