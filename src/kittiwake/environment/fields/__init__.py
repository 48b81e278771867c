"""Scalar fields in the water, by position."""
