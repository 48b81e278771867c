"""Interfaces of the world's parts except obstacles: air, water, surfaces and processes."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from typing_extensions import override

from kittiwake.contact.deck import DeckState
from kittiwake.core.component import (
    AbstractComponent,
    AbstractKeyedComponent,
    AbstractModel,
    Output,
    State,
)
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.interaction_input import InteractionInput
from kittiwake.world.surroundings import Air, Surroundings

if TYPE_CHECKING:
    from kittiwake.world.world import WorldModel

# present output of each process of the world, by name: of the type that the process has
ProcessOutputs: TypeAlias = dict[str, Any]


class AbstractTurbulence(
    AbstractKeyedComponent[State, tuple[Kinematics, Surroundings], Vec3], Generic[State]
):
    """Gusts along one vehicle's path.

    ``step`` returns the gust velocity in the world, which is added to the mean wind.
    """


class AbstractWind(AbstractModel):
    """Mean wind as a field; turbulence is added to it."""

    @property
    def is_steady(self) -> bool:
        """True if it does not change with time."""
        return True

    def warnings(self, duration_s: float, dt_s: float) -> tuple[str, ...]:
        """Return warnings about a flight of this length by steps of this length.

        Each continues the key of the wind, as in ": begins when the flight is over".
        """
        del duration_s, dt_s
        return ()

    @abstractmethod
    def velocity_world_mps(self, height_above_ground_m: Real, time_s: Real = 0.0) -> Vec3:
        """Return the velocity of the air at a height above ground and a time of the flight."""


class SumOfWinds(AbstractWind):
    """Sum of several winds, such as a mean wind and a gust: a list in a scenario."""

    winds: tuple[AbstractWind, ...]

    @property
    @override
    def is_steady(self) -> bool:
        return all(wind.is_steady for wind in self.winds)

    @override
    def warnings(self, duration_s: float, dt_s: float) -> tuple[str, ...]:
        each = enumerate(wind.warnings(duration_s, dt_s) for wind in self.winds)
        return tuple(f".{index}{one}" for index, found in each for one in found)

    @override
    def velocity_world_mps(self, height_above_ground_m: Real, time_s: Real = 0.0) -> Vec3:
        each = (wind.velocity_world_mps(height_above_ground_m, time_s) for wind in self.winds)
        return sum(each, start=Vec3.zero())


class AbstractCurrent(AbstractModel):
    """Velocity of the water as a field."""

    @abstractmethod
    def velocity_world_mps(self, position_world_m: Vec3) -> Vec3:
        """Return the velocity of the water at a position on its surface."""


class AbstractAtmosphere(AbstractModel):
    """State of still air as a field."""

    @abstractmethod
    def air(self, altitude_m: Real) -> Air:
        """Return temperature, pressure and density at an altitude above mean sea level."""


class AbstractInteraction(AbstractModel):
    """Interaction between vehicles: called once per world on the gathered vehicles.

    All arguments have one leading axis over all vehicles of the world.
    """

    @abstractmethod
    def __call__(self, vehicles: InteractionInput, surroundings: Surroundings) -> Surroundings:
        """Return the surroundings with the other vehicles' effect added."""


class AbstractRegion(AbstractModel):
    """Part of the world with a force or a wind."""

    @abstractmethod
    def apply(
        self, kinematics: Kinematics, size_body_m: Vec3, surroundings: Surroundings
    ) -> Surroundings:
        """Return the surroundings with the region's effect on a vehicle of this size added."""


class AbstractPlatform(AbstractModel):
    """Surface of the world on which vehicles can land."""

    @abstractmethod
    def deck_state(self, time_s: Real) -> DeckState:
        """Return its pose and velocity at a time."""


class AbstractProcess(AbstractKeyedComponent[State, Real, Output], Generic[State, Output]):
    """Part of the world that evolves by itself and is visible to sensors.

    ``step`` takes the time in seconds, and returns the visible value.
    """

    def end_s(self) -> float | None:
        """Return the time up to which it is known; None if there is no limit."""
        return None

    def warnings(self, duration_s: float) -> tuple[str, ...]:
        """Return warnings about a flight of this length, without a final period."""
        del duration_s
        return ()


class AbstractProcessKind(AbstractComponent):
    """Parameters of a process, before its world is known."""

    @abstractmethod
    def process(self, world: "WorldModel", period_s: float) -> AbstractProcess:
        """Return the process in a world without processes, at steps of this length.

        Raises:
            ScenarioError: if the world does not support it.
        """
