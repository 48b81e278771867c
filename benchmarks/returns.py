"""What random actions, the controller without learning, and a short training get in each task.

Run as ``python benchmarks/returns.py --minutes 1`` for all tasks, or name some. What was learned is
kept in ``runs/returns``.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from kittiwake.tasks import TASKS

EXAMPLE = Path(__file__).parents[1] / "examples" / "learning" / "ppo.py"
MEAN = re.compile(r"(random|baseline|trained): mean return (\S+),")


def main() -> None:
    """Prints a row of a table for each task."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tasks", nargs="*", default=TASKS.names())
    parser.add_argument("--minutes", type=float, default=1.0)
    given = parser.parse_args()
    print("| task | random | without learning | learned |\n|---|---|---|---|", flush=True)
    for name in given.tasks:
        out = Path("runs/returns") / name
        options = ["--minutes", str(given.minutes), "--out", str(out)]
        answer = subprocess.run(
            [sys.executable, str(EXAMPLE), name, *options],
            capture_output=True,
            text=True,
            check=True,
        )
        means = dict(MEAN.findall(answer.stdout))
        row = [f"{float(means[who]):.4g}" for who in ("random", "baseline", "trained")]
        print(f"| `{name}` | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
