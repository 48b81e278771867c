"""Panels of the cockpit, one per file, each for the selected vehicle."""
