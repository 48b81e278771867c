"""Winds prescribed as functions of time, uniform in space.

    constant:  v = w
    step:      v = w from the start on, 0 before
    sinusoid:  v = w sin(2 pi t / T + phase)
    gust:      v = w (1 - cos(pi x / d)) / 2 for 0 <= x <= d,    v = w beyond

The gust is the discrete one of MIL-F-8785C (1980), section 3.7.1.3: x is the distance flown into it
and d its length, which a vehicle of the airspeed V passes within d / V. Here that is the rise time,
so that a vehicle at rest is affected as well. The standard uses such gusts singly or in multiples:
here it falls as it rose, unless it is held.

w is the velocity of the air, so it points where the wind blows to. The world holds a wind over a
physics step, at its value at the beginning of the step.
"""

import math
from abc import abstractmethod
from typing import Annotated

import jax.numpy as jnp
import numpy as np
from typing_extensions import override

from kittiwake.core.bounds import Bounds
from kittiwake.core.recording import Recording
from kittiwake.environment.wind import ANGLE_RAD, SPEED_MPS
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import AbstractVar
from kittiwake.world.environment import AbstractWind

EAST, NORTH, UP = "east_mps", "north_mps", "up_mps"
COMPONENT_MPS = Bounds(-SPEED_MPS.high, SPEED_MPS.high)
DURATION_S, HOLD_S, START_S = Bounds(1e-3, 1e9), Bounds(0.0, 1e9), Bounds(-1e9, 1e9)
ALTERNATIVES = (
    "write wind_world_mps: [east, north, up], the velocity of the air, or speed_mps and "
    "from_deg, the direction that a horizontal wind comes from, clockwise from north"
)


class AbstractDirectedWind(AbstractWind):
    """Velocity multiplied by a function of time between -1 and 1.

    It is given as a vector, or for a horizontal wind by speed and direction: ``from_rad`` is where
    it blows from, clockwise from north, as in weather reports.

    Attributes:
        wind_world_mps: velocity of the air, in place of speed and direction.
        speed_mps: speed.
        from_rad: direction that it comes from, clockwise from north.
    """

    wind_world_mps: AbstractVar[Vec3 | None]
    speed_mps: AbstractVar[Real | None]
    from_rad: AbstractVar[Real | None]

    def __post_init__(self) -> None:
        """Raise ValueError if the velocity is given twice, in part, or not at all."""
        polar = (self.speed_mps is not None) + (self.from_rad is not None)
        if self.wind_world_mps is not None and polar:
            message = f"wind_world_mps is given together with speed_mps or from_deg; {ALTERNATIVES}"
            raise ValueError(message)
        if self.wind_world_mps is None and polar != 2:
            given = "only speed_mps" if self.speed_mps is not None else "only from_deg"
            message = f"{given if polar else 'no velocity'} is given; {ALTERNATIVES}"
            raise ValueError(message)

    @abstractmethod
    def factor(self, time_s: Real) -> Real:
        """Return the factor of the velocity at a time."""

    @override
    def velocity_world_mps(self, height_above_ground_m: Real, time_s: Real = 0.0) -> Vec3:
        del height_above_ground_m
        return self._full_world_mps() * self.factor(time_s)

    def _full_world_mps(self) -> Vec3:
        if self.wind_world_mps is not None:
            return self.wind_world_mps
        assert self.speed_mps is not None
        assert self.from_rad is not None
        sine, cosine = sin_cos(self.from_rad)
        return Vec3(-self.speed_mps * sine, -self.speed_mps * cosine, 0.0)


