"""Record of the speed of a release beside the limit of the machine, in ``history.csv``.

Run: ``python benchmarks/record_history.py RELEASE [CASE ...]``, for example ``... 0.2.0
python-loop``; without cases all of ``kittiwake bench``. Runs of a case alternate with runs of the
kernel in ``limit``, so that other loads on the machine affect both alike. Each case is added when
it is measured. Prints the best rates, their ratio, and the ratio of the release before.
"""

import argparse
import csv
import datetime
import io
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from limit.speed_limit import NoCompilerError, compiled_kernel, speed_limit, usable_cores

ROOT = Path(__file__).resolve().parents[1]
HISTORY = ROOT / "benchmarks" / "history.csv"
COLUMNS = (
    *("release", "commit", "date", "machine", "case"),
    *("steps_per_s", "limit_steps_per_s", "ratio"),
)

Row = dict[str, str]


class DuplicateRowsError(RuntimeError):
    """Error: the history has rows of this release and these cases."""


def read_history(path: Path) -> list[Row]:
    """Return the rows of a history; none if there is no file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def require_new(rows: Sequence[Row], release: str, cases: Sequence[str]) -> None:
    """Check that a history has no rows of a release for these cases.

    Raises:
        DuplicateRowsError: with the cases.
    """
    known = {row["case"] for row in rows if row["release"] == release}
    if found := [case for case in cases if case in known]:
        message = (
            f"the history has {', '.join(found)} of {release} already. --replace measures them "
            "again and replaces their rows"
        )
        raise DuplicateRowsError(message)


def add_row(path: Path, row: Row, *, replace: bool = False) -> None:
    """Add a row to a history, whose file is replaced as a whole.

    Raises:
        DuplicateRowsError: if it has a row of this release and case, unless that is replaced.
    """
    rows = read_history(path)
    if replace:
        key = row["release"], row["case"]
        rows = [one for one in rows if (one["release"], one["case"]) != key]
    require_new(rows, row["release"], [row["case"]])
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows([*rows, row])
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix="unfinished-")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
        os.chmod(unfinished, 0o644)
        os.replace(unfinished, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(unfinished)


def ratio_before(rows: Sequence[Row], row: Row) -> float | None:
    """Return the ratio of the last other release for the same case; None without one."""
    others = [
        one for one in rows if one["case"] == row["case"] and one["release"] != row["release"]
    ]
    return float(others[-1]["ratio"]) if others else None


def commit() -> str:
    """Return the short name of the present commit, marked if the package has been changed."""
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run(
        [*git, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True
    )
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "src"], check=False)
    return name.stdout.strip() + ("-changed" if changed.returncode else "")


def machine() -> str:
    """Return the model of the processor and the number of usable cores."""
    model = platform.processor() or platform.machine()
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return f"{model}, {usable_cores()} cores"


def rate(case: str) -> float:
    """Return the vehicle steps per second of a case, measured in a process of its own."""
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    answer = subprocess.run(
        [sys.executable, "-m", "kittiwake.runtime.benchmark", case],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout.splitlines()[-1])["steps_per_s"]


def known_cases() -> list[str]:
    """Return the cases of ``kittiwake bench``."""
    sys.path.insert(0, str(ROOT / "src"))
    from kittiwake.cli.bench import NAMES

    return [*NAMES]


def arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("release", metavar="RELEASE")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--rounds", type=int, default=2, help="measurements of each (default: 2)")
    parser.add_argument("--replace", action="store_true", help="replace rows of the same release")
    parser.add_argument("--history", type=Path, default=HISTORY, metavar="FILE")
    given = parser.parse_args()
    known = known_cases()
    if unknown := [case for case in given.cases if case not in known]:
        parser.error(f"there is no case {', '.join(unknown)}; must be of {', '.join(known)}")
    if given.rounds < 1:
        parser.error(f"--rounds: got {given.rounds}; must be at least 1")
    given.cases = given.cases or known
    return given


def measure_all(given: argparse.Namespace) -> int:
    """Add a row for each case and print it; return the number of cases that failed."""
    head = {"release": given.release, "commit": commit(), "machine": machine()}
    failures = 0
    with compiled_kernel() as program:
        print("| case | steps/s | limit | ratio | before |\n|---|---:|---:|---:|---:|", flush=True)
        for case in given.cases:
            try:
                rounds = [
                    (rate(case), speed_limit(program).steps_per_s) for _ in range(given.rounds)
                ]
            except subprocess.CalledProcessError as error:
                failures += 1
                print(f"{case} failed:\n{error.stderr.strip()[-2000:]}", file=sys.stderr)
                continue
            steps, limit = (max(rates) for rates in zip(*rounds, strict=True))
            measured = {
                "date": datetime.date.today().isoformat(),
                "case": case,
                "steps_per_s": f"{steps:.0f}",
                "limit_steps_per_s": f"{limit:.0f}",
                "ratio": f"{steps / limit:.4g}",
            }
            row = head | measured
            before = ratio_before(read_history(given.history), row)
            add_row(given.history, row, replace=given.replace)
            shown = "-" if before is None else f"{before:.4f}"
            print(
                f"| `{case}` | {steps:,.0f} | {limit:,.0f} | {steps / limit:.4f} | {shown} |",
                flush=True,
            )
    return failures


def main() -> None:
    """Measure, record and print."""
    given = arguments()
    try:
        if not given.replace:
            require_new(read_history(given.history), given.release, given.cases)
        failures = measure_all(given)
    except (DuplicateRowsError, NoCompilerError) as error:
        sys.exit(str(error))
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
