"""Comparison of two commits' flights, column by column, to verify that a change alters no flight.

Run: ``python benchmarks/compare_flights.py BEFORE AFTER [SCENARIO ...]``; ``.`` is the working
tree. Both fly the first seconds of library scenarios with the same seed in the environment of this
script. Prints the differences: names, events, integer columns, and the largest difference of
floating-point columns. Recordings of commits are kept in ``--out`` and reused.

``--names FILE`` is a JSON object from names of the first commit to their successors. They are
replaced as whole words in names of scenarios and columns and in texts of events.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
# keys of a summary that describe the machine, not the flight
MACHINE = {"wall_s", "compile_s", "realtime_factor"}


def record(folder: Path, names: Sequence[str], duration_s: float, seed: int) -> None:
    """Fly scenarios with the ``kittiwake`` that is imported; skip those that are recorded."""
    import jax

    import kittiwake as kw

    for name in names:
        if (folder / f"{name}.json").exists():
            continue
        print(f"{folder.name[:9]} {name}", file=sys.stderr, flush=True)
        try:
            simulation = kw.load(name)
            whole = simulation.scenario.duration_s
            log = simulation.run(duration_s=min(duration_s, whole or duration_s), seed=seed)
        except Exception:  # failures are compared by their last line
            found: dict[str, Any] = {"error": traceback.format_exc().strip().splitlines()[-1]}
        else:
            summary = {k: v for k, v in (log.summary or {}).items() if k not in MACHINE}
            columns = {vehicle: list(log.columns(vehicle)) for vehicle in log.names}
            events = [[event.time_s, event.vehicle, event.event] for event in log.events]
            found = {"columns": columns, "events": events, "summary": summary}
            values = {vehicle: log.values(vehicle) for vehicle in log.names}
            np.savez(folder / f"{name}.npz", **{k.replace("/", "|"): v for k, v in values.items()})
        (folder / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
        jax.clear_caches()


@contextmanager
def source_of(commit: str) -> Iterator[Path]:
    """Yield the sources of a commit, checked out temporarily."""
    if commit == ".":
        yield ROOT / "src"
        return
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "tree")
        add = ["git", "worktree", "add", "--quiet", "--detach", str(tree), commit]
        subprocess.run(add, cwd=ROOT, check=True)
        try:
            yield tree / "src"
        finally:
            remove = ["git", "worktree", "remove", "--force", str(tree)]
            subprocess.run(remove, cwd=ROOT, check=False)


def recorded(commit: str, names: Sequence[str], given: argparse.Namespace) -> Path:
    """Return the folder with the flights of a commit, flown by a process of its own."""
    resolve = ["git", "rev-parse", commit]
    label = "working-tree"
    if commit != ".":
        answer = subprocess.run(resolve, cwd=ROOT, capture_output=True, text=True, check=True)
        label = answer.stdout.strip()
    folder = Path(given.out, f"{label}-{given.duration:g}s-{given.seed}")
    folder.mkdir(parents=True, exist_ok=True)
    if commit == ".":
        for stale in folder.iterdir():
            stale.unlink()
    with source_of(commit) as source:
        arguments = [*names, "--record", str(folder), "--duration", f"{given.duration:g}"]
        subprocess.run(
            [sys.executable, __file__, *arguments, "--seed", str(given.seed)],
            env={**os.environ, "PYTHONPATH": str(source), "PYTHONSAFEPATH": "1"},
            check=True,
        )
    return folder


def renamer(names: dict[str, str]) -> Callable[[Any], Any]:
    """Return a function that replaces names in texts, and in keys and values of JSON."""
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![A-Za-z0-9-])({words})(?![A-Za-z0-9-])") if names else None

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda found: names[found[1]], value) if pattern else value
        if isinstance(value, list):
            return [renamed(one) for one in value]
        if isinstance(value, dict):
            return {renamed(key): renamed(one) for key, one in value.items()}
        return value

    return renamed


def differences(before: Path, after: Path, renamed: Callable[[Any], Any]) -> list[str]:
    """Return the differences between two recordings, one line each."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    old = renamed(old)
    if "error" in old or "error" in new:
        errors = [one.get("error", "flew") for one in (old, new)]
        return [] if errors[0] == errors[1] else [f"{errors[0]} -> {errors[1]}"]
    lines: list[str] = []
    if [event[1:] for event in old["events"]] != [event[1:] for event in new["events"]]:
        lines.append(f"events: {old['events'][:4]} -> {new['events'][:4]}")
    lines += unequal("summary", old["summary"], new["summary"])
    if list(old["columns"]) != list(new["columns"]):
        return [*lines, f"vehicles: {list(old['columns'])} -> {list(new['columns'])}"]
    tables = [np.load(path.with_suffix(".npz")) for path in (before, after)]
    worst = 0.0
    for first, vehicle in zip(tables[0].files, new["columns"], strict=True):
        columns = [one["columns"][vehicle] for one in (old, new)]
        if columns[0] != columns[1]:
            gone, come = (sorted({*a} - {*b}) for a, b in (columns, columns[::-1]))
            lines.append(f"{vehicle}: columns {gone[:6]} -> {come[:6]}")
            continue
        values = [tables[0][first], tables[1][vehicle.replace("/", "|")]]
        if values[0].shape != values[1].shape:
            lines.append(f"{vehicle}: rows {values[0].shape} -> {values[1].shape}")
        elif not np.array_equal(*values, equal_nan=True):
            apart = np.nan_to_num(np.abs(values[0] - values[1]))
            whole = (np.nan_to_num(values[0]) % 1 == 0).all(axis=0)
            place = int(apart.max(axis=0).argmax())
            worst = max(worst, apart.max())
            counts = [columns[0][i] for i in np.flatnonzero(whole & (apart.max(axis=0) > 0))]
            note = f", integers differ: {counts[:4]}" if counts else ""
            lines.append(f"{vehicle}: up to {apart.max():.2g} in {columns[0][place]}{note}")
    return lines


