"""What a vehicle believes about its own motion."""

from kittiwake.core.registry import Registry, RegistryEntry

ESTIMATORS = Registry(
    "estimators",
    "estimator",
    {
        "altitude-fusion": RegistryEntry(
            "kittiwake.estimation.altitude_fusion:AltitudeFusion",
            "the height by a range finder, a barometer and the specific force, beside another one",
        ),
        "anchor-ekf": RegistryEntry(
            "kittiwake.estimation.anchor_ekf:AnchorEkf",
            "place and velocity by the distances of anchors, attitude by another estimator",
        ),
        "dead-reckoning": RegistryEntry(
            "kittiwake.estimation.dead_reckoning:DeadReckoning",
            "the inertial unit alone, integrated from the start",
        ),
        "ekf": RegistryEntry(
            "kittiwake.estimation.ekf:Ekf",
            "an error-state Kalman filter on inertial unit, satellites, barometer and magnetometer",
        ),
        "qrsim": RegistryEntry(
            "kittiwake.estimation.qrsim_estimate:QRSimEstimate",
            "what satellites, altimeter, orientation and inertial unit say, as it is",
        ),
        "noisy-truth": RegistryEntry(
            "kittiwake.estimation.noisy_truth:NoisyTruth", "the true motion with white noise on it"
        ),
        "truth": RegistryEntry(
            "kittiwake.estimation.truth:Truth", "the true motion, told without error"
        ),
    },
)

# what others are built upon
BASES = ESTIMATORS.without("altitude-fusion").without("anchor-ekf")
