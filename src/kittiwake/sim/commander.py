"""Commander interface: commands several vehicles from within the compiled simulation."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic

from jaxtyping import PRNGKeyArray

from kittiwake.core.commands import Command
from kittiwake.core.component import State
from kittiwake.sim.state import FleetState, Snapshot

if TYPE_CHECKING:
    from kittiwake.sim.fleet import Fleet, FleetPerception


class AbstractCommander(ABC, Generic[State]):
    """Commands vehicles from the perception of the whole fleet, as the agents of a task do.

    Its commands replace the setpoints of guidance; external commands have priority over both. Its
    state is part of the fleet's state. All methods are pure functions.
    """

    @property
    @abstractmethod
    def identity(self) -> Hashable:
        """Value that is the same for commanders that act alike, such as the name of their task."""

    @abstractmethod
    def init(
        self, fleet: "Fleet", state: FleetState, perceived: "FleetPerception", key: PRNGKeyArray
    ) -> State:
        """Return the initial state of the commander."""

    @abstractmethod
    def command(
        self, fleet: "Fleet", state: FleetState, perceived: "FleetPerception"
    ) -> tuple[State, Mapping[str, Command]]:
        """Return the next state of the commander, and commands by vehicle name."""

    @abstractmethod
    def after(self, own: State, snapshots: Sequence[Snapshot]) -> State:
        """Return the state of the commander after the step, from the snapshots of all groups."""
