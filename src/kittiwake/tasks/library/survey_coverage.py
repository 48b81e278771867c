"""Task of vessels: cover all cells of an area, by rudder and thrust.

The area is a rectangle of N square cells; a cell is covered as soon as a vessel is within
``swath_m`` of its center at the end of a control step. With k_i the number of cells that agent i
has newly covered (a cell that several cover at once counts for the first of them), each agent has a
reward of its own in each step::

    r_i = 10 k_i / N - 0.01 dt / 1 s

The episode ends once all cells are covered; cells near the start of a vessel do not count. A vessel
that leaves ``world.area`` is lost.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import FRACTION, POSITIVE
from kittiwake.core.commands import RudderThrust
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.pytree import Module, field
from kittiwake.tasks.action_mapping import ActionMapping, Span
from kittiwake.tasks.library.motion import (
    POSITION_BOUNDS,
    RATE_BOUNDS,
    UNIT_BOUNDS,
    VELOCITY_BOUNDS,
)
from kittiwake.tasks.task import AbstractTask, Agent, Conditions, TaskScene

WHOLE_AREA, TIME_PER_S = 10.0, 0.01
HELM = ActionMapping(RudderThrust, {"rudder_rad": Span(0.0, 0.6), "thrust_n": Span(0.0, 1.0)})
# observed places around an agent, in cells ahead of it and to its left
LOOKS_AHEAD, LOOKS_ASIDE = (-1, 0, 1, 2, 3), (-2, -1, 0, 1, 2)
# number of observed blocks along each side of the area
BLOCKS = 4


class SurveyCoverageObservation(Module):
    """Estimated motion of a vessel, and the coverage of the area.

    Attributes:
        offset_world_m: offset to the center of the area.
        ahead_world: direction of its heading.
        velocity_body_mps: velocity over the ground.
        yaw_rate_radps: yaw rate.
        near: 1 for each place around it that is covered or outside, else 0, in rows from behind
            to ahead, each from right to left.
        blocks: covered share of each of ``BLOCKS`` times ``BLOCKS`` parts of the area.
    """

    offset_world_m: Annotated[Vec3, POSITION_BOUNDS]
    ahead_world: Annotated[Vec3, UNIT_BOUNDS]
    velocity_body_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    yaw_rate_radps: Annotated[Real, RATE_BOUNDS]
    near: Annotated[Float[Array, "looks"], FRACTION]
    blocks: Annotated[Float[Array, "blocks"], FRACTION]


class Coverage(NamedTuple):
    """Covered cells, and the number of cells newly covered by each agent in the last step."""

    covered: Bool[Array, "columns rows"]
    newly: Int[Array, " agents"]


class SurveyCoverage(AbstractTask[Coverage]):
    """Coverage of a rectangle from ``corner_world_m`` along x and y, in cells of ``cell_m``.

    Attributes:
        cells: number of cells along x and along y; multiples of ``BLOCKS``.
        corner_world_m: corner of the area with the smallest x and y.
        cell_m: side of a cell.
        swath_m: radius within which a vessel covers cells.
    """

    rate_hz: Annotated[Real, POSITIVE] = 4.0
    corner_world_m: Vec3 = Vec3(-8.0, -8.0, 0.0)
    cells: tuple[int, int] = field(static=True, default=(8, 8))
    cell_m: Annotated[Real, POSITIVE] = 2.0
    swath_m: Annotated[Real, POSITIVE] = 1.5

    scenario: ClassVar[str] = "survey-coverage"
    agents: ClassVar[str] = "strider"
    lost_reward: ClassVar[float] = -2.0
    conditions: ClassVar[Conditions] = {
        "noisy": {"vehicles.strider.estimator": {"type": "noisy-truth", "position_m": 0.3}},
        "current": {"world.current": {"type": "uniform", "speed_mps": 0.2, "towards_deg": 30}},
        "two": {"vehicles.strider.count": 2, "vehicles.strider.spacing_m": [4, 0, 0]},
    }

    def __post_init__(self) -> None:
        """Check that the area consists of whole blocks."""
        if any(count < BLOCKS or count % BLOCKS for count in self.cells):
            message = f"cells: got {self.cells}; must be multiples of {BLOCKS}"
            raise ValueError(message)

    @override
    def action_mapping(self, vehicle: AssembledVehicle) -> ActionMapping:
        del vehicle
        return HELM

    @override
    def init_goal(
        self, scene: TaskScene, vehicles: Sequence[AssembledVehicle], key: PRNGKeyArray
    ) -> Coverage:
        del vehicles, key
        passed = scene.each(lambda agent: self._cells_near(agent.truth))
        return Coverage(passed.any(axis=0), jnp.zeros(passed.shape[0], jnp.int32))

    @override
    def update_goal(self, goal: Coverage, scene: TaskScene, key: PRNGKeyArray) -> Coverage:
        del key
        passed = scene.each(lambda agent: self._cells_near(agent.truth))
        first = passed & (jnp.cumsum(passed, axis=0, dtype=jnp.int32) == 1)
        newly = (first & ~goal.covered[None]).sum(axis=(1, 2), dtype=jnp.int32)
        return Coverage(goal.covered | passed.any(axis=0), newly)

    @override
    def observe(self, goal: Coverage, agent: Agent, scene: TaskScene) -> SurveyCoverageObservation:
        del scene
        own = agent.estimate
        columns, rows = self.cells
        sine, cosine = sin_cos(own.euler_world_from_body.yaw_rad)
        extent = Vec3(0.5 * columns * self.cell_m, 0.5 * rows * self.cell_m, 0.0)
        dtype = jnp.result_type(float)
        blocks = goal.covered.astype(dtype).reshape(
            BLOCKS, columns // BLOCKS, BLOCKS, rows // BLOCKS
        )
        return SurveyCoverageObservation(
            offset_world_m=self.corner_world_m + extent - own.position_world_m,
            ahead_world=Vec3(cosine, sine, 0.0),
            velocity_body_mps=own.velocity_body_mps,
            yaw_rate_radps=own.angular_velocity_body_radps.z,
            near=self._covered_around(goal, own.position_world_m, cosine, sine),
            blocks=blocks.mean(axis=(1, 3)).reshape(-1),
        )

    @override
    def reward(self, goal: Coverage, agent: Agent, scene: TaskScene) -> Real:
        del scene
        newly = goal.newly[agent.index].astype(jnp.result_type(float))
        return WHOLE_AREA * newly / goal.covered.size - TIME_PER_S / self.rate_hz

    @override
    def metrics(self, goal: Coverage, scene: TaskScene) -> dict[str, Real]:
        del scene
        return {"covered": goal.covered.mean(dtype=jnp.result_type(float))}

    @override
    def ended(self, goal: Coverage, scene: TaskScene) -> Flag:
        del scene
        return goal.covered.all()

    def _cells_near(self, truth: Kinematics) -> Bool[Array, "columns rows"]:
        """Return True for each cell within ``swath_m`` of a vessel."""
        columns, rows = self.cells
        dtype = jnp.result_type(float)
        offset = truth.position_world_m - self.corner_world_m
        x = (jnp.arange(columns, dtype=dtype) + 0.5) * self.cell_m - offset.x
        y = (jnp.arange(rows, dtype=dtype) + 0.5) * self.cell_m - offset.y
        return (x**2)[:, None] + (y**2)[None] <= self.swath_m**2

    def _covered_around(
        self, goal: Coverage, position_world_m: Vec3, cosine: Real, sine: Real
    ) -> Float[Array, "looks"]:
        """Return 1 for each place around a vessel that is covered or outside, else 0."""
        dtype = jnp.result_type(float)
        ahead, aside = np.meshgrid(LOOKS_AHEAD, LOOKS_ASIDE, indexing="ij")
        own = (position_world_m - self.corner_world_m) / self.cell_m
        forward, left = jnp.asarray(ahead.ravel(), dtype), jnp.asarray(aside.ravel(), dtype)
        column = jnp.floor(own.x + cosine * forward - sine * left).astype(jnp.int32)
        row = jnp.floor(own.y + sine * forward + cosine * left).astype(jnp.int32)
        columns, rows = self.cells
        inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
        at = jnp.clip(column, 0, columns - 1), jnp.clip(row, 0, rows - 1)
        return jax.lax.select(inside, goal.covered[at], jnp.ones_like(inside)).astype(dtype)
