"""Camera that detects the marker on the deck of the vehicle's partner.

The marker is the AprilTag (family 36h11) of the deck's number, s = 0.8 of the deck's smaller side.
The measurement is the marker's center relative to the vehicle's center of mass, in body axes, and
the yaw of the deck's x axis there. A rendered picture is searched like a real one. Without pictures
(``rendered: false``) the same is computed from the truth: with the distance r, the focal length f
in pixels, the angle theta between the line of sight and the deck's normal, and the size of the
marker in the picture p = f s cos(theta) / r in pixels along its short side::

    seen      if all corners of the marker are in the picture, p >= p_min and theta <= theta_max
    radial    r + r sigma / (p_0 sqrt(cos(theta))) N(0, 1)      p_0 = f s / r
    lateral   r (sigma_c / f) N(0, 1)                    along each of two axes across
    yaw       psi + (sigma_psi / p_0) N(0, 1)

with the deviations in pixels that fit the detector's errors on rendered pictures (docs/cameras.md).
Neglected without pictures: occlusion between camera and deck, and the brightness of the picture.
"""

import math
from functools import partial
from typing import Annotated, ClassVar

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
from kittiwake.interfaces.beam import FieldOfView
from kittiwake.interfaces.renderer import (
    AbstractRenderer,
    BodyPoses,
    ImageFormat,
    Viewpoint,
    as_float32,
)
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import field
from kittiwake.sensors.camera_view import (
    DOWNWARDS,
    FIELD_RAD,
    PIXELS,
    CameraView,
    Gimbal,
    bodies,
)
from kittiwake.sensors.marker_pose import find_marker
from kittiwake.sensors.mount import Mount
from kittiwake.world.april_tags import TAG_SHARE, TAGS

OBLIQUENESS_BOUNDS_RAD = Bounds(0.0, math.radians(89.0))
MIN_COSINE = 0.01
# numbers of a detection: position, direction of the x axis, and 1 if the marker was found
DETECTION_SIZE = 7


