"""Ground of several classes, and persons on it.

Each class but the first is poured: from a place that jumps about, drop after drop, of which each
wanders from cell to cell until it finds one that is not of its class yet, and colors it. Jumps
have exponential lengths of 4 cells on average; 11 to 110 drops fall at a place. The first class
poured is clutter, which makes persons hard to tell, the second one occlusion, which hides them and
covers what was poured before. What is left is open.

Source: QRSim (R. De Nardi, 2013), PourTerrain and BoxWithPersonsArea: 50 cells along each side of
the area, 20 % of clutter and 5 % of occlusion, five to ten persons of 0.5 m in the open, within the
middle 80 % of each side. There the 50 cells are drawn onto cells of 1 m.
"""

from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int8, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.world.terrain import CLUTTER, OCCLUSION, OPEN, AbstractTerrain, Terrain
from kittiwake.world.world import FlightArea

MIDDLE_SHARE = 0.8
MEAN_JUMP_CELLS = 4.0
DROPS = (11, 110)
# east and north, to the cells beside a drop
WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))
# drawn at once
MOVES = 1024
# so that all of them stay in the open: 0.8^200 do not
TRIES = 200
SHARE = Bounds(0.0, 0.4)
CELLS = Bounds(2.0, 500.0)
PERSONS = Bounds(0.0, 1000.0)


class PouredTerrain(AbstractTerrain):
    """Open ground with clutter and occlusion, and persons in the open.

    ``clutter`` and ``occlusion`` are what is poured of them as shares of all cells; ``cells`` is
    how many there are along each side of the world's area, ``persons`` from how many to how many
    there are.
    """

    clutter: Annotated[Real, SHARE] = 0.2
    occlusion: Annotated[Real, SHARE] = 0.05
    cells: Annotated[int, CELLS] = eqx.field(static=True, default=50)
    persons: tuple[Annotated[int, PERSONS], Annotated[int, PERSONS]] = eqx.field(
        static=True, default=(5, 10)
    )
    person_size_m: Annotated[Real, POSITIVE] = 0.5

    def __check_init__(self) -> None:
        """Refuses a number of persons that is none."""
        low, high = self.persons
        if low > high:
            message = f"persons: [{low}, {high}] is not allowed; write the lower number first"
            raise ValueError(message)

    @override
    def made(self, area: FlightArea, key: PRNGKeyArray) -> Terrain:
        clutter_key, occlusion_key, count_key, place_key = jax.random.split(key, 4)
        classes = jnp.full((self.cells, self.cells), OPEN, jnp.int8)
        classes = poured(classes, CLUTTER, self.clutter, clutter_key)
        classes = poured(classes, OCCLUSION, self.occlusion, occlusion_key)
        low, high = self.persons
        count = jax.random.randint(count_key, (), low, high + 1, jnp.int32)
        nobody = Terrain(
            classes,
            area,
            jnp.zeros((high, 2)),
            jnp.arange(high, dtype=jnp.int32) < count,
            self.person_size_m,
        )
        return eqx.tree_at(
            lambda ground: ground.persons_world_m, nobody, _in_the_open(nobody, place_key)
        )


def _in_the_open(ground: Terrain, key: PRNGKeyArray) -> Float[Array, "persons 2"]:
    """A place for each person: the first of many drawn ones that is open."""
    count = len(ground.there)
    draws = jax.random.uniform(key, (count, TRIES, 2), jnp.result_type(float), -0.5, 0.5)
    sides = jnp.asarray([ground.area.x_m, ground.area.y_m], draws.dtype)
    length = sides[:, 1] - sides[:, 0]
    places = sides.mean(axis=1)[None, None] + draws * (MIDDLE_SHARE * length)[None, None]
    in_open = ground.class_at(places[..., 0], places[..., 1]) == OPEN
    return places[jnp.arange(count), jnp.argmax(in_open, axis=1)]


class Pouring(NamedTuple):
    """Between two moves of a drop.

    Attributes:
        classes: of the cells, as poured so far.
        missing: how many cells have yet to be colored.
        spout: the cell that is poured at.
        drop: the cell in which the drop is.
        drops: how many are still to fall at this place, this one included.
    """

    classes: Int8[Array, "east north"]
    missing: Count
    spout: Int[Array, "2"]
    drop: Int[Array, "2"]
    drops: Count


class Moves(NamedTuple):
    """What is drawn for many moves of drops, of which each takes what it needs.

    Attributes:
        step: to a cell beside the drop.
        jump: of the spout, once no drops are left to fall there.
        drops: how many fall at its next place.
    """

    step: Int[Array, "moves 2"]
    jump: Int[Array, "moves 2"]
    drops: Int[Array, " moves"]


def poured(
    classes: Int8[Array, "east north"], kind: int, share: Real, key: PRNGKeyArray
) -> Int8[Array, "east north"]:
    """The ground with a share of all cells turned into this kind.

    Moves are drawn many at once, and those that come after the last drop change nothing: so flights
    that begin together pour together, each without a copy of its ground for every move.
    """
    cells = classes.shape[0]
    wanted = jnp.ceil(jax.lax.stop_gradient(share) * cells * cells).astype(jnp.int32)
    start = jax.random.randint(key, (2,), 0, cells, jnp.int32)

    def flowing(at: tuple[Pouring, Count]) -> Flag:
        return at[0].missing > 0

    def flow(at: tuple[Pouring, Count]) -> tuple[Pouring, Count]:
        now, blocks = at
        draws = _drawn_moves(jax.random.fold_in(key, blocks))
        later, _ = jax.lax.scan(
            lambda pouring, move: (_moved(pouring, move, kind), None), now, draws
        )
        return later, blocks + 1

    first = Pouring(classes, wanted, start, start, jnp.asarray(DROPS[0], jnp.int32))
    return jax.lax.while_loop(flowing, flow, (first, jnp.zeros((), jnp.int32)))[0].classes


def _moved(at: Pouring, move: Moves, kind: int) -> Pouring:
    """After one move; at an edge a drop may stay where it is, and the spout jumps round it."""
    cells = at.classes.shape[0]
    landed = (at.classes[at.drop[0], at.drop[1]] != kind) & (at.missing > 0)
    east = jnp.where(landed, at.drop[0], cells)
    drops = at.drops - landed.astype(jnp.int32)
    emptied = drops <= 0
    spout = jnp.where(emptied, (at.spout + move.jump) % cells, at.spout)
    return Pouring(
        at.classes.at[east, at.drop[1]].set(kind, mode="drop"),
        at.missing - landed.astype(jnp.int32),
        spout,
        jnp.where(landed, spout, (at.drop + move.step).clip(0, cells - 1)),
        jnp.where(emptied, move.drops, drops),
    )


def _drawn_moves(key: PRNGKeyArray) -> Moves:
    way_key, jump_key, drops_key = jax.random.split(key, 3)
    ways = jax.random.randint(way_key, (MOVES,), 0, len(WAYS), jnp.int32)
    draws = jax.random.uniform(jump_key, (MOVES, 2), jnp.float32)
    length = -MEAN_JUMP_CELLS * jnp.log1p(-draws[:, 0])
    angle = 2.0 * jnp.pi * draws[:, 1]
    jump = length[:, None] * jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    low, high = DROPS
    return Moves(
        step=jnp.asarray(WAYS, jnp.int32)[ways],
        jump=jnp.round(jump).astype(jnp.int32),
        drops=jax.random.randint(drops_key, (MOVES,), low, high + 1, jnp.int32),
    )
