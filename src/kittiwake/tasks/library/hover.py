"""Task of a Crazyflie: hover at a position from a random start, by its rotor speeds.

With ``s(x; m)`` for ``tolerance`` of 1 at 0 that falls to 0.1 at m, the reward of a step is ``r =
dt s(|p|; 1 m) (0.6 + 0.2 s(|v|; 1 m/s) + 0.2 s(|omega|; 5 rad/s))``, with the position error p, so
that the return is at most the flight time in seconds.
"""

from dataclasses import fields
from typing import Annotated, ClassVar

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.commands import RotorSpeeds
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.tasks.action_mapping import ActionMapping, Span
from kittiwake.tasks.library.motion import RelativeMotion, relative_motion
from kittiwake.tasks.requirements import Requirements
from kittiwake.tasks.rewards import tolerance
from kittiwake.tasks.task import AbstractTask, Agent, TaskScene


class HoverObservation(RelativeMotion):
    """Motion relative to the position, and rotor speeds."""

    speeds_radps: Annotated[tuple[Real, ...], Bounds(0.0, 5000.0)]


class Hover(AbstractTask[tuple[()]]):
    """Hovering at ``place_world_m``, facing east.

    Attributes:
        place_world_m: position to hover at.
    """

    rate_hz: Annotated[Real, POSITIVE] = 100.0
    place_world_m: Vec3 = Vec3(0.0, 0.0, 1.5)

    scenario: ClassVar[str] = "hover"
    agents: ClassVar[str] = "crazyflie"
    requirements: ClassVar[Requirements] = Requirements(command_type=RotorSpeeds)
    lost_reward: ClassVar[float] = -1.0

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        bounds = vehicle.dynamics.command_bounds
        return ActionMapping(
            RotorSpeeds, {name: Span.between(*ends) for name, ends in bounds.items()}
        )

    @override
    def observe(self, goal: tuple[()], agent: Agent, scene: TaskScene) -> HoverObservation:
        del goal, scene
        rotors = len(agent.command.speeds_radps)
        about = relative_motion(self.place_world_m, 0.0, agent.estimate)
        speeds = tuple(agent.actuators[f"rotor_{i}_radps"] for i in range(rotors))
        own = {field.name: getattr(about, field.name) for field in fields(about)}
        return HoverObservation(**own, speeds_radps=speeds)

    @override
    def reward(self, goal: tuple[()], agent: Agent, scene: TaskScene) -> Real:
        del goal, scene
        truth = agent.truth
        near = tolerance((truth.position_world_m - self.place_world_m).norm(), margin=1.0)
        still = tolerance(truth.velocity_world_mps.norm(), margin=1.0)
        calm = tolerance(truth.angular_velocity_body_radps.norm(), margin=5.0)
        return near * (0.6 + 0.2 * still + 0.2 * calm) / jnp.asarray(self.rate_hz)

    @override
    def metrics(self, goal: tuple[()], scene: TaskScene) -> dict[str, Real]:
        del goal

        def distance_m(agent: Agent) -> Real:
            return (agent.truth.position_world_m - self.place_world_m).norm()

        return {"distance_m": jnp.asarray(scene.each(distance_m)).max()}
