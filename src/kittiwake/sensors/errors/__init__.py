"""Errors between a sensor and its reader; for any sensor, in any order."""
