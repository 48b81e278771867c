"""Server of a live flight to MAVLink clients; vehicle n of the scenario is system n."""

import threading
import time
from collections.abc import Sequence
from itertools import chain
from math import isfinite

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.link import Address, MavlinkLink
from kittiwake.adapters.mavlink.parameters import KNOWN
from kittiwake.adapters.mavlink.telemetry import RATES_HZ, SystemReport, SystemTelemetry
from kittiwake.adapters.mavlink.vehicle import MavlinkVehicle
from kittiwake.adapters.mavlink.world_frame import WorldFrame
from kittiwake.core.errors import CommandError, KittiwakeError
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.row_layout import RowBlock

MAX_SYSTEMS = 250
HEARTBEAT_S, POLL_S = 1.0, 0.05
# intervals of messages, in microseconds: the default one, and none
DEFAULT_INTERVAL, NO_INTERVAL = 0, -1
CHARGE, VOLTAGE = "act_battery_charge", "act_battery_v"
PARAMETER_REQUESTS = ("PARAM_REQUEST_LIST", "PARAM_REQUEST_READ", "PARAM_SET")
TARGETS = ("SET_POSITION_TARGET_LOCAL_NED", "SET_POSITION_TARGET_GLOBAL_INT", "SET_ATTITUDE_TARGET")


class ServedSystem:
    """A vehicle with its telemetry and the rates of its messages."""

    def __init__(
        self, link: MavlinkLink, executor: LiveExecutor, name: str, frame: WorldFrame
    ) -> None:
        dynamics = executor.scenario.vehicles[name].dynamics
        self.vehicle = MavlinkVehicle(link.dialect, executor, name, frame)
        self.telemetry = SystemTelemetry(
            link.dialect, frame, is_vessel=dynamics.is_vessel, rotors=dynamics.actuator_count
        )
        self.rates_hz = dict(RATES_HZ)
        columns = executor.layout.columns[name]
        self._places = {key: columns.index(key) for key in (CHARGE, VOLTAGE) if key in columns}
        self._sent_s: dict[str, float] = {}
        self._battery: dict[str, float] = {}

    def due(self, block: RowBlock) -> list[Message]:
        """Return the messages that are due after a block."""
        rows = block.get(self.vehicle.name)
        if rows is None:
            return []
        self._battery = {key: float(rows[-1, at]) for key, at in self._places.items()}
        messages = self.vehicle.update()
        report = self._report()
        if report is None:
            return messages
        for name, rate_hz in self.rates_hz.items():
            if rate_hz > 0.0 and report.time_s - self._sent_s.get(name, -1e9) > 0.999 / rate_hz:
                self._sent_s[name] = report.time_s
                messages.append(self.telemetry.messages[name](report))
        return messages

    def message(self, name: str) -> Message | None:
        """Return a message on request; None for one that does not exist."""
        if name == "AUTOPILOT_VERSION":
            return self.telemetry.version()
        report = self._report()
        if report is None or name not in self.telemetry.messages:
            return None
        return self.telemetry.messages[name](report)

    def heartbeat(self) -> list[Message]:
        """Return the heartbeat, from the first block on."""
        if self._report() is None:
            return []
        return [self.telemetry.heartbeat(self.vehicle.mode, armed=self.vehicle.armed)]

    def _report(self) -> SystemReport | None:
        return self.vehicle.report(self._battery.get(CHARGE), self._battery.get(VOLTAGE))


