"""Motion of a recorded flight, as the true motion of a vehicle.

Position, attitude and velocities are linear between the rows of a file, attitudes along the shorter
way. Velocities or body rates that the file lacks follow from central differences: those of
positions, and ``2 q* dq/dt``. The specific force is that of the velocity's change, R^T (dv/dt - g).
"""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.contact.deck import Deck
from kittiwake.core.commands import PositionYaw
from kittiwake.core.errors import did_you_mean
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.recording import Recording
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.pytree import Module
from kittiwake.world.surroundings import Surroundings

POSITION = ("x_m", "y_m", "z_m")
ATTITUDE = ("qw", "qx", "qy", "qz")
VELOCITY = ("vx_mps", "vy_mps", "vz_mps")
RATES = ("wx_radps", "wy_radps", "wz_radps")
NAMES = (*POSITION, *ATTITUDE, *VELOCITY, *RATES)


class RecordedMotionState(Module):
    """Time since the start, and gravity, which the specific force includes."""

    elapsed_s: Real
    gravity_mps2: Real


class RecordedMotion(AbstractDynamics[RecordedMotionState, PositionYaw]):
    """Motion of a file, whatever is commanded.

    ``file`` has the columns of a log: ``x_m`` to ``z_m``, ``qw`` to ``qz``, and optionally
    ``vx_mps`` to ``vz_mps`` and ``wx_radps`` to ``wz_radps``. After its end the vehicle stays where
    it is.
    """

    command_type: ClassVar[type] = PositionYaw

    file: Recording
    size_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    deck: Deck | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a file without position or attitude, or with few rows."""
        for name in (*POSITION, *ATTITUDE):
            if name not in self.file.columns:
                message = (
                    f"{self.file.source} has no column '{name}'. "
                    f"{did_you_mean(name, self.file.columns)}"
                )
                raise ValueError(message)
        if len(self.file.time_s) and self.file.time_s[0] > 0.0:
            message = f"{self.file.source}: begins at {self.file.time_s[0]:g} s; must begin at 0"
            raise ValueError(message)
        if len(self.file.time_s) < 2:
            message = f"{self.file.source}: a motion needs two rows or more"
            raise ValueError(message)

    def start(self) -> Start:
        """Return the motion at time zero."""
        motion = self._motion(0.0, 0.0)
        euler = motion.q_world_from_body.to_euler()
        return Start(
            position_world_m=_plain(motion.position_world_m),
            roll_rad=float(euler.roll_rad),
            pitch_rad=float(euler.pitch_rad),
            yaw_rad=float(euler.yaw_rad),
            velocity_world_mps=_plain(motion.velocity_world_mps),
            angular_velocity_body_radps=_plain(motion.angular_velocity_body_radps),
        )

    @override
    def init(self, start: Kinematics, surroundings: Surroundings) -> RecordedMotionState:
        del start
        return RecordedMotionState(jnp.zeros(()), surroundings.gravity_mps2)

    @override
    def step(
        self,
        state: RecordedMotionState,
        command: PositionYaw,
        surroundings: Surroundings,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> RecordedMotionState:
        del command, key
        return RecordedMotionState(state.elapsed_s + dt_s, surroundings.gravity_mps2)

    @override
    def kinematics(self, state: RecordedMotionState) -> Kinematics:
        return self._motion(state.elapsed_s, state.gravity_mps2)

    def _motion(self, time_s: Real, gravity_mps2: Real) -> Kinematics:
        times_s, rows = jnp.asarray(self.file.time_s), self._rows()
        last = len(self.file.time_s) - 1
        low = jnp.clip(jnp.searchsorted(times_s, time_s, side="right") - 1, 0, last - 1)
        span_s = times_s[low + 1] - times_s[low]
        share = jnp.clip((time_s - times_s[low]) / span_s, 0.0, 1.0)
        before, after = rows[low], rows[low + 1]
        values = before + share * (after - before)
        # at rest after the end
        moving = jnp.where(time_s <= times_s[last], 1.0, 0.0)
        at = {name: values[place] for place, name in enumerate(NAMES)}
        at |= {name: moving * at[name] for name in (*VELOCITY, *RATES)}
        q = Quaternion(*(at[name] for name in ATTITUDE)).normalized()
        place = NAMES.index(VELOCITY[0])
        change = moving * (after[place : place + 3] - before[place : place + 3]) / span_s
        acceleration = Vec3(change[0], change[1], change[2] + gravity_mps2)
        return Kinematics.of(
            Vec3(*(at[name] for name in POSITION)),
            Vec3(*(at[name] for name in VELOCITY)),
            q,
            Vec3(*(at[name] for name in RATES)),
            q.inverse().rotate(acceleration),
        )

    def _rows(self) -> Float[Array, "rows numbers"]:
        """Return the rows with all columns of ``NAMES``; neighboring quaternions are near."""
        times_s, values = jnp.asarray(self.file.time_s), jnp.asarray(self.file.values)
        found = {
            name: values[:, self.file.columns.index(name)]
            for name in NAMES
            if name in self.file.columns
        }
        q = jnp.stack([found[name] for name in ATTITUDE], axis=1)
        turns = jnp.where((q[1:] * q[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
        q = q * jnp.concatenate([jnp.ones(1), jnp.cumprod(turns)])[:, None]
        found |= dict(zip(ATTITUDE, q.T, strict=True))
        for name, source in zip(VELOCITY, POSITION, strict=True):
            if not set(VELOCITY) <= set(self.file.columns):
                found[name] = _slopes(times_s, found[source])
        if not set(RATES) <= set(self.file.columns):
            found |= dict(zip(RATES, _body_rates(times_s, q), strict=True))
        return jnp.stack([found[name] for name in NAMES], axis=1)


def _slopes(times_s: Float[Array, " rows"], values: Float[Array, " rows"]) -> Float[Array, " rows"]:
    """Return central differences, and one-sided ones at the ends."""
    inner = (values[2:] - values[:-2]) / (times_s[2:] - times_s[:-2])
    ends = (values[1:] - values[:-1]) / (times_s[1:] - times_s[:-1])
    return jnp.concatenate([ends[:1], inner, ends[-1:]])


def _body_rates(
    times_s: Float[Array, " rows"], q: Float[Array, "rows 4"]
) -> tuple[Float[Array, " rows"], ...]:
    """Return the rates with which attitudes turn, by central differences."""
    slopes = jnp.stack([_slopes(times_s, part) for part in q.T], axis=1)
    w, v = q[:, :1], -q[:, 1:]
    turning = 2.0 * (w * slopes[:, 1:] + slopes[:, :1] * v + jnp.cross(v, slopes[:, 1:]))
    return tuple(turning.T)


def _plain(vector: Vec3) -> Vec3:
    return Vec3(*(float(np.asarray(getattr(vector, axis))) for axis in "xyz"))
