"""The Otter's dynamics sailed alone, and Fossen's program for it, written down a second time.

``Published`` is in NED and FRD with six by six matrices, as the source has it; it shares nothing
with the package.
"""

import math
from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from tests.physics.strider_dynamics import around, at_any_length

from kittiwake.core.commands import PropellerSpeeds
from kittiwake.core.kinematics import Start
from kittiwake.physics.marine_vessel import MarineVessel
from kittiwake.scenario.merging import merged
from kittiwake.scenario.parameters import build_component
from kittiwake.vehicles import VEHICLES
from kittiwake.world.surroundings import Surroundings

DT_S = 0.02
# what the program has and the data file corrects: an inertia moved twice, denser water in one term
AS_PUBLISHED: dict[str, Any] = {
    "inertia_kgm2": {"xx": 12.46432, "yy": 18.15, "zz": 15.95, "xz": -2.2},
    "cross_flow": {"drag_coefficient": 0.8470302402260951 * 1026.0 / 1025.0},
}
UNDAMPED: dict[str, Any] = {
    "damping": {
        "linear_body_kgps": [0.0, 0.0, 0.0],
        "angular_body_nms": [0.0, 0.0, 0.0],
        "yaw_nms2": 0.0,
    },
    "cross_flow": None,
}


@cache
def _parameters() -> Any:
    return VEHICLES.find("otter").parameters()


def otter(**parameters: Any) -> MarineVessel:
    """The Otter with parameters changed, inside its parts too."""
    return build_component(MarineVessel, merged(_parameters(), parameters), str)


@eqx.filter_jit
def _sailed(model: Any, state: Any, commands: Any, world: Any, dt_s: Any) -> Any:
    def step(state: Any, command: Any) -> tuple[Any, Any]:
        command = model.limit_command(PropellerSpeeds(command[0], command[1]))
        later = model.step(state, command, world, dt_s, jax.random.key(0))
        return later, (model.kinematics(later), model.actuators(later))

    first = (model.kinematics(state), model.actuators(state))
    rest = jax.lax.scan(step, state, commands)[1]
    return jax.tree.map(lambda a, b: jnp.concatenate([jnp.atleast_1d(a), b]), first, rest)


def voyage(
    model: MarineVessel,
    speeds_radps: Any = (0.0, 0.0),
    duration_s: float = 40.0,
    start: Start | None = None,
    world: Surroundings | None = None,
    dt_s: float = DT_S,
) -> tuple[Any, Any]:
    """Motion and actuators at the start and after each step, at constant speeds of the shafts."""
    numbers = jax.tree.map(
        lambda leaf: jnp.asarray(leaf, float), around() if world is None else world
    )
    state = model.init((Start() if start is None else start).kinematics(), numbers)
    state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), state)
    commands = np.broadcast_to(np.asarray(speeds_radps, float), (round(duration_s / dt_s), 2))
    return at_any_length(_sailed, model, state, commands, numbers, dt_s)


def _cross(a: Any) -> NDArray[np.float64]:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _moved(r: Any) -> NDArray[np.float64]:
    """Fossen's H: velocities at a place from those at the origin."""
    matrix = np.eye(6)
    matrix[:3, 3:] = _cross(r).T
    return matrix


