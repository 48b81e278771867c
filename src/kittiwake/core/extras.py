"""Libraries that only some uses need, imported when they are."""

from importlib import import_module
from typing import Any

from kittiwake.core.errors import MissingExtraError

# packages that are not called as the modules that they bring
PACKAGES = {
    "cv2": "opencv-python-headless",
    "imageio_ffmpeg": "imageio-ffmpeg",
    "pygame": "pygame-ce",
}


def optional(module: str, extra: str) -> Any:
    """The module, if the extra of this package that brings it is installed.

    Raises:
        MissingExtraError: if it is not; the message has the line that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or module.split(".")[0] != error.name.split(".")[0]:
            raise
        library = module.partition(".")[0]
        package = PACKAGES.get(library, library)
        message = f"this needs {package}. Install it with: pip install 'kittiwake[{extra}]'"
        raise MissingExtraError(message) from None
