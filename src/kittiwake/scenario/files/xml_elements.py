"""Reader of robot descriptions in XML as trees of elements with line numbers, without text.

The descriptions are in URDF or xacro, which have the same root element.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml.common import DTDForbidden
from defusedxml.sax import parseString
from typing_extensions import override

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.problems import shortened

MAX_BYTES = 2 * 2**20
MAX_DEPTH = 100
MAX_ELEMENTS = 100_000
ROOT = "robot"


@dataclass(frozen=True)
class Element:
    """Element of a file, with the line in which it begins."""

    file: str
    tag: str
    line: int
    attributes: Mapping[str, str]
    children: list["Element"] = field(default_factory=list)

    def refusal(self, message: str) -> ScenarioError:
        """Return an error about the element, with its place before the message."""
        return ScenarioError(f"{self.file}:{self.line}: <{self.tag}>: {message}")

    def all(self) -> Iterator["Element"]:
        """Yield the element and all its descendants."""
        yield self
        for child in self.children:
            yield from child.all()

    def only(self, tag: str) -> "Element | None":
        """Return the child with a tag, or None; refuse more than one."""
        found = [child for child in self.children if child.tag == tag]
        if len(found) > 1:
            message = f"there is another one in line {found[0].line}"
            raise found[1].refusal(message)
        return found[0] if found else None

    def required(self, tag: str) -> "Element":
        """Return the child with a tag; refuse a missing one."""
        found = self.only(tag)
        if found is None:
            message = f"<{tag}> is missing"
            raise self.refusal(message)
        return found

    def number(self, name: str) -> float:
        """Return the finite number in an attribute."""
        if name not in self.attributes:
            message = f"{name} is missing"
            raise self.refusal(message)
        return self._numbers(name, self.attributes[name], 1, "a finite number")[0]

    def vector(self, name: str) -> Vec3:
        """Return the three numbers in an attribute; zeros without it."""
        text = self.attributes.get(name, "0 0 0")
        return Vec3.of(self._numbers(name, text, 3, "3 finite numbers"))

    def _numbers(self, name: str, text: str, count: int, rule: str) -> list[float]:
        try:
            numbers = [float(word) for word in text.split()]
        except ValueError:
            numbers = []
        if len(numbers) != count or not all(map(math.isfinite, numbers)):
            message = f"{name}: {shortened(text)} is not allowed; must be {rule}"
            raise self.refusal(message)
        return numbers


class _Tree(ContentHandler):
    """Handler that stores the root with all descendants."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.root: Element | None = None
        self._file = file
        self._open: list[Element] = []
        self._count = 0
        self._place = Locator()

    @override
    def setDocumentLocator(self, locator: Locator) -> None:
        self._place = locator

    @override
    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        element = Element(self._file, name, self._place.getLineNumber() or 1, dict(attrs.items()))
        self._count += 1
        if self._count > MAX_ELEMENTS:
            message = f"is beyond the limit of {MAX_ELEMENTS} elements"
            raise element.refusal(message)
        if len(self._open) == MAX_DEPTH:
            message = f"is inside {MAX_DEPTH} other elements, the limit of nesting"
            raise element.refusal(message)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)
        if len(self._open) == 1 and name != ROOT:
            message = f"a URDF file begins with <{ROOT}>"
            raise element.refusal(message)

    @override
    def endElement(self, name: str) -> None:
        del name
        self._open.pop()


def read_elements(path: Path, name: str) -> Element:
    """Return the root of a file, which has this name in messages.

    Raises:
        ScenarioError: if the file cannot be read, is too large or too deep, or is not XML.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None
    return parse_elements(content, name)


def parse_elements(content: bytes, name: str) -> Element:
    """Return the root of a text, which has this name in messages.

    Raises:
        ScenarioError: if the text is too large or too deep, or is not XML.
    """
    if len(content) > MAX_BYTES:
        message = f"{name}: larger than {MAX_BYTES // 2**20} MiB, the most that is read"
        raise ScenarioError(message)
    tree = _Tree(name)
    try:
        parseString(content, tree, forbid_dtd=True)
    except SAXParseException as error:
        message = f"{name}:{error.getLineNumber()}: not XML ({error.getMessage()})"
        raise ScenarioError(message) from None
    except DTDForbidden:
        message = f"{name}: a document type is not allowed; remove <!DOCTYPE ...>"
        raise ScenarioError(message) from None
    except (LookupError, ValueError) as error:  # an encoding that Python or expat does not know
        message = f"{name}: not readable text ({error}); save it as UTF-8"
        raise ScenarioError(message) from None
    assert tree.root is not None, "valid XML has a root"
    return tree.root
