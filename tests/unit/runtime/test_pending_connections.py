"""Connections that are dropped when too many have not identified themselves."""

from kittiwake.runtime.pending_connections import PendingConnections


def test_no_connection_is_dropped_below_the_limit():
    strangers = PendingConnections(3)
    assert [strangers.add(one, "a") for one in range(3)] == [None] * 3
    strangers.discard(1)
    strangers.discard(1)
    assert strangers.add(3, "a") is None
    assert list(strangers) == [0, 2, 3]


def test_oldest_of_the_longest_queue_is_dropped():
    strangers = PendingConnections(3)
    for one, queue in (("honest", "port 2"), ("first", "port 1"), ("second", "port 1")):
        assert strangers.add(one, queue) is None
    assert strangers.add("third", "port 1") == "first"
    assert strangers.add("other", "port 3") == "second"
    # each holds one: the oldest of all
    assert strangers.add("more", "port 4") == "honest"


def test_a_flood_at_one_port_never_drops_a_connection_to_another():
    strangers = PendingConnections(8)
    strangers.add("honest", "port 2")
    given_way = [strangers.add(number, "port 1") for number in range(1000)]
    assert "honest" not in given_way
    assert len(list(strangers)) == 8
