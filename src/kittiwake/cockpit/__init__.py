"""The cockpit: live and recorded flights in a browser."""
