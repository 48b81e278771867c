"""What vehicles tell each other, and what one of them knows of the others by it."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32

from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3


class StateReport(eqx.Module):
    """What a vehicle tells of itself: what it believes, not what is true.

    ``sent`` is false of one that has told nothing.
    """

    position_world_m: Vec3
    velocity_world_mps: Vec3
    yaw_rad: Real
    sent: Flag

    @classmethod
    def silent(cls) -> "StateReport":
        """Nothing told."""
        nowhere = Vec3(jnp.zeros(()), jnp.zeros(()), jnp.zeros(()))
        return cls(nowhere, nowhere, jnp.zeros(()), jnp.asarray(False))

    def after(self, time_s: Real) -> "StateReport":
        """The same some time later, as far as it can be foreseen: straight on."""
        place = self.position_world_m + self.velocity_world_mps * time_s
        return eqx.tree_at(lambda report: report.position_world_m, self, place)


class Roster(eqx.Module):
    """Who belongs together, of all vehicles of a fleet in their order.

    Attributes:
        team: the number of each vehicle's team.
        name_hash: of each vehicle's name, from which what is random of it follows.
        number: each one's place in its team, from zero.
        size: how many are in its team.
        leader: which vehicle each one follows; its own number if none.
    """

    name_hash: UInt32[Array, " vehicles"]
    team: Int[Array, " vehicles"]
    number: Int[Array, " vehicles"]
    size: Int[Array, " vehicles"]
    leader: Int[Array, " vehicles"]


class Neighbor(eqx.Module):
    """Another vehicle, as far as is known.

    Attributes:
        position_world_m: where it is believed to be now, by the last that was heard of it.
        velocity_world_mps: what it told.
        age_s: of what it told.
        number: its place in its team.
        mate: whether it is of the same team and flies along; of others one only keeps clear.
        heard: whether anything is known of it; the rest means nothing if not.
    """

    position_world_m: Vec3
    velocity_world_mps: Vec3
    age_s: Real
    number: Count
    mate: Flag
    heard: Flag


class NeighborTable(eqx.Module):
    """What one vehicle knows of others.

    Attributes:
        others: those that it heard of, the nearest first; each leaf has an axis over them.
        leader: the vehicle that it follows; not heard for one that follows nobody.
        number: its own place in its team.
        size: how many are in its team.
    """

    others: Neighbor
    leader: Neighbor
    number: Count
    size: Count

    def after(self, time_s: Real) -> "NeighborTable":
        """The same some time later, as far as it can be foreseen: all go straight on."""

        def carried_on(peer: Neighbor) -> Neighbor:
            passed_s = jnp.where(peer.heard, time_s, 0.0)
            place = peer.position_world_m + peer.velocity_world_mps * passed_s
            changed = (place, peer.age_s + passed_s)
            return eqx.tree_at(lambda own: (own.position_world_m, own.age_s), peer, changed)

        later = (jax.vmap(carried_on)(self.others), carried_on(self.leader))
        return eqx.tree_at(lambda peers: (peers.others, peers.leader), self, later)

    def within(self, place_world_m: Vec3, radius_m: Real) -> "NeighborTable":
        """The same without those that are believed to be as far from a place or farther.

        The leader stays, wherever it is.
        """

        def near(peer: Neighbor) -> Flag:
            way = peer.position_world_m - place_world_m
            return peer.heard & (way.dot(way) < jnp.square(radius_m))

        return eqx.tree_at(lambda peers: peers.others.heard, self, jax.vmap(near)(self.others))
