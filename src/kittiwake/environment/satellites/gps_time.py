"""GPS time, which has no leap seconds.

It equaled UTC in January 1980 and is ahead by one more second after each leap second since (IERS
Bulletin C). None has been announced after that of 2016.
"""

from datetime import UTC, datetime, timedelta

# first day after each leap second
AFTER_LEAP_SECONDS = tuple(
    datetime(year, month, 1, tzinfo=UTC)
    for year, month in (
        (1981, 7),
        (1982, 7),
        (1983, 7),
        (1985, 7),
        (1988, 1),
        (1990, 1),
        (1991, 1),
        (1992, 7),
        (1993, 7),
        (1994, 7),
        (1996, 1),
        (1997, 7),
        (1999, 1),
        (2006, 1),
        (2009, 1),
        (2012, 7),
        (2015, 7),
        (2017, 1),
    )
)


def ahead_of_utc(time_utc: datetime) -> timedelta:
    """Return the offset of GPS time from UTC."""
    return timedelta(seconds=sum(time_utc >= day for day in AFTER_LEAP_SECONDS))


def utc_from_gps(time_gps: datetime) -> datetime:
    """Return the time in UTC of a GPS time."""
    seconds = sum(
        time_gps >= day + timedelta(seconds=i) for i, day in enumerate(AFTER_LEAP_SECONDS, start=1)
    )
    return time_gps - timedelta(seconds=seconds)
