"""Identification of a vehicle's parameters from recorded flights."""
