"""``kittiwake bench``: simulation speed on this machine."""

import json
import subprocess
import sys
from typing import Annotated

import typer

from kittiwake.cli.metrics import Metrics
from kittiwake.core.errors import KittiwakeError, did_you_mean

FAILED = 1
# length of the quoted end of a failed case's output
ERROR_CHARACTERS = 2000
# repeated from runtime.benchmark, which the help must not import
NAMES = (
    "python-loop",
    "python-loop-recorded",
    "rollout-1",
    "rollout-100",
    "rollout-1000",
    "rollout-10000",
    "rollout-1000000",
    "world-10000",
    "noisy-10000",
    "ar-drone-10000",
    "crazyflie-10000",
    "os4-10000",
    "grounded-10000",
    "deck-landing",
    "deck-landing-mujoco",
    "flock-1000",
    "flock-10000",
    "learn-keep-spot",
    "learn-keep-spot-noisy",
    "learn-hover",
    "learn-hover-10",
)


def bench(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help=f"Only this case: one of {', '.join(NAMES)}."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures by case.")] = False,
) -> None:
    """Measure the simulation speed of vehicles with their controllers, from one to 10,000."""
    from rich.console import Console

    from kittiwake.runtime.benchmark import CASES

    if name is not None and name not in CASES:
        message = (
            f"there is no benchmark '{name}'. {did_you_mean(name, CASES, 'kittiwake bench -h')}"
        )
        raise KittiwakeError(message)
    results: dict[str, Metrics] = {}
    with Console(stderr=True).status("measuring") as status:
        for case in CASES if name is None else [name]:
            status.update(f"measuring {CASES[case][0]}")
            results[case] = _measure(case)
    if as_json:
        sys.stdout.write(json.dumps(results) + "\n")
    else:
        _show(results, {case: words for case, (words, _) in CASES.items()})
    failed = {case: result["error"] for case, result in results.items() if "error" in result}
    for case, error in failed.items():
        sys.stderr.write(f"{case} failed:\n{error}\n")
    if failed:
        raise typer.Exit(FAILED)


def _measure(case: str) -> Metrics:
    """Return the metrics of a case, or as ``error`` the end of its process's error output."""
    command = [sys.executable, "-m", "kittiwake.runtime.benchmark", case]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        error = done.stderr.strip()[-ERROR_CHARACTERS:] or f"status {done.returncode}"
        return {"error": error}
    return json.loads(done.stdout.splitlines()[-1])


def _show(results: dict[str, Metrics], words: dict[str, str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title="Vehicles with a position controller at every step",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        # one space between columns, so that all fit a terminal of 80
        padding=0,
        show_edge=False,
    )
    table.add_column("name", no_wrap=True)
    table.add_column("case")
    for heading in ("compile\ns", "vehicle-\nsteps/s", "times\nreal time", "memory\nMB"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("en-\ngine", no_wrap=True)
    table.add_column("code\nkB", justify="right", no_wrap=True)
    for case, result in results.items():
        if "error" in result:
            table.add_row(case, words[case], "failed", *["-"] * 5)
            continue
        table.add_row(
            case,
            f"{words[case]}; a vehicle {result['vehicle_bytes'] / 1000:.1f} kB",
            f"{result['compile_s']:.2f}",
            f"{result['steps_per_s']:,.0f}",
            f"{result['realtime_factor']:,.0f}",
            f"{result['peak_memory_mb']:.0f}",
            str(result["engine"]),
            "-" if result["code_bytes"] is None else f"{result['code_bytes'] / 1000:.0f}",
        )
    Console().print(table)
