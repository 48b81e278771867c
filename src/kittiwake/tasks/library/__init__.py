"""Learning tasks, one per module, and their shared parts."""
