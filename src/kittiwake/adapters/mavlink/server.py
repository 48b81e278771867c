"""Server of a live flight to MAVLink clients; vehicle n of the scenario is system n."""

import threading
import time
from collections.abc import Iterable
from itertools import chain

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.link import Address, MavlinkLink
from kittiwake.adapters.mavlink.requests import SystemRequests
from kittiwake.adapters.mavlink.served_system import ServedSystem
from kittiwake.adapters.mavlink.world_frame import WorldFrame
from kittiwake.core.errors import CommandError
from kittiwake.runtime.live_executor import LiveExecutor
from kittiwake.runtime.row_layout import RowBlock

MAX_SYSTEMS = 250
HEARTBEAT_S, POLL_S = 1.0, 0.05


class MavlinkServer:
    """Systems of a flight on a link.

    The flight calls ``publish_block`` with each block. Requests are served in a thread of the
    server, from ``open`` to ``close``.
    """

    def __init__(self, link: MavlinkLink) -> None:
        self._link, self._d = link, link.dialect
        self._systems: dict[int, ServedSystem] = {}
        self._requests: dict[int, SystemRequests] = {}
        # where the upload of a mission to a system comes from
        self._uploaders: dict[int, Address] = {}
        self._executor: LiveExecutor | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="mavlink", daemon=True)

    def open(self, executor: LiveExecutor) -> None:
        """Serve the vehicles of a flight.

        Raises:
            CommandError: for more vehicles than MAVLink has numbers.
        """
        self.use(executor)
        self._thread.start()

    def use(self, executor: LiveExecutor) -> None:
        """Make systems of the vehicles of a flight; raises as ``open``."""
        scenario, self._executor = executor.scenario, executor
        if len(scenario.vehicles) > MAX_SYSTEMS:
            text = f"MAVLink numbers at most {MAX_SYSTEMS} systems; got {len(scenario.vehicles)}"
            raise CommandError(text)
        frame = WorldFrame(scenario.world.origin)
        self._systems = {
            number: ServedSystem(self._d, executor, name, frame)
            for number, name in enumerate(scenario.vehicles, 1)
        }
        self._requests = {
            number: SystemRequests(self._d, number, system)
            for number, system in self._systems.items()
        }

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
            texts = [system.vehicle.texts.repeated_warning(one) for one in problems]
            self._link.send(number, [*system.due(block), *chain.from_iterable(texts)])
            # one system reports them, since each names its vehicle
            problems = []

    def _serve(self) -> None:
        next_s = time.monotonic()
        while not self._closed.is_set():
            for sender, message in self._link.receive(POLL_S):
                self.answer(sender, message)
            self.repeat_requests()
            if time.monotonic() >= next_s:
                next_s = time.monotonic() + HEARTBEAT_S
                for number, system in self._systems.items():
                    self._link.send(number, system.heartbeat())

    def answer(self, sender: Address, message: Message) -> None:
        """Send the answers of all systems to a message."""
        for number, requests in self._requests.items():
            try:
                answers: Iterable[Message] = requests.answers(message)
            # one message must not end the service of all others
            except Exception as error:
                self._report(f"MAVLink: {message.get_type()} failed: {error!r}")
                answers = requests.failure_answers(message)
            if message.get_type() == "MISSION_COUNT" and answers:
                self._uploaders[number] = sender
            self._link.send(number, answers, sender)

    def repeat_requests(self) -> None:
        """Request items again that clients owe."""
        for number, sender in self._uploaders.items():
            missions = self._systems[number].vehicle.missions
            self._link.send(number, missions.overdue(), sender)

    def _report(self, problem: str) -> None:
        if self._executor is not None:
            self._executor.problems.put(problem)
