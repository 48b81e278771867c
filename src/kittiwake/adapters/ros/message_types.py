"""Types of messages: plain ones, and those whose classes ROS generates at run time."""

from collections.abc import Mapping
from typing import Any, TypeAlias

# values by field name, as nested as the message
MessageFields: TypeAlias = Mapping[str, Any]
# message, request or response of a client library, or a part of one
Message: TypeAlias = Any
# its class, which has the names and types of its fields
MessageClass: TypeAlias = Any
# value of a field
FieldValue: TypeAlias = Any
# any other object of a library of ROS: a node, a profile, a type store
LibraryObject: TypeAlias = Any
