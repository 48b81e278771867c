"""Waves as a process of the world.

A kind of waves describes their height, length and direction. It becomes the process of the world
that is named ``WAVES``; its visible value is the present components, from which each vessel gets
the ``WaterSurface`` at its position.
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
from kittiwake.world.world import WorldModel

# name of the waves among a world's processes
WAVES = "waves"
# longest step as a share of the shortest wave's period
MAX_STEP_PERIODS = 0.25


class AbstractWaves(AbstractProcessKind):
    """Kind of waves."""

    @abstractmethod
    def check(self, gravity_mps2: float) -> None:
        """Raise ScenarioError for waves that are not physical."""

    @abstractmethod
    def shortest_period_s(self, gravity_mps2: float) -> float:
        """Return the shortest period of all components."""

    def warnings(self, gravity_mps2: float) -> tuple[str, ...]:
        """Return warnings, without a final period."""
        del gravity_mps2
        return ()

    @abstractmethod
    def init(self, gravity_mps2: Real, key: PRNGKeyArray) -> Waves:
        """Return the components at the start, with random phases."""

    @override
    def process(self, world: WorldModel, period_s: float) -> "WaveProcess":
        gravity_mps2 = float(world.gravity_mps2)
        self.check(gravity_mps2)
        longest_s = MAX_STEP_PERIODS * self.shortest_period_s(gravity_mps2)
        if period_s > longest_s:
            message = (
                f"steps of {period_s:g} s are too long for waves with a shortest period of "
                f"{longest_s / MAX_STEP_PERIODS:.3g} s; write a rate of at least "
                f"{1.0 / longest_s:.3g} Hz, here or as time.rate_hz, or longer waves"
            )
            raise ScenarioError(message)
        return WaveProcess(self, gravity_mps2)


class WaveProcess(AbstractProcess[Waves, Waves]):
    """Process of the waves of one world."""

    kind: AbstractWaves
    gravity_mps2: Real

    @override
    def init(self, key: PRNGKeyArray) -> Waves:
        return self.kind.init(self.gravity_mps2, key)

    @override
    def step(
        self, state: Waves, inputs: Real, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Waves, Waves]:
        del dt_s, key
        advance = state.frequencies_radps * jnp.asarray(inputs, state.phases_rad.dtype)
        return state, replace(state, phases_rad=jax.vmap(wrap_angle)(state.phases_rad - advance))

    @override
    def warnings(self, duration_s: float) -> tuple[str, ...]:
        del duration_s
        return self.kind.warnings(float(self.gravity_mps2))
