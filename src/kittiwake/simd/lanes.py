"""Programs of many worlds side by side, from the program of one.

Each array that differs among worlds gets a last axis, the lanes: neighbors in memory and in a
register are the same element of neighboring worlds. Conditionals of which worlds take different
branches run each branch that is needed, and select. Primitives without a rule here are mapped by
``jax.vmap``.
"""

from collections.abc import Callable, Iterator, Sequence
from math import prod
from operator import gt, or_
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from jax.extend.core import JaxprEqn as JaxEquation
from jax.extend.core import Var as JaxVariable
from jax.extend.random import threefry2x32_p

from kittiwake.simd import lane_indexing
from kittiwake.simd.flattening import CALLS, IDENTITIES, form
from kittiwake.simd.lane_indexing import AnyArray
from kittiwake.simd.rules import ELEMENTWISE

# longer sums of products are those of JAX
MAX_UNROLLED_PRODUCTS = 16
# branches with fewer equations are computed even if no world takes them
MAX_UNCONDITIONAL = 16
# with lanes as last axis they have the same parameters
SAME_PARAMETERS = frozenset(
    (
        *("argmax", "argmin", "concatenate", "cummax", "cummin", "cumprod", "cumsum"),
        *("reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum"),
        *("reduce_xor", "rev", "sort", "split", "squeeze", "stack", "unstack"),
    )
)


class Laned(NamedTuple):
    """An array, and True if it differs among worlds, so that lanes are its last axis."""

    array: Any
    varies: bool


def with_lanes(
    closed: ClosedJaxpr,
    varies: Sequence[bool],
    results_vary: Sequence[bool],
    lanes: int,
) -> ClosedJaxpr:
    """Return the program of many worlds.

    Args:
        closed: program of one world.
        varies: for each argument whether it differs among worlds; it has a last axis then.
        results_vary: for each result whether it may differ among worlds; it has a last axis then.
        lanes: number of worlds.

    Raises:
        ValueError: if a result differs among worlds that may not.
    """
    mapping = _Mapping(lanes)

    def program(*arrays: AnyArray) -> list[AnyArray]:
        given = [Laned(*one) for one in zip(arrays, varies, strict=True)]
        results = mapping.evaluate(closed.jaxpr, closed.consts, given)
        for index, (result, may) in enumerate(zip(results, results_vary, strict=True)):
            if result.varies and not may:
                message = f"result {index} differs among worlds"
                raise ValueError(message)
        return [
            mapping.varying(result) if may else result.array
            for result, may in zip(results, results_vary, strict=True)
        ]

    return jax.make_jaxpr(program)(*mapping.examples(closed, varies))


