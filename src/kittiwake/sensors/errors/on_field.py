"""Errors that act on one field of a measurement, or on all of them."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import ClassVar, Generic

import jax
from jaxtyping import Array, ArrayLike
from typing_extensions import override

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.component import State
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.instrument import AbstractSensorError
from kittiwake.pytree import field


class AbstractErrorOnField(AbstractSensorError[State], Generic[State]):
    """Error on one ``field`` of a measurement, or on all; derived fields are updated.

    Unless ``of_any_kind``, its parameters are in the unit of the values that it changes: it accepts
    fields of real numbers only, and without a ``field`` only fields of one unit.

    Attributes:
        field: field of the measurement that it changes; all by default.
    """

    of_any_kind: ClassVar[bool] = False
    advice_on_keys: ClassVar[str] = "An error is in the unit of its field and acts on all its axes."

    field: str | None = field(static=True, default=None, kw_only=True)

    @override
    def check(self, measurement: type[AbstractMeasurement], period_s: Real) -> None:
        del period_s
        allowed = list(self._fields(measurement))
        if not allowed:
            message = (
                "this sensor measures no real numbers, which this error requires; write stuck, "
                "latency or dropout"
            )
            raise ScenarioError(message)
        if self.field is not None and self.field not in allowed:
            known = did_you_mean(self.field, allowed)
            message = f"field: {self.field} {_reason(self.field, measurement)}. {known}"
            raise ScenarioError(message)
        units = set(measurement.quantities().values())
        if self.field is None and not self.of_any_kind and len(units) > 1:
            message = (
                "field is missing: this sensor measures several kinds of quantities, each in its "
                f"own unit; write one of {', '.join(allowed)}"
            )
            raise ScenarioError(message)

    def numbers(self, measurement: AbstractMeasurement) -> list[ArrayTree]:
        """Return the values that it acts on."""
        return jax.tree.leaves(self._parts(measurement))

    def changed(
        self, measurement: AbstractMeasurement, change: Callable[[int, Array], ArrayLike]
    ) -> AbstractMeasurement:
        """Return the measurement with ``change(i, x)`` for the i-th value x that it acts on."""
        numbers, form = jax.tree.flatten(self._parts(measurement))
        after = jax.tree.unflatten(form, [change(i, x) for i, x in enumerate(numbers)])
        names = self._acted_on(type(measurement))
        return replace(measurement, **dict(zip(names, after, strict=True))).consistent()

    def _parts(self, measurement: AbstractMeasurement) -> tuple[ArrayTree, ...]:
        return tuple(getattr(measurement, name) for name in self._acted_on(type(measurement)))

    def _acted_on(self, measurement: type[AbstractMeasurement]) -> tuple[str, ...]:
        return self._fields(measurement) if self.field is None else (self.field,)

    def _fields(self, measurement: type[AbstractMeasurement]) -> tuple[str, ...]:
        """Return the allowed values of ``field``."""
        return measurement.measured() if self.of_any_kind else tuple(measurement.quantities())


def _reason(name: str, measurement: type[AbstractMeasurement]) -> str:
    if name not in [own.name for own in fields(measurement)]:
        return "is not measured"
    if name in measurement.derived:
        return "follows from what is measured"
    return "holds no real numbers"
