"""What a vehicle is to the simulation: how its own state follows its command, and what breaks."""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.contact.deck import Deck
from kittiwake.contact.engine import Collider, ContactMotion
from kittiwake.contact.ground_contact import GroundContact
from kittiwake.core.columns import from_columns, to_columns
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.limit import Limit
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.interaction_input import NO_WAKE, Wake
from kittiwake.world.surroundings import Surroundings


class AbstractDynamics(eqx.Module):
    """How a vehicle's own state follows its native command.

    ``size_body_m`` are the sides of the box around it, ``deck`` is what others can stand on.
    """

    command_type: ClassVar[type]
    # on the water, whatever it is told
    floats: ClassVar[bool] = False

    size_body_m: eqx.AbstractVar[Vec3]
    deck: eqx.AbstractVar[Deck | None]

    @property
    def command_bounds(self) -> dict[str, tuple[Real, Real]]:
        """What the numbers of a native command may be, by column."""
        return {}

    def vehicle_parameters(self, gravity_mps2: Real) -> dict[str, Any]:
        """What controllers are told of it, as plain values by the names of their parameters."""
        return {"gravity_mps2": gravity_mps2}

    def check_start(self, start: Start) -> None:
        """Refuses a start from which this model could not begin, before anything is compiled."""
        del start

    def check_rate(self, rate_hz: Real, gravity_mps2: Real) -> None:
        """Refuses steps that are too coarse for this vehicle, before anything is compiled."""
        del rate_hz, gravity_mps2

    def warnings(self, gravity_mps2: Real) -> tuple[str, ...]:
        """What is allowed and may yet not be meant, as sentences without their ends."""
        del gravity_mps2
        return ()

    @property
    def standing_height_m(self) -> Real | None:
        """Of its center of mass over level ground; None if it has no feet."""
        return None

    @property
    def air_height_m(self) -> Real | None:
        """How high over the water it meets the wind; None of what meets it where it is."""
        return None

    def off(self) -> Any:
        """The native command of a vehicle that is switched off."""
        return self.command_type.off()

    @abstractmethod
    def init(self, start: Kinematics, surroundings: Surroundings) -> Any:
        """The state of the vehicle at its start, actuators in balance with gravity."""

    @abstractmethod
    def step(
        self, state: Any, command: Any, surroundings: Surroundings, dt_s: Real, key: PRNGKeyArray
    ) -> Any:
        """The state one physics step later."""

    @abstractmethod
    def kinematics(self, state: Any) -> Kinematics:
        """Where the vehicle is and how it moves."""

    def limit_command(self, command: Any) -> Any:
        """A native command as the vehicle takes it: its numbers inside ``command_bounds``."""
        bounds = self.command_bounds
        if not bounds:
            return command
        numbers = to_columns(command)
        for name, (low, high) in bounds.items():
            numbers[name] = jnp.clip(numbers[name], low, high)
        return from_columns(type(command), numbers)

    def actuators(self, state: Any) -> dict[str, Real]:
        """What the actuators do, by name with unit, for the log."""
        del state
        return {}

    def wake(self, state: Any) -> Wake:
        """The air that it throws down."""
        del state
        return NO_WAKE

    @property
    def reach_m(self) -> Real | None:
        """How far from its center of mass it can touch a surface; None if it has no feet."""
        return None

    def ground_contact(self, state: Any) -> GroundContact | None:
        """How it stands; None for a vehicle without feet."""
        del state
        return None

    def collider(self) -> Collider:
        """What others meet of it, before anything is compiled.

        Raises:
            ScenarioError: if it cannot be moved by what it touches.
        """
        message = (
            f"{type(self).__name__} does not say how it gives way to what it touches; write "
            "physics: compliant"
        )
        raise ScenarioError(message)

    def apply_contact(self, state: Any, carried: ContactMotion) -> Any:
        """The state after a step in which a physics engine moved the body."""
        raise NotImplementedError

    def limits(self, state: Any) -> tuple[Limit, ...]:
        """The ranges in which this model means something, in the order they are judged in."""
        del state
        return ()


class AbstractFault(eqx.Module):
    """Something that breaks at a time: what the vehicle makes of its native command from then on.

    Faults are given in order of ``at_s``, so that the number of those that have begun names them.
    """

    command: ClassVar[type]

    at_s: eqx.AbstractVar[Real]

    @classmethod
    def every(cls, at_s: float) -> "tuple[AbstractFault, ...]":
        """One for each part that can break so, at a time; what breaks gives nothing any more."""
        return (cls(at_s=at_s),)

    def part(self) -> str:
        """What breaks, in a word or two."""
        return self.event().partition(" fails")[0]

    def is_active(self, time_s: Real) -> Flag:
        """Whether it has happened."""
        return time_s >= self.at_s

    def check(self, bounds: dict[str, tuple[Real, Real]]) -> None:
        """Refuses what a vehicle with these bounds of its command could not do."""
        del bounds

    @abstractmethod
    def applied(self, command: Any, time_s: Real) -> Any:
        """The command as it is carried out."""

    @abstractmethod
    def event(self) -> str:
        """What the log says of it."""
