"""Array of five ultrasonic sensors that measure in turn.

Each is an ``ultrasonic`` sensor with its own mount. The array measures once in each slot, at its
beginning, with the sensors that are active in it; the others hold their last reading, and before
their first turn the longest range, not valid.

Source: the Matlab drone simulator of R. Coronel; its mounts (right, forward, up) are converted to
(forward, left, up). Its left and right sensors look 45 degrees off forward.
"""

import math
from typing import Annotated, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.beam import Beam
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.pytree import Module, field
from kittiwake.sensors.ranging import AbstractUltrasonic
from kittiwake.sensors.ranging_pose import pose_at
from kittiwake.sensors.ray_scene import RayScene
from kittiwake.sensors.round_robin import (
    DEFAULT_SLOT_RATE_HZ,
    SCHEMES,
    SENSORS,
    Scheme,
    SchemeName,
    validate_slots,
)
from kittiwake.sensors.ultrasonic import INCIDENCE_LIMIT_RAD, INCIDENCE_RAD
from kittiwake.world.ray import unit, validate_direction

HALF = math.sqrt(0.5)


class UltrasonicBeam(Module):
    """Position and direction of one of the sensors."""

    position_body_m: Vec3
    direction_body: Vec3

    def __post_init__(self) -> None:
        """Raise ValueError if the direction is not one."""
        validate_direction(self.direction_body, "direction_body", "[1, 0, 0] to look ahead")


class TurnsMeasurement(AbstractMeasurement):
    """Last readings of five sensors: front, bottom, left, right, back.

    ``active`` are those that measured in the present slot.
    """

    ranges_m: Float[Array, "5"]
    valid: Bool[Array, "5"]
    active: Bool[Array, "5"]


class UltrasonicArrayState(Module):
    """Index of the next slot in the round, and the last reading of each sensor."""

    slot: Int[Array, ""]
    ranges_m: Float[Array, "5"]
    valid: Bool[Array, "5"]


class UltrasonicArray(AbstractUltrasonic[UltrasonicArrayState, TurnsMeasurement]):
    """Five ultrasonic sensors in a round of slots; ``rate_hz`` is the rate of the slots.

    Attributes:
        scheme: order in which the sensors measure.
        slots: order of your own, in place of ``scheme``.
        front: position and direction of the front sensor.
        bottom: position and direction of the bottom sensor.
        left: position and direction of the left sensor.
        right: position and direction of the right sensor.
        back: position and direction of the back sensor.
    """

    measures: ClassVar[type] = TurnsMeasurement

    scheme: SchemeName | None = field(static=True, default=None)
    slots: tuple[tuple[str, ...], ...] | None = field(static=True, default=None)
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
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slots is not None:
            if self.scheme is not None:
                message = f"slots: scheme is given as well ({self.scheme}); write only one of them"
                raise ValueError(message)
            validate_slots(self.slots)

    @property
    def turns(self) -> Scheme:
        """The named scheme, or the user-defined one."""
        if self.slots is not None:
            return Scheme(self.slots, DEFAULT_SLOT_RATE_HZ)
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
        return jnp.stack([jnp.asarray(unit(beam.direction_body).array) for beam in self._beams()])

    @override
    def detected_ranges_m(self, scene: RayScene, inputs: SensorInputs) -> Float[Array, "5"]:
        limits = self.detection_limits()
        return jnp.stack(
            [
                limits.detected_range_m(
                    scene,
                    pose_at(inputs.truth, beam.position_body_m),
                    unit(beam.direction_body),
                    Vec3.zero(),
                )
                for beam in self._beams()
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
        next_state = UltrasonicArrayState((state.slot + 1) % len(slots), ranges, valid)
        return next_state, TurnsMeasurement(ranges, valid, active)

    def _beams(self) -> tuple[UltrasonicBeam, ...]:
        """Return the beams in the order of a reading."""
        return (self.front, self.bottom, self.left, self.right, self.back)

    @override
    def beam_geometry(self) -> dict[str, Beam]:
        return {
            name: beam._replace(position_body_m=own.position_body_m)
            for name, own, beam in zip(
                SENSORS, self._beams(), super().beam_geometry().values(), strict=True
            )
        }

    @classmethod
    @override
    def examples(cls) -> dict[str, "UltrasonicArray"]:
        return {
            "by name": cls(scheme="back", noise_bound_m=0.01, max_range_m=20.0),
            "of one's own": cls(slots=(("bottom",), ("left", "back"))),
        }
