"""Calls of an object in plain Python: repeated ones, and those of another flight."""

import numpy as np
import pytest

from kittiwake.core.errors import OwnComponentError
from kittiwake.core.kinematics import Start
from kittiwake.sim.plain_python.host_object import HostCall, HostObject

OTHER = "is that of another time or flight"


class Counting:
    """Counts its calls."""

    count = 0

    def update(self, t_s, height_m):
        self.count += 1
        return self.count

    def state(self):
        return self.count

    def restore(self, state):
        self.count = state


def made():
    return HostObject(Counting(), "Counting", "h", {}, Start().kinematics())


def called(host, number, height_m=0.0, seed=1):
    numbers = np.array([0.1 * number, height_m])
    call = HostCall(number, (0, seed), float(numbers[0]), (height_m,), numbers)
    return host.call(call, np.zeros(1), lambda returned, held: np.array([returned])).tolist()


def test_a_call_is_repeated_without_the_object():
    host = made()
    assert [called(host, number) for number in (0, 0, 1, 1, 2)] == [[1], [1], [2], [2], [3]]
    # as another program computes it
    assert called(host, 2, height_m=1e-14) == [3]


@pytest.mark.parametrize("change", [{"height_m": 0.1}, {"seed": 2}])
def test_the_last_call_of_another_flight_is_refused(change):
    host = made()
    called(host, 0)
    called(host, 1)
    with pytest.raises(OwnComponentError, match=OTHER):
        called(host, 1, **change)


def test_the_next_call_of_another_seed_is_refused():
    host = made()
    called(host, 0)
    with pytest.raises(OwnComponentError, match=OTHER):
        called(host, 1, seed=2)


def test_a_first_call_with_other_numbers_begins_anew():
    host = made()
    assert [called(host, 0), called(host, 0, height_m=1.0), called(host, 1)] == [[1], [1], [2]]


def test_a_restored_object_knows_its_last_call():
    host, other = made(), made()
    called(host, 0)
    other.restore(host.state())
    assert [called(other, 0), called(other, 1)] == [[1], [2]]
    other.restore(host.state())
    with pytest.raises(OwnComponentError, match=OTHER):
        called(other, 1, seed=2)


def test_a_first_call_that_failed_fails_again():
    host = made()
    host.original.update = None
    host.watched = True
    for _ in range(2):
        host.failure = None
        called(host, 0)
        assert host.failure is not None
