"""Smooth trajectories: how they are computed and followed."""
