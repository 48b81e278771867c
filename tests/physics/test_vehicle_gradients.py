"""Each vehicle's flight as a differentiable function: of its mass, a gain, and how it starts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.scenario import library

SECONDS = 2.0
# what is changed: the mass and the outermost controller's first gain by a factor, the start's speed
UNCHANGED = np.array([1.0, 1.0, 0.0])
GAINS = {
    "lee": lambda controller: controller.position_gain_per_s2,
    "position": lambda controller: controller.natural_frequency_radps,
    "qrsim-waypoint": lambda controller: controller.position_gain_per_s,
    "vessel-position": lambda controller: controller.cruise_speed_mps,
}
# by dynamics that another one here has as well, or whose gradients have a test of their own
TWINS = {"hover-ar-drone", "hover-crazyflie", "hover-lee-2010", "hover-os4", "hover-uav-gazebo"}
# the vessel's program takes most of a minute to compile, the others' some seconds
SLOW = TWINS | {"cruise-otter", "cruise-strider", "hover-angle-velocity", "hover-hummingbird"}
SLOW |= {"hover-rigid-body"}
# two vehicles of the dynamics of hover-rigid-body
SEVERAL = {"hover-from-shapes"}
FLIGHTS = [
    pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
    for name in library.names()
    if name.startswith(("hover-", "cruise-")) and name not in SEVERAL
]


def flight(scenario):
    """Where a vehicle is after two seconds, as a function of what is changed."""
    simulation = kw.load(scenario)
    ((name, vehicle),) = simulation.scenario.vehicles.items()
    if vehicle.dynamics.standing_height_m is not None:
        # high in the air feet change nothing but the time to compile; see test_ground_contact.py
        simulation = kw.load(scenario, {f"vehicles.{name}.parameters.landing_gear": None})
    fleet = simulation.fleet
    entry = next(iter(simulation.scenario.document.data["vehicles"].values()))
    controller = entry.get("controller", "vessel-position")
    gain_of = GAINS[controller if isinstance(controller, str) else controller["type"]]
    steps = round(SECONDS * fleet.rate_hz)

    def end(changes):
        mass, gain, speed_mps = changes

        def changed(vehicle):
            vehicle = eqx.tree_at(
                lambda v: (v.dynamics.mass_kg, gain_of(v.cascade[0].component)),
                vehicle,
                replace_fn=lambda x: jnp.asarray(x, float),
            )
            vehicle = eqx.tree_at(
                lambda v: (v.dynamics.mass_kg, gain_of(v.cascade[0].component)),
                vehicle,
                (
                    vehicle.dynamics.mass_kg * mass,
                    gain_of(vehicle.cascade[0].component) * gain,
                ),
            )
            start = vehicle.start.velocity_world_mps
            return eqx.tree_at(
                lambda v: v.start.velocity_world_mps,
                vehicle,
                kw.Vec3(start.x + speed_mps, start.y + 0.0 * speed_mps, start.z + 0.0 * speed_mps),
            )

        group = eqx.tree_at(lambda g: g.vehicle, fleet.groups[0], changed(fleet.groups[0].vehicle))
        other = eqx.tree_at(lambda f: f.groups, fleet, (group,))
        state, _ = other.rollout(other.init(kw.seed_key(0)), steps, lambda _: None)
        (truth,) = other.truths(state)
        place = truth.position_world_m
        return jnp.stack([place.x[0], place.y[0], place.z[0]])

    return end


@pytest.mark.slow
@pytest.mark.parametrize("scenario", FLIGHTS)
def test_the_end_of_a_flight_is_differentiable(scenario):
    end = flight(scenario)
    direction = np.array([0.7, -0.4, 1.1])
    found = jax.jit(jax.grad(lambda changes: end(changes) @ direction))(UNCHANGED)
    place, step = jax.jit(end), 1e-5
    expected = [
        float((place(UNCHANGED + step * axis) - place(UNCHANGED - step * axis)) @ direction)
        / (2.0 * step)
        for axis in np.eye(3)
    ]
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-7)
    # each of the three matters; a vessel's mass only while it accelerates
    assert (np.abs(found) > 1e-8).all()
