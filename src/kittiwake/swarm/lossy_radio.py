"""A radio whose messages fade with the distance, come late, and share one channel.

A message from a distance d arrives with the probability::

    P = (1 - loss) exp(-(d / d_e)^n) min(1, B / G),    nothing from d >= range

The exponential is that of a link with Rayleigh fading, whose mean power falls with the n-th power
of the distance (M. Haenggi, "Stochastic geometry for wireless networks", 2012, section 5.1); d_e is
where one message of e arrives. G is what all vehicles in range send, in bits per second, and B what
the channel carries: of what is too much each message is lost with the same probability.

A message is heard ``latency_s`` after it was sent, and for ``memory_s`` it is remembered, also of a
sender that has fallen silent; the last one of each sender counts. Who has gone out of range is
forgotten at once. Whether a message arrives is drawn once for each receiver.
"""

import math
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32
from typing_extensions import override

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.errors import ScenarioError
from kittiwake.core.neighbors import NeighborTable, Roster, StateReport
from kittiwake.geometry.nearest import nearest
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.swarm.ideal_radio import MOST
from kittiwake.swarm.neighbor_table import peers_of, with_leaders
from kittiwake.world.radio import AbstractRadio, Broadcast

# what is remembered of all vehicles at once
LONGEST = 256
BITS = 8


class Sent(eqx.Module):
    """The last messages of all vehicles, the newest first; two axes, over messages and vehicles.

    ``carried`` is min(1, B / G) where each vehicle was when they were sent.
    ``number`` counts the newest; ``seed`` is the data of the key of what is lost. The first
    ``late`` messages are on their way.
    """

    reports: StateReport
    places_world_m: Vec3
    carried: Float[Array, "messages vehicles"]
    number: Int[Array, ""]
    seed: UInt32[Array, "..."]
    late: int = eqx.field(static=True)


