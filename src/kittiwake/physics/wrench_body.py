"""A rigid body that takes its thrust and torque as asked for, and whatever else pushes it.

Source: uav_gazebo (drone plugin): thrust along the body's z axis, never negative, and torque,
without a model of rotors and without upper limits; the torque is given in body axes here.
"""

from functools import reduce
from operator import add
from typing import Annotated, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.component import AbstractDynamics
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parts import AbstractForce, Flow
from kittiwake.core.signals import ThrustTorque
from kittiwake.core.surroundings import Surroundings
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, Phase
from kittiwake.physics.rigid_body import (
    FlightState,
    Matrix6,
    Pose,
    RigidBody,
    Twist,
    advanced,
    attitude_rate,
    begun,
    flow_around,
)


class WrenchBody(AbstractDynamics):
    """Mass and inertia, with the mass of fluid that moves along and other forces if given."""

    native: ClassVar[type] = ThrustTorque

    mass_kg: Annotated[Real, POSITIVE]
    inertia_kgm2: Inertia
    forces: tuple[AbstractForce, ...] = ()
    added_mass: Matrix6 | None = None
    integrator: IntegratorName = eqx.field(static=True, default="rk4")

    @property
    def body(self) -> RigidBody:
        """What the wrench moves."""
        return RigidBody(self.mass_kg, self.inertia_kgm2, self.added_mass)

    def init(self, start: Kinematics, surroundings: Surroundings) -> FlightState:
        """At the start; nothing pushes yet but the air."""
        pose, twist = begun(start)
        wrench = self._wrench(flow_around(pose, twist, surroundings))
        return FlightState(Phase(pose, twist), wrench.force_body_n / self.mass_kg)

    def step(
        self,
        state: FlightState,
        command: ThrustTorque,
        surroundings: Surroundings,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> FlightState:
        """One step with command and wind held over it."""
        del key
        thrust_n = jnp.maximum(command.thrust_n, 0.0)
        commanded = Wrench(Vec3(0.0, 0.0, thrust_n), command.torque_body_nm)

        def derivative(phase: Phase[Pose, Twist]) -> Phase[Pose, Twist]:
            pose, twist = phase.configuration, phase.motion
            wrench = commanded + self._wrench(flow_around(pose, twist, surroundings))
            q = pose.q_world_from_body
            twist_rate = self.body.twist_rate(q, twist, wrench, surroundings.gravity_mps2)
            pose_rate = Pose(
                twist.velocity_world_mps, attitude_rate(q, twist.angular_velocity_body_radps)
            )
            return Phase(pose_rate, twist_rate)

        phase = INTEGRATORS[self.integrator].step(derivative, state.phase, dt_s)
        return advanced(phase, state.phase.motion, phase.motion, surroundings.gravity_mps2, dt_s)

    def kinematics(self, state: FlightState) -> Kinematics:
        """Where the vehicle is and how it moves."""
        return state.kinematics(state.phase.motion)

    def _wrench(self, flow: Flow) -> Wrench:
        return reduce(add, [force.wrench(flow) for force in self.forces], Wrench.zero())
