"""A step as a row of numbers: which columns a group's vehicles have, and how to fill them."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.contact.ground_contact import GroundContact
from kittiwake.core.columns import Block, to_blocks, to_columns
from kittiwake.core.commands import CommandChoice
from kittiwake.core.kinematics import motion_columns
from kittiwake.geometry.scalar import Count, Real, is_zero
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import Uncertainty
from kittiwake.interfaces.instrument import Sample
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import Snapshot
from kittiwake.world.world import NEAREST_OBSTACLE, World

# of position, velocity and attitude, as ``Uncertainty`` orders them
ERRORS = ("x", "y", "z", "vx", "vy", "vz", "rx", "ry", "rz")


def _row_blocks(snapshot: Snapshot, *, in_current: bool) -> list[Block]:
    """One vehicle's row, without the time."""
    estimated = {f"estimate.{k}": v for k, v in motion_columns(snapshot.estimate).items()}
    current = snapshot.surroundings.current_world_mps
    beside, water = snapshot.surroundings.nearest_obstacle_m, snapshot.surroundings.water
    flowing = {f"current_{axis}_world_mps": getattr(current, axis) for axis in "xy"}
    after: dict[str, Any] = {
        "wind_world_mps": snapshot.surroundings.wind_world_mps,
        **(flowing if in_current else {}),
        **({} if water is None else {"water_height_m": water.height_world_m}),
        **({} if beside is None else {NEAREST_OBSTACLE: beside}),
        "guidance.legs": snapshot.legs,
        **({} if snapshot.phase is None else {"guidance.phase": snapshot.phase}),
        **({} if snapshot.finished is None else {"guidance.finished": snapshot.finished}),
        **({} if snapshot.faults is None else {"faults": snapshot.faults}),
        "status": snapshot.status,
    }
    return [
        *to_blocks(motion_columns(snapshot.truth)),
        *to_blocks(snapshot.command, "cmd_"),
        *to_blocks(snapshot.actuators, "act_"),
        *to_blocks(_footing_columns(snapshot.ground_contact)),
        *(block for name, sample in snapshot.samples.items() for block in _told(name, sample)),
        *to_blocks(estimated),
        *to_blocks(_covariances(snapshot.uncertainty), "estimate."),
        *to_blocks(_asked(snapshot.setpoint), "setpoint."),
        *to_blocks(after),
    ]


def _covariances(uncertainty: Uncertainty | None) -> dict[str, Real]:
    """The upper triangle; the names of the errors hold no unit, for a product of two has two."""
    if uncertainty is None:
        return {}
    return {
        f"cov_{one}_{other}": uncertainty.covariance[i, i + j]
        for i, one in enumerate(ERRORS)
        for j, other in enumerate(ERRORS[i:])
    }


def _asked(setpoint: Any) -> dict[str, Any]:
    """The columns of a signal; of one of several, NaN in those that the meant one does not have."""
    if not isinstance(setpoint, CommandChoice):
        return dict(to_columns(setpoint))
    asked: dict[str, Any] = {}
    for place, signal in enumerate(setpoint.commands):
        for column, number in to_columns(signal).items():
            meant = setpoint.place == place
            asked[column] = jnp.where(meant, number, asked.get(column, jnp.nan))
    return asked


def _told(name: str, sample: Sample) -> list[Block]:
    """What a sensor says, what it would say without errors, and whether that is new."""
    measured = to_blocks(sample.measurement, f"sensor.{name}.")
    ideal = [] if sample.ideal is None else to_blocks(sample.ideal, f"ideal.{name}.")
    return [*measured, *ideal, Block([f"sensor.{name}.fresh"], sample.fresh)]


def _footing_columns(footing: GroundContact | None) -> dict[str, Real | Count]:
    if footing is None:
        return {}
    return {
        "contact": footing.touching,
        "landings": footing.landings,
        "touch_speed_mps": footing.touch_speed_mps,
        "touched_deck": footing.touched_deck,
        "touch_offset_m": footing.touch_offset_m,
    }


def rows(
    fleet: Fleet, snapshots: tuple[Snapshot, ...]
) -> tuple[Float[Array, "vehicles columns"], ...]:
    """Each group's rows of one step."""
    row = partial(_row, in_current=_has_current(fleet.world))
    return tuple(jax.vmap(row)(snapshot) for snapshot in snapshots)


def columns(fleet: Fleet, snapshots: tuple[Snapshot, ...]) -> tuple[tuple[str, ...], ...]:
    """Each group's column names, in the order of ``rows``; of the snapshots the form matters."""
    names: list[tuple[str, ...]] = []
    in_current = _has_current(fleet.world)

    def note(snapshot: Snapshot) -> None:
        blocks = _row_blocks(snapshot, in_current=in_current)
        names.append(tuple(name for block in blocks for name in block.columns))

    for snapshot in snapshots:
        jax.eval_shape(jax.vmap(note), snapshot)
    return tuple(names)


def _has_current(world: World) -> bool:
    """Whether the water moves; where it does not, logs are spared two columns of zeros."""
    flow = world.current.velocity_world_mps(Vec3.zero())
    return not (is_zero(flow.x) and is_zero(flow.y))


def _row(snapshot: Snapshot, *, in_current: bool) -> Float[Array, " columns"]:
    dtype = jnp.result_type(snapshot.truth.position_world_m.x)
    blocks = _row_blocks(snapshot, in_current=in_current)
    return jnp.concatenate([jnp.ravel(jnp.asarray(block.numbers, dtype)) for block in blocks])
