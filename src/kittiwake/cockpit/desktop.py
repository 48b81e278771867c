"""Desktop of this machine, on which a browser can open."""

import os
import sys


def has_desktop() -> bool:
    """Return True if this process can open a window."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
