"""Plumes, as a world has them and as sensors smell them.

A kind of plume says where it comes from and how it spreads. It becomes a process of the world that
is named by ``PLUME`` and a name of the user's own; what there is to see of it is a cloud.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jaxtyping import PRNGKeyArray

from kittiwake.core.component import AbstractComponent, AbstractProcess
from kittiwake.core.world import FlightArea
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

# before the names of plumes among a world's processes
PLUME = "plume."


class Site(eqx.Module):
    """Where a plume is: the wind that carries it, the ground that it does not enter, its bounds."""

    wind_world_mps: Vec3
    ground_z_m: Real
    area: FlightArea


class AbstractCloud(eqx.Module):
    """What there is of a plume from one step to the next."""

    @abstractmethod
    def concentration(self, position_world_m: Vec3, time_s: Real) -> Real:
        """At a place and a time."""


class AbstractPlume(AbstractComponent):
    """Kinds of plumes."""

    def check(self, site: Site) -> None:
        """Refuses a site at which it could not be, before anything is compiled."""
        del site

    @abstractmethod
    def begin(self, site: Site, key: PRNGKeyArray) -> Any:
        """The cloud at the start; what is not given is drawn."""

    def later(self, cloud: Any, time_s: Real, key: PRNGKeyArray) -> Any:
        """The cloud at a time."""
        del time_s, key
        return cloud


class Plume(AbstractProcess):
    """One plume at its site."""

    kind: AbstractPlume
    site: Site

    def init(self, key: PRNGKeyArray) -> Any:
        """The cloud at the start."""
        return self.kind.begin(self.site, key)

    def step(self, state: Any, inputs: Real, dt_s: Real, key: PRNGKeyArray) -> tuple[Any, Any]:
        """The cloud now."""
        del dt_s
        cloud = self.kind.later(state, inputs, key)
        return cloud, cloud
