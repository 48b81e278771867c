"""The command line, one file a command. Heavy libraries are imported when a command needs them."""

import os
import signal
import sys
from contextlib import suppress
from io import TextIOWrapper

from kittiwake.runtime.interrupt import interrupts

RUN_FAILED, BAD_INPUT, SIGNALED = 1, 2, 128


def main() -> None:
    """Run one command and end the process with its status.

    A command that a signal has ended has status 130 (SIGINT) or 143 (SIGTERM).
    """
    for stream in (sys.stdout, sys.stderr):
        # a name may have letters that the terminal's encoding has not
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
    with interrupts() as handler:
        status = _status(handler.received)
        if handler.received:
            _end(handler.received[0], status)
    sys.exit(status)


def _status(received: list[int]) -> int:
    """Runs the command; what a signal has thrown out of its way says nothing on its own."""
    try:
        # not before signals are handled, for it takes half a second
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
    """Ends at once, for a thread may be compiling for seconds, and nobody waits for its program.

    Where somebody has pressed Ctrl-C, the process ends by the signal itself. Shells say 130 of
    that as well, and stop a loop over commands for nothing else.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    if status == SIGNALED + signal.SIGINT and number == signal.SIGINT and _in_foreground():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status)


def _in_foreground() -> bool:
    """Whether the terminal's Ctrl-C goes to this process."""
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
