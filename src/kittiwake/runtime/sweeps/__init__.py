"""Sweeps: many flights of one scenario with other values and seeds, and their results."""
