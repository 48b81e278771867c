"""Rigid body with thrust and torque as commanded, and other forces.

Source: uav_gazebo (drone plugin): thrust along the body's z axis, never negative, and torque,
without a model of rotors and without upper limits; the torque is given in body axes here.
"""

from dataclasses import asdict
from functools import reduce
from operator import add
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.contact.deck import Deck
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import ThrustTorque
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parameters import Parameters
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.continuous import ContinuousState, StateRates, in_body_axes
from kittiwake.interfaces.parts import AbstractForce, Flow
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, MechanicalState
from kittiwake.physics.landing_gear import LandingGear
from kittiwake.physics.rigid_body import Matrix6, Pose, RigidBody, Twist, pose_rate
from kittiwake.physics.rigid_body_dynamics import (
    AbstractBody,
    ExternalForces,
    RigidBodyState,
    flow_around,
    next_rigid_body_state,
    pose_and_twist,
)
from kittiwake.pytree import Module, field
from kittiwake.world.interaction_input import NO_WAKE, Wake
from kittiwake.world.surroundings import Surroundings

UNLIMITED_N = 1e9


class WrenchBodyState(Module):
    """State at a tick, with the thrust of the last step."""

    rigid_body: RigidBodyState[Twist]
    thrust_n: Real


class WrenchBody(AbstractBody[WrenchBodyState, ThrustTorque, Twist]):
    """Rigid body with commanded thrust and torque, and optional added mass and forces.

    ``disc_area_m2`` is the area of the downwash; without it there is none.

    Attributes:
        mass_kg: total mass.
        inertia_kgm2: inertia about the center of mass; products are entries of the matrix.
        forces: further forces; none by default.
        added_mass: six rows of six numbers M_A in body axes, in the order (v, omega), in kg, kg m
            and kg m².
        disc_area_m2: area that the air of the thrust goes through, for downwash.
        integrator: integrator of the motion.
    """

    command_type: ClassVar[type] = ThrustTorque

    mass_kg: Annotated[Real, POSITIVE]
    inertia_kgm2: Inertia
    forces: tuple[AbstractForce, ...] = ()
    added_mass: Matrix6 | None = None
    landing_gear: LandingGear | None = None
    deck: Deck | None = None
    size_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    disc_area_m2: Annotated[Real, POSITIVE] | None = None
    integrator: IntegratorName = field(static=True, default="rk4")

    @property
    @override
    def body(self) -> RigidBody:
        return RigidBody(self.mass_kg, self.inertia_kgm2, self.added_mass)

    @override
    def vehicle_parameters(self, gravity_mps2: Real) -> Parameters:
        return {
            **super().vehicle_parameters(gravity_mps2),
            "mass_kg": self.mass_kg,
            "inertia_kgm2": asdict(self.inertia_kgm2),
            "max_thrust_n": UNLIMITED_N,
        }

    @override
    def hover_command(self, gravity_mps2: Real) -> ThrustTorque:
        return ThrustTorque(self.mass_kg * gravity_mps2, Vec3.zero())

    @override
    def init(self, start: Kinematics, surroundings: Surroundings) -> WrenchBodyState:
        pose, twist = pose_and_twist(start)
        wrench = self._wrench(flow_around(pose, twist, surroundings))
        return WrenchBodyState(
            self.initial_rigid_body_state(MechanicalState(pose, twist), wrench, surroundings), 0.0
        )

    @override
    def step(
        self,
        state: WrenchBodyState,
        command: ThrustTorque,
        surroundings: Surroundings,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> WrenchBodyState:
        del key
        began = state.rigid_body
        before = began.mechanical_state.velocities
        external = self.external_forces(began, before, surroundings, dt_s)

        def derivative(
            mechanical_state: MechanicalState[Pose, Twist], elapsed_s: Real
        ) -> MechanicalState[Pose, Twist]:
            return self._derivative(mechanical_state, command, external, elapsed_s)

        mechanical_state = INTEGRATORS[self.integrator].step(
            derivative, began.mechanical_state, dt_s
        )
        rigid_body = next_rigid_body_state(
            mechanical_state, before, mechanical_state.velocities, external, dt_s
        )
        return WrenchBodyState(rigid_body, jnp.maximum(command.thrust_n, 0.0))

    @override
    def rates(
        self, state: ContinuousState, command: ThrustTorque, surroundings: Surroundings
    ) -> StateRates:
        pose, twist = pose_and_twist(state.motion)
        external = ExternalForces(surroundings, None)
        rate = self._derivative(MechanicalState(pose, twist), command, external, 0.0).velocities
        return StateRates(
            turning_body_radps=twist.angular_velocity_body_radps,
            velocity_rate_body_mps2=in_body_axes(rate.velocity_world_mps, state.motion),
            angular_acceleration_body_radps2=rate.angular_velocity_body_radps,
            actuators={},
        )

    def _derivative(
        self,
        mechanical_state: MechanicalState[Pose, Twist],
        command: ThrustTorque,
        external: ExternalForces,
        elapsed_s: Real,
    ) -> MechanicalState[Pose, Twist]:
        pose, twist = mechanical_state.configuration, mechanical_state.velocities
        surroundings = external.surroundings
        thrust = Vec3(0.0, 0.0, jnp.maximum(command.thrust_n, 0.0))
        wrench = Wrench(thrust, command.torque_body_nm)
        wrench = wrench + self._wrench(flow_around(pose, twist, surroundings))
        wrench = wrench + external.wrench(pose, twist, elapsed_s)
        twist_rate = self.body.twist_rate(
            pose.q_world_from_body, twist, wrench, surroundings.gravity_mps2
        )
        return MechanicalState(pose_rate(pose, twist), twist_rate)

    @override
    def with_twist(self, velocities: Twist, twist: Twist) -> Twist:
        del velocities
        return twist

    @override
    def kinematics(self, state: WrenchBodyState) -> Kinematics:
        return state.rigid_body.kinematics(state.rigid_body.mechanical_state.velocities)

    @override
    def actuators(self, state: WrenchBodyState) -> dict[str, Real]:
        return {"thrust_n": state.thrust_n}

    @override
    def wake(self, state: WrenchBodyState) -> Wake:
        if self.disc_area_m2 is None:
            return NO_WAKE
        return Wake(state.thrust_n, self.disc_area_m2)

    def _wrench(self, flow: Flow) -> Wrench:
        return reduce(add, [force.wrench(flow) for force in self.forces], Wrench.zero())
