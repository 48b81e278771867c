"""A camera that finds the marker on the deck of the vehicle's partner.

The marker is the AprilTag (family 36h11) of the deck's number, s = 0.8 of the deck's smaller side.
What is told is where its middle is from the vehicle's center of mass, in body axes, and the yaw of
the deck's x axis there. A rendered picture is searched as a real one is. Without pictures
(``rendered: false``) the same is computed from the truth: with the distance r, the focal length f
in pixels, the angle theta between the line of sight and the deck's normal, and the size of the
marker in the picture p = f s cos(theta) / r in pixels along its short side::

    seen      if all corners of the marker are in the picture, p >= p_min and theta <= theta_max
    radial    r + r sigma / (p_0 sqrt(cos(theta))) N(0, 1)      p_0 = f s / r
    lateral   r (sigma_c / f) N(0, 1)                    along each of two axes across
    yaw       psi + (sigma_psi / p_0) N(0, 1)

with the deviations in pixels that fit the detector's errors on rendered pictures (docs/cameras.md).
Neglected then: what stands between the camera and the deck, and the gray of the picture.
"""

import math
from functools import partial
from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.contact.deck import FIRST_DECK, DeckState
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.measurements import MarkerMeasurement
from kittiwake.core.noise import normals3
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.renderer import AbstractRenderer, ImageFormat, Places, Shot, numbers_of
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.sensors.camera_view import (
    DOWNWARDS,
    FIELD_RAD,
    PIXELS,
    CameraView,
    Gimbal,
    bodies,
)
from kittiwake.sensors.marker_pose import pose_of
from kittiwake.sensors.mount import Mount
from kittiwake.world.april_tags import TAG_SHARE, TAGS

OBLIQUE_RAD = Bounds(0.0, math.radians(89.0))
LEAST_COSINE = 0.01
# what is told of a marker: its place, where its x axis points, and whether it was found
FOUND = 7


