"""Tune a controller by the gradient of a flight.

Parameters are leaves of ``simulation.fleet``. A gain is replaced with ``kw.tree_at``, and JAX
differentiates the final position through every step of the flight.
"""

from typing import Any

import jax

import kittiwake as kw

GOAL_EAST_M = 5.0

simulation = kw.load(
    "goto-waypoint",
    overrides={
        "vehicles.pelican.guidance.positions_world_m": [[GOAL_EAST_M, 0, 10]],
        "vehicles.pelican.sensors": {},
        "vehicles.pelican.estimator": "truth",
    },
    precision="float32",
)
steps = round(4.0 / simulation.dt_s)


def gain_of(fleet: Any) -> Any:
    """Return the gain: vehicle group, level of its control cascade, parameter."""
    return fleet.groups[0].vehicle.cascade[0].component.position_gain_per_s


@jax.jit
@jax.value_and_grad
def squared_miss_m2(gain_per_s: float) -> Any:
    """Return the squared distance from the goal after four seconds."""
    fleet: Any = kw.tree_at(gain_of, simulation.fleet, gain_per_s)
    _, flown = fleet.rollout(
        fleet.init(kw.seed_key(0)), steps, lambda groups: groups[0].truth.position_world_m
    )
    return (flown.x[-1, 0] - GOAL_EAST_M) ** 2


gain = gain_of(simulation.fleet)
for _ in range(8):
    miss, slope = squared_miss_m2(gain)
    print(f"gain {gain:.3f} 1/s: ends {miss**0.5:.3f} m from the goal, slope {slope:+.3f} m^2 s")
    gain = gain - 0.02 * float(slope)
