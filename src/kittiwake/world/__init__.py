"""World shared by all vehicles: its parameters, its processes, and its local effects."""
