"""Scenes: three-dimensional views of flights, recorded or live."""
