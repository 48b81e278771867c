"""Plumes: where something comes from, and how it spreads."""