class Marker(AbstractSensor):
    """Where the marker on the partner's deck is, seen along the x axis of the mount.

    Attributes:
        mount: where the camera is on the vehicle, and where it looks; downwards by default.
        gimbal: ``fixed`` to the vehicle, or ``stabilised`` against the horizon.
        width: of the picture, in pixels.
        height: of the picture, in pixels.
        horizontal_field_of_view_rad: from the left edge to the right one.
        max_range_m: a marker farther away is not told.
        rendered: whether pictures are drawn and searched.
        min_size_px: p_min, without pictures.
        max_oblique_rad: theta_max, without pictures.
        radial_deviation_px: sigma, without pictures.
        lateral_deviation_px: sigma_c, without pictures.
        yaw_deviation_px: sigma_psi, without pictures.
    """

    measures: ClassVar[type] = MarkerMeasurement
    default_rate_hz: ClassVar[float | None] = 10.0
    sees_partner: ClassVar[bool] = True

    mount: Mount = DOWNWARDS
    gimbal: Gimbal = eqx.field(static=True, default="fixed")
    width: Annotated[int, PIXELS] = eqx.field(static=True, default=640)
    height: Annotated[int, PIXELS] = eqx.field(static=True, default=480)
    horizontal_field_of_view_rad: Annotated[Real, FIELD_RAD] = math.radians(90.0)
    max_range_m: Annotated[Real, POSITIVE] = 5.0
    rendered: bool = eqx.field(static=True, default=True)
    min_size_px: Annotated[Real, POSITIVE] = 12.0
    max_oblique_rad: Annotated[Real, OBLIQUE_RAD] = math.radians(75.0)
    radial_deviation_px: Annotated[Real, NOT_NEGATIVE] = 0.06
    lateral_deviation_px: Annotated[Real, NOT_NEGATIVE] = 0.08
    yaw_deviation_px: Annotated[Real, NOT_NEGATIVE] = 0.09

    @property
    @override
    def renders(self) -> bool:
        return self.rendered

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], MarkerMeasurement]:
        del dt_s
        view = CameraView.of(inputs.truth, self.mount, self.gimbal)
        if self.rendered:
            return state, self._found(view, inputs)
        return state, self._modeled(view, inputs, key)

    @override
    def ideal(self, inputs: SensorInputs) -> MarkerMeasurement:
        view = CameraView.of(inputs.truth, self.mount, self.gimbal)
        deck = _partner(inputs)
        inverse = inputs.truth.q_world_from_body.inverse()
        away = inverse.rotate(deck.center_world_m - inputs.truth.position_world_m)
        along = inverse.rotate(deck.q_world_from_deck.rotate(Vec3(1.0, 0.0, 0.0)))
        return self._told(away, along, self._visible(view, deck))

    def _found(self, view: CameraView, inputs: SensorInputs) -> MarkerMeasurement:
        """By a picture."""
        deck = _partner(inputs)
        form = (jax.ShapeDtypeStruct((FOUND,), np.float32),)
        asked = view.shot(self.horizontal_field_of_view_rad, inputs)
        wanted = numbers_of(_side_m(deck), deck.number - FIRST_DECK)
        look = partial(_look, ImageFormat(self.width, self.height))
        (numbers,) = bodies(inputs).seen(look, form, asked, wanted)
        numbers = numbers.astype(jnp.result_type(float))
        q, place = view.q_body_from_camera, Vec3(numbers[0], numbers[1], numbers[2])
        near = (numbers[-1] > 0.0) & (place.norm() <= self.max_range_m)
        away = self.mount.position_body_m + q.rotate(place)
        return self._told(away, q.rotate(Vec3(numbers[3], numbers[4], numbers[5])), near)

    def _modeled(
        self, view: CameraView, inputs: SensorInputs, key: PRNGKeyArray
    ) -> MarkerMeasurement:
        """By the truth and noise."""
        true = self.ideal(inputs)
        place, other = normals3(key, 2)
        sight = true.position_body_m - self.mount.position_body_m
        range_m = _length(sight)
        pixels = self._focal_px() * _side_m(_partner(inputs)) / range_m
        ahead = sight * (1.0 / range_m)
        # where it is seen, its cosine is above that of the largest angle
        cosine = jnp.maximum(_cosine(view, _partner(inputs)), LEAST_COSINE)
        along = range_m * self.radial_deviation_px / (pixels * jnp.sqrt(cosine))
        across = range_m * self.lateral_deviation_px / self._focal_px()
        lateral = place - ahead * ahead.dot(place)
        error = ahead * (other.x * along) + lateral * across
        yaw = true.yaw_body_rad + other.y * self.yaw_deviation_px / pixels
        seen = true.valid
        return MarkerMeasurement(
            _where(seen, true.position_body_m + error), jnp.where(seen, wrap_angle(yaw), 0.0), seen
        )

    def _visible(self, view: CameraView, deck: DeckState) -> Flag:
        """Whether the model sees the marker of a deck."""
        half, inverse = 0.5 * _side_m(deck), view.q_world_from_camera.inverse()
        wide = jnp.tan(0.5 * self.horizontal_field_of_view_rad)
        seen = jnp.asarray(True)
        for x, y in ((1, 1), (1, -1), (-1, -1), (-1, 1)):
            corner = deck.q_world_from_deck.rotate(Vec3(x * half, y * half, 0.0 * half))
            there = inverse.rotate(deck.center_world_m + corner - view.position_world_m)
            high = wide * self.height / self.width
            inside = (jnp.abs(there.y) < wide * there.x) & (jnp.abs(there.z) < high * there.x)
            seen = seen & (there.x > 0.0) & inside
        range_m, cosine = _length(view.position_world_m - deck.center_world_m), _cosine(view, deck)
        large = self._focal_px() * _side_m(deck) * cosine >= self.min_size_px * range_m
        facing = cosine >= jnp.cos(self.max_oblique_rad)
        return (
            seen
            & large
            & facing
            & (range_m <= self.max_range_m)
            & (deck.number - FIRST_DECK < TAGS)
        )

    def _focal_px(self) -> Real:
        return 0.5 * self.width / jnp.tan(0.5 * self.horizontal_field_of_view_rad)

    def _told(self, away_body_m: Vec3, along_body: Vec3, valid: Flag) -> MarkerMeasurement:
        """Zeros where nothing is seen."""
        # an axis that is seen along its own length has no yaw
        level = jnp.hypot(along_body.x, along_body.y) > 0.0
        yaw = jnp.arctan2(jnp.where(level, along_body.y, 0.0), jnp.where(level, along_body.x, 1.0))
        return MarkerMeasurement(_where(valid, away_body_m), jnp.where(valid, yaw, 0.0), valid)


def _where(valid: Flag, v: Vec3) -> Vec3:
    """A vector, or zero."""
    return Vec3(*(jnp.where(valid, part, 0.0) for part in (v.x, v.y, v.z)))


def _partner(inputs: SensorInputs) -> DeckState:
    deck = inputs.surroundings.partner
    assert deck is not None, "a vehicle that looks for a marker has a partner"
    return deck


def _side_m(deck: DeckState) -> Real:
    return TAG_SHARE * jnp.minimum(deck.length_m, deck.width_m)


def _cosine(view: CameraView, deck: DeckState) -> Real:
    """Of the angle between the line of sight and the deck's normal."""
    sight = view.position_world_m - deck.center_world_m
    normal = deck.q_world_from_deck.rotate(Vec3(0.0, 0.0, 1.0))
    return normal.dot(sight) / _length(sight)


def _length(v: Vec3) -> Real:
    """Not zero, so that it can be divided by."""
    length = v.norm()
    return jnp.where(length > 0.0, length, 1.0)


def _look(
    frame: ImageFormat, renderer: AbstractRenderer, taken: Shot, places: Places, asked: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Place and axis of a marker, and 1; zeros if it is not found."""
    side_m, number = float(asked[0]), round(float(asked[1]))
    picture = renderer.picture(frame, taken, places)
    pose = pose_of(picture.rgb, taken.horizontal_field_of_view_rad, side_m, number)
    if pose is None:
        return (np.zeros(FOUND, np.float32),)
    return (np.concatenate([pose.position_m, pose.along, [1.0]]).astype(np.float32),)
