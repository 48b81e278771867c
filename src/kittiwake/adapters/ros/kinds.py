"""Classes of messages and services by their kinds, such as "nav_msgs/Odometry"."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from kittiwake.core.errors import RosError, did_you_mean


def found_class(
    kind: str, what: str, module_of: Callable[[str], ModuleType], is_kind: Callable[[Any], bool]
) -> Any:
    """The class of a kind, which ``module_of`` its package holds.

    Args:
        kind: package and name.
        what: "msg" or "srv".
        module_of: imports the messages or services of a package.
        is_kind: tells classes of messages or services from what else is there.

    Raises:
        RosError: if there is no such kind.
    """
    package, slash, name = kind.partition("/")
    if not slash:
        message = f"'{kind}' is not allowed; write the package as well, as in std_msgs/String"
        raise RosError(message)
    module = module_of(package)
    found = getattr(module, name, None)
    if not is_kind(found):
        kinds = [word for word, thing in vars(module).items() if is_kind(thing)]
        message = f"{package} has no {what} '{name}'. {did_you_mean(name, kinds)}"
        raise RosError(message)
    return found
