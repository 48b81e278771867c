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


def test_each_client_counts_the_messages_of_a_system_without_a_gap():
    link = MavlinkLink([])
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    packet = d.MAVLink_ping_message(0, 0, 0, 0).pack(d.MAVLink(None, srcSystem=255))
    try:
        for one in sockets:
            one.settimeout(1.0)
            one.sendto(packet, ("127.0.0.1", link.port))
            link.receive(1.0)
        clients = list(link._clients)
        text = d.MAVLink_statustext_message(6, b"words")
        for _ in range(3):
            link.send(1, [text])
            link.send(1, [text], clients[0])
            link.send(2, [text])
        for one, count in zip(sockets, (9, 6), strict=True):
            packets = [one.recv(500) for _ in range(count)]
            # the fifth byte is the number, the sixth the system
            for system in (1, 2):
                own = [data[4] for data in packets if data[5] == system]
                assert own == list(range(len(own)))
    finally:
        for one in sockets:
            one.close()
        link.close()


def test_a_truncated_datagram_does_not_hide_the_next_one():
    link = MavlinkLink([])
    packet = d.MAVLink_param_request_list_message(1, 1).pack(d.MAVLink(None, srcSystem=255))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(packet[:-3], ("127.0.0.1", link.port))
        client.sendto(packet, ("127.0.0.1", link.port))
        assert link.receive(1.0) == []
        assert len(link.receive(1.0)) == 1
    link.close()


def test_an_error_of_one_message_is_reported_and_others_are_answered(served, monkeypatch):
    def fail(message):
        text = "'list' object has no attribute 'pack'"
        raise AttributeError(text)

    monkeypatch.setattr(served.vehicle, "set_mission_item", fail)
    assert served.send(d.MAVLink_mission_set_current_message(1, 1, 0)) == []
    served.fly(0.02)
    text = "".join(one.text for one in served.link.take("STATUSTEXT"))
    assert text.startswith("MAVLink: MISSION_SET_CURRENT failed: AttributeError(")
    monkeypatch.setattr(served.vehicle, "switch", fail)
    result, words = served.command(d.MAV_CMD_DO_SET_MODE, 1, 4, 3)
    assert (result, words) == (d.MAV_RESULT_FAILED, "")
    assert served.command(d.MAV_CMD_COMPONENT_ARM_DISARM, 1.0)[0] == d.MAV_RESULT_ACCEPTED


def test_messages_for_other_components_are_ignored(served):
    numbers = [1.0, *[0.0] * 6]
    arm = d.MAV_CMD_COMPONENT_ARM_DISARM
    for component, answered in ((99, False), (190, False), (0, True), (1, True)):
        answers = served.send(d.MAVLink_command_long_message(1, component, arm, 0, *numbers))
        assert bool(answers) is answered
    # PX4 takes missions for the component of a ground station, too
    assert served.send(d.MAVLink_mission_request_list_message(1, 190))
    assert not served.send(d.MAVLink_mission_request_list_message(1, 99))


def test_equal_texts_about_setpoints_are_sent_once(served):
    wrong = d.MAVLink_set_position_target_local_ned_message(
        *(0, 1, 1, 3, 0b110111111000), *[0.0] * 11
    )
    texts = [one.text for _ in range(20) for one in served.send(wrong)]
    assert "".join(texts) == ("coordinate_frame 3: write 1 (local), 7 (offset), 8, 9 or 12 (body)")


def test_pings_times_and_file_transfers_are_answered(served):
    (pong,) = served.send(d.MAVLink_ping_message(7, 3, 0, 0))
    assert (pong.time_usec, pong.seq, pong.target_system) == (7, 3, 255)
    assert served.send(d.MAVLink_ping_message(7, 3, 1, 1)) == []
    (time,) = served.send(d.MAVLink_timesync_message(0, 12345))
    assert time.ts1 == 12345
    assert time.tc1 == pytest.approx(0.2e9, abs=0.02e9)
    assert served.send(d.MAVLink_timesync_message(5, 12345)) == []
    # opening a file for reading: refused, since there is none
    request = bytes([9, 0, 0, 4, 5, *[0] * 7]) + b"@PARA" + bytes(234)
    (refusal,) = served.send(d.MAVLink_file_transfer_protocol_message(0, 1, 1, list(request)))
    assert refusal.payload[:6] == [10, 0, 0, 129, 1, 4]
    assert refusal.payload[12] == 10
    request = bytes([9, 0, 0, 2, *[0] * 247])
    (accepted,) = served.send(d.MAVLink_file_transfer_protocol_message(0, 1, 1, list(request)))
    assert accepted.payload[3] == 128
