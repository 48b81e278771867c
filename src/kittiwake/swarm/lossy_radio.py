"""Radio with fading, latency, and a shared channel of limited bandwidth.

A message from a distance d arrives with the probability::

    P = (1 - loss) exp(-(d / d_e)^n) min(1, B / G),    nothing from d >= range

The exponential is that of a link with Rayleigh fading, whose mean power falls with the n-th power
of the distance (M. Haenggi, "Stochastic geometry for wireless networks", 2012, section 5.1); at d_e
one message in e arrives. G is the traffic of all vehicles in range and B the capacity of the
channel, in bits per second: under overload each message is lost with the same probability.

A message is received ``latency_s`` after it was sent, and remembered for ``memory_s``, even if its
sender falls silent; the last one of each sender counts. Senders out of range are forgotten at once.
Whether a message arrives is drawn once for each receiver.
"""

import math
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32
from typing_extensions import TypeVar, override

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.errors import ScenarioError
from kittiwake.core.neighbors import NeighborTable, Roster, StateReport
from kittiwake.geometry.nearest import nearest
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field, replace_unchecked
from kittiwake.swarm.ideal_radio import MOST
from kittiwake.swarm.neighbor_table import neighbor_tables, with_leaders
from kittiwake.world.radio import AbstractRadio, Broadcast

# largest number of remembered messages per vehicle
MAX_MESSAGES = 256
BITS_PER_BYTE = 8

Tree = TypeVar("Tree")


class MessageHistory(Module):
    """Last messages of all vehicles, the newest first: axes (messages, vehicles).

    ``capacity_ratio`` is min(1, B / G) at each vehicle when they were sent. ``number`` counts the
    messages; ``seed`` is the key data of the losses. The first ``latency_steps`` messages are still
    in transit.
    """

    reports: StateReport
    positions_world_m: Vec3
    capacity_ratio: Float[Array, "messages vehicles"]
    number: Int[Array, ""]
    seed: UInt32[Array, "..."]
    latency_steps: int = field(static=True)


