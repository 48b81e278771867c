"""Speed of state layouts in memory: scalar leaves against arrays of three and four.

Two vehicles, each written twice with the same equations: the Pelican's attitude response (Heun) and
a rigid body with four lagging rotors under a position cascade (RK4). Prints compile time, batch
speed in million vehicle-steps a second in float32, calls a second from a Python loop, and how long
the gradient of a 100-step flight takes to compile and run. Run: ``python benchmarks/layout.py``.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

DT_S = 0.005
GRAVITY = 9.81
MASS_KG = 0.5
INERTIA = (3e-3, 3e-3, 5e-3)
ARM_M = 0.17
HOVER_RADPS = 400.0
THRUST = MASS_KG * GRAVITY / 4 / HOVER_RADPS**2
TORQUE = 0.02 * THRUST
ROTOR_LAG_S = 0.03


class RotorsByScalar(NamedTuple):
    """State of the rotor vehicle with one leaf per number."""

    position: Vec3
    q: Quaternion
    velocity: Vec3
    omega: Vec3
    rotors: tuple[Any, Any, Any, Any]


class RotorsByArray(NamedTuple):
    """State of the rotor vehicle with one leaf per vector."""

    position: jax.Array
    q: jax.Array
    velocity: jax.Array
    omega: jax.Array
    rotors: jax.Array


def scalar_command(s: RotorsByScalar) -> tuple[Any, Any, Any, Any]:
    """Return the rotor speeds of a position cascade."""
    error = Vec3(1.0, 2.0, 3.0) - s.position
    force = (error * 1.0 - s.velocity * 1.8) * MASS_KG + Vec3(0.0, 0.0, MASS_KG * GRAVITY)
    thrust_axis = s.q.rotate(Vec3(0.0, 0.0, 1.0))
    tilt = s.q.inverse().rotate(thrust_axis.cross(force / force.norm()))
    moment = Vec3(
        INERTIA[0] * (60 * tilt.x - 15 * s.omega.x),
        INERTIA[1] * (60 * tilt.y - 15 * s.omega.y),
        INERTIA[2] * (-5 * s.q.z - 5 * s.omega.z),
    )
    lift = force.dot(thrust_axis) / (4 * THRUST)
    roll, pitch = moment.x / (2 * ARM_M * THRUST), moment.y / (2 * ARM_M * THRUST)
    yaw = moment.z / (4 * TORQUE)
    squares = (lift - pitch - yaw, lift + roll + yaw, lift + pitch - yaw, lift - roll + yaw)
    return tuple(jnp.sqrt(jnp.clip(square, 1.0, 4e5)) for square in squares)


def scalar_derivative(s: RotorsByScalar, command: tuple[Any, Any, Any, Any]) -> RotorsByScalar:
    """Return the derivative of the state: Newton-Euler equations with rotor lag."""
    w1, w2, w3, w4 = (w * w for w in s.rotors)
    lift = Vec3(0.0, 0.0, THRUST * (w1 + w2 + w3 + w4) / MASS_KG)
    torque = Vec3(
        ARM_M * THRUST * (w2 - w4), ARM_M * THRUST * (w3 - w1), TORQUE * (w2 + w4 - w1 - w3)
    )
    momentum = Vec3(s.omega.x * INERTIA[0], s.omega.y * INERTIA[1], s.omega.z * INERTIA[2])
    net = torque - s.omega.cross(momentum)
    q_rate = s.q * Quaternion(0.0, s.omega.x / 2, s.omega.y / 2, s.omega.z / 2)
    return RotorsByScalar(
        s.velocity,
        q_rate,
        s.q.rotate(lift) - Vec3(0.0, 0.0, GRAVITY) - s.velocity * 0.1,
        Vec3(net.x / INERTIA[0], net.y / INERTIA[1], net.z / INERTIA[2]),
        tuple((c - w) / ROTOR_LAG_S for c, w in zip(command, s.rotors, strict=True)),
    )


def rotate(q: jax.Array, v: jax.Array) -> jax.Array:
    """Rotate a vector by a quaternion, both as arrays."""
    twice = 2 * jnp.cross(q[1:], v)
    return v + q[0] * twice + jnp.cross(q[1:], twice)


def array_command(s: RotorsByArray) -> jax.Array:
    """Return the rotor speeds of the same cascade."""
    up = jnp.array([0.0, 0.0, 1.0])
    error = jnp.array([1.0, 2.0, 3.0]) - s.position
    force = (error - s.velocity * 1.8) * MASS_KG + MASS_KG * GRAVITY * up
    thrust_axis = rotate(s.q, up)
    conjugate = s.q * jnp.array([1.0, -1.0, -1.0, -1.0])
    tilt = rotate(conjugate, jnp.cross(thrust_axis, force / jnp.linalg.norm(force)))
    wanted = jnp.stack([60 * tilt[0], 60 * tilt[1], -5 * s.q[3]])
    moment = jnp.array(INERTIA) * (wanted - jnp.array([15.0, 15.0, 5.0]) * s.omega)
    lift = jnp.dot(force, thrust_axis) / (4 * THRUST)
    scale = jnp.array([1 / (2 * ARM_M * THRUST), 1 / (2 * ARM_M * THRUST), 1 / (4 * TORQUE)])
    mixer = jnp.array([[0.0, -1, -1], [1, 0, 1], [0, 1, -1], [-1, 0, 1]])
    return jnp.sqrt(jnp.clip(lift + mixer @ (moment * scale), 1.0, 4e5))


def array_derivative(s: RotorsByArray, command: jax.Array) -> RotorsByArray:
    """Return the derivative of the state by the same equations."""
    squares = s.rotors**2
    lift = jnp.array([0.0, 0.0, 1.0]) * (THRUST * jnp.sum(squares) / MASS_KG)
    arms = jnp.array([[0.0, 1, 0, -1], [-1, 0, 1, 0], [-1, 1, -1, 1]])
    torque = jnp.array([ARM_M * THRUST, ARM_M * THRUST, TORQUE]) * (arms @ squares)
    inertia = jnp.array(INERTIA)
    net = torque - jnp.cross(s.omega, inertia * s.omega)
    w, x, y, z = s.q
    half = s.omega / 2
    q_rate = jnp.stack(
        [
            -x * half[0] - y * half[1] - z * half[2],
            w * half[0] + y * half[2] - z * half[1],
            w * half[1] + z * half[0] - x * half[2],
            w * half[2] + x * half[1] - y * half[0],
        ]
    )
    acceleration = rotate(s.q, lift) - jnp.array([0.0, 0.0, GRAVITY]) - 0.1 * s.velocity
    return RotorsByArray(
        s.velocity, q_rate, acceleration, net / inertia, (command - s.rotors) / ROTOR_LAG_S
    )


def rotor_step(command: Callable[..., Any], derivative: Callable[..., Any]) -> Callable[..., Any]:
    """Return an RK4 step with a constant command."""

    def step(state: Any) -> Any:
        held = command(state)

        def moved(slope: Any, part: float) -> Any:
            return jax.tree.map(lambda x, k: x + part * DT_S * k, state, slope)

        k1 = derivative(state, held)
        k2 = derivative(moved(k1, 0.5), held)
        k3 = derivative(moved(k2, 0.5), held)
        k4 = derivative(moved(k3, 1.0), held)
        return jax.tree.map(
            lambda x, a, b, c, d: x + DT_S / 6 * (a + 2 * b + 2 * c + d), state, k1, k2, k3, k4
        )

    return step


def pelican_by_array(state: jax.Array) -> jax.Array:
    """Step the Pelican's equations on (3,) arrays: position, angles, velocity, rates, thrust."""
    dt_s = 0.02
    goal = jnp.array([5.0, 3.0, -15.0])

    def rotation(angles: jax.Array) -> jax.Array:
        (sph, sth, sps), (cph, cth, cps) = jnp.sin(angles), jnp.cos(angles)
        return jnp.array(
            [
                [cth * cps, cth * sps, -sth],
                [sph * sth * cps - cph * sps, sph * sth * sps + cph * cps, sph * cth],
                [cph * sth * cps + sph * sps, cph * sth * sps - sph * cps, cph * cth],
            ]
        )

    def derivative(x: jax.Array, sticks: jax.Array) -> jax.Array:
        angles, velocity, omega, thrust = x[3:6], x[6:9], x[9:12], x[12]
        body = rotation(angles)
        sph, cph, cth, tth = (
            jnp.sin(angles[0]),
            jnp.cos(angles[0]),
            jnp.cos(angles[1]),
            jnp.tan(angles[1]),
        )
        rates = jnp.array([[1, sph * tth, cph * tth], [0, cph, -sph], [0, sph / cth, cph / cth]])
        tilt = 179.797 * (0.74498 * sticks[:2] - angles[:2]) - 24.3536 * omega[:2]
        escaping = (jnp.abs(omega[:2]) > 2.618) & (omega[:2] * tilt > 0)
        turn = 2.218 * sticks[2:3] - 5.08944 * omega[2:]
        gap = 0.663881 + sticks[3] * (3.050827 + 40.260643 * sticks[3]) - thrust
        thrust_rate = jnp.minimum(jnp.clip(gap / dt_s, -46.8, 46.8), (32.85 - thrust) / dt_s)
        up = jnp.array([0.0, 0.0, 1.0])
        drag = jnp.array([-0.497391, -0.497391, -1.35341]) * velocity
        acceleration = (
            jnp.cross(velocity, omega)
            + body @ (GRAVITY * up)
            + drag
            - up * (thrust + thrust_rate * dt_s) / 1.68
        )
        return jnp.concatenate(
            [
                body.T @ velocity,
                rates @ omega,
                acceleration,
                jnp.where(escaping, 0.0, tilt),
                turn,
                thrust_rate[None],
            ]
        )

    error = goal - state[:3]
    c, s = jnp.cos(state[5]), jnp.sin(state[5])
    along = jnp.stack([c * error[0] + s * error[1], c * error[1] - s * error[0]])
    wanted = jnp.clip(0.9 * along, -5, 5) - state[6:8]
    pitch, roll = jnp.clip(jnp.array([-0.09, 0.09]) * wanted, -0.34, 0.34)
    throttle = jnp.clip(0.59 - 0.03 * error[2] + 0.04 * state[8], 0, 1)
    sticks = jnp.stack([roll, pitch, jnp.clip(6 * (0.5 - state[5]), -4.4, 4.4), throttle])
    k1 = derivative(state, sticks)
    return state + dt_s / 2 * (k1 + derivative(state + dt_s * k1, sticks))


