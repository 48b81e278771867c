"""Bodies that stand, slide and fall: dynamics stepped alone on the ground or on one platform."""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from tests.physics.body_dynamics import KEY

import kittiwake as kw
from kittiwake.contact.deck import DeckState
from kittiwake.contact.ground_contact import GroundContact
from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.landing_gear import LandingGear
from kittiwake.physics.wrench_body import WrenchBody
from kittiwake.world.surroundings import Air, Surroundings

GRAVITY_MPS2 = 9.81
HALF_M = 0.1
# steps of the programs that tests share; a few steps have programs of their own
LENGTH, SHORT = 5000, 300
NOTHING = kw.ThrustTorque(0.0, Vec3.zero())
LEGS = tuple(Vec3(x, y, -HALF_M) for x in (HALF_M, -HALF_M) for y in (HALF_M, -HALF_M))
CORNERS = tuple(Vec3(p.x, p.y, z) for z in (-HALF_M, HALF_M) for p in LEGS)


class Stood(NamedTuple):
    """What a body did, at each kept tick: its motion, its feet, and the surface (None: ground)."""

    motion: Kinematics
    ground_contact: GroundContact
    deck: DeckState | None

    @property
    def on_surface(self) -> Vec3:
        """Where the body was in the axes of the platform."""
        axes = jax.jit(jax.vmap(lambda deck, p: deck.to_deck_axes(p)))
        return axes(self.deck, self.motion.position_world_m)


def block(points: tuple[Vec3, ...] = LEGS, **feet: Any) -> WrenchBody:
    """A cube of 1 kg and 0.2 m that stands on these points."""
    # m a^2 / 6
    inertia = Inertia(*[1.0 * (2.0 * HALF_M) ** 2 / 6.0] * 3)
    return WrenchBody(1.0, inertia, landing_gear=LandingGear(points, **feet))


def around(motion: Kinematics, platform: Any, time_s: Any) -> tuple[Surroundings, Any]:
    """Calm air over the ground z = 0, and over the platform if there is one."""
    position = motion.position_world_m
    here = Surroundings(
        GRAVITY_MPS2, Air(288.15, 101325.0, 1.225), Vec3.zero(), position.z, math.inf
    )
    if platform is None:
        return here, None
    deck = as_arrays(platform.deck_state(time_s))
    return here.with_decks((deck,), position), deck


def stood(
    dynamics: Any,
    begun: Start | Kinematics,
    dt_s: float,
    steps: int,
    command: Any = NOTHING,
    platform: Any = None,
    every: int = 1,
) -> Stood:
    """What it did at every ``every``-th tick, the start included, under a constant command."""
    start = begun.kinematics() if isinstance(begun, Start) else begun
    # tests of several lengths share a program: flying on is cheaper than compiling
    shared = -(-steps // LENGTH) * LENGTH if every == 1 and steps > SHORT else steps
    result = _stood(*as_arrays((dynamics, start, dt_s, command, platform)), shared, every)
    return result if shared == steps else jax.tree.map(lambda x: np.asarray(x)[: steps + 1], result)


@eqx.filter_jit
def _stood(
    dynamics: Any, start: Any, dt_s: Any, command: Any, platform: Any, steps: int, every: int
) -> Stood:
    # all numbers are arguments, so that one program serves many tests
    state = as_arrays(dynamics.init(start, around(start, platform, 0.0)[0]))

    def step(state: Any, tick: Any) -> tuple[Any, None]:
        here, _ = around(dynamics.kinematics(state), platform, tick * dt_s)
        return dynamics.step(state, command, here, dt_s, KEY), None

    def several(state: Any, ticks: Any) -> tuple[Any, Stood]:
        motion = dynamics.kinematics(state)
        deck = around(motion, platform, ticks[0] * dt_s)[1]
        # a gradient computes a step again: a program that kept its insides takes minutes to compile
        later = jax.lax.scan(jax.checkpoint(step, prevent_cse=False), state, ticks)[0]
        return later, Stood(motion, dynamics.ground_contact(state), deck)

    blocks = steps // every + 1
    ticks = jnp.arange(blocks * every, dtype=float).reshape(blocks, every)
    return jax.lax.scan(several, state, ticks)[1]


def put_on(deck: DeckState, x_m: float, y_m: float, height_m: float) -> Kinematics:
    """At rest on a surface: moving along with it, at a place of its own axes."""
    q = deck.q_world_from_deck
    place = deck.center_world_m + q.rotate(Vec3(x_m, y_m, height_m))
    velocity = deck.velocity_at(place)
    omega = q.inverse().rotate(deck.angular_velocity_world_radps)
    return Kinematics(
        position_world_m=place,
        q_world_from_body=q,
        euler_world_from_body=q.to_euler(),
        velocity_world_mps=velocity,
        velocity_body_mps=q.inverse().rotate(velocity),
        angular_velocity_body_radps=omega,
        specific_force_body_mps2=Vec3.zero(),
    )
