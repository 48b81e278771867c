"""Estimators in plain Python."""

from dataclasses import fields
from typing import Any, ClassVar

import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.errors import OwnComponentError
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.measurements import LatestMeasurements
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.estimator import AbstractEstimator, EstimatorInputs
from kittiwake.pytree import Module
from kittiwake.sim.plain_python.host_object import HostObject
from kittiwake.sim.plain_python.python_component import (
    AbstractPythonComponent,
    HostState,
    OwnSetting,
    named_type,
)

# of the norm of an attitude
UNIT_TOLERANCE = 1e-3
ATTITUDE = "q_world_from_body"
AT_REST = Start().kinematics()


class PythonEstimator(AbstractPythonComponent, AbstractEstimator):
    """Estimator that calls one in plain Python."""

    noun: ClassVar[str] = "an estimator"
    interface: ClassVar[str] = "AbstractEstimator"

    @classmethod
    @override
    def of(
        cls, host: HostObject, setting: OwnSetting, dynamics: AbstractDynamics
    ) -> "PythonEstimator":
        del setting, dynamics
        initial = tuple(_kinematics_numbers(AT_REST).tolist())
        return named_type(PythonEstimator, host.title, ())(host, initial)

    @override
    def init(self, start: Kinematics, key: PRNGKeyArray) -> HostState:
        del start
        return HostState.of(key)

    @override
    def step(
        self, state: HostState, inputs: EstimatorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[HostState, Kinematics]:
        del dt_s, key
        return self.call(state, inputs.time_s, (inputs.measurements, inputs.fresh))

    @override
    def given(self, *arguments: Any) -> tuple[Any, ...]:
        measurements, fresh = arguments
        return (LatestMeasurements(measurements, fresh),)

    @override
    def numbers_of(self, returned: Any, held: np.ndarray) -> np.ndarray:
        if not isinstance(returned, Kinematics):
            message = (
                f"update returned a {type(returned).__name__}; must be a kw.Kinematics, such as "
                "kw.Kinematics.of(position_world_m=[0, 0, 2], velocity_world_mps=[0, 0, 0])"
            )
            raise OwnComponentError(message)
        del held
        return _kinematics_numbers(returned)

    @override
    def output_of(self, numbers: Array) -> Kinematics:
        return jax.tree.structure(AT_REST).unflatten([*numbers])


def _kinematics_numbers(motion: Kinematics) -> np.ndarray:
    """Return the numbers of a motion, field by field in order.

    Raises:
        OwnComponentError: if a field has another size or is not finite, or if the attitude is not a
            unit quaternion.
    """
    numbers = {field.name: _flat(getattr(motion, field.name)) for field in fields(Kinematics)}
    for name, given in numbers.items():
        # checked for each field: a sum would not show that two of them are wrong
        count = len(_flat(getattr(AT_REST, name)))
        if len(given) != count:
            message = f"update returned {given.tolist()} as {name}; must be {count} numbers"
            raise OwnComponentError(message)
        if not np.isfinite(given).all():
            message = f"update returned {given.tolist()} as {name}; must be finite numbers"
            raise OwnComponentError(message)
    norm = float(np.linalg.norm(numbers[ATTITUDE]))
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        message = (
            f"update returned an attitude {ATTITUDE} with the norm {norm:.6g}; a rotation is a "
            "unit quaternion (w, x, y, z)"
        )
        raise OwnComponentError(message)
    return np.concatenate([*numbers.values()])


def _flat(value: Any) -> np.ndarray:
    leaves = jax.tree.leaves(value) if isinstance(value, Module) else value
    return np.asarray(leaves, float).ravel()
