"""Agents of a task within a fleet, and the scene that the task gets of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.core.arrays import ArrayTree, as_arrays
from kittiwake.core.commands import Command, zero_command
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.geometry.scalar import Flag, Integer
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import entry_vehicle_names
from kittiwake.sim.fleet import Fleet, FleetPerception
from kittiwake.sim.state import FleetState
from kittiwake.sim.vehicle_step import Perception
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene

Tree = TypeVar("Tree")


@dataclass(frozen=True)
class AgentIndex:
    """The agents of a task among the vehicles of a fleet.

    Attributes:
        agents: names of the agents.
        others: names of all other vehicles.
        group: index of the group that holds all agents.
        indices: indices of the agents in that group.
        reported_count: number of values that an agent reports to the task.
    """

    agents: tuple[str, ...]
    others: tuple[str, ...]
    group: int
    indices: tuple[int, ...]
    reported_count: int

    @classmethod
    def of(cls, fleet: Fleet, agents: tuple[str, ...], reported_count: int) -> "AgentIndex":
        """Find the agents in a fleet.

        Raises:
            ScenarioError: if the agents are not in one group.
        """
        located = [fleet.locate(name) for name in agents]
        if len({group for group, _ in located}) > 1:
            message = (
                f"agents {', '.join(agents)}: must be of equal structure; give all of them the "
                "same sensors, estimator, controllers and guidance"
            )
            raise ScenarioError(message)
        others = tuple(name for name in fleet.names if name not in agents)
        return cls(
            agents,
            others,
            located[0][0],
            tuple(index for _, index in located),
            reported_count,
        )

    def select(self, tree: Tree) -> Tree:
        """Select the agents' values from those of all vehicles of their group."""
        return jax.tree.map(self._select, tree)

    def scenario_starts(self, fleet: Fleet) -> Start:
        """Return the starts of the agents, along a leading axis."""
        indices = np.asarray(self.indices)
        return jax.tree.map(lambda leaf: leaf[indices], self._starts_of_group(fleet))

    def with_starts(self, fleet: Fleet, starts: Start) -> Fleet:
        """Return the fleet with other starts of the agents."""
        groups, indices = list(fleet.groups), np.asarray(self.indices)
        given = self._starts_of_group(fleet)
        merged = jax.tree.map(lambda all_, some: all_.at[indices].set(some), given, starts)
        groups[self.group] = groups[self.group].with_starts(merged)
        return replace(fleet, groups=tuple(groups))

    def zero_reported(self) -> Float[Array, "agents reported"]:
        """Return the reported numbers before the agents act: zeros."""
        return jnp.zeros((len(self.agents), self.reported_count), jnp.result_type(float))

    def scene(
        self,
        fleet: Fleet,
        state: FleetState,
        perceived: FleetPerception,
        commands: Sequence[Command] | None,
        reported: Float[Array, "agents reported"],
        last: Flag,
    ) -> TaskScene:
        """Return the scene at a tick.

        Args:
            fleet: fleet of this episode.
            state: its state.
            perceived: perceptions of all vehicles.
            commands: last actuator commands of each group; None before the first step.
            reported: numbers that each agent reported.
            last: True if the time is up.
        """
        groups = [
            self._agents_of(fleet, group_index, state, perceived, commands, reported)
            for group_index in range(len(fleet.groups))
        ]
        others: dict[str, Agent] = {}
        for name in self.others:
            group, index = fleet.locate(name)
            others[name] = jax.tree.map(lambda leaf, at=index: leaf[at], groups[group])
        processes = {name: held.state for name, held in state.processes.items()}
        elapsed = jnp.asarray(state.tick - state.began, jnp.result_type(float))
        own, time_s = self.select(groups[self.group]), elapsed * fleet.dt_s
        return TaskScene(time_s, own, others, fleet.world, processes, last)

    def _select(self, leaf: Array) -> Array:
        if self.indices == tuple(range(leaf.shape[0])):
            return leaf
        return leaf[np.asarray(self.indices)]

    def _starts_of_group(self, fleet: Fleet) -> Start:
        group = fleet.groups[self.group]
        return group.map(lambda vehicle, _: as_arrays(vehicle.start), group.name_hashes)

    def _agents_of(
        self,
        fleet: Fleet,
        group_index: int,
        state: FleetState,
        perceived: FleetPerception,
        commands: Sequence[Command] | None,
        reported: Float[Array, "agents reported"],
    ) -> Agent:
        """Return a group's vehicles as agents; other vehicles get the index of the first agent."""
        group = fleet.groups[group_index]
        count = len(group.names)
        if commands is None:
            dynamics = group.vehicle.dynamics
            zero = as_arrays(zero_command(dynamics.command_type, dynamics.actuator_count))
            command = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count,)), zero)
        else:
            command = commands[group_index]
        agent_indices = [
            self.agents.index(name) if name in self.agents else 0 for name in group.names
        ]
        return group.map(
            _agent,
            state.groups[group_index].dynamics,
            fleet.truths(state)[group_index],
            perceived.groups[group_index],
            command,
            reported[np.asarray(agent_indices)],
            jnp.asarray(agent_indices, jnp.int32),
        )


def agent_names(scenario: Scenario, task: AbstractTask) -> tuple[str, ...]:
    """Return the names of the task's agents in a scenario.

    Raises:
        ScenarioError: if the scenario has no such entry.
    """
    entries = scenario.document.data["vehicles"]
    if task.agents not in entries:
        known = did_you_mean(task.agents, list(entries))
        message = f"vehicles: the task's agents '{task.agents}' are missing. {known}"
        raise ScenarioError(message)
    return entry_vehicle_names(task.agents, entries[task.agents].get("count"))


def _agent(
    vehicle: AssembledVehicle,
    dynamics: ArrayTree,
    truth: Kinematics,
    perception: Perception,
    command: Command,
    reported: Float[Array, " reported"],
    index: Integer,
) -> Agent:
    return Agent(
        truth=truth,
        estimate=perception.estimate,
        measurements={name: sample.measurement for name, sample in perception.samples.items()},
        command=command,
        reported=reported,
        actuators=as_arrays(vehicle.dynamics.actuators(dynamics)),
        surroundings=perception.surroundings,
        index=index,
    )
