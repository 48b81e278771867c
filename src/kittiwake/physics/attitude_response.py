"""Quadrotor with a self-leveling autopilot, as the identified response of the two together.

Identified on the UCL Pelican (De Nardi 2013, QRSim, ``pelicanODE``; manual equations for p, q, r,
F_th, u, v, w). The attitude does not follow from torques: roll and pitch answer a commanded angle
like second-order systems, yaw rate answers like a first-order one, and thrust slews towards a
polynomial of the throttle below a ceiling that the battery sets. Written in the source's axes
(world NED, body FRD) and symbols::

    p' = k_pq1 (k_pq0 u_rl - phi)   + k_pq2 p        not while |p| > p_max and growing
    q' = k_pq1 (k_pq0 u_pt - theta) + k_pq2 q        likewise
    r' = k_r0 u_ya + k_r1 r
    F_T = c_0 + c_1 u_th + c_2 u_th^2                F_M = c_b0 + c_b1 V_b
    F'  = slew towards F_T at tau_1, never beyond F_M; below u_th = 300: F' = tau_0 (F_T - F)
    u' = -q w + r v + g_x + k_uv (u - u_w)           v' likewise
    w' = -p v + q u + g_z - F / m + k_w (w - w_w)

The manual prints phi in the equation of q, the slew's conditions reversed, and leaves the sign of
the drag open; the form here is that of the program. The step's length enters the thrust (it closes
the gap within one stage when it can), and the acceleration uses the thrust at the end of the stage.
Valid near hover up to 15 m/s and for |roll|, |pitch| well below 90 deg; neglected: ground effect,
torque of drag, vortex ring.
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.contact.deck import Deck
from kittiwake.contact.engine import NO_TURNING, Collider, ContactMotion, box_of
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import AttitudeThrottle
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.limit import Limit
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.frames import swap_enu_ned, swap_euler, swap_flu_frd
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real, is_zero
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.continuous import ContinuousState, StateRates
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.time_constant import TimeConstant
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, MechanicalState
from kittiwake.physics.simulated_time_constant import simulated_time_constant
from kittiwake.pytree import Module, field
from kittiwake.world.surroundings import Surroundings


class EulerPose(Module):
    """Configuration: position and ZYX angles of the FLU body in ENU; yaw is not wrapped."""

    position_world_m: Vec3
    euler_world_from_body: EulerZYX


class AttitudeResponseVelocities(Module):
    """Velocities, thrust, and the integral of the specific force over the step."""

    velocity_body_mps: Vec3
    angular_velocity_body_radps: Vec3
    thrust_n: Real
    specific_impulse_body_mps: Vec3


class AttitudeResponseState(Module):
    """State at a tick; the specific force is the mean over the last step."""

    mechanical_state: MechanicalState[EulerPose, AttitudeResponseVelocities]
    specific_force_body_mps2: Vec3


class Disturbance(Module):
    """Disturbing accelerations, held over one step: process noise and external forces."""

    linear_body_mps2: Vec3
    angular_body_radps2: Vec3


class AttitudeResponse(AbstractDynamics[AttitudeResponseState, AttitudeThrottle]):
    """Attitude-response quadrotor; parameter names follow the identified constants.

    Attributes:
        mass_kg: total mass.
        integrator: integrator of the motion.
        attitude_gain: k_pq0, the share of the commanded angle that is reached.
        attitude_stiffness_per_s2: k_pq1.
        attitude_damping_per_s: -k_pq2.
        yaw_rate_gain_per_s: k_r0.
        yaw_rate_damping_per_s: -k_r1.
        max_tilt_rate_radps: p_max.
        thrust_polynomial_n: c_0, c_1, c_2.
        battery_thrust_offset_n: c_b0.
        battery_thrust_slope_npv: c_b1.
        thrust_slew_nps: tau_1.
        slow_thrust_rate_per_s: tau_0.
        slow_throttle: throttle below which the thrust follows like a lag.
        drag_horizontal_per_s: -k_uv.
        drag_vertical_per_s: -k_w.
        linear_noise_mps2: deviation of the process noise.
        angular_noise_radps2: deviation of the process noise.
        max_speed_mps: speed in a body axis beyond which it is lost.
        max_rate_radps: rate in a body axis beyond which it is lost.
        max_angle_rad: roll or pitch beyond which it is lost.
    """

    command_type: ClassVar[type] = AttitudeThrottle

    mass_kg: Annotated[Real, POSITIVE]
    attitude_gain: Real
    attitude_stiffness_per_s2: Real
    attitude_damping_per_s: Real
    yaw_rate_gain_per_s: Real
    yaw_rate_damping_per_s: Real
    max_tilt_rate_radps: Annotated[Real, POSITIVE]
    thrust_polynomial_n: tuple[Real, Real, Real]
    battery_thrust_offset_n: Real
    battery_thrust_slope_npv: Real
    thrust_slew_nps: Annotated[Real, POSITIVE]
    slow_thrust_rate_per_s: Annotated[Real, POSITIVE]
    slow_throttle: Annotated[Real, NOT_NEGATIVE]
    drag_horizontal_per_s: Annotated[Real, NOT_NEGATIVE]
    drag_vertical_per_s: Annotated[Real, NOT_NEGATIVE]
    linear_noise_mps2: Annotated[Real, NOT_NEGATIVE]
    angular_noise_radps2: Annotated[Real, NOT_NEGATIVE]
    max_speed_mps: Annotated[Real, POSITIVE]
    max_rate_radps: Annotated[Real, POSITIVE]
    max_angle_rad: Annotated[Real, POSITIVE]
    max_yaw_rad: Annotated[Real, POSITIVE]
    deck: Deck | None = None
    size_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    integrator: IntegratorName = field(static=True, default="heun")

    @override
    def vehicle_parameters(self, gravity_mps2: Real) -> Parameters:
        return {
            **super().vehicle_parameters(gravity_mps2),
            "mass_kg": self.mass_kg,
            "max_thrust_n": sum(self.thrust_polynomial_n),
            "thrust_polynomial_n": list(self.thrust_polynomial_n),
            "attitude_gain": self.attitude_gain,
            "yaw_rate_gain": self.yaw_rate_gain_per_s / self.yaw_rate_damping_per_s,
        }

    @property
    @override
    def command_bounds(self) -> dict[str, tuple[Real, Real]]:
        return {
            "pitch_rad": (-0.9, 0.9),
            "roll_rad": (-0.9, 0.9),
            "throttle": (0.0, 1.0),
            "yaw_rate_radps": (-4.5, 4.5),
            "battery_v": (9.0, 12.0),
        }

    @override
    def time_constants(self, rate_hz: Real, gravity_mps2: Real) -> dict[str, TimeConstant]:
        del gravity_mps2
        # of the second-order response of roll and pitch, and of the yaw rate
        rates_per_s = {
            "roll and pitch": math.sqrt(abs(float(self.attitude_stiffness_per_s2))),
            "yaw rate": abs(float(self.yaw_rate_damping_per_s)),
        }
        return {
            part: simulated_time_constant(self.integrator, 1.0 / rate, rate_hz)
            for part, rate in rates_per_s.items()
            if rate > 0.0
        }

    @override
    def initial_command(self, start: Kinematics, gravity_mps2: Real) -> AttitudeThrottle:
        del start
        c0, c1, c2 = self.thrust_polynomial_n
        above_n = jnp.maximum(self.mass_kg * gravity_mps2 - c0, 0.0)
        # of the roots of the polynomial in a form without a division by c2, which may be zero
        throttle = 2.0 * above_n / (c1 + jnp.sqrt(c1 * c1 + 4.0 * c2 * above_n))
        return replace(self.command_type.off(), throttle=throttle)

    @override
    def init(self, start: Kinematics, surroundings: Surroundings) -> AttitudeResponseState:
        pose = EulerPose(start.position_world_m, start.euler_world_from_body)
        velocities = AttitudeResponseVelocities(
            start.velocity_body_mps,
            start.angular_velocity_body_radps,
            self.mass_kg * surroundings.gravity_mps2,
            Vec3.zero(),
        )
        euler_ned = swap_euler(start.euler_world_from_body)
        specific_force = self._specific_force_frd(
            swap_flu_frd(start.velocity_body_mps),
            _wind_frd(euler_ned, surroundings),
            velocities.thrust_n,
        )
        external = self._external_body_mps2(pose, surroundings)
        return AttitudeResponseState(
            MechanicalState(pose, velocities), swap_flu_frd(specific_force) + external
        )

    @override
    def step(
        self,
        state: AttitudeResponseState,
        command: AttitudeThrottle,
        surroundings: Surroundings,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> AttitudeResponseState:
        external = self._external_body_mps2(state.mechanical_state.configuration, surroundings)
        noise = self._draw_noise(key)
        noise = Disturbance(noise.linear_body_mps2 + external, noise.angular_body_radps2)
        wind_frd = _wind_frd(
            swap_euler(state.mechanical_state.configuration.euler_world_from_body), surroundings
        )

        def derivative(
            mechanical_state: MechanicalState[EulerPose, AttitudeResponseVelocities],
            elapsed_s: Real,
        ) -> MechanicalState[EulerPose, AttitudeResponseVelocities]:
            del elapsed_s
            return self.derivative(
                mechanical_state, command, wind_frd, surroundings.gravity_mps2, noise, dt_s
            )

        began = state.mechanical_state
        resting = replace(began.velocities, specific_impulse_body_mps=Vec3(0.0, 0.0, 0.0))
        began = replace(began, velocities=resting)
        ended = INTEGRATORS[self.integrator].step(derivative, began, dt_s)
        mean_force = ended.velocities.specific_impulse_body_mps / dt_s + external
        return AttitudeResponseState(ended, mean_force)

    @override
    def states_without_rates(self) -> dict[str, str]:
        return {"thrust_n": "follows the throttle within a step, as small changes do"}

    @override
    def rates(
        self, state: ContinuousState, command: AttitudeThrottle, surroundings: Surroundings
    ) -> StateRates:
        # small changes of the thrust take less than a step: it is that of the throttle
        motion, thrust_n = state.motion, self._steady_thrust_n(command)
        euler_ned = swap_euler(motion.euler_world_from_body)
        omega_frd = swap_flu_frd(motion.angular_velocity_body_radps)
        velocity_frd = swap_flu_frd(motion.velocity_body_mps)
        force = self._specific_force_frd(velocity_frd, _wind_frd(euler_ned, surroundings), thrust_n)
        gravity = Vec3(0.0, 0.0, surroundings.gravity_mps2)
        weight = RotationZYX.of(euler_ned).body_from_reference(gravity)
        pose = EulerPose(motion.position_world_m, motion.euler_world_from_body)
        return StateRates(
            turning_body_radps=motion.angular_velocity_body_radps,
            velocity_rate_body_mps2=swap_flu_frd(force + weight - omega_frd.cross(velocity_frd))
            + self._external_body_mps2(pose, surroundings),
            angular_acceleration_body_radps2=swap_flu_frd(
                self._angular_acceleration_frd(euler_ned, omega_frd, command)
            ),
            actuators={},
        )

    def derivative(
        self,
        mechanical_state: MechanicalState[EulerPose, AttitudeResponseVelocities],
        command: AttitudeThrottle,
        wind_frd: Vec3,
        gravity_mps2: Real,
        noise: Disturbance,
        dt_s: Real,
    ) -> MechanicalState[EulerPose, AttitudeResponseVelocities]:
        """Return the rates of change of pose and velocities; the wind is given in FRD body axes."""
        euler_ned = swap_euler(mechanical_state.configuration.euler_world_from_body)
        rotation = RotationZYX.of(euler_ned)
        velocity_frd = swap_flu_frd(mechanical_state.velocities.velocity_body_mps)
        omega_frd = swap_flu_frd(mechanical_state.velocities.angular_velocity_body_radps)
        thrust_rate = self.thrust_rate_nps(mechanical_state.velocities.thrust_n, command, dt_s)
        # the source applies the thrust reached at the end of the stage
        thrust = mechanical_state.velocities.thrust_n + thrust_rate * dt_s
        specific_force = self._specific_force_frd(velocity_frd, wind_frd, thrust)
        gravity_frd = rotation.body_from_reference(Vec3(0.0, 0.0, gravity_mps2))
        acceleration_frd = specific_force - omega_frd.cross(velocity_frd) + gravity_frd
        angle_rates = rotation.angle_rates(omega_frd)
        pose_rate = EulerPose(
            swap_enu_ned(rotation.reference_from_body(velocity_frd)),
            EulerZYX(angle_rates.x, -angle_rates.y, -angle_rates.z),
        )
        motion_rate = AttitudeResponseVelocities(
            swap_flu_frd(acceleration_frd) + noise.linear_body_mps2,
            swap_flu_frd(self._angular_acceleration_frd(euler_ned, omega_frd, command))
            + noise.angular_body_radps2,
            thrust_rate,
            swap_flu_frd(specific_force),
        )
        return MechanicalState(pose_rate, motion_rate)

    def thrust_rate_nps(
        self, thrust_n: Real, command: AttitudeThrottle, dt_s: Real
    ) -> Float[Array, ""]:
        """Return the rate of the thrust towards its setpoint, limited by the battery."""
        throttle = command.throttle
        gap = self._commanded_thrust_n(command) - thrust_n
        ceiling = self._thrust_ceiling_n(command)
        slew = jnp.clip(gap / dt_s, -self.thrust_slew_nps, self.thrust_slew_nps)
        limited = jnp.minimum(slew, (ceiling - thrust_n) / dt_s)
        return jnp.where(throttle < self.slow_throttle, self.slow_thrust_rate_per_s * gap, limited)

    def _commanded_thrust_n(self, command: AttitudeThrottle) -> Real:
        c0, c1, c2 = self.thrust_polynomial_n
        return c0 + command.throttle * (c1 + c2 * command.throttle)

    def _thrust_ceiling_n(self, command: AttitudeThrottle) -> Real:
        """Return the largest thrust at the battery's voltage."""
        return self.battery_thrust_offset_n + self.battery_thrust_slope_npv * command.battery_v

    def _steady_thrust_n(self, command: AttitudeThrottle) -> Real:
        return jnp.minimum(self._commanded_thrust_n(command), self._thrust_ceiling_n(command))

    @override
    def kinematics(self, state: AttitudeResponseState) -> Kinematics:
        pose, velocities = state.mechanical_state.configuration, state.mechanical_state.velocities
        rotation = RotationZYX.of(swap_euler(pose.euler_world_from_body))
        velocity_ned = rotation.reference_from_body(swap_flu_frd(velocities.velocity_body_mps))
        return Kinematics(
            position_world_m=pose.position_world_m,
            q_world_from_body=Quaternion.from_euler(pose.euler_world_from_body),
            euler_world_from_body=pose.euler_world_from_body,
            velocity_world_mps=swap_enu_ned(velocity_ned),
            velocity_body_mps=velocities.velocity_body_mps,
            angular_velocity_body_radps=velocities.angular_velocity_body_radps,
            specific_force_body_mps2=state.specific_force_body_mps2,
        )

    @override
    def collider(self) -> Collider:
        solids = box_of(self.size_body_m)
        return Collider(float(self.mass_kg), np.eye(3), solids, locked=NO_TURNING)

    @override
    def apply_contact(
        self, state: AttitudeResponseState, contact: ContactMotion
    ) -> AttitudeResponseState:
        motion, before = contact.motion, state.mechanical_state
        pose = replace(before.configuration, position_world_m=motion.position_world_m)
        rotation = RotationZYX.of(pose.euler_world_from_body)
        velocities = replace(
            before.velocities,
            velocity_body_mps=rotation.body_from_reference(motion.velocity_world_mps),
        )
        return replace(
            state,
            mechanical_state=MechanicalState(pose, velocities),
            specific_force_body_mps2=motion.specific_force_body_mps2,
        )

    @override
    def actuators(self, state: AttitudeResponseState) -> dict[str, Real]:
        return {"thrust_n": state.mechanical_state.velocities.thrust_n}

    @override
    def limits(self, state: AttitudeResponseState) -> tuple[Limit, ...]:
        euler = state.mechanical_state.configuration.euler_world_from_body
        velocity = state.mechanical_state.velocities.velocity_body_mps
        omega = state.mechanical_state.velocities.angular_velocity_body_radps
        north = jnp.pi / 2

        def limit(name: str, key: str, value: Real, largest: Real, middle: Real = 0.0) -> Limit:
            return Limit(name, f"parameters.{key}", value, middle - largest, middle + largest)

        return (
            limit("roll_rad", "max_angle_rad", euler.roll_rad, self.max_angle_rad),
            limit("pitch_rad", "max_angle_rad", euler.pitch_rad, self.max_angle_rad),
            limit("yaw_rad", "max_yaw_rad", euler.yaw_rad, self.max_yaw_rad, north),
            limit("velocity_body_mps", "max_speed_mps", _largest(velocity), self.max_speed_mps),
            limit(
                "angular_velocity_body_radps",
                "max_rate_radps",
                _largest(omega),
                self.max_rate_radps,
            ),
        )

    def _specific_force_frd(self, velocity_frd: Vec3, wind_frd: Vec3, thrust_n: Real) -> Vec3:
        """Return drag and thrust over mass."""
        airspeed_frd = velocity_frd - wind_frd
        return Vec3(
            -self.drag_horizontal_per_s * airspeed_frd.x,
            -self.drag_horizontal_per_s * airspeed_frd.y,
            -self.drag_vertical_per_s * airspeed_frd.z - thrust_n / self.mass_kg,
        )

    def _angular_acceleration_frd(
        self, euler_ned: EulerZYX, omega_frd: Vec3, command: AttitudeThrottle
    ) -> Vec3:
        def response(commanded: Real, angle: Real, rate: Real) -> Real:
            acceleration = (
                self.attitude_stiffness_per_s2 * (self.attitude_gain * commanded - angle)
                - self.attitude_damping_per_s * rate
            )
            exceeds = (jnp.abs(rate) > self.max_tilt_rate_radps) & (rate * acceleration > 0)
            return jnp.where(exceeds, 0.0, acceleration)

        # the command is of the FLU body: pitch and yaw rate change sign
        return Vec3(
            response(command.roll_rad, euler_ned.roll_rad, omega_frd.x),
            response(-command.pitch_rad, euler_ned.pitch_rad, omega_frd.y),
            -self.yaw_rate_gain_per_s * command.yaw_rate_radps
            - self.yaw_rate_damping_per_s * omega_frd.z,
        )

    def _external_body_mps2(self, pose: EulerPose, surroundings: Surroundings) -> Vec3:
        """Return the acceleration by external forces; external torques have no effect."""
        if surroundings.external_wrench is None:
            return Vec3.zero()
        inverse = Quaternion.from_euler(pose.euler_world_from_body).inverse()
        return inverse.rotate(surroundings.external_wrench.force_world_n) / self.mass_kg

    def _draw_noise(self, key: PRNGKeyArray) -> Disturbance:
        if is_zero(self.linear_noise_mps2) and is_zero(self.angular_noise_radps2):
            return Disturbance(Vec3.zero(), Vec3.zero())
        draws = jax.random.normal(key, (6,))
        return Disturbance(
            Vec3.of(draws[:3]) * self.linear_noise_mps2,
            Vec3.of(draws[3:]) * self.angular_noise_radps2,
        )


def _wind_frd(euler_ned: EulerZYX, surroundings: Surroundings) -> Vec3:
    rotation = RotationZYX.of(euler_ned)
    return rotation.body_from_reference(swap_enu_ned(surroundings.wind_world_mps))


def _largest(v: Vec3) -> Float[Array, ""]:
    return jnp.maximum(jnp.maximum(jnp.abs(v.x), jnp.abs(v.y)), jnp.abs(v.z))
