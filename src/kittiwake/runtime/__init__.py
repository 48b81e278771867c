"""Flights as they happen: compiled, watched, recorded, or stepped by hand."""
