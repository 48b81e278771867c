"""What a body in the air is built of: rotors, and other forces."""

from abc import abstractmethod
from typing import Any

import equinox as eqx

from kittiwake.core.wrench import Wrench
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.surroundings import Shear, Surroundings


class Flow(eqx.Module):
    """How a body moves through the air.

    ``airspeed_body_mps`` is the velocity of its center of mass less the wind there; ``shears_body``
    are those of the surroundings, in body axes.
    """

    airspeed_body_mps: Vec3
    angular_velocity_body_radps: Vec3
    q_world_from_body: Quaternion
    surroundings: Surroundings
    shears_body: tuple[Shear, ...] = ()

    def airspeed_at(self, point_body_m: Vec3) -> Vec3:
        """The velocity of a point of the body less the wind there, in body axes."""
        airspeed = self.airspeed_body_mps + self.angular_velocity_body_radps.cross(point_body_m)
        for shear in self.shears_body:
            airspeed = airspeed - shear.wind_mps * shear.slope_pm.dot(point_body_m)
        return airspeed


class AbstractForce(eqx.Module):
    """Pushes a body, by its motion through the air alone."""

    @abstractmethod
    def wrench(self, flow: Flow) -> Wrench:
        """About the center of mass."""


class AbstractRotor(eqx.Module):
    """One kind of rotor with its motor; its axis is the body's z axis.

    ``spin`` is +1 for a rotor that turns to the left seen from above, -1 for the other sense.
    """

    @abstractmethod
    def wrench(self, speed_radps: Real, spin: Real, flow: Flow, hub_body_m: Vec3) -> Wrench:
        """About the hub."""

    @abstractmethod
    def speed_rate_radps2(self, speed_radps: Real, commanded_radps: Real) -> Real:
        """How the speed follows its command."""

    @property
    @abstractmethod
    def disc_radius_m(self) -> Real:
        """Of the circle that the blades sweep."""

    @property
    @abstractmethod
    def speed_range_radps(self) -> tuple[Real, Real]:
        """The slowest and the fastest speed that the motor takes as a command."""

    @property
    @abstractmethod
    def thrust_factor_ns2(self) -> Real:
        """Thrust over the square of the speed, near hover in still air."""

    @property
    @abstractmethod
    def torque_factor_nms2(self) -> Real:
        """Torque against the rotation over the square of the speed, near hover in still air."""

    @property
    @abstractmethod
    def axial_inertia_kgm2(self) -> Real:
        """Of everything that turns."""


class AbstractGroundEffect(eqx.Module):
    """How a surface below a rotor changes its thrust."""

    @abstractmethod
    def thrust_ratio(self, height_m: Real, radius_m: Real) -> Real:
        """Thrust over that far from any surface, of a disc at a height over one."""


class AbstractBattery(eqx.Module):
    """What feeds the motors."""

    @abstractmethod
    def init(self) -> Any:
        """Its state at the start."""

    @abstractmethod
    def step(self, state: Any, power_w: Real, dt_s: Real, *, charged: Flag = False) -> Any:
        """The state after a step at a power drawn, while it is connected to a charger or not."""

    @abstractmethod
    def speed_ratio(self, state: Any) -> Real:
        """How fast a motor can turn now, over its fastest speed on a full battery at rest."""

    @abstractmethod
    def readings(self, state: Any) -> dict[str, Real]:
        """What there is to log, by name with unit."""
