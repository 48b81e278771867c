"""Command line, one module per command. Heavy libraries are imported when a command needs them.

In this module even light ones are: until signals are handled, Ctrl-C ends in a traceback.
"""

import gc
import os
import signal
import sys

RUN_FAILED, BAD_INPUT, SIGNALED = 1, 2, 128
# new objects between two collections
GC_THRESHOLD = 50_000


def main() -> None:
    """Run one command and end the process with its status.

    A command that a signal has ended has status 130 (SIGINT) or 143 (SIGTERM).
    """
    # tracing makes millions of objects that live to the end
    gc.set_threshold(GC_THRESHOLD)
    try:
        from kittiwake.runtime.interrupt import interrupts

        with interrupts() as handler:
            _escape_unencodable_output()
            status = _status(handler.received)
            if handler.received:
                _end(handler.received[0], status)
    except KeyboardInterrupt:  # before it was handled
        status = SIGNALED + signal.SIGINT
        _end(signal.SIGINT, status)
    sys.exit(status)


def _escape_unencodable_output() -> None:
    """Escape characters that the terminal's encoding lacks, instead of failing."""
    from io import TextIOWrapper

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _status(received: list[int]) -> int:
    """Run the command and return its status; errors after a signal are not reported."""
    try:
        # imported after signals are handled, since it takes half a second
        from kittiwake.cli.app import run_command

        status = run_command()
    except KeyboardInterrupt:
        status = RUN_FAILED
    except Exception:
        # an import that is interrupted may fail with any error
        if not received:
            raise
        status = RUN_FAILED
    return SIGNALED + received[0] if received and status else status


def _end(number: int, status: int) -> None:
    """End the process at once, without waiting for a thread that compiles.

    After Ctrl-C in the terminal the process ends by the signal itself: shells report this as status
    130, too, and stop a loop over commands only then.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    if status == SIGNALED + signal.SIGINT and number == signal.SIGINT and _in_foreground():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status)


def _in_foreground() -> bool:
    """Return True if the terminal's Ctrl-C goes to this process."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
