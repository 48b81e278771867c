"""When a master of ROS 1 counts as dead, by answers that come, come late, or are refused."""

from threading import Event
from types import SimpleNamespace

import pytest

from kittiwake.adapters.ros.ros1 import master as master_module
from kittiwake.adapters.ros.ros1.master import LATE_MISSES, MasterWatch


class Node:
    """Keeps what is said; leaves once all answers have been heard."""

    name = "/kittiwake"

    def __init__(self):
        self.left, self.said = Event(), []

    def error(self, words):
        self.said.append(words)

    warn = error


def watched(monkeypatch, answers, *, waits=False):
    """What a node says of a master that answers so: by its process, None late, False refused."""
    graph = SimpleNamespace(get_master_uri=lambda: "http://127.0.0.1:1", MasterException=OSError)
    monkeypatch.setattr(master_module, "library", lambda _: graph)
    monkeypatch.setattr(master_module, "LOOKS_S", 0.001)
    node, left = Node(), iter(answers)
    registered = []

    def answer(_):
        said = next(left, "over")
        if said == "over":
            node.left.set()
            said = answers[-1]
        return SimpleNamespace(pid=said or None, refused=said is False)

    monkeypatch.setattr(MasterWatch, "_answers", answer)
    monkeypatch.setattr(MasterWatch, "_register", lambda _: registered.append(True))
    MasterWatch(node, waits=waits).run()
    return node.said, len(registered)


@pytest.mark.parametrize(
    "answers",
    [[7, 7, 7], [None, 7, 7], [7, None, None, 7], [7, False, 7, False, 7]],
    ids=["answers", "first late", "two late", "refuses one in two"],
)
def test_a_master_that_answers_late_is_not_dead(monkeypatch, answers):
    assert watched(monkeypatch, answers) == ([], 0)


@pytest.mark.parametrize(
    "answers",
    [[7, False, False], [7, 8, 8], [7, *[None] * LATE_MISSES]],
    ids=["refuses", "another one", "never answers"],
)
def test_a_master_that_is_gone_is_told_once_and_the_node_leaves(monkeypatch, answers):
    said, registered = watched(monkeypatch, answers)
    assert len(said) == 1
    assert "has died; the flight ends" in said[0]
    assert registered == 0


def test_who_waits_registers_at_the_next_one(monkeypatch):
    said, registered = watched(monkeypatch, [7, False, False, False, 9, 9], waits=True)
    assert registered == 1
    assert [("has died" in one, "registered" in one) for one in said] == [
        (True, False),
        (False, True),
    ]
