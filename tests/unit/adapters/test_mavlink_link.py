"""Datagrams of MAVLink between a flight and its clients."""

import socket

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as d

from kittiwake.adapters.mavlink.link import MAX_CLIENTS, MavlinkLink
from kittiwake.core.errors import CommandError


def test_a_link_ignores_what_is_no_message_and_forgets_old_clients():
    link = MavlinkLink([])
    address = ("127.0.0.1", link.port)
    rng = np.random.default_rng(0)
    clients = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(MAX_CLIENTS + 3)]
    try:
        for size in (0, 1, 12, 280, 1500):
            clients[0].sendto(rng.bytes(size), address)
            assert link.receive(1.0) == []
        assert not link._clients
        packet = d.MAVLink_param_request_list_message(1, 1).pack(d.MAVLink(None, srcSystem=255))
        clients[0].sendto(packet[:-1] + bytes([packet[-1] ^ 1]), address)
        assert link.receive(1.0) == []
        for client in clients:
            client.sendto(packet, address)
            ((_, message),) = link.receive(1.0)
            assert message.get_type() == "PARAM_REQUEST_LIST"
        assert len(link._clients) == MAX_CLIENTS
        link.send(1, [d.MAVLink_statustext_message(6, b"to all")])
        clients[-1].settimeout(1.0)
        assert clients[-1].recv(500)
        clients[0].settimeout(0.05)
        with pytest.raises(TimeoutError):
            clients[0].recv(500)
        with pytest.raises(CommandError, match=f"port {link.port} of 127.0.0.1 cannot be opened"):
            MavlinkLink([], link.port)
    finally:
        for client in clients:
            client.close()
        link.close()