class MavlinkServer:
    """Systems of a flight on a link.

    The flight calls ``publish_block`` with each block. Requests are served in a thread of the
    server, from ``open`` to ``close``.
    """

    def __init__(self, link: MavlinkLink) -> None:
        self._link, self._d = link, link.dialect
        self._systems: dict[int, ServedSystem] = {}
        self._executor: LiveExecutor | None = None
        self._names = {number: kind.msgname for number, kind in link.dialect.mavlink_map.items()}
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="mavlink", daemon=True)

    def open(self, executor: LiveExecutor) -> None:
        """Serve the vehicles of a flight.

        Raises:
            CommandError: for more vehicles than MAVLink has numbers.
        """
        scenario, self._executor = executor.scenario, executor
        if len(scenario.vehicles) > MAX_SYSTEMS:
            text = f"MAVLink numbers at most {MAX_SYSTEMS} systems; got {len(scenario.vehicles)}"
            raise CommandError(text)
        frame = WorldFrame(scenario.world.origin)
        self._systems = {
            number: ServedSystem(self._link, executor, name, frame)
            for number, name in enumerate(scenario.vehicles, 1)
        }
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()
        self._link.close()

    def publish_block(self, block: RowBlock) -> None:
        """Send the messages that are due after a block of the flight."""
        problems = [] if self._executor is None else self._executor.take_problems()
        for number, system in self._systems.items():
            texts = [system.vehicle.text(one, self._d.MAV_SEVERITY_WARNING) for one in problems]
            self._link.send(number, [*system.due(block), *chain.from_iterable(texts)])
            # one system reports them, since each names its vehicle
            problems = []

    def _serve(self) -> None:
        next_s = time.monotonic()
        while not self._closed.is_set():
            for sender, message in self._link.receive(POLL_S):
                self._answer(sender, message)
            if time.monotonic() >= next_s:
                next_s = time.monotonic() + HEARTBEAT_S
                for number, system in self._systems.items():
                    self._link.send(number, system.heartbeat())

    def _answer(self, sender: Address, message: Message) -> None:
        target = getattr(message, "target_system", None)
        if target is None:
            return
        for number, system in self._systems.items():
            if target in (0, number):
                try:
                    answers = self._answers(system, message)
                except KittiwakeError as error:
                    answers = system.vehicle.text(str(error), self._d.MAV_SEVERITY_WARNING)
                self._link.send(number, answers, sender)

    def _answers(self, system: ServedSystem, message: Message) -> Sequence[Message]:
        kind, vehicle = message.get_type(), system.vehicle
        if kind in ("COMMAND_LONG", "COMMAND_INT"):
            return self._command(system, message)
        if kind in TARGETS:
            vehicle.set_target(message)
            return ()
        if kind == "SET_MODE":
            vehicle.set_mode(message.custom_mode)
            return ()
        if kind == "MISSION_SET_CURRENT":
            return [
                vehicle.text("missions begin at their first item", self._d.MAV_SEVERITY_WARNING)
            ]
        if kind in PARAMETER_REQUESTS:
            return self._parameters(system, message)
        return vehicle.missions.answers(message) or ()

    def _command(self, system: ServedSystem, message: Message) -> list[Message]:
        d, number = self._d, message.command
        messages: list[Message] = []
        try:
            result = d.MAV_RESULT_ACCEPTED
            if number == d.MAV_CMD_SET_MESSAGE_INTERVAL:
                result = self._set_interval(system, round(message.param1), message.param2)
            elif (wanted := self._requested(message)) is not None:
                found = system.message(wanted)
                messages = [] if found is None else [found]
                result = d.MAV_RESULT_UNSUPPORTED if found is None else result
            else:
                system.vehicle.command(number, *_arguments(message))
        except NotImplementedError:
            result = d.MAV_RESULT_UNSUPPORTED
        except (KittiwakeError, ValueError, OverflowError) as error:
            result = d.MAV_RESULT_DENIED
            messages = system.vehicle.text(str(error), d.MAV_SEVERITY_WARNING)
        ack = d.MAVLink_command_ack_message(
            command=number,
            result=result,
            target_system=message.get_srcSystem(),
            target_component=message.get_srcComponent(),
        )
        return [ack, *messages]

    def _requested(self, message: Message) -> str | None:
        """Return the name of the message that a command requests; None for another command."""
        d = self._d
        match message.command:
            case d.MAV_CMD_REQUEST_MESSAGE:
                return self._names.get(round(message.param1), "")
            case d.MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES:
                return "AUTOPILOT_VERSION"
            case d.MAV_CMD_GET_HOME_POSITION:
                return "HOME_POSITION"
            case _:
                return None

    def _set_interval(self, system: ServedSystem, number: int, interval_us: float) -> int:
        name = self._names.get(number, "")
        if name not in system.rates_hz:
            return self._d.MAV_RESULT_UNSUPPORTED
        if not isfinite(interval_us):
            text = f"interval: got {interval_us:g}; must be a number of microseconds"
            raise CommandError(text)
        if interval_us == DEFAULT_INTERVAL:
            system.rates_hz[name] = RATES_HZ[name]
        else:
            system.rates_hz[name] = 0.0 if interval_us <= NO_INTERVAL else 1e6 / interval_us
        return self._d.MAV_RESULT_ACCEPTED

    def _parameters(self, system: ServedSystem, message: Message) -> list[Message]:
        parameters, kind = system.vehicle.parameters, message.get_type()
        names = [*parameters]
        if kind == "PARAM_REQUEST_LIST":
            return [self._parameter(system, name) for name in names]
        if kind == "PARAM_REQUEST_READ" and message.param_index >= 0:
            chosen = names[message.param_index : message.param_index + 1]
            return [self._parameter(system, name) for name in chosen]
        name = message.param_id
        if kind == "PARAM_SET":
            parameters.set(name, message.param_value)
        return [self._parameter(system, name)] if name in KNOWN else []

    def _parameter(self, system: ServedSystem, name: str) -> Message:
        names = [*KNOWN]
        return self._d.MAVLink_param_value_message(
            name.encode("ascii"),
            system.vehicle.parameters[name],
            self._d.MAV_PARAM_TYPE_REAL32,
            len(names),
            names.index(name),
        )


def _arguments(message: Message) -> tuple[list[float], tuple[int, int, int] | None]:
    """Return the seven parameters of a command, and its place if it was given with integers."""
    first = [message.param1, message.param2, message.param3, message.param4]
    if message.get_type() == "COMMAND_INT":
        return [*first, 0.0, 0.0, message.z], (message.frame, message.x, message.y)
    return [*first, message.param5, message.param6, message.param7], None
