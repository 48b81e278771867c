"""The world that vehicles share: its record, its processes, and what vehicles meet of it."""
