"""A process that guides the members of a flock over sockets, and the client that talks to it."""
