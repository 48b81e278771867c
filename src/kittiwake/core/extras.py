"""Libraries that only some uses need, imported when they are."""

from importlib import import_module
from typing import Any

from kittiwake.core.errors import MissingExtraError


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
        message = f"this needs {module}. Install it with: pip install 'kittiwake[{extra}]'"
        raise MissingExtraError(message) from None
