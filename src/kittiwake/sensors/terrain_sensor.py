"""What the ground is below the vehicle: open, cluttered or hidden, without any error."""

from typing import Any, ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.errors import ScenarioError
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Count, Real
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.world.terrain import TERRAIN, Terrain


class TerrainMeasurement(AbstractMeasurement):
    """0 for open ground, 1 for clutter, 2 for what hides persons."""

    terrain_class: Count


class TerrainSensor(AbstractSensor):
    """The class of the ground straight below the center of mass."""

    measures: ClassVar[type] = TerrainMeasurement
    default_rate_hz: ClassVar[float | None] = 1.0

    @override
    def check(self, world: Any) -> None:
        refuse_without_terrain(world)

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], TerrainMeasurement]:
        del dt_s, key
        return state, self.ideal(inputs)

    @override
    def ideal(self, inputs: SensorInputs) -> TerrainMeasurement:
        ground: Terrain = inputs.processes[TERRAIN]
        place = inputs.truth.position_world_m
        return TerrainMeasurement(ground.class_at(place.x, place.y))


def refuse_without_terrain(world: Any) -> None:
    """Refuses a world without classes of ground and persons on it."""
    if TERRAIN not in world.processes:
        message = "the world has no terrain to see; write terrain: pour under world"
        raise ScenarioError(message)
