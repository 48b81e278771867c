"""Vehicle dynamics interface, and the interface of actuator faults."""

from abc import abstractmethod
from typing import Any, ClassVar, Generic

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import TypeVar

from kittiwake.contact.deck import Deck
from kittiwake.contact.engine import Collider, ContactMotion
from kittiwake.contact.ground_contact import GroundContact
from kittiwake.core.columns import from_columns, to_columns
from kittiwake.core.commands import zero_command
from kittiwake.core.component import AbstractModel, State
from kittiwake.core.errors import CommandError, ScenarioError
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.limit import Limit
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.continuous import FREE_BODY, ContinuousState, StateRates
from kittiwake.interfaces.time_constant import TimeConstant
from kittiwake.pytree import AbstractVar, Module
from kittiwake.world.interaction_input import NO_WAKE, Wake
from kittiwake.world.surroundings import Surroundings

# class of an actuator command
ActuatorCommand = TypeVar("ActuatorCommand", bound=Module, default=Any)


class AbstractDynamics(AbstractModel, Generic[State, ActuatorCommand]):
    """Vehicle dynamics: actuators, equations of motion and contact with surfaces.

    ``init`` and ``step`` define the model; everything else describes the vehicle to controllers,
    to the log and to other vehicles, and has a default where one makes sense.

    Attributes:
        command_type: the class of the actuator command that ``step`` takes.
        is_vessel: true for a vessel, which stays on the water whatever it is commanded.
        body_states: names of the states of the body in ``rates``; actuators are further states.
        size_body_m: side lengths of the bounding box, along the body axes.
        deck: the surface on which other vehicles can stand; None without one.
    """

    command_type: ClassVar[type]
    is_vessel: ClassVar[bool] = False
    body_states: ClassVar[tuple[str, ...]] = FREE_BODY

    size_body_m: AbstractVar[Vec3]
    deck: AbstractVar[Deck | None]

    @property
    def actuator_count(self) -> int:
        """Number of actuators, if the actuator command has one number for each; else 0."""
        return 0

    @property
    def command_bounds(self) -> dict[str, tuple[Real, Real]]:
        """Lower and upper bound of each number of the actuator command, by column name."""
        return {}

    def vehicle_parameters(self, gravity_mps2: Real) -> Parameters:
        """Return what controllers may know of the vehicle, by the names of their parameters."""
        return {"gravity_mps2": gravity_mps2}

    def check_start(self, start: Start) -> None:
        """Raise ScenarioError for a start that this model does not support."""
        del start

    def check_rate(self, rate_hz: Real, gravity_mps2: Real) -> None:
        """Raise ScenarioError for a physics rate that is too low for this vehicle."""
        del rate_hz, gravity_mps2

    def warnings(self, gravity_mps2: Real) -> tuple[str, ...]:
        """Return warnings about valid but probably unintended settings, without a period."""
        del gravity_mps2
        return ()

    def time_constants(self, rate_hz: Real, gravity_mps2: Real) -> dict[str, TimeConstant]:
        """Return the shortest time constants that are integrated in steps, by part."""
        del rate_hz, gravity_mps2
        return {}

    @property
    def standing_height_m(self) -> Real | None:
        """Height of the center of mass on level ground; None for a vehicle without landing gear."""
        return None

    @property
    def air_height_m(self) -> Real | None:
        """Height above the water at which the wind is taken; None to take it at the vehicle."""
        return None

    def off(self) -> ActuatorCommand:
        """Return the actuator command of a vehicle that is switched off."""
        if self.actuator_count:
            return zero_command(self.command_type, self.actuator_count)
        return self.command_type.off()

    def initial_command(self, start: Kinematics, gravity_mps2: Real) -> ActuatorCommand:
        """Return the actuator command that keeps the actuators as ``init`` returns them."""
        del start, gravity_mps2
        return self.off()

    @abstractmethod
    def init(self, start: Kinematics, surroundings: Surroundings) -> State:
        """Return the initial state, with the actuators in balance with gravity."""

    @abstractmethod
    def step(
        self,
        state: State,
        command: ActuatorCommand,
        surroundings: Surroundings,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> State:
        """Return the state after a physics step of length ``dt_s``."""

    @abstractmethod
    def kinematics(self, state: State) -> Kinematics:
        """Return the position, attitude, velocities and specific force of a state."""

    def steady_actuators(self, command: ActuatorCommand) -> dict[str, Real]:
        """Return the actuators' states under a constant command, as ``rates`` takes them."""
        del command
        return {}

    def rates(
        self, state: ContinuousState, command: ActuatorCommand, surroundings: Surroundings
    ) -> StateRates:
        """Return the rates of the continuous state, away from the ground and from decks.

        Raises:
            ScenarioError: if the model has no continuous form.
        """
        del state, command, surroundings
        message = f"{type(self).__name__} has no rates, which trim and linearization require"
        raise ScenarioError(message)

    def states_without_rates(self) -> dict[str, str]:
        """Return the states that ``rates`` omits by name, and what it assumes of them."""
        return {}

    def limit_command(self, command: ActuatorCommand) -> ActuatorCommand:
        """Return the actuator command clipped to ``command_bounds``.

        Raises:
            CommandError: if it has a number too many or too few for the actuators.
        """
        numbers = to_columns(command)
        if self.actuator_count not in (0, len(numbers)):
            message = (
                f"{type(command).__name__}: got {len(numbers)} numbers; must be "
                f"{self.actuator_count}, one for each actuator of the vehicle"
            )
            raise CommandError(message)
        for name, (low, high) in self.command_bounds.items():
            numbers[name] = jnp.clip(numbers[name], low, high)
        return from_columns(type(command), numbers)

    def actuators(self, state: State) -> dict[str, Real]:
        """Return the actuators' measured values for the log, by name with unit."""
        del state
        return {}

    def wake(self, state: State) -> Wake:
        """Return the downwash of the vehicle; none by default."""
        del state
        return NO_WAKE

    @property
    def reach_m(self) -> Real | None:
        """Distance from the center of mass to the farthest foot; None without landing gear."""
        return None

    def ground_contact(self, state: State) -> GroundContact | None:
        """Return the state of the ground contact; None for a vehicle without landing gear."""
        del state
        return None

    def collider(self) -> Collider:
        """Return the vehicle's collision geometry and inertia for a contact engine.

        Raises:
            ScenarioError: if the model does not support contact by an engine.
        """
        message = (
            f"{type(self).__name__} does not support contact by a physics engine; write "
            "physics: compliant"
        )
        raise ScenarioError(message)

    def apply_contact(self, state: State, contact: ContactMotion) -> State:
        """Return the state after a step in which a contact engine moved the body."""
        raise NotImplementedError

    def limits(self, state: State) -> tuple[Limit, ...]:
        """Return the limits of this model's validity, in the order in which they are checked."""
        del state
        return ()


class AbstractFault(AbstractModel, Generic[ActuatorCommand]):
    """An actuator fault: changes the actuator command from ``at_s`` on.

    A vehicle's faults are sorted by ``at_s``, so that the number of active faults identifies them.

    Attributes:
        command_type: the class of the actuator command that the fault applies to.
        at_s: when it begins.
    """

    command_type: ClassVar[type]

    at_s: AbstractVar[Real]

    @classmethod
    def for_each_part(cls, at_s: float, dynamics: AbstractDynamics) -> "tuple[AbstractFault, ...]":
        """Return a fault of each part that can fail in this way; each loses its whole output."""
        del dynamics
        return (cls(at_s=at_s),)

    def part(self) -> str:
        """Return the name of the part that fails."""
        return self.event().partition(" fails")[0]

    def is_active(self, time_s: Real) -> Flag:
        """Return True if the fault has begun."""
        return time_s >= self.at_s

    def check(self, dynamics: AbstractDynamics) -> None:
        """Raise ScenarioError for a fault of a part, or of a kind, that the vehicle cannot have."""
        del dynamics

    @abstractmethod
    def apply(self, command: ActuatorCommand, time_s: Real) -> ActuatorCommand:
        """Return the command as the faulty actuators execute it."""

    @abstractmethod
    def event(self) -> str:
        """Return the description of the fault for the log."""