class _Mapping:
    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._rules: dict[str, Callable[..., Sequence[Laned]]] = {
            **dict.fromkeys(SAME_PARAMETERS, self._same_parameters),
            **dict.fromkeys(ELEMENTWISE, self._elementwise),
            **dict.fromkeys(CALLS, self._call),
            **dict.fromkeys(IDENTITIES, self._identity),
            **dict.fromkeys(lane_indexing.SCATTERS, self._scatter),
            "broadcast_in_dim": self._broadcast_in_dim,
            "cond": self._cond,
            "dot_general": self._dot_general,
            "dynamic_slice": self._dynamic_slice,
            "gather": self._gather,
            "random_bits": self._random_bits,
            "random_split": self._random_split,
            "reshape": self._reshape,
            "scan": self._scan,
            "slice": self._slice,
            "transpose": self._transpose,
            "while": self._while,
        }

    def evaluate(
        self, jaxpr: Jaxpr, constants: Sequence[Any], arguments: Sequence[Laned]
    ) -> list[Laned]:
        """Return the results of a program."""
        found: dict[JaxVariable, Laned] = dict(zip(jaxpr.invars, arguments, strict=True))
        for variable, constant in zip(jaxpr.constvars, constants, strict=True):
            found[variable] = Laned(constant, varies=False)

        def read(atom: JaxVariable | Literal) -> Laned:
            if isinstance(atom, Literal):
                return Laned(np.asarray(atom.val, form(atom.aval)[1]), varies=False)
            return found[atom]

        for equation in jaxpr.eqns:
            operands = [read(atom) for atom in equation.invars]
            name = equation.primitive.name
            if name in CALLS or any(operand.varies for operand in operands):
                results = self._rules.get(name, self._mapped)(equation, operands)
            else:
                results = self._bound(
                    equation, [operand.array for operand in operands], varies=False
                )
            found.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def examples(self, closed: ClosedJaxpr, varies: Sequence[bool]) -> list[jax.ShapeDtypeStruct]:
        """Return shapes and types of the arguments of a program."""
        return [
            jax.ShapeDtypeStruct((*aval.shape, self._lanes) if own else aval.shape, aval.dtype)
            for aval, own in zip(closed.in_avals, varies, strict=True)
        ]

    def _bound(
        self, equation: JaxEquation, arrays: Sequence[AnyArray], *, varies: bool
    ) -> list[Laned]:
        results = equation.primitive.bind(*arrays, **equation.params)
        many = results if equation.primitive.multiple_results else [results]
        return [Laned(result, varies) for result in many]

    def varying(self, operand: Laned) -> AnyArray:
        """Return an array with lanes."""
        if operand.varies:
            return operand.array
        array = jnp.asarray(operand.array)
        shape = (*array.shape, self._lanes)
        return lax.broadcast_in_dim(array, shape, tuple(range(array.ndim)))

    def _arranged(self, operands: Sequence[Laned], vary: Sequence[bool]) -> list[AnyArray]:
        """Return arrays, with lanes where ``vary`` is true."""
        return [
            self.varying(operand) if own else jnp.asarray(operand.array)
            for operand, own in zip(operands, vary, strict=True)
        ]

    def _all_varying(self, operands: Sequence[Laned]) -> list[AnyArray]:
        return [self.varying(operand) for operand in operands]

    def _same_parameters(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        return self._bound(equation, self._all_varying(operands), varies=True)

    def _mapped(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        def one(*arrays: AnyArray) -> Any:
            return equation.primitive.bind(*arrays, **equation.params)

        axes = [-1 if operand.varies else None for operand in operands]
        arrays = [operand.array for operand in operands]
        results = jax.vmap(one, axes, -1, axis_size=self._lanes)(*arrays)
        many = results if equation.primitive.multiple_results else [results]
        return [Laned(result, varies=True) for result in many]

    def _call(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        body = equation.params[CALLS[equation.primitive.name]]
        inner, constants = (body.jaxpr, body.consts) if hasattr(body, "consts") else (body, ())
        return self.evaluate(inner, constants, operands)

    def _identity(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        del equation
        return operands

    def _broadcast_in_dim(
        self, equation: JaxEquation, operands: Sequence[Laned]
    ) -> Sequence[Laned]:
        shape = equation.params["shape"]
        axes = (*equation.params["broadcast_dimensions"], len(shape))
        return [
            Laned(lax.broadcast_in_dim(operands[0].array, (*shape, self._lanes), axes), varies=True)
        ]

    def _reshape(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        shape = (*equation.params["new_sizes"], self._lanes)
        return [Laned(lax.reshape(operands[0].array, shape), varies=True)]

    def _slice(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        params = equation.params
        strides = params["strides"] or (1,) * len(params["start_indices"])
        sliced = lax.slice(
            operands[0].array,
            (*params["start_indices"], 0),
            (*params["limit_indices"], self._lanes),
            (*strides, 1),
        )
        return [Laned(sliced, varies=True)]

    def _transpose(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        axes = equation.params["permutation"]
        return [Laned(lax.transpose(operands[0].array, (*axes, len(axes))), varies=True)]

    def _gather(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        operand, indices = operands
        if not operand.varies:
            return self._mapped(equation, operands)
        found = lane_indexing.gather(
            equation, operand.array, indices.array, self._lanes, varies=indices.varies
        )
        return [Laned(found, varies=True)]

    def _scatter(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        operand, indices, updates = operands
        arrays = self.varying(operand), indices.array, self.varying(updates)
        return [Laned(lane_indexing.scatter(equation, *arrays, varies=indices.varies), varies=True)]

    def _dynamic_slice(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        operand, *starts = operands
        if not operand.varies:
            return self._mapped(equation, operands)
        sizes = equation.params["slice_sizes"]
        if any(start.varies for start in starts):
            places = self._all_varying(starts)
            found = lane_indexing.dynamic_slice_of_each(operand.array, places, sizes)
        else:
            places = [start.array for start in starts]
            found = lane_indexing.dynamic_slice(operand.array, places, sizes, self._lanes)
        return [Laned(found, varies=True)]

    def _elementwise(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        """Return a function of elements; single ones are those of all elements."""
        shape = (*_shape(equation.outvars[0]), self._lanes)
        arrays = []
        for operand in operands:
            array = jnp.asarray(operand.array)
            if array.shape != shape:
                own = array.ndim - operand.varies
                axes = [*range(own), *([len(shape) - 1] if operand.varies else [])]
                array = lax.broadcast_in_dim(array, shape, axes)
            arrays.append(array)
        return self._bound(equation, arrays, varies=True)

    def _dot_general(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        """Return sums of products, in the order of the elements."""
        (summed, batched) = equation.params["dimension_numbers"]
        left, right = self._all_varying(operands)
        lengths = [left.shape[axis] for axis in summed[0]]
        if prod(lengths) > MAX_UNROLLED_PRODUCTS:
            return self._mapped(equation, operands)
        batch = [left.shape[axis] for axis in batched[0]]
        own, others = (
            [axis for axis in range(array.ndim - 1) if axis not in (*summed[side], *batched[side])]
            for side, array in enumerate((left, right))
        )
        rows = [left.shape[axis] for axis in own]
        columns = [right.shape[axis] for axis in others]
        sizes = prod(lengths), prod(batch), prod(rows), prod(columns)
        last = (left.ndim - 1,)
        lefts = lax.transpose(left, (*summed[0], *batched[0], *own, *last))
        lefts = lax.reshape(lefts, (*sizes[:3], 1, self._lanes))
        rights = lax.transpose(right, (*summed[1], *batched[1], *others, right.ndim - 1))
        rights = lax.reshape(rights, (*sizes[:2], 1, sizes[3], self._lanes))
        total = lefts[0] * rights[0]
        for index in range(1, sizes[0]):
            total = total + lefts[index] * rights[index]
        dtype = form(equation.outvars[0].aval)[1]
        result = lax.reshape(total, (*batch, *rows, *columns, self._lanes)).astype(dtype)
        return [Laned(result, varies=True)]

    def _random_bits(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        bits = equation.params["bit_width"]
        one, other = self._draws(operands[0].array, equation.params["shape"])
        if bits == 64:
            shifted = lax.shift_left(one.astype(jnp.uint64), jnp.uint64(32))
            return _all_laned([shifted | other.astype(jnp.uint64)])
        return _all_laned([(one ^ other).astype(f"uint{bits}")])

    def _random_split(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        words = jnp.stack(self._draws(operands[0].array, equation.params["shape"]), axis=-1)
        return _all_laned([jax.random.wrap_key_data(words)])

    def _draws(self, keys: AnyArray, shape: tuple[int, ...]) -> list[AnyArray]:
        """Return both words of draws by Threefry-2x32, with the numbers of elements as counters."""
        words = jax.random.key_data(keys)
        whole = (*keys.shape[:-1], *shape, self._lanes)
        axes = [*range(keys.ndim - 1), len(whole) - 1]
        own = [lax.broadcast_in_dim(words[..., word], whole, axes) for word in range(2)]
        numbers = jnp.arange(prod(shape), dtype=jnp.uint32).reshape(shape)
        inner = [*range(keys.ndim - 1, len(whole) - 1)]
        low = lax.broadcast_in_dim(numbers, whole, inner)
        return threefry2x32_p.bind(*own, jnp.zeros_like(low), low)

    def _cond(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        which, *arguments = operands
        branches: Sequence[ClosedJaxpr] = equation.params["branches"]

        vary = [which.varies] * len(equation.outvars)
        if not which.varies:
            given = [argument.varies for argument in arguments]
            each = [self._results_vary(branch, given) for branch in branches]
            vary = [*map(any, zip(*each, strict=True))]

        def taken(branch: ClosedJaxpr) -> Callable[[], list[AnyArray]]:
            return lambda: self._arranged(
                self.evaluate(branch.jaxpr, branch.consts, arguments), vary
            )

        if not which.varies:
            index = jnp.asarray(which.array).astype(jnp.int32)
            results = lax.switch(index, [taken(branch) for branch in branches])
            return [*map(Laned, results, vary)]
        last = np.int32(len(branches) - 1)
        index = lax.clamp(np.int32(0), which.array.astype(jnp.int32), last)
        # short branches are taken by all worlds, at least one is
        numbers = sorted(range(len(branches)), key=lambda number: _length(branches[number].jaxpr))
        chosen = taken(branches[numbers[0]])()
        for number in numbers[1:]:
            own, branch = index == number, branches[number]

            def selected(
                own: AnyArray = own,
                branch: ClosedJaxpr = branch,
                others: list[AnyArray] = chosen,
            ) -> list[AnyArray]:
                return [
                    jnp.where(own, result, other)
                    for result, other in zip(taken(branch)(), others, strict=True)
                ]

            if _length(branch.jaxpr) <= MAX_UNCONDITIONAL:
                chosen = selected()
            else:
                chosen = lax.cond(jnp.any(own), selected, lambda others=chosen: others)
        return _all_laned(chosen)

    def _while(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        params = equation.params
        of_condition, of_body = params["cond_nconsts"], params["body_nconsts"]
        conditions = operands[:of_condition]
        constants = operands[of_condition : of_condition + of_body]
        carried = operands[of_condition + of_body :]
        condition, body = params["cond_jaxpr"], params["body_jaxpr"]

        def goes_on(arrays: Sequence[AnyArray]) -> Laned:
            given = map(Laned, arrays, vary)
            (flag,) = self.evaluate(condition.jaxpr, condition.consts, [*conditions, *given])
            return flag

        def any_goes_on(arrays: list[AnyArray]) -> AnyArray:
            return jnp.any(goes_on(arrays).array)

        def later(arrays: list[AnyArray]) -> list[AnyArray]:
            given = map(Laned, arrays, vary)
            found = self.evaluate(body.jaxpr, body.consts, [*constants, *given])
            results = self._arranged(found, vary)
            flag = goes_on(arrays)
            if not flag.varies:
                return results
            return [
                jnp.where(flag.array, result, before)
                for result, before in zip(results, arrays, strict=True)
            ]

        vary = self._carried_vary(equation, operands)
        return [
            *map(Laned, lax.while_loop(any_goes_on, later, self._arranged(carried, vary)), vary)
        ]

    def _carried_vary(self, equation: JaxEquation, operands: Sequence[Laned]) -> list[bool]:
        """Return what a loop carries that differs among worlds: all if its condition does."""
        params = equation.params
        first, second = params["cond_nconsts"], params["body_nconsts"]
        given = [operand.varies for operand in operands]
        of_condition, of_body = given[:first], given[first : first + second]
        vary = given[first + second :]
        while True:
            later = self._results_vary(params["body_jaxpr"], [*of_body, *vary])
            if any(self._results_vary(params["cond_jaxpr"], [*of_condition, *vary])):
                return [True] * len(vary)
            if not any(map(gt, later, vary)):
                return vary
            vary = [*map(or_, vary, later)]

    def _scan(self, equation: JaxEquation, operands: Sequence[Laned]) -> Sequence[Laned]:
        """Return a loop; what it carries stays without lanes where it is the same in all worlds."""
        params = equation.params
        of_constants, of_carry = params["num_consts"], params["num_carry"]
        body: ClosedJaxpr = params["jaxpr"]
        carry = slice(of_constants, of_constants + of_carry)
        vary = [each.varies for each in operands]
        results_vary = self._results_vary(body, vary)
        while any(map(gt, results_vary, vary[carry])):
            vary[carry] = map(or_, vary[carry], results_vary)
            results_vary = self._results_vary(body, vary)
        results_vary[:of_carry] = vary[carry]

        constants = operands[:of_constants]

        def step(
            carried: list[AnyArray], own: list[AnyArray]
        ) -> tuple[list[AnyArray], list[AnyArray]]:
            given = map(Laned, [*carried, *own], vary[of_constants:])
            results = self.evaluate(body.jaxpr, body.consts, [*constants, *given])
            arrays = self._arranged(results, results_vary)
            return arrays[:of_carry], arrays[of_carry:]

        carried, stacked = lax.scan(
            step,
            self._arranged(operands[carry], vary[carry]),
            [each.array for each in operands[carry.stop :]],
            length=params["length"],
            reverse=params["reverse"],
        )
        return [*map(Laned, [*carried, *stacked], results_vary)]

    def _results_vary(self, closed: ClosedJaxpr, varies: Sequence[bool]) -> list[bool]:
        """Return for each result of a program whether it differs among worlds."""
        found: list[bool] = []

        def program(*arrays: AnyArray) -> list[AnyArray]:
            given = [*map(Laned, arrays, varies)]
            results = self.evaluate(closed.jaxpr, closed.consts, given)
            found[:] = [each.varies for each in results]
            return [each.array for each in results]

        jax.eval_shape(program, *self.examples(closed, varies))
        return found


def _shape(variable: Any) -> tuple[int, ...]:
    return tuple(variable.aval.shape)


def _all_laned(arrays: Sequence[AnyArray]) -> list[Laned]:
    return [Laned(array, varies=True) for array in arrays]


def _length(jaxpr: Jaxpr) -> int:
    """Return the number of equations, those of inner programs included."""
    return sum(1 + sum(map(_length, inner_programs(one))) for one in jaxpr.eqns)


def inner_programs(equation: JaxEquation) -> Iterator[Jaxpr]:
    """Yield the programs among the parameters of an equation."""
    for value in equation.params.values():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, ClosedJaxpr):
                yield one.jaxpr
            elif isinstance(one, Jaxpr):
                yield one
