"""Flights of a sweep by this process, or shared out to worker processes.

A worker that ends, for want of memory or by a signal, loses the runs that it was flying. These are
flown again, apart from others; one that ends its worker ``ATTEMPTS`` times has a row that says so.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeAlias

from kittiwake.analysis.sweep_results import LOST
from kittiwake.runtime.sweeps.plan import SweepPlan
from kittiwake.runtime.sweeps.rows import Row, flown_rows, row_without_flight

ATTEMPTS = 3
# runs that are flown between two parts of the table
MOST_TOGETHER = 64
# parts for each worker, so that all end at about the same time
PARTS_PER_WORKER = 8
PARENT_CHECK_S = 1.0

Chunk: TypeAlias = tuple[int, ...]
# called with the number of flown runs and that of all
Progress: TypeAlias = Callable[[int, int], None]


def chunks(numbers: Sequence[int], workers: int) -> list[Chunk]:
    """Return numbers of runs in parts, in their order."""
    length = min(MOST_TOGETHER, max(1, len(numbers) // (PARTS_PER_WORKER * workers)))
    return [tuple(numbers[start : start + length]) for start in range(0, len(numbers), length)]


class Flights(NamedTuple):
    """Flights of a sweep.

    Attributes:
        folder: folder of the sweep.
        plan: its plan.
        code: folders whose Python files the scenario may load.
    """

    folder: Path
    plan: SweepPlan
    code: tuple[str, ...] = ()

    def rows(self, part: Chunk) -> list[Row]:
        """Fly some runs and return their rows."""
        return flown_rows(self.folder, self.plan, part, self.code)

    def lost_row(self, number: int, error: Exception) -> Row:
        """Return the row of a run whose worker ended each time, the last time with an error."""
        outcome = LOST, f"its worker ended {ATTEMPTS} times: {error}"
        return row_without_flight(self.folder, self.plan, self.plan.run(number), outcome, self.code)


def fly_shared(flights: Flights, parts: Sequence[Chunk], workers: int) -> Iterator[list[Row]]:
    """Yield the rows of each part as they are ready, flown by worker processes."""
    waiting = deque(parts)
    while waiting:
        pool, flying = _pool(workers), dict[Future[list[Row]], Chunk]()
        try:
            while waiting or flying:
                while waiting and len(flying) < 2 * workers:
                    # it waits until it is submitted, which fails once a worker has ended
                    flying[pool.submit(_fly, flights, waiting[0])] = waiting[0]
                    waiting.popleft()
                for future in wait(flying, return_when=FIRST_COMPLETED).done:
                    rows = future.result()
                    del flying[future]
                    yield rows
        except BrokenProcessPool:
            for part in flying.values():
                yield from _fly_apart(flights, part)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _fly_apart(flights: Flights, part: Chunk) -> Iterator[list[Row]]:
    """Yield the rows of a part whose worker has ended, flown by a worker of its own."""
    error = BrokenProcessPool()
    for _ in range(ATTEMPTS if len(part) == 1 else 1):
        pool = _pool(1)
        try:
            yield pool.submit(_fly, flights, part).result()
        except BrokenProcessPool as ended:
            error = ended
        else:
            return
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    if len(part) == 1:
        yield [flights.lost_row(part[0], error)]
        return
    for number in part:
        yield from _fly_apart(flights, (number,))


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, get_context("spawn"), _watch_parent, (os.getpid(),))


def _fly(flights: Flights, part: Chunk) -> list[Row]:
    return flights.rows(part)


def _watch_parent(parent: int) -> None:
    """End this worker when the process that began it has ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_CHECK_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
