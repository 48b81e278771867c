"""Simulation of fleets, written against interfaces only; contains no concrete model."""
