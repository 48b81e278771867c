"""Xacro, the macro language of ROS for robot descriptions, expanded without running any program.

Known are properties (numbers, words and blocks), arguments with their defaults, macros with
parameters, defaults (also ``^`` and ``^|``) and blocks (``*origin``, ``**inside``),
``insert_block``, ``if`` and ``unless``, ``include`` of files in or below the first file's folder,
and arithmetic in ``${...}``: numbers, words, properties, ``+ - * / // % **``, comparisons,
``and or not``, ``a if b else c``, and all ``FUNCTIONS`` and ``CONSTANTS`` of ``expressions``.
Anything else is refused by name, with its file and line. As in xacro a property is computed once,
where it is first used, and a block that a property holds each time that it is inserted; a macro
sees the properties and macros of the place that it is called from.

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
    computed,
    literal,
)
from kittiwake.scenario.files.xml_elements import Element, read_elements
from kittiwake.scenario.problems import MAX_CHARACTERS as MAX_SHOWN
from kittiwake.scenario.problems import shortened

# so many take two seconds of computing at most
MAX_STEPS = 60_000
# how much of what is read counts as a step: bytes of a file, attributes, characters of a text and
# of an expression
STEP_BYTES, STEP_ATTRIBUTES, STEP_CHARACTERS, STEP_EXPRESSION = 20, 10, 50, 10
MAX_CALLS = 50
MAX_FILES = 100
MAX_PARAMETERS = 100
# among which a name that was meant is looked for
MAX_NAMES = 1000
XACRO = "xacro:"
KNOWN = ("property", "arg", "macro", "insert_block", "if", "unless", "include")
# $${ and $$( stand for ${ and $(
PIECE = re.compile(r"\$\$(?=[{(])|\$\{([^}]*)\}|\$\(([^)]*)\)|[^$]+|\$")
# stars, a name, and after it the signs of a default with what that is
PARAMETER = re.compile(
    r"(\*{0,2})([A-Za-z_]\w*)"
    r"(?:\s*:?=\s*(\^\|?)?(\$\{[^}]*\}|\$\([^)]*\)|(?:'[^']*'|\"[^\"]*\"|[^\s'\"])*))?(?:\s+|$)"
)


def uses_xacro(root: Element) -> bool:
    """Whether a file has yet to be expanded."""
    return any(
        element.tag.startswith(XACRO)
        or any("${" in value or "$(" in value for value in element.attributes.values())
        for element in root.all()
    )


@dataclass(frozen=True)
class Expanded:
    """A tree without xacro in it, and whether other files were included."""

    root: Element
    includes: bool


def expanded(root: Element, path: Path) -> Expanded:
    """The tree of a file with its macros expanded.

    Raises:
        ScenarioError: for what is not known, not found, or too much.
    """
    expander, scope = _Expander(path.resolve().parent), _Scope({})
    try:
        attributes = expander.attributes(root, scope)
        children = expander.inside(root, scope, path, 0)
    except RecursionError:
        message = "what is in it lies too deep in macros and elements"
        raise root.refusal(message) from None
    whole = Element(root.file, root.tag, root.line, attributes, children)
    return Expanded(whole, expander.files > 0)


@dataclass(frozen=True)
class _Text:
    """A property's value, computed when it is first used."""

    text: str


@dataclass(frozen=True)
class _Parameter:
    name: str
    stars: str
    # of one that takes what the caller's property of its name is
    inherits: bool
    default: str | None


@dataclass(frozen=True)
class _Macro:
    parameters: list[_Parameter]
    body: Element


@dataclass
class _Scope:
    """Properties and macros by name.

    A property is a text that is yet to be computed, or a value. A block is an element under its
    name with one star before it, or two where only what is inside it counts.
    """

    own: dict[str, Any]
    parent: "_Scope | None" = None
    macros: dict[str, _Macro] = field(default_factory=dict)

    def chain(self) -> "Iterator[_Scope]":
        """Itself, and what it lies in."""
        scope: _Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def holder(self, name: str) -> "_Scope | None":
        """The nearest scope that has a property."""
        return next((scope for scope in self.chain() if name in scope.own), None)

    def macro(self, name: str) -> _Macro | None:
        """The nearest macro of a name."""
        return next((scope.macros[name] for scope in self.chain() if name in scope.macros), None)

    def top(self) -> "_Scope":
        """The file's own."""
        return [*self.chain()][-1]


