"""A step as a row of numbers: which columns a group's vehicles have, and how to fill them."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.columns import to_columns
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
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


def row_columns(snapshot: Snapshot) -> dict[str, Real]:
    """One vehicle's row by column, without the time."""
    measured: dict[str, Real] = {}
    for name, measurement in snapshot.measurements.items():
        measured.update(to_columns(measurement, f"sensor.{name}."))
    estimated = {f"estimate.{k}": v for k, v in motion_columns(snapshot.estimate).items()}
    return {
        **motion_columns(snapshot.truth),
        **to_columns(snapshot.command, "cmd_"),
        **to_columns(snapshot.actuators, "act_"),
        **measured,
        **estimated,
        **to_columns(snapshot.setpoint, "setpoint."),
        **to_columns({"wind_world_mps": snapshot.surroundings.wind_world_mps}, ""),
        "guidance.legs": snapshot.legs,
        "status": snapshot.status,
    }


def rows(snapshots: tuple[Snapshot, ...]) -> tuple[Float[Array, "vehicles columns"], ...]:
    """Each group's rows of one step."""
    return tuple(jax.vmap(_row)(snapshot) for snapshot in snapshots)


def columns(fleet: Fleet, state: FleetState) -> tuple[tuple[str, ...], ...]:
    """Each group's column names, in the order of ``rows``."""
    names: list[tuple[str, ...]] = []

    def note(snapshot: Snapshot) -> None:
        names.append(tuple(row_columns(snapshot)))

    def one_step(s: FleetState) -> None:
        for snapshots in fleet.step(s)[1]:
            jax.vmap(note)(snapshots)

    jax.eval_shape(one_step, state)
    return tuple(names)


def _row(snapshot: Snapshot) -> Float[Array, " columns"]:
    values: list[Any] = list(row_columns(snapshot).values())
    dtype = jnp.result_type(snapshot.truth.position_world_m.x)
    return jnp.stack([jnp.asarray(value, dtype) for value in values])