def unequal(path: str, old: Any, new: Any) -> list[str]:
    """Return the paths at which two JSON values differ by more than rounding."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys([*old, *new])
        return [
            line for key in keys for line in unequal(f"{path}.{key}", old.get(key), new.get(key))
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for i, pair in pairs for line in unequal(f"{path}.{i}", *pair)]
    both = isinstance(old, float) and isinstance(new, float)
    same = np.isclose(old, new, rtol=1e-9, atol=1e-9, equal_nan=True) if both else old == new
    return [] if same else [f"{path}: {old} -> {new}"]


def main() -> int:
    """Print the differences between two commits' flights; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("arguments", nargs="*", metavar="BEFORE AFTER [SCENARIO ...]")
    parser.add_argument("--duration", type=float, default=4.0, help="simulated seconds")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", default=Path(tempfile.gettempdir(), "kittiwake-flights"))
    parser.add_argument("--names", type=Path, help="JSON object: old name to new name")
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.record is not None:
        record(given.record, given.arguments, given.duration, given.seed)
        return 0
    if len(given.arguments) < 2:
        parser.error("two commits are needed")
    commits, chosen = given.arguments[:2], given.arguments[2:]
    names = json.loads(given.names.read_text(encoding="utf-8")) if given.names else {}
    renamed = renamer(names)
    library = ROOT / "src" / "kittiwake" / "scenario" / "library"
    scenarios = chosen or sorted(path.stem for path in library.glob("*.yaml"))
    successors = {renamed(name): name for name in names if renamed(name) in scenarios}
    folders = [
        recorded(commits[0], [successors.get(name, name) for name in scenarios], given),
        recorded(commits[1], scenarios, given),
    ]
    changed = 0
    for name in scenarios:
        paths = [folders[0] / f"{successors.get(name, name)}.json", folders[1] / f"{name}.json"]
        lines = differences(*paths, renamed)
        changed += bool(lines)
        for line in lines[:8]:
            print(f"{name}: {line}")
    print(f"{len(scenarios)} scenarios, {changed} with differences")
    return changed > 0


if __name__ == "__main__":
    sys.exit(main())
