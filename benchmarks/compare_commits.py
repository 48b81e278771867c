"""Benchmarks of two commits in alternation, so that other loads on a machine affect both alike.

Run: ``python benchmarks/compare_commits.py BEFORE AFTER [CASE ...]``, for example
``... v0.1.0 HEAD python-loop rollout-1``. Each commit is checked out into a temporary folder; both
use the environment of this script. Prints the best rates and the ratio after/before.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CASES = ("python-loop", "rollout-1", "rollout-1000", "learn-keep-spot", "learn-hover")


def rate(tree: Path, case: str) -> float:
    """Return the vehicle-steps per second of a case, measured in a process of its own."""
    answer = subprocess.run(
        [sys.executable, "-m", "kittiwake.runtime.benchmark", case],
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        sys.exit(f"{case} with {tree.name}:\n{answer.stderr}")
    return json.loads(answer.stdout.splitlines()[-1])["steps_per_s"]


def main() -> None:
    """Print a row of a table for each case."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("commits", nargs=2, metavar="COMMIT")
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        trees = [Path(scratch, name) for name in ("before", "after")]
        try:
            for tree, commit in zip(trees, given.commits, strict=True):
                add = ["git", "worktree", "add", "--quiet", "--detach", str(tree), commit]
                subprocess.run(add, cwd=ROOT, check=True)
            print("| case | before | after | after/before |\n|---|---:|---:|---:|", flush=True)
            for case in given.cases:
                rounds = [[rate(tree, case) for tree in trees] for _ in range(given.rounds)]
                before, after = (max(rates) for rates in zip(*rounds, strict=True))
                row = f"| `{case}` | {before:,.0f} | {after:,.0f} | {after / before:.2f} |"
                print(row, flush=True)
        finally:
            for tree in trees:
                remove = ["git", "worktree", "remove", "--force", str(tree)]
                subprocess.run(remove, cwd=ROOT, check=False)


if __name__ == "__main__":
    main()