class ConstantWind(AbstractDirectedWind):
    """Constant wind, uniform in space.

    Attributes:
        wind_world_mps: velocity of the air, in place of speed and direction.
        speed_mps: speed.
        from_rad: direction that it comes from, clockwise from north.
    """

    wind_world_mps: Annotated[Vec3, COMPONENT_MPS] | None = None
    speed_mps: Annotated[Real, SPEED_MPS] | None = None
    from_rad: Annotated[Real, ANGLE_RAD] | None = None

    @override
    def factor(self, time_s: Real) -> Real:
        del time_s
        return 1.0

    @classmethod
    @override
    def examples(cls) -> dict[str, "ConstantWind"]:
        return {
            "as a velocity": cls(Vec3(4.0, 2.0, 10.0)),
            "by its direction": cls(speed_mps=3.0, from_rad=0.5),
        }


class StepWind(AbstractDirectedWind):
    """Wind that starts at ``start_s``.

    Attributes:
        start_s: time at which it begins.
    """

    start_s: Annotated[Real, START_S]
    wind_world_mps: Annotated[Vec3, COMPONENT_MPS] | None = None
    speed_mps: Annotated[Real, SPEED_MPS] | None = None
    from_rad: Annotated[Real, ANGLE_RAD] | None = None

    @property
    @override
    def is_steady(self) -> bool:
        return False

    @override
    def warnings(self, duration_s: float, dt_s: float) -> tuple[str, ...]:
        del dt_s
        return _too_late(float(self.start_s), duration_s)

    @override
    def factor(self, time_s: Real) -> Real:
        return jnp.where(jnp.asarray(time_s) >= self.start_s, 1.0, 0.0)

    @classmethod
    @override
    def examples(cls) -> dict[str, "StepWind"]:
        return {"begun": cls(start_s=0.01, wind_world_mps=Vec3(4.0, 2.0, 10.0))}


class CosineGust(AbstractDirectedWind):
    """1-cosine gust that rises from ``start_s`` on within ``rise_s``, holds, and falls likewise.

    It holds its full strength for ``hold_s``; forever if that is null, which is the standard's
    single gust.

    Attributes:
        start_s: time at which it begins.
        rise_s: time in which it rises, and falls.
        hold_s: time for which it is held.
    """

    start_s: Annotated[Real, START_S]
    rise_s: Annotated[Real, DURATION_S]
    hold_s: Annotated[Real, HOLD_S] | None = 0.0
    wind_world_mps: Annotated[Vec3, COMPONENT_MPS] | None = None
    speed_mps: Annotated[Real, SPEED_MPS] | None = None
    from_rad: Annotated[Real, ANGLE_RAD] | None = None

    @property
    @override
    def is_steady(self) -> bool:
        return False

    @override
    def warnings(self, duration_s: float, dt_s: float) -> tuple[str, ...]:
        del dt_s
        if self.hold_s is None:
            return _too_late(float(self.start_s), duration_s)
        end_s = float(self.start_s + 2.0 * self.rise_s + self.hold_s)
        if end_s > 0.0:
            return _too_late(float(self.start_s), duration_s)
        return (f": ends at {end_s:g} s, before the flight begins; write a later start_s",)

    @override
    def factor(self, time_s: Real) -> Real:
        rising = (jnp.asarray(time_s) - self.start_s) / self.rise_s
        falling = (
            jnp.asarray(1.0) if self.hold_s is None else 2.0 + self.hold_s / self.rise_s - rising
        )
        _, cosine = sin_cos(math.pi * jnp.clip(jnp.minimum(rising, falling), 0.0, 1.0))
        return 0.5 * (1.0 - cosine)

    @classmethod
    @override
    def examples(cls) -> dict[str, "CosineGust"]:
        return {
            "rising": cls(start_s=0.01, rise_s=9.0, wind_world_mps=Vec3(4.0, 2.0, 10.0)),
            "staying": cls(start_s=0.0, rise_s=0.02, hold_s=None, speed_mps=3.0, from_rad=0.5),
        }


