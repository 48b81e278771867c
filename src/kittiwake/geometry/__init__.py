"""Vectors, rotations, frames and places on the Earth: mathematics that knows no vehicle."""
