"""Camera with a classifier that scores each part of its image for the presence of a person.

The image is divided into cells. A cell sees a patch of the ground; its score y is drawn from a
normal distribution whose mean and deviation depend on whether a person is there, on the distance r
from the camera to the patch's center (at most 50 m) and on the terrain class at the center:

    person:    m = 0.55 + 0.11 cos(pi (1 + r / 11))   up to 11 m, 0.66 - 0.005 (r - 11) beyond,
                   less 0.1 on ground that hides persons;   s = 7.4e-5 r^2 - 0.0061 r + 0.16
    no person: m = 0.34 + 0.076 r / 11                up to 11 m, 0.416 beyond;
               s = 2.4e-5 r^2 - 0.0016 r + 0.09,            plus 0.04 on clutter

The measurement is ``ln p(y | person) - ln p(y | no person)``. Source: QRSim (R. De Nardi, 2013),
CameraWithClassifier with IndepObsModel: an image of 1280 by 960 pixels, a focal length of 2280
pixels, once a second. It makes its cells as large as a person in the center of the image, so that
their number changes with the height; here the number is fixed. A person is in the cells that
contain its center, a corner or the middle of a side, and in those whose center lies on it.

Neglected: occlusion between camera and ground, lens distortion, and the correlation of a
classifier's errors on two images of the same patch.
"""

import math
from functools import partial
from typing import Annotated, ClassVar, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import field
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.ranging_pose import RangingPose, mounted_pose
from kittiwake.sensors.terrain_sensor import require_terrain
from kittiwake.world.terrain import CLUTTER, OCCLUSION, TERRAIN, Terrain
from kittiwake.world.world import WorldModel

NEAR_M, FAR_M = 11.0, 50.0
CELLS = Bounds(1.0, 256.0)
# a ray that descends less than this per unit length does not count as meeting the ground
MIN_DESCENT = 1e-3
DOWNWARDS = Mount(pitch_rad=math.pi / 2)

Image: TypeAlias = Float[Array, "rows columns"]


class PersonsMeasurement(AbstractMeasurement):
    """Output of a classifier for an image, by row, from the top, and column, from the left.

    Attributes:
        evidence: difference of the log-likelihoods, above zero where a person is likelier than
            none; zero where not valid.
        x_world_m: x of the ground at the center of each cell; that below the camera where not
            valid.
        y_world_m: y of the same point.
        valid: true if the cell sees the ground.
    """

    evidence: Image
    x_world_m: Image
    y_world_m: Image
    valid: Bool[Array, "rows columns"]


class ImagePatch(NamedTuple):
    """Visible ground: its position, its distance, and a flag of its visibility."""

    x_world_m: Float[Array, "..."]
    y_world_m: Float[Array, "..."]
    range_m: Float[Array, "..."]
    valid: Bool[Array, "..."]


class Scores(NamedTuple):
    """Means and standard deviations of the classifier's score."""

    person: Array
    person_deviation: Array
    no_person: Array
    no_person_deviation: Array

    @classmethod
    def at(cls, range_m: Float[Array, "..."], ground: Int[Array, "..."]) -> "Scores":
        """Return the scores at a distance, on a terrain class."""
        r = jnp.clip(range_m, 0.0, FAR_M)
        near = r <= NEAR_M
        person = jnp.where(
            near, 0.55 + 0.11 * jnp.cos(jnp.pi * (1.0 + r / NEAR_M)), 0.66 - 0.005 * (r - NEAR_M)
        )
        return cls(
            person=person - jnp.where(ground == OCCLUSION, 0.1, 0.0),
            person_deviation=(7.4e-5 * r - 0.0061) * r + 0.16,
            no_person=jnp.where(near, 0.34 + 0.076 * r / NEAR_M, 0.416),
            no_person_deviation=(2.4e-5 * r - 0.0016) * r
            + 0.09
            + jnp.where(ground == CLUTTER, 0.04, 0.0),
        )

    def sample(self, occupied: Bool[Array, "..."], draws: Float[Array, "..."]) -> Array:
        """Return scores from draws of unit deviation."""
        with_person = self.person + self.person_deviation * draws
        return jnp.where(occupied, with_person, self.no_person + self.no_person_deviation * draws)

    def log_likelihood_difference(self, score: Float[Array, "..."]) -> Array:
        """Return the log-likelihood of a person less that of no person, given the score."""
        normalized = (score - self.person) / self.person_deviation
        normalized_no_person = (score - self.no_person) / self.no_person_deviation
        log_deviation_ratio = jnp.log(self.no_person_deviation / self.person_deviation)
        return log_deviation_ratio - 0.5 * (
            normalized * normalized - normalized_no_person * normalized_no_person
        )


