"""Message and service classes by their type names, such as "nav_msgs/Odometry"."""

from collections.abc import Callable
from types import ModuleType

from kittiwake.adapters.ros.message_types import MessageClass
from kittiwake.core.errors import RosError, did_you_mean


def find_class(
    type_name: str,
    interface: str,
    import_package: Callable[[str], ModuleType],
    is_interface: Callable[[MessageClass], bool],
) -> MessageClass:
    """Return the class of a message or service type.

    Args:
        type_name: type name, with its package.
        interface: "msg" or "srv".
        import_package: imports the module with the messages or services of a package.
        is_interface: returns True for message or service classes.

    Raises:
        RosError: if there is no such type.
    """
    package, slash, name = type_name.partition("/")
    if not slash:
        message = f"type '{type_name}' has no package; write the package as well: std_msgs/String"
        raise RosError(message)
    module = import_package(package)
    found = getattr(module, name, None)
    if not is_interface(found):
        known = [name for name, value in vars(module).items() if is_interface(value)]
        message = f"{package} has no {interface} '{name}'. {did_you_mean(name, known)}"
        raise RosError(message)
    return found
