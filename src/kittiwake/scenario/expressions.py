"""Arithmetic, comparisons and words in texts, computed without running any program.

Python's own parser reads an expression; of what it finds only what is listed here is computed.
"""

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from kittiwake.core.errors import did_you_mean

# of a value that is text, and of an expression
MAX_CHARACTERS, MAX_EXPRESSION = 10_000, 500
# beyond which whole numbers are counted as real ones
LARGEST_WHOLE = 2**63

Value = float | int | bool | str

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
    **{"abs": abs, "min": min, "max": max, "round": round, "pow": math.pow},
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
    """What is wrong with an expression."""


def computed(text: str, lookup: Callable[[str], Any]) -> Any:
    """The value of an expression, in which ``lookup`` gives the value of a name.

    Raises:
        ExpressionError: with what is wrong; also from ``lookup``, for a name that it does not know.
    """
    if len(text) > MAX_EXPRESSION:
        message = f"longer than {MAX_EXPRESSION} characters"
        raise ExpressionError(message)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        message = "is no expression"
        raise ExpressionError(message) from None
    try:
        return _Arithmetic(lookup).value(tree)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise ExpressionError(str(error)) from None


def literal(value: Value) -> Value:
    """A text that is a number or a truth as that; one in quotes without them."""
    if not isinstance(value, str):
        return value
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
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
    """Computes expressions; ``lookup`` gives a property's value."""

    lookup: Callable[[str], Any]

    def value(self, node: ast.AST) -> Any:
        """What an expression comes to."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
            return self._limited(node.value)
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self._called(node.func.id, [self.value(one) for one in node.args])
        if isinstance(node, ast.IfExp):
            return self.value(node.body if self.value(node.test) else node.orelse)
        return self._operated(node)

    def _operated(self, node: ast.AST) -> Any:
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

    def _decided(self, node: ast.BoolOp) -> Any:
        """The first value that decides an ``and`` or ``or``, or the last one."""
        wanted = isinstance(node.op, ast.Or)
        last: Any = None
        for part in node.values:
            last = self.value(part)
            if bool(last) == wanted:
                break
        return last

    def _named(self, name: str) -> Any:
        try:
            return self.lookup(name)
        except ExpressionError:
            if name in CONSTANTS:
                return CONSTANTS[name]
            raise

    def _binary(self, node: ast.BinOp) -> Any:
        compute = _operator(node.op)
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(left, str) or isinstance(right, str):
            if not (isinstance(node.op, ast.Add) and isinstance(left, str) and type(right) is str):
                message = f"words cannot be computed with: {left!r:.40} and {right!r:.40}"
                raise ExpressionError(message)
        elif isinstance(node.op, ast.Pow) and abs(right) > 1:
            # without the digits of a whole number that would fill the memory
            left = float(left) if abs(left) ** min(abs(right), 64) >= LARGEST_WHOLE else left
            left = float(left) if abs(right) > 64 else left
        return self._limited(compute(left, right))

    def _compared(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            if not _operator(op)(left, right):
                return False
            left = right
        return True

    def _called(self, name: str, given: list[Any]) -> Any:
        if name not in FUNCTIONS:
            message = f"there is no function '{name}'. {did_you_mean(name, [*FUNCTIONS])}"
            raise ExpressionError(message)
        return self._limited(FUNCTIONS[name](*given))

    def _limited(self, value: Any) -> Any:
        if isinstance(value, complex):
            message = "comes to no real number"
            raise ExpressionError(message)
        if isinstance(value, int) and abs(value) >= LARGEST_WHOLE:
            return float(value)
        if isinstance(value, str) and len(value) > MAX_CHARACTERS:
            message = f"grows beyond {MAX_CHARACTERS} characters"
            raise ExpressionError(message)
        return value


def _operator(node: ast.AST) -> Callable[..., Any]:
    return OPERATORS[type(node)] if type(node) in OPERATORS else _unknown(node)


def _unknown(node: ast.AST) -> NoReturn:
    message = f"{type(node).__name__} is not known in expressions"
    raise ExpressionError(message)
