"""Runs whatever it is given: knows interfaces, never a concrete model."""
