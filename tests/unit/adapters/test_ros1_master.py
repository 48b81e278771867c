"""Detection of a dead ROS 1 master, by responses that come, come late, or are refused."""

from threading import Event
from types import SimpleNamespace

import pytest

from kittiwake.adapters.ros.ros1 import master as master_module
from kittiwake.adapters.ros.ros1.master import MAX_TIMEOUTS, MasterMonitor


class Node:
    """Fake node that records log messages."""

    name = "/kittiwake"

    def __init__(self):
        self.stopped, self.logged = Event(), []

    def error(self, text):
        self.logged.append(text)

    warn = error


def monitor(monkeypatch, responses, *, reconnect=False):
    """Return the log messages and number of registrations for a master with these responses.

    A response is the master's process, None for a timeout, or False for a refused connection.
    """
    graph = SimpleNamespace(get_master_uri=lambda: "http://127.0.0.1:1", MasterException=OSError)
    monkeypatch.setattr(master_module, "library", lambda _: graph)
    monkeypatch.setattr(master_module, "CHECK_PERIOD_S", 0.001)
    node, remaining = Node(), iter(responses)
    registered = []

    def probe(_):
        response = next(remaining, "over")
        if response == "over":
            node.stopped.set()
            response = responses[-1]
        return SimpleNamespace(pid=response or None, refused=response is False)

    monkeypatch.setattr(MasterMonitor, "_probe", probe)
    monkeypatch.setattr(MasterMonitor, "_register", lambda _: registered.append(True))
    MasterMonitor(node, reconnect=reconnect).run()
    return node.logged, len(registered)


@pytest.mark.parametrize(
    "responses",
    [[7, 7, 7], [None, 7, 7], [7, None, None, 7], [7, False, 7, False, 7]],
    ids=["responds", "first late", "two late", "refuses one in two"],
)
def test_late_response_is_not_a_dead_master(monkeypatch, responses):
    assert monitor(monkeypatch, responses) == ([], 0)


@pytest.mark.parametrize(
    "responses",
    [[7, False, False], [7, 8, 8], [7, *[None] * MAX_TIMEOUTS]],
    ids=["refuses", "another one", "never responds"],
)
def test_loss_of_the_master_is_logged_once_and_stops_the_node(monkeypatch, responses):
    logged, registered = monitor(monkeypatch, responses)
    assert len(logged) == 1
    assert "has died; the flight ends" in logged[0]
    assert registered == 0


def test_reconnecting_node_registers_at_the_next_master(monkeypatch):
    logged, registered = monitor(monkeypatch, [7, False, False, False, 9, 9], reconnect=True)
    assert registered == 1
    assert [("has died" in one, "registered" in one) for one in logged] == [
        (True, False),
        (False, True),
    ]
