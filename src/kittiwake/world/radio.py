"""How vehicles hear of each other."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jaxtyping import Array, Bool, PRNGKeyArray

from kittiwake.core.component import AbstractComponent
from kittiwake.core.neighbors import NeighborTable, Roster, StateReport
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3


class Broadcast(eqx.Module):
    """What all vehicles tell, and where they truly are; each leaf has an axis over them.

    ``present`` is false of a vehicle that is lost, and so is silent. ``age_s`` is that of what all
    of them tell.
    """

    reports: StateReport
    places_world_m: Vec3
    present: Bool[Array, " vehicles"]
    roster: Roster
    age_s: Real


class AbstractRadio(AbstractComponent):
    """Brings what all vehicles tell to each of them; runs once for a whole world."""

    def check(self, period_s: float) -> None:
        """Refuses a radio that cannot run in steps of this length.

        Raises:
            ScenarioError: with what to write instead.
        """
        del period_s

    @abstractmethod
    def begin(self, vehicles: int, period_s: float, key: PRNGKeyArray) -> Any:
        """The state before the first step, for so many vehicles and steps of this length."""

    @abstractmethod
    def step(
        self, state: Any, inputs: Broadcast, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, NeighborTable]:
        """The next state, and what each vehicle knows; each leaf has an axis over vehicles."""
