"""Rendering: meshes of bodies, and offscreen pictures of them."""
