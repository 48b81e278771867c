"""Readers of files in a scenario, such as meshes, orbits and robot descriptions."""
