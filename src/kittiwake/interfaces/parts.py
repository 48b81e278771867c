"""Interfaces of the parts of a flying body: forces, rotors, ground effect and battery."""

from abc import abstractmethod
from typing import Generic

from kittiwake.core.component import AbstractModel, State
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module
from kittiwake.world.surroundings import Shear, Surroundings


class Flow(Module):
    """Motion of a body relative to the air.

    ``airspeed_body_mps`` is the velocity of the center of mass minus the wind there;
    ``shears_body`` are the wind shears of the surroundings, in body axes.
    """

    airspeed_body_mps: Vec3
    angular_velocity_body_radps: Vec3
    q_world_from_body: Quaternion
    surroundings: Surroundings
    shears_body: tuple[Shear, ...] = ()

    def airspeed_at(self, point_body_m: Vec3) -> Vec3:
        """Return the velocity of a point of the body minus the wind there, in body axes."""
        airspeed = self.airspeed_body_mps + self.angular_velocity_body_radps.cross(point_body_m)
        for shear in self.shears_body:
            airspeed = airspeed - shear.wind_mps * shear.slope_pm.dot(point_body_m)
        return airspeed


class AbstractForce(AbstractModel):
    """A force and torque on a body that depend on its motion relative to the air."""

    @abstractmethod
    def wrench(self, flow: Flow) -> Wrench:
        """Return the wrench about the center of mass."""


class AbstractRotor(AbstractModel):
    """A rotor with its motor; its axis is the body's z axis.

    ``spin`` is +1 for a rotor that turns counterclockwise seen from above, -1 for clockwise.
    """

    @abstractmethod
    def wrench(self, speed_radps: Real, spin: Real, flow: Flow, hub_body_m: Vec3) -> Wrench:
        """Return the wrench about the hub."""

    @abstractmethod
    def speed_rate_radps2(self, speed_radps: Real, commanded_radps: Real) -> Real:
        """Return the angular acceleration of the rotor for a commanded speed."""

    @property
    @abstractmethod
    def disc_radius_m(self) -> Real:
        """Radius of the circle that the blades sweep."""

    @property
    @abstractmethod
    def speed_range_radps(self) -> tuple[Real, Real]:
        """Lowest and highest speed that the motor accepts as a command."""

    @property
    @abstractmethod
    def thrust_factor_ns2(self) -> Real:
        """Thrust divided by the square of the speed, near hover in still air."""

    @property
    @abstractmethod
    def torque_factor_nms2(self) -> Real:
        """Drag torque divided by the square of the speed, near hover in still air."""

    @property
    @abstractmethod
    def axial_inertia_kgm2(self) -> Real:
        """Moment of inertia of all rotating parts about the rotor axis."""


class AbstractGroundEffect(AbstractModel):
    """Effect of a surface below a rotor on its thrust."""

    @abstractmethod
    def thrust_ratio(self, height_m: Real, radius_m: Real) -> Real:
        """Return the thrust at a height above a surface, divided by the thrust far from any."""


class AbstractBattery(AbstractModel, Generic[State]):
    """Battery that supplies the motors."""

    @abstractmethod
    def init(self) -> State:
        """Return the initial state."""

    @abstractmethod
    def step(self, state: State, power_w: Real, dt_s: Real, *, charged: Flag = False) -> State:
        """Return the state after a step with ``power_w`` drawn; ``charged`` connects a charger."""

    @abstractmethod
    def speed_ratio(self, state: State) -> Real:
        """Return the present top speed of a motor over that on a full battery without load."""

    @abstractmethod
    def readings(self, state: State) -> dict[str, Real]:
        """Return the values to log, by name with unit."""
