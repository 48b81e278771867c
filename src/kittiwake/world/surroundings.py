"""Local environment of one vehicle at one instant."""

from dataclasses import replace
from functools import reduce

import jax.numpy as jnp

from kittiwake.contact.deck import DeckState
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module
from kittiwake.world.moving_obstacles import VehicleObstacle
from kittiwake.world.water import WaterSurface

# in addition to twice the distance of a vehicle's velocity and acceleration in a step
MARGIN_M = 0.01


class Air(Module):
    """State of the air at a height."""

    temperature_k: Real
    pressure_pa: Real
    density_kgpm3: Real


class ExternalWrench(Module):
    """Force and torque about the center of mass that the world exerts, in world axes."""

    force_world_n: Vec3
    torque_world_nm: Vec3


class Shear(Module):
    """Part of the wind that varies over a vehicle.

    At an offset from the center of mass it is ``wind_mps`` times the scalar product of ``slope_pm``
    and the offset.
    """

    wind_mps: Vec3
    slope_pm: Vec3


class Surroundings(Module):
    """Effects of the world and other vehicles on a vehicle; held over one physics step.

    Attributes:
        nearest_vehicle_m: infinite unless an interaction computes distances between vehicles.
        current_world_mps: velocity of the water at the vehicle, or below it.
        wind_world_mps: wind at the center of mass; ``shears_world`` are added elsewhere.
        external_wrench: force and torque of regions; None without any.
        decks: the decks nearest to the vehicle.
        height_above_deck_m: infinite if the vehicle is above none of the decks.
        surface_near: false if neither the vehicle nor one in the same batch can touch a surface in
            this step, so that contact need not be computed.
        vehicle_obstacles: the nearest other vehicles, for range sensors.
        nearest_obstacle_m: clearance from the nearest obstacle; None in a world without any.
        water: surface under a vessel; None on calm water.
        partner: deck of the vehicle's partner, at any distance; None without a partner.
        body: index of the vehicle among the rendered bodies; None without a renderer.
        neighbors: knowledge of others by radio; None in a world without radio.
    """

    gravity_mps2: Real
    air: Air
    wind_world_mps: Vec3
    height_above_ground_m: Real
    nearest_vehicle_m: Real
    current_world_mps: Vec3 = Vec3(0.0, 0.0, 0.0)
    shears_world: tuple[Shear, ...] = ()
    external_wrench: ExternalWrench | None = None
    decks: tuple[DeckState, ...] = ()
    height_above_deck_m: Real | None = None
    surface_near: Flag = True
    vehicle_obstacles: tuple[VehicleObstacle, ...] = ()
    nearest_obstacle_m: Real | None = None
    water: WaterSurface | None = None
    partner: DeckState | None = None
    body: Integer | None = None
    neighbors: NeighborTable | None = None

    @property
    def height_above_surface_m(self) -> Real:
        """Height above the deck below the vehicle, or above the ground."""
        if self.height_above_deck_m is None:
            return self.height_above_ground_m
        return jnp.minimum(self.height_above_deck_m, self.height_above_ground_m)

    def surface_within(self, reach_m: Real, motion: Kinematics, dt_s: Real) -> Flag:
        """Return True if a body of radius ``reach_m`` may touch a surface within a step."""
        position, force_mps2 = motion.position_world_m, motion.specific_force_body_mps2.norm()
        speed_gain_mps = 2.0 * dt_s * (self.gravity_mps2 + force_mps2)
        range_m = (
            reach_m + MARGIN_M + dt_s * (2.0 * motion.velocity_world_mps.norm() + speed_gain_mps)
        )
        near = self.height_above_ground_m < range_m
        for deck in self.decks:
            to_deck_m = range_m + 2.0 * dt_s * deck.velocity_at(position).norm()
            near = near | (deck.distance2_m2(position) < to_deck_m * to_deck_m)
        return near

    def with_gust(self, gust_world_mps: Vec3) -> "Surroundings":
        """Return the surroundings with a gust added to the wind."""
        return replace(self, wind_world_mps=self.wind_world_mps + gust_world_mps)

    def with_shear(self, shear: Shear) -> "Surroundings":
        """Return the surroundings with another shear of the wind added."""
        return replace(self, shears_world=(*self.shears_world, shear))

    def with_decks(self, decks: tuple[DeckState, ...], position_world_m: Vec3) -> "Surroundings":
        """Return the surroundings with the decks nearest to a vehicle at this position."""
        heights = [
            jnp.where(deck.covers(position_world_m), deck.to_deck_axes(position_world_m).z, jnp.inf)
            for deck in decks
        ]
        numbered = tuple(
            replace(deck, surface_id=jnp.asarray(deck.surface_id, jnp.int32)) for deck in decks
        )
        return replace(self, decks=numbered, height_above_deck_m=reduce(jnp.minimum, heights))

    def with_external_wrench(self, external_wrench: ExternalWrench) -> "Surroundings":
        """Return the surroundings with a force and torque added."""
        if self.external_wrench is None:
            return replace(self, external_wrench=external_wrench)
        force = self.external_wrench.force_world_n + external_wrench.force_world_n
        torque = self.external_wrench.torque_world_nm + external_wrench.torque_world_nm
        return replace(self, external_wrench=ExternalWrench(force, torque))
