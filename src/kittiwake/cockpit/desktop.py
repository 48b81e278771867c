"""Desktop or notebook in which this process runs."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from io import StringIO


def has_desktop() -> bool:
    """Return True if this process can open a window."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def in_notebook() -> bool:
    """Return True in the kernel of a notebook, which shows what a cell returns."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


@contextmanager
def quiet() -> Generator[None]:
    """Hide what is printed in the context, and what it shows in a notebook."""
    if not in_notebook():
        with redirect_stdout(StringIO()):
            yield
        return
    # a notebook shows more than what goes to the standard output
    with import_module("IPython.utils.capture").capture_output(stderr=False):
        yield
