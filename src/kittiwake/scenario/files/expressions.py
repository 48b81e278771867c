"""Evaluator of arithmetic and comparisons in text, without execution of code.

Python's own parser reads an expression; only the operations listed here are evaluated.
"""

import ast
import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from kittiwake.core.errors import did_you_mean

# maximum length of a text value, and of an expression
MAX_CHARACTERS, MAX_EXPRESSION = 10_000, 500
# larger integers become floating-point numbers
LARGEST_WHOLE = 2**63
# no floating-point number has digits so far from the decimal point
MAX_PLACES = 400
# maximum length of an error message from Python
MAX_MESSAGE = 200

Value = float | int | bool | str


def _rounded(value: float | int, places: int | None = None) -> float | int:
    """Return the result of Python's ``round``, without a huge power of ten in memory."""
    if isinstance(places, int):
        places = max(-MAX_PLACES, min(places, MAX_PLACES))
    return round(value, places)


CONSTANTS: dict[str, Value] = {
    **{"pi": math.pi, "e": math.e, "tau": math.tau},
    **{"True": True, "False": False, "true": True, "false": False},
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(math, name)
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "exp", "log")
    },
    **{name: getattr(math, name) for name in ("radians", "degrees", "floor", "ceil", "hypot")},
    **{"abs": abs, "min": min, "max": max, "round": _rounded, "pow": math.pow},
    **{"float": float, "int": int, "bool": bool, "str": str},
}
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class ExpressionError(Exception):
    """Mistake in an expression."""


def evaluate(text: str, lookup: Callable[[str], Value]) -> Value:
    """Return the value of an expression; ``lookup`` returns the value of a name.

    Raises:
        ExpressionError: for an invalid expression; also from ``lookup``, for an unknown name.
    """
    if len(text) > MAX_EXPRESSION:
        message = f"longer than {MAX_EXPRESSION} characters"
        raise ExpressionError(message)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        message = "is not an expression"
        raise ExpressionError(message) from None
    try:
        return _Arithmetic(lookup).value(tree)
    except RecursionError:
        message = "is nested too deeply"
        raise ExpressionError(message) from None
    except (ArithmeticError, TypeError, ValueError) as error:
        raise ExpressionError(str(error)[:MAX_MESSAGE]) from None


def literal(value: Value) -> Value:
    """Return text as a number or boolean if it is one; text in single quotes without them."""
    if not isinstance(value, str):
        return value
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1]
    if "_" not in value:
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    return {"true": True, "True": True, "false": False, "False": False}.get(value, value)


@dataclass(frozen=True)
class _Arithmetic:
    """Evaluator of expressions; ``lookup`` returns a property's value."""

    lookup: Callable[[str], Value]

    def value(self, node: ast.AST) -> Value:
        """Return the value of an expression."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
            return self._limited(node.value)
        if isinstance(node, ast.Name):
            return self.lookup(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self._called(node.func.id, [self.value(one) for one in node.args])
        if isinstance(node, ast.IfExp):
            return self.value(node.body if self.value(node.test) else node.orelse)
        return self._operated(node)

    def _operated(self, node: ast.AST) -> Value:
        match node:
            case ast.UnaryOp():
                return _operator(node.op)(self.value(node.operand))
            case ast.BinOp():
                return self._binary(node)
            case ast.BoolOp():
                return self._decided(node)
            case ast.Compare():
                return self._compared(node)
            case _:
                _unknown(node)

    def _decided(self, node: ast.BoolOp) -> Value:
        """Return the first value that decides an ``and`` or ``or``, or the last one."""
        wanted = isinstance(node.op, ast.Or)
        first, *others = node.values
        last = self.value(first)
        for part in others:
            if bool(last) == wanted:
                break
            last = self.value(part)
        return last

    def _binary(self, node: ast.BinOp) -> Value:
        compute = _operator(node.op)
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(left, str) or isinstance(right, str):
            if not (isinstance(node.op, ast.Add) and isinstance(left, str) and type(right) is str):
                message = f"arithmetic needs numbers, not text: {left!r:.40} and {right!r:.40}"
                raise ExpressionError(message)
        elif isinstance(node.op, ast.Pow):
            return self._limited(_power(left, right))
        return self._limited(compute(left, right))

    def _compared(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            if not _operator(op)(left, right):
                return False
            left = right
        return True

    def _called(self, name: str, given: list[Value]) -> Value:
        if name not in FUNCTIONS:
            message = f"there is no function '{name}'. {did_you_mean(name, [*FUNCTIONS])}"
            raise ExpressionError(message)
        if name in ("min", "max") and len(given) < 2:
            message = f"{name} takes two numbers or more"
            raise ExpressionError(message)
        try:
            return self._limited(FUNCTIONS[name](*given))
        except OverflowError:
            shown = ", ".join(f"{one!r:.40}" for one in given[:4])
            _refuse_too_large(f"{name}({shown})")

    def _limited(self, value: Value | complex) -> Value:
        if isinstance(value, complex):
            message = "is not a real number"
            raise ExpressionError(message)
        if isinstance(value, int) and abs(value) >= LARGEST_WHOLE:
            return _real(value)
        if isinstance(value, str) and len(value) > MAX_CHARACTERS:
            message = f"grows beyond {MAX_CHARACTERS} characters"
            raise ExpressionError(message)
        return value


def _power(left: float | int, right: float | int) -> float | int | complex:
    """Return a power; of integers as a floating-point number if it would be huge."""
    base = left
    if isinstance(left, int) and isinstance(right, int) and abs(right) > 1:
        huge = abs(right) > 64 or abs(left) ** abs(right) >= LARGEST_WHOLE
        base = float(left) if huge else left
    try:
        return base**right
    except OverflowError:
        _refuse_too_large(f"{left!r} ** {right!r}")


def _real(whole: int) -> float:
    try:
        return float(whole)
    except OverflowError:
        _refuse_too_large("a number with so many digits")


def _refuse_too_large(operation: str) -> NoReturn:
    message = f"{operation} is too large; numbers reach up to {sys.float_info.max:.2g}"
    raise ExpressionError(message) from None


def _operator(node: ast.AST) -> Callable[..., Value]:
    return OPERATORS[type(node)] if type(node) in OPERATORS else _unknown(node)


def _unknown(node: ast.AST) -> NoReturn:
    message = f"{type(node).__name__} is not known in expressions"
    raise ExpressionError(message)
