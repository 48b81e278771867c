"""Expander of xacro, the macro language of ROS for robot descriptions, without execution of code.

It supports properties (numbers, text and blocks), arguments with defaults, macros with
parameters, defaults (also ``^`` and ``^|``) and blocks (``*origin``, ``**inside``),
``insert_block``, ``if`` and ``unless``, ``include`` of files in or below the first file's folder,
and arithmetic in ``${...}``: numbers, text, properties, ``+ - * / // % **``, comparisons,
``and or not``, ``a if b else c``, and all ``FUNCTIONS`` and ``CONSTANTS`` of ``expressions``.
Anything else is refused by name, with its file and line. As in xacro, a property is evaluated
once, at its first use, and a block in a property each time that it is inserted; a macro sees the
properties and macros of its caller.

Source: "xacro" of the ROS wiki, and the behavior of the package xacro 2.1.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from kittiwake.core.errors import did_you_mean
from kittiwake.scenario.files.expressions import (
    CONSTANTS,
    MAX_CHARACTERS,
    ExpressionError,
    Value,
    evaluate,
    literal,
)
from kittiwake.scenario.files.xml_elements import Element, read_elements
from kittiwake.scenario.problems import MAX_CHARACTERS as MAX_SHOWN
from kittiwake.scenario.problems import shortened

# this many steps take at most two seconds
MAX_STEPS = 60_000
# amounts that count as one step: bytes of a file, attributes, characters of a text and of an
# expression
STEP_BYTES, STEP_ATTRIBUTES, STEP_CHARACTERS, STEP_EXPRESSION = 20, 10, 50, 10
MAX_CALLS = 50
MAX_FILES = 100
MAX_PARAMETERS = 100
# number of names among which suggestions are searched
MAX_NAMES = 1000
XACRO = "xacro:"
KNOWN = ("property", "arg", "macro", "insert_block", "if", "unless", "include")
# $${ and $$( stand for ${ and $(
PIECE = re.compile(r"\$\$(?=[{(])|\$\{([^}]*)\}|\$\(([^)]*)\)|[^$]+|\$")
# stars, a name, and optionally a default with its signs
PARAMETER = re.compile(
    r"(\*{0,2})([A-Za-z_]\w*)"
    r"(?:\s*:?=\s*(\^\|?)?(\$\{[^}]*\}|\$\([^)]*\)|(?:'[^']*'|\"[^\"]*\"|[^\s'\"])*))?(?:\s+|$)"
)


def uses_xacro(root: Element) -> bool:
    """Return True if a file uses xacro."""
    return any(
        element.tag.startswith(XACRO)
        or any("${" in value or "$(" in value for value in element.attributes.values())
        for element in root.all()
    )


@dataclass(frozen=True)
class Expanded:
    """Tree without xacro, and whether other files were included."""

    root: Element
    includes: bool


def expanded(root: Element, path: Path) -> Expanded:
    """Return the tree of a file with its macros expanded.

    Raises:
        ScenarioError: for unknown or missing names, and beyond the limits.
    """
    expander, scope = _Expander(path.resolve().parent), _Scope({})
    try:
        attributes = expander.attributes(root, scope)
        children = expander.inside(root, scope, path, 0)
    except RecursionError:
        message = "macros and elements are nested too deeply"
        raise root.refusal(message) from None
    whole = Element(root.file, root.tag, root.line, attributes, children)
    return Expanded(whole, expander.files > 0)


@dataclass(frozen=True)
class _Text:
    """Property value that is evaluated at its first use."""

    text: str


@dataclass(frozen=True)
class _Parameter:
    name: str
    stars: str
    # whether its default is the caller's property of the same name
    inherits: bool
    default: str | None


@dataclass(frozen=True)
class _Macro:
    parameters: list[_Parameter]
    body: Element


@dataclass
class _Scope:
    """Properties and macros by name.

    A property is a text that is not yet evaluated, or a value. A block is an element under its
    name with one star in front, or two if only its content counts.
    """

    own: dict[str, Any]
    parent: "_Scope | None" = None
    macros: dict[str, _Macro] = field(default_factory=dict)

    def chain(self) -> "Iterator[_Scope]":
        """Yield this scope and all enclosing ones."""
        scope: _Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def holder(self, name: str) -> "_Scope | None":
        """Return the nearest scope with a property."""
        return next((scope for scope in self.chain() if name in scope.own), None)

    def macro(self, name: str) -> _Macro | None:
        """Return the nearest macro with a name."""
        return next((scope.macros[name] for scope in self.chain() if name in scope.macros), None)

    def top(self) -> "_Scope":
        """Return the scope of the file."""
        return [*self.chain()][-1]


@dataclass
class _Expander:
    """Expander of one file.

    Attributes:
        folder: the folder in or below which included files must be.
        files: the number of included files so far.
    """

    folder: Path
    files: int = 0
    _arguments: dict[str, str] = field(default_factory=dict)
    _steps: int = 0

    def inside(self, element: Element, scope: _Scope, file: Path, depth: int) -> list[Element]:
        """Return the expanded children of an element."""
        found: list[Element] = []
        for child in element.children:
            found += self._expand(child, scope, file, depth)
        return found

    def attributes(self, element: Element, scope: _Scope) -> dict[str, str]:
        """Return an element's attributes with evaluated values."""
        length = sum(map(len, element.attributes.values()))
        steps = len(element.attributes) // STEP_ATTRIBUTES + length // STEP_CHARACTERS
        self._count(element, steps)
        return {
            name: self._text(element, name, value, scope) if "$" in value else value
            for name, value in element.attributes.items()
            if not name.startswith("xmlns")
        }

    def _expand(self, element: Element, scope: _Scope, file: Path, depth: int) -> list[Element]:
        self._count(element)
        if not element.tag.startswith(XACRO):
            # before the children, which may redefine properties
            attributes = self.attributes(element, scope)
            children = self.inside(element, scope, file, depth)
            return [Element(element.file, element.tag, element.line, attributes, children)]
        name = element.tag.removeprefix(XACRO)
        if name in self._definitions():
            self._definitions()[name](element, scope, file, depth)
            return []
        if name in ("if", "unless"):
            self._allow(element, "value")
            given = self._evaluated(element, "value", self._given(element, "value"), scope)
            holds = _truth(element, given) == (name == "if")
            return self.inside(element, scope, file, depth) if holds else []
        if name == "insert_block":
            return self._block(element, scope, file, depth)
        if name == "include":
            return self._include(element, scope, file, depth)
        return self._call(element, name, scope, file, depth)

    def _definitions(self) -> dict[str, Callable[[Element, _Scope, Path, int], None]]:
        """Return the handlers of elements without output."""
        return {"property": self._define, "macro": self._define_macro, "arg": self._define_argument}

    def _define_argument(self, element: Element, scope: _Scope, file: Path, depth: int) -> None:
        del file, depth
        self._allow(element, "name", "default")
        name = self._given(element, "name")
        if "default" in element.attributes and name not in self._arguments:
            text = self._text(element, "default", element.attributes["default"], scope)
            self._arguments[name] = text

    def _count(self, element: Element, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > MAX_STEPS:
            message = f"grows beyond {MAX_STEPS} elements, values and names, the limit of expansion"
            raise element.refusal(message)

    def _given(self, element: Element, name: str) -> str:
        if name not in element.attributes:
            message = f"{name} is missing"
            raise element.refusal(message)
        return element.attributes[name]

    def _allow(self, element: Element, *names: str) -> None:
        for name in element.attributes:
            if name not in names:
                known = _suggestion(name, names)
                _refuse(element, f"{shortened(name)} is not known here. {known}")

    def _define(self, element: Element, scope: _Scope, file: Path, depth: int) -> None:
        del file, depth
        self._allow(element, "name", "value", "default", "scope")
        name = self._text(element, "name", self._given(element, "name"), scope)
        place = element.attributes.get("scope", "local")
        if place not in ("local", "parent", "global"):
            message = f"scope: {shortened(place)} is not allowed; write parent or global"
            raise element.refusal(message)
        if "default" in element.attributes and scope.holder(name) is not None:
            return
        home = {"local": scope, "parent": scope.parent or scope, "global": scope.top()}[place]
        text = element.attributes.get("value", element.attributes.get("default"))
        if text is None:
            home.own[f"**{name}"] = element
        elif place == "local":
            self._count(element, 1 + len(text) // STEP_CHARACTERS)
            value = literal(text)
            home.own[name] = _Text(value) if isinstance(value, str) else value
        else:  # its names are known only in this scope
            home.own[name] = self._value(element, "value", text, scope)

    def _define_macro(self, element: Element, scope: _Scope, file: Path, depth: int) -> None:
        del file, depth
        self._allow(element, "name", "params")
        name = self._given(element, "name").removeprefix(XACRO)
        if name in KNOWN:
            message = f"a macro cannot be called {name}"
            raise element.refusal(message)
        text = element.attributes.get("params", "").strip()
        self._count(element, 1 + len(text) // STEP_CHARACTERS)
        scope.macros[name] = _Macro(self._parameters(element, text), element)

    def _parameters(self, element: Element, text: str) -> list[_Parameter]:
        """Return the parameters that a text declares."""
        parameters: list[_Parameter] = []
        end = 0
        while end < len(text):
            found = PARAMETER.match(text, end)
            if found is None:
                _refuse(element, f"params: {shortened(text[end:])} is not a parameter")
            if len(parameters) == MAX_PARAMETERS:
                _refuse(element, f"params: more than {MAX_PARAMETERS}, the limit of a macro")
            stars, called, caret, default = found.groups()
            self._count(element)
            parameters.append(_Parameter(called, stars, caret is not None, default or None))
            end = found.end()
        return parameters

    def _block(self, element: Element, scope: _Scope, file: Path, depth: int) -> list[Element]:
        self._allow(element, "name")
        self._refuse_depth(element, depth)
        name = self._given(element, "name")
        inside, whole = scope.holder(f"**{name}"), scope.holder(f"*{name}")
        if inside is not None:
            return self.inside(inside.own[f"**{name}"], scope, file, depth + 1)
        if whole is not None:
            return self._expand(whole.own[f"*{name}"], scope, file, depth + 1)
        _refuse(element, f"there is no block {shortened(name)}")

    def _include(self, element: Element, scope: _Scope, file: Path, depth: int) -> list[Element]:
        self._allow(element, "filename")
        name = self._text(element, "filename", self._given(element, "filename"), scope)
        path = Path(os.path.realpath(file.parent / name))  # unlike resolve, never raises
        if Path(name).is_absolute() or not path.is_relative_to(self.folder):
            message = (
                f"{shortened(name)} is outside the first file's folder; move it there and name it "
                "relative to this file"
            )
            raise element.refusal(message)
        self.files += 1
        if self.files > MAX_FILES or depth >= MAX_CALLS:
            _refuse(element, f"more than {MAX_FILES} files, or more than {MAX_CALLS} nested ones")
        with suppress(OSError):  # reading the file reports the error
            self._count(element, path.stat().st_size // STEP_BYTES)
        root = read_elements(path, str(path.relative_to(self.folder)))
        return self.inside(root, scope, path, depth + 1)

    def _refuse_depth(self, element: Element, depth: int) -> None:
        if depth >= MAX_CALLS:
            _refuse(element, f"is inside {MAX_CALLS} other calls, the limit of expansion")

    def _call(
        self, element: Element, name: str, scope: _Scope, file: Path, depth: int
    ) -> list[Element]:
        macro = scope.macro(name)
        if macro is None:
            names = [*KNOWN, *(one for place in scope.chain() for one in place.macros)]
            _refuse(
                element,
                f"is neither a xacro element nor a macro of this file. {_suggestion(name, names)}",
            )
        self._refuse_depth(element, depth)
        self._allow(element, *(one.name for one in macro.parameters if not one.stars))
        inner = _Scope({}, scope)
        # attributes, then children, then defaults, as each may change the next
        given = {
            key: self._value(element, key, text, scope) for key, text in element.attributes.items()
        }
        blocks = iter(self.inside(element, scope, file, depth + 1))
        for parameter in macro.parameters:
            self._count(element)
            called = parameter.name
            if not parameter.stars:
                known = called in given
                inner.own[called] = (
                    given[called] if known else self._default(parameter, element, scope)
                )
                continue
            block = next(blocks, None)
            if block is None:
                _refuse(element, f"the block {shortened(called)} is missing")
            inner.own[parameter.stars + called] = block
        if (left := next(blocks, None)) is not None:
            _refuse(left, f"is one block too many for the macro {name[:MAX_SHOWN]}")
        return self.inside(macro.body, inner, file, depth + 1)

    def _default(self, parameter: _Parameter, element: Element, scope: _Scope) -> Any:
        """Return the default of a parameter that a call leaves out."""
        name = parameter.name
        if parameter.inherits and (home := scope.holder(name)) is not None:
            return self._property_value(element, name, home)
        if parameter.default is None:
            _refuse(element, f"{name} is missing")
        return self._value(element, name, parameter.default, scope)

    def _text(self, element: Element, name: str, text: str, scope: _Scope) -> str:
        return str(self._evaluated(element, name, text, scope))

    def _value(self, element: Element, name: str, text: str, scope: _Scope) -> Value:
        return literal(self._evaluated(element, name, text, scope))

    def _evaluated(self, element: Element, name: str, text: str, scope: _Scope) -> Value:
        """Return a text with evaluated expressions; a single expression keeps its type."""
        self._count(element, len(text) // STEP_CHARACTERS)
        pieces: list[Value] = []
        length = 0
        for piece in PIECE.finditer(text):
            expression, command = piece.groups()
            if expression is not None:
                value = self._expression(element, name, expression, scope)
            elif command is not None:
                value = self._command(element, name, command)
            else:
                value = "$" if piece.group() == "$$" else piece.group()
            pieces.append(value)
            length += len(value) if isinstance(value, str) else 1
            if length > MAX_CHARACTERS:
                _refuse(element, f"{name}: grows beyond {MAX_CHARACTERS} characters")
        return pieces[0] if len(pieces) == 1 else "".join(map(str, pieces))

    def _command(self, element: Element, name: str, command: str) -> str:
        words = command.split()
        if len(words) == 2 and words[0] == "arg":
            if words[1] not in self._arguments:
                message = f"{name}: the argument {shortened(words[1])} has no default"
                raise element.refusal(message)
            return self._arguments[words[1]]
        message = (
            f"{name}: {shortened(f'$({command})')} is not allowed; only $(arg NAME) is; name files "
            "relative to the file that includes them"
        )
        raise element.refusal(message)

    def _expression(self, element: Element, name: str, text: str, scope: _Scope) -> Value:
        self._count(element, 1 + len(text) // STEP_EXPRESSION)
        try:
            return evaluate(text, lambda called: self._property(element, called, scope))
        except ExpressionError as error:
            _refuse(element, f"{name}: {shortened('${' + text[:MAX_SHOWN] + '}')}: {error}")

    def _property(self, element: Element, name: str, scope: _Scope) -> Value:
        self._count(element)
        home = scope.holder(name)
        if home is not None:
            found = self._property_value(element, name, home)
            if not isinstance(found, _Pending):
                return found
            message = f"'{name}' refers to itself"
        elif name in CONSTANTS:
            return CONSTANTS[name]
        elif scope.holder(f"*{name}") or scope.holder(f"**{name}"):
            message = f"'{name}' is a block"
        else:
            names = (one for place in scope.chain() for one in place.own if not one.startswith("*"))
            message = f"there is no property '{name}'. {_suggestion(name, names)}".rstrip()
        raise ExpressionError(message)

    def _property_value(self, element: Element, name: str, home: _Scope) -> Any:
        """Return a property's value, which is evaluated once until its next definition."""
        stored = home.own[name]
        if isinstance(stored, _Text):
            home.own[name] = _Pending(name)
            home.own[name] = self._value(element, name, stored.text, home)
        return home.own[name]


@dataclass(frozen=True)
class _Pending:
    """Placeholder of a property during its evaluation."""

    name: str


def _suggestion(given: str, names: Iterable[str]) -> str:
    """Return a suggestion of similar names; empty without names."""
    known = [*islice((name for name in names if len(name) <= MAX_SHOWN), MAX_NAMES)]
    return did_you_mean(given[:MAX_SHOWN], known) if known else ""


def _refuse(element: Element, message: str) -> NoReturn:
    raise element.refusal(message)


def _truth(element: Element, given: Value) -> bool:
    """Return a condition's value: text is true, false or an integer, other values as in Python."""
    if not isinstance(given, str):
        return bool(given)
    known: Mapping[str, bool] = {"true": True, "True": True, "false": False, "False": False}
    if given in known:
        return known[given]
    try:
        return bool(int(given))
    except ValueError:
        message = (
            f"value: {shortened(given)} is neither true nor false; write true, false or a whole "
            "number, or a comparison such as ${a > 0.5}"
        )
        raise element.refusal(message) from None
