"""Where a ranging sensor is, and what it makes of what its rays meet."""

from typing import TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.ray_scene import RayScene
from kittiwake.world.ray import Hit, Ray

Ranges: TypeAlias = Real | Float[Array, "..."]


class RangingPose(eqx.Module):
    """A sensor's own axes in the world, and how they move."""

    origin_world_m: Vec3
    q_world_from_sensor: Quaternion
    velocity_world_mps: Vec3
    angular_velocity_world_radps: Vec3

    def ray(self, direction: Vec3, from_m: Vec3) -> Ray:
        """A ray in the world, given in the sensor's axes."""
        q = self.q_world_from_sensor
        return Ray(self.origin_world_m + q.rotate(from_m), q.rotate(direction))

    def velocity_at(self, point_world_m: Vec3) -> Vec3:
        """Of a point that is fixed to the sensor."""
        lever = point_world_m - self.origin_world_m
        return self.velocity_world_mps + self.angular_velocity_world_radps.cross(lever)


def view_of(vehicle: Kinematics, mount: Mount) -> RangingPose:
    """Of a sensor on a vehicle."""
    return view_from(vehicle, mount.position_body_m, mount.q_body_from_sensor)


def view_from(
    vehicle: Kinematics, position_body_m: Vec3, q_body_from_sensor: Quaternion | None = None
) -> RangingPose:
    """From a place on a vehicle; without a rotation along the vehicle's axes."""
    q = vehicle.q_world_from_body
    lever = q.rotate(position_body_m)
    omega = q.rotate(vehicle.angular_velocity_body_radps)
    return RangingPose(
        origin_world_m=vehicle.position_world_m + lever,
        q_world_from_sensor=q if q_body_from_sensor is None else q * q_body_from_sensor,
        velocity_world_mps=vehicle.velocity_world_mps + omega.cross(lever),
        angular_velocity_world_radps=omega,
    )


class Reach(eqx.Module):
    """What a sensor gets an answer from.

    Attributes:
        nearest_m: what is nearer gives none.
        farthest_m: nor does what is farther.
        incidence_rad: nor a surface that is met at a larger angle to its normal, if given.
        range_rate_mps: nor one that comes nearer or goes away faster along the ray, if given.
    """

    nearest_m: Real
    farthest_m: Real
    incidence_rad: Real | None = None
    range_rate_mps: Real | None = None

    def answer_m(
        self, scene: RayScene, view: RangingPose, direction: Vec3, from_m: Vec3
    ) -> Float[Array, ""]:
        """How far the first surface along a ray is; infinite if it gives no answer.

        What lies behind it gives none either, whether the first one answers or not.
        """
        ray = view.ray(direction, from_m)
        return self.echo_m(scene, view, ray, scene.cast(ray))

    def echo_m(self, scene: RayScene, view: RangingPose, ray: Ray, hit: Hit) -> Float[Array, ""]:
        """The same of what a ray has met."""
        heard = hit.met
        if self.incidence_rad is not None:
            heard = heard & (hit.incidence_cosine(ray) >= jnp.cos(self.incidence_rad))
        if self.range_rate_mps is not None:
            point = ray.at(hit.range_m(self.farthest_m))
            surface = scene.velocity_world_mps(hit, point)
            rate = (surface - view.velocity_at(ray.origin_m)).dot(ray.direction)
            heard = heard & (jnp.abs(rate) <= self.range_rate_mps)
        return jnp.where(heard, self.within_m(hit.distance_m), jnp.inf)

    def within_m(self, distance_m: Ranges) -> Float[Array, "..."]:
        """A distance that lies in the range; infinite in place of any other."""
        inside = (distance_m >= self.nearest_m) & (distance_m <= self.farthest_m)
        return jnp.where(inside, distance_m, jnp.inf)

    def reported_m(self, answer_m: Ranges, noise_m: Ranges) -> Float[Array, "..."]:
        """What is read of answers; the longest range where there is none."""
        read = jnp.clip(answer_m + noise_m, self.nearest_m, self.farthest_m)
        return jnp.where(jnp.isfinite(answer_m), read, self.farthest_m)

    def nearest_answers_m(
        self,
        scene: RayScene,
        view: RangingPose,
        directions: Float[Array, "beams rays 3"],
        from_m: Float[Array, "beams 3"],
    ) -> Float[Array, " beams"]:
        """Of several rays from each of some places, how far the nearest answer is."""

        def along(direction: Float[Array, "3"], origin: Float[Array, "3"]) -> Real:
            return self.answer_m(scene, view, Vec3.of(direction), Vec3.of(origin))

        # along one axis, for each further one makes tracing slower
        beams, rays, _ = directions.shape
        origins = jnp.repeat(from_m, rays, axis=0)
        answers = jax.vmap(along)(jnp.reshape(directions, (-1, 3)), origins)
        return jnp.min(jnp.reshape(answers, (beams, rays)), axis=-1)


def turned(directions: Float[Array, "rays 3"], mount: Mount) -> Float[Array, "rays 3"]:
    """Directions in the axes of a mount, in those of the body."""
    q = mount.q_body_from_sensor
    return jax.vmap(lambda one: jnp.asarray(q.rotate(Vec3.of(one)).array))(directions)


def spread(angle_rad: Real, count: int) -> Float[Array, " count"]:
    """So many angles about zero, the outermost half the angle away; a single one at zero."""
    places = jnp.arange(count, dtype=jnp.result_type(float)) - 0.5 * (count - 1)
    return places * (angle_rad / max(count - 1, 1))


def directions(
    azimuth_rad: Float[Array, " rays"], elevation_rad: Float[Array, " rays"]
) -> Float[Array, "rays 3"]:
    """Of unit length, to the left from forward and up."""
    level = jnp.cos(elevation_rad)
    forward, left = level * jnp.cos(azimuth_rad), level * jnp.sin(azimuth_rad)
    return jnp.stack([forward, left, jnp.sin(elevation_rad)], axis=-1)
