"""Random terrain of several classes, with persons.

Each class but the first is poured: drops fall one by one at a randomly jumping position; each moves
from cell to cell until it reaches one that is not of its class yet, and changes it. Jumps have
exponential lengths of 4 cells on average; 11 to 110 drops fall at a position. The first class
poured is clutter, which makes persons hard to detect, the second is occlusion, which hides them and
covers clutter. The remaining cells are open.

Source: QRSim (R. De Nardi, 2013), PourTerrain and BoxWithPersonsArea: 50 cells along each side of
the area, 20 % of clutter and 5 % of occlusion, five to ten persons of 0.5 m in the open, within the
middle 80 % of each side. In QRSim the 50 cells are mapped onto cells of 1 m.
"""

from dataclasses import replace
from typing import Annotated, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int8, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.pytree import field
from kittiwake.world.terrain import CLUTTER, OCCLUSION, OPEN, AbstractTerrain, Terrain
from kittiwake.world.world import FlightArea

MIDDLE_SHARE = 0.8
MEAN_JUMP_CELLS = 4.0
DROPS = (11, 110)
# steps east and north to neighboring cells
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
# moves drawn in one block
MOVES = 1024
# attempts to find an open position: 0.8^200 of them fail
TRIES = 200
SHARE = Bounds(0.0, 0.4)
CELLS = Bounds(2.0, 500.0)
PERSONS = Bounds(0.0, 1000.0)


class PouredTerrain(AbstractTerrain):
    """Open ground with clutter and occlusion, and persons in open cells.

    ``clutter`` and ``occlusion`` are the poured shares of all cells; ``cells`` is their number
    along each side of the world's area, ``persons`` the range of the number of persons.

    Attributes:
        clutter: share of cluttered ground.
        occlusion: share of ground that hides persons.
        cells: number of cells along x and y.
        persons: range of the number of persons.
        person_size_m: size of a person.
    """

    clutter: Annotated[Real, SHARE] = 0.2
    occlusion: Annotated[Real, SHARE] = 0.05
    cells: Annotated[int, CELLS] = field(static=True, default=50)
    persons: tuple[Annotated[int, PERSONS], Annotated[int, PERSONS]] = field(
        static=True, default=(5, 10)
    )
    person_size_m: Annotated[Real, POSITIVE] = 0.5

    def __post_init__(self) -> None:
        """Raise ValueError if the range of the number of persons is empty."""
        low, high = self.persons
        if low > high:
            message = f"persons: got [{low}, {high}]; write the lower number first"
            raise ValueError(message)

    @override
    def generate(self, area: FlightArea, key: PRNGKeyArray) -> Terrain:
        clutter_key, occlusion_key, count_key, place_key = jax.random.split(key, 4)
        classes = jnp.full((self.cells, self.cells), OPEN, jnp.int8)
        classes = pour(classes, CLUTTER, self.clutter, clutter_key)
        classes = pour(classes, OCCLUSION, self.occlusion, occlusion_key)
        low, high = self.persons
        count = jax.random.randint(count_key, (), low, high + 1, jnp.int32)
        without_persons = Terrain(
            classes,
            area,
            jnp.zeros((high, 2)),
            jnp.arange(high, dtype=jnp.int32) < count,
            self.person_size_m,
        )
        return replace(without_persons, persons_world_m=_in_the_open(without_persons, place_key))

    @classmethod
    @override
    def examples(cls) -> dict[str, "PouredTerrain"]:
        return {"small": cls(cells=10, persons=(2, 3))}


def _in_the_open(ground: Terrain, key: PRNGKeyArray) -> Float[Array, "persons 2"]:
    """Return a position for each person: the first of many random ones that is open."""
    count = len(ground.person_exists)
    draws = jax.random.uniform(key, (count, TRIES, 2), jnp.result_type(float), -0.5, 0.5)
    sides = jnp.asarray([ground.area.x_m, ground.area.y_m], draws.dtype)
    length = sides[:, 1] - sides[:, 0]
    positions = sides.mean(axis=1)[None, None] + draws * (MIDDLE_SHARE * length)[None, None]
    in_open = ground.class_at(positions[..., 0], positions[..., 1]) == OPEN
    return positions[jnp.arange(count), jnp.argmax(in_open, axis=1)]


