"""Flock guidance: combines the velocities of several behaviors into one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import VelocityYaw
from kittiwake.core.component import registered_name
from kittiwake.core.errors import CommandError, KittiwakeError, ScenarioError, did_you_mean
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field


class FlockState(Module):
    """Initial pose, and flags of the active behaviors."""

    initial: InitialPose
    active: Bool[Array, " behaviors"]


class Flock(AbstractGuidance[FlockState]):
    """Commands the combined velocity of its behaviors, each within its own limit.

    ``sum`` adds the weighted velocities. ``order`` gives priority to the first ones: each behavior
    adds its velocity until the sum of the speeds reaches ``limit_mps``, and the next one is cut to
    the remainder (Reynolds 1987, "prioritized allocation").

    Attributes:
        behaviors: behaviors that propose velocities.
        combine: rule that combines them.
        limit_mps: largest speed of the combined velocity.
        radius_m: distance from which on neighbors are ignored (Micklisch et al. 2021, equation 9,
            with its signs corrected).
        active: names of the initially active behaviors; all by default.
        yaw_rad: constant yaw; by default that at the start.
        feed_forward: adds the acceleration, the time derivative of the velocity while the vehicle
            and all neighbors move straight on.
    """

    tracked: ClassVar[bool] = False
    default_rate_hz: ClassVar[float | None] = 25.0

    behaviors: tuple[AbstractBehavior, ...]
    combine: Literal["sum", "order"] = field(static=True, default="sum")
    limit_mps: Annotated[Real, POSITIVE] = 2.0
    radius_m: Annotated[Real, POSITIVE] = 10.0
    active: tuple[str, ...] | None = field(static=True, default=None)
    yaw_rad: Real | None = None
    feed_forward: bool = field(static=True, default=False)

    def __post_init__(self) -> None:
        """Raise an error for a flock without behaviors, and for unknown names."""
        if not self.behaviors:
            message = "`behaviors`: got none; must be at least one, such as {type: cohesion}"
            raise ValueError(message)
        try:
            self._flags(self.active or ())
        except CommandError as error:
            message = f"active: {error}"
            raise ValueError(message) from None

    @property
    @override
    def behavior_names(self) -> tuple[str, ...]:
        counts: Counter[str] = Counter()
        names: list[str] = []
        for behavior in self.behaviors:
            name = registered_name(behavior)
            counts[name] += 1
            names.append(name if counts[name] == 1 else f"{name}-{counts[name]}")
        return tuple(names)

    @property
    @override
    def requires_radio(self) -> bool:
        return True

    @property
    @override
    def requires_leader(self) -> bool:
        return any(behavior.requires_leader for behavior in self.behaviors)

    @property
    @override
    def feeds_forward(self) -> bool:
        return self.feed_forward

    @override
    @independent_of_start
    def prepare(self, context: BuildContext) -> "Flock":
        prepared: list[AbstractBehavior] = []
        for i, behavior in enumerate(self.behaviors):
            try:
                prepared.append(behavior.prepare(context))
            except (KittiwakeError, ValueError) as error:
                message = f"behaviors.{i} ({self.behavior_names[i]}): {error}"
                raise ScenarioError(message) from None
        if all(new is old for new, old in zip(prepared, self.behaviors, strict=True)):
            return self
        return replace(self, behaviors=tuple(prepared))

    @override
    def command_types(self) -> tuple[type[VelocityYaw]]:
        return (VelocityYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> FlockState:
        del key
        return FlockState(InitialPose.unknown(), self._flags(self.active))

    @override
    def step(
        self, state: FlockState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[FlockState, VelocityYaw]:
        del dt_s, key
        assert inputs.neighbors is not None, "a world with flocks has a radio"
        initial = state.initial.updated(inputs.estimate)
        near = inputs.neighbors.within(inputs.estimate.position_world_m, self.radius_m)
        yaw = jnp.asarray(initial.yaw_rad if self.yaw_rad is None else self.yaw_rad)
        later = replace(state, initial=initial)
        if not self.feed_forward:
            velocity = self.velocity_world_mps(inputs.estimate, near, state.active)
            return later, VelocityYaw(velocity, yaw)

        def velocity_after(time_s: Real) -> Vec3:
            own = inputs.estimate
            position = own.position_world_m + own.velocity_world_mps * time_s
            later_own = replace(own, position_world_m=position)
            return self.velocity_world_mps(later_own, near.after(time_s), state.active)

        velocity, acceleration = jax.jvp(velocity_after, (jnp.zeros(()),), (jnp.ones(()),))
        return later, VelocityYaw(velocity, yaw, acceleration)

    def velocity_world_mps(
        self, own: Kinematics, neighbors: NeighborTable, active: Bool[Array, " behaviors"]
    ) -> Vec3:
        """Return the combined velocity of the active behaviors."""
        total, left_mps = Vec3.zero(), jnp.asarray(self.limit_mps)
        for behavior, is_active in zip(self.behaviors, active, strict=True):
            velocity = behavior.limited_world_mps(own, neighbors) * behavior.weight
            velocity = velocity * jnp.where(is_active, 1.0, 0.0)
            if self.combine == "order":
                velocity = velocity.clip_norm(left_mps)
                left_mps = jnp.maximum(left_mps - velocity.norm(), 0.0)
            total = total + velocity
        return total.clip_norm(self.limit_mps)

    @override
    def with_active_behaviors(self, state: FlockState, behaviors: Sequence[str]) -> FlockState:
        return replace(state, active=self._flags(behaviors))

    def _flags(self, behaviors: Sequence[str] | None) -> Bool[Array, " behaviors"]:
        if behaviors is None:
            return jnp.ones(len(self.behaviors), bool)
        if isinstance(behaviors, str):
            message = f"'{behaviors}' is one name; write a list of them: ['{behaviors}']"
            raise CommandError(message)
        known = list(self.behavior_names)
        for name in behaviors:
            if name not in known:
                message = f"there is no behavior '{name}'. {did_you_mean(str(name), known)}"
                raise CommandError(message)
        return jnp.asarray([name in behaviors for name in known])

    @classmethod
    @override
    def examples(cls) -> dict[str, dict[str, Any]]:
        # behaviors are a family of their own
        apart = {"behaviors": ["separation", "alignment", {"type": "cohesion", "weight": 0.5}]}
        ahead = {"behaviors": ["informed-avoid", "follow-leader"], "combine": "order"}
        return {"summed": apart, "in order": ahead}
