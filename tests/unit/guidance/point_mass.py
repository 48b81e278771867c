"""Point mass that moves towards its setpoints, for tests of guidance."""

import dataclasses
from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.commands import CommandChoice, MotorsOff, PositionYaw
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import GuidanceInputs
from kittiwake.world.world import FlightArea, Origin

KEY = jax.random.key(0)
DT_S = 0.02
# a world without limits, for guidance that is prepared in any world
ANYWHERE = BuildContext(
    SimpleNamespace(area=FlightArea(), obstacles=(), ground_z_m=-1e5, origin=Origin()),
    None,
    Start(),
    {},
)
ORIGIN = Vec3(0.0, 0.0, 0.0)


def inputs_at(place, time_s=0.0, velocity=ORIGIN, **seen):
    motion = dataclasses.replace(Start(place), velocity_world_mps=velocity).kinematics()
    return GuidanceInputs(time_s, jnp.asarray(0, jnp.int32), motion, **seen)


def fly(guidance, start, duration_s, rate_per_s=1.5, max_speed_mps=3.0, lag_s=DT_S, hangs_m=0.0):
    """Return by step: time, position, setpoint, motors off, phase, and end of the task.

    The point moves towards a setpoint with a speed in proportion to the distance, and falls at
    1 m/s to the ground z = 0 when it is off. Its speed follows with a lag, and it hovers
    ``hangs_m`` over its setpoints.
    """

    def once(carried, time_s):
        state, place, velocity = carried
        later, command = guidance.step(state, inputs_at(place, time_s, velocity), DT_S, KEY)
        choice = command if isinstance(command, CommandChoice) else CommandChoice((command,), 0)
        off, point = jnp.asarray(False), place
        for number, one in enumerate(choice.commands):
            meant = choice.index == number
            if isinstance(one, MotorsOff):
                off = meant
            elif isinstance(one, PositionYaw):
                point = jax.tree.map(
                    lambda a, b, meant=meant: jnp.where(meant, a, b),
                    one.position_world_m,
                    point,
                )
        reached = point + Vec3(0.0, 0.0, hangs_m)
        towards = ((reached - place) * rate_per_s).clip_norm(max_speed_mps)
        towards = velocity + (towards - velocity) * (DT_S / lag_s)
        velocity = jax.tree.map(lambda a, b: jnp.where(off, a, b), Vec3(0.0, 0.0, -1.0), towards)
        moved = place + velocity * DT_S
        moved = Vec3(moved.x, moved.y, jnp.maximum(moved.z, 0.0))
        carried = match_dtypes((later, moved, velocity), carried)
        row = (time_s, place, point, off, guidance.phase(later), guidance.finished(later))
        return carried, as_arrays(row)

    begun = as_arrays((guidance.init(KEY), start, ORIGIN))
    times = jnp.asarray(np.arange(round(duration_s / DT_S)) * DT_S)
    return eqx.filter_jit(lambda state: jax.lax.scan(once, state, times)[1])(begun)
