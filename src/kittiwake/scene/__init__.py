"""Scenes: what a flight looks like at a time, from a log or live."""