class Marker(AbstractSensor[tuple[()], MarkerMeasurement]):
    """Detector of the marker on the partner's deck; looks along the x axis of its mount.

    Attributes:
        mount: position on the vehicle and direction of view; down by default.
        gimbal: ``fixed`` to the vehicle, or ``stabilised`` against the horizon.
        width: width of the picture in pixels.
        height: height of the picture in pixels.
        horizontal_field_of_view_rad: angle between the left edge and the right one.
        max_range_m: a marker farther away is not detected.
        rendered: true to render pictures and search them.
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
    gimbal: Gimbal = field(static=True, default="fixed")
    width: Annotated[int, PIXELS] = field(static=True, default=640)
    height: Annotated[int, PIXELS] = field(static=True, default=480)
    horizontal_field_of_view_rad: Annotated[Real, FIELD_RAD] = math.radians(90.0)
    max_range_m: Annotated[Real, POSITIVE] = 5.0
    rendered: bool = field(static=True, default=True)
    min_size_px: Annotated[Real, POSITIVE] = 12.0
    max_oblique_rad: Annotated[Real, OBLIQUENESS_BOUNDS_RAD] = math.radians(75.0)
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
        return self._measurement(away, along, self._visible(view, deck))

    def _found(self, view: CameraView, inputs: SensorInputs) -> MarkerMeasurement:
        """Return the detection in a rendered picture."""
        deck = _partner(inputs)
        shapes = (jax.ShapeDtypeStruct((DETECTION_SIZE,), np.float32),)
        viewpoint = view.viewpoint_row(self.horizontal_field_of_view_rad, inputs)
        target = as_float32(_side_m(deck), deck.surface_id - FIRST_DECK)
        search = partial(_search, ImageFormat(self.width, self.height))
        (numbers,) = bodies(inputs).call_renderer(search, shapes, viewpoint, target)
        numbers = numbers.astype(jnp.result_type(float))
        q, position = view.q_body_from_camera, Vec3(numbers[0], numbers[1], numbers[2])
        near = (numbers[-1] > 0.0) & (position.norm() <= self.max_range_m)
        away = self.mount.position_body_m + q.rotate(position)
        return self._measurement(away, q.rotate(Vec3(numbers[3], numbers[4], numbers[5])), near)

    def _modeled(
        self, view: CameraView, inputs: SensorInputs, key: PRNGKeyArray
    ) -> MarkerMeasurement:
        """Return the detection computed from the truth and noise."""
        true = self.ideal(inputs)
        noise, other = normals3(key, 2)
        sight = true.position_body_m - self.mount.position_body_m
        range_m = _length(sight)
        pixels = self._focal_px() * _side_m(_partner(inputs)) / range_m
        ahead = sight * (1.0 / range_m)
        # a visible marker has a larger cosine than that of the largest angle
        cosine = jnp.maximum(_cosine(view, _partner(inputs)), MIN_COSINE)
        along = range_m * self.radial_deviation_px / (pixels * jnp.sqrt(cosine))
        across = range_m * self.lateral_deviation_px / self._focal_px()
        lateral = noise - ahead * ahead.dot(noise)
        error = ahead * (other.x * along) + lateral * across
        yaw = true.yaw_body_rad + other.y * self.yaw_deviation_px / pixels
        seen = true.valid
        return MarkerMeasurement(
            _where(seen, true.position_body_m + error), jnp.where(seen, wrap_angle(yaw), 0.0), seen
        )

    def _visible(self, view: CameraView, deck: DeckState) -> Flag:
        """Return True if the model sees the marker of a deck."""
        half, inverse = 0.5 * _side_m(deck), view.q_world_from_camera.inverse()
        half_width = jnp.tan(0.5 * self.horizontal_field_of_view_rad)
        seen = jnp.asarray(True)
        for x, y in ((1, 1), (1, -1), (-1, -1), (-1, 1)):
            corner = deck.q_world_from_deck.rotate(Vec3(x * half, y * half, 0.0 * half))
            point = inverse.rotate(deck.center_world_m + corner - view.position_world_m)
            half_height = half_width * self.height / self.width
            inside = (jnp.abs(point.y) < half_width * point.x) & (
                jnp.abs(point.z) < half_height * point.x
            )
            seen = seen & (point.x > 0.0) & inside
        range_m, cosine = _length(view.position_world_m - deck.center_world_m), _cosine(view, deck)
        large = self._focal_px() * _side_m(deck) * cosine >= self.min_size_px * range_m
        facing = cosine >= jnp.cos(self.max_oblique_rad)
        return (
            seen
            & large
            & facing
            & (range_m <= self.max_range_m)
            & (deck.surface_id - FIRST_DECK < TAGS)
        )

    def _focal_px(self) -> Real:
        return 0.5 * self.width / jnp.tan(0.5 * self.horizontal_field_of_view_rad)

    def _measurement(self, away_body_m: Vec3, along_body: Vec3, valid: Flag) -> MarkerMeasurement:
        """Return the measurement, with zeros if the marker is not seen."""
        # an axis seen end-on has no yaw
        level = jnp.hypot(along_body.x, along_body.y) > 0.0
        yaw = jnp.arctan2(jnp.where(level, along_body.y, 0.0), jnp.where(level, along_body.x, 1.0))
        return MarkerMeasurement(_where(valid, away_body_m), jnp.where(valid, yaw, 0.0), valid)

    @override
    def field_of_view(self) -> FieldOfView:
        stabilised = self.gimbal == "stabilised"
        return self.mount.field_of_view(
            self.horizontal_field_of_view_rad, self.width, self.height, stabilised=stabilised
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Marker"]:
        return {"modeled": cls(rendered=False), "in pictures": cls(width=8, height=6)}


def _where(valid: Flag, v: Vec3) -> Vec3:
    """Return the vector if valid, else zero."""
    return Vec3(*(jnp.where(valid, part, 0.0) for part in (v.x, v.y, v.z)))


def _partner(inputs: SensorInputs) -> DeckState:
    deck = inputs.surroundings.partner
    assert deck is not None, "a vehicle that looks for a marker has a partner"
    return deck


def _side_m(deck: DeckState) -> Real:
    return TAG_SHARE * jnp.minimum(deck.length_m, deck.width_m)


def _cosine(view: CameraView, deck: DeckState) -> Real:
    """Return the cosine of the angle between the line of sight and the deck's normal."""
    sight = view.position_world_m - deck.center_world_m
    normal = deck.q_world_from_deck.rotate(Vec3(0.0, 0.0, 1.0))
    return normal.dot(sight) / _length(sight)


def _length(v: Vec3) -> Real:
    """Return the length of a vector, or 1 for zero, to be divided by."""
    length = v.norm()
    return jnp.where(length > 0.0, length, 1.0)


def _search(
    frame: ImageFormat,
    renderer: AbstractRenderer,
    viewpoint: Viewpoint,
    poses: BodyPoses,
    target: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """Return the position and x axis of a marker, and 1; zeros if it is not found."""
    side_m, tag = float(target[0]), round(float(target[1]))
    picture = renderer.picture(frame, viewpoint, poses)
    pose = find_marker(picture.rgb, viewpoint.horizontal_field_of_view_rad, side_m, tag)
    if pose is None:
        return (np.zeros(DETECTION_SIZE, np.float32),)
    return (np.concatenate([pose.position_m, pose.along, [1.0]]).astype(np.float32),)
