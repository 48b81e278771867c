"""Plumes, as processes of the world and as sensors measure them.

A kind of plume describes its sources and its spread. It becomes a process of the world that is
named by ``PLUME`` and a name chosen by the user; its visible value is a cloud.
"""

from abc import abstractmethod
from typing import Generic

from jaxtyping import PRNGKeyArray
from typing_extensions import TypeVar, override

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind
from kittiwake.world.world import FlightArea, WorldModel

# prefix of the names of plumes among a world's processes
PLUME = "plumes."
# height above ground for which wind speeds are given
WIND_HEIGHT_M = 6.0


class Site(Module):
    """Environment of a plume: the wind that carries it, the ground as a barrier, and its bounds.

    The wind is that of the start, at one height; ``wind_is_steady`` is true if it stays constant.
    """

    wind_world_mps: Vec3
    ground_z_m: Real
    area: FlightArea
    wind_is_steady: bool = field(static=True, default=True)

    @classmethod
    def of(cls, world: WorldModel) -> "Site":
        """Return the site in a world, with its mean wind at one height at the start."""
        wind = world.wind.velocity_world_mps(WIND_HEIGHT_M)
        constant = Vec3(float(wind.x), float(wind.y), float(wind.z))
        return cls(constant, world.ground_z_m, world.area, world.wind.is_steady)


class AbstractCloud(Module):
    """Concentration of a plume during one step."""

    @abstractmethod
    def concentration(self, position_world_m: Vec3, time_s: Real) -> Real:
        """Return the concentration at a position and a time."""


Cloud = TypeVar("Cloud", bound=AbstractCloud, default=AbstractCloud)


class AbstractPlume(AbstractProcessKind, Generic[Cloud]):
    """Kind of plume."""

    def check(self, site: Site, period_s: float) -> None:
        """Raise ScenarioError for an unsupported site or step length."""
        del site, period_s

    def warnings(self, site: Site, duration_s: float) -> tuple[str, ...]:
        """Return warnings about a flight of this length, without a final period."""
        del site, duration_s
        return ()

    @abstractmethod
    def init_cloud(self, site: Site, key: PRNGKeyArray) -> Cloud:
        """Return the cloud at the start, with random values for parameters that are not given."""

    def step_cloud(self, cloud: Cloud, time_s: Real, key: PRNGKeyArray) -> Cloud:
        """Return the cloud at a time."""
        del time_s, key
        return cloud

    @override
    def process(self, world: WorldModel, period_s: float) -> "PlumeProcess[Cloud]":
        site = Site.of(world)
        self.check(site, period_s)
        return PlumeProcess(self, site)


class PlumeProcess(AbstractProcess[Cloud, Cloud], Generic[Cloud]):
    """Process of one plume at its site."""

    kind: AbstractPlume[Cloud]
    site: Site

    @override
    def init(self, key: PRNGKeyArray) -> Cloud:
        return self.kind.init_cloud(self.site, key)

    @override
    def step(
        self, state: Cloud, inputs: Real, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Cloud, Cloud]:
        del dt_s
        cloud = self.kind.step_cloud(state, inputs, key)
        return cloud, cloud

    @override
    def warnings(self, duration_s: float) -> tuple[str, ...]:
        changing = "world.wind changes with time, but the plume uses the wind of the start"
        own = self.kind.warnings(self.site, duration_s)
        return own if self.site.wind_is_steady else (*own, changing)