class Published:
    """The program without payload: nu = (u, v, w, p, q, r), eta = (x, y, z, roll, pitch, yaw)."""

    gravity, density, mass, length, beam = 9.81, 1025.0, 55.0, 2.0, 1.08

    def __init__(self) -> None:
        m, rg = self.mass, np.array([0.2, 0.0, -0.2])
        self.to_center = _moved(rg)
        own = m * np.diag([(0.4 * self.beam) ** 2, 0.25, 0.25])
        self.inertia = own - m * _cross(rg) @ _cross(rg)
        inertia = np.diag(self.inertia)
        self.added = np.diag([*(np.array([0.1, 1.5, 1.0]) * m), *(inertia * [0.2, 0.8, 1.7])])
        rigid = np.zeros((6, 6))
        rigid[:3, :3], rigid[3:, 3:] = m * np.eye(3), self.inertia
        self.matrix = self.to_center.T @ rigid @ self.to_center + self.added
        self._restore(rg)
        self._damp()

    def _restore(self, rg: Any) -> None:
        pontoon, volume = 0.25, self.mass / self.density
        self.draft = volume / (2.0 * 0.4 * pontoon * self.length)
        area = 0.75 * self.length * pontoon
        shape = 6.0 * 0.75**3 / (1.75 * 2.5)
        across = self.length * pontoon**3 * shape / 6.0 + 2.0 * area * 0.395**2
        along = 0.8 * pontoon * self.length**3 / 6.0
        buoyant = (2.5 * self.draft - 0.5 * volume / (self.length * pontoon)) / 3.0
        heights = buoyant + np.array([across, along]) / volume - (self.draft - rg[2])
        weight = self.density * self.gravity
        stiffness = [0.0, 0.0, 2.0 * area * weight, *(heights * volume * weight), 0.0]
        shift = _moved([-0.2, 0.0, 0.0])
        self.own_stiffness = np.array(stiffness)
        self.stiffness = shift.T @ np.diag(stiffness) @ shift

    def _damp(self) -> None:
        diagonal = np.diag(self.matrix)
        swings = np.sqrt(self.own_stiffness[2:5] / diagonal[2:5])
        ratios = 2.0 * np.array([0.3, 0.2, 0.4]) * swings * diagonal[2:5]
        surge = 24.4 * self.gravity / (6.0 * 0.5144)
        self.damping = np.array([surge, diagonal[1], *ratios, diagonal[5]])
        # two points of Hoerner's curve around 0.25 m / 2 T
        over = np.interp(0.125 / self.draft, [0.8336, 0.9880], [0.8796, 0.8284])
        self.strips = np.linspace(-0.5, 0.5, 21) * self.length
        self.strip_drag = 0.5 * 1026.0 * self.draft * over * self.length / 20.0

    def rate(self, state: Any, wanted: Any, current: float, towards: float) -> NDArray[np.float64]:
        """Of nu, eta and the two shafts."""
        nu, eta, n = state[:6], state[6:12], state[12:]
        ahead, aside = current * np.array([np.cos(towards - eta[5]), np.sin(towards - eta[5])])
        relative = nu - np.array([ahead, aside, 0.0, 0.0, 0.0, 0.0])
        rigid, added = np.zeros((6, 6)), np.zeros((6, 6))
        rigid[:3, :3] = self.mass * _cross(nu[3:])
        rigid[3:, 3:] = -_cross(self.inertia @ nu[3:])
        p = self.added @ relative
        added[:3, 3:] = added[3:, :3] = -_cross(p[:3])
        added[3:, 3:] = -_cross(p[3:])
        coriolis = self.to_center.T @ rigid @ self.to_center + added
        thrust = np.where(n > 0.0, 0.02216, 0.01289) / 2.0 * n * np.abs(n)
        forces = -self.damping * relative - coriolis @ relative - self.stiffness @ eta
        forces[0] += thrust.sum()
        forces[5] += 0.395 * (thrust[0] - thrust[1])
        forces[5] -= 10.0 * self.damping[5] * abs(nu[5]) * nu[5]
        passing = relative[1] + self.strips * nu[5]
        drag = self.strip_drag * np.abs(passing) * passing
        forces[1] -= drag.sum()
        forces[5] -= (self.strips * drag).sum()
        nu_rate = np.linalg.solve(self.matrix, forces)
        nu_rate[:2] += nu[5] * np.array([aside, -ahead])
        return np.concatenate([nu_rate, _pose_rate(nu, eta), (wanted - n) / 0.1])

    def steady(
        self, wanted: Any, current: float = 0.0, towards: float = 0.0, duration_s: float = 40.0
    ) -> NDArray[np.float64]:
        """The state after a while, from rest, by Kutta's rule."""
        x, dt = np.zeros(14), DT_S
        for _ in range(round(duration_s / dt)):
            a = self.rate(x, wanted, current, towards)
            b = self.rate(x + 0.5 * dt * a, wanted, current, towards)
            c = self.rate(x + 0.5 * dt * b, wanted, current, towards)
            d = self.rate(x + dt * c, wanted, current, towards)
            x = x + dt / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        return x


def _pose_rate(nu: Any, eta: Any) -> NDArray[np.float64]:
    (sr, sp, sy), (cr, cp, cy) = np.sin(eta[3:]), np.cos(eta[3:])
    turned = np.array(
        [
            [cy * cp, -sy * cr + cy * sp * sr, sy * sr + cy * cr * sp],
            [sy * cp, cy * cr + sr * sp * sy, -cy * sr + sp * sy * cr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    angles = np.array([[1.0, sr * sp / cp, cr * sp / cp], [0.0, cr, -sr], [0.0, sr / cp, cr / cp]])
    return np.concatenate([turned @ nu[:3], angles @ nu[3:]])


def speed_and_yaw_rate(motion: Any) -> tuple[float, float]:
    """At the end of a voyage."""
    velocity = motion.velocity_world_mps
    return (
        math.hypot(float(velocity.x[-1]), float(velocity.y[-1])),
        float(motion.angular_velocity_body_radps.z[-1]),
    )
