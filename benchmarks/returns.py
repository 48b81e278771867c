"""What random actions, the controller without learning, and a short training get in each task.

Run as ``python benchmarks/returns.py --minutes 1`` for all tasks, or name some. Long episodes are
cut to ``--duration`` seconds, in training and in what is printed.
"""

import argparse
import importlib.util
from pathlib import Path
from typing import Any

import kittiwake as kw
from kittiwake.tasks import TASKS

EXAMPLE = Path(__file__).parents[1] / "examples" / "learning" / "ppo.py"


def example() -> Any:
    """The module of the example."""
    spec = importlib.util.spec_from_file_location("ppo", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Prints a row of a table for each task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tasks", nargs="*", default=TASKS.names())
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--duration", type=float, default=60.0)
    given = parser.parse_args()
    ppo = example()
    print("| task | random | without learning | trained |\n|---|---|---|---|")
    for name in given.tasks:
        longest_s = min(given.duration, kw.make(name).scenario.duration_s)
        env = kw.make(name, overrides={"time.duration_s": longest_s})
        learner, _ = ppo.train(env, ppo.Settings(), given.minutes)
        means = [ppo.evaluate(env, act)[0] for act in ppo.policies(env, learner).values()]
        print(f"| `{name}` | " + " | ".join(f"{mean:.4g}" for mean in means) + " |", flush=True)


if __name__ == "__main__":
    main()