@dataclass
class _Expander:
    """Expands one file.

    Attributes:
        folder: in or below which included files lie.
        files: how many have been included.
    """

    folder: Path
    files: int = 0
    _arguments: dict[str, str] = field(default_factory=dict)
    _steps: int = 0

    def inside(self, element: Element, scope: _Scope, file: Path, depth: int) -> list[Element]:
        """What becomes of all that is inside an element."""
        found: list[Element] = []
        for child in element.children:
            found += self._expand(child, scope, file, depth)
        return found

    def attributes(self, element: Element, scope: _Scope) -> dict[str, str]:
        """An element's attributes with their values computed."""
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
            # before what is inside, which may give properties anew
            attributes = self.attributes(element, scope)
            children = self.inside(element, scope, file, depth)
            return [Element(element.file, element.tag, element.line, attributes, children)]
        name = element.tag.removeprefix(XACRO)
        if name in self._silent():
            self._silent()[name](element, scope, file, depth)
            return []
        if name in ("if", "unless"):
            self._allow(element, "value")
            given = self._computed(element, "value", self._given(element, "value"), scope)
            holds = _truth(element, given) == (name == "if")
            return self.inside(element, scope, file, depth) if holds else []
        if name == "insert_block":
            return self._block(element, scope, file, depth)
        if name == "include":
            return self._include(element, scope, file, depth)
        return self._call(element, name, scope, file, depth)

    def _silent(self) -> dict[str, Callable[[Element, _Scope, Path, int], None]]:
        """What leaves nothing where it stands."""
        return {"property": self._define, "macro": self._define_macro, "arg": self._argue}

    def _argue(self, element: Element, scope: _Scope, file: Path, depth: int) -> None:
        del file, depth
        self._allow(element, "name", "default")
        name = self._given(element, "name")
        if "default" in element.attributes and name not in self._arguments:
            text = self._text(element, "default", element.attributes["default"], scope)
            self._arguments[name] = text

    def _count(self, element: Element, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > MAX_STEPS:
            message = (
                f"grows beyond {MAX_STEPS} elements, values and names, the most that is expanded"
            )
            raise element.refusal(message)

    def _given(self, element: Element, name: str) -> str:
        if name not in element.attributes:
            message = f"{name} is missing"
            raise element.refusal(message)
        return element.attributes[name]

    def _allow(self, element: Element, *names: str) -> None:
        for name in element.attributes:
            if name not in names:
                known = _meant(name, names)
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
        else:  # what it is made of is known only here
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
        """Those that a text declares."""
        parameters: list[_Parameter] = []
        end = 0
        while end < len(text):
            found = PARAMETER.match(text, end)
            if found is None:
                _refuse(element, f"params: {shortened(text[end:])} is no parameter")
            if len(parameters) == MAX_PARAMETERS:
                _refuse(element, f"params: more than {MAX_PARAMETERS}, the most that a macro has")
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
        path = Path(os.path.realpath(file.parent / name))  # never raises, as in a loop of links
        if Path(name).is_absolute() or not path.is_relative_to(self.folder):
            message = (
                f"{shortened(name)} lies outside the first file's folder; move it there and name "
                "it from here"
            )
            raise element.refusal(message)
        self.files += 1
        if self.files > MAX_FILES or depth >= MAX_CALLS:
            _refuse(element, f"more than {MAX_FILES} files, or {MAX_CALLS} in each other")
        with suppress(OSError):  # reading it tells what is wrong
            self._count(element, path.stat().st_size // STEP_BYTES)
        root = read_elements(path, str(path.relative_to(self.folder)))
        return self.inside(root, scope, path, depth + 1)

    def _refuse_depth(self, element: Element, depth: int) -> None:
        if depth >= MAX_CALLS:
            _refuse(element, f"lies in {MAX_CALLS} other calls, the most that are expanded")

    def _call(
        self, element: Element, name: str, scope: _Scope, file: Path, depth: int
    ) -> list[Element]:
        macro = scope.macro(name)
        if macro is None:
            names = [*KNOWN, *(one for place in scope.chain() for one in place.macros)]
            _refuse(element, f"is neither known nor a macro of this file. {_meant(name, names)}")
        self._refuse_depth(element, depth)
        self._allow(element, *(one.name for one in macro.parameters if not one.stars))
        inner = _Scope({}, scope)
        # before what is inside the call, and that before the defaults, as each may change the next
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
                    given[called] if known else self._left_out(parameter, element, scope)
                )
                continue
            block = next(blocks, None)
            if block is None:
                _refuse(element, f"the block {shortened(called)} is missing")
            inner.own[parameter.stars + called] = block
        if (left := next(blocks, None)) is not None:
            _refuse(left, f"is one block more than the macro {name[:MAX_SHOWN]} takes")
        return self.inside(macro.body, inner, file, depth + 1)

    def _left_out(self, parameter: _Parameter, element: Element, scope: _Scope) -> Any:
        """What stands for a parameter that a call does not give."""
        name = parameter.name
        if parameter.inherits and (home := scope.holder(name)) is not None:
            return self._known(element, name, home)
        if parameter.default is None:
            _refuse(element, f"{name} is missing")
        return self._value(element, name, parameter.default, scope)

    def _text(self, element: Element, name: str, text: str, scope: _Scope) -> str:
        return str(self._computed(element, name, text, scope))

    def _value(self, element: Element, name: str, text: str, scope: _Scope) -> Value:
        return literal(self._computed(element, name, text, scope))

    def _computed(self, element: Element, name: str, text: str, scope: _Scope) -> Value:
        """A text with its expressions computed; one that is an expression keeps its value."""
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
            f"{name}: {shortened(f'$({command})')} is not allowed; $(arg NAME) is, and files are "
            "named from the file that includes them"
        )
        raise element.refusal(message)

    def _expression(self, element: Element, name: str, text: str, scope: _Scope) -> Value:
        self._count(element, 1 + len(text) // STEP_EXPRESSION)
        try:
            return computed(text, lambda called: self._property(element, called, scope))
        except ExpressionError as error:
            _refuse(element, f"{name}: {shortened('${' + text[:MAX_SHOWN] + '}')}: {error}")

    def _property(self, element: Element, name: str, scope: _Scope) -> Value:
        self._count(element)
        home = scope.holder(name)
        if home is not None:
            found = self._known(element, name, home)
            if not isinstance(found, _Busy):
                return found
            message = f"'{name}' is made of itself"
        elif name in CONSTANTS:
            return CONSTANTS[name]
        elif scope.holder(f"*{name}") or scope.holder(f"**{name}"):
            message = f"'{name}' is a block"
        else:
            names = (one for place in scope.chain() for one in place.own if not one.startswith("*"))
            message = f"there is no property '{name}'. {_meant(name, names)}".rstrip()
        raise ExpressionError(message)

    def _known(self, element: Element, name: str, home: _Scope) -> Any:
        """What a property is: computed once, and the same from then on, until it is given anew."""
        held = home.own[name]
        if isinstance(held, _Text):
            home.own[name] = _Busy(name)
            home.own[name] = self._value(element, name, held.text, home)
        return home.own[name]


@dataclass(frozen=True)
class _Busy:
    """Stands for a property while it is being computed."""

    name: str


def _meant(given: str, names: Iterable[str]) -> str:
    """Which of the names is near, and what else there is; nothing where there are none."""
    known = [*islice((name for name in names if len(name) <= MAX_SHOWN), MAX_NAMES)]
    return did_you_mean(given[:MAX_SHOWN], known) if known else ""


def _refuse(element: Element, said: str) -> NoReturn:
    raise element.refusal(said)


def _truth(element: Element, given: Value) -> bool:
    """As xacro has it: words are true, false or a whole number, and other values as in Python."""
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
