"""Obstacle avoidance with range sensors: modification of commands."""
