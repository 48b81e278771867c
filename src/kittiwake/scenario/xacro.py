"""Xacro, the macro language of ROS for robot descriptions, expanded without running any program.

Known are properties (numbers, words and blocks), arguments with their defaults, macros with
parameters, defaults (also ``^`` and ``^|``) and blocks (``*origin``, ``**inside``),
``insert_block``, ``if`` and ``unless``, ``include`` of files in or below the first file's folder,
and arithmetic in ``${...}``: numbers, words, properties, ``+ - * / // % **``, comparisons,
``and or not``, ``a if b else c``, and all ``FUNCTIONS`` and ``CONSTANTS`` of ``expressions``.
Anything else is refused by name, with its file and line. As in xacro a property is computed where
it is used, and a macro sees the properties of the place that it is called from.

Source: "xacro" of the ROS wiki, and the behavior of the package xacro 2.1.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from kittiwake.core.errors import did_you_mean
from kittiwake.scenario.expressions import MAX_CHARACTERS, ExpressionError, Value, computed, literal
from kittiwake.scenario.problems import shortened
from kittiwake.scenario.xml_elements import Element, read_elements

MAX_ELEMENTS = 20_000
MAX_CALLS = 50
MAX_FILES = 100
XACRO = "xacro:"
KNOWN = ("property", "arg", "macro", "insert_block", "if", "unless", "include")
# $${ and $$( stand for ${ and $(
PIECE = re.compile(r"\$\$(?=[{(])|\$\{([^}]*)\}|\$\(([^)]*)\)|[^$]+|\$")
PARAMETER = re.compile(r"(\*{0,2})([A-Za-z_]\w*)(?::?=(\^\|?)?('[^']*'|\"[^\"]*\"|\S*))?(?:\s+|$)")


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
        children = expander.inside(root, scope, path, 0)
        attributes = expander.attributes(root, scope)
    except RecursionError:
        message = "what is in it lies too deep in macros and elements"
        raise root.refusal(message) from None
    whole = Element(root.file, root.tag, root.line, attributes, children)
    return Expanded(whole, expander.files > 0)


@dataclass
class _Scope:
    """Properties by name: a text that is yet to be computed, a value, or a block of elements."""

    own: dict[str, Any]
    parent: "_Scope | None" = None

    def holder(self, name: str) -> "_Scope | None":
        """The nearest scope that has a property."""
        if name in self.own or self.parent is None:
            return self if name in self.own else None
        return self.parent.holder(name)

    def top(self) -> "_Scope":
        """The file's own."""
        return self if self.parent is None else self.parent.top()

    def names(self) -> list[str]:
        """All that can be seen from here."""
        return [*self.own, *(self.parent.names() if self.parent else [])]


@dataclass(frozen=True)
class _Text:
    """A property's value, computed where it is used."""

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
    file: Path


