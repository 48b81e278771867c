"""Plumes: sources of substances in the air, and their spread."""
