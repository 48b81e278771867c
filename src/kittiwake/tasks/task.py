"""Interface of learning tasks: action mapping, observations and rewards.

A task is written for one agent in one world, as pure functions; ``Env`` steps it.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Generic, TypeAlias, overload

import jax
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import TypeVar

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import Command
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.measurements import Measurements
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.interfaces.dynamics import ActuatorCommand
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import AbstractVar, Module
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.requirements import Requirements
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.world import WorldModel

Goal = TypeVar("Goal", default=Any)
Value = TypeVar("Value")
# changes to a scenario: values by path, as in a scenario file
Overrides: TypeAlias = Mapping[str, Any]
# changes by the name of the condition
Conditions: TypeAlias = Mapping[str, Overrides]


class Agent(Module, Generic[ActuatorCommand]):
    """A vehicle at the end of a control step.

    Attributes:
        truth: true motion, for rewards.
        estimate: estimated motion, for observations.
        measurements: measurements of its sensors, by name.
        command: actuator command of the last step; zero at the beginning of an episode.
        reported: numbers from -1 to 1 that the last action reported to the task beside the
            command; zeros at the beginning of an episode.
        actuators: states of its actuators, by name with unit.
        surroundings: true surroundings, such as distances from the ground and from obstacles.
        index: index among the agents; zero for other vehicles.
    """

    truth: Kinematics
    estimate: Kinematics
    measurements: Measurements
    command: ActuatorCommand
    reported: Float[Array, " reported"]
    actuators: dict[str, Real]
    surroundings: Surroundings
    index: Integer


class TaskScene(Module):
    """One world at the end of a control step.

    Attributes:
        time_s: time since the episode began.
        agents: all agents, along a leading axis.
        others: vehicles that do not learn, by name.
        world: constant part of the world, with the values drawn for the episode.
        processes: states of the world's processes, by name.
        last: True if the time is up.
    """

    time_s: Real
    agents: Agent
    others: dict[str, Agent]
    world: WorldModel
    processes: dict[str, ArrayTree]
    last: Flag

    @overload
    def each(self, function: Callable[[Agent], Real | Flag | Array]) -> Array: ...
    @overload
    def each(self, function: Callable[[Agent], Value]) -> Value: ...
    def each(self, function: Callable[[Agent], Value]) -> Value:
        """Return the values of a function for all agents, along a leading axis."""
        return jax.vmap(function)(self.agents)


class AbstractTask(Module, Generic[Goal]):
    """Learning task in a scenario.

    Attributes:
        rate_hz: rate of actions; must divide the physics rate.
    """

    # library scenario of the task, unless another one is given
    scenario: ClassVar[str]
    # entry under ``vehicles`` that learns: as many agents as its ``count``
    agents: ClassVar[str]
    # named changes to the scenario, such as ``noiseless``
    conditions: ClassVar[Conditions] = MappingProxyType({})
    # requirements on the scenario
    requirements: ClassVar[Requirements] = Requirements()
    # reward of each agent in the step in which any vehicle is lost
    lost_reward: ClassVar[float] = -1000.0
    # True if ``lost_reward`` is a total that all agents share equally
    lost_together: ClassVar[bool] = False
    # True if all agents get the same reward, which counts once
    shared: ClassVar[bool] = False

    rate_hz: AbstractVar[Annotated[Real, POSITIVE]]

    def check(self, world: WorldModel, agents: int, steps: int) -> None:
        """Check the parameters of the task against a scenario.

        Args:
            world: world of the scenario.
            agents: number of agents.
            steps: number of control steps in an episode.

        Raises:
            ValueError: for a value that does not fit, with the values that do.
        """

    @abstractmethod
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        """Return the mapping from actions to commands."""

    def starts(self, given: Start, world: WorldModel, key: PRNGKeyArray) -> Start:
        """Return the starts of the agents, stacked; ``given`` are those of the scenario."""
        del world, key
        return given

    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> Goal | tuple[()]:
        """Return the goal of an episode: its targets and the task's memory.

        ``vehicles`` are the agents as in the scenario, before any randomization.
        """
        del scene, vehicles, key
        return ()

    def update_goal(self, goal: Goal, scene: TaskScene, key: PRNGKeyArray) -> Goal:
        """Return the goal after a control step, before the step is rewarded."""
        del scene, key
        return goal

    def others(self, goal: Goal, scene: TaskScene) -> dict[str, Command]:
        """Return commands for vehicles that neither learn nor follow their guidance, by name."""
        del goal, scene
        return {}

    @abstractmethod
    def observe(self, goal: Goal, agent: Agent, scene: TaskScene) -> Module:
        """Return what an agent observes: a record whose fields have ``Bounds`` in their types."""

    @abstractmethod
    def reward(self, goal: Goal, agent: Agent, scene: TaskScene) -> Real:
        """Return an agent's reward for the last control step."""

    def ended(self, goal: Goal, scene: TaskScene) -> Flag:
        """Return True if the task is done; a lost vehicle ends the episode in any case."""
        del goal, scene
        return False

    def metrics(self, goal: Goal, scene: TaskScene) -> dict[str, Real]:
        """Return the task's own metrics of the episode so far, by name with unit."""
        del goal, scene
        return {}

    def expert_action(
        self, goal: Goal, agent: Agent, scene: TaskScene
    ) -> Float[Array, " numbers"] | None:
        """Return the built-in policy's action; None if the scenario's guidance is the policy."""
        del goal, agent, scene
        return None

    def with_beliefs(self) -> "AbstractTask":
        """Return the task with the beliefs that its expert action needs; learners have none."""
        return self
