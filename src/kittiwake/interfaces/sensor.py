"""Sensor interface: maps the true state and the world to a measurement."""

from typing import ClassVar, Generic

from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.component import AbstractKeyedComponent, Output, State
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import RangesMeasurement
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.beam import Beam, FieldOfView
from kittiwake.pytree import Module
from kittiwake.world.environment import ProcessOutputs
from kittiwake.world.surroundings import Surroundings
from kittiwake.world.world import WorldModel


class SensorInputs(Module):
    """Inputs of a sensor.

    Attributes:
        time_s: time since the start of the simulation.
        truth: the true motion of the vehicle.
        surroundings: the conditions at the vehicle, such as wind and nearby obstacles.
        world: the world with its obstacles and fields.
        processes: the present output of each process of the world, by name.
    """

    time_s: Real
    truth: Kinematics
    surroundings: Surroundings
    world: WorldModel
    processes: ProcessOutputs


class AbstractSensor(AbstractKeyedComponent[State, SensorInputs, Output], Generic[State, Output]):
    """A sensor; ``measures`` is the subclass of ``AbstractMeasurement`` that ``step`` returns."""

    measures: ClassVar[type]
    # true for a sensor of the deck of the vehicle's partner
    sees_partner: ClassVar[bool] = False

    @property
    def renders(self) -> bool:
        """True if the sensor uses rendered images (``interfaces.renderer``)."""
        return False

    @property
    def image_size(self) -> int:
        """Count of logged numbers of a measurement that is an image; 0 for all other sensors."""
        return 0

    def measured_type(self) -> type:
        """Return the class of the fields that are measured; errors apply to these."""
        return self.measures

    def check(self, world: WorldModel) -> None:
        """Raise ScenarioError for a world that lacks what the sensor measures."""
        del world

    def ideal(self, inputs: SensorInputs) -> Output | None:
        """Return the measurement without any error; None if the sensor cannot give it."""
        del inputs

    def is_fresh(self, state: State) -> Flag:
        """Return False if the last step had no new measurement, so that the one before holds."""
        del state
        return True

    def unpowered(self) -> "AbstractSensor | None":
        """Return this sensor without power; None if its measurements cannot show a failure."""
        return None

    def beam_directions_body(self) -> tuple[Vec3, ...] | None:
        """Return the direction of each beam as a unit vector; None for sensors without beams."""
        return None

    def beam_geometry(self) -> dict[str, Beam]:
        """Return the beams in pictures and ROS by name; the name of a single beam is empty.

        By default they are those of ``beam_directions_body`` from the sensor's mount or position.
        """
        directions = self.beam_directions_body() or ()
        position: Vec3 = getattr(getattr(self, "mount", self), "position_body_m", Vec3.zero())
        if len(directions) == 1 and not issubclass(self.measures, RangesMeasurement):
            return {"": Beam(position, directions[0])}
        return {f"beam_{i}": Beam(position, d, str(i)) for i, d in enumerate(directions)}

    def field_of_view(self) -> FieldOfView | None:
        """Return the field of view of a camera; None for all other sensors."""
        return None

    def scan_angles_rad(self) -> Float[Array, " beams"] | None:
        """Return the equally spaced angles of the beams of a planar scan; None without a scan.

        They count to the left from the x axis of the mount.
        """
        return None

    def noise_deviations(self, period_s: float) -> dict[str, Real]:
        """Return the standard deviations of a sample's noise by field of the measurement.

        They do not include biases and drifts. Fields whose noise is unknown are left out.
        """
        del period_s
        return {}

    def step_with_ideal(
        self, state: State, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[State, Output, Output | None]:
        """Return the next state, the measurement, and the measurement without errors."""
        return *self.step(state, inputs, dt_s, key), self.ideal(inputs)