class SinusoidalWind(AbstractDirectedWind):
    """Sinusoidal wind from the start of the flight on.

    Attributes:
        period_s: T.
        phase_rad: phase at the time 0.
    """

    period_s: Annotated[Real, DURATION_S]
    phase_rad: Annotated[Real, ANGLE_RAD] = 0.0
    wind_world_mps: Annotated[Vec3, COMPONENT_MPS] | None = None
    speed_mps: Annotated[Real, SPEED_MPS] | None = None
    from_rad: Annotated[Real, ANGLE_RAD] | None = None

    @property
    @override
    def is_steady(self) -> bool:
        return False

    @override
    def warnings(self, duration_s: float, dt_s: float) -> tuple[str, ...]:
        del duration_s
        period_s = float(self.period_s)
        if period_s >= 2.0 * dt_s:
            return ()
        return (
            f": period_s is {period_s:g}, shorter than two physics steps of {dt_s:g} s, over "
            "which the wind is held; write a longer period_s or a higher time.rate_hz",
        )

    @override
    def factor(self, time_s: Real) -> Real:
        periods = jnp.asarray(time_s) / self.period_s
        # whole periods are removed, so that single precision keeps its digits in long flights
        sine, _ = sin_cos(2.0 * math.pi * (periods - jnp.floor(periods)) + self.phase_rad)
        return sine

    @classmethod
    @override
    def examples(cls) -> dict[str, "SinusoidalWind"]:
        return {"swinging": cls(period_s=9.0, phase_rad=0.3, wind_world_mps=Vec3(4.0, 2.0, 10.0))}


class RecordedWind(AbstractWind):
    """Wind from a file: linear between rows, constant before the first and after the last.

    The columns after ``time_s`` are ``east_mps`` and ``north_mps``, and optionally ``up_mps``: the
    velocity of the air. ``scale`` multiplies all of them.

    Attributes:
        file: CSV file with times and velocities.
        scale: factor of the velocities.
    """

    file: Recording
    scale: Real = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError for other columns, and for excessive speeds."""
        columns = self.file.columns
        if not {EAST, NORTH} <= {*columns} <= {EAST, NORTH, UP}:
            message = (
                f"{self.file.source}:1: got the columns {', '.join(columns)[:200]}; a wind has "
                f"time_s, {EAST}, {NORTH} and optionally {UP}"
            )
            raise ValueError(message)
        fastest_mps = float(np.abs(np.asarray(self.file.values) * self.scale).max())
        if not fastest_mps <= COMPONENT_MPS.high:
            message = (
                f"{self.file.source}: got {fastest_mps:g} m/s; a wind must be at most "
                f"{COMPONENT_MPS.high:g} m/s in each direction"
            )
            raise ValueError(message)

    @property
    @override
    def is_steady(self) -> bool:
        rows = np.asarray(self.file.values)
        return bool((rows == rows[0]).all())

    @override
    def velocity_world_mps(self, height_above_ground_m: Real, time_s: Real = 0.0) -> Vec3:
        del height_above_ground_m
        now = jnp.asarray(time_s, jnp.result_type(float))
        times, values = (jnp.asarray(a, now.dtype) for a in (self.file.time_s, self.file.values))

        def component(name: str) -> Real:
            if name not in self.file.columns:
                return 0.0
            return self.scale * jnp.interp(now, times, values[:, self.file.columns.index(name)])

        return Vec3(component(EAST), component(NORTH), component(UP))

    @classmethod
    @override
    def examples(cls) -> dict[str, "RecordedWind"]:
        values = np.array([[1.0, 2.0], [3.0, -4.0]])
        columns = ("east_mps", "north_mps")
        return {"rising": cls(Recording(columns, "wind.csv", 9.0, np.array([0.0, 9.0]), values))}


def _too_late(start_s: float, duration_s: float) -> tuple[str, ...]:
    if start_s < duration_s:
        return ()
    problem = f": begins at {start_s:g} s, after the end of the flight at {duration_s:g} s"
    return (f"{problem}; write an earlier start_s",)
