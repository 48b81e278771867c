"""Estimate of position and velocity of a deck from a vehicle's sensor.

Between messages the deck moves on at its velocity. After a time T a message with the position z
and, from some sensors, the velocity w corrects both with fading memory::

    theta = e^(-T / tau),    p += (1 - theta^2) (z - p)
    v += (1 - theta^2) (w - v)    or, without w,    v += (1 - theta)^2 (z - p) / T

which for constant T is the filter that weights a message of age a by theta^(a / T) (Morrison 1969,
"Introduction to Sequential Smoothing and Prediction"). tau = 0 adopts each message.

A deck without messages for ``lost_after_s`` is lost: its velocity estimate becomes zero, so that a
following vehicle waits at its last position.
"""

from collections.abc import Mapping
from dataclasses import replace

import jax.numpy as jnp

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import DeckMeasurement, MarkerMeasurement
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import GuidanceInputs
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import Module

# measurements of the position of a deck
DECK_MEASUREMENTS: tuple[type, ...] = (DeckMeasurement, MarkerMeasurement)
# default time without a message
LOST_AFTER_S = 1.0


class DeckEstimate(Module):
    """Center of the deck's upper side, its velocity, and the time since the last message."""

    seen: Flag
    unseen_s: Real
    position_world_m: Vec3
    velocity_world_mps: Vec3

    @classmethod
    def unknown(cls) -> "DeckEstimate":
        """Return the estimate before the first message."""
        zero = jnp.asarray(0.0)
        origin = Vec3(zero, zero, zero)
        return cls(jnp.asarray(False), zero, origin, origin)

    def lost(self, lost_after_s: Real) -> Flag:
        """Return True if the deck was seen before, but not for this time."""
        return self.seen & (self.unseen_s > lost_after_s)

    def at(
        self,
        inputs: GuidanceInputs,
        sensor: str,
        smoothing_s: Real,
        dt_s: Real,
        lost_after_s: Real = LOST_AFTER_S,
    ) -> "DeckEstimate":
        """Return the estimate one step later, with the message of a sensor; a lost deck stops."""
        measurement = inputs.measurements[sensor]
        place, velocity, valid = _position_and_velocity(measurement, inputs.estimate)
        received = jnp.logical_and(inputs.fresh[sensor], valid)
        since_s = self.unseen_s + dt_s
        predicted_m = self.position_world_m + self.velocity_world_mps * dt_s
        fades = smoothing_s > 0.0
        theta = jnp.where(fades, jnp.exp(-since_s / jnp.where(fades, smoothing_s, 1.0)), 0.0)
        error = place - predicted_m
        if velocity is None:
            correction = error * ((1.0 - theta) * (1.0 - theta) / since_s)
            first = Vec3.zero()
        else:
            correction = (velocity - self.velocity_world_mps) * (1.0 - theta * theta)
            first = velocity
        none = jnp.zeros_like(since_s)
        corrected = DeckEstimate(
            self.seen,
            none,
            predicted_m + error * (1.0 - theta * theta),
            self.velocity_world_mps + correction,
        )
        initial = DeckEstimate(jnp.asarray(True), none, place, first)
        predicted = DeckEstimate(self.seen, since_s, predicted_m, self.velocity_world_mps)
        stopped = replace(predicted, velocity_world_mps=Vec3.zero())
        lost = predicted.lost(lost_after_s)
        uncorrected = tree_where(lost, as_arrays(stopped), as_arrays(predicted))
        waiting = DeckEstimate(self.seen, none, self.position_world_m, self.velocity_world_mps)
        known = tree_where(received, as_arrays(corrected), uncorrected)
        unknown = tree_where(received, as_arrays(initial), as_arrays(waiting))
        return tree_where(self.seen, known, unknown)


def _position_and_velocity(
    measurement: DeckMeasurement | MarkerMeasurement, estimate: Kinematics
) -> tuple[Vec3, Vec3 | None, Flag]:
    """Place and velocity in the world, and whether there are any."""
    if isinstance(measurement, MarkerMeasurement):
        away = estimate.q_world_from_body.rotate(measurement.position_body_m)
        return estimate.position_world_m + away, None, measurement.valid
    return measurement.position_world_m, measurement.velocity_world_mps, True


def check_deck_sensor(sensors: Mapping[str, AbstractSensor], name: str) -> None:
    """Check that the vehicle has the sensor that measures the deck.

    Raises:
        ScenarioError: if it has not.
    """
    if name in sensors and sensors[name].measures in DECK_MEASUREMENTS:
        return
    found = [key for key, sensor in sensors.items() if sensor.measures in DECK_MEASUREMENTS]
    problem = f"the sensor '{name}' measures no deck" if name in sensors else f"no sensor '{name}'"
    advice = f"write sensor: {found[0]}" if found else f"write {name}: beacon under sensors"
    message = f"`sensor`: {problem}; {advice}"
    raise ScenarioError(message)


def required_standing_height_m(context: BuildContext, height_m: Real | None) -> Real:
    """Return the height of the center of mass over the deck when the vehicle stands on it.

    Raises:
        ScenarioError: if it is not height_m and the vehicle has no landing gear.
    """
    if height_m is not None:
        return height_m
    standing = context.dynamics.standing_height_m
    if standing is None:
        message = (
            "this vehicle has no landing gear; write some under parameters.landing_gear, or write "
            "standing_height_m, the height of its center of mass over the deck when it stands"
        )
        raise ScenarioError(message)
    return standing
