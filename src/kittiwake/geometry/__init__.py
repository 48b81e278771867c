"""Vectors, rotations, frames and geodesy."""
