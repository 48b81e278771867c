"""Films and still pictures of a flight."""