class LossyRadio(AbstractRadio):
    """Each vehicle hears what gets through from the nearest others, and from its leader.

    Attributes:
        range_m: nothing is heard from farther away.
        most: others that a vehicle listens to, the nearest.
        loss: the part of messages that is lost at any distance.
        fade_distance_m: d_e; without it nothing fades.
        path_loss_exponent: n, 2 in free space.
        latency_s: from sending to hearing, rounded to messages.
        memory_s: what was sent longer ago is forgotten.
        bandwidth_bps: B; without it the channel carries everything.
        message_bytes: the size of a message.
    """

    default_rate_hz: ClassVar[float | None] = 25.0

    range_m: Annotated[Real, POSITIVE] = 50.0
    most: Annotated[int, MOST] = eqx.field(static=True, default=16)
    loss: Annotated[Real, FRACTION] = 0.0
    fade_distance_m: Annotated[Real, POSITIVE] | None = None
    path_loss_exponent: Annotated[Real, Bounds(1.0, 8.0)] = 2.0
    latency_s: Annotated[float, NOT_NEGATIVE] = eqx.field(static=True, default=0.0)
    memory_s: Annotated[float, POSITIVE] = eqx.field(static=True, default=0.5)
    bandwidth_bps: Annotated[Real, POSITIVE] | None = None
    message_bytes: Annotated[Real, POSITIVE] = 64.0

    @override
    def check(self, period_s: float) -> None:
        if self._length(period_s) > LONGEST:
            message = (
                f"latency_s and memory_s are {self._length(period_s)} messages, {LONGEST} at most; "
                "write less, or a lower rate_hz"
            )
            raise ScenarioError(message)

    @override
    def begin(self, vehicles: int, period_s: float, key: PRNGKeyArray) -> Sent:
        seed = jax.random.key_data(key)
        length = self._length(period_s)
        nothing = jax.tree.map(
            lambda leaf: jnp.zeros((length, vehicles), leaf.dtype), StateReport.silent()
        )
        none, carried = jnp.asarray(0, jnp.int32), jnp.zeros((length, vehicles))
        late = self._late(period_s)
        return Sent(nothing, nothing.position_world_m, carried, none, seed, late)

    def _length(self, period_s: float) -> int:
        return self._late(period_s) + max(1, math.ceil(self.memory_s / period_s))

    def _late(self, period_s: float) -> int:
        return round(self.latency_s / period_s)

    @override
    def step(
        self, state: Sent, inputs: Broadcast, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Sent, NeighborTable]:
        del key
        sends = inputs.present & inputs.reports.sent
        told = eqx.tree_at(lambda report: report.sent, inputs.reports, sends)
        points = jax.vmap(lambda place: place.array)(inputs.places_world_m)
        crowd = nearest(points, sends, self.range_m, 1).crowd
        sent = Sent(
            _pushed(state.reports, told),
            _pushed(state.places_world_m, inputs.places_world_m),
            _pushed(state.carried, self._carried(crowd, dt_s)),
            state.number + 1,
            state.seed,
            state.late,
        )
        # those who have fallen silent are remembered, where they are
        known = jnp.any(sent.reports.sent, axis=0) & jnp.all(jnp.isfinite(points), axis=1)
        near = nearest(points, known, self.range_m, self.most)
        numbers, there = with_leaders(near, inputs.roster)
        there = there & inputs.present[:, None]
        own = jnp.arange(len(numbers), dtype=jnp.int32)
        arrived = jax.vmap(self._arrived, (None, None, 0, 0))(sent, inputs.roster, own, numbers)
        here = jnp.arange(jnp.shape(arrived)[2], dtype=jnp.int32) >= sent.late
        arrived = arrived & here[None, None, :] & there[:, :, None]
        newest = jnp.argmax(arrived, axis=2)
        reports = jax.tree.map(lambda leaf: leaf[newest, numbers], sent.reports)
        age_s = inputs.age_s + jnp.asarray(newest, jnp.result_type(float)) * dt_s
        return sent, peers_of(reports, age_s, numbers, jnp.any(arrived, axis=2), inputs.roster)

    def _carried(self, crowd: Int[Array, " vehicles"], dt_s: Real) -> Float[Array, " vehicles"]:
        """min(1, B / G) where each vehicle is."""
        if self.bandwidth_bps is None:
            return jnp.ones(jnp.shape(crowd))
        offered_bps = jnp.asarray(crowd, jnp.result_type(float)) * (
            self.message_bytes * BITS / dt_s
        )
        return jnp.minimum(1.0, self.bandwidth_bps / jnp.maximum(offered_bps, 1e-9))

    def _arrived(
        self, sent: Sent, roster: Roster, own: Int[Array, ""], numbers: Int[Array, " heard"]
    ) -> Bool[Array, "heard messages"]:
        """Which of the last messages of others one vehicle has received, the newest first."""
        key = jax.random.wrap_key_data(sent.seed)
        messages = jnp.arange(jnp.shape(sent.reports.sent)[0], dtype=jnp.int32)
        of_receiver = jax.random.fold_in(key, roster.name_hash[own])

        def received(number: Int[Array, ""], message: Int[Array, ""]) -> Bool[Array, ""]:
            place = jax.tree.map(lambda leaf: leaf[message, number], sent.places_world_m)
            here = jax.tree.map(lambda leaf: leaf[message, own], sent.places_world_m)
            chance = self._chance((place - here).norm()) * sent.carried[message, own]
            of_pair = jax.random.fold_in(of_receiver, roster.name_hash[number])
            drawn = jax.random.uniform(jax.random.fold_in(of_pair, sent.number - message))
            return jnp.asarray(sent.reports.sent)[message, number] & (drawn < chance)

        of_one = jax.vmap(received, (None, 0))
        return jax.vmap(of_one, (0, None))(numbers, messages)

    def _chance(self, distance_m: Real) -> Real:
        """P on a channel that carries everything."""
        chance = jnp.where(distance_m < self.range_m, 1.0 - self.loss, 0.0)
        if self.fade_distance_m is None:
            return chance
        return chance * jnp.exp(-((distance_m / self.fade_distance_m) ** self.path_loss_exponent))


def _pushed(remembered: Any, new: Any) -> Any:
    """With the new message first, and without the oldest."""
    return jax.tree.map(
        lambda old, one: jnp.concatenate([one[None].astype(old.dtype), old[:-1]]), remembered, new
    )
