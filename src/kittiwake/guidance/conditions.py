"""Conditions on estimates, measurements and readings, which end the steps of a mission."""

from difflib import get_close_matches
from typing import Annotated

import jax
import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.columns import column_names, to_columns
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import motion_columns
from kittiwake.core.units import UNIT_SYMBOLS
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import GuidanceInputs
from kittiwake.pytree import Module, field

SPEED, HOME = "speed_mps", "distance_to_home_m"
STEP_TIME, MISSION_TIME = "step_time_s", "mission_time_s"
OWN = (SPEED, HOME, STEP_TIME, MISSION_TIME)
SENSOR, READING = "sensor.", "act_"
# number of names in a message
MAX_NAMES = 8


class Condition(Module):
    """Comparison of a quantity with bounds, which must hold for a duration.

    The quantity has its name in logs: of the estimate (``z_m``, ``vx_mps``), of a sensor
    (``sensor.below.range_m``; for an array field its minimum), of the actuators and the battery
    (``act_battery_charge``); or it is one of ``OWN``.
    """

    quantity: str = field(static=True)
    above: Real | None = None
    below: Real | None = None
    for_s: Annotated[Real, NOT_NEGATIVE] = 0.0

    def __post_init__(self) -> None:
        """Raise an error for a condition without bounds, or with an empty interval."""
        if self.above is None and self.below is None:
            message = f"`{self.quantity}`: has no bound; write above: or below: with a value"
            raise ValueError(message)
        above, below = self.above, self.below
        if isinstance(above, int | float) and isinstance(below, int | float) and not above < below:
            message = (
                f"`{self.quantity}`: cannot be above {above:g} and below {below:g} at once; "
                "write the lower number under above, or two rules"
            )
            raise ValueError(message)

    def check(self, context: BuildContext, key: str) -> None:
        """Check that the vehicle has the quantity.

        Raises:
            ScenarioError: if it has not.
        """
        known = known_quantities(context)
        if self.quantity in known:
            return
        prefix = next(
            (prefix for prefix in (SENSOR, READING) if self.quantity.startswith(prefix)), ""
        )
        with_prefix = [name for name in known if prefix and name.startswith(prefix)]
        near = get_close_matches(self.quantity, with_prefix or known, n=3, cutoff=0.6)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        others = with_prefix or [*OWN, "x_m to wz_radps of the estimate"]
        message = (
            f"{key}: there is no quantity '{self.quantity}'. {hint}Allowed, among others: "
            f"{', '.join(others[:MAX_NAMES])}; the log of a flight has all names"
        )
        raise ScenarioError(message)

    def holds(self, quantities: "Quantities") -> Flag:
        """Return True if the comparison holds now, regardless of ``for_s``."""
        value = quantities[self.quantity]
        high = True if self.above is None else value > self.above
        low = True if self.below is None else value < self.below
        return jnp.logical_and(high, low)

    @override
    def __str__(self) -> str:
        name, unit = _in_words(self.quantity)
        sides = (("above", self.above), ("below", self.below))
        limits = [f"{side} {_in_digits(value)}" for side, value in sides if value is not None]
        return f"{name} is {' and '.join(limits)}{unit}"


def _in_words(quantity: str) -> tuple[str, str]:
    """Return a column's name and its unit for readers: ("battery charge", ""), ("z", " m")."""
    sensor, _, column = quantity.removeprefix(SENSOR).rpartition(".")
    words = [*sensor.split("."), *column.removeprefix(READING).split("_")]
    unit = UNIT_SYMBOLS.get(words[-1], "") if len(words) > 1 else ""
    name = " ".join(word for word in words[: -1 if unit else None] if word)
    return name, f" {unit}" if unit else ""


def _in_digits(value: Real) -> str:
    """Return a number as text; "?" for a traced argument of a compiled program."""
    return f"{value:g}" if isinstance(value, int | float) else "?"


class Quantities(Module):
    """Present values of all quantities that conditions may refer to."""

    inputs: GuidanceInputs
    home_world_m: Vec3
    step_time_s: Real

    def __getitem__(self, name: str) -> Real:
        inputs = self.inputs
        if name.startswith(READING):
            return inputs.readings[name.removeprefix(READING)]
        if name.startswith(SENSOR):
            return _measured(inputs, name.removeprefix(SENSOR))
        own = {
            SPEED: inputs.estimate.velocity_world_mps.norm(),
            HOME: (inputs.estimate.position_world_m - self.home_world_m).norm(),
            STEP_TIME: self.step_time_s,
            MISSION_TIME: inputs.time_s,
        }
        return own[name] if name in own else motion_columns(inputs.estimate)[name]


def _measured(inputs: GuidanceInputs, name: str) -> Real:
    sensor, _, column = name.partition(".")
    columns = to_columns(inputs.measurements[sensor])
    if column in columns:
        return jnp.asarray(columns[column], jnp.result_type(float))
    return jnp.min(getattr(inputs.measurements[sensor], column))


def known_quantities(context: BuildContext) -> list[str]:
    """The names of all that a vehicle's conditions can ask for."""
    motion = motion_columns(context.start.kinematics())
    sensed = (
        f"{SENSOR}{name}.{column}"
        for name, sensor in context.sensors.items()
        for column in column_names(sensor.measures)
    )
    return [*motion, *OWN, *sensed, *_readings(context)]


def _readings(context: BuildContext) -> list[str]:
    dynamics, start = context.dynamics, context.start.kinematics()

    def readings() -> dict[str, Real]:
        around = context.world.surroundings(start, dynamics.size_body_m)
        return dynamics.actuators(dynamics.init(start, around))

    return [f"{READING}{name}" for name in jax.eval_shape(readings)]
