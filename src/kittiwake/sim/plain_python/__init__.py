"""Components that call an object in plain Python, outside of the compiled program.

A ``PythonController``, ``PythonSensor``, ``PythonEstimator`` or ``PythonGuidance`` is stepped as
any component. A ``HostObject`` holds the object of a vehicle and the records of its flight;
``hosts`` has the functions of those of a whole fleet.
"""
