"""Worlds on all devices of the host by XLA: speed, and the share of what the devices allow.

Run as ``python benchmarks/devices.py [CASE ...] [--smallest N] [--largest N] [--steps S]``. Each
case flies tenfold numbers of worlds until memory ends, and prints rows of a Markdown table:

- vehicle-steps per second: the best of several calls, each a compiled loop of S steps;
- operations and bytes of a vehicle's step, as XLA counts them in the compiled step, and the bytes
  of its state, read and written once, below which no program can stay;
- the roofline, max(bytes / bandwidth, operations / peak), as a share of the measured time: with
  XLA's bytes, and with those of the state alone;
- memory per vehicle: arguments, results and intermediate values of the compiled loop.

Bandwidth and peak are measured on the same devices: a sum of a large array and one, and chains of
multiplications and additions within registers. A processor swaps or ends the process when memory
ends, so give ``--largest`` there.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.stages import Compiled

from kittiwake.core.keys import seed_keys
from kittiwake.runtime.benchmark import AREA
from kittiwake.runtime.loading import load
from kittiwake.runtime.xla_worlds import XlaWorlds

CASES = {
    "hover": "hover",
    "crazyflie": "hover-crazyflie",
    "pelican with noise": "keep-spot",
}
REPEATS = 5
# elements of the arrays with which bandwidth and peak are measured; chains of each and their links
ELEMENTS, CHAINS, LINKS = 2**26, 8, 64
COLUMNS = (
    "case", "worlds", "vehicle-steps/s", "operations", "bytes by XLA", "bytes of the state",
    "share, XLA's bytes", "share, state alone", "memory per vehicle (B)", "compile (s)",
)  # fmt: skip


class Limits(NamedTuple):
    """Measured limits of all devices together."""

    bytes_per_s: float
    operations_per_s: float


class StepCost(NamedTuple):
    """Operations and bytes of a vehicle's step; ``memory`` is what its state and step occupy."""

    operations: float
    bytes_by_xla: float
    bytes_of_state: float
    memory: float


def best_s(call: Callable[[], Any]) -> float:
    """Return the shortest time of some calls, of which the first is not counted."""
    jax.block_until_ready(call())
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - began)
    return min(times)


def measured_limits(elements: int) -> Limits:
    """Return bandwidth and peak in single precision, from arrays of so many elements a device."""
    devices = jax.local_devices()
    mesh = Mesh(np.array(devices), ("worlds",))
    count = elements * len(devices)
    array = jax.device_put(np.ones(count, np.float32), NamedSharding(mesh, PartitionSpec("worlds")))

    def chain(values: jax.Array, factor: jax.Array, term: jax.Array) -> jax.Array:
        # several at once, as one would wait for each of its results
        chains = [values + number for number in range(CHAINS)]
        for _ in range(LINKS):
            chains = [own * factor + term for own in chains]
        return sum(chains[1:], chains[0])

    add, multiply_add = jax.jit(lambda values, term: values + term), jax.jit(chain)
    factor, term = jnp.float32(0.999), jnp.float32(0.001)
    copied_s = best_s(lambda: add(array, term))
    chained_s = best_s(lambda: multiply_add(array, factor, term))
    return Limits(2 * array.nbytes / copied_s, 2 * LINKS * CHAINS * count / chained_s)


def step_cost(worlds: XlaWorlds, step: Compiled, loop: Compiled, count: int) -> StepCost:
    """Return what a vehicle's step costs; XLA counts the part of one device."""
    devices = len(jax.local_devices())
    analysis, memory = step.cost_analysis() or {}, loop.memory_analysis()
    assert memory is not None, "processors and GPUs have it"
    operations = analysis.get("flops", 0.0) + analysis.get("transcendentals", 0.0)
    occupied = (
        memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes
    )
    state = sum(leaf.nbytes for leaf in jax.tree.leaves(worlds.states))
    by_xla = analysis.get("bytes accessed", 0.0)
    per_vehicle = devices / count
    return StepCost(
        operations * per_vehicle, by_xla * per_vehicle, 2 * state / count, occupied * per_vehicle
    )


def row(name: str, count: int, steps: int, limits: Limits) -> str:
    """Return the row of a case with so many worlds, each of one vehicle."""
    program = load(CASES[name], AREA, "float32", engine="xla").program
    began = time.perf_counter()
    with program.precision_context():
        worlds = XlaWorlds(program.functions, [program.numbers], seed_keys(range(count)), "")
        step, loop = worlds.compiled(1), worlds.compiled(steps)
        compile_s = time.perf_counter() - began

        def fly() -> Any:
            worlds.advance(steps)
            return worlds.states

        step_s = best_s(fly) / steps
        cost = step_cost(worlds, step, loop, count)
    operations_s = cost.operations / limits.operations_per_s
    shares = (
        count * max(needed / limits.bytes_per_s, operations_s) / step_s
        for needed in (cost.bytes_by_xla, cost.bytes_of_state)
    )
    cells = (
        name, f"{count:,}", f"{count / step_s:,.0f}", f"{cost.operations:,.0f}",
        f"{cost.bytes_by_xla:,.0f}", f"{cost.bytes_of_state:,.0f}",
        *(f"{share:.1%}" for share in shares), f"{cost.memory:,.0f}", f"{compile_s:.1f}",
    )  # fmt: skip
    return " | ".join(["", *cells, ""]).strip()


def main() -> None:
    """Print the devices with their limits, and the table."""
    parser = argparse.ArgumentParser(description="Worlds on all devices, by XLA.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}")
    parser.add_argument("--smallest", type=int, default=1_000)
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--elements", type=int, default=ELEMENTS)
    given = parser.parse_args()
    devices = jax.local_devices()
    limits = measured_limits(given.elements)
    print(
        f"{len(devices)} x {devices[0].device_kind} ({devices[0].platform}): "
        f"{limits.bytes_per_s / 1e9:,.1f} GB/s, {limits.operations_per_s / 1e9:,.1f} GFLOP/s\n"
    )
    print(" | ".join(["", *COLUMNS, ""]).strip())
    print("|---" + "|---:" * (len(COLUMNS) - 1) + "|", flush=True)
    for name in given.cases or CASES:
        count = given.smallest
        while count <= given.largest:
            try:
                print(row(name, count, given.steps, limits), flush=True)
            except jax.errors.JaxRuntimeError as error:
                if "RESOURCE_EXHAUSTED" not in str(error):
                    raise
                print(f"| {name} | {count:,} | out of memory" + " | " * 8 + "|", flush=True)
                break
            count *= 10


if __name__ == "__main__":
    main()
