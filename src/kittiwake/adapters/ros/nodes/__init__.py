"""Programs that are nodes themselves: ``python -m kittiwake.adapters.ros.nodes.NAME``."""
