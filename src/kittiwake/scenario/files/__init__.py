"""Readers of the files that a scenario names, such as meshes, orbits and robot descriptions."""
