"""The flight of a rigid body: its state between steps, and what acts on it from outside."""

from typing import Any

import equinox as eqx

from kittiwake.core.footing import Footing
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.parts import Flow
from kittiwake.core.surroundings import Shear, Surroundings
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.feet import Feet, Stance
from kittiwake.physics.integrators import Phase
from kittiwake.physics.rigid_body import Pose, RigidBody, Twist


class FlightState(eqx.Module):
    """A body at a tick; the specific force is the mean over the step that led to it.

    ``footing`` is None for a body without feet.
    """

    phase: Phase[Pose, Any]
    specific_force_body_mps2: Vec3
    footing: Footing | None

    def kinematics(self, twist: Twist) -> Kinematics:
        """The motion in all the forms that people read."""
        pose = self.phase.configuration
        q = pose.q_world_from_body
        return Kinematics(
            position_world_m=pose.position_world_m,
            q_world_from_body=q,
            euler_world_from_body=q.to_euler(),
            velocity_world_mps=twist.velocity_world_mps,
            velocity_body_mps=q.inverse().rotate(twist.velocity_world_mps),
            angular_velocity_body_radps=twist.angular_velocity_body_radps,
            specific_force_body_mps2=self.specific_force_body_mps2,
        )


def begun(start: Kinematics) -> tuple[Pose, Twist]:
    """Pose and twist at the start."""
    pose = Pose(start.position_world_m, start.q_world_from_body)
    return pose, Twist(start.velocity_world_mps, start.angular_velocity_body_radps)


def flow_around(pose: Pose, twist: Twist, surroundings: Surroundings) -> Flow:
    """How the body moves through the air."""
    q = pose.q_world_from_body
    inverse = q.inverse()
    airspeed_world = twist.velocity_world_mps - surroundings.wind_world_mps
    shears_body = tuple(
        Shear(inverse.rotate(shear.wind_mps), inverse.rotate(shear.slope_pm))
        for shear in surroundings.shears_world
    )
    return Flow(
        inverse.rotate(airspeed_world),
        twist.angular_velocity_body_radps,
        q,
        surroundings,
        shears_body,
    )


def pushed(q_world_from_body: Quaternion, surroundings: Surroundings) -> Wrench:
    """What the world itself does to a body in this attitude."""
    push = surroundings.push
    if push is None:
        return Wrench.zero()
    inverse = q_world_from_body.inverse()
    return Wrench(inverse.rotate(push.force_world_n), inverse.rotate(push.torque_world_nm))


def standing(
    feet: Feet | None,
    state: FlightState,
    twist: Twist,
    body: RigidBody,
    surroundings: Surroundings,
    dt_s: Real,
) -> Stance | None:
    """How the body stands in the step that begins; None for one without feet."""
    if feet is None or state.footing is None:
        return None
    pose = state.phase.configuration
    return Stance.begun(feet, state.footing, pose, twist, body, surroundings, dt_s)


def advanced(
    phase: Phase[Pose, Any],
    before: Twist,
    after: Twist,
    gravity_mps2: Real,
    dt_s: Real,
    stance: Stance | None,
) -> FlightState:
    """The state after a step: its quaternion of unit length, and the mean specific force."""
    pose = Pose(
        phase.configuration.position_world_m, phase.configuration.q_world_from_body.normalised()
    )
    mean_world = (after.velocity_world_mps - before.velocity_world_mps) / dt_s
    felt_world = mean_world + Vec3(0.0, 0.0, gravity_mps2)
    return FlightState(
        Phase(pose, phase.motion),
        pose.q_world_from_body.inverse().rotate(felt_world),
        None if stance is None else stance.ended(pose, after),
    )
