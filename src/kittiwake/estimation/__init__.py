"""What a vehicle believes about its own motion."""

from kittiwake.core.registry import Entry, Registry

ESTIMATORS = Registry(
    "estimators",
    "estimator",
    {"truth": Entry("kittiwake.estimation.truth:Truth", "the true motion, told without error")},
)
