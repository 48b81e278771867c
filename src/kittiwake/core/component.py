"""The one shape that everything with a behaviour has.

A component is a frozen record of parameters. What evolves is its state, made by ``init`` and
replaced by ``step``; randomness comes in as a key. Each family fixes what goes in and what comes
out. A component is written for one vehicle; the simulation maps it over many.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import field, fields
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.columns import from_columns, to_columns
from kittiwake.core.errors import CommandError
from kittiwake.core.footing import Footing
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.limit import Limit
from kittiwake.core.presence import NO_WAKE, Presence, Wake
from kittiwake.core.signals import OneOf, Signal
from kittiwake.core.support import Deck, Support
from kittiwake.core.surroundings import Air, Surroundings
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3


class AbstractComponent(eqx.Module):
    """Parameters, with ``init(key) -> state``; ``default_rate_hz`` None means every step."""

    default_rate_hz: ClassVar[float | None] = None

    def init(self, key: PRNGKeyArray) -> Any:
        """The state before the first step; nothing for a component without memory."""
        del key
        return ()


class Situation(NamedTuple):
    """Where something will be used, known before anything is compiled.

    ``world`` is the ``core.world.World``, ``sensors`` are the vehicle's by name, and ``periods_s``
    how long each of them waits between its samples. ``begins_world_m`` is where a task begins that
    is not the first one of a mission, as far as that is known.
    """

    world: Any
    dynamics: "AbstractDynamics"
    start: Start
    sensors: Mapping[str, "AbstractSensor"]
    periods_s: Mapping[str, float] = MappingProxyType({})
    begins_world_m: Vec3 | None = None

    @property
    def place_world_m(self) -> Vec3:
        """Where the task begins: where the one before leads, or where the vehicle starts."""
        begins = self.begins_world_m
        return self.start.position_world_m if begins is None else begins


class GuidanceInputs(eqx.Module):
    """What guidance may know.

    ``time_s`` counts from when the guidance began. ``measurements`` are what the sensors say by
    name, or said last where ``fresh`` is False; ``readings`` is what the vehicle tells of its
    actuators and its battery, as in logs behind ``act_``.
    """

    time_s: Real
    tick: Count
    estimate: Kinematics
    measurements: dict[str, Any] = field(default_factory=dict)
    fresh: dict[str, Flag] = field(default_factory=dict)
    readings: dict[str, Real] = field(default_factory=dict)


class AbstractGuidance(AbstractComponent):
    """Says where to go: estimate and time in, a signal out.

    ``tracked`` says whether the set point is to be met at every instant, so that the distance to it
    is an error; that to a place on the way is none.
    """

    tracked: ClassVar[bool] = True

    def prepared(self, situation: Situation) -> "AbstractGuidance":
        """This guidance as it will be flown, with what can be computed before.

        Raises:
            ScenarioError: if it cannot be done there.
        """
        del situation
        return self

    @abstractmethod
    def signal_types(self) -> tuple[type[Signal], ...]:
        """The kinds of signal that this guidance gives; if several, it gives a ``OneOf`` them."""

    @abstractmethod
    def step(
        self, state: Any, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Signal | OneOf]:
        """The next state and the signal to follow."""

    def leads_to(self, situation: Situation) -> Vec3:
        """Where the vehicle is when the task is done; where it began, if that is not known."""
        return situation.place_world_m

    def finished(self, state: Any) -> Flag:
        """Whether the task is done; never, for one without an end."""
        del state
        return False

    @property
    def ends(self) -> bool:
        """Whether the task has an end."""
        return type(self).finished is not AbstractGuidance.finished

    def phases(self) -> tuple[str, ...]:
        """What the log says of the parts of the task; of one that is empty nothing."""
        return ("",)

    def phase(self, state: Any) -> Count:
        """Which of the parts is going on; a change is an event in the log."""
        del state
        return 0

    def legs(self, state: Any) -> Count:
        """How many waypoints have been reached; a change is an event in the log."""
        del state
        return 0

    def begun_at(self, state: Any, name: str) -> Any:
        """The state in which somebody has asked for a part of the task by its name.

        Raises:
            CommandError: if there is no such part.
        """
        del state
        message = (
            f"this guidance has no step '{name}', nor any other; steps are those of a mission: "
            "write guidance: {type: mission, steps: [...]}"
        )
        raise CommandError(message)

    def planned_legs(self) -> int | None:
        """How many waypoints there are to reach; None where that has no meaning or no end."""
        return None

    def end_s(self) -> float | None:
        """When the task ends by itself; None if it never does."""
        return None


class AvoidanceInputs(eqx.Module):
    """What is asked for, and what an avoidance may know, as in ``GuidanceInputs``."""

    signal: Any
    estimate: Kinematics
    measurements: dict[str, Any]
    fresh: dict[str, Flag]


class AbstractAvoidance(AbstractComponent):
    """Changes what is asked for on one rung of the ladder, away from what the sensors see."""

    rung: ClassVar[type]

    def prepared(self, situation: Situation) -> "AbstractAvoidance":
        """This avoidance for a vehicle with these sensors.

        Raises:
            ScenarioError: if it lacks one that is needed.
        """
        del situation
        return self

    @abstractmethod
    def step(
        self, state: Any, inputs: AvoidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Signal]:
        """The next state, and the signal to follow instead, of the same kind."""


class AbstractController(AbstractComponent):
    """Leads from one rung of the ladder to a lower one."""

    consumes: ClassVar[type]
    produces: ClassVar[type]

    @classmethod
    def fitted(cls, dynamics: "AbstractDynamics", gravity_mps2: Real) -> dict[str, Any]:
        """Parameters that follow from the vehicle it flies, where nobody gives others.

        They are plain values, as files hold them: those that the vehicle tells by their name.

        Raises:
            ScenarioError: if it cannot fly this vehicle.
        """
        names = {field.name for field in fields(cls)}
        told = dynamics.told(gravity_mps2)
        return {name: value for name, value in told.items() if name in names}

    @abstractmethod
    def step(
        self, state: Any, inputs: tuple[Any, Kinematics], dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Signal]:
        """The next state and the lower command, from the higher command and the estimate."""


class SensorInputs(eqx.Module):
    """What there is to measure.

    ``world`` is the ``core.world.World``; ``processes`` holds by name what evolves in it, as it is
    now.
    """

    time_s: Real
    truth: Kinematics
    surroundings: Surroundings
    world: Any
    processes: dict[str, Any]


class AbstractSensor(AbstractComponent):
    """Measures the truth with its errors; ``measures`` is the ``AbstractMeasurement`` it gives."""

    measures: ClassVar[type]

    def check(self, world: Any) -> None:
        """Refuses a world in which there is not what it measures, before anything is compiled."""
        del world

    @abstractmethod
    def step(
        self, state: Any, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Any]:
        """The next state and the measurement, a module whose fields carry frame and unit."""

    def ideal(self, inputs: SensorInputs) -> Any:
        """The measurement without any error; None where there is no such thing."""
        del inputs

    def looks_body(self) -> tuple[Vec3, ...] | None:
        """Where each of its ranges is measured, as unit vectors; None for what has no such."""
        return None

    def step_beside_ideal(
        self, state: Any, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Any, Any]:
        """The next state, the measurement and the one without any error, of the same inputs."""
        return *self.step(state, inputs, dt_s, key), self.ideal(inputs)


class EstimatorInputs(eqx.Module):
    """What an estimator works on.

    The measurements by sensor name, whether each is new, and the truth for those that are told it.
    """

    truth: Kinematics
    measurements: dict[str, Any]
    fresh: dict[str, Flag]


class Uncertainty(eqx.Module):
    """What an estimator believes of its own errors.

    ``covariance`` is that of the true less the estimated position and velocity in the world, in m
    and m/s, and of the rotation vector in rad, in the world's axes, that turns the estimated
    attitude into the true one; in this order. Of what it says nothing, there are zeros.
    """

    covariance: Float[Array, "9 9"]


class AbstractEstimator(AbstractComponent):
    """Makes an estimate of the vehicle's motion out of measurements."""

    def begin(self, start: Kinematics, key: PRNGKeyArray) -> Any:
        """The state before the first step, of an estimator that may be told where it starts."""
        del start
        return self.init(key)

    def uncertainty(self, state: Any) -> Uncertainty | None:
        """What it believes of the errors of the estimate that was made last; None if nothing."""
        del state

    def check(self, sensors: Mapping[str, AbstractSensor]) -> None:
        """Refuses a vehicle without the sensors that it needs, before anything is compiled."""
        del sensors

    def prepared(self, situation: Situation) -> "AbstractEstimator":
        """This estimator, told what it has to know of the world and its sensors.

        Raises:
            ScenarioError: if it cannot work there.
        """
        del situation
        return self

    @abstractmethod
    def step(
        self, state: Any, inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Kinematics]:
        """The next state and the estimate."""


