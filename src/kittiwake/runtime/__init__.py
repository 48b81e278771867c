"""Flights as they happen: compiled, observed, recorded, or stepped by hand."""
