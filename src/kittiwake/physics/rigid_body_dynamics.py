"""Flight of a rigid body: state, external forces, and the base class of such dynamics."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Generic, Protocol, runtime_checkable

from typing_extensions import TypeVar, override

from kittiwake.contact.deck import Deck
from kittiwake.contact.engine import Collider, ContactMotion, ContactParameters, box_of
from kittiwake.contact.ground_contact import GroundContact
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics, ActuatorCommand
from kittiwake.interfaces.parts import Flow
from kittiwake.physics.contact_step import ContactStep
from kittiwake.physics.integrators import IntegratorName, MechanicalState
from kittiwake.physics.landing_gear import LandingGear
from kittiwake.physics.rigid_body import Pose, RigidBody, Twist
from kittiwake.pytree import AbstractVar, Module
from kittiwake.world.surroundings import Shear, Surroundings

# radius of a foot; the bounding box of a vehicle with feet begins above it
FOOT_M = 0.005


Velocities = TypeVar("Velocities", default=Any)


class RigidBodyState(Module, Generic[Velocities]):
    """State of a body at a tick; the specific force is the mean over the last step.

    ``ground_contact`` is None for a body without landing gear.
    """

    mechanical_state: MechanicalState[Pose, Velocities]
    specific_force_body_mps2: Vec3
    ground_contact: GroundContact | None

    def kinematics(self, twist: Twist) -> Kinematics:
        """Return the motion of the body with this twist."""
        pose = self.mechanical_state.configuration
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


class ExternalForces(Module):
    """External forces on a body over a step: force regions of the world, and ground contact.

    ``contact`` is None for a body without landing gear.
    """

    surroundings: Surroundings
    contact: ContactStep | None

    def wrench(self, pose: Pose, twist: Twist, elapsed_s: Real) -> Wrench:
        """Return the external wrench at a time since the step began."""
        wrench = region_wrench(pose, self.surroundings)
        return (
            wrench if self.contact is None else wrench + self.contact.wrench(pose, twist, elapsed_s)
        )


@runtime_checkable
class HasRigidBody(Protocol):
    """State of dynamics whose body flies."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def rigid_body(self) -> RigidBodyState:
        """State of the body."""
        ...


BodyState = TypeVar("BodyState", bound=HasRigidBody, default=Any)


class AbstractBody(
    AbstractDynamics[BodyState, ActuatorCommand], Generic[BodyState, ActuatorCommand, Velocities]
):
    """Dynamics of a rigid body with optional landing gear; its state has a field ``rigid_body``.

    Attributes:
        landing_gear: what the vehicle stands on; none by default.
        deck: what stands on it; none by default.
        size_body_m: sides of the box around it, for regions and other vehicles' sensors; a point by
            default.
    """

    landing_gear: AbstractVar[LandingGear | None]
    deck: AbstractVar[Deck | None]
    size_body_m: AbstractVar[Vec3]
    integrator: AbstractVar[IntegratorName]

    @property
    @abstractmethod
    def body(self) -> RigidBody:
        """Mass and inertia."""

    @abstractmethod
    def hover_command(self, gravity_mps2: Real) -> ActuatorCommand:
        """Return the command with which the body hovers level in still air."""

    @override
    def initial_command(self, start: Kinematics, gravity_mps2: Real) -> ActuatorCommand:
        del start
        return self.hover_command(gravity_mps2)

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
    def ground_contact(self, state: BodyState) -> GroundContact | None:
        return state.rigid_body.ground_contact

    @override
    def collider(self) -> Collider:
        inertia = self.body.inertia_kgm2
        feet, parameters = (), ContactParameters()
        if self.landing_gear is not None:
            feet = tuple(
                (float(p.x), float(p.y), float(p.z)) for p in self.landing_gear.points_body_m
            )
            parameters = ContactParameters(
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
            parameters=parameters,
        )

    @abstractmethod
    def with_twist(self, velocities: Velocities, twist: Twist) -> Velocities:
        """Return the velocities with another twist."""

    @override
    def apply_contact(self, state: BodyState, contact: ContactMotion) -> BodyState:
        motion = contact.motion
        mechanical_state = MechanicalState(
            Pose(motion.position_world_m, motion.q_world_from_body),
            self.with_twist(
                state.rigid_body.mechanical_state.velocities,
                Twist(motion.velocity_world_mps, motion.angular_velocity_body_radps),
            ),
        )
        rigid_body = RigidBodyState(
            mechanical_state, motion.specific_force_body_mps2, contact.ground_contact
        )
        return replace(state, rigid_body=rigid_body)

    def initial_rigid_body_state(
        self,
        mechanical_state: MechanicalState[Pose, Velocities],
        wrench: Wrench,
        surroundings: Surroundings,
    ) -> RigidBodyState[Velocities]:
        """Return the initial state, with the specific force of all forces but ground contact."""
        external = region_wrench(mechanical_state.configuration, surroundings)
        force = wrench.force_body_n + external.force_body_n
        ground_contact = None if self.landing_gear is None else self.landing_gear.init()
        return RigidBodyState(mechanical_state, force / self.body.mass_kg, ground_contact)

    def external_forces(
        self,
        rigid_body: RigidBodyState[Velocities],
        twist: Twist,
        surroundings: Surroundings,
        dt_s: Real,
    ) -> ExternalForces:
        """Return the external forces over a step that begins in this state."""
        if self.landing_gear is None or rigid_body.ground_contact is None:
            return ExternalForces(surroundings, None)
        pose = rigid_body.mechanical_state.configuration
        contact = ContactStep.start(
            self.landing_gear, rigid_body.ground_contact, pose, twist, self.body, surroundings, dt_s
        )
        return ExternalForces(surroundings, contact)


def pose_and_twist(start: Kinematics) -> tuple[Pose, Twist]:
    """Return the pose and the twist of a motion."""
    pose = Pose(start.position_world_m, start.q_world_from_body)
    return pose, Twist(start.velocity_world_mps, start.angular_velocity_body_radps)


def flow_around(pose: Pose, twist: Twist, surroundings: Surroundings) -> Flow:
    """Return the motion of the body relative to the air."""
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


def region_wrench(pose: Pose, surroundings: Surroundings) -> Wrench:
    """Return the wrench of the world's force regions on a body."""
    wrench = surroundings.external_wrench
    if wrench is None:
        return Wrench.zero()
    inverse = pose.q_world_from_body.inverse()
    return Wrench(inverse.rotate(wrench.force_world_n), inverse.rotate(wrench.torque_world_nm))


def next_rigid_body_state(
    mechanical_state: MechanicalState[Pose, Velocities],
    before: Twist,
    after: Twist,
    external: ExternalForces,
    dt_s: Real,
) -> RigidBodyState[Velocities]:
    """Return the state after a step, with unit quaternion and mean specific force."""
    pose = Pose(
        mechanical_state.configuration.position_world_m,
        mechanical_state.configuration.q_world_from_body.normalized(),
    )
    mean_world = (after.velocity_world_mps - before.velocity_world_mps) / dt_s
    specific_force_world = mean_world + Vec3(0.0, 0.0, external.surroundings.gravity_mps2)
    return RigidBodyState(
        MechanicalState(pose, mechanical_state.velocities),
        pose.q_world_from_body.inverse().rotate(specific_force_world),
        None if external.contact is None else external.contact.finish(pose, after),
    )
