"""Thrust and attitude to thrust and torque by X-Y-Z angles, as in uav_gazebo.

With R = R_x(phi) R_y(theta) R_z(psi), intrinsic rotations, rho = (phi, theta, psi)::

    phi = atan2(-r12, r22),   theta = asin(r02),   psi = atan2(-r01, r00)
    rho'' = k_d (rho'* - rho') + k_p (rho* - rho)                        errors wrapped
    w = D rho',    w' = D rho'' + D' rho'                                in world axes
    tau = I w' + w x I w,    I = R I_b R^T

    D = [1, 0, sin theta; 0, cos phi, -sin phi cos theta; 0, sin phi, cos phi cos theta]

k_p = omega_n^2 and k_d = 2 zeta omega_n, for the tilt (phi, theta) and for psi. rho'* are the rates
of the commanded attitude's angles, from its angular velocity; accelerations are not fed forward.
The torque is given in body axes, in which w' is R^T w'.

Source: uav_gazebo (francofusco), "Theoretical background": orientation vector, angular rates,
equation 2, and "Thrust & attitude"; gains of its plugin. It does not wrap the errors of phi and
theta, which differs only upside down.

At theta = +-90 deg D is singular. There the cosine is limited to ``LEAST_COSINE``, which keeps
rates and torque finite; the loop is not useful within a degree of it.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.commands import ThrustAttitude, ThrustTorque
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos, wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module

LEAST_COSINE = 0.01


class XyzAngles(Module):
    """X-Y-Z angles rho of an attitude, and their rates, as (phi, theta, psi)."""

    angles_rad: Vec3
    rates_radps: Vec3

    @classmethod
    def of(cls, q_world_from_body: Quaternion, angular_velocity_body_radps: Vec3) -> "XyzAngles":
        """Return the angles of a rotation, and their rates from its angular velocity."""
        angles = _angles(q_world_from_body)
        omega = q_world_from_body.rotate(angular_velocity_body_radps)
        (sin_phi, cos_phi), (sin_theta, cos_theta) = sin_cos(angles.x), sin_cos(angles.y)
        psi_rate = (cos_phi * omega.z - sin_phi * omega.y) / jnp.maximum(cos_theta, LEAST_COSINE)
        theta_rate = cos_phi * omega.y + sin_phi * omega.z
        return cls(angles, Vec3(omega.x - sin_theta * psi_rate, theta_rate, psi_rate))

    def angular_acceleration_world_radps2(self, accelerations_radps2: Vec3) -> Vec3:
        """Return the angular acceleration for second derivatives rho'': D rho'' + D' rho'."""
        (sin_phi, cos_phi) = sin_cos(self.angles_rad.x)
        (sin_theta, cos_theta) = sin_cos(self.angles_rad.y)
        a, rates = accelerations_radps2, self.rates_radps
        # psi rotates about (sin theta, -sin phi cos theta, cos phi cos theta), which itself moves
        along_y = a.y - rates.x * rates.z * cos_theta
        along_z = a.z * cos_theta + rates.x * rates.y - rates.y * rates.z * sin_theta
        return Vec3(
            a.x + sin_theta * a.z + cos_theta * rates.y * rates.z,
            cos_phi * along_y - sin_phi * along_z,
            sin_phi * along_y + cos_phi * along_z,
        )


class EulerAttitude(AbstractController[tuple[()], ThrustAttitude, ThrustTorque]):
    """Second-order response of each X-Y-Z angle; the thrust passes through.

    Attributes:
        inertia_kgm2: inertia of the vehicle.
        tilt_frequency_radps: W_a.
        tilt_damping: X_a.
        yaw_frequency_radps: W_y.
        yaw_damping: X_y.
    """

    consumes: ClassVar[type] = ThrustAttitude
    produces: ClassVar[type] = ThrustTorque

    inertia_kgm2: Inertia
    tilt_frequency_radps: Annotated[Real, NOT_NEGATIVE] = 5.0
    tilt_damping: Annotated[Real, NOT_NEGATIVE] = 1.0
    yaw_frequency_radps: Annotated[Real, NOT_NEGATIVE] = 1.5
    yaw_damping: Annotated[Real, NOT_NEGATIVE] = 1.0

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[ThrustAttitude, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], ThrustTorque]:
        del dt_s, key
        command, estimate = inputs
        present = estimated_angles(estimate)
        setpoint = XyzAngles.of(command.q_world_from_body, command.angular_velocity_body_radps)
        accelerations = Vec3(
            *self.tilt_accelerations(setpoint, present), self._yaw(setpoint, present)
        )
        return state, ThrustTorque(
            command.thrust_n, torque_body_nm(self.inertia_kgm2, estimate, present, accelerations)
        )

    def tilt_accelerations(self, setpoint: XyzAngles, present: XyzAngles) -> tuple[Real, Real]:
        """Return the second derivatives of phi and theta towards a setpoint."""
        angles, rates = (
            setpoint.angles_rad - present.angles_rad,
            setpoint.rates_radps - present.rates_radps,
        )
        frequency, damping = self.tilt_frequency_radps, self.tilt_damping
        return (
            _acceleration(frequency, damping, angles.x, rates.x),
            _acceleration(frequency, damping, angles.y, rates.y),
        )

    def _yaw(self, setpoint: XyzAngles, present: XyzAngles) -> Real:
        angle = setpoint.angles_rad.z - present.angles_rad.z
        rate = setpoint.rates_radps.z - present.rates_radps.z
        return _acceleration(self.yaw_frequency_radps, self.yaw_damping, angle, rate)

    @classmethod
    @override
    def examples(cls) -> dict[str, "EulerAttitude"]:
        return {"uneven": cls(Inertia(0.02, 0.03, 0.04, 0.001))}


def estimated_angles(estimate: Kinematics) -> XyzAngles:
    """Return the estimated X-Y-Z angles of a vehicle, and their rates."""
    return XyzAngles.of(estimate.q_world_from_body, estimate.angular_velocity_body_radps)


def torque_body_nm(
    inertia: Inertia, estimate: Kinematics, present: XyzAngles, accelerations_radps2: Vec3
) -> Vec3:
    """Return the torque for second derivatives of a body's X-Y-Z angles."""
    q, omega = estimate.q_world_from_body, estimate.angular_velocity_body_radps
    acceleration = present.angular_acceleration_world_radps2(accelerations_radps2)
    return inertia.times(q.inverse().rotate(acceleration)) + inertia.gyroscopic(omega)


