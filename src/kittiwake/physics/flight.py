"""The flight of a rigid body: its state between steps, and what acts on it from outside."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from typing_extensions import override

from kittiwake.contact.deck import Deck
from kittiwake.contact.engine import Collider, ContactMotion, ContactParameters, box_of
from kittiwake.contact.ground_contact import GroundContact
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.parts import Flow
from kittiwake.physics.contact_step import ContactStep
from kittiwake.physics.integrators import IntegratorName, Phase
from kittiwake.physics.landing_gear import LandingGear
from kittiwake.physics.rigid_body import Pose, RigidBody, Twist
from kittiwake.world.surroundings import Shear, Surroundings

# of a foot, over which the box around a vehicle begins
FOOT_M = 0.005


class FlightState(eqx.Module):
    """A body at a tick; the specific force is the mean over the step that led to it.

    ``footing`` is None for a body without feet.
    """

    phase: Phase[Pose, Any]
    specific_force_body_mps2: Vec3
    ground_contact: GroundContact | None

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


class Outside(eqx.Module):
    """What acts on a body over a step from outside: the world itself, and what it stands on.

    ``stance`` is None for a body without feet.
    """

    surroundings: Surroundings
    stance: ContactStep | None

    def wrench(self, pose: Pose, twist: Twist, elapsed_s: Real) -> Wrench:
        """Of all that, some time after the step began."""
        push = pushed(pose, self.surroundings)
        return push if self.stance is None else push + self.stance.wrench(pose, twist, elapsed_s)


class AbstractBody(AbstractDynamics):
    """A rigid body that flies, and stands if it has feet; its state's ``flight`` says how."""

    landing_gear: eqx.AbstractVar[LandingGear | None]
    deck: eqx.AbstractVar[Deck | None]
    size_body_m: eqx.AbstractVar[Vec3]
    integrator: eqx.AbstractVar[IntegratorName]

    @property
    @abstractmethod
    def body(self) -> RigidBody:
        """What the wrench moves."""

    @abstractmethod
    def hover_wrench(self, flow: Flow) -> Wrench:
        """What the air does to it when its actuators stay as they are at hover in still air."""

    def accelerations_near_hover(
        self, motion: Kinematics, more: Wrench, surroundings: Surroundings
    ) -> tuple[Vec3, Vec3]:
        """Of the center of mass in the world and of turning in the body, away from surfaces.

        The wrench is that of ``hover_wrench`` and so much more.
        """
        pose, twist = begun(motion)
        wrench = self.hover_wrench(flow_around(pose, twist, surroundings)) + more
        rate = self.body.twist_rate(
            pose.q_world_from_body, twist, wrench, surroundings.gravity_mps2
        )
        return rate.velocity_world_mps, rate.angular_velocity_body_radps

    @property
    @override
    def standing_height_m(self) -> Real | None:
        return None if self.landing_gear is None else self.landing_gear.standing_height_m

    @property
    @override
    def reach_m(self) -> Real | None:
        return None if self.landing_gear is None else self.landing_gear.reach_m

    @override
    def check_rate(self, rate_hz: Real, gravity_mps2: Real) -> None:
        if self.landing_gear is not None:
            self.landing_gear.check_rate(self.body, self.integrator, rate_hz, gravity_mps2)

    @override
    def ground_contact(self, state: Any) -> GroundContact | None:
        return state.flight.ground_contact

    @override
    def collider(self) -> Collider:
        inertia = self.body.inertia_kgm2
        feet, grip = (), ContactParameters()
        if self.landing_gear is not None:
            feet = tuple(
                (float(p.x), float(p.y), float(p.z)) for p in self.landing_gear.points_body_m
            )
            grip = ContactParameters(
                float(self.landing_gear.frequency_radps),
                float(self.landing_gear.damping),
                float(self.landing_gear.friction),
            )
        above_m = FOOT_M + min(foot[2] for foot in feet) if feet else None
        return Collider(
            mass_kg=float(self.body.mass_kg),
            inertia_kgm2=inertia.matrix,
            solids=box_of(self.size_body_m, above_m),
            feet_body_m=feet,
            deck=None if self.deck is None else self.deck.solid(),
            grip=grip,
        )

    @abstractmethod
    def with_twist(self, motion: Any, twist: Twist) -> Any:
        """What evolves beside the pose, with another twist."""

    @override
    def apply_contact(self, state: Any, carried: ContactMotion) -> Any:
        motion = carried.motion
        phase = Phase(
            Pose(motion.position_world_m, motion.q_world_from_body),
            self.with_twist(
                state.flight.phase.motion,
                Twist(motion.velocity_world_mps, motion.angular_velocity_body_radps),
            ),
        )
        flight = FlightState(phase, motion.specific_force_body_mps2, carried.ground_contact)
        return eqx.tree_at(lambda whole: whole.flight, state, flight)

    def flight_begun(
        self, phase: Phase[Pose, Any], wrench: Wrench, surroundings: Surroundings
    ) -> FlightState:
        """The state at the start, by the forces there without those of the feet."""
        force = wrench.force_body_n + pushed(phase.configuration, surroundings).force_body_n
        footing = None if self.landing_gear is None else self.landing_gear.init()
        return FlightState(phase, force / self.body.mass_kg, footing)

    def outside(
        self, began: FlightState, twist: Twist, surroundings: Surroundings, dt_s: Real
    ) -> Outside:
        """What acts in the step that begins."""
        if self.landing_gear is None or began.ground_contact is None:
            return Outside(surroundings, None)
        pose = began.phase.configuration
        stance = ContactStep.begun(
            self.landing_gear, began.ground_contact, pose, twist, self.body, surroundings, dt_s
        )
        return Outside(surroundings, stance)


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


def pushed(pose: Pose, surroundings: Surroundings) -> Wrench:
    """What the world itself does to a body in this pose."""
    push = surroundings.push
    if push is None:
        return Wrench.zero()
    inverse = pose.q_world_from_body.inverse()
    return Wrench(inverse.rotate(push.force_world_n), inverse.rotate(push.torque_world_nm))


def advanced(
    phase: Phase[Pose, Any], before: Twist, after: Twist, outside: Outside, dt_s: Real
) -> FlightState:
    """The state after a step: its quaternion of unit length, and the mean specific force."""
    pose = Pose(
        phase.configuration.position_world_m, phase.configuration.q_world_from_body.normalized()
    )
    mean_world = (after.velocity_world_mps - before.velocity_world_mps) / dt_s
    felt_world = mean_world + Vec3(0.0, 0.0, outside.surroundings.gravity_mps2)
    return FlightState(
        Phase(pose, phase.motion),
        pose.q_world_from_body.inverse().rotate(felt_world),
        None if outside.stance is None else outside.stance.ended(pose, after),
    )
