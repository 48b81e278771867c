"""Rendering: looks of bodies as triangles, and their pictures without a window."""