class PersonCamera(AbstractSensor[tuple[()], PersonsMeasurement]):
    """Camera with a person classifier, along the x axis of its mount; looks down by default.

    Attributes:
        mount: pose on the vehicle; down by default.
        columns: columns of cells.
        rows: rows of cells.
        width_px: width of the image.
        height_px: height of the image.
        focal_length_px: focal length.
    """

    measures: ClassVar[type] = PersonsMeasurement
    default_rate_hz: ClassVar[float | None] = 1.0

    mount: Mount = DOWNWARDS
    columns: Annotated[int, CELLS] = field(static=True, default=16)
    rows: Annotated[int, CELLS] = field(static=True, default=12)
    width_px: Annotated[Real, POSITIVE] = 1280.0
    height_px: Annotated[Real, POSITIVE] = 960.0
    focal_length_px: Annotated[Real, POSITIVE] = 2280.0

    @override
    def check(self, world: WorldModel) -> None:
        require_terrain(world)

    @override
    def step(
        self, state: tuple[()], inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], PersonsMeasurement]:
        del dt_s
        draws = jax.random.normal(key, (self.rows, self.columns), jnp.result_type(float))
        return state, self._read(inputs, draws)

    @override
    def ideal(self, inputs: SensorInputs) -> PersonsMeasurement:
        return self._read(inputs, jnp.zeros((self.rows, self.columns)))

    def pixel(self, pose: RangingPose, point_world_m: Vec3) -> tuple[Real, Real, Flag]:
        """Return column and row of a point in pixels, from the upper left; True if it is ahead."""
        seen = pose.q_world_from_sensor.inverse().rotate(point_world_m - pose.origin_world_m)
        ahead = seen.x > 0.0
        depth = jnp.where(ahead, seen.x, 1.0)
        right = 0.5 * self.width_px - self.focal_length_px * seen.y / depth
        return right, 0.5 * self.height_px - self.focal_length_px * seen.z / depth, ahead

    def patch(self, pose: RangingPose, level_m: Real, right_px: Real, down_px: Real) -> ImagePatch:
        """Return the ground that a pixel sees."""
        left = 0.5 * self.width_px - right_px
        up = 0.5 * self.height_px - down_px
        ahead = Vec3(1.0, left / self.focal_length_px, up / self.focal_length_px)
        ray = pose.q_world_from_sensor.rotate(ahead)
        origin = pose.origin_world_m
        height = origin.z - level_m
        valid = jnp.asarray((ray.z < -MIN_DESCENT * ahead.norm()) & (height > 0.0))
        times = jnp.where(valid, height / jnp.where(valid, -ray.z, 1.0), 0.0)
        return ImagePatch(
            origin.x + times * ray.x, origin.y + times * ray.y, times * ahead.norm(), valid
        )

    def _read(self, inputs: SensorInputs, draws: Image) -> PersonsMeasurement:
        ground: Terrain = inputs.processes[TERRAIN]
        pose, level = mounted_pose(inputs.truth, self.mount), inputs.world.ground_z_m
        seen = self.patches(pose, level)
        occupied = self._occupied(ground, pose, level, seen)
        scores = Scores.at(seen.range_m, ground.class_at(seen.x_world_m, seen.y_world_m))
        evidence = scores.log_likelihood_difference(scores.sample(occupied, draws))
        return PersonsMeasurement(
            jnp.where(seen.valid, evidence, 0.0), seen.x_world_m, seen.y_world_m, seen.valid
        )

    def patches(self, pose: RangingPose, level_m: Real) -> ImagePatch:
        """Return the ground at the center of each cell, by row and column."""
        dtype = jnp.result_type(float)
        right = (jnp.arange(self.columns, dtype=dtype) + 0.5) * (self.width_px / self.columns)
        down = (jnp.arange(self.rows, dtype=dtype) + 0.5) * (self.height_px / self.rows)
        of_row = jax.vmap(partial(self.patch, pose, level_m), in_axes=(0, None))
        return jax.vmap(of_row, in_axes=(None, 0))(right, down)

    def _occupied(
        self, ground: Terrain, pose: RangingPose, level_m: Real, seen: ImagePatch
    ) -> Bool[Array, "rows columns"]:
        """Return True for each cell that sees a person."""
        half = 0.5 * ground.person_size_m
        steps = half * jnp.asarray([-1.0, 0.0, 1.0], jnp.result_type(float))

        def cell_of(x: Real, y: Real) -> Bool[Array, "rows columns"]:
            right, down, ahead = self.pixel(pose, Vec3(x, y, level_m))
            column = jnp.floor(right / self.width_px * self.columns)
            row = jnp.floor(down / self.height_px * self.rows)
            in_column = jnp.arange(self.columns, dtype=steps.dtype) == column
            in_row = jnp.arange(self.rows, dtype=steps.dtype) == row
            return in_row[:, None] & in_column[None] & ahead

        def cells_of(person: Float[Array, "2"]) -> Bool[Array, "rows columns"]:
            x, y = person[0] + jnp.repeat(steps, 3), person[1] + jnp.tile(steps, 3)
            east, north = jnp.abs(seen.x_world_m - person[0]), jnp.abs(seen.y_world_m - person[1])
            return jax.vmap(cell_of)(x, y).any(axis=0) | ((east <= half) & (north <= half))

        each = jax.vmap(cells_of)(ground.persons_world_m)
        return (each & ground.person_exists[:, None, None]).any(axis=0)

    @classmethod
    @override
    def examples(cls) -> dict[str, "PersonCamera"]:
        return {"downwards": cls(), "ahead": cls(Mount(), columns=3, rows=2)}
