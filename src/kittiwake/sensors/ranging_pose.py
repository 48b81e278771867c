"""Pose of a ranging sensor, and detection of the surfaces that its rays hit."""

from typing import TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.ray_scene import RayScene
from kittiwake.world.ray import Hit, Ray

Ranges: TypeAlias = Real | Float[Array, "..."]


class RangingPose(Module):
    """Pose and velocity of a sensor's axes in the world."""

    origin_world_m: Vec3
    q_world_from_sensor: Quaternion
    velocity_world_mps: Vec3
    angular_velocity_world_radps: Vec3

    def ray(self, direction: Vec3, from_m: Vec3) -> Ray:
        """Return a ray in the world from one in sensor axes."""
        q = self.q_world_from_sensor
        return Ray(self.origin_world_m + q.rotate(from_m), q.rotate(direction))

    def velocity_at(self, point_world_m: Vec3) -> Vec3:
        """Return the velocity of a point that is fixed to the sensor."""
        lever = point_world_m - self.origin_world_m
        return self.velocity_world_mps + self.angular_velocity_world_radps.cross(lever)


def mounted_pose(vehicle: Kinematics, mount: Mount) -> RangingPose:
    """Return the pose of a sensor on a vehicle."""
    return pose_at(vehicle, mount.position_body_m, mount.q_body_from_sensor)


def pose_at(
    vehicle: Kinematics, position_body_m: Vec3, q_body_from_sensor: Quaternion | None = None
) -> RangingPose:
    """Return the pose at a point of a vehicle; without a rotation, along the body axes."""
    q = vehicle.q_world_from_body
    lever = q.rotate(position_body_m)
    omega = q.rotate(vehicle.angular_velocity_body_radps)
    return RangingPose(
        origin_world_m=vehicle.position_world_m + lever,
        q_world_from_sensor=q if q_body_from_sensor is None else q * q_body_from_sensor,
        velocity_world_mps=vehicle.velocity_world_mps + omega.cross(lever),
        angular_velocity_world_radps=omega,
    )


class DetectionLimits(Module):
    """Limits within which a sensor detects a surface.

    Attributes:
        nearest_m: smallest distance.
        farthest_m: largest distance.
        incidence_rad: largest angle between ray and surface normal; None for no limit.
        range_rate_mps: largest speed of the surface along the ray; None for no limit.
    """

    nearest_m: Real
    farthest_m: Real
    incidence_rad: Real | None = None
    range_rate_mps: Real | None = None

    def detected_range_m(
        self, scene: RayScene, pose: RangingPose, direction: Vec3, from_m: Vec3
    ) -> Float[Array, ""]:
        """Return the distance of the first surface along a ray; infinite if it is not detected.

        It hides surfaces behind it, whether it is detected or not.
        """
        ray = pose.ray(direction, from_m)
        return self.echo_m(scene, pose, ray, scene.cast_ray(ray))

    def echo_m(self, scene: RayScene, pose: RangingPose, ray: Ray, hit: Hit) -> Float[Array, ""]:
        """Return the same distance for a given hit."""
        detected = hit.exists
        if self.incidence_rad is not None:
            detected = detected & (hit.incidence_cosine(ray) >= jnp.cos(self.incidence_rad))
        if self.range_rate_mps is not None:
            point = ray.at(hit.range_m(self.farthest_m))
            surface = scene.velocity_world_mps(hit, point)
            rate = (surface - pose.velocity_at(ray.origin_m)).dot(ray.direction)
            detected = detected & (jnp.abs(rate) <= self.range_rate_mps)
        return jnp.where(detected, self.within_m(hit.distance_m), jnp.inf)

    def within_m(self, distance_m: Ranges) -> Float[Array, "..."]:
        """Return a distance if it lies in the range, else infinity."""
        inside = (distance_m >= self.nearest_m) & (distance_m <= self.farthest_m)
        return jnp.where(inside, distance_m, jnp.inf)

    def reported_m(self, detected_range_m: Ranges, noise_m: Ranges) -> Float[Array, "..."]:
        """Return readings from detected ranges; the longest range without a detection."""
        reading = jnp.clip(detected_range_m + noise_m, self.nearest_m, self.farthest_m)
        return jnp.where(jnp.isfinite(detected_range_m), reading, self.farthest_m)

    def nearest_ranges_m(
        self,
        scene: RayScene,
        pose: RangingPose,
        directions: Float[Array, "beams rays 3"],
        from_m: Float[Array, "beams 3"],
    ) -> Float[Array, " beams"]:
        """Return the nearest detected range of each beam, which consists of several rays."""

        def along(direction: Float[Array, "3"], origin: Float[Array, "3"]) -> Real:
            return self.detected_range_m(scene, pose, Vec3.of(direction), Vec3.of(origin))

        # a single batch axis, as each further one makes tracing slower
        beams, rays, _ = directions.shape
        origins = jnp.repeat(from_m, rays, axis=0)
        detected = jax.vmap(along)(jnp.reshape(directions, (-1, 3)), origins)
        return jnp.min(jnp.reshape(detected, (beams, rays)), axis=-1)


def to_body_axes(directions: Float[Array, "rays 3"], mount: Mount) -> Float[Array, "rays 3"]:
    """Rotate directions from mount axes to body axes."""
    q = mount.q_body_from_sensor
    return jax.vmap(lambda one: jnp.asarray(q.rotate(Vec3.of(one)).array))(directions)


def spread(angle_rad: Real, count: int) -> Float[Array, " count"]:
    """Return equally spaced angles over ``angle_rad`` about zero; a single one is zero."""
    offsets = jnp.arange(count, dtype=jnp.result_type(float)) - 0.5 * (count - 1)
    return offsets * (angle_rad / max(count - 1, 1))


def directions(
    azimuth_rad: Float[Array, " rays"], elevation_rad: Float[Array, " rays"]
) -> Float[Array, "rays 3"]:
    """Return unit vectors; azimuth is to the left from forward, elevation up."""
    level = jnp.cos(elevation_rad)
    forward, left = level * jnp.cos(azimuth_rad), level * jnp.sin(azimuth_rad)
    return jnp.stack([forward, left, jnp.sin(elevation_rad)], axis=-1)
