"""Overhead of a controller in plain Python: time of each call beside that of ``update`` itself.

A Hummingbird flies a law in NumPy at 500 Hz, and the same law as a compiled component, by ``run``
and by ``step`` without a log. The difference of the times per step, less that of ``update`` alone,
is the overhead. Each time is the best of some runs, which alternate. Run:
``python benchmarks/own_controller.py``.
"""

import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import kittiwake as kw

# short flights, of which some pass between other loads on the machine
RATE_HZ, STEPS, ROUNDS = 500, 200, 50
GAIN_PER_S2, DAMPING_PER_S = 2.0, 2.8


class NumpySpring:
    """Acceleration of a damped spring, in NumPy."""

    def update(self, t_s: float, setpoint: Any, estimate: Any) -> kw.AccelerationYaw:
        """Return the acceleration towards the setpoint."""
        del t_s
        error_m = setpoint.position_world_m.array - estimate.position_world_m.array
        velocity_mps = estimate.velocity_world_mps.array
        return kw.AccelerationYaw(GAIN_PER_S2 * error_m - DAMPING_PER_S * velocity_mps, 0.0)


class CompiledSpring(kw.AbstractController):
    """The same law as a component."""

    consumes: ClassVar[type] = kw.PositionYaw
    produces: ClassVar[type] = kw.AccelerationYaw

    def step(
        self, state: Any, inputs: tuple[kw.PositionYaw, kw.Kinematics], dt_s: Any, key: Any
    ) -> tuple[Any, kw.AccelerationYaw]:
        """Return the state and the acceleration towards the setpoint."""
        del dt_s, key
        setpoint, estimate = inputs
        pull = (setpoint.position_world_m - estimate.position_world_m) * GAIN_PER_S2
        return state, kw.AccelerationYaw(pull - estimate.velocity_world_mps * DAMPING_PER_S, 0.0)


def simulation(controller: Any) -> kw.Simulation:
    """Return the flight with a controller."""
    vehicle = kw.Vehicle(
        model="hummingbird",
        start={"position_world_m": [0, 0, 2]},
        guidance={"type": "hold", "position_world_m": [1, 0, 3]},
        controllers=[controller],
    )
    return kw.Simulation(
        kw.Scenario(vehicles={"h": vehicle}, rate_hz=RATE_HZ, duration_s=STEPS / RATE_HZ)
    )


def run(flown: kw.Simulation) -> float:
    """Return the time of a step of ``run`` in seconds."""
    return float((flown.run().summary or {})["wall_s"]) / STEPS


def step(flown: kw.Simulation) -> float:
    """Return the time of a step of a loop in seconds."""
    flown.reset(record=False)
    flown.step()
    began = time.perf_counter()
    for _ in range(STEPS):
        flown.step()
    dict(flown.observe())
    return (time.perf_counter() - began) / STEPS


def update() -> float:
    """Return the time of ``update`` alone in seconds."""
    spring, still = NumpySpring(), kw.Kinematics.of(np.zeros(3), np.zeros(3))
    setpoint = kw.PositionYaw([1.0, 0.0, 1.0], 0.0)
    began = time.perf_counter()
    for _ in range(STEPS):
        spring.update(0.0, setpoint, still)
    return (time.perf_counter() - began) / STEPS


def main() -> None:
    """Measure both loops and print the microseconds."""
    own, compiled = simulation(NumpySpring()), simulation(CompiledSpring())
    alone_us = 1e6 * min(update() for _ in range(ROUNDS))
    print(f"update alone {alone_us:.1f} us")
    loops: dict[str, Callable[[kw.Simulation], float]] = {"run": run, "step": step}
    for name, loop in loops.items():
        pairs = [(loop(own), loop(compiled)) for _ in range(ROUNDS)]
        own_us, compiled_us = (1e6 * min(times) for times in zip(*pairs, strict=True))
        overhead_us = own_us - compiled_us - alone_us
        print(
            f"{name}: {own_us:.1f} us per step with NumPy, {compiled_us:.1f} us compiled; "
            f"overhead of a call {overhead_us:.1f} us",
            flush=True,
        )


if __name__ == "__main__":
    main()
