"""Log rows: the columns of a group's vehicles and their values at a step."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.contact.ground_contact import GroundContact
from kittiwake.core.arrays import ArrayTree
from kittiwake.core.columns import ColumnGroup, to_column_groups, to_columns
from kittiwake.core.commands import Command, CommandChoice
from kittiwake.core.kinematics import motion_columns
from kittiwake.geometry.scalar import Integer, Real, is_zero
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.estimator import Uncertainty
from kittiwake.interfaces.instrument import Sample
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import Snapshot
from kittiwake.world.world import NEAREST_OBSTACLE, WorldModel

# suffixes of the covariance columns: position, velocity and attitude, in ``Uncertainty``'s order
ERRORS = ("x", "y", "z", "vx", "vy", "vz", "rx", "ry", "rz")


def _row_groups(snapshot: Snapshot, *, in_current: bool) -> list[ColumnGroup]:
    """Return one vehicle's row as groups of columns, without the time."""
    estimated = {f"estimate.{k}": v for k, v in motion_columns(snapshot.estimate).items()}
    current = snapshot.surroundings.current_world_mps
    obstacle_m, water = snapshot.surroundings.nearest_obstacle_m, snapshot.surroundings.water
    flowing = {f"current_{axis}_world_mps": getattr(current, axis) for axis in "xy"}
    after: dict[str, ArrayTree] = {
        "wind_world_mps": snapshot.surroundings.wind_world_mps,
        **(flowing if in_current else {}),
        **({} if water is None else {"water_height_m": water.height_world_m}),
        **({} if obstacle_m is None else {NEAREST_OBSTACLE: obstacle_m}),
        "guidance.legs": snapshot.waypoints_reached,
        **({} if snapshot.phase is None else {"guidance.phase": snapshot.phase}),
        **({} if snapshot.finished is None else {"guidance.finished": snapshot.finished}),
        **({} if snapshot.faults is None else {"faults": snapshot.faults}),
        "status": snapshot.status,
    }
    return [
        *to_column_groups(motion_columns(snapshot.truth)),
        *to_column_groups(snapshot.command, "cmd_"),
        *to_column_groups(snapshot.actuators, "act_"),
        *to_column_groups(_contact_columns(snapshot.ground_contact)),
        *(
            group
            for name, sample in snapshot.samples.items()
            for group in _sample_groups(name, sample)
        ),
        *to_column_groups(estimated),
        *to_column_groups(_covariances(snapshot.uncertainty), "estimate."),
        *to_column_groups(_setpoint_columns(snapshot.setpoint), "setpoint."),
        *to_column_groups(after),
    ]


def _covariances(uncertainty: Uncertainty | None) -> dict[str, Real]:
    """Return the upper triangle of the covariance; the names hold no units, which are products."""
    if uncertainty is None:
        return {}
    return {
        f"cov_{one}_{other}": uncertainty.covariance[i, i + j]
        for i, one in enumerate(ERRORS)
        for j, other in enumerate(ERRORS[i:])
    }


def _setpoint_columns(setpoint: Command | CommandChoice) -> dict[str, ArrayTree]:
    """Return the columns of a setpoint; NaN in those that the chosen command does not have."""
    if not isinstance(setpoint, CommandChoice):
        return dict(to_columns(setpoint))
    columns: dict[str, ArrayTree] = {}
    for index, command in enumerate(setpoint.commands):
        for column, number in to_columns(command).items():
            is_chosen = setpoint.index == index
            columns[column] = jnp.where(is_chosen, number, columns.get(column, jnp.nan))
    return columns


def _sample_groups(name: str, sample: Sample) -> list[ColumnGroup]:
    """Return the measurement, its ideal value and the flag of a new one."""
    measured = to_column_groups(sample.measurement, f"sensor.{name}.")
    ideal = [] if sample.ideal is None else to_column_groups(sample.ideal, f"ideal.{name}.")
    return [*measured, *ideal, ColumnGroup([f"sensor.{name}.fresh"], sample.fresh)]


def _contact_columns(contact: GroundContact | None) -> dict[str, Real | Integer]:
    if contact is None:
        return {}
    return {
        "contact": contact.touching,
        "landings": contact.landings,
        "touch_speed_mps": contact.touch_speed_mps,
        "touched_deck": contact.touched_deck,
        "touch_offset_m": contact.touch_offset_m,
    }


def rows(
    fleet: Fleet, snapshots: tuple[Snapshot, ...]
) -> tuple[Float[Array, "vehicles columns"], ...]:
    """Return each group's rows of one step."""
    row = partial(_row, in_current=_has_current(fleet.world))
    return tuple(jax.vmap(row)(snapshot) for snapshot in snapshots)


def columns(fleet: Fleet, snapshots: tuple[Snapshot, ...]) -> tuple[tuple[str, ...], ...]:
    """Return each group's column names; only the shapes of the snapshots matter."""
    names: list[tuple[str, ...]] = []
    in_current = _has_current(fleet.world)

    def collect(snapshot: Snapshot) -> None:
        groups = _row_groups(snapshot, in_current=in_current)
        names.append(tuple(name for group in groups for name in group.columns))

    for snapshot in snapshots:
        jax.eval_shape(jax.vmap(collect), snapshot)
    return tuple(names)


def _has_current(world: WorldModel) -> bool:
    """Return True if the water moves; otherwise the columns of the current are left out."""
    flow = world.current.velocity_world_mps(Vec3.zero())
    return not (is_zero(flow.x) and is_zero(flow.y))


def _row(snapshot: Snapshot, *, in_current: bool) -> Float[Array, " columns"]:
    dtype = jnp.result_type(snapshot.truth.position_world_m.x)
    groups = _row_groups(snapshot, in_current=in_current)
    return jnp.concatenate([jnp.ravel(jnp.asarray(group.numbers, dtype)) for group in groups])
