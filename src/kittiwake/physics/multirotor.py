"""A rigid body with four rotors, and with whatever else pushes it.

The wrench is the sum of the rotors' (each about its hub, moved to the centre of mass) and of the
other forces. A rotor of axial inertia J with spin s resists being turned over with the body, and
turns the body against its own acceleration (Bouabdallah 2007, "Design and control of quadrotors
with application to autonomous flying", equations 2.12-2.14):

    h = sum of s J Omega e_z,    tau_z = -sum of s J dOmega/dt.

Body and rotor speeds are integrated together; the command and the wind are held over the step.
"""

from functools import reduce
from operator import add
from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.apart import apart
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.component import AbstractDynamics
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parts import AbstractForce, AbstractRotor, Flow
from kittiwake.core.signals import RotorSpeeds
from kittiwake.core.surroundings import Surroundings
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real, is_zero
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, Phase
from kittiwake.physics.rigid_body import (
    FlightState,
    Pose,
    RigidBody,
    Twist,
    advanced,
    attitude_rate,
    begun,
    flow_around,
)

Speeds = tuple[Real, Real, Real, Real]


class RotorMotion(eqx.Module):
    """How the body moves and how fast its rotors turn."""

    twist: Twist
    speeds_radps: Speeds


class Multirotor(AbstractDynamics):
    """Four equal rotors, each at its place and with its sense of rotation (+1: to the left)."""

    native: ClassVar[type] = RotorSpeeds

    mass_kg: Annotated[Real, POSITIVE]
    inertia_kgm2: Inertia
    rotor: AbstractRotor
    hubs_body_m: tuple[Vec3, Vec3, Vec3, Vec3]
    spins: tuple[Real, Real, Real, Real]
    forces: tuple[AbstractForce, ...] = ()
    integrator: IntegratorName = eqx.field(static=True, default="rk4")

    def __check_init__(self) -> None:
        """Refuses spins other than one turn to the left or to the right."""
        for spin in self.spins:
            if isinstance(spin, int | float) and abs(spin) != 1.0:
                message = (
                    f"spins: {spin:g} is not allowed; write 1 for a rotor that turns to the left "
                    "seen from above, -1 for one that turns to the right"
                )
                raise ValueError(message)

    @property
    def body(self) -> RigidBody:
        """What the wrench moves."""
        return RigidBody(self.mass_kg, self.inertia_kgm2)

    @property
    def command_bounds(self) -> dict[str, tuple[Real, Real]]:
        """The motors' range."""
        return {f"speeds_{i}_radps": self.rotor.speed_range_radps for i in range(len(self.spins))}

    def init(self, start: Kinematics, surroundings: Surroundings) -> FlightState:
        """At the start, the rotors at the speed that carries the weight."""
        weight_n = self.mass_kg * surroundings.gravity_mps2
        speed = jnp.sqrt(weight_n / (len(self.spins) * self.rotor.thrust_factor_ns2))
        pose, twist = begun(start)
        motion = RotorMotion(twist, (speed, speed, speed, speed))
        wrench = self._wrench(flow_around(pose, twist, surroundings), motion.speeds_radps)
        return FlightState(Phase(pose, motion), wrench.force_body_n / self.mass_kg)

    def step(
        self,
        state: FlightState,
        command: RotorSpeeds,
        surroundings: Surroundings,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> FlightState:
        """One step with command and wind held over it."""
        del key

        def derivative(phase: Phase[Pose, RotorMotion]) -> Phase[Pose, RotorMotion]:
            return self._derivative(phase, command, surroundings)

        phase = INTEGRATORS[self.integrator].step(derivative, state.phase, dt_s)
        return advanced(
            phase, state.phase.motion.twist, phase.motion.twist, surroundings.gravity_mps2, dt_s
        )

    def kinematics(self, state: FlightState) -> Kinematics:
        """Where the vehicle is and how it moves."""
        return state.kinematics(state.phase.motion.twist)

    def actuators(self, state: FlightState) -> dict[str, Real]:
        """The rotors' speeds."""
        speeds = state.phase.motion.speeds_radps
        return {f"rotor_{i}_radps": speed for i, speed in enumerate(speeds)}

    def _derivative(
        self, phase: Phase[Pose, RotorMotion], command: RotorSpeeds, surroundings: Surroundings
    ) -> Phase[Pose, RotorMotion]:
        pose, twist, speeds = phase.configuration, phase.motion.twist, phase.motion.speeds_radps
        one, two, three, four = (
            self.rotor.speed_rate_radps2(speed, wanted)
            for speed, wanted in zip(speeds, command.speeds_radps, strict=True)
        )
        rates = (one, two, three, four)
        wrench = apart(self._wrench, flow_around(pose, twist, surroundings), speeds)
        momentum, reaction = self._gyroscopic(speeds), self._gyroscopic(rates)
        if momentum is not None and reaction is not None:
            wrench = Wrench(wrench.force_body_n, wrench.torque_body_nm - reaction)
        q = pose.q_world_from_body
        twist_rate = self.body.twist_rate(q, twist, wrench, surroundings.gravity_mps2, momentum)
        pose_rate = Pose(
            twist.velocity_world_mps, attitude_rate(q, twist.angular_velocity_body_radps)
        )
        return Phase(pose_rate, RotorMotion(twist_rate, rates))

    def _wrench(self, flow: Flow, speeds_radps: Speeds) -> Wrench:
        rotors = [
            self.rotor.wrench(speed, spin, flow, hub).at(hub)
            for speed, spin, hub in zip(speeds_radps, self.spins, self.hubs_body_m, strict=True)
        ]
        whole = reduce(add, [*rotors, *(force.wrench(flow) for force in self.forces)])
        return jax.tree.map(jnp.asarray, whole)

    def _gyroscopic(self, speeds: Speeds) -> Vec3 | None:
        """The rotors' momentum at these speeds, or its rate; None where they have no inertia."""
        inertia = self.rotor.axial_inertia_kgm2
        if is_zero(inertia):
            return None
        turning = sum(spin * speed for spin, speed in zip(self.spins, speeds, strict=True))
        return Vec3(0.0, 0.0, inertia * turning)
