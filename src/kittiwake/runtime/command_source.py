"""External command source, polled between compiled blocks of a few steps."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float64

from kittiwake.geometry.vec3 import Vec3
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.state import FleetState, Snapshot

# a vehicle, and what happened to it
Notice = tuple[str, str]
Accelerations = Mapping[str, Float64[np.ndarray, "3"]]


class VehicleReport(NamedTuple):
    """State estimate of a vehicle in world axes, as a command source receives it.

    ``acceleration_mps2`` is the derivative of the velocity: zero at rest and before the first step.
    """

    position_m: Float64[np.ndarray, "3"]
    velocity_mps: Float64[np.ndarray, "3"]
    yaw_rad: float
    acceleration_mps2: Float64[np.ndarray, "3"]


@runtime_checkable
class CommandSource(Protocol):
    """Source of commands that hold for ``steps`` physics steps.

    ``command_types`` maps each vehicle that it commands to the one command type that it sends.
    """

    @property
    def steps(self) -> int:
        """Number of physics steps for which a command holds."""
        ...

    @property
    def command_types(self) -> Mapping[str, type]:
        """Command types, by vehicle."""
        ...

    def commands(self, time_s: float, reports: Mapping[str, VehicleReport]) -> Mapping[str, Any]:
        """Return the commands from now on, given the vehicles' current estimates."""
        ...

    def notices(self) -> Sequence[Notice]:
        """Return what has happened since the last call."""
        ...


def reports_of(
    fleet: Fleet, state: FleetState, accelerations: Accelerations = MappingProxyType({})
) -> dict[str, VehicleReport]:
    """Return each vehicle's estimate, extrapolated from its last broadcast by one step.

    Accelerations that are not given are zero, as at rest and at the start.
    """
    found: dict[str, VehicleReport] = {}
    for group, own in zip(fleet.groups, state.groups, strict=True):
        broadcast = own.broadcast
        assert broadcast is not None, "vehicles without a radio do not broadcast"
        position, velocity = (
            np.stack([np.asarray(part, float) for part in (v.x, v.y, v.z)], axis=1)
            for v in (broadcast.position_world_m, broadcast.velocity_world_mps)
        )
        yaw_rad = np.asarray(broadcast.yaw_rad, float)
        for index, name in enumerate(group.names):
            here_m = position[index] + velocity[index] * fleet.dt_s
            acceleration = accelerations.get(name, np.zeros(3))
            found[name] = VehicleReport(
                here_m, velocity[index], float(yaw_rad[index]), acceleration
            )
    return found


def estimated_acceleration(snapshot: Snapshot) -> Array:
    """Return a vehicle's estimated acceleration, m/s^2 in world axes and without gravity."""
    estimate, gravity_mps2 = snapshot.estimate, snapshot.surroundings.gravity_mps2
    force = estimate.q_world_from_body.rotate(estimate.specific_force_body_mps2)
    return jnp.asarray((force - Vec3(0.0, 0.0, gravity_mps2)).array)
