"""Linear model of a vehicle: matrices with names and units, poles and step responses.

    continuous   x' = A x + B u                 y = C x + D u
    sampled      x[k+1] = A x[k] + B u[k]       y[k] = C x[k] + D u[k]

x, u and y are deviations from the operating point. A step response is that of the output to a
unit step of one input, exact at its times. Its metrics are those of Ogata (2010), "Modern Control
Engineering", section 5.3, relative to the final value y = (D - C A^-1 B) u, or its sampled form.
"""

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

import numpy as np
from typing_extensions import override

from kittiwake.analysis.state_space import (
    SLOWEST_PER_S,
    Matrix,
    NamedSignal,
    Poles,
    Series,
    continuous,
    rates_per_s,
    reached_states,
    sampled,
)
from kittiwake.analysis.step_response import StepResponse
from kittiwake.core.arguments import ArgumentRule, checked_arguments
from kittiwake.core.errors import KittiwakeError, nearest
from kittiwake.core.extras import import_optional
from kittiwake.core.html import fact_table, heading
from kittiwake.core.units import UNIT_SYMBOLS

EXTRA = "control"
UNITS = UNIT_SYMBOLS | {
    "nms": "N m s",
    "npv": "N/V",
    "radps2": "rad/s²",
    "radps3": "rad/s³",
}
# last words of a name that follow its unit
AXES = ("x", "y", "z")
# samples of a step response, and its length in time constants of the slowest pole
SAMPLES, TIME_CONSTANTS = 1000, 7.0
# length without a stable pole that limits it
DEFAULT_S = 10.0
MOST_SAMPLES = 1_000_000


def _is_signal(value: Any) -> bool:
    return isinstance(value, str | NamedSignal)


SIGNAL = ArgumentRule(
    _is_signal,
    "a name, or one of the model's signals, such as model.inputs[0]",
    error=KittiwakeError,
)
SIGNALS = ArgumentRule(
    lambda value: (
        isinstance(value, Collection) and not _is_signal(value) and all(map(_is_signal, value))
    ),
    "several names, or signals of the model, such as model.states[:6]",
    lambda value: f"[{str(value)!r}]" if isinstance(value, str) else "",
    KittiwakeError,
)
OTHERS = ArgumentRule(
    lambda value: value in ("held", "steady"), "'held' or 'steady'", error=KittiwakeError
)


