"""Smooth trajectories: computation and following."""
