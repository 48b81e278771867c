"""Components of the user's own in a scenario: plain Python, or JAX that is not registered.

An entry of a scenario's data that holds one is an ``OwnComponent`` (``entries``); those of files
are loaded by ``code_files``, where the caller allows it. ``builder`` makes components of vehicles
of them. A component in JAX is used as it is. An object in plain Python is called by a component of
``kittiwake.sim.plain_python``.
"""
