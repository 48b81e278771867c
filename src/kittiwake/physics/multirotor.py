"""Rigid body with rotors and other forces.

The wrench is the sum of those of the rotors (each about its hub, transferred to the center of mass)
and of the other forces. A rotor of axial inertia J with spin s causes a gyroscopic torque, and a
reaction torque when it accelerates (Bouabdallah 2007, "Design and control of quadrotors with
application to autonomous flying", equations 2.12-2.14):

    h = sum of s J Omega e_z,    tau_z = -sum of s J dOmega/dt.

Body and rotor speeds are integrated together; the command and the wind are held over the step. The
voltage of a battery limits the commanded rotor speeds. The battery supplies the aerodynamic power
of each rotor, torque times speed; the power that accelerates the rotors is neglected. Near a
surface the thrust is changed by the ground effect, at each hub's height.
"""

import math
from dataclasses import asdict
from functools import reduce
from operator import add
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.contact.deck import Deck
from kittiwake.core.arrays import ArrayTree
from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import RotorSpeeds
from kittiwake.core.errors import ScenarioError
from kittiwake.core.fusion_barrier import fusion_barrier
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parameters import Parameters
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real, is_zero
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.continuous import ContinuousState, StateRates, in_body_axes
from kittiwake.interfaces.parts import (
    AbstractBattery,
    AbstractForce,
    AbstractGroundEffect,
    AbstractRotor,
    Flow,
)
from kittiwake.interfaces.time_constant import TimeConstant
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, MechanicalState
from kittiwake.physics.landing_gear import LandingGear
from kittiwake.physics.rigid_body import Pose, RigidBody, Twist, pose_rate
from kittiwake.physics.rigid_body_dynamics import (
    AbstractBody,
    ExternalForces,
    RigidBodyState,
    flow_around,
    next_rigid_body_state,
    pose_and_twist,
)
from kittiwake.physics.simulated_time_constant import simulated_time_constant
from kittiwake.pytree import Module, field
from kittiwake.world.interaction_input import Wake
from kittiwake.world.surroundings import Surroundings

Speeds = tuple[Real, ...]

# largest step in time constants of the rotors' lag; all integrators are stable below
LAG_OF_A_STEP = 2.0
# share of a time constant that is rounding
ROUNDING = 1e-9


class RotorVelocities(Module):
    """Twist of the body and rotor speeds."""

    twist: Twist
    speeds_radps: Speeds


class MultirotorState(Module):
    """State at a tick; ``battery`` is the battery's state, None without one."""

    rigid_body: RigidBodyState[RotorVelocities]
    battery: ArrayTree


