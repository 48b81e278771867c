"""The clock that a live flight keeps to: its speed, pauses, single steps, and being late."""

from math import inf
from time import monotonic

import pytest

from kittiwake.runtime import clock
from kittiwake.runtime.clock import LATE_S, RealTimeClock


@pytest.fixture
def wall(monkeypatch):
    """A clock on the wall that is set by hand; whoever waits for it sees it go on."""

    class Wall:
        now_s = 50.0

    monkeypatch.setattr(clock, "monotonic", lambda: Wall.now_s)
    monkeypatch.setattr(clock, "MAX_WAIT_S", 1e-4)
    return Wall


@pytest.mark.parametrize("speed", [0.1, 1.0, 10.0])
def test_simulated_time_comes_at_its_speed(wall, speed):
    clock = RealTimeClock(speed)
    assert clock.wait(3.0)
    assert not clock.wait(3.5)
    wall.now_s += 0.49 / speed
    assert not clock.wait(3.5)
    wall.now_s += 0.02 / speed
    assert clock.wait(3.5)


def test_at_infinite_speed_nothing_waits(wall):
    clock = RealTimeClock(inf)
    assert all(clock.wait(float(time_s)) for time_s in range(1000))


def test_a_clock_waits_on_the_wall():
    clock = RealTimeClock(1.0)
    assert clock.wait(0.0)
    began_s = monotonic()
    while not clock.wait(0.03):
        pass
    assert 0.029 < monotonic() - began_s < 0.5


def test_while_it_is_paused_nothing_comes(wall):
    clock = RealTimeClock(1.0)
    clock.wait(0.0)
    clock.paused = True
    wall.now_s += 100.0
    assert not clock.wait(0.1)
    assert clock.paused


def test_a_pause_is_not_caught_up_with(wall):
    clock = RealTimeClock(1.0)
    clock.wait(0.0)
    clock.paused = True
    wall.now_s += 100.0
    clock.paused = False
    assert clock.wait(0.1)
    assert not clock.wait(0.2)


def test_each_step_lets_one_block_through(wall):
    clock = RealTimeClock(inf)
    clock.paused = True
    clock.step()
    assert clock.wait(0.0)
    assert not clock.wait(0.02)
    clock.step()
    clock.step()
    assert [clock.wait(0.04) for _ in range(3)] == [True, True, False]


def test_a_step_without_a_pause_has_no_effect(wall):
    clock = RealTimeClock(inf)
    clock.step()
    clock.paused = True
    assert not clock.wait(0.0)


def test_an_ended_clock_lets_all_blocks_through(wall):
    clock = RealTimeClock(0.1)
    clock.wait(0.0)
    clock.paused = True
    clock.end()
    assert clock.wait(1000.0)


def test_a_new_speed_counts_from_now(wall):
    clock = RealTimeClock(0.1)
    clock.wait(0.0)
    wall.now_s += 5.0
    clock.speed = 2.0
    assert clock.speed == 2.0
    assert clock.wait(0.5)
    assert not clock.wait(1.5)
    wall.now_s += 0.51
    assert clock.wait(1.5)


def test_a_little_late_is_caught_up_with(wall):
    clock = RealTimeClock(1.0)
    clock.wait(0.0)
    wall.now_s += 0.1 + 0.9 * LATE_S
    assert clock.wait(0.1)
    assert clock.wait(0.1 + 0.8 * LATE_S)


def test_much_too_late_is_left_behind(wall):
    clock = RealTimeClock(1.0)
    clock.wait(0.0)
    wall.now_s += 0.1 + 1.1 * LATE_S
    assert clock.wait(0.1)
    assert not clock.wait(0.2)
    wall.now_s += 0.1 + 1e-6
    assert clock.wait(0.2)


def test_a_clock_may_always_catch_up(wall):
    clock = RealTimeClock(1.0, late_s=inf)
    clock.wait(0.0)
    wall.now_s += 20.0
    assert clock.wait(0.1)
    assert clock.wait(19.9)
    assert not clock.wait(20.1)


def test_a_clock_may_never_catch_up(wall):
    clock = RealTimeClock(1.0, late_s=0.0)
    assert clock.left_s(0.0) == 0.0
    wall.now_s += 0.15
    assert clock.left_s(0.1) == pytest.approx(-0.05)
    assert clock.left_s(0.2) == pytest.approx(0.1)


def test_a_flight_that_begins_again_is_not_late(wall):
    clock = RealTimeClock(1.0)
    clock.wait(0.0)
    wall.now_s += 20.0
    clock.wait(20.0)
    assert clock.wait(0.0)
    assert not clock.wait(0.5)


def test_requested_steps_do_not_carry_over_to_the_next_flight():
    clock = RealTimeClock()
    clock.paused = True
    clock.step()
    clock.begin()
    assert clock.paused
    assert not clock.wait(0.0)
    clock.step()
    assert clock.wait(0.0)


def test_late_blocks_are_counted_and_those_beyond_their_period_missed(wall):
    clock = RealTimeClock(2.0)
    for step, late_s in enumerate([0.0, 0.001, 0.004, 0.06, 0.0]):
        # blocks of 0.1 s simulated time take 0.05 s of wall time
        wall.now_s = 50.0 + 0.05 * step + late_s
        assert clock.wait(0.1 * step)
    assert (clock.deadlines.count, clock.deadlines.missed) == (4, 1)
    assert clock.deadlines.percentile_s(0.5) == pytest.approx(0.001)
    assert clock.deadlines.as_dict() == {
        "deadlines": 4,
        "missed_deadlines": 1,
        "jitter_p99_ms": pytest.approx(60.0),
    }
    clock.begin()
    assert clock.deadlines.count == 0
    assert clock.deadlines.percentile_s(0.99) is None


def test_a_pause_is_no_missed_deadline(wall):
    clock = RealTimeClock(1.0)
    clock.wait(0.0)
    clock.paused = True
    wall.now_s += 100.0
    clock.step()
    assert clock.wait(0.1)
    clock.paused = False
    assert clock.wait(0.2)
    wall.now_s += 0.11
    assert clock.wait(0.3)
    assert (clock.deadlines.count, clock.deadlines.missed) == (1, 0)


def test_a_flight_as_fast_as_possible_has_no_deadlines(wall):
    clock = RealTimeClock(inf)
    assert all(clock.wait(float(time_s)) for time_s in range(10))
    assert clock.deadlines.count == 0
