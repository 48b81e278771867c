"""Estimators of a vehicle's own motion."""

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace

ESTIMATORS = Registry(
    "estimators",
    "estimator",
    {
        "altitude-fusion": RegistryEntry(
            "kittiwake.estimation.altitude_fusion:AltitudeFusion",
            "height from range finder, barometer and specific force; rest from a base estimator",
        ),
        "anchor-ekf": RegistryEntry(
            "kittiwake.estimation.anchor_ekf:AnchorEkf",
            "position and velocity from anchor ranges, attitude from another estimator",
        ),
        "dead-reckoning": RegistryEntry(
            "kittiwake.estimation.dead_reckoning:DeadReckoning",
            "inertial unit alone, integrated from the start",
        ),
        "ekf": RegistryEntry(
            "kittiwake.estimation.ekf:Ekf",
            "error-state Kalman filter of inertial unit, satellites, barometer and magnetometer",
        ),
        "qrsim": RegistryEntry(
            "kittiwake.estimation.qrsim_estimate:QRSimEstimate",
            "unfiltered readings of satellites, altimeter, orientation and inertial unit",
        ),
        "noisy-truth": RegistryEntry(
            "kittiwake.estimation.noisy_truth:NoisyTruth", "true motion with white noise"
        ),
        "truth": RegistryEntry("kittiwake.estimation.truth:Truth", "true motion without error"),
    },
    entry_keys=("rate_hz",),
)

# estimators that can be the base of another
BASES = ESTIMATORS.without("altitude-fusion").without("anchor-ekf")

__getattr__, __dir__ = namespace(__name__, ESTIMATORS)
