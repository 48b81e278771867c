"""What commands several vehicles from inside a flight, knowing what all of them see."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jaxtyping import PRNGKeyArray

from kittiwake.sim.state import FleetState, Snapshot

if TYPE_CHECKING:
    from kittiwake.sim.fleet import Fleet, Perceived


class AbstractCommander(ABC):
    """Its signals replace what guidance asks for; who commands from outside goes before it.

    Its own state is part of the fleet's. All methods are pure.
    """

    @abstractmethod
    def begin(
        self, fleet: "Fleet", state: FleetState, perceived: "Perceived", key: PRNGKeyArray
    ) -> Any:
        """Its own state at the start, from the fleet's and a key that is its own."""

    @abstractmethod
    def command(
        self, fleet: "Fleet", state: FleetState, perceived: "Perceived"
    ) -> tuple[Any, Mapping[str, Any]]:
        """Its own state at a tick, and the signals of vehicles by name."""

    @abstractmethod
    def after(self, own: Any, snapshots: Sequence[Snapshot]) -> Any:
        """The same when each group has acted."""
