"""Radio links between vehicles."""

from abc import abstractmethod
from typing import Generic

from jaxtyping import Array, Bool, PRNGKeyArray

from kittiwake.core.component import AbstractSteppedComponent, State
from kittiwake.core.neighbors import NeighborTable, Roster, StateReport
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


class Broadcast(Module):
    """Reports of all vehicles, and their true positions; each leaf has an axis over vehicles.

    ``present`` is false for a vehicle that is lost, and so is silent. ``age_s`` is the age of all
    reports.
    """

    reports: StateReport
    positions_world_m: Vec3
    present: Bool[Array, " vehicles"]
    roster: Roster
    age_s: Real


class AbstractRadio(AbstractSteppedComponent[State, Broadcast, NeighborTable], Generic[State]):
    """Radio that delivers all reports to each vehicle; runs once for a whole world.

    ``step`` returns each vehicle's neighbor table, with an axis over vehicles.
    """

    def check(self, period_s: float) -> None:
        """Raise ScenarioError if the radio cannot run in steps of this length.

        Raises:
            ScenarioError: names the parameter and an allowed value.
        """
        del period_s

    @abstractmethod
    def init(self, vehicles: int, period_s: float, key: PRNGKeyArray) -> State:
        """Return the state before the first step, for this number of vehicles and step length."""
