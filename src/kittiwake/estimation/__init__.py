"""What a vehicle believes about its own motion."""

from kittiwake.core.registry import Entry, Registry

ESTIMATORS = Registry(
    "estimators",
    "estimator",
    {
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
