"""Landing on the ground and on moving decks."""
