"""Flights that reproduce published results."""
