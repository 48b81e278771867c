"""What a vehicle believes about its own motion."""

from kittiwake.core.registry import Entry, Registry

ESTIMATORS = Registry(
    "estimators",
    "estimator",
    {
        "altitude-fusion": Entry(
            "kittiwake.estimation.altitude_fusion:AltitudeFusion",
            "the height by a range finder, a barometer and the specific force, beside another one",
        ),
        "anchor-ekf": Entry(
            "kittiwake.estimation.anchor_ekf:AnchorEkf",
            "place and velocity by the distances of anchors, attitude by another estimator",
        ),
        "dead-reckoning": Entry(
            "kittiwake.estimation.dead_reckoning:DeadReckoning",
            "the inertial unit alone, integrated from the start",
        ),
        "ekf": Entry(
            "kittiwake.estimation.ekf:Ekf",
            "an error-state Kalman filter on inertial unit, satellites, barometer and magnetometer",
        ),
        "qrsim": Entry(
            "kittiwake.estimation.qrsim_estimate:QRSimEstimate",
            "what satellites, altimeter, orientation and inertial unit say, as it is",
        ),
        "noisy-truth": Entry(
            "kittiwake.estimation.noisy_truth:NoisyTruth", "the true motion with white noise on it"
        ),
        "truth": Entry("kittiwake.estimation.truth:Truth", "the true motion, told without error"),
    },
)

# what others are built upon
BASES = ESTIMATORS.without("altitude-fusion").without("anchor-ekf")