class LossyRadio(AbstractRadio[MessageHistory]):
    """Radio that delivers messages of the nearest vehicles and of the leader, with losses.

    Attributes:
        range_m: range of the radio.
        most: largest number of neighbors; the nearest are received.
        loss: share of messages that is lost at any distance.
        fade_distance_m: d_e; no fading without it.
        path_loss_exponent: n, 2 in free space.
        latency_s: time from sending to reception, rounded to message periods.
        memory_s: age at which messages are forgotten.
        bandwidth_bps: B; unlimited without it.
        message_bytes: size of a message.
    """

    default_rate_hz: ClassVar[float | None] = 25.0

    range_m: Annotated[Real, POSITIVE] = 50.0
    most: Annotated[int, MOST] = field(static=True, default=16)
    loss: Annotated[Real, FRACTION] = 0.0
    fade_distance_m: Annotated[Real, POSITIVE] | None = None
    path_loss_exponent: Annotated[Real, Bounds(1.0, 8.0)] = 2.0
    latency_s: Annotated[float, NOT_NEGATIVE] = field(static=True, default=0.0)
    memory_s: Annotated[float, POSITIVE] = field(static=True, default=0.5)
    bandwidth_bps: Annotated[Real, POSITIVE] | None = None
    message_bytes: Annotated[Real, POSITIVE] = 64.0

    @override
    def check(self, period_s: float) -> None:
        if self._length(period_s) > MAX_MESSAGES:
            message = (
                f"`latency_s` and `memory_s`: got {self._length(period_s)} messages; must be "
                f"{MAX_MESSAGES} at most; reduce them or rate_hz"
            )
            raise ScenarioError(message)

    @override
    def init(self, vehicles: int, period_s: float, key: PRNGKeyArray) -> MessageHistory:
        seed = jax.random.key_data(key)
        length = self._length(period_s)
        nothing = jax.tree.map(
            lambda leaf: jnp.zeros((length, vehicles), leaf.dtype), StateReport.silent()
        )
        none, capacity_ratio = jnp.asarray(0, jnp.int32), jnp.zeros((length, vehicles))
        latency_steps = self._latency_steps(period_s)
        return MessageHistory(
            nothing, nothing.position_world_m, capacity_ratio, none, seed, latency_steps
        )

    def _length(self, period_s: float) -> int:
        return self._latency_steps(period_s) + max(1, math.ceil(self.memory_s / period_s))

    def _latency_steps(self, period_s: float) -> int:
        return round(self.latency_s / period_s)

    @override
    def step(
        self, state: MessageHistory, inputs: Broadcast, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[MessageHistory, NeighborTable]:
        del key
        sending = inputs.present & inputs.reports.sent
        reports = replace_unchecked(inputs.reports, sent=sending)
        points = jax.vmap(lambda place: place.array)(inputs.positions_world_m)
        crowd = nearest(points, sending, self.range_m, 1).neighbor_count
        sent = MessageHistory(
            _push(state.reports, reports),
            _push(state.positions_world_m, inputs.positions_world_m),
            _push(state.capacity_ratio, self._capacity_ratio(crowd, dt_s)),
            state.number + 1,
            state.seed,
            state.latency_steps,
        )
        # senders that have fallen silent are remembered at their positions
        known = jnp.any(sent.reports.sent, axis=0) & jnp.all(jnp.isfinite(points), axis=1)
        near = nearest(points, known, self.range_m, self.most)
        senders, exists = with_leaders(near, inputs.roster)
        exists = exists & inputs.present[:, None]
        own = jnp.arange(len(senders), dtype=jnp.int32)
        arrived = jax.vmap(self._arrived, (None, None, 0, 0))(sent, inputs.roster, own, senders)
        delivered = jnp.arange(jnp.shape(arrived)[2], dtype=jnp.int32) >= sent.latency_steps
        arrived = arrived & delivered[None, None, :] & exists[:, :, None]
        newest = jnp.argmax(arrived, axis=2)
        reports = jax.tree.map(lambda leaf: leaf[newest, senders], sent.reports)
        age_s = inputs.age_s + jnp.asarray(newest, jnp.result_type(float)) * dt_s
        return sent, neighbor_tables(
            reports, age_s, senders, jnp.any(arrived, axis=2), inputs.roster
        )

    def _capacity_ratio(
        self, crowd: Int[Array, " vehicles"], dt_s: Real
    ) -> Float[Array, " vehicles"]:
        """Return min(1, B / G) at each vehicle."""
        if self.bandwidth_bps is None:
            return jnp.ones(jnp.shape(crowd))
        offered_bps = jnp.asarray(crowd, jnp.result_type(float)) * (
            self.message_bytes * BITS_PER_BYTE / dt_s
        )
        return jnp.minimum(1.0, self.bandwidth_bps / jnp.maximum(offered_bps, 1e-9))

    def _arrived(
        self,
        sent: MessageHistory,
        roster: Roster,
        own: Int[Array, ""],
        senders: Int[Array, " received"],
    ) -> Bool[Array, "received messages"]:
        """Return flags of the messages that one vehicle has received, the newest first."""
        key = jax.random.wrap_key_data(sent.seed)
        messages = jnp.arange(jnp.shape(sent.reports.sent)[0], dtype=jnp.int32)
        of_receiver = jax.random.fold_in(key, roster.name_hash[own])

        def received(sender_index: Int[Array, ""], message: Int[Array, ""]) -> Bool[Array, ""]:
            sender = jax.tree.map(lambda leaf: leaf[message, sender_index], sent.positions_world_m)
            receiver = jax.tree.map(lambda leaf: leaf[message, own], sent.positions_world_m)
            distance_m = (sender - receiver).norm()
            probability = self._probability(distance_m) * sent.capacity_ratio[message, own]
            of_pair = jax.random.fold_in(of_receiver, roster.name_hash[sender_index])
            drawn = jax.random.uniform(jax.random.fold_in(of_pair, sent.number - message))
            return jnp.asarray(sent.reports.sent)[message, sender_index] & (drawn < probability)

        of_one = jax.vmap(received, (None, 0))
        return jax.vmap(of_one, (0, None))(senders, messages)

    def _probability(self, distance_m: Real) -> Real:
        """Return P on a channel of unlimited bandwidth."""
        probability = jnp.where(distance_m < self.range_m, 1.0 - self.loss, 0.0)
        if self.fade_distance_m is None:
            return probability
        return probability * jnp.exp(
            -((distance_m / self.fade_distance_m) ** self.path_loss_exponent)
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "LossyRadio"]:
        return {"late": cls(latency_s=0.04, loss=0.5, fade_distance_m=20.0, bandwidth_bps=1e4)}


def _push(history: Tree, newest: Tree) -> Tree:
    """Return the history with the newest entry first, and without the oldest one."""
    return jax.tree.map(
        lambda old, new: jnp.concatenate([new[None].astype(old.dtype), old[:-1]]), history, newest
    )
