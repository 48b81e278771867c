"""On which rung of the ladder agents act, and how numbers from -1 to 1 become a signal there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.columns import column_names, from_columns, to_columns
from kittiwake.core.commands import zero_command
from kittiwake.geometry.scalar import Real


@dataclass(frozen=True)
class Span:
    """A number of a signal: its value for an action of 0, and how far 1 and -1 are from it."""

    rest: float
    reach: float

    @classmethod
    def between(cls, low: Real, high: Real) -> "Span":
        """From the lowest to the highest value."""
        return cls(0.5 * (float(low) + float(high)), 0.5 * (float(high) - float(low)))


@dataclass(frozen=True)
class ActionMapping:
    """Signals of one kind.

    Attributes:
        kind: of the signals.
        spans: of the numbers that an agent chooses, by column, in the order of its actions.
        fixed: the numbers that stay, by column; zero where nothing is said.
        told: names of further numbers, from -1 to 1, that an agent tells its task.
    """

    kind: type
    spans: Mapping[str, Span]
    fixed: Mapping[str, float] = field(default_factory=dict)
    reports: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuses columns that the signal does not have."""
        known = column_names(self.kind)
        for name in (*self.spans, *self.fixed):
            if name not in known:
                message = f"{self.kind.__name__} has no {name}; it has {', '.join(known)}"
                raise ValueError(message)

    def command(self, action: Float[Array, " numbers"]) -> Any:
        """The signal of an action; beyond -1 and 1 it does not go."""
        numbers = to_columns(zero_command(self.kind)) | dict(self.fixed)
        clipped = jnp.clip(action, -1.0, 1.0)
        for place, (name, span) in enumerate(self.spans.items()):
            numbers[name] = span.rest + span.reach * clipped[place]
        return from_columns(self.kind, numbers)

    def action(
        self, values: Mapping[str, Real], told: Float[Array, " told"] | None = None
    ) -> Float[Array, " numbers"]:
        """The action that asks for these numbers, by column, and tells what is told.

        It is at rest where nothing is said.
        """
        dtype = jnp.result_type(float)
        asked = [
            (jnp.asarray(values[name], dtype) - span.rest) / span.reach
            if name in values
            else jnp.zeros((), dtype)
            for name, span in self.spans.items()
        ]
        said = jnp.zeros(len(self.reports), dtype) if told is None else told
        return jnp.clip(jnp.concatenate([jnp.stack(asked), said]), -1.0, 1.0)

    @property
    def names(self) -> tuple[str, ...]:
        """What an agent's action consists of."""
        return (*self.spans, *self.reports)
