"""Analysis of flights: logs, their file formats, metrics and pictures."""