class AbstractTurbulence(AbstractComponent):
    """Gusts along one vehicle's path."""

    @abstractmethod
    def step(
        self, state: Any, inputs: tuple[Kinematics, Surroundings], dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Vec3]:
        """The next state and the gust velocity in the world, to be added to the mean wind."""


class AbstractWind(eqx.Module):
    """The mean wind as a field."""

    @abstractmethod
    def velocity_world_mps(self, height_above_ground_m: Real) -> Vec3:
        """The velocity of the air at a height."""


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
    def __call__(self, vehicles: Presence, surroundings: Surroundings) -> Surroundings:
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
    def support(self, time_s: Real) -> Support:
        """Where it is at a time, and how it moves."""


class AbstractProcess(AbstractComponent):
    """Something of the world that evolves by itself and that sensors see."""

    def end_s(self) -> float | None:
        """Up to when it is known; None if for ever."""
        return None

    def remarks(self, duration_s: float) -> tuple[str, ...]:
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


class AbstractFault(eqx.Module):
    """Something that breaks at a time: what the vehicle makes of its native command from then on.

    Faults are given in order of ``at_s``, so that the number of those that have begun names them.
    """

    signal: ClassVar[type]

    at_s: eqx.AbstractVar[Real]

    def begun(self, time_s: Real) -> Flag:
        """Whether it has happened."""
        return time_s >= self.at_s

    def check(self, bounds: dict[str, tuple[Real, Real]]) -> None:
        """Refuses what a vehicle with these bounds of its command could not do."""
        del bounds

    @abstractmethod
    def broken(self, command: Any, time_s: Real) -> Any:
        """The command as it is carried out."""

    @abstractmethod
    def event(self) -> str:
        """What the log says of it."""


