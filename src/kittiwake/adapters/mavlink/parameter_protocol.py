"""Reading and setting of parameters.

Source: MAVLink, Parameter Protocol.
"""

from types import ModuleType

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.parameters import KNOWN, Parameters
from kittiwake.adapters.mavlink.texts import TextMessages
from kittiwake.core.errors import CommandError

REQUESTS = ("PARAM_REQUEST_LIST", "PARAM_REQUEST_READ", "PARAM_SET")


class ParameterProtocol:
    """Answers to requests for the parameters of a vehicle."""

    def __init__(self, dialect: ModuleType, parameters: Parameters, texts: TextMessages) -> None:
        self._d, self._parameters, self._texts = dialect, parameters, texts

    def answers(self, message: Message) -> list[Message]:
        """Return the answers to one of ``REQUESTS``."""
        names, kind = [*KNOWN], message.get_type()
        if kind == "PARAM_REQUEST_LIST":
            return [self._value(name) for name in names]
        if kind == "PARAM_REQUEST_READ" and message.param_index >= 0:
            chosen = names[message.param_index : message.param_index + 1]
            return [self._value(name) for name in chosen]
        name = message.param_id
        refusal = self._set(message) if kind == "PARAM_SET" else []
        if name in KNOWN:
            return [self._value(name), *refusal]
        return [*self._unknown(message), *refusal]

    def _set(self, message: Message) -> list[Message]:
        """Set a parameter; return the reason if it is refused."""
        name, wanted = message.param_id, self._d.MAV_PARAM_TYPE_REAL32
        if name in KNOWN and message.param_type != wanted:
            words = f"{name}: got type {message.param_type}; must be {wanted} (REAL32)"
            return self._texts.warning(words)
        try:
            self._parameters.set(name, message.param_value)
        except CommandError as error:
            return self._texts.warning(str(error))
        return []

    def _value(self, name: str) -> Message:
        return self._d.MAVLink_param_value_message(
            name.encode("ascii"),
            self._parameters[name],
            self._d.MAV_PARAM_TYPE_REAL32,
            len(KNOWN),
            [*KNOWN].index(name),
        )

    def _unknown(self, message: Message) -> list[Message]:
        # older dialects do not have it
        if not hasattr(self._d, "MAVLink_param_error_message"):
            return []
        return [
            self._d.MAVLink_param_error_message(
                message.get_srcSystem(),
                message.get_srcComponent(),
                message.param_id.encode("ascii", "replace"),
                -1,
                self._d.MAV_PARAM_ERROR_DOES_NOT_EXIST,
            )
        ]
