"""Client of a hub that adds and removes vehicles.

    with HubController(port=47200) as controller:
        port = controller.add_vehicle("drone-9", entry)
        controller.remove_vehicle("drone-1")

This module requires only ``msgspec``: neither JAX nor a scenario.
"""

import time
from types import TracebackType

from kittiwake.adapters.hub.link import Link, resolve_address
from kittiwake.adapters.hub.packets import (
    VERSION,
    AddVehicle,
    Controller,
    Hello,
    Refusal,
    RemoveVehicle,
    VehicleAdded,
    VehicleChange,
    VehicleNotice,
    compute_proof,
)
from kittiwake.core.errors import HubError

HANDSHAKE_S = 2.0
# a hub compiles for seconds, and makes one change after another
ANSWER_S = 300.0


class HubController:
    """Connection to the control port of a hub, which has one controller at a time.

    A hub closes it after some seconds without a request, as any connection.

    Args:
        port: control port of the hub.
        host: address of the hub.
        token: token of the hub, if it requires one.
        timeout_s: longest wait for an answer.

    Raises:
        HubError: if there is no hub, or it refuses the connection.
    """

    def __init__(
        self,
        *,
        port: int,
        host: str = "127.0.0.1",
        token: str | None = None,
        timeout_s: float = ANSWER_S,
    ) -> None:
        self._token, self._timeout_s, self._number = token, timeout_s, 0
        address = f"{host}:{port}"
        self._link: Link | None = None
        try:
            self._link = Link(resolve_address(host, port))
            if not self._link.handshake(HANDSHAKE_S, self._introduction):
                message = f"{address} accepted the connection but does not answer"
                raise HubError(message)
        except OSError as error:
            self.close()
            message = f"no hub is controlled at {address}: {error}; give it --control-port {port}"
            raise HubError(message) from None
        except HubError:
            self.close()
            raise

    def __enter__(self) -> "HubController":
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def add_vehicle(self, name: str, vehicle: str) -> int:
        """Add a vehicle, and return the port for its member, once the hub guides it.

        Args:
            name: its name, which no vehicle of the hub has had.
            vehicle: the name of a model, or an entry as under ``vehicles`` in a scenario file, in
                YAML, which contains JSON; without files, and 800 bytes at most.

        Raises:
            HubError: if the hub refuses it, or does not answer in time.
        """
        answer = self._ask(AddVehicle(self._next_number(), name, vehicle))
        assert isinstance(answer, VehicleAdded)
        return answer.port

    def remove_vehicle(self, name: str) -> None:
        """Remove a vehicle, or all vehicles of an entry with a ``count``.

        Raises:
            HubError: if the hub refuses it, or does not answer in time.
        """
        self._ask(RemoveVehicle(self._next_number(), name))

    def close(self) -> None:
        """Close the connection."""
        if self._link is not None:
            self._link.close()
        self._link = None

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _introduction(self, hello: Hello) -> Controller:
        proof = "" if self._token is None else compute_proof(self._token, hello.nonce)
        return Controller(VERSION, proof)

    def _ask(self, request: VehicleChange) -> VehicleNotice:
        """Send a request and return its answer."""
        if self._link is None:
            message = "the connection to the hub is closed; create another HubController"
            raise HubError(message)
        end_s = time.monotonic() + self._timeout_s
        try:
            self._link.send(request)
            while (answer := self._link.receive(end_s - time.monotonic())) is not None:
                if isinstance(answer, Refusal):
                    message = f"the hub refuses: {answer.said}"
                    raise HubError(message, answer.reason.value)
                if isinstance(answer, VehicleNotice) and answer.number == request.number:
                    return answer
        except OSError as error:
            message = f"the hub is lost: {error}"
            raise HubError(message) from None
        message = f"the hub has not answered within {self._timeout_s:g} s"
        raise HubError(message)
