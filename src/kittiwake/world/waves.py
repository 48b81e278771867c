"""Waves as a world has them.

A kind of waves says how high and how long they are and where they run to. It becomes the process of
the world that is named ``WAVES``; what there is to see of it are the components as they are now, of
which each vessel is told the ``WaterSurface`` where it is.
"""

from abc import abstractmethod
from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind
from kittiwake.world.water import Waves
from kittiwake.world.world import World

# under this name a world keeps its waves among its processes
WAVES = "waves"
# of the shortest wave's period, the longest step in which it is shown
LONGEST_STEP = 0.25


class AbstractWaves(AbstractProcessKind):
    """Kinds of waves."""

    @abstractmethod
    def check(self, gravity_mps2: float) -> None:
        """Refuses waves that could not be."""

    @abstractmethod
    def shortest_period_s(self, gravity_mps2: float) -> float:
        """Of all components."""

    def warnings(self, gravity_mps2: float) -> tuple[str, ...]:
        """What may not be meant, as sentences without their ends."""
        del gravity_mps2
        return ()

    @abstractmethod
    def begin(self, gravity_mps2: Real, key: PRNGKeyArray) -> Waves:
        """The components at the start; their phases are drawn."""

    @override
    def process(self, world: World, period_s: float) -> "WaveProcess":
        gravity_mps2 = float(world.gravity_mps2)
        self.check(gravity_mps2)
        longest_s = LONGEST_STEP * self.shortest_period_s(gravity_mps2)
        if period_s > longest_s:
            message = (
                f"steps of {period_s:g} s are too long for waves of which the shortest lasts "
                f"{longest_s / LONGEST_STEP:.3g} s; write a rate of {1.0 / longest_s:.3g} Hz or "
                "more, here or as time.rate_hz, or longer waves"
            )
            raise ScenarioError(message)
        return WaveProcess(self, gravity_mps2)


class WaveProcess(AbstractProcess):
    """The waves of one world."""

    kind: AbstractWaves
    gravity_mps2: Real

    @override
    def init(self, key: PRNGKeyArray) -> Waves:
        return self.kind.begin(self.gravity_mps2, key)

    @override
    def step(
        self, state: Waves, inputs: Real, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Waves, Waves]:
        del dt_s, key
        run = state.frequencies_radps * jnp.asarray(inputs, state.phases_rad.dtype)
        return state, replace(state, phases_rad=jax.vmap(wrap_angle)(state.phases_rad - run))

    @override
    def warnings(self, duration_s: float) -> tuple[str, ...]:
        del duration_s
        return self.kind.warnings(float(self.gravity_mps2))
