"""Spread of a hovering vehicle by noise, from two hundred flights at once, one for each key.

A simulation's functions are pure, so ``jax.vmap`` turns one flight into many. Single precision is
JAX's default and fast in batches.
"""

from typing import Any

import jax
import jax.numpy as jnp

import kittiwake as kw

FLIGHTS = 200
SECONDS = 20.0

simulation = kw.load("keep-spot", {"vehicles.pelican.estimator": "truth"}, precision="float32")
steps = round(SECONDS / simulation.dt_s)


def places(snapshots: tuple[Any, ...]) -> kw.Vec3:
    """Return what to keep of each step: the position of the only vehicle of the only group."""
    position_world_m: kw.Vec3 = snapshots[0].truth.position_world_m
    return position_world_m


@jax.jit
@jax.vmap
def final_position_m(key: jax.Array) -> jax.Array:
    """Return the position at which the flight with one key ends."""
    _, flown = simulation.rollout(simulation.init(key), steps, places)
    return jnp.stack([flown.x[-1, 0], flown.y[-1, 0], flown.z[-1, 0]])


ends = final_position_m(jax.random.split(kw.seed_key(0), FLIGHTS))
means, spreads = ends.mean(axis=0), ends.std(axis=0)

print(f"{FLIGHTS} flights of {SECONDS:.0f} s:")
for axis, mean, spread in zip(("east", "north", "up"), means, spreads, strict=True):
    print(f"{axis:>6}  {mean:6.3f} m, give or take {spread:.3f} m")
