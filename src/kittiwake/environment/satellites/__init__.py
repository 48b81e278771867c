"""Navigation satellites: their orbits, and the errors of the distances to them."""
