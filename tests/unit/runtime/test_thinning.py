"""Thinned logs: the rows that are kept, and that no sample is missed between them."""

import numpy as np

from kittiwake.runtime.thinning import Thinning

COLUMNS = ("time_s", "sensor.imu.range_m", "sensor.imu.fresh", "sensor.gps.fresh", "status")
RATE_HZ = 480.0


def flight(steps=4800):
    """Return rows with numbered samples at 40 Hz and 1 Hz."""
    ticks = np.arange(steps)
    fresh = ticks % 12 == 0, ticks % 480 == 5
    return np.stack([ticks / RATE_HZ, ticks // 12, *fresh, 0.0 * ticks], axis=1)


def thinned(rows, every, block=500, events_s=()):
    """Return the kept rows of a flight in blocks."""
    thinning = Thinning(every, RATE_HZ, COLUMNS)
    blocks = np.split(rows, range(block, len(rows), block))
    kept = [
        thinning.thinned(part, set(events_s), ended=i == len(blocks) - 1)
        for i, part in enumerate(blocks)
    ]
    return np.concatenate(kept)


def test_every_sample_of_a_sensor_slower_than_the_log_is_new_in_one_row():
    rows = thinned(flight(), every=10)
    assert len(rows) == 480 + 1
    samples = rows[rows[:, 2] > 0.0, 1]
    np.testing.assert_array_equal(samples, np.arange(400))
    assert rows[:, 3].sum() == 10


def test_a_row_of_a_log_slower_than_the_sensor_is_new_whenever_one_has_come():
    rows = thinned(flight(), every=60)
    assert rows[:, 2].all()
    np.testing.assert_array_equal(rows[:-1, 1], np.arange(0, 400, 5))


def test_all_columns_but_fresh_are_those_of_the_whole_log():
    whole = flight()
    rows = thinned(whole, every=10, events_s=[7 / RATE_HZ])
    kept = np.isin(whole[:, 0], rows[:, 0])
    assert kept.sum() == len(rows) == 482
    untouched = [0, 1, 4]
    assert rows[:, untouched].tobytes() == whole[kept][:, untouched].tobytes()


def test_a_row_is_new_since_that_of_an_event():
    # the gps speaks at tick 5, the event is at tick 7, and the next row at tick 10
    rows = thinned(flight(20), every=10, events_s=[7 / RATE_HZ])
    np.testing.assert_allclose(rows[:, 0] * RATE_HZ, [0, 7, 10, 19])
    np.testing.assert_array_equal(rows[:, 3], [0, 1, 0, 0])


def test_the_size_of_a_block_changes_nothing():
    expected = thinned(flight(), every=10)
    for block in (1, 7, 4800):
        np.testing.assert_array_equal(thinned(flight(), every=10, block=block), expected)


def test_a_log_of_every_step_is_the_flight():
    rows = thinned(flight(100), every=1)
    np.testing.assert_array_equal(rows, flight(100))
