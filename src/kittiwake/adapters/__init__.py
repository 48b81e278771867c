"""Edges to other processes: what talks to the outside, each in a room of its own."""