class AbstractDynamics(eqx.Module):
    """How a vehicle's own state follows its native command.

    ``size_body_m`` are the sides of the box around it, ``deck`` is what others can stand on.
    """

    native: ClassVar[type]

    size_body_m: eqx.AbstractVar[Vec3]
    deck: eqx.AbstractVar[Deck | None]

    @property
    def command_bounds(self) -> dict[str, tuple[Real, Real]]:
        """What the numbers of a native command may be, by column."""
        return {}

    def told(self, gravity_mps2: Real) -> dict[str, Any]:
        """What controllers are told of it, as plain values by the names of their parameters."""
        return {"gravity_mps2": gravity_mps2}

    def check_start(self, start: Start) -> None:
        """Refuses a start from which this model could not begin, before anything is compiled."""
        del start

    def check_rate(self, rate_hz: Real, gravity_mps2: Real) -> None:
        """Refuses steps that are too coarse for this vehicle, before anything is compiled."""
        del rate_hz, gravity_mps2

    def remarks(self, gravity_mps2: Real) -> tuple[str, ...]:
        """What is allowed and may yet not be meant, as sentences without their ends."""
        del gravity_mps2
        return ()

    @property
    def standing_height_m(self) -> Real | None:
        """Of its centre of mass over level ground; None if it has no feet."""
        return None

    def off(self) -> Any:
        """The native command of a vehicle that is switched off."""
        return self.native.off()

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

    def taken(self, command: Any) -> Any:
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
        """How far from its centre of mass it can touch a surface; None if it has no feet."""
        return None

    def footing(self, state: Any) -> Footing | None:
        """How it stands; None for a vehicle without feet."""
        del state
        return None

    def limits(self, state: Any) -> tuple[Limit, ...]:
        """The ranges in which this model means something, in the order they are judged in."""
        del state
        return ()