def pelican_by_scalar() -> tuple[Callable[..., Any], Any]:
    """Return a step and an initial state of Kittiwake's own Pelican in closed loop."""
    from kittiwake.core.keys import seed_key
    from kittiwake.runtime.benchmark import CALM, NO_SENSORS
    from kittiwake.runtime.loading import load

    simulation = load("keep-spot", NO_SENSORS | CALM, "float32")
    start = simulation.init(seed_key(0))
    return lambda state: simulation.advance(state), start


def best_of(run: Callable[[], Any], repeats: int = 5) -> float:
    """Return the shortest time of some runs."""
    times: list[float] = []
    for _ in range(repeats):
        began = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - began)
    return min(times)


def measure(
    name: str, step: Callable[..., Any], one: Any, position_sum: Callable[..., Any]
) -> None:
    """Print one line of the table."""
    row = [f"{name:28s}"]
    for count, steps in ((1_000, 500), (10_000, 100)):
        many = jax.tree.map(lambda leaf, n=count: jnp.broadcast_to(leaf, (n, *leaf.shape)), one)
        mapped = jax.vmap(step)
        flight = jax.jit(
            lambda s, m=mapped, k=steps: jax.lax.scan(lambda c, _: (m(c), None), s, None, k)[0]
        )
        began = time.perf_counter()
        compiled = flight.lower(many).compile()
        compile_s = time.perf_counter() - began
        seconds = best_of(lambda c=compiled, m=many: c(m))
        row.append(
            f"{count:6d}: {count * steps / seconds / 1e6:5.1f} M/s, compiled {compile_s:.1f} s"
        )
    single = jax.jit(step)
    state = single(one)
    began = time.perf_counter()
    for _ in range(2_000):
        state = single(state)
    jax.block_until_ready(state)
    row.append(f"loop {2_000 / (time.perf_counter() - began):7.0f}/s")

    def cost(shift: jax.Array) -> jax.Array:
        moved = jax.tree.map(
            lambda x: x + shift if jnp.issubdtype(x.dtype, jnp.floating) else x, one
        )
        return position_sum(jax.lax.scan(lambda c, _: (step(c), None), moved, None, 100)[0])

    gradient = jax.jit(jax.grad(cost))
    began = time.perf_counter()
    finite = bool(jnp.isfinite(gradient(jnp.float32(0.0))))
    compile_s = time.perf_counter() - began
    run_ms = 1e3 * best_of(lambda: gradient(jnp.float32(0.0)))
    row.append(f"gradient {run_ms:.2f} ms, compiled {compile_s:.1f} s, finite {finite}")
    print(" | ".join(row), flush=True)


