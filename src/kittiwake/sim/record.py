"""A step as a row of numbers: which columns a group's vehicles have, and how to fill them."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.columns import Number, to_columns
from kittiwake.core.footing import Footing
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.world import World
from kittiwake.geometry.scalar import Count, Real, is_zero
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import FleetState, Snapshot


def motion_columns(motion: Kinematics) -> dict[str, Real]:
    """Position, attitude, velocity in the world and body rates, under their names in logs."""
    position, velocity = motion.position_world_m, motion.velocity_world_mps
    q, omega = motion.q_world_from_body, motion.angular_velocity_body_radps
    return {
        **{f"{axis}_m": getattr(position, axis) for axis in "xyz"},
        **{f"q{part}": getattr(q, part) for part in "wxyz"},
        **{f"v{axis}_mps": getattr(velocity, axis) for axis in "xyz"},
        **{f"w{axis}_radps": getattr(omega, axis) for axis in "xyz"},
    }


def row_columns(snapshot: Snapshot, *, in_current: bool) -> dict[str, Number]:
    """One vehicle's row by column, without the time."""
    measured: dict[str, Number] = {}
    for name, sample in snapshot.samples.items():
        told = {f"sensor.{name}": sample.measurement, f"ideal.{name}": sample.ideal}
        for prefix, reading in told.items():
            measured.update({} if reading is None else to_columns(reading, f"{prefix}."))
        measured[f"sensor.{name}.fresh"] = sample.fresh
    estimated = {f"estimate.{k}": v for k, v in motion_columns(snapshot.estimate).items()}
    current = snapshot.surroundings.current_world_mps
    flowing = {f"current_{axis}_world_mps": getattr(current, axis) for axis in "xy"}
    return {
        **motion_columns(snapshot.truth),
        **to_columns(snapshot.command, "cmd_"),
        **to_columns(snapshot.actuators, "act_"),
        **_footing_columns(snapshot.footing),
        **measured,
        **estimated,
        **to_columns(snapshot.setpoint, "setpoint."),
        **to_columns({"wind_world_mps": snapshot.surroundings.wind_world_mps}, ""),
        **(flowing if in_current else {}),
        "guidance.legs": snapshot.legs,
        **({} if snapshot.faults is None else {"faults": snapshot.faults}),
        "status": snapshot.status,
    }


def _footing_columns(footing: Footing | None) -> dict[str, Real | Count]:
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


def columns(fleet: Fleet, state: FleetState) -> tuple[tuple[str, ...], ...]:
    """Each group's column names, in the order of ``rows``."""
    names: list[tuple[str, ...]] = []
    in_current = _has_current(fleet.world)

    def note(snapshot: Snapshot) -> None:
        names.append(tuple(row_columns(snapshot, in_current=in_current)))

    def one_step(s: FleetState) -> None:
        for snapshots in fleet.step(s)[1]:
            jax.vmap(note)(snapshots)

    jax.eval_shape(one_step, state)
    return tuple(names)


def _has_current(world: World) -> bool:
    """Whether the water moves; where it does not, logs are spared two columns of zeros."""
    flow = world.current.velocity_world_mps(Vec3.zero())
    return not (is_zero(flow.x) and is_zero(flow.y))


def _row(snapshot: Snapshot, *, in_current: bool) -> Float[Array, " columns"]:
    values: list[Any] = list(row_columns(snapshot, in_current=in_current).values())
    dtype = jnp.result_type(snapshot.truth.position_world_m.x)
    return jnp.stack([jnp.asarray(value, dtype) for value in values])
