"""Comparison of the two engines on library scenarios, column by column.

Run: ``python benchmarks/compare_engines.py [--precision float32] [--duration 2] [SCENARIO ...]``.
Both engines fly the first seconds of each scenario with the same seed. Prints for each the largest
difference relative to 1 plus the value up to the first event that differs, with its column, and
that event; or why only one engine flies it. Ends with an error if one exceeds the tolerance.
"""

import argparse
import json
import sys
import warnings
from typing import NamedTuple

import jax
import numpy as np

import kittiwake as kw
from kittiwake.analysis.log import Log
from kittiwake.core.errors import KittiwakeError
from kittiwake.core.precision import Precision
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.library import names

TOLERANCES = {"float64": 1e-9, "float32": 1e-4}


class Difference(NamedTuple):
    """Largest difference of two logs, with its column, and the first event that differs."""

    largest: float
    column: str
    event: str


def difference(one: Log, other: Log) -> Difference:
    """Return the largest difference of two logs up to the first event that differs."""
    events = [
        [(each.time_s, each.vehicle, each.event) for each in log.events] for log in (one, other)
    ]
    apart = next((pair for pair in zip(*events, strict=False) if pair[0] != pair[1]), None)
    until_s = min(event[0] for event in apart) if apart else np.inf
    found = Difference(0.0, "", f"{apart[0]} {apart[1]}" if apart else "")
    for name in one.names:
        first, second = (log.values(name)[log.values(name)[:, 0] < until_s] for log in (one, other))
        rows = min(len(first), len(second))
        relative = np.abs(first[:rows] - second[:rows]) / (1.0 + np.abs(first[:rows]))
        relative[np.isnan(first[:rows]) & np.isnan(second[:rows])] = 0.0
        for column, values in zip(one.columns(name), relative.T, strict=True):
            largest = float(np.max(values, initial=0.0))
            if not largest <= found.largest:
                found = found._replace(largest=largest, column=f"{name} {column}")
    return found


def compared(name: str, precision: Precision, duration_s: float) -> Difference | str:
    """Return the difference of a scenario, or why only one engine flies it."""
    scenario = kw.load(name).scenario
    try:
        by_simd = Simulation(scenario, precision, engine="simd")
        logs = [
            simulation.run(min(duration_s, scenario.duration_s))
            for simulation in (by_simd, Simulation(scenario, precision, engine="xla"))
        ]
    except KittiwakeError as error:
        return str(error)
    return difference(*logs)


def main() -> None:
    """Compare scenarios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--precision", choices=TOLERANCES, default="float64")
    parser.add_argument("--duration", type=float, default=2.0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = False
    for name in given.scenarios or names():
        found = compared(name, given.precision, given.duration)
        if isinstance(found, str):
            sys.stdout.write(f"{name}: {found}\n")
        else:
            exceeds = not found.largest <= TOLERANCES[given.precision]
            failed |= exceeds
            line = {"largest": found.largest, "column": found.column, "event": found.event}
            sys.stdout.write(f"{name}: {'EXCEEDS ' * exceeds}{json.dumps(line)}\n")
        sys.stdout.flush()
        jax.clear_caches()
    sys.exit(failed)


if __name__ == "__main__":
    main()
