"""The time of GPS against dates at which the leap seconds between it and UTC are published."""

from datetime import UTC, datetime, timedelta

import pytest

from kittiwake.environment.satellites.gps_time import ahead_of_utc, utc_from_gps

# from IS-GPS-200 and the IERS bulletins
KNOWN = [
    (datetime(1980, 1, 6, tzinfo=UTC), 0),
    (datetime(1993, 7, 1, tzinfo=UTC), 9),
    (datetime(2010, 8, 31, 15, tzinfo=UTC), 15),
    (datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC), 17),
    (datetime(2017, 1, 1, tzinfo=UTC), 18),
    (datetime(2026, 6, 30, tzinfo=UTC), 18),
]


@pytest.mark.parametrize(("time_utc", "seconds"), KNOWN)
def test_clocks_of_gps_are_ahead_by_the_leap_seconds_since_1980(time_utc, seconds):
    assert ahead_of_utc(time_utc) == timedelta(seconds=seconds)


@pytest.mark.parametrize("time_utc", [time for time, _ in KNOWN])
def test_time_of_gps_leads_back_to_utc(time_utc):
    assert utc_from_gps(time_utc + ahead_of_utc(time_utc)) == time_utc


def test_seconds_before_a_leap_second_still_count_the_old_way():
    last = datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert utc_from_gps(last + timedelta(seconds=17)) == last
    assert utc_from_gps(last + timedelta(seconds=19)) == last + timedelta(seconds=1)
