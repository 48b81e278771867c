"""Returns of random actions, hovering, the built-in policy and a short training in each task.

Run as ``python benchmarks/returns.py --minutes 1`` for all tasks, or with names of tasks;
``--minutes 0`` skips the training. Each policy flies an episode of each of ten seeds, all of them
in one batch; the table gives the mean return with its 95 % interval and, in brackets, the share of
episodes that ended before the time was up. Below it are the built-in policy's returns by seed and
the task's own metrics. Trained policies are saved in ``runs/returns`` and evaluated over the
example's 64 episodes.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import kittiwake as kw
from kittiwake.core.errors import KittiwakeError
from kittiwake.tasks import TASKS
from kittiwake.tasks.evaluation import Episodes, Interval, evaluate, metrics, policies

EXAMPLE = Path(__file__).parents[1] / "examples" / "learning" / "ppo.py"
LEARNED = re.compile(r"trained: mean return (\S+), (\S+) end early")
BUILT_IN = "built-in"


def summary(episodes: Episodes) -> str:
    """Return the mean, the half width of its interval, and the share that ended early, if any."""
    interval = Interval.of(episodes.returns)
    early = f" ({episodes.ended_early.mean():.0%} early)" if episodes.ended_early.any() else ""
    return f"{interval.mean:.4g} ± {interval.half_width:.2g}{early}"


def learned(name: str, conditions: str | None, minutes: float) -> str:
    """Train a policy; return its mean return and the share that ended early."""
    options = [name, "--minutes", str(minutes), "--out", str(Path("runs/returns") / name)]
    options += [] if conditions is None else ["--conditions", conditions]
    command = [sys.executable, str(EXAMPLE), *options]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    found = LEARNED.search(result.stdout)
    if found is None:
        return "nothing"
    return f"{float(found[1]):.4g} ({found[2]} early)"


def main() -> None:
    """Print a row of a table for each task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tasks", nargs="*", default=TASKS.names())
    parser.add_argument("--conditions", help="such as windy")
    parser.add_argument("--minutes", type=float, default=1.0, help="0: no training")
    parser.add_argument(
        "--seeds", type=int, default=10, help="number of seeds; default: %(default)d"
    )
    given = parser.parse_args()
    if given.minutes < 0.0 or given.seeds < 2:
        parser.error("--minutes must be 0 or more, --seeds 2 or more")
    columns = ["task", "random", "hovering", BUILT_IN, *(["learned"] if given.minutes else [])]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    details = []
    for name in given.tasks:
        try:
            env = kw.make(name, conditions=given.conditions)
        except KittiwakeError as error:
            parser.error(str(error))
        found = evaluate(env, policies(env), range(given.seeds))
        row = [summary(found[column]) for column in columns[1:4]]
        if given.minutes:
            row.append(learned(name, given.conditions, given.minutes))
        print(f"| `{name}` | {' | '.join(row)} |", flush=True)
        own = {key: np.mean(values) for key, values in metrics(env, found[BUILT_IN]).items()}
        means = ", ".join(f"{key} {mean:.3g}" for key, mean in own.items())
        returns = " ".join(f"{value:.4g}" for value in found[BUILT_IN].returns)
        details.append(f"{name}: {returns}" + (f"; {means}" if means else ""))
    print("\nBuilt-in, by seed:", *details, sep="\n")


if __name__ == "__main__":
    main()
