"""Five ultrasonic sensors that take turns.

Each is an ``ultrasonic`` sensor of its own mount. The array measures once in each slot, at its
beginning, with the sensors that are active in it; the others keep what they said last, and before
their first turn the longest range, not valid.

Source: the Matlab drone simulator of R. Coronel; its mounts to the right, forward and up are turned
to forward, left and up. Its left and right sensors look 45 degrees off forward.
"""

import math
from typing import Annotated, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.sensors.ranging import AbstractUltrasonic
from kittiwake.sensors.ray_scene import RayScene
from kittiwake.sensors.round_robin import (
    OWN_SLOT_RATE_HZ,
    SCHEMES,
    SENSORS,
    Scheme,
    SchemeName,
    refuse_slots,
)
from kittiwake.sensors.ultrasonic import INCIDENCE_LIMIT_RAD, INCIDENCE_RAD
from kittiwake.sensors.view import view_from
from kittiwake.world.ray import refuse_without_direction, unit

HALF = math.sqrt(0.5)


class UltrasonicBeam(eqx.Module):
    """Where one of the sensors sits, and where it looks."""

    position_body_m: Vec3
    direction_body: Vec3

    def __check_init__(self) -> None:
        """Refuses what is no direction."""
        refuse_without_direction(self.direction_body, "direction_body", "[1, 0, 0] to look ahead")


class TurnsMeasurement(AbstractMeasurement):
    """What five sensors said last: front, bottom, left, right, back.

    ``active`` are those that measured in the present slot.
    """

    ranges_m: Float[Array, "5"]
    valid: Bool[Array, "5"]
    active: Bool[Array, "5"]


class UltrasonicArrayState(eqx.Module):
    """The next slot's place in the round, and what each sensor said last."""

    slot: Int[Array, ""]
    ranges_m: Float[Array, "5"]
    valid: Bool[Array, "5"]


class UltrasonicArray(AbstractUltrasonic):
    """Five ultrasonic sensors in a round of slots; ``rate_hz`` is the number of slots a second."""

    measures: ClassVar[type] = TurnsMeasurement

    scheme: SchemeName | None = eqx.field(static=True, default=None)
    slots: tuple[tuple[str, ...], ...] | None = eqx.field(static=True, default=None)
    front: UltrasonicBeam = UltrasonicBeam(Vec3(0.215, 0.0, -0.01), Vec3(1.0, 0.0, 0.0))
    bottom: UltrasonicBeam = UltrasonicBeam(Vec3(0.06, 0.0, 0.04), Vec3(0.0, 0.0, -1.0))
    left: UltrasonicBeam = UltrasonicBeam(Vec3(0.06, 0.04, 0.05), Vec3(HALF, HALF, 0.0))
    right: UltrasonicBeam = UltrasonicBeam(Vec3(0.06, -0.04, 0.05), Vec3(HALF, -HALF, 0.0))
    back: UltrasonicBeam = UltrasonicBeam(Vec3(-0.15, 0.0, 0.05), Vec3(-1.0, 0.0, 0.0))
    min_range_m: Annotated[Real, NOT_NEGATIVE] = 0.0
    max_range_m: Annotated[Real, POSITIVE] = 5.0
    max_incidence_rad: Annotated[Real, INCIDENCE_RAD] = INCIDENCE_LIMIT_RAD
    max_range_rate_mps: Annotated[Real, POSITIVE] | None = None
    noise_bound_m: Annotated[Real, NOT_NEGATIVE] = 0.0

    @override
    def __check_init__(self) -> None:
        """Refuses two schemes, and slots that break a partition."""
        if self.slots is not None:
            if self.scheme is not None:
                message = f"slots: scheme is given as well ({self.scheme}); give one of them"
                raise ValueError(message)
            refuse_slots(self.slots)

    @property
    def turns(self) -> Scheme:
        """The scheme by name, or that of one's own."""
        if self.slots is not None:
            return Scheme(self.slots, OWN_SLOT_RATE_HZ)
        return SCHEMES["front-only" if self.scheme is None else self.scheme]

    @property
    @override
    def default_rate_hz(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.turns.slot_rate_hz

    @override
    def init(self, key: PRNGKeyArray) -> UltrasonicArrayState:
        del key
        farthest = jnp.full(len(SENSORS), self.max_range_m, jnp.result_type(float))
        return UltrasonicArrayState(
            jnp.asarray(0, jnp.int32), farthest, jnp.zeros(len(SENSORS), bool)
        )

    @override
    def axes_body(self) -> Float[Array, "5 3"]:
        return jnp.stack([jnp.asarray(unit(line.direction_body).array) for line in self._lines()])

    @override
    def answers_m(self, scene: RayScene, inputs: SensorInputs) -> Float[Array, "5"]:
        reach = self.reach()
        return jnp.stack(
            [
                reach.answer_m(
                    *(scene, view_from(inputs.truth, line.position_body_m)),
                    *(unit(line.direction_body), Vec3.zero()),
                )
                for line in self._lines()
            ]
        )

    @override
    def measurement(self, ranges_m: Float[Array, "5"], valid: Bool[Array, "5"]) -> TurnsMeasurement:
        return TurnsMeasurement(ranges_m, valid, jnp.ones(len(SENSORS), bool))

    @override
    def reported(
        self, state: UltrasonicArrayState, now: TurnsMeasurement
    ) -> tuple[UltrasonicArrayState, TurnsMeasurement]:
        slots = self.turns.slots
        table = np.array([[name in slot for name in SENSORS] for slot in slots])
        active = jnp.asarray(table)[state.slot]
        ranges = jnp.where(active, now.ranges_m, state.ranges_m)
        valid = jnp.where(active, now.valid, state.valid)
        later = UltrasonicArrayState((state.slot + 1) % len(slots), ranges, valid)
        return later, TurnsMeasurement(ranges, valid, active)

    def _lines(self) -> tuple[UltrasonicBeam, ...]:
        """In the order of a reading."""
        return (self.front, self.bottom, self.left, self.right, self.back)
