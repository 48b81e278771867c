"""Conditionals and loops."""

from collections.abc import Mapping, Sequence

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import scalar_type
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import PASSES_AT_A_TIME, Equation, FlatProgram, Variable
from kittiwake.simd.hoisting import hoisted
from kittiwake.simd.rules.keys import as_pairs, from_pairs, without_words
from kittiwake.simd.translator import Rule, Translator
from kittiwake.simd.values import Known, Stored, Value


def _cond(translator: Translator, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
    which, *arguments = operands
    branches: tuple[FlatProgram, ...] = equation.params["branches"]
    if isinstance(which, Known):
        index = int(np.clip(int(which.elements), 0, len(branches) - 1))
        return translator.translate(branches[index], arguments)
    emit = translator.emit
    builder = emit.builder
    number = translator.register(which)
    memory = [translator.reserve(result) for result in equation.results]
    blocks = [builder.append_basic_block(f"branch{index}") for index in range(len(branches))]
    after = builder.append_basic_block("joined")
    # an index outside of the range takes the nearest branch
    kind = scalar_type(which.dtype)
    if which.dtype == np.bool_:
        builder.cbranch(number, blocks[1], blocks[0])
    else:
        is_negative = builder.icmp_signed("<", number, ir.Constant(kind, 0))
        positive = builder.select(is_negative, ir.Constant(kind, 0), number)
        choice = builder.switch(positive, blocks[-1])
        for index, block in enumerate(blocks[:-1]):
            choice.add_case(ir.Constant(kind, index), block)
    for block, branch in zip(blocks, branches, strict=True):
        builder.position_at_end(block)
        for value, place in zip(translator.translate(branch, arguments), memory, strict=True):
            translator.write(value, place.pointer)
        builder.branch(after)
    builder.position_at_end(after)
    return [translator.loaded(place) for place in memory]


def _while(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    params = equation.params
    of_condition, of_body = params["cond_nconsts"], params["body_nconsts"]
    conditions = operands[:of_condition]
    constants = operands[of_condition : of_condition + of_body]
    carried = _carried(translator, equation.results, operands[of_condition + of_body :])

    def condition() -> ir.Value:
        values = [*conditions, *map(translator.loaded, carried)]
        (flag,) = translator.translate(params["cond_jaxpr"], values)
        return translator.register(flag)

    def body() -> None:
        values = [*constants, *map(translator.loaded, carried)]
        _replace(translator, carried, translator.translate(params["body_jaxpr"], values))

    translator.emit.loop_while(condition, body)
    return [translator.loaded(place) for place in carried]


def _scan(translator: Translator, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
    params, emit = equation.params, translator.emit
    of_constants, of_carry, length = params["num_consts"], params["num_carry"], params["length"]
    constants = operands[:of_constants]
    body: FlatProgram = params["jaxpr"]
    carried = _carried(
        translator,
        equation.results[:of_carry],
        operands[of_constants : of_constants + of_carry],
    )
    passes = params.get(PASSES_AT_A_TIME, 1)
    if passes > 1:
        before, body = hoisted(body, of_constants)
        constants = [*translator.translate(before, constants), *constants]
    parts = body.inputs[len(constants) + of_carry :]
    sources = [
        as_pairs(translator, value) if part.is_key else value
        for part, value in zip(parts, operands[of_constants + of_carry :], strict=True)
    ]
    pointers = [translator.pointer(source) for source in sources]
    whole = equation.results[of_carry:]
    stacked = [translator.reserve(without_words(result)) for result in whole]
    with emit.loop(-(-length // passes)) as step:
        if passes > 1:
            # the last ones are done again together with those that are left over
            index = _least(emit, emit.builder.mul(step, emit.index(passes)), length - passes)
        else:
            index = emit.builder.sub(emit.index(length - 1), step) if params["reverse"] else step
        slices = []
        for pointer, part in zip(pointers, parts, strict=True):
            own = translator.loaded(_slice(translator, pointer, index, without_words(part), passes))
            slices.append(from_pairs(translator, own, part) if part.is_key else own)
        values = [*constants, *map(translator.loaded, carried), *slices]
        results = translator.translate(body, values)
        for place, value, one in zip(stacked, results[of_carry:], whole, strict=True):
            own = as_pairs(translator, value) if one.is_key else value
            start = emit.builder.mul(index, emit.index(own.size // passes))
            translator.write(own, place.pointer, start)
        _replace(translator, carried, results[:of_carry])
    found = [
        from_pairs(translator, place, one) if one.is_key else translator.loaded(place)
        for place, one in zip(stacked, whole, strict=True)
    ]
    return [*(translator.loaded(place) for place in carried), *found]


def _least(emit: Emitter, value: ir.Value, most: int) -> ir.Value:
    exceeds = emit.builder.icmp_signed(">", value, emit.index(most))
    return emit.builder.select(exceeds, emit.index(most), value)


def _slice(
    translator: Translator, pointer: ir.Value, index: ir.Value, part: Variable, passes: int
) -> Stored:
    """Return the parts of some passes, along the first axis of an array in memory."""
    builder = translator.emit.builder
    size = int(np.prod(part.shape)) // passes
    start = builder.mul(index, translator.emit.index(size))
    return Stored(builder.gep(pointer, [start]), part.shape, part.dtype)


def _carried(
    translator: Translator, results: Sequence[Variable], values: Sequence[Value]
) -> list[Stored]:
    """Return memory for the values that a loop carries, with the first ones."""
    memory = [translator.reserve(result) for result in results]
    for value, place in zip(values, memory, strict=True):
        translator.write(value, place.pointer)
    return memory


def _replace(translator: Translator, carried: Sequence[Stored], values: Sequence[Value]) -> None:
    """Write the values of the next pass.

    Those in memory, which may be the carried memory itself, are copied before.
    """
    ready = [
        _copied(translator, value) if isinstance(value, Stored) and len(values) > 1 else value
        for value in values
    ]
    for value, place in zip(ready, carried, strict=True):
        translator.write(value, place.pointer)


def _copied(translator: Translator, value: Stored) -> Stored:
    memory = translator.reserve(Variable(value.shape, value.dtype))
    translator.write(value, memory.pointer)
    return memory


def _platform_index(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    """Return the first platform, which is the processor."""
    del translator, equation, operands
    return [Known(np.asarray(0, np.int32))]


CONTROL_FLOW: Mapping[str, Rule] = {
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "platform_index": _platform_index,
}