def signals(names: Sequence[str]) -> tuple[NamedSignal, ...]:
    """Return names with the units in which they end."""
    return tuple(NamedSignal(name, UNITS.get(name.rpartition("_")[2], "")) for name in names)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Linear model about an operating point.

    Attributes:
        A: the effect of states on their rates, or on the next states.
        B: the effect of inputs on rates, or on the next states.
        C: the effect of states on outputs.
        D: the effect of inputs on outputs.
        states: the states.
        inputs: the inputs.
        outputs: the outputs.
        period_s: the sampling period; None for a continuous model.
        drift: rates at the operating point, or changes over a period; zero in a steady state.
        operating_point: the values of inputs and outputs from which the model deviates.
        left_out: states of the vehicle that are not states of the model, with the reason.
    """

    A: Matrix = field(repr=False)
    B: Matrix = field(repr=False)
    C: Matrix = field(repr=False)
    D: Matrix = field(repr=False)
    states: tuple[NamedSignal, ...]
    inputs: tuple[NamedSignal, ...]
    outputs: tuple[NamedSignal, ...]
    period_s: float | None = None
    drift: Mapping[str, float] = field(default_factory=dict, repr=False)
    operating_point: Mapping[str, float] = field(default_factory=dict, repr=False)
    left_out: Mapping[str, str] = field(default_factory=dict, repr=False)

    @override
    def __repr__(self) -> str:
        kind = "continuous" if self.period_s is None else f"sampled each {self.period_s:g} s"
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<LinearModel: {kind}, {sizes}>"

    def _repr_html_(self) -> str:
        kind = "continuous" if self.period_s is None else f"sampled each {self.period_s:g} s"
        facts = {
            "states": _listed(self.states),
            "inputs": _listed(self.inputs),
            "outputs": _listed(self.outputs),
            "left out": ", ".join(f"{name}: {why}" for name, why in self.left_out.items()),
        }
        return heading("LinearModel", kind) + fact_table(facts)

    def __iter__(self) -> Iterator[Matrix]:
        """Yield A, B, C and D, as for ``A, B, C, D = model``."""
        yield from (self.A, self.B, self.C, self.D)

    def poles(self) -> Poles:
        """Return the eigenvalues of A, the slowest first: in rad/s, or of z if sampled."""
        poles = np.linalg.eigvals(self.A).astype(np.complex128)
        slowness = poles.real if self.period_s is None else np.abs(poles)
        return poles[np.lexsort((poles.imag, -slowness))]

    def continuous_poles(self) -> Poles:
        """Return the poles in rad/s; those of a sampled model by s = ln(z) / T.

        A pole at z = 0, which is a pure delay, is at minus infinity.
        """
        return continuous(self.poles(), self.period_s)

    @checked_arguments("part", states=SIGNALS, inputs=SIGNALS, outputs=SIGNALS, others=OTHERS)
    def part(
        self,
        *,
        states: Sequence[str | NamedSignal] | None = None,
        inputs: Sequence[str | NamedSignal] | None = None,
        outputs: Sequence[str | NamedSignal] | None = None,
        others: Literal["held", "steady"] = "held",
    ) -> "LinearModel":
        """Return the model of some states, inputs and outputs.

        Args:
            states: the states, or their names; all by default.
            inputs: the inputs.
            outputs: the outputs.
            others: what the other states do. ``held`` keeps them at the operating point. ``steady``
                lets them follow at once, which keeps the steady gains: x2' = 0 gives
                x2 = -A22^-1 (A21 x1 + B2 u).

        Raises:
            KittiwakeError: for a name that the model does not have, and for other states without a
                steady state.
        """
        x = _indices(self.states, states, "state")
        u = _indices(self.inputs, inputs, "input")
        y = _indices(self.outputs, outputs, "output")
        rest = [i for i in range(len(self.states)) if i not in x]
        a, b, c, d = (
            self.A[np.ix_(x, x)],
            self.B[np.ix_(x, u)],
            self.C[np.ix_(y, x)],
            self.D[np.ix_(y, u)],
        )
        if others == "steady":
            follows = self._steady(rest, np.hstack([self.A[:, x], self.B[:, u]]), self.C[y])
            of_states, of_inputs = follows[:, : len(x)], follows[:, len(x) :]
            into, seen = self.A[np.ix_(x, rest)], self.C[np.ix_(y, rest)]
            a, b = a + into @ of_states, b + into @ of_inputs
            c, d = c + seen @ of_states, d + seen @ of_inputs
        else:
            self._warn_of_lost_inputs(x, u, (b, d))
        reason = "held constant" if others == "held" else "in its steady state"
        return LinearModel(
            A=a,
            B=b,
            C=c,
            D=d,
            states=tuple(self.states[i] for i in x),
            inputs=tuple(self.inputs[i] for i in u),
            outputs=tuple(self.outputs[i] for i in y),
            period_s=self.period_s,
            drift={self.states[i].name: self.drift.get(self.states[i].name, 0.0) for i in x},
            operating_point=self.operating_point,
            left_out={**self.left_out, **{self.states[i].name: reason for i in rest}},
        )

    def _steady(self, rest: Sequence[int], drive: Matrix, seen: Matrix) -> Matrix:
        """Return the effect of what drives states on their steady values, a row for each of them.

        A state that nothing drives, or whose value has no effect, needs no steady value.

        Raises:
            KittiwakeError: if there is none, as of an integral.
        """
        steady = np.zeros((len(rest), drive.shape[1]))
        a, driven = self.A[np.ix_(rest, rest)], drive[rest]
        kept = [i for i in range(len(self.states)) if i not in rest]
        effects = np.vstack([self.A[np.ix_(kept, rest)], seen[:, rest]])
        own = np.flatnonzero(reached_states(a, driven) & reached_states(a.T, effects.T))
        a = a[np.ix_(own, own)]
        if (np.abs(rates_per_s(a, self.period_s)) < SLOWEST_PER_S).any():
            names = ", ".join(self.states[rest[i]].name for i in own.tolist())
            message = (
                f"`others`: an integral among {names} has no steady state; keep it by `states`, or "
                "write others='held'"
            )
            raise KittiwakeError(message)
        matrix = -a if self.period_s is None else np.eye(len(a)) - a
        steady[own] = np.linalg.solve(matrix, driven[own])
        return steady

    def _warn_of_lost_inputs(
        self, x: Sequence[int], u: Sequence[int], effects: Sequence[Matrix]
    ) -> None:
        """Warn of inputs that act on kept states only through others, which are held."""
        lost = [
            self.inputs[i].name
            for place, i in enumerate(u)
            if not any(effect[:, place].any() for effect in effects)
            and reached_states(self.A, self.B[:, [i]])[x].any()
        ]
        if lost:
            message = (
                f"{', '.join(lost)}: without effect in this part, as it acts through states that "
                "are held; keep these by `states`, or write others='steady'"
            )
            warnings.warn(message, UserWarning, stacklevel=4)

    def to_control(self) -> Any:
        """Return the model as a ``StateSpace`` of python-control.

        Names keep their words; the dots in them, which python-control reserves, become underlines.

        Raises:
            MissingExtraError: without python-control.
        """
        library: Any = import_optional("control", EXTRA)
        matrices = (self.A, self.B, self.C, self.D)
        names = {
            key: [signal.name.replace(".", "_") for signal in getattr(self, key)]
            for key in ("states", "inputs", "outputs")
        }
        dt = 0 if self.period_s is None else self.period_s
        return library.ss(*matrices, dt, **names, remove_useless_states=False)

    @checked_arguments("step", input=SIGNAL, output=SIGNAL)
    def step(
        self, input: str | NamedSignal, output: str | NamedSignal, duration_s: float | None = None
    ) -> "StepResponse":
        """Return the response of an output to a unit step of an input.

        Args:
            input: the input, or its name.
            output: the output, or its name.
            duration_s: how long; seven time constants of the slowest pole by default.
        """
        u = _indices(self.inputs, [input], "input")
        y = _indices(self.outputs, [output], "output")
        a, b, c = self.A, self.B[:, u], self.C[y]
        # other states have no part in this response, and their poles none in its duration
        own = np.flatnonzero(reached_states(a, b) & reached_states(a.T, c.T))
        a, b, c, d = a[np.ix_(own, own)], b[own], c[:, own], self.D[np.ix_(y, u)]
        rates = rates_per_s(a, self.period_s)
        length_s = _length_s(rates) if duration_s is None else float(duration_s)
        if not 0.0 < length_s < inf:
            message = f"`duration_s`: got {length_s:g}; must be a positive number of seconds"
            raise KittiwakeError(message)
        final = None
        if not (rates > -SLOWEST_PER_S).any():
            matrix = -a if self.period_s is None else np.eye(len(a)) - a
            final = float((c @ np.linalg.solve(matrix, b) + d).item())
        period_s = length_s / SAMPLES if self.period_s is None else self.period_s
        if self.period_s is None:
            a, b = sampled(a, b, period_s)
        count = max(1, round(length_s / period_s))
        if count > MOST_SAMPLES:
            message = f"`duration_s`: {length_s:.3g} s are {count:,} periods; write a shorter time"
            raise KittiwakeError(message)
        values = np.empty(count + 1)
        x = np.zeros((len(a), 1))
        for k in range(count + 1):
            values[k] = (c @ x + d).item()
            x = a @ x + b
        return StepResponse(
            input=self.inputs[u[0]],
            output=self.outputs[y[0]],
            time_s=period_s * np.arange(count + 1),
            values=values,
            final=final,
        )


def _listed(part: Sequence[NamedSignal]) -> str:
    """Return the names of signals with their units."""
    return ", ".join(f"{name} ({unit})" if unit else name for name, unit in part)


def _indices(
    known: Sequence[NamedSignal], given: Sequence[str | NamedSignal] | None, kind: str
) -> list[int]:
    """Return the places of signals.

    Raises:
        KittiwakeError: for a name that the model does not have.
    """
    places = {signal.name: i for i, signal in enumerate(known)}
    if given is None:
        return [*places.values()]
    names = [one.name if isinstance(one, NamedSignal) else one for one in given]
    for name in names:
        if name not in places:
            guess = nearest(name, places)
            hint = f"Did you mean '{guess}'? " if guess else ""
            message = f"the model has no {kind} '{name}'. {hint}Allowed: {', '.join(places)}."
            raise KittiwakeError(message)
    return [places[name] for name in names]


def _length_s(rates_per_s: Series) -> float:
    """Return the length of a step response until the slowest stable pole has settled."""
    stable = -rates_per_s[np.isfinite(rates_per_s) & (rates_per_s < -SLOWEST_PER_S)]
    return TIME_CONSTANTS / float(stable.min()) if stable.size else DEFAULT_S
