"""Kinematics of a vehicle: true or estimated position, attitude and velocities."""

from collections.abc import Sequence

from kittiwake.core.vector_fields import ZERO_VECTOR, AbstractVectorRecord, VectorField
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Components, Vec3
from kittiwake.pytree import Module


class Kinematics(Module):
    """Position, attitude and velocities of a vehicle's center of mass.

    Attitude and velocity are given in two forms each. An unused form is never computed in a
    compiled step, so a producer sets both and a consumer reads the one that it requires.
    World is ENU, body is FLU.
    """

    position_world_m: Vec3
    q_world_from_body: Quaternion
    euler_world_from_body: EulerZYX
    velocity_world_mps: Vec3
    velocity_body_mps: Vec3
    angular_velocity_body_radps: Vec3
    specific_force_body_mps2: Vec3

    @classmethod
    def of(
        cls,
        position_world_m: Vec3 | Components,
        velocity_world_mps: Vec3 | Components = (0.0, 0.0, 0.0),
        q_world_from_body: Quaternion | Sequence[Real] = (1.0, 0.0, 0.0, 0.0),
        angular_velocity_body_radps: Vec3 | Components = (0.0, 0.0, 0.0),
        specific_force_body_mps2: Vec3 | Components = (0.0, 0.0, 0.0),
    ) -> "Kinematics":
        """Return the motion with both forms of attitude and velocity."""
        q, velocity = Quaternion.of(q_world_from_body), Vec3.of(velocity_world_mps)
        return cls(
            position_world_m=Vec3.of(position_world_m),
            q_world_from_body=q,
            euler_world_from_body=q.to_euler(),
            velocity_world_mps=velocity,
            velocity_body_mps=q.inverse().rotate(velocity),
            angular_velocity_body_radps=Vec3.of(angular_velocity_body_radps),
            specific_force_body_mps2=Vec3.of(specific_force_body_mps2),
        )


def motion_columns(motion: Kinematics) -> dict[str, Real]:
    """Return position, attitude, world velocity and body rates, by log column."""
    position, velocity = motion.position_world_m, motion.velocity_world_mps
    q, omega = motion.q_world_from_body, motion.angular_velocity_body_radps
    return {
        **{f"{axis}_m": getattr(position, axis) for axis in "xyz"},
        **{f"q{part}": getattr(q, part) for part in "wxyz"},
        **{f"v{axis}_mps": getattr(velocity, axis) for axis in "xyz"},
        **{f"w{axis}_radps": getattr(omega, axis) for axis in "xyz"},
    }


class Start(AbstractVectorRecord):
    """Initial conditions of a vehicle, in world axes; angular velocity in body axes."""

    position_world_m: VectorField = ZERO_VECTOR
    roll_rad: Real = 0.0
    pitch_rad: Real = 0.0
    yaw_rad: Real = 0.0
    velocity_world_mps: VectorField = ZERO_VECTOR
    angular_velocity_body_radps: VectorField = ZERO_VECTOR

    def kinematics(self) -> Kinematics:
        """Return the motion at the start; the specific force is zero, as it is not yet known."""
        euler = EulerZYX(self.roll_rad, self.pitch_rad, self.yaw_rad)
        q_world_from_body = Quaternion.from_euler(euler)
        return Kinematics(
            position_world_m=self.position_world_m,
            q_world_from_body=q_world_from_body,
            euler_world_from_body=euler,
            velocity_world_mps=self.velocity_world_mps,
            velocity_body_mps=q_world_from_body.inverse().rotate(self.velocity_world_mps),
            angular_velocity_body_radps=self.angular_velocity_body_radps,
            specific_force_body_mps2=Vec3.zero(),
        )
