"""What a body in the air is built of: rotors, and other forces."""

from abc import abstractmethod

import equinox as eqx

from kittiwake.core.surroundings import Surroundings
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3


class Flow(eqx.Module):
    """How a body moves through the air; ``airspeed_body_mps`` is its velocity less the wind."""

    airspeed_body_mps: Vec3
    angular_velocity_body_radps: Vec3
    q_world_from_body: Quaternion
    surroundings: Surroundings


class AbstractForce(eqx.Module):
    """Pushes a body, by its motion through the air alone."""

    @abstractmethod
    def wrench(self, flow: Flow) -> Wrench:
        """About the centre of mass."""


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
