"""Navigation satellites: where they are, and what is wrong with the distances to them."""
