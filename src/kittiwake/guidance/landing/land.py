"""Landing in four states with decreasing speed, followed by motors off.

With the height h of the vehicle over its standing height:

    descending       h > 1 m       setpoint 4 m below the vehicle: a steady descent
    slowing down     h > 0.5 m     2 m below
    flaring          h > 0.1 m     0.1 m below
    touching down    below 0.1 m   0.1 m below, until it stands
    motors off       final

The rate of descent depends on the controllers. The offset is reduced where the descent would be too
fast to brake with the deceleration a down to the speed v_0 at the ground:

    v = sqrt(v_0^2 + 2 a h),    offset * min(1, max(0, 5 (1 + v_z / v)))

A vehicle with more thrust than its controllers assume may hover over such a setpoint. If it flares
or touches down and does not sink by a hundredth of a meter in half a second, the setpoint therefore
moves down by half a meter per second. When it is another meter lower and the vehicle has not moved,
it stands, even if its height estimate is up to 0.5 m too high.

Source: Micklisch et al. 2021, landing method. There the motors are off below 0.1 m; from that
height a vehicle would fall at 1.4 m/s, so here it continues to the ground slowly. The source does
not reduce its offsets either.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import CommandChoice, MotorsOff, PositionYaw
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module

# the offset is full up to 1 - 1 / STEEPNESS of the speed from which it could brake
STEEPNESS = 5.0
DESCENDING, SLOWING_DOWN, FLARING, TOUCHING_DOWN, MOTORS_OFF = range(5)


class LandState(Module):
    """Initial pose, phase, and lowest height.

    ``still_s`` is the time without a lower height, ``pressed_m`` the additional offset downwards.
    """

    initial: InitialPose
    phase: Int[Array, ""]
    lowest_m: Real
    still_s: Real
    pressed_m: Real


class Land(AbstractGuidance[LandState]):
    """Descends vertically, and switches the motors off when it stands.

    Attributes:
        landing_height_world_m: height of the center of mass when it stands; default on the ground.
        yaw_rad: constant yaw; by default that at the start.
        slow_below_m: height at which descending ends.
        flare_below_m: height at which slowing down ends.
        touch_below_m: height at which flaring ends.
        leads_m: offset of the setpoint below the vehicle in the first three states.
        deceleration_mps2: deceleration with which it can brake.
        touch_speed_mps: largest speed at the ground.
        sinking_m: decrease of height in ``still_after_s`` of a vehicle that still sinks.
        still_after_s: time without sinking after which the setpoint moves down.
        press_mps: speed at which the setpoint moves down.
        press_m: distance by which it moves down until the vehicle stands for certain.
    """

    tracked: ClassVar[bool] = False

    landing_height_world_m: Real | None = None
    yaw_rad: Real | None = None
    slow_below_m: Annotated[Real, POSITIVE] = 1.0
    flare_below_m: Annotated[Real, POSITIVE] = 0.5
    touch_below_m: Annotated[Real, POSITIVE] = 0.1
    leads_m: tuple[Real, Real, Real] = (4.0, 2.0, 0.1)
    deceleration_mps2: Annotated[Real, POSITIVE] = 2.0
    touch_speed_mps: Annotated[Real, POSITIVE] = 0.3
    sinking_m: Annotated[Real, POSITIVE] = 0.01
    still_after_s: Annotated[Real, POSITIVE] = 0.5
    press_mps: Annotated[Real, POSITIVE] = 0.5
    press_m: Annotated[Real, POSITIVE] = 1.0

    def __post_init__(self) -> None:
        """Raise an error for heights that do not decrease."""
        limits = (self.slow_below_m, self.flare_below_m, self.touch_below_m)
        if all(isinstance(limit, int | float) for limit in limits) and not (
            limits[0] > limits[1] > limits[2]
        ):
            message = (
                f"`slow_below_m`, `flare_below_m`, `touch_below_m`: got {limits[0]:g}, "
                f"{limits[1]:g}, {limits[2]:g}; must decrease, such as 1, 0.5, 0.1"
            )
            raise ValueError(message)

    @override
    def prepare(self, context: BuildContext) -> "Land":
        if self.landing_height_world_m is not None:
            return self
        standing = context.dynamics.standing_height_m
        if standing is None:
            message = (
                "this vehicle has no landing gear; write some under parameters.landing_gear, or "
                "write landing_height_world_m, the height at which it is caught"
            )
            raise ScenarioError(message)
        return replace(self, landing_height_world_m=context.world.ground_z_m + standing)

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        place, height = context.task_start_world_m, self.landing_height_world_m
        if height is None:
            height = context.world.ground_z_m + (context.dynamics.standing_height_m or 0.0)
        return Vec3(place.x, place.y, height)

    @override
    def command_types(self) -> tuple[type, ...]:
        return (PositionYaw, MotorsOff)

    @override
    def init(self, key: PRNGKeyArray) -> LandState:
        del key
        return LandState(
            InitialPose.unknown(),
            jnp.asarray(DESCENDING, jnp.int32),
            jnp.asarray(0.0),
            jnp.asarray(0.0),
            jnp.asarray(0.0),
        )

    @override
    def step(
        self, state: LandState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[LandState, CommandChoice]:
        del key
        initial = state.initial.updated(inputs.estimate)
        z = inputs.estimate.position_world_m.z
        ground = 0.0 if self.landing_height_world_m is None else self.landing_height_world_m
        height = z - ground
        sunk = jnp.logical_not(state.initial.known) | (z < state.lowest_m - self.sinking_m)
        lowest = jnp.where(sunk, z, state.lowest_m)
        still_s = jnp.where(sunk, 0.0, state.still_s + dt_s)
        limits = (self.slow_below_m, self.flare_below_m, self.touch_below_m)
        phase = state.phase
        for index, limit in enumerate(limits):
            phase = jnp.where((phase == index) & (height < limit), index + 1, phase)
        presses = (phase >= FLARING) & (still_s >= self.still_after_s)
        pressed = state.pressed_m + jnp.where(presses, self.press_mps * dt_s, 0.0)
        phase = jnp.where(presses & (pressed >= self.press_m), MOTORS_OFF, phase)
        lead = jnp.asarray((*self.leads_m, self.leads_m[-1], 0.0))[phase]
        lead = lead * self._share(height, inputs.estimate.velocity_world_mps.z)
        yaw = initial.yaw_rad if self.yaw_rad is None else self.yaw_rad
        place = initial.position_world_m
        below = PositionYaw(Vec3(place.x, place.y, z - lead - pressed), yaw)
        later = LandState(initial, phase, lowest, still_s, pressed)
        return later, CommandChoice((below, MotorsOff()), jnp.where(phase == MOTORS_OFF, 1, 0))

    def _share(self, height_m: Real, climb_mps: Real) -> Real:
        """Return the share of the offset that leaves room to brake."""
        room = 2.0 * self.deceleration_mps2 * jnp.maximum(height_m, 0.0)
        fastest = jnp.sqrt(self.touch_speed_mps * self.touch_speed_mps + room)
        return jnp.clip(STEEPNESS * (1.0 + climb_mps / fastest), 0.0, 1.0)

    @override
    def finished(self, state: LandState) -> Flag:
        return state.phase == MOTORS_OFF

    @override
    def phases(self) -> tuple[str, ...]:
        return ("descending", "slowing down", "flaring", "touching down", "motors off")

    @override
    def phase(self, state: LandState) -> Int[Array, ""]:
        return state.phase

    @classmethod
    @override
    def examples(cls) -> dict[str, "Land"]:
        return {"to a height": cls(landing_height_world_m=0.1)}