class Multirotor(AbstractBody[MultirotorState, RotorSpeeds, RotorVelocities]):
    """Body with equal rotors, each with a hub position and a spin (+1: counterclockwise).

    Attributes:
        mass_kg: total mass.
        inertia_kgm2: inertia about the center of mass; products are entries of the matrix.
        rotor: rotor type with its parameters; all rotors are equal.
        hubs_body_m: position of each rotor from the center of mass.
        spins: 1 for each rotor that turns counterclockwise, seen from above, and -1 for each other.
        forces: further forces; none by default.
        ground_effect: thrust near a surface; none by default.
        battery: battery of the rotors; none by default.
        integrator: integrator of the motion.
    """

    command_type: ClassVar[type] = RotorSpeeds

    mass_kg: Annotated[Real, POSITIVE]
    inertia_kgm2: Inertia
    rotor: AbstractRotor
    hubs_body_m: tuple[Vec3, ...]
    spins: tuple[Real, ...]
    forces: tuple[AbstractForce, ...] = ()
    ground_effect: AbstractGroundEffect | None = None
    battery: AbstractBattery | None = None
    landing_gear: LandingGear | None = None
    deck: Deck | None = None
    size_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    integrator: IntegratorName = field(static=True, default="rk4")

    def __post_init__(self) -> None:
        """Raise ValueError for an empty speed range, and for rotors without a hub or a spin."""
        if not self.hubs_body_m:
            message = "hubs_body_m: got none; must be at least one, such as [[0.2, 0, 0]]"
            raise ValueError(message)
        if len(self.spins) != len(self.hubs_body_m):
            message = (
                f"spins: got {len(self.spins)}; must be {len(self.hubs_body_m)}, one for each of "
                "hubs_body_m"
            )
            raise ValueError(message)
        slowest, fastest = self.rotor.speed_range_radps
        plain = isinstance(slowest, int | float) and isinstance(fastest, int | float)
        if plain and not slowest < fastest:
            message = (
                f"rotor.min_speed_radps: {slowest:g} is not allowed; must be below "
                f"max_speed_radps, {fastest:g}"
            )
            raise ValueError(message)
        for spin in self.spins:
            if isinstance(spin, int | float) and abs(spin) != 1.0:
                message = (
                    f"spins: {spin:g} is not allowed; write 1 for a rotor that turns "
                    "counterclockwise seen from above, -1 for clockwise"
                )
                raise ValueError(message)

    @property
    @override
    def body(self) -> RigidBody:
        return RigidBody(self.mass_kg, self.inertia_kgm2)

    @property
    @override
    def actuator_count(self) -> int:
        return len(self.spins)

    @property
    @override
    def command_bounds(self) -> dict[str, tuple[Real, Real]]:
        return {f"speeds_{i}_radps": self.rotor.speed_range_radps for i in range(len(self.spins))}

    @override
    def vehicle_parameters(self, gravity_mps2: Real) -> Parameters:
        rotor, (_, fastest) = self.rotor, self.rotor.speed_range_radps
        return {
            **super().vehicle_parameters(gravity_mps2),
            "mass_kg": self.mass_kg,
            "inertia_kgm2": asdict(self.inertia_kgm2),
            "max_thrust_n": len(self.spins) * rotor.thrust_factor_ns2 * fastest**2,
            "hubs_body_m": [[hub.x, hub.y, hub.z] for hub in self.hubs_body_m],
            "spins": list(self.spins),
            "thrust_ns2": rotor.thrust_factor_ns2,
            "torque_per_thrust_m": rotor.torque_factor_nms2 / rotor.thrust_factor_ns2,
            "max_speed_radps": fastest,
        }

    @override
    def check_rate(self, rate_hz: Real, gravity_mps2: Real) -> None:
        super().check_rate(rate_hz, gravity_mps2)
        lag_per_s = self._lag_per_s()
        least_hz = (1.0 - ROUNDING) * lag_per_s / LAG_OF_A_STEP
        if rate_hz < least_hz:
            message = (
                f"rotor: its time constant of {1.0 / lag_per_s:.3g} s is too short for {rate_hz:g} "
                f"Hz; write time.rate_hz: {math.ceil(least_hz)} or more"
            )
            raise ScenarioError(message)

    @override
    def time_constants(self, rate_hz: Real, gravity_mps2: Real) -> dict[str, TimeConstant]:
        del gravity_mps2
        lag_s = 1.0 / self._lag_per_s()
        return {"rotors": simulated_time_constant(self.integrator, lag_s, rate_hz)}

    def _lag_per_s(self) -> float:
        """Return the rate of the rotors' faster lag, when they speed up or slow down."""
        # the motor's acceleration is in proportion to the gap to the commanded speed
        speed = 0.5 * float(sum(self.rotor.speed_range_radps))
        return max(
            float(self.rotor.speed_rate_radps2(speed, commanded)) / (commanded - speed)
            for commanded in (0.0, 2.0 * speed)
        )

    @override
    def warnings(self, gravity_mps2: Real) -> tuple[str, ...]:
        fastest = float(self.rotor.speed_range_radps[1])
        thrust_n = len(self.spins) * float(self.rotor.thrust_factor_ns2) * fastest**2
        weight_n = float(self.mass_kg * gravity_mps2)
        if thrust_n > weight_n:
            return ()
        return (f"the largest thrust is {thrust_n:.3g} N, and the weight is {weight_n:.3g} N",)

    @override
    def hover_command(self, gravity_mps2: Real) -> RotorSpeeds:
        return RotorSpeeds(self._hover_speeds(gravity_mps2))

    @override
    def init(self, start: Kinematics, surroundings: Surroundings) -> MultirotorState:
        pose, twist = pose_and_twist(start)
        velocities = RotorVelocities(twist, self._hover_speeds(surroundings.gravity_mps2))
        wrench = self._wrench(flow_around(pose, twist, surroundings), velocities.speeds_radps)
        rigid_body = self.initial_rigid_body_state(
            MechanicalState(pose, velocities), wrench, surroundings
        )
        return MultirotorState(rigid_body, None if self.battery is None else self.battery.init())

    @override
    def step(
        self,
        state: MultirotorState,
        command: RotorSpeeds,
        surroundings: Surroundings,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> MultirotorState:
        del key
        began = state.rigid_body
        before = began.mechanical_state.velocities.twist
        external = self.external_forces(began, before, surroundings, dt_s)
        commanded = self._battery_limited(state.battery, command.speeds_radps)

        def derivative(
            mechanical_state: MechanicalState[Pose, RotorVelocities], elapsed_s: Real
        ) -> MechanicalState[Pose, RotorVelocities]:
            return self._derivative(mechanical_state, commanded, external, elapsed_s)

        mechanical_state = INTEGRATORS[self.integrator].step(
            derivative, began.mechanical_state, dt_s
        )
        rigid_body = next_rigid_body_state(
            mechanical_state, before, mechanical_state.velocities.twist, external, dt_s
        )
        return MultirotorState(rigid_body, self._discharged(state, surroundings, dt_s))

    @override
    def steady_actuators(self, command: RotorSpeeds) -> dict[str, Real]:
        return {f"rotor_{i}_radps": speed for i, speed in enumerate(command.speeds_radps)}

    @override
    def states_without_rates(self) -> dict[str, str]:
        return {} if self.battery is None else {"battery": "at full charge without load"}

    @override
    def rates(
        self, state: ContinuousState, command: RotorSpeeds, surroundings: Surroundings
    ) -> StateRates:
        pose, twist = pose_and_twist(state.motion)
        velocities = RotorVelocities(twist, tuple(state.actuators.values()))
        rates = self._derivative(
            MechanicalState(pose, velocities),
            command.speeds_radps,
            ExternalForces(surroundings, None),
            0.0,
        ).velocities
        return StateRates(
            turning_body_radps=twist.angular_velocity_body_radps,
            velocity_rate_body_mps2=in_body_axes(rates.twist.velocity_world_mps, state.motion),
            angular_acceleration_body_radps2=rates.twist.angular_velocity_body_radps,
            actuators=dict(zip(state.actuators, rates.speeds_radps, strict=True)),
        )

    @override
    def with_twist(self, velocities: RotorVelocities, twist: Twist) -> RotorVelocities:
        return RotorVelocities(twist, velocities.speeds_radps)

    @override
    def kinematics(self, state: MultirotorState) -> Kinematics:
        return state.rigid_body.kinematics(state.rigid_body.mechanical_state.velocities.twist)

    @override
    def actuators(self, state: MultirotorState) -> dict[str, Real]:
        speeds = state.rigid_body.mechanical_state.velocities.speeds_radps
        turning = {f"rotor_{i}_radps": speed for i, speed in enumerate(speeds)}
        return turning if self.battery is None else turning | self.battery.readings(state.battery)

    @override
    def wake(self, state: MultirotorState) -> Wake:
        speeds = state.rigid_body.mechanical_state.velocities.speeds_radps
        thrust_n = self.rotor.thrust_factor_ns2 * sum(speed * speed for speed in speeds)
        return Wake(thrust_n, len(speeds) * math.pi * self.rotor.disc_radius_m**2)

    def _derivative(
        self,
        mechanical_state: MechanicalState[Pose, RotorVelocities],
        commanded_radps: Speeds,
        external: ExternalForces,
        elapsed_s: Real,
    ) -> MechanicalState[Pose, RotorVelocities]:
        pose, twist, speeds = (
            mechanical_state.configuration,
            mechanical_state.velocities.twist,
            mechanical_state.velocities.speeds_radps,
        )
        rates = self._speed_rates(speeds, commanded_radps)
        wrench = fusion_barrier(
            self._wrench, flow_around(pose, twist, external.surroundings), speeds
        )
        wrench = wrench + external.wrench(pose, twist, elapsed_s)
        momentum, reaction = self._gyroscopic(speeds), self._gyroscopic(rates)
        if momentum is not None and reaction is not None:
            wrench = Wrench(wrench.force_body_n, wrench.torque_body_nm - reaction)
        twist_rate = self.body.twist_rate(
            pose.q_world_from_body, twist, wrench, external.surroundings.gravity_mps2, momentum
        )
        return MechanicalState(pose_rate(pose, twist), RotorVelocities(twist_rate, rates))

    def _hover_speeds(self, gravity_mps2: Real) -> Speeds:
        """Return the rotor speeds that carry the weight."""
        weight_n = self.mass_kg * gravity_mps2
        speed = jnp.sqrt(weight_n / (len(self.spins) * self.rotor.thrust_factor_ns2))
        return (speed,) * len(self.spins)

    def _speed_rates(self, speeds: Speeds, commanded: Speeds) -> Speeds:
        return tuple(
            self.rotor.speed_rate_radps2(speed, setpoint)
            for speed, setpoint in zip(speeds, commanded, strict=True)
        )

    def _wrench(self, flow: Flow, speeds_radps: Speeds) -> Wrench:
        rotors = self._rotor_wrenches(flow, speeds_radps)
        about_center = [
            wrench.at(hub) for wrench, hub in zip(rotors, self.hubs_body_m, strict=True)
        ]
        whole = reduce(add, [*about_center, *(force.wrench(flow) for force in self.forces)])
        return jax.tree.map(jnp.asarray, whole)

    def _rotor_wrenches(self, flow: Flow, speeds_radps: Speeds) -> list[Wrench]:
        """Return the wrench of each rotor about its hub."""
        wrenches = [
            self.rotor.wrench(speed, spin, flow, hub)
            for speed, spin, hub in zip(speeds_radps, self.spins, self.hubs_body_m, strict=True)
        ]
        if self.ground_effect is None:
            return wrenches
        return [
            self._near_surface(self.ground_effect, wrench, flow, hub)
            for wrench, hub in zip(wrenches, self.hubs_body_m, strict=True)
        ]

    def _near_surface(
        self, effect: AbstractGroundEffect, wrench: Wrench, flow: Flow, hub_body_m: Vec3
    ) -> Wrench:
        rise_m = flow.q_world_from_body.rotate(hub_body_m).z
        height_m = flow.surroundings.height_above_surface_m + rise_m
        ratio = effect.thrust_ratio(height_m, self.rotor.disc_radius_m)
        force = wrench.force_body_n
        return Wrench(Vec3(force.x, force.y, force.z * ratio), wrench.torque_body_nm)

    def _gyroscopic(self, speeds: Speeds) -> Vec3 | None:
        """Return the rotors' angular momentum, or its rate; None for rotors without inertia."""
        inertia = self.rotor.axial_inertia_kgm2
        if is_zero(inertia):
            return None
        turning = sum(spin * speed for spin, speed in zip(self.spins, speeds, strict=True))
        return Vec3(0.0, 0.0, inertia * turning)

    def _battery_limited(self, battery: ArrayTree, commanded_radps: Speeds) -> Speeds:
        """Return the commanded speeds, limited by the battery."""
        if self.battery is None:
            return commanded_radps
        fastest = self.rotor.speed_range_radps[1] * self.battery.speed_ratio(battery)
        return tuple(jnp.minimum(speed, fastest) for speed in commanded_radps)

    def _discharged(
        self, state: MultirotorState, surroundings: Surroundings, dt_s: Real
    ) -> ArrayTree:
        """Return the battery after a step; rotors driven by the air do not charge it."""
        if self.battery is None:
            return None
        # without the power that accelerates the rotors: it depends on the present voltage, and with
        # that of the previous step, the two would oscillate
        pose, velocities = (
            state.rigid_body.mechanical_state.configuration,
            state.rigid_body.mechanical_state.velocities,
        )
        speeds = velocities.speeds_radps
        rotors = self._rotor_wrenches(flow_around(pose, velocities.twist, surroundings), speeds)
        power_w = sum(
            jnp.maximum(-spin * speed * wrench.torque_body_nm.z, 0.0)
            for spin, speed, wrench in zip(self.spins, speeds, rotors, strict=True)
        )
        contact = state.rigid_body.ground_contact
        charged = False if contact is None else contact.on_deck > 0
        return self.battery.step(state.battery, power_w, dt_s, charged=charged)
