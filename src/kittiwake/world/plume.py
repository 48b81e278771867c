"""Plumes, as a world has them and as sensors smell them.

A kind of plume says where it comes from and how it spreads. It becomes a process of the world that
is named by ``PLUME`` and a name of the user's own; what there is to see of it is a cloud.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind
from kittiwake.world.world import FlightArea, World

# before the names of plumes among a world's processes
PLUME = "plumes."
# over the ground, where the speed of a wind is given
WIND_HEIGHT_M = 6.0


class Site(eqx.Module):
    """Where a plume is: the wind that carries it, the ground that it does not enter, its bounds.

    The wind is that of the start, at one height; ``wind_is_steady`` says whether it stays so.
    """

    wind_world_mps: Vec3
    ground_z_m: Real
    area: FlightArea
    wind_is_steady: bool = eqx.field(static=True, default=True)

    @classmethod
    def of(cls, world: World) -> "Site":
        """In a world, with its mean wind at one height at the start."""
        blowing = world.wind.velocity_world_mps(WIND_HEIGHT_M)
        carrying = Vec3(float(blowing.x), float(blowing.y), float(blowing.z))
        return cls(carrying, world.ground_z_m, world.area, world.wind.is_steady)


class AbstractCloud(eqx.Module):
    """What there is of a plume from one step to the next."""

    @abstractmethod
    def concentration(self, position_world_m: Vec3, time_s: Real) -> Real:
        """At a place and a time."""


class AbstractPlume(AbstractProcessKind):
    """Kinds of plumes."""

    def check(self, site: Site, period_s: float) -> None:
        """Refuses a site at which it could not be, or not in steps of this length."""
        del site, period_s

    def warnings(self, site: Site, duration_s: float) -> tuple[str, ...]:
        """What may not be meant in a flight of this length, as sentences without their ends."""
        del site, duration_s
        return ()

    @abstractmethod
    def begin(self, site: Site, key: PRNGKeyArray) -> Any:
        """The cloud at the start; what is not given is drawn."""

    def later(self, cloud: Any, time_s: Real, key: PRNGKeyArray) -> Any:
        """The cloud at a time."""
        del time_s, key
        return cloud

    @override
    def process(self, world: World, period_s: float) -> "PlumeProcess":
        site = Site.of(world)
        self.check(site, period_s)
        return PlumeProcess(self, site)


class PlumeProcess(AbstractProcess):
    """One plume at its site."""

    kind: AbstractPlume
    site: Site

    @override
    def init(self, key: PRNGKeyArray) -> Any:
        return self.kind.begin(self.site, key)

    @override
    def step(self, state: Any, inputs: Real, dt_s: Real, key: PRNGKeyArray) -> tuple[Any, Any]:
        del dt_s
        cloud = self.kind.later(state, inputs, key)
        return cloud, cloud

    @override
    def warnings(self, duration_s: float) -> tuple[str, ...]:
        changing = "world.wind changes with time, and the plume goes with the wind of the start"
        own = self.kind.warnings(self.site, duration_s)
        return own if self.site.wind_is_steady else (*own, changing)
