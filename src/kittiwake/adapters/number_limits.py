"""Largest numbers that are accepted from other programs, beyond all that can be flown."""

LARGEST_POSITION_M = 1e7
LARGEST_VELOCITY_MPS = 1e3
# includes impacts: 10 m/s lost within 0.1 ms
LARGEST_ACCELERATION_MPS2 = 1e5
LARGEST_ANGLE_RAD = 1e6
LARGEST_ANGULAR_RATE_RADPS = 1e3
LARGEST_ANGULAR_ACCELERATION_RADPS2 = 1e6
LARGEST_FORCE_N = 1e6
LARGEST_TORQUE_NM = 1e6
LARGEST_TIME_S = 1e12
