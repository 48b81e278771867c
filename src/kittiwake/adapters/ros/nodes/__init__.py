"""Programs that run as nodes: ``python -m kittiwake.adapters.ros.nodes.NAME``."""
