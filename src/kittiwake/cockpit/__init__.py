"""Cockpit: live and recorded flights in a browser."""
