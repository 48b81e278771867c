"""Answers of a system to the messages of its clients."""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TypeAlias

from kittiwake.adapters.mavlink.command_arguments import CommandArguments
from kittiwake.adapters.mavlink.dialect import AUTOPILOT_COMPONENT, FlightMode, Message
from kittiwake.adapters.mavlink.link_services import file_answers, ping_answers, time_answers
from kittiwake.adapters.mavlink.parameter_protocol import REQUESTS, ParameterProtocol
from kittiwake.adapters.mavlink.served_system import ServedSystem
from kittiwake.adapters.mavlink.vehicle_commands import VehicleCommands
from kittiwake.core.errors import CommandError, KittiwakeError

Answer: TypeAlias = Callable[[Message], Sequence[Message]]

TARGETS = ("SET_POSITION_TARGET_LOCAL_NED", "SET_POSITION_TARGET_GLOBAL_INT", "SET_ATTITUDE_TARGET")


class SystemRequests:
    """Answers of one system."""

    def __init__(self, dialect: ModuleType, number: int, system: ServedSystem) -> None:
        d = self._d = dialect
        self._number, self._system, self._vehicle = number, system, system.vehicle
        self._commands = VehicleCommands(d, system.vehicle)
        parameters = ParameterProtocol(d, system.vehicle.parameters, system.vehicle.texts)
        self._names = {number: kind.msgname for number, kind in d.mavlink_map.items()}
        self._answers: Mapping[str, Answer] = {
            "COMMAND_LONG": self._command,
            "COMMAND_INT": self._command,
            **dict.fromkeys(TARGETS, self._set_target),
            **dict.fromkeys(REQUESTS, parameters.answers),
            "SET_MODE": self._set_mode,
            "MISSION_SET_CURRENT": self._set_mission_item,
            "PING": lambda message: ping_answers(d, message),
            "TIMESYNC": self._time,
            "FILE_TRANSFER_PROTOCOL": lambda message: file_answers(d, message),
        }
        self._protocol_commands: Mapping[int, Answer] = {
            d.MAV_CMD_SET_MESSAGE_INTERVAL: self._set_interval,
            d.MAV_CMD_GET_MESSAGE_INTERVAL: lambda message: self._requested(
                "MESSAGE_INTERVAL", message.param1
            ),
            d.MAV_CMD_REQUEST_MESSAGE: self._request_message,
            d.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES: lambda _: self._requested(
                "AUTOPILOT_VERSION"
            ),
            d.MAV_CMD_GET_HOME_POSITION: lambda _: self._requested("HOME_POSITION"),
        }

    def answers(self, message: Message) -> Sequence[Message]:
        """Return the answers to a message; none to one for another system or component."""
        kind = message.get_type()
        if not self._is_meant(message):
            return ()
        answer = self._answers.get(kind)
        if answer is not None:
            return answer(message)
        return self._vehicle.mission_answers(message) or ()

    def _is_meant(self, message: Message) -> bool:
        """Return True for a message to this system; those without a target are to all."""
        if getattr(message, "target_system", 0) not in (0, self._number):
            return False
        components = {0, AUTOPILOT_COMPONENT}
        if message.get_type().startswith("MISSION_"):
            # as PX4 does, for ground stations that have a component for missions
            components.add(self._d.MAV_COMP_ID_MISSIONPLANNER)
        return getattr(message, "target_component", 0) in components

    def _command(self, message: Message) -> Sequence[Message]:
        d, messages = self._d, list[Message]()
        own = self._protocol_commands.get(message.command)
        try:
            if own is None:
                arguments = CommandArguments.of(message)
                messages += self._commands.command(message.command, arguments)
            else:
                messages += own(message)
            result = d.MAV_RESULT_ACCEPTED
        except NotImplementedError:
            result = d.MAV_RESULT_UNSUPPORTED
        except KittiwakeError as error:
            result = d.MAV_RESULT_DENIED
            messages = self._vehicle.texts.warning(str(error))
        return [self._acknowledgment(message, result), *messages]

    def failure_answers(self, message: Message) -> Sequence[Message]:
        """Return the answer to a message that has raised an unforeseen error."""
        if message.get_type() not in ("COMMAND_LONG", "COMMAND_INT"):
            return ()
        return [self._acknowledgment(message, self._d.MAV_RESULT_FAILED)]

    def _acknowledgment(self, message: Message, result: int) -> Message:
        return self._d.MAVLink_command_ack_message(
            command=message.command,
            result=result,
            target_system=message.get_srcSystem(),
            target_component=message.get_srcComponent(),
        )

    def _set_target(self, message: Message) -> Sequence[Message]:
        try:
            self._vehicle.set_target(message)
        except KittiwakeError as error:
            return self._vehicle.texts.repeated_warning(str(error))
        return ()

    def _set_mode(self, message: Message) -> Sequence[Message]:
        try:
            main, sub = message.custom_mode >> 16 & 0xFF, message.custom_mode >> 24 & 0xFF
            self._vehicle.switch(FlightMode.required(main, sub))
        except KittiwakeError as error:
            return self._vehicle.texts.warning(str(error))
        return ()

    def _set_mission_item(self, message: Message) -> Sequence[Message]:
        texts: Sequence[Message] = ()
        try:
            self._vehicle.set_mission_item(message.seq)
        except KittiwakeError as error:
            texts = self._vehicle.texts.warning(str(error))
        current = self._system.message("MISSION_CURRENT")
        return [*([] if current is None else [current]), *texts]

    def _time(self, message: Message) -> Sequence[Message]:
        try:
            time_s = self._vehicle.require_estimate().time_s
        except CommandError:
            return ()
        return time_answers(self._d, message, time_s)

    def _set_interval(self, message: Message) -> Sequence[Message]:
        number = CommandArguments.of(message).whole_number("message", 1)
        self._system.set_interval(self._names.get(number, ""), message.param2)
        return ()

    def _request_message(self, message: Message) -> Sequence[Message]:
        number = CommandArguments.of(message).whole_number("message", 1)
        return self._requested(self._names.get(number, ""), message.param2)

    def _requested(self, name: str, argument: float = 0.0) -> Sequence[Message]:
        found = self._system.message(name, argument)
        if found is None:
            raise NotImplementedError
        return [found]
