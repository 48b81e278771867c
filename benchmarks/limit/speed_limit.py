"""Speed limit of this machine for simulated quadrotors, by a kernel in C.

Run: ``python benchmarks/limit/speed_limit.py [--vehicles 10000] [--steps 200]``. Compiles
``quadrotor.c`` with the system's compiler into a temporary folder and prints vehicle steps per
second. ``OMP_NUM_THREADS`` selects the number of threads; by default all usable cores.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("quadrotor.c")
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-std=gnu11", "-O3", "-march=native", "-ffast-math", "-fopenmp")


class SpeedLimit(NamedTuple):
    """Measured speed of the kernel.

    Attributes:
        threads: number of threads.
        steps_per_s: vehicle steps per second.
        farthest_m: largest distance of a vehicle from its setpoint at the end.
    """

    threads: int
    steps_per_s: float
    farthest_m: float


class NoCompilerError(RuntimeError):
    """Error: no compiler of this system builds the kernel."""


@contextmanager
def compiled_kernel() -> Iterator[Path]:
    """Yield the path of the compiled kernel, in a temporary folder.

    Raises:
        NoCompilerError: if there is no compiler with OpenMP.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "quadrotor")
        answers = []
        for compiler in filter(shutil.which, COMPILERS):
            command = [compiler, *FLAGS, str(SOURCE), "-lm", "-o", str(program)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                yield program
                return
            answers.append(f"{compiler}: {done.stderr.strip()}")
        message = (
            f"{SOURCE.name} needs GCC or Clang with OpenMP as one of {', '.join(COMPILERS)}; on "
            "Debian and Ubuntu: apt install gcc"
        )
        raise NoCompilerError("\n".join([message, *answers]))


def speed_limit(
    program: Path, vehicles: int = 10_000, steps: int = 200, repeats: int = 20
) -> SpeedLimit:
    """Return the best speed of some repeats, with as many threads as ``OMP_NUM_THREADS`` says."""
    command = [str(program), str(vehicles), str(steps), str(repeats)]
    environment = {"OMP_NUM_THREADS": str(usable_cores()), **os.environ}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(answer.stdout)
    return SpeedLimit(found["threads"], found["steps_per_s"], found["farthest_m"])


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main() -> None:
    """Print the speed limit as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--vehicles", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=200)
    given = parser.parse_args()
    try:
        with compiled_kernel() as program:
            print(json.dumps(speed_limit(program, given.vehicles, given.steps)._asdict()))
    except NoCompilerError as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
