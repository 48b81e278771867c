"""Gains that can be changed while a drone flies."""

from typing import NamedTuple


class Gain(NamedTuple):
    """A gain as users see it: what it is now, from where to where it can go, and what it is."""

    name: str
    value: float
    low: float
    high: float
    said: str
