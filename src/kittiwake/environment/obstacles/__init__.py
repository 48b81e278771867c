"""Obstacles in the world, for rays and collisions."""
