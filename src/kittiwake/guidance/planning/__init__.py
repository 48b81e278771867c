"""Paths around obstacles and over water, computed before the flight."""
