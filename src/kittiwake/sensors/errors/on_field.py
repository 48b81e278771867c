"""Errors that act on the numbers of one field of a measurement, or on all of them."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.instrument import AbstractSensorError
from kittiwake.geometry.scalar import Real


class AbstractErrorOnField(AbstractSensorError):
    """Changes ``field``, or every number if that is None; flags and counts pass as they are."""

    field: eqx.AbstractVar[str | None]

    def check(self, measurement: type, period_s: Real) -> None:
        """Refuses a field that is not measured."""
        del period_s
        names = [own.name for own in fields(measurement)]
        if self.field is not None and self.field not in names:
            message = f"field: {self.field} is not measured. {did_you_mean(self.field, names)}"
            raise ScenarioError(message)

    def numbers(self, measurement: Any) -> list[Real]:
        """The numbers that it acts on."""
        return [leaf for leaf in jax.tree.leaves(self._part(measurement)) if _is_number(leaf)]

    def changed(self, measurement: Any, change: Callable[[int, Real], Real]) -> Any:
        """The measurement with the i-th number x of those that it acts on as ``change(i, x)``."""
        places = iter(range(len(self.numbers(measurement))))
        part = jax.tree.map(
            lambda leaf: change(next(places), leaf) if _is_number(leaf) else leaf,
            self._part(measurement),
        )
        return part if self.field is None else replace(measurement, **{self.field: part})

    def _part(self, measurement: Any) -> Any:
        return measurement if self.field is None else getattr(measurement, self.field)


def _is_number(leaf: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(leaf), jnp.floating)
