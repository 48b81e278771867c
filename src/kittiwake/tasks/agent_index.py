"""Who of a fleet are the agents of a task, and how they and the others look to it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.core.arrays import as_arrays
from kittiwake.core.commands import zero_command
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.geometry.scalar import Count, Flag
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import member_names
from kittiwake.sim.fleet import Fleet, Perceived
from kittiwake.sim.state import FleetState
from kittiwake.sim.vehicle_step import Perception
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene

Tree = TypeVar("Tree")


@dataclass(frozen=True)
class AgentIndex:
    """The agents of a task among the vehicles of a fleet.

    Attributes:
        agents: their names.
        others: the names of all other vehicles.
        group: the one group to which all agents belong.
        lanes: the agents' places there.
        told: how many numbers an agent tells the task itself.
    """

    agents: tuple[str, ...]
    others: tuple[str, ...]
    group: int
    lanes: tuple[int, ...]
    reports: int

    @classmethod
    def of(cls, fleet: Fleet, agents: tuple[str, ...], told: int) -> "AgentIndex":
        """Those of a fleet.

        Raises:
            ScenarioError: if the agents are not of one kind.
        """
        places = [fleet.place(name) for name in agents]
        if len({group for group, _ in places}) > 1:
            message = (
                f"the agents {', '.join(agents)} are not alike; give all of them the same sensors, "
                "estimator, controllers and guidance"
            )
            raise ScenarioError(message)
        others = tuple(name for name in fleet.names if name not in agents)
        return cls(agents, others, places[0][0], tuple(lane for _, lane in places), told)

    def picked(self, tree: Tree) -> Tree:
        """What is told of all vehicles of the agents' group, of the agents alone."""
        return jax.tree.map(self._picked, tree)

    def given_starts(self, fleet: Fleet) -> Start:
        """Where the agents begin, along a leading axis."""
        lanes = np.asarray(self.lanes)
        return jax.tree.map(lambda leaf: leaf[lanes], self._starts_of_group(fleet))

    def starting(self, fleet: Fleet, starts: Start) -> Fleet:
        """With agents that begin so."""
        groups, lanes = list(fleet.groups), np.asarray(self.lanes)
        given = self._starts_of_group(fleet)
        merged = jax.tree.map(lambda all_, some: all_.at[lanes].set(some), given, starts)
        groups[self.group] = groups[self.group].starting(merged)
        return replace(fleet, groups=tuple(groups))

    def no_reports(self) -> Float[Array, "agents told"]:
        """What agents have told before they act."""
        return jnp.zeros((len(self.agents), self.reports), jnp.result_type(float))

    def scene(
        self,
        fleet: Fleet,
        state: FleetState,
        perceived: Perceived,
        commands: Sequence[Any] | None,
        told: Float[Array, "agents told"],
        last: Flag,
    ) -> TaskScene:
        """What there is at a tick.

        Args:
            fleet: as it flies in this episode.
            state: of all that moves.
            perceived: what all vehicles see.
            commands: of each group, if there were any yet.
            told: by each agent.
            last: whether the time is up.
        """
        groups = [
            self._agents_of(fleet, number, state, perceived, commands, told)
            for number in range(len(fleet.groups))
        ]
        others: dict[str, Agent] = {}
        for name in self.others:
            group, lane = fleet.place(name)
            others[name] = jax.tree.map(lambda leaf, at=lane: leaf[at], groups[group])
        processes = {name: held.state for name, held in state.processes.items()}
        elapsed = jnp.asarray(state.tick - state.began, jnp.result_type(float))
        own, time_s = self.picked(groups[self.group]), elapsed * fleet.dt_s
        return TaskScene(time_s, own, others, fleet.world, processes, last)

    def _picked(self, leaf: Any) -> Any:
        if self.lanes == tuple(range(leaf.shape[0])):
            return leaf
        return leaf[np.asarray(self.lanes)]

    def _starts_of_group(self, fleet: Fleet) -> Start:
        group = fleet.groups[self.group]
        return group.map(lambda vehicle, _: as_arrays(vehicle.start), group.name_hashes)

    def _agents_of(
        self,
        fleet: Fleet,
        number: int,
        state: FleetState,
        perceived: Perceived,
        commands: Sequence[Any] | None,
        told: Float[Array, "agents told"],
    ) -> Agent:
        """A group's vehicles; of those that are no agents only what all vehicles have counts."""
        group = fleet.groups[number]
        lanes = len(group.names)
        if commands is None:
            nothing = as_arrays(zero_command(group.vehicle.dynamics.command_type))
            command = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (lanes,)), nothing)
        else:
            command = commands[number]
        places = [self.agents.index(name) if name in self.agents else 0 for name in group.names]
        return group.map(
            _agent,
            *(state.groups[number].dynamics, fleet.truths(state)[number]),
            *(perceived.groups[number], command, told[np.asarray(places)]),
            jnp.asarray(places, jnp.int32),
        )


def agents_of(scenario: Scenario, task: AbstractTask) -> tuple[str, ...]:
    """The vehicles of the task's entry.

    Raises:
        ScenarioError: if the scenario has no such entry.
    """
    entries = scenario.document.data["vehicles"]
    if task.agents not in entries:
        known = did_you_mean(task.agents, list(entries))
        message = f"the task's agents are vehicles.{task.agents}, which is not there. {known}"
        raise ScenarioError(message)
    return member_names(task.agents, entries[task.agents].get("count"))


def _agent(
    vehicle: Vehicle,
    dynamics: Any,
    truth: Kinematics,
    seen: Perception,
    command: Any,
    told: Float[Array, " told"],
    number: Count,
) -> Agent:
    return Agent(
        truth=truth,
        estimate=seen.estimate,
        measurements={name: sample.measurement for name, sample in seen.samples.items()},
        command=command,
        reports=told,
        actuators=as_arrays(vehicle.dynamics.actuators(dynamics)),
        surroundings=seen.surroundings,
        number=number,
    )