class PourState(NamedTuple):
    """State of pouring between two moves of a drop.

    Attributes:
        classes: present classes of the cells.
        missing: number of cells that remain to be changed.
        spout: cell at which drops fall.
        drop: cell of the present drop.
        drops: number of drops that remain at this spout, including the present one.
    """

    classes: Int8[Array, "east north"]
    missing: Integer
    spout: Int[Array, "2"]
    drop: Int[Array, "2"]
    drops: Integer


class Moves(NamedTuple):
    """Random numbers of many moves of drops; each move uses those that it needs.

    Attributes:
        step: step of the drop to a neighboring cell.
        jump: jump of the spout, once no drops remain there.
        drops: number of drops at its next position.
    """

    step: Int[Array, "moves 2"]
    jump: Int[Array, "moves 2"]
    drops: Int[Array, " moves"]


def pour(
    classes: Int8[Array, "east north"], kind: int, share: Real, key: PRNGKeyArray
) -> Int8[Array, "east north"]:
    """Return the classes with a share of all cells changed to this kind.

    Moves are drawn in blocks, and moves after the last drop have no effect: so flights of a batch
    pour together, without a copy of the terrain for each move.
    """
    cells = classes.shape[0]
    target = jnp.ceil(jax.lax.stop_gradient(share) * cells * cells).astype(jnp.int32)
    start = jax.random.randint(key, (2,), 0, cells, jnp.int32)

    def unfinished(at: tuple[PourState, Integer]) -> Flag:
        return at[0].missing > 0

    def pour_block(at: tuple[PourState, Integer]) -> tuple[PourState, Integer]:
        now, blocks = at
        draws = _random_moves(jax.random.fold_in(key, blocks))
        next_state, _ = jax.lax.scan(
            lambda state, move: (_move(state, move, kind), None), now, draws
        )
        return next_state, blocks + 1

    first = PourState(classes, target, start, start, jnp.asarray(DROPS[0], jnp.int32))
    return jax.lax.while_loop(unfinished, pour_block, (first, jnp.zeros((), jnp.int32)))[0].classes


def _move(at: PourState, move: Moves, kind: int) -> PourState:
    """Return the state after one move; drops stop at edges, the spout wraps around them."""
    cells = at.classes.shape[0]
    landed = (at.classes[at.drop[0], at.drop[1]] != kind) & (at.missing > 0)
    east = jnp.where(landed, at.drop[0], cells)
    drops = at.drops - landed.astype(jnp.int32)
    emptied = drops <= 0
    spout = jnp.where(emptied, (at.spout + move.jump) % cells, at.spout)
    return PourState(
        at.classes.at[east, at.drop[1]].set(kind, mode="drop"),
        at.missing - landed.astype(jnp.int32),
        spout,
        jnp.where(landed, spout, (at.drop + move.step).clip(0, cells - 1)),
        jnp.where(emptied, move.drops, drops),
    )


def _random_moves(key: PRNGKeyArray) -> Moves:
    step_key, jump_key, drops_key = jax.random.split(key, 3)
    directions = jax.random.randint(step_key, (MOVES,), 0, len(STEPS), jnp.int32)
    draws = jax.random.uniform(jump_key, (MOVES, 2), jnp.float32)
    length = -MEAN_JUMP_CELLS * jnp.log1p(-draws[:, 0])
    angle = 2.0 * jnp.pi * draws[:, 1]
    jump = length[:, None] * jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    low, high = DROPS
    return Moves(
        step=jnp.asarray(STEPS, jnp.int32)[directions],
        jump=jnp.round(jump).astype(jnp.int32),
        drops=jax.random.randint(drops_key, (MOVES,), low, high + 1, jnp.int32),
    )
