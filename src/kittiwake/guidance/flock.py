"""Flying as one of a flock: the velocity that several behaviors want together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import VelocityYaw
from kittiwake.core.component import kind_of
from kittiwake.core.errors import CommandError, KittiwakeError, ScenarioError, did_you_mean
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs


class FlockState(eqx.Module):
    """Where it began, and which of the behaviors count."""

    beginning: InitialPose
    active: Bool[Array, " behaviors"]


class Flock(AbstractGuidance):
    """Moves with the velocity that its behaviors want, each within its own limit.

    By ``sum`` that is the sum of what each wants, times its weight. By ``order`` the first ones
    come first: each adds what it wants until the sum of their speeds is ``limit_mps``, and of the
    next one that much is taken which is left (Reynolds 1987, "prioritized allocation").

    Attributes:
        behaviors: what the vehicle wants because of others.
        combine: how that becomes one velocity.
        limit_mps: of that velocity.
        radius_m: others that are as far or farther do not count (Micklisch et al. 2021, equation
            9, with its signs corrected).
        active: the behaviors that count at first, by their names; all if not given.
        yaw_rad: to look along; the yaw that it begins with if not given.
        feed_forward: whether the velocity comes with its acceleration, which is its time derivative
            while the vehicle itself and all others go straight on.
    """

    tracked: ClassVar[bool] = False
    default_rate_hz: ClassVar[float | None] = 25.0

    behaviors: tuple[AbstractBehavior, ...]
    combine: Literal["sum", "order"] = eqx.field(static=True, default="sum")
    limit_mps: Annotated[Real, POSITIVE] = 2.0
    radius_m: Annotated[Real, POSITIVE] = 10.0
    active: tuple[str, ...] | None = eqx.field(static=True, default=None)
    yaw_rad: Real | None = None
    feed_forward: bool = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        """Refuses a flock without behaviors, and names that none of them has."""
        if not self.behaviors:
            message = "behaviors must hold at least one, such as {type: cohesion}"
            raise ValueError(message)
        try:
            self._flags(self.active or ())
        except CommandError as error:
            message = f"active: {error}"
            raise ValueError(message) from None

    @property
    @override
    def behavior_names(self) -> tuple[str, ...]:
        seen: Counter[str] = Counter()
        names: list[str] = []
        for behavior in self.behaviors:
            kind = kind_of(behavior)
            seen[kind] += 1
            names.append(kind if seen[kind] == 1 else f"{kind}-{seen[kind]}")
        return tuple(names)

    @property
    @override
    def requires_radio(self) -> bool:
        return True

    @property
    @override
    def follows(self) -> bool:
        return any(behavior.follows for behavior in self.behaviors)

    @property
    @override
    def feeds_forward(self) -> bool:
        return self.feed_forward

    @override
    def prepare(self, context: BuildContext) -> "Flock":
        ready: list[AbstractBehavior] = []
        for i, behavior in enumerate(self.behaviors):
            try:
                ready.append(behavior.prepare(context))
            except (KittiwakeError, ValueError) as error:
                message = f"behaviors.{i} ({self.behavior_names[i]}): {error}"
                raise ScenarioError(message) from None
        if all(one is other for one, other in zip(ready, self.behaviors, strict=True)):
            return self
        return replace(self, behaviors=tuple(ready))

    @override
    def command_types(self) -> tuple[type[VelocityYaw]]:
        return (VelocityYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> FlockState:
        del key
        return FlockState(InitialPose.ahead(), self._flags(self.active))

    @override
    def step(
        self, state: FlockState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[FlockState, VelocityYaw]:
        del dt_s, key
        assert inputs.neighbors is not None, "a world with flocks has a radio"
        beginning = state.beginning.at(inputs.estimate)
        near = inputs.neighbors.within(inputs.estimate.position_world_m, self.radius_m)
        yaw = jnp.asarray(beginning.yaw_rad if self.yaw_rad is None else self.yaw_rad)
        later = replace(state, beginning=beginning)
        if not self.feed_forward:
            velocity = self.velocity_world_mps(inputs.estimate, near, state.active)
            return later, VelocityYaw(velocity, yaw)

        def velocity_after(time_s: Real) -> Vec3:
            own = inputs.estimate
            place = own.position_world_m + own.velocity_world_mps * time_s
            ahead = replace(own, position_world_m=place)
            return self.velocity_world_mps(ahead, near.after(time_s), state.active)

        velocity, acceleration = jax.jvp(velocity_after, (jnp.zeros(()),), (jnp.ones(()),))
        return later, VelocityYaw(velocity, yaw, acceleration)

    def velocity_world_mps(
        self, own: Kinematics, peers: NeighborTable, active: Bool[Array, " behaviors"]
    ) -> Vec3:
        """What the active behaviors want together."""
        whole, left_mps = Vec3.zero(), jnp.asarray(self.limit_mps)
        for behavior, counts in zip(self.behaviors, active, strict=True):
            wish = behavior.limited_world_mps(own, peers) * behavior.weight
            wish = wish * jnp.where(counts, 1.0, 0.0)
            if self.combine == "order":
                wish = wish.shortened(left_mps)
                left_mps = jnp.maximum(left_mps - wish.norm(), 0.0)
            whole = whole + wish
        return whole.shortened(self.limit_mps)

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
                message = f"there is no behavior '{name}' here. {did_you_mean(str(name), known)}"
                raise CommandError(message)
        return jnp.asarray([name in behaviors for name in known])
