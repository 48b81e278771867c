"""Landing surfaces of the world: fixed platforms and moving decks."""

import math
from typing import Annotated

import jax
import jax.numpy as jnp
from typing_extensions import override

from kittiwake.contact.deck import DeckState
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.environment import AbstractPlatform

TILT_RAD = Bounds(-1.0, 1.0)
AMPLITUDE_RAD = Bounds(0.0, 1.0)


class FixedPlatform(AbstractPlatform):
    """Fixed rectangle; ``position_world_m`` is the center of its upper side.

    Attributes:
        position_world_m: center of the surface.
        length_m: side along its x axis.
        width_m: side along its y axis.
        yaw_rad: heading of its x axis.
        roll_rad: roll.
        pitch_rad: pitch.
    """

    position_world_m: Vec3
    length_m: Annotated[Real, POSITIVE]
    width_m: Annotated[Real, POSITIVE]
    yaw_rad: Real = 0.0
    roll_rad: Annotated[Real, TILT_RAD] = 0.0
    pitch_rad: Annotated[Real, TILT_RAD] = 0.0

    @override
    def deck_state(self, time_s: Real) -> DeckState:
        del time_s
        attitude = EulerZYX(self.roll_rad, self.pitch_rad, self.yaw_rad)
        return DeckState(
            center_world_m=self.position_world_m,
            q_world_from_deck=Quaternion.from_euler(attitude),
            velocity_world_mps=Vec3.zero(),
            angular_velocity_world_radps=Vec3.zero(),
            length_m=self.length_m,
            width_m=self.width_m,
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "FixedPlatform"]:
        return {"ramp": cls(Vec3(1.0, 2.0, 3.0), 4.0, 2.0, 0.5, 0.2)}


class MovingPlatform(AbstractPlatform):
    """Deck that moves at a constant velocity and heaves, rolls and pitches sinusoidally.

    Roll and pitch are a quarter of a period out of phase with heave, which begins upwards.

    Attributes:
        position_world_m: center of the surface at the start.
        length_m: side along its x axis.
        width_m: side along its y axis.
        yaw_rad: heading of its x axis at the start.
        velocity_world_mps: mean velocity.
        yaw_rate_radps: yaw rate.
        heave_m: amplitude of the heave.
        heave_period_s: period of the heave.
        roll_rad: amplitude of the roll.
        roll_period_s: period of the roll.
        pitch_rad: amplitude of the pitch.
        pitch_period_s: period of the pitch.
    """

    position_world_m: Vec3
    length_m: Annotated[Real, POSITIVE]
    width_m: Annotated[Real, POSITIVE]
    yaw_rad: Real = 0.0
    velocity_world_mps: Vec3 = Vec3(0.0, 0.0, 0.0)
    yaw_rate_radps: Real = 0.0
    heave_m: Annotated[Real, NOT_NEGATIVE] = 0.0
    heave_period_s: Annotated[Real, POSITIVE] = 4.0
    roll_rad: Annotated[Real, AMPLITUDE_RAD] = 0.0
    roll_period_s: Annotated[Real, POSITIVE] = 4.0
    pitch_rad: Annotated[Real, AMPLITUDE_RAD] = 0.0
    pitch_period_s: Annotated[Real, POSITIVE] = 4.0

    @override
    def deck_state(self, time_s: Real) -> DeckState:
        now = jnp.asarray(time_s, jnp.result_type(float))
        (position, q), (velocity, q_rate) = jax.jvp(self._pose, (now,), (jnp.ones_like(now),))
        # dq/dt = (0, omega) q / 2 with omega in the world
        omega = (q_rate * q.inverse()).vector * 2.0
        return DeckState(position, q, velocity, omega, self.length_m, self.width_m)

    def _pose(self, time_s: Real) -> tuple[Vec3, Quaternion]:
        heave, _ = sin_cos(2.0 * math.pi * time_s / self.heave_period_s)
        _, roll = sin_cos(2.0 * math.pi * time_s / self.roll_period_s)
        _, pitch = sin_cos(2.0 * math.pi * time_s / self.pitch_period_s)
        position = self.position_world_m + self.velocity_world_mps * time_s
        attitude = EulerZYX(
            self.roll_rad * roll,
            self.pitch_rad * pitch,
            self.yaw_rad + self.yaw_rate_radps * time_s,
        )
        position = Vec3(position.x, position.y, position.z + self.heave_m * heave)
        # a differentiated function must return arrays, even for constant components
        return jax.tree.map(jnp.asarray, (position, Quaternion.from_euler(attitude)))

    @classmethod
    @override
    def examples(cls) -> dict[str, "MovingPlatform"]:
        return {
            "deck": cls(
                Vec3(1.0, 2.0, 3.0),
                4.0,
                2.0,
                0.5,
                Vec3(1.0, 0.5, 0.0),
                0.1,
                0.3,
                4.0,
                0.1,
                5.0,
                0.2,
            )
        }
