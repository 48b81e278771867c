"""What the world is made of, beside its obstacles: air, water, surfaces and what evolves."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.contact.deck import DeckState
from kittiwake.core.component import AbstractComponent
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.interaction_input import InteractionInput
from kittiwake.world.surroundings import Air, Surroundings


class AbstractTurbulence(AbstractComponent):
    """Gusts along one vehicle's path."""

    @abstractmethod
    def step(
        self, state: Any, inputs: tuple[Kinematics, Surroundings], dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Vec3]:
        """The next state and the gust velocity in the world, to be added to the mean wind."""


class AbstractWind(eqx.Module):
    """The mean wind as a field: turbulence comes on top of it."""

    @property
    def is_steady(self) -> bool:
        """Whether it blows alike at all times."""
        return True

    def warnings(self, duration_s: float, dt_s: float) -> tuple[str, ...]:
        """Return what may not be meant in a flight of this length by steps of this length.

        They go on behind the key of the wind, as in ": begins when the flight is over".
        """
        del duration_s, dt_s
        return ()

    @abstractmethod
    def velocity_world_mps(self, height_above_ground_m: Real, time_s: Real = 0.0) -> Vec3:
        """The velocity of the air, where it blows to, at a height and a time of the flight."""


class SumOfWinds(AbstractWind):
    """Several winds that add up, such as a mean wind and a gust: a list in a scenario."""

    winds: tuple[AbstractWind, ...]

    @property
    @override
    def is_steady(self) -> bool:
        return all(wind.is_steady for wind in self.winds)

    @override
    def warnings(self, duration_s: float, dt_s: float) -> tuple[str, ...]:
        each = enumerate(wind.warnings(duration_s, dt_s) for wind in self.winds)
        return tuple(f".{number}{one}" for number, found in each for one in found)

    @override
    def velocity_world_mps(self, height_above_ground_m: Real, time_s: Real = 0.0) -> Vec3:
        each = (wind.velocity_world_mps(height_above_ground_m, time_s) for wind in self.winds)
        return sum(each, start=Vec3.zero())


class AbstractCurrent(eqx.Module):
    """The motion of the water as a field."""

    @abstractmethod
    def velocity_world_mps(self, position_world_m: Vec3) -> Vec3:
        """The velocity of the water at a place on its surface."""


class AbstractAtmosphere(eqx.Module):
    """The state of still air as a field."""

    @abstractmethod
    def air(self, altitude_m: Real) -> Air:
        """Temperature, pressure and density at an altitude above mean sea level."""


class AbstractInteraction(eqx.Module):
    """What vehicles do to each other: called once per world on the gathered vehicles.

    Everything passed has one leading axis over all vehicles of the world.
    """

    @abstractmethod
    def __call__(self, vehicles: InteractionInput, surroundings: Surroundings) -> Surroundings:
        """The surroundings with the others' effect added."""


class AbstractRegion(eqx.Module):
    """A part of the world in which something pushes or blows."""

    @abstractmethod
    def felt(
        self, kinematics: Kinematics, size_body_m: Vec3, surroundings: Surroundings
    ) -> Surroundings:
        """The surroundings with the region's effect on a vehicle of this size added."""


class AbstractPlatform(eqx.Module):
    """A surface of the world that can be stood on."""

    @abstractmethod
    def support(self, time_s: Real) -> DeckState:
        """Where it is at a time, and how it moves."""


class AbstractProcess(AbstractComponent):
    """Something of the world that evolves by itself and that sensors see."""

    def end_s(self) -> float | None:
        """Up to when it is known; None if for ever."""
        return None

    def warnings(self, duration_s: float) -> tuple[str, ...]:
        """What may not be meant in a flight of this length, as sentences without their ends."""
        del duration_s
        return ()

    @abstractmethod
    def step(self, state: Any, inputs: Real, dt_s: Real, key: PRNGKeyArray) -> tuple[Any, Any]:
        """The next state, and what there is to see now; ``inputs`` is the time in seconds."""


class AbstractProcessKind(AbstractComponent):
    """What a scenario says of a process, before it is known in which world that runs."""

    @abstractmethod
    def process(self, world: Any, period_s: float) -> AbstractProcess:
        """The process in a ``core.world.World``, which has none yet, at steps of this length.

        Raises:
            ScenarioError: if it could not be there.
        """
