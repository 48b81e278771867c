"""Flights as they happen: paced by a clock, watched and recorded."""
