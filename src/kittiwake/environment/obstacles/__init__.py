"""Things that stand in the world, for rays to meet."""
