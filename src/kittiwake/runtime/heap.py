"""Release of free heap memory to the operating system."""

import ctypes
from contextlib import suppress


def trim_heap() -> None:
    """Return free memory to the system, where the C library can; compilers leave much of it.

    Source: malloc_trim(3) of the GNU C library.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
