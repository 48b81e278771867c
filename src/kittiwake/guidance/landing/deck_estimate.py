"""Where a vehicle believes the deck to be that it follows.

Between messages the deck goes on at its velocity. After a time T a message with the place z and, of
some sensors, the velocity w corrects both with fading memory::

    theta = e^(-T / tau),    p += (1 - theta^2) (z - p)
    v += (1 - theta^2) (w - v)    or, without w,    v += (1 - theta)^2 (z - p) / T

which for constant T is the filter that weighs a message of age a by theta^(a / T) (Morrison 1969,
"Introduction to Sequential Smoothing and Prediction"). tau = 0 believes each message.

A deck of which nothing has been heard for ``lost_after_s`` is lost: it is believed to have stopped,
so that what follows it waits at that place and flies no farther on.
"""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.measurements import DeckMeasurement, MarkerMeasurement
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.guidance import GuidanceInputs

# of the sensors that tell where a deck is
SEEN_BY: tuple[type, ...] = (DeckMeasurement, MarkerMeasurement)
# without a message for so long, where nobody says another time
LOST_AFTER_S = 1.0


class DeckEstimate(eqx.Module):
    """The middle of its upper side, its velocity, and for how long nothing was heard of it."""

    seen: Flag
    unseen_s: Real
    position_world_m: Vec3
    velocity_world_mps: Vec3

    @classmethod
    def unknown(cls) -> "DeckEstimate":
        """Before the first message."""
        zero = jnp.asarray(0.0)
        nowhere = Vec3(zero, zero, zero)
        return cls(jnp.asarray(False), zero, nowhere, nowhere)

    def lost(self, lost_after_s: Real) -> Flag:
        """Whether it was seen once, and not for so long."""
        return self.seen & (self.unseen_s > lost_after_s)

    def at(
        self,
        inputs: GuidanceInputs,
        sensor: str,
        smoothing_s: Real,
        dt_s: Real,
        lost_after_s: Real = LOST_AFTER_S,
    ) -> "DeckEstimate":
        """A step later, with what a sensor said; lost, it stops."""
        place, velocity, valid = _told(inputs.measurements[sensor], inputs.estimate)
        heard = jnp.logical_and(inputs.fresh[sensor], valid)
        since_s = self.unseen_s + dt_s
        on = self.position_world_m + self.velocity_world_mps * dt_s
        fades = smoothing_s > 0.0
        theta = jnp.where(fades, jnp.exp(-since_s / jnp.where(fades, smoothing_s, 1.0)), 0.0)
        off = place - on
        if velocity is None:
            gained = off * ((1.0 - theta) * (1.0 - theta) / since_s)
            first = Vec3.zero()
        else:
            gained = (velocity - self.velocity_world_mps) * (1.0 - theta * theta)
            first = velocity
        none = jnp.zeros_like(since_s)
        corrected = DeckEstimate(
            self.seen,
            none,
            on + off * (1.0 - theta * theta),
            self.velocity_world_mps + gained,
        )
        begun = DeckEstimate(jnp.asarray(True), none, place, first)
        goes_on = DeckEstimate(self.seen, since_s, on, self.velocity_world_mps)
        stops = eqx.tree_at(lambda deck: deck.velocity_world_mps, goes_on, Vec3.zero())
        alone = tree_where(goes_on.lost(lost_after_s), as_arrays(stops), as_arrays(goes_on))
        waits = DeckEstimate(self.seen, none, self.position_world_m, self.velocity_world_mps)
        known = tree_where(heard, as_arrays(corrected), alone)
        return tree_where(self.seen, known, tree_where(heard, as_arrays(begun), as_arrays(waits)))


def _told(measurement: Any, estimate: Kinematics) -> tuple[Vec3, Vec3 | None, Flag]:
    """Place and velocity in the world, and whether there are any."""
    if isinstance(measurement, MarkerMeasurement):
        away = estimate.q_world_from_body.rotate(measurement.position_body_m)
        return estimate.position_world_m + away, None, measurement.valid
    return measurement.position_world_m, measurement.velocity_world_mps, True


def refuse_blind(sensors: Mapping[str, Any], name: str) -> None:
    """Refuses a vehicle without the sensor that is to tell where the deck is.

    Raises:
        ScenarioError: with what to write instead.
    """
    if name in sensors and sensors[name].measures in SEEN_BY:
        return
    found = [key for key, sensor in sensors.items() if sensor.measures in SEEN_BY]
    what = f"the sensor '{name}' measures no deck" if name in sensors else f"no sensor '{name}'"
    advice = f"write sensor: {found[0]}" if found else f"write {name}: beacon under sensors"
    message = f"sensor: {what}; {advice}"
    raise ScenarioError(message)


def refuse_without_feet(context: Any, given: Real | None) -> Real:
    """The height of the center of mass over the deck when the vehicle stands on it.

    Raises:
        ScenarioError: if it has no feet and nobody has told.
    """
    if given is not None:
        return given
    standing = context.dynamics.standing_height_m
    if standing is None:
        message = (
            "this vehicle has no feet to stand on; give it some under parameters.landing_gear, or "
            "write standing_height_m, that of its center of mass over the deck when it stands there"
        )
        raise ScenarioError(message)
    return standing
