"""Import of optional libraries, with the extra to install in the error message."""

from importlib import import_module
from types import ModuleType

from kittiwake.core.errors import MissingExtraError

# packages whose names differ from those of their modules
PACKAGES = {
    "cv2": "opencv-python-headless",
    "imageio_ffmpeg": "imageio-ffmpeg",
    "pygame": "pygame-ce",
    "skmisc": "scikit-misc",
}

# extras of which no module owns the only import
SURVEY = "survey"
# modules of the page, which the extra ``cockpit`` installs
COCKPIT, COCKPIT_MODULES = "cockpit", ("viser", "websockets")


def import_optional(module: str, extra: str) -> ModuleType:
    """Return the module of an optional library.

    Raises:
        MissingExtraError: if it is not installed; the message has the command that installs it.
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


def require_cockpit() -> None:
    """Check that the libraries of the page are installed.

    Raises:
        MissingExtraError: if one is missing.
    """
    for module in COCKPIT_MODULES:
        import_optional(module, COCKPIT)