def _acceleration(frequency_radps: Real, damping: Real, angle_rad: Real, rate_radps: Real) -> Real:
    spring = frequency_radps * frequency_radps * wrap_angle(angle_rad)
    return spring + 2.0 * damping * frequency_radps * rate_radps


def _angles(q: Quaternion) -> Vec3:
    """Return (phi, theta, psi) with R = R_x R_y R_z."""
    x_body, z_body = q.rotate(Vec3(1.0, 0.0, 0.0)), q.rotate(Vec3(0.0, 0.0, 1.0))
    y_body_x = q.rotate(Vec3(0.0, 1.0, 0.0)).x
    # at theta = +-90 deg the arcsine is not differentiable; there theta is constant
    steep = jnp.abs(z_body.x) >= 1.0
    theta = jnp.where(
        steep,
        jnp.sign(z_body.x) * (jnp.pi / 2.0),
        jnp.arcsin(jnp.where(steep, 0.0, z_body.x)),
    )
    return Vec3(_direction(-z_body.y, z_body.z), theta, _direction(-y_body_x, x_body.x))


def _direction(sine: Real, cosine: Real) -> Real:
    """Return the angle of a direction; zero for a zero vector."""
    nowhere = (sine == 0.0) & (cosine == 0.0)
    return jnp.arctan2(sine, jnp.where(nowhere, 1.0, cosine))
