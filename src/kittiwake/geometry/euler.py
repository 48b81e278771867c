"""Roll, pitch and yaw: intrinsic rotations about z, then y, then x (ZYX).

Used by models that are identified in these angles, by scenario files and by displays; everything
else uses quaternions. The frames that the angles relate are named by the field that holds them.
"""

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


class EulerZYX(Module):
    """Intrinsic ZYX angles of a body in a reference frame."""

    roll_rad: Real
    pitch_rad: Real
    yaw_rad: Real


class RotationZYX(Module):
    """The rotation of given ZYX angles, with its sines and cosines computed once."""

    sin_roll: Real
    cos_roll: Real
    sin_pitch: Real
    cos_pitch: Real
    sin_yaw: Real
    cos_yaw: Real

    @classmethod
    def of(cls, angles: EulerZYX) -> "RotationZYX":
        """Return the rotation from body axes to reference axes."""
        sin_roll, cos_roll = sin_cos(angles.roll_rad)
        sin_pitch, cos_pitch = sin_cos(angles.pitch_rad)
        sin_yaw, cos_yaw = sin_cos(angles.yaw_rad)
        return cls(sin_roll, cos_roll, sin_pitch, cos_pitch, sin_yaw, cos_yaw)

    def reference_from_body(self, v: Vec3) -> Vec3:
        """Return the reference-axes components of a vector given in body axes."""
        sph, cph, sth, cth = self.sin_roll, self.cos_roll, self.sin_pitch, self.cos_pitch
        sps, cps = self.sin_yaw, self.cos_yaw
        return Vec3.unchecked(
            cth * cps * v.x
            + (sph * sth * cps - cph * sps) * v.y
            + (cph * sth * cps + sph * sps) * v.z,
            cth * sps * v.x
            + (sph * sth * sps + cph * cps) * v.y
            + (cph * sth * sps - sph * cps) * v.z,
            -sth * v.x + sph * cth * v.y + cph * cth * v.z,
        )

    def body_from_reference(self, v: Vec3) -> Vec3:
        """Return the body-axes components of a vector given in reference axes."""
        sph, cph, sth, cth = self.sin_roll, self.cos_roll, self.sin_pitch, self.cos_pitch
        sps, cps = self.sin_yaw, self.cos_yaw
        return Vec3.unchecked(
            cth * cps * v.x + cth * sps * v.y - sth * v.z,
            (sph * sth * cps - cph * sps) * v.x
            + (sph * sth * sps + cph * cps) * v.y
            + sph * cth * v.z,
            (cph * sth * cps + sph * sps) * v.x
            + (cph * sth * sps - sph * cps) * v.y
            + cph * cth * v.z,
        )

    def angle_rates(self, angular_velocity_body_radps: Vec3) -> Vec3:
        """Return the rates of roll, pitch and yaw for body rates; singular at pitch +-90 deg."""
        p, q, r = (getattr(angular_velocity_body_radps, axis) for axis in "xyz")
        turning = q * self.sin_roll + r * self.cos_roll
        return Vec3.unchecked(
            p + turning * (self.sin_pitch / self.cos_pitch),
            q * self.cos_roll - r * self.sin_roll,
            turning / self.cos_pitch,
        )

    def body_rates(self, angle_rates_radps: Vec3) -> Vec3:
        """Return the body rates for rates of roll, pitch and yaw."""
        roll, pitch, yaw = (getattr(angle_rates_radps, axis) for axis in "xyz")
        turning = yaw * self.cos_pitch
        return Vec3.unchecked(
            roll - yaw * self.sin_pitch,
            pitch * self.cos_roll + turning * self.sin_roll,
            turning * self.cos_roll - pitch * self.sin_roll,
        )
