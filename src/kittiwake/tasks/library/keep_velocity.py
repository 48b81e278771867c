"""QRSim's KeepVel: keep a velocity in wind at little effort.

The reward is that of TaskKeepVel (QRSim, 2013): ``r = -(effort + |v - v_w|^2) dt`` with the
``effort`` of the sticks and the desired velocity v_w over the ground. Its value is ours.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module
from kittiwake.tasks.action_mapping import ActionMapping
from kittiwake.tasks.library.motion import (
    RATE_BOUNDS,
    UNIT_BOUNDS,
    VELOCITY_BOUNDS,
    relative_motion,
)
from kittiwake.tasks.library.pelican import (
    FACING_NORTH,
    LOST_REWARD,
    NOISELESS_OR_GUSTY,
    STICK_REQUIREMENTS,
    STICKS,
    effort,
)
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import square
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene


class VelocityObservation(Module):
    """Motion and velocity error of a vehicle, in body axes.

    Attributes:
        velocity_error_body_mps: desired minus estimated velocity.
        velocity_body_mps: velocity over the ground.
        up_body: vertical direction.
        ahead_body: direction of the desired heading.
        angular_velocity_body_radps: body rates.
    """

    velocity_error_body_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    velocity_body_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    up_body: Annotated[Vec3, UNIT_BOUNDS]
    ahead_body: Annotated[Vec3, UNIT_BOUNDS]
    angular_velocity_body_radps: Annotated[Vec3, RATE_BOUNDS]


class KeepVelocity(AbstractTask[tuple[()]]):
    """Flight of a Pelican at ``velocity_world_mps``, facing north.

    Attributes:
        velocity_world_mps: velocity to keep.
    """

    rate_hz: Annotated[Real, POSITIVE] = 50.0
    velocity_world_mps: Vec3 = Vec3(0.0, 1.0, 0.0)

    scenario: ClassVar[str] = "keep-velocity"
    agents: ClassVar[str] = "pelican"
    conditions: ClassVar[Conditions] = NOISELESS_OR_GUSTY
    requirements: ClassVar[Requirements] = STICK_REQUIREMENTS
    lost_reward: ClassVar[float] = LOST_REWARD

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return STICKS

    @override
    def observe(self, goal: tuple[()], agent: Agent, scene: TaskScene) -> VelocityObservation:
        del goal, scene
        motion = agent.estimate
        about = relative_motion(motion.position_world_m, FACING_NORTH["yaw_rad"], motion)
        error = self.velocity_world_mps - motion.velocity_world_mps
        return VelocityObservation(
            velocity_error_body_mps=motion.q_world_from_body.inverse().rotate(error),
            velocity_body_mps=about.velocity_body_mps,
            up_body=about.up_body,
            ahead_body=about.ahead_body,
            angular_velocity_body_radps=about.angular_velocity_body_radps,
        )

    @override
    def reward(self, goal: tuple[()], agent: Agent, scene: TaskScene) -> Real:
        del goal, scene
        error = agent.truth.velocity_world_mps - self.velocity_world_mps
        return -(effort(agent.command) + square(error)) / self.rate_hz

    @override
    def metrics(self, goal: tuple[()], scene: TaskScene) -> dict[str, Real]:
        del goal

        def error_mps(agent: Agent) -> Real:
            return (agent.truth.velocity_world_mps - self.velocity_world_mps).norm()

        return {"velocity_error_mps": jnp.asarray(scene.each(error_mps)).max()}
