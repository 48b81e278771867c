"""Panels of the cockpit, one a file, each about the selected vehicle."""
