"""State reports that vehicles broadcast, and the neighbor table that a vehicle receives."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32

from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, replace_unchecked


class StateReport(Module):
    """Report that a vehicle broadcasts: its estimated state.

    ``sent`` is false if the vehicle has not sent a report.
    """

    position_world_m: Vec3
    velocity_world_mps: Vec3
    yaw_rad: Real
    sent: Flag

    @classmethod
    def silent(cls) -> "StateReport":
        """Return the report of a vehicle that has sent nothing."""
        nowhere = Vec3(jnp.zeros(()), jnp.zeros(()), jnp.zeros(()))
        return cls(nowhere, nowhere, jnp.zeros(()), jnp.asarray(False))

    def after(self, time_s: Real) -> "StateReport":
        """Return the report extrapolated by a time at constant velocity."""
        place = self.position_world_m + self.velocity_world_mps * time_s
        return replace_unchecked(self, position_world_m=place)


class Roster(Module):
    """Teams and leaders of all vehicles of a fleet, in the fleet's order.

    Attributes:
        name_hash: the hash of each vehicle's name, from which its random streams are derived.
        team: the index of each vehicle's team.
        index_in_team: the index of each vehicle in its team, from zero.
        size: the number of vehicles in its team.
        leader: the index of the vehicle that it follows; its own index if none.
    """

    name_hash: UInt32[Array, " vehicles"]
    team: Int[Array, " vehicles"]
    index_in_team: Int[Array, " vehicles"]
    size: Int[Array, " vehicles"]
    leader: Int[Array, " vehicles"]


class Neighbor(Module):
    """Another vehicle, according to its last report.

    Attributes:
        position_world_m: the position, extrapolated to the present.
        velocity_world_mps: the reported velocity.
        age_s: the age of the report.
        index_in_team: its index in its team.
        teammate: true if it belongs to the same team; other vehicles are only avoided.
        received: true if a report was received; otherwise the other fields are undefined.
    """

    position_world_m: Vec3
    velocity_world_mps: Vec3
    age_s: Real
    index_in_team: Integer
    teammate: Flag
    received: Flag


class NeighborTable(Module):
    """Other vehicles as known to one vehicle by radio.

    Attributes:
        entries: the neighbors, the nearest first; each leaf has a leading axis over them.
        leader: the vehicle that it follows; ``received`` is false without a leader.
        index_in_team: its own index in its team.
        size: the number of vehicles in its team.
    """

    entries: Neighbor
    leader: Neighbor
    index_in_team: Integer
    size: Integer

    def after(self, time_s: Real) -> "NeighborTable":
        """Return the table extrapolated by a time at constant velocities."""

        def extrapolate(neighbor: Neighbor) -> Neighbor:
            elapsed_s = jnp.where(neighbor.received, time_s, 0.0)
            position = neighbor.position_world_m + neighbor.velocity_world_mps * elapsed_s
            age_s = neighbor.age_s + elapsed_s
            return replace_unchecked(neighbor, position_world_m=position, age_s=age_s)

        entries = jax.vmap(extrapolate)(self.entries)
        return replace_unchecked(self, entries=entries, leader=extrapolate(self.leader))

    def within(self, center_world_m: Vec3, radius_m: Real) -> "NeighborTable":
        """Return the table without neighbors outside of a sphere; the leader is kept."""

        def is_inside(neighbor: Neighbor) -> Flag:
            offset = neighbor.position_world_m - center_world_m
            return neighbor.received & (offset.dot(offset) < jnp.square(radius_m))

        inside = jax.vmap(is_inside)(self.entries)
        return replace_unchecked(self, entries=replace_unchecked(self.entries, received=inside))
