"""Notice of a long wait on standard error."""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

# shorter waits need no word
AFTER_S = 2.0


@contextmanager
def wait_notice(words: str, after_s: float = AFTER_S) -> Generator[None]:
    """Write a line on standard error if the block takes longer than a few seconds."""
    timer = threading.Timer(after_s, lambda: sys.stderr.write(f"{words}\n"))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