def main() -> None:
    """Measure both vehicles in both layouts."""
    f = jnp.float32
    zero = Vec3(f(0), f(0), f(0))
    by_scalar = RotorsByScalar(
        zero, Quaternion(f(1), f(0), f(0), f(0)), zero, zero, (f(HOVER_RADPS),) * 4
    )
    by_array = RotorsByArray(
        jnp.zeros(3),
        jnp.array([1.0, 0, 0, 0]),
        jnp.zeros(3),
        jnp.zeros(3),
        jnp.full(4, HOVER_RADPS),
    )
    measure(
        "four rotors, scalar leaves",
        rotor_step(scalar_command, scalar_derivative),
        by_scalar,
        lambda s: s.position.x + s.position.y + s.position.z,
    )
    measure(
        "four rotors, arrays",
        rotor_step(array_command, array_derivative),
        by_array,
        lambda s: jnp.sum(s.position),
    )
    measure(
        "Pelican, arrays",
        pelican_by_array,
        jnp.zeros(13).at[2].set(-10.0).at[12].set(16.48),
        lambda s: jnp.sum(s[:3]),
    )
    step, start = pelican_by_scalar()
    measure(
        "Pelican, scalar leaves (all)",
        step,
        start,
        lambda s: jnp.sum(s.groups[0].dynamics.mechanical_state.configuration.position_world_m.x),
    )


if __name__ == "__main__":
    main()
