"""Ctrl-C as a request: the flight ends at the next block, with its log and summary written."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_requests() -> Generator[Callable[[], bool]]:
    """Turns a first SIGINT or SIGTERM into the given function's returning True.

    A second one ends the process as usual. Outside the main thread, where signals cannot be caught,
    nothing changes.
    """
    requested = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield requested.is_set
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def request(number: int, frame: FrameType | None) -> None:
        del frame
        requested.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, request)
    try:
        yield requested.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
