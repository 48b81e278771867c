"""What the world is like where one vehicle is, at one instant."""

from dataclasses import replace
from functools import reduce

import equinox as eqx
import jax.numpy as jnp

from kittiwake.contact.deck import DeckState
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.moving_obstacles import VehicleObstacle
from kittiwake.world.water import WaterSurface

# on top of the way that its velocity and its acceleration, twice, take a vehicle in a step
MARGIN_M = 0.01


class Air(eqx.Module):
    """The state of the air at a height."""

    temperature_k: Real
    pressure_pa: Real
    density_kgpm3: Real


class Push(eqx.Module):
    """Force and torque about the center of mass that the world itself exerts, in its axes."""

    force_world_n: Vec3
    torque_world_nm: Vec3


class Shear(eqx.Module):
    """Part of the wind that is not the same all over a vehicle.

    Away from the center of mass it grows by ``wind_mps`` times the scalar product of ``slope_pm``
    and the way.
    """

    wind_mps: Vec3
    slope_pm: Vec3


class Surroundings(eqx.Module):
    """What a vehicle feels of the world and of the other vehicles; held over one physics step.

    ``nearest_vehicle_m`` is infinite where nobody asked for distances between vehicles. The current
    is that of the water there, or below. ``wind_world_mps`` is that at the center of mass; what
    ``shears_world`` say comes on top of it elsewhere. ``decks`` are some that are nearest to the
    vehicle; the height over them is infinite for a vehicle that is above none. ``neighbors`` are
    the nearest other vehicles, where somebody asked for them.
    ``nearest_obstacle_m`` is what is free between the vehicle's body and an obstacle; None in a
    world without any. ``water`` is the surface under a vessel; None where it is calm.
    ``partner`` is the deck of the vehicle's partner, wherever it is; None for one without.
    ``body`` is the vehicle's number among what cameras draw; None where nothing is drawn.
    ``peers`` is what it knows of others by radio; None in a world without one.
    ``surface_near`` is false where neither the vehicle nor one that is computed along with it can
    touch a surface in this step, so that contact need not be computed.
    """

    gravity_mps2: Real
    air: Air
    wind_world_mps: Vec3
    height_above_ground_m: Real
    nearest_vehicle_m: Real
    current_world_mps: Vec3 = Vec3(0.0, 0.0, 0.0)
    shears_world: tuple[Shear, ...] = ()
    push: Push | None = None
    decks: tuple[DeckState, ...] = ()
    height_above_deck_m: Real | None = None
    surface_near: Flag = True
    vehicle_obstacles: tuple[VehicleObstacle, ...] = ()
    nearest_obstacle_m: Real | None = None
    water: WaterSurface | None = None
    partner: DeckState | None = None
    body: Count | None = None
    neighbors: NeighborTable | None = None

    @property
    def height_above_surface_m(self) -> Real:
        """The height over the deck below the vehicle, or over the ground."""
        if self.height_above_deck_m is None:
            return self.height_above_ground_m
        return jnp.minimum(self.height_above_deck_m, self.height_above_ground_m)

    def surface_within(self, reach_m: Real, motion: Kinematics, dt_s: Real) -> Flag:
        """Whether anything that far around a vehicle may touch a surface in a step."""
        place, pulled = motion.position_world_m, motion.specific_force_body_mps2.norm()
        speed_up_mps = 2.0 * dt_s * (self.gravity_mps2 + pulled)
        way_m = reach_m + MARGIN_M + dt_s * (2.0 * motion.velocity_world_mps.norm() + speed_up_mps)
        near = self.height_above_ground_m < way_m
        for deck in self.decks:
            to_deck_m = way_m + 2.0 * dt_s * deck.velocity_at(place).norm()
            near = near | (deck.distance2_m2(place) < to_deck_m * to_deck_m)
        return near

    def blown(self, gust_world_mps: Vec3) -> "Surroundings":
        """The same with a gust added to the wind."""
        return replace(self, wind_world_mps=self.wind_world_mps + gust_world_mps)

    def sheared(self, shear: Shear) -> "Surroundings":
        """The same with another part of the wind that is not the same all over a vehicle."""
        return replace(self, shears_world=(*self.shears_world, shear))

    def beside(self, decks: tuple[DeckState, ...], position_world_m: Vec3) -> "Surroundings":
        """The same with the decks nearest to a vehicle at this place."""
        heights = [
            jnp.where(deck.covers(position_world_m), deck.across(position_world_m).z, jnp.inf)
            for deck in decks
        ]
        numbered = tuple(
            replace(deck, number=jnp.asarray(deck.number, jnp.int32)) for deck in decks
        )
        return replace(self, decks=numbered, height_above_deck_m=reduce(jnp.minimum, heights))

    def pushed(self, push: Push) -> "Surroundings":
        """The same with a force and torque more."""
        if self.push is None:
            return replace(self, push=push)
        force = self.push.force_world_n + push.force_world_n
        torque = self.push.torque_world_nm + push.torque_world_nm
        return replace(self, push=Push(force, torque))
