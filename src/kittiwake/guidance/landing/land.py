"""Landing in four states, ever more slowly, and motors off.

With the height h of the vehicle over where it will stand:

    descending       h > 1 m       asks for a place 4 m below itself: a steady descent
    slowing down     h > 0.5 m     2 m below itself
    flaring          h > 0.1 m     0.1 m below itself
    touching down    below 0.1 m   0.1 m below itself, until it stands
    motors off       for good

How fast a place so far below makes it sink is up to its controllers. The way is shortened where
that would be too fast to brake with the deceleration a, down to the speed v_0 at the ground:

    v = sqrt(v_0^2 + 2 a h),    way * min(1, max(0, 5 (1 + v_z / v)))

A vehicle whose thrust is more than its controllers believe may hover over such a place. While it
flares or touches down and does not get lower by a hundredth of a meter in half a second, the place
therefore moves down, by half a meter each second. When it lies another meter lower and the vehicle
still is where it was, it stands, even if it believes itself up to 0.5 m higher than it is.

Source: Micklisch et al. 2021, landing method. There the motors are off below 0.1 m; from that
height a vehicle would fall at 1.4 m/s, so here it goes on to the ground as slowly. Nor does that
one shorten its ways.
"""

from dataclasses import replace
from typing import Annotated, Any, ClassVar

import equinox as eqx
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

# the way is whole up to 1 - 1 / STEEPNESS of the speed from which it could brake
STEEPNESS = 5.0
DESCENDING, SLOWING_DOWN, FLARING, TOUCHING_DOWN, MOTORS_OFF = range(5)


class LandState(eqx.Module):
    """Where it began, its state, and how low it was.

    For how long it was not lower since, and by how much the place below it has moved down.
    """

    beginning: InitialPose
    phase: Int[Array, ""]
    lowest_m: Real
    still_s: Real
    pressed_m: Real


class Land(AbstractGuidance):
    """Goes straight down, and switches the motors off when it stands.

    Attributes:
        landing_height_world_m: of the center of mass when the vehicle stands; on the world's ground
            if not given.
        yaw_rad: to look along; the yaw that it begins with if not given.
        slow_below_m: where descending ends.
        flare_below_m: where slowing down ends.
        touch_below_m: where flaring ends.
        leads_m: how far below itself the place lies that is asked for, in the first three states.
        deceleration_mps2: with which it can brake.
        touch_speed_mps: the highest at the ground.
        sinking_m: by how much a vehicle that sinks gets lower in ``still_after_s``.
        still_after_s: after which one that does not is asked for a lower place.
        press_mps: how fast that place moves down.
        press_m: how far it moves down until the vehicle stands for sure.
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

    def __check_init__(self) -> None:
        """Refuses states in another order."""
        limits = (self.slow_below_m, self.flare_below_m, self.touch_below_m)
        if all(isinstance(limit, int | float) for limit in limits) and not (
            limits[0] > limits[1] > limits[2]
        ):
            message = (
                f"slow_below_m {limits[0]:g}, flare_below_m {limits[1]:g} and touch_below_m "
                f"{limits[2]:g} must fall in this order, such as 1, 0.5, 0.1"
            )
            raise ValueError(message)

    @override
    def prepare(self, context: BuildContext) -> "Land":
        if self.landing_height_world_m is not None:
            return self
        standing = context.dynamics.standing_height_m
        if standing is None:
            message = (
                "this vehicle has no feet to stand on; give it some under "
                "parameters.landing_gear, or write landing_height_world_m, where it is caught"
            )
            raise ScenarioError(message)
        return replace(self, landing_height_world_m=context.world.ground_z_m + standing)

    @override
    def leads_to(self, context: BuildContext) -> Vec3:
        place, height = context.place_world_m, self.landing_height_world_m
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
            InitialPose.ahead(),
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
        beginning = state.beginning.at(inputs.estimate)
        z = inputs.estimate.position_world_m.z
        ground = 0.0 if self.landing_height_world_m is None else self.landing_height_world_m
        height = z - ground
        sunk = jnp.logical_not(state.beginning.begun) | (z < state.lowest_m - self.sinking_m)
        lowest = jnp.where(sunk, z, state.lowest_m)
        still_s = jnp.where(sunk, 0.0, state.still_s + dt_s)
        limits = (self.slow_below_m, self.flare_below_m, self.touch_below_m)
        phase = state.phase
        for number, limit in enumerate(limits):
            phase = jnp.where((phase == number) & (height < limit), number + 1, phase)
        presses = (phase >= FLARING) & (still_s >= self.still_after_s)
        pressed = state.pressed_m + jnp.where(presses, self.press_mps * dt_s, 0.0)
        phase = jnp.where(presses & (pressed >= self.press_m), MOTORS_OFF, phase)
        lead = jnp.asarray((*self.leads_m, self.leads_m[-1], 0.0))[phase]
        lead = lead * self._share(height, inputs.estimate.velocity_world_mps.z)
        yaw = beginning.yaw_rad if self.yaw_rad is None else self.yaw_rad
        place = beginning.position_world_m
        below = PositionYaw(Vec3(place.x, place.y, z - lead - pressed), yaw)
        later = LandState(beginning, phase, lowest, still_s, pressed)
        return later, CommandChoice((below, MotorsOff()), jnp.where(phase == MOTORS_OFF, 1, 0))

    def _share(self, height_m: Real, climb_mps: Real) -> Real:
        """Of the way below it that leaves room to brake."""
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
    def phase(self, state: Any) -> Int[Array, ""]:
        return state.phase
