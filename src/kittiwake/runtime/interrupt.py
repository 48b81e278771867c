"""SIGINT and SIGTERM: in flight a request to end, elsewhere an exception of the main thread."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

STOPPING = (signal.SIGINT, signal.SIGTERM)
# delay until a signal is sent again, when the callback that could not pass it on has returned
RESEND_S = 0.01

Handler = Callable[[int, FrameType | None], Any]


class Interrupted(KeyboardInterrupt):
    """Raised in the main thread by SIGINT or SIGTERM."""


@dataclass
class Interrupts:
    """The handler of both signals for a process; ``received`` are their numbers in order."""

    received: list[int] = field(default_factory=list)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note a signal and raise."""
        del frame
        self.received.append(number)
        raise Interrupted


@contextmanager
def interrupts() -> Generator[Interrupts]:
    """Raise ``Interrupted`` at both signals while the context lasts.

    Where Python cannot pass an exception on, as in a callback of the garbage collector, it would
    print and forget it; instead the signal is sent again.
    """
    handler, show = Interrupts(), sys.unraisablehook

    def unraisable(found: Any, /) -> None:
        if not isinstance(found.exc_value, Interrupted):
            show(found)
            return
        number = handler.received.pop()
        again = threading.Timer(RESEND_S, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()

    sys.unraisablehook = unraisable
    try:
        with _handled_by(handler):
            yield handler
    finally:
        sys.unraisablehook = show


def ended_by(number: int) -> bool:
    """Return True if this signal is the first that the process has received."""
    handler = signal.getsignal(number)
    return isinstance(handler, Interrupts) and handler.received[:1] == [number]


class StopRequests:
    """Requests to end a flight by SIGINT or SIGTERM; a call returns True once there is one.

    A second signal raises ``Interrupted``; within ``held`` that waits for the end of the context.
    """

    def __init__(self) -> None:
        self._before = signal.getsignal(signal.SIGINT)
        received = isinstance(self._before, Interrupts) and self._before.received
        # a signal that came earlier and could not be passed on
        self._count = len(received or ())
        self._holding, self._waits = 0, False

    def __call__(self) -> bool:
        """Return True if a signal has come."""
        return self._count > 0

    @property
    def insisted(self) -> bool:
        """True if a second signal has come."""
        return self._count > 1

    @contextmanager
    def held(self) -> Generator[None]:
        """Defer the exception of a second signal to the end of the context."""
        self._holding += 1
        try:
            yield
        finally:
            self._holding -= 1
        if self._waits and not self._holding:
            self._waits = False
            raise Interrupted

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        del frame
        self._count += 1
        if isinstance(self._before, Interrupts):
            self._before.received.append(number)
        if self._count == 1:
            return
        if self._holding:
            self._waits = True
            return
        raise Interrupted


@contextmanager
def stop_requests() -> Generator[StopRequests]:
    """Turn a first SIGINT or SIGTERM into a request while the context lasts."""
    requests = StopRequests()
    with _handled_by(requests.receive):
        yield requests


@contextmanager
def _handled_by(handler: Handler) -> Generator[None]:
    """Install a handler for both signals; does nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in STOPPING}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)
