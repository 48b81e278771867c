"""Memory of this process that nothing uses any more."""

import ctypes
from contextlib import suppress


def trim_heap() -> None:
    """Return free memory to the system, where the C library can; compilers leave much of it.

    Source: malloc_trim(3) of the GNU C library.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