@dataclass
class _Expander:
    """Expands one file.

    Attributes:
        folder: in or below which included files lie.
        files: how many have been included.
    """

    folder: Path
    files: int = 0
    _macros: dict[str, _Macro] = field(default_factory=dict)
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
        return {
            name: self._text(element, name, value, scope)
            for name, value in element.attributes.items()
            if not name.startswith("xmlns")
        }

    def _expand(self, element: Element, scope: _Scope, file: Path, depth: int) -> list[Element]:
        self._count(element)
        if not element.tag.startswith(XACRO):
            children = self.inside(element, scope, file, depth)
            attributes = self.attributes(element, scope)
            return [Element(element.file, element.tag, element.line, attributes, children)]
        name = element.tag.removeprefix(XACRO)
        if name in self._silent():
            self._silent()[name](element, scope, file, depth)
            return []
        if name in ("if", "unless"):
            self._allow(element, "value")
            given = self._text(element, "value", self._given(element, "value"), scope)
            holds = _truth(element, given) == (name == "if")
            return self.inside(element, scope, file, depth) if holds else []
        if name == "insert_block":
            return self._block(element, scope)
        if name == "include":
            return self._include(element, scope, file, depth)
        return self._call(element, name, scope, file, depth)

    def _silent(self) -> dict[str, Callable[[Element, _Scope, Path, int], None]]:
        """What leaves nothing where it stands."""
        return {"property": self._define, "macro": self._define_macro, "arg": self._argue}

    def _argue(self, element: Element, scope: _Scope, file: Path, depth: int) -> None:
        del file, depth
        self._allow(element, "name", "default")
        if "default" in element.attributes:
            text = self._text(element, "default", element.attributes["default"], scope)
            self._arguments.setdefault(self._given(element, "name"), text)

    def _count(self, element: Element) -> None:
        self._steps += 1
        if self._steps > MAX_ELEMENTS:
            message = f"grows beyond {MAX_ELEMENTS} elements and values, the most that is expanded"
            raise element.refusal(message)

    def _given(self, element: Element, name: str) -> str:
        if name not in element.attributes:
            message = f"{name} is missing"
            raise element.refusal(message)
        return element.attributes[name]

    def _allow(self, element: Element, *names: str) -> None:
        for name in element.attributes:
            if name not in names:
                known = did_you_mean(name, [*names])
                _refuse(element, f"{shortened(name)} is not known here. {known}")

    def _define(self, element: Element, scope: _Scope, file: Path, depth: int) -> None:
        self._allow(element, "name", "value", "default", "scope")
        name = self._given(element, "name")
        place = element.attributes.get("scope", "local")
        if place not in ("local", "parent", "global"):
            message = f"scope: {shortened(place)} is not allowed; write parent or global"
            raise element.refusal(message)
        if "default" in element.attributes and scope.holder(name) is not None:
            return
        text = element.attributes.get("value", element.attributes.get("default"))
        given: Any
        if text is None:
            given = self.inside(element, scope, file, depth)
        elif place == "local":
            given = _Text(text)
        else:  # what it is made of is known only here
            given = self._value(element, "value", text, scope)
        home = {"local": scope, "parent": scope.parent or scope, "global": scope.top()}[place]
        home.own[name] = given

    def _define_macro(self, element: Element, scope: _Scope, file: Path, depth: int) -> None:
        del scope, depth
        self._allow(element, "name", "params")
        name = self._given(element, "name").removeprefix(XACRO)
        if name in KNOWN:
            message = f"a macro cannot be called {name}"
            raise element.refusal(message)
        text, end = element.attributes.get("params", "").strip(), 0
        parameters = []
        while end < len(text):
            found = PARAMETER.match(text, end)
            if found is None:
                message = f"params: {shortened(text[end:])} is no parameter"
                raise element.refusal(message)
            stars, called, caret, default = found.groups()
            known = None if caret == "^" or default is None else default
            parameters.append(_Parameter(called, stars, caret is not None, known))
            end = found.end()
        self._macros[name] = _Macro(parameters, element, file)

    def _block(self, element: Element, scope: _Scope) -> list[Element]:
        self._allow(element, "name")
        name = self._text(element, "name", self._given(element, "name"), scope)
        home = scope.holder(name)
        block = None if home is None else home.own[name]
        if not isinstance(block, list):
            _refuse(element, f"there is no block {shortened(name)}")
        for inserted in (one for top in block for one in top.all()):
            self._count(inserted)
        return block

    def _include(self, element: Element, scope: _Scope, file: Path, depth: int) -> list[Element]:
        self._allow(element, "filename")
        name = self._text(element, "filename", self._given(element, "filename"), scope)
        path = (file.parent / name).resolve()
        if Path(name).is_absolute() or not path.is_relative_to(self.folder):
            message = (
                f"{shortened(name)} lies outside the first file's folder; move it there and name "
                "it from here"
            )
            raise element.refusal(message)
        self.files += 1
        if self.files > MAX_FILES or depth >= MAX_CALLS:
            _refuse(element, f"more than {MAX_FILES} files, or {MAX_CALLS} in each other")
        root = read_elements(path, str(path.relative_to(self.folder)))
        return self.inside(root, scope, path, depth + 1)

    def _call(
        self, element: Element, name: str, scope: _Scope, file: Path, depth: int
    ) -> list[Element]:
        if name not in self._macros:
            known = did_you_mean(name, [*KNOWN, *self._macros])
            _refuse(element, f"is neither known nor a macro of this file. {known}")
        if depth >= MAX_CALLS:
            _refuse(element, f"lies in {MAX_CALLS} other calls, the most that are expanded")
        macro = self._macros[name]
        self._allow(element, *(one.name for one in macro.parameters if not one.stars))
        blocks = iter(element.children)
        inner = _Scope({}, scope)
        for parameter in macro.parameters:
            if parameter.stars:
                child = next(blocks, None)
                if child is None:
                    _refuse(element, f"the block {shortened(parameter.name)} is missing")
                parts = self._expand(child, scope, file, depth + 1)
                if parameter.stars == "**":
                    parts = [inside for part in parts for inside in part.children]
                inner.own[parameter.name] = parts
            else:
                inner.own[parameter.name] = self._passed(element, parameter, scope, inner)
        if (left := next(blocks, None)) is not None:
            _refuse(left, f"is one block more than the macro {name} takes")
        return self.inside(macro.body, inner, macro.file, depth + 1)

    def _passed(self, element: Element, parameter: _Parameter, scope: _Scope, inner: _Scope) -> Any:
        """What a call gives for a parameter, or what stands for it."""
        name = parameter.name
        if name in element.attributes:
            return self._value(element, name, element.attributes[name], scope)
        if parameter.inherits and (home := scope.holder(name)) is not None:
            return self._known(element, name, home)
        if parameter.default is None:
            _refuse(element, f"{name} is missing")
        return self._value(element, name, parameter.default, inner)

    def _text(self, element: Element, name: str, text: str, scope: _Scope) -> str:
        return str(self._computed(element, name, text, scope))

    def _value(self, element: Element, name: str, text: str, scope: _Scope) -> Value:
        return literal(self._computed(element, name, text, scope))

    def _computed(self, element: Element, name: str, text: str, scope: _Scope) -> Value:
        """A text with its expressions computed; one that is an expression keeps its value."""
        pieces: list[Value] = []
        escaped = False
        for piece in PIECE.finditer(text):
            expression, command = piece.groups()
            if escaped or (expression is None and command is None):
                escaped = piece.group() == "$$" and not escaped
                pieces.append("$" if piece.group() == "$$" else piece.group())
            elif expression is not None:
                pieces.append(self._expression(element, name, expression, scope))
            else:
                pieces.append(self._command(element, name, command))
        if len(pieces) == 1:
            return pieces[0]
        whole = "".join(map(str, pieces))
        if len(whole) > MAX_CHARACTERS:
            _refuse(element, f"{name}: grows beyond {MAX_CHARACTERS} characters")
        return whole

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
        self._count(element)
        said = f"{name}: {shortened('${' + text + '}')}"
        try:
            return computed(text, lambda called: self._property(element, called, scope))
        except ExpressionError as error:
            _refuse(element, f"{said}: {error}")

    def _property(self, element: Element, name: str, scope: _Scope) -> Value:
        home = scope.holder(name)
        if home is None:
            names = [one for one in scope.names() if len(one) > 1]
            known = did_you_mean(name, names) if names else ""
            message = f"there is no property '{name}'. {known}".rstrip()
            raise ExpressionError(message)
        found = self._known(element, name, home)
        if isinstance(found, list | _Busy):
            message = f"'{name}' is {'made of itself' if isinstance(found, _Busy) else 'a block'}"
            raise ExpressionError(message)
        return found

    def _known(self, element: Element, name: str, home: _Scope) -> Any:
        """What a property is; computed once, as nothing that it is made of can change it later."""
        held = home.own[name]
        if not isinstance(held, _Text):
            return held
        home.own[name] = _Busy(name)
        try:
            value = self._value(element, name, held.text, home)
        finally:
            home.own[name] = held
        return value


@dataclass(frozen=True)
class _Busy:
    """Stands for a property while it is being computed."""

    name: str


def _refuse(element: Element, said: str) -> NoReturn:
    raise element.refusal(said)


def _truth(element: Element, given: str) -> bool:
    known: Mapping[str, bool] = {"true": True, "True": True, "false": False, "False": False}
    if given in known:
        return known[given]
    try:
        return bool(float(given))
    except ValueError:
        message = f"value: {shortened(given)} is neither true nor false"
        raise element.refusal(message) from None
