"""A served flight, and a program that commands it by MAVLink."""

import subprocess
import sys
import time
from math import nan

import pytest
from tests.system.commands import kittiwake_does

import kittiwake as kw

mavutil = pytest.importorskip("pymavlink.mavutil")
pytestmark = pytest.mark.slow  # in real time


@pytest.fixture
def server(tmp_path):
    """A process that serves a drone; its results are in the folder ``flight``."""
    arguments = ("serve", "mavlink-drone", "--mavlink", "--duration", "60", "--quiet")
    with subprocess.Popen(
        [sys.executable, "-m", "kittiwake", *arguments, "--out", tmp_path / "flight"]
    ) as process:
        yield process
        process.kill()


@pytest.fixture
def link(server):
    own = mavutil.mavlink_connection("udpin:127.0.0.1:14540", dialect="common")
    assert own.wait_heartbeat(timeout=120) is not None
    yield own
    own.close()


def command(link, number, *given):
    numbers = [*given, *[0] * (7 - len(given))]
    link.mav.command_long_send(1, 1, number, 0, *numbers)
    return link.recv_match(type="COMMAND_ACK", blocking=True, timeout=5).result


def test_a_program_takes_off_and_lands_and_the_flight_is_logged(server, link, tmp_path):
    m = mavutil.mavlink
    assert command(link, m.MAV_CMD_COMPONENT_ARM_DISARM, 1) == m.MAV_RESULT_ACCEPTED
    assert command(link, m.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, nan, nan, nan, nan) == 0
    end_s = time.monotonic() + 30.0
    while link.recv_match(type="LOCAL_POSITION_NED", blocking=True, timeout=5).z > -2.3:
        assert time.monotonic() < end_s
    # another flight cannot have the ports
    answer = kittiwake_does("serve", "mavlink-drone", "--mavlink", "--out", tmp_path / "other")
    assert answer.status == 2
    assert "port 14580 of 127.0.0.1 cannot be opened" in answer.err
    assert command(link, m.MAV_CMD_NAV_LAND) == 0
    while link.motors_armed():
        assert time.monotonic() < end_s + 30.0
        link.recv_match(type="HEARTBEAT", blocking=True, timeout=5)
    server.terminate()
    server.wait(60)
    log = kw.Log.read(tmp_path / "flight")
    heights_m = log.column("hummingbird", "z_m")
    assert heights_m.max() == pytest.approx(2.54, abs=0.2)
    assert heights_m[-1] == pytest.approx(0.042, abs=0.02)
    assert any("commanded: takes off" in event.event for event in log.events)
