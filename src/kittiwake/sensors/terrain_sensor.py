"""Terrain class below the vehicle: open, clutter or occlusion, without error."""

from typing import ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.errors import ScenarioError
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.world.terrain import TERRAIN, Terrain
from kittiwake.world.world import WorldModel


class TerrainMeasurement(AbstractMeasurement):
    """Terrain class: 0 for open ground, 1 for clutter, 2 for cover that hides persons."""

    terrain_class: Integer


class TerrainSensor(AbstractSensor[tuple[()], TerrainMeasurement]):
    """Terrain class straight below the center of mass."""

    measures: ClassVar[type] = TerrainMeasurement
    default_rate_hz: ClassVar[float | None] = 1.0

    @override
    def check(self, world: WorldModel) -> None:
        require_terrain(world)

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], TerrainMeasurement]:
        del dt_s, key
        return state, self.ideal(inputs)

    @override
    def ideal(self, inputs: SensorInputs) -> TerrainMeasurement:
        ground: Terrain = inputs.processes[TERRAIN]
        position = inputs.truth.position_world_m
        return TerrainMeasurement(ground.class_at(position.x, position.y))


def require_terrain(world: WorldModel) -> None:
    """Raise ScenarioError if the world has no terrain."""
    if TERRAIN not in world.processes:
        message = "the world has no terrain; write terrain: pour under world"
        raise ScenarioError(message)
