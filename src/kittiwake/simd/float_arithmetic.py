"""Arithmetic of registers of floating-point numbers, from which functions are written."""

from collections.abc import Callable, Mapping, Sequence

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import bits_dtype, scalar_type, wide, width_of
from kittiwake.simd.emitter import Emitter


class FloatArithmetic:
    """Instructions on registers of one dtype and width.

    Products and sums are fused only where ``fma`` says so, and each element is computed alike, so
    that a result depends neither on the width nor on its place in the register.

    Attributes:
        dtype: floating-point type.
        width: number of elements.
    """

    def __init__(self, emit: Emitter, dtype: np.dtype, width: int) -> None:
        self._emit, self.dtype, self.width = emit, dtype, width
        self._builder = emit.builder
        self._integer = np.dtype(f"i{dtype.itemsize}")
        limits = np.finfo(dtype)
        # stored bits of a significand, and the exponent's offset
        self.mantissa_bits, self._bias = limits.nmant, limits.maxexp - 1

    def in_precision(self, dtype: np.dtype) -> "FloatArithmetic":
        """Return the arithmetic of another precision, of the same width."""
        return FloatArithmetic(self._emit, dtype, self.width)

    def number(self, value: float) -> ir.Value:
        """Return a register of equal numbers."""
        return self._emit.splat(float(value), self.dtype, self.width)

    def negative(self, one: ir.Value) -> ir.Value:
        """Return the number of other sign."""
        return self._builder.fneg(one)

    def sum(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return a sum."""
        return self._builder.fadd(one, other)

    def difference(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return a difference."""
        return self._builder.fsub(one, other)

    def product(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return a product."""
        return self._builder.fmul(one, other)

    def quotient(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return a quotient."""
        return self._builder.fdiv(one, other)

    def fma(self, one: ir.Value, other: ir.Value, summand: ir.Value) -> ir.Value:
        """Return a product and a sum that are rounded once."""
        return self._emit.intrinsic("fma", one, other, summand)

    def root(self, one: ir.Value) -> ir.Value:
        """Return the square root."""
        return self._emit.intrinsic("sqrt", one)

    def size(self, one: ir.Value) -> ir.Value:
        """Return the absolute value."""
        return self._emit.intrinsic("fabs", one)

    def with_sign(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return the size of one number with the sign of another."""
        return self._emit.intrinsic("copysign", one, other)

    def rounded(self, one: ir.Value) -> ir.Value:
        """Return the nearest whole number."""
        return self._emit.intrinsic("rint", one)

    def truncated(self, one: ir.Value) -> ir.Value:
        """Return the whole number towards zero."""
        return self._emit.intrinsic("trunc", one)

    def is_less(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return a flag; false if one of them is not a number."""
        return self._builder.fcmp_ordered("<", one, other)

    def is_equal(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return a flag; false if one of them is not a number."""
        return self._builder.fcmp_ordered("==", one, other)

    def is_nan(self, one: ir.Value) -> ir.Value:
        """Return a flag."""
        return self._builder.fcmp_unordered("uno", one, one)

    def both(self, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return a flag."""
        return self._builder.and_(one, other)

    def negated(self, flag: ir.Value) -> ir.Value:
        """Return the other flag."""
        return self._builder.not_(flag)

    def select(self, flag: ir.Value, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return the first number where a flag is set, else the second."""
        return self._builder.select(flag, one, other)

    def limited(self, one: ir.Value, low: float, high: float) -> ir.Value:
        """Return a number within limits; the lower one for what is not a number."""
        least, most = self.number(low), self.number(high)
        above = self.select(self.is_less(least, one), one, least)
        return self.select(self.is_less(above, most), above, most)

    def polynomial(
        self, variable: ir.Value, coefficients: Mapping[np.dtype, Sequence[float]]
    ) -> ir.Value:
        """Return a polynomial by Horner's scheme, whose highest coefficient comes first."""
        first, *others = coefficients[self.dtype]
        result = self.number(first)
        for coefficient in others:
            result = self.fma(result, variable, self.number(coefficient))
        return result

    def integer(self, one: ir.Value) -> ir.Value:
        """Return a whole number as an integer."""
        return self._builder.fptosi(one, wide(scalar_type(self._integer), self.width))

    def from_integer(self, one: ir.Value) -> ir.Value:
        """Return an integer as a number."""
        return self._builder.sitofp(one, wide(scalar_type(self.dtype), self.width))

    def has_bit(self, one: ir.Value, bit: int) -> ir.Value:
        """Return whether an integer has a bit."""
        masked = self._builder.and_(one, self._whole(1 << bit))
        return self._builder.icmp_unsigned("!=", masked, self._whole(0))

    def power_of_two(self, exponent: ir.Value) -> ir.Value:
        """Return two to the power of an integer, for normal results."""
        biased = self._builder.add(exponent, self._whole(self._bias))
        return self._from_bits(self._builder.shl(biased, self._whole(self.mantissa_bits)))

    def scaled(self, one: ir.Value, exponent: ir.Value) -> ir.Value:
        """Return a number times two to the power of an integer, which may leave the range."""
        half = self._builder.ashr(exponent, self._whole(1))
        rest = self._builder.sub(exponent, half)
        return self.product(self.product(one, self.power_of_two(half)), self.power_of_two(rest))

    def split(self, one: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Return exponent and significand of a normal number.

        The significand is between the roots of 1/2 and 2; the exponent a whole number.
        """
        builder = self._builder
        least = int(np.sqrt(self.dtype.type(0.5)).view(bits_dtype(self.dtype)))
        above = builder.sub(self._bits(one), self._whole(least))
        exponent = builder.ashr(above, self._whole(self.mantissa_bits))
        mask = self._whole((1 << self.mantissa_bits) - 1)
        significand = builder.add(builder.and_(above, mask), self._whole(least))
        return self.from_integer(exponent), self._from_bits(significand)

    def converted(self, one: ir.Value, target: "FloatArithmetic") -> ir.Value:
        """Return a number in another precision."""
        convert = (
            self._builder.fpext
            if target.dtype.itemsize > self.dtype.itemsize
            else self._builder.fptrunc
        )
        return convert(one, wide(scalar_type(target.dtype), self.width))

    def with_exceptions(
        self,
        is_exception: ir.Value,
        usual: ir.Value,
        function: Callable[..., ir.Value],
        *arguments: ir.Value,
    ) -> ir.Value:
        """Return a number, or where a flag is set a function of scalars, which is seldom called."""
        emit, builder, flag = self._emit, self._builder, is_exception
        if self.width > 1:
            name = f"llvm.vector.reduce.or.v{self.width}i1"
            flag = emit.call(name, ir.IntType(1), is_exception)
        before = builder.block
        rare, after = (builder.append_basic_block(name) for name in ("rare", "after"))
        builder.cbranch(flag, rare, after)
        builder.position_at_end(rare)
        others = each_element(emit, function, *arguments)
        corrected = self.select(is_exception, others, usual)
        builder.branch(after)
        builder.position_at_end(after)
        result = builder.phi(usual.type)
        result.add_incoming(usual, before)
        result.add_incoming(corrected, rare)
        return result

    def _whole(self, value: int) -> ir.Value:
        return self._emit.splat(value, self._integer, self.width)

    def _bits(self, one: ir.Value) -> ir.Value:
        return self._builder.bitcast(one, wide(scalar_type(self._integer), self.width))

    def _from_bits(self, one: ir.Value) -> ir.Value:
        return self._builder.bitcast(one, wide(scalar_type(self.dtype), self.width))


def each_element(
    emit: Emitter, function: Callable[..., ir.Value], *arguments: ir.Value
) -> ir.Value:
    """Return a register of a function of scalars, called for one element after another."""
    width = width_of(arguments[0])
    if width == 1:
        return function(*arguments)
    elements = [
        function(*(emit.element(value, index) for value in arguments)) for index in range(width)
    ]
    result: ir.Value = ir.Constant(wide(elements[0].type, width), ir.Undefined)
    for index, element in enumerate(elements):
        result = emit.builder.insert_element(result, element, emit.index(index))
    return result
