"""Mapping from actions, numbers from -1 to 1, to commands of one type."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.columns import column_names, from_columns, to_columns
from kittiwake.core.commands import Command, zero_command
from kittiwake.geometry.scalar import Real


@dataclass(frozen=True)
class Span:
    """Range of a number of a command: ``offset + scale * action``, for actions from -1 to 1."""

    offset: float
    scale: float

    @classmethod
    def between(cls, low: Real, high: Real) -> "Span":
        """Return the range from the lowest to the highest value."""
        return cls(0.5 * (float(low) + float(high)), 0.5 * (float(high) - float(low)))


@dataclass(frozen=True)
class ActionMapping:
    """Mapping from actions to commands of one type.

    Attributes:
        command_type: type of the commands.
        spans: ranges of the numbers that an agent chooses, by column, in the order of its actions.
        fixed: constant numbers, by column; zero by default.
        reported: names of further numbers, from -1 to 1, that an agent reports to its task.
    """

    command_type: type
    spans: Mapping[str, Span]
    fixed: Mapping[str, float] = field(default_factory=dict)
    reported: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that the command type has all columns."""
        known = column_names(self.command_type, len(self.spans) + len(self.fixed))
        for name in (*self.spans, *self.fixed):
            if name not in known:
                command = self.command_type.__name__
                message = f"{command} has no column '{name}'. Allowed: {', '.join(known)}"
                raise ValueError(message)

    def command(self, action: Float[Array, " numbers"]) -> Command:
        """Return the command of an action; numbers beyond -1 and 1 are clipped."""
        numbers = to_columns(zero_command(self.command_type)) | dict(self.fixed)
        clipped = jnp.clip(action, -1.0, 1.0)
        for index, (name, span) in enumerate(self.spans.items()):
            numbers[name] = span.offset + span.scale * clipped[index]
        return from_columns(self.command_type, numbers)

    def action(
        self, values: Mapping[str, Real], reported: Float[Array, " reported"] | None = None
    ) -> Float[Array, " numbers"]:
        """Return the action for these numbers of a command, by column, and reported numbers.

        Columns without a value are at rest.
        """
        dtype = jnp.result_type(float)
        chosen = [
            (jnp.asarray(values[name], dtype) - span.offset) / span.scale
            if name in values
            else jnp.zeros((), dtype)
            for name, span in self.spans.items()
        ]
        further = jnp.zeros(len(self.reported), dtype) if reported is None else reported
        return jnp.clip(jnp.concatenate([jnp.stack(chosen), further]), -1.0, 1.0)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers in an agent's action."""
        return (*self.spans, *self.reported)
