"""Mass and inertia of a body from a URDF file, in which ROS describes robots.

The ``<inertial>`` of a link gives its mass, where its centre of mass lies, and its inertia about
that in axes turned by ``rpy`` about the link's fixed x, then y, then z axis:

    I_link = R I R^T,    R = Rz(yaw) Ry(pitch) Rx(roll).

The axes are x forward, y left, z up (REP-103) and the products entries of the matrix, as here.
Source: "urdf/XML/link" of the ROS wiki. Neglected: all else in the file; links are not added up.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

import equinox as eqx
import numpy as np
from defusedxml.common import DTDForbidden
from defusedxml.sax import parseString

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.problems import shortened

MAX_BYTES = 2 * 2**20
MAX_DEPTH = 100
# a centre of mass that is nearer to the link's origin lies there
SAME_PLACE_M = 1e-9

LINK = ["robot", "link"]
INERTIAL = [*LINK, "inertial"]
XACRO = "this is a xacro file; expand it first: xacro file.xacro > file.urdf"


class UrdfSource(eqx.Module):
    """``parameters.urdf``: a file, and the link to take where several have an ``<inertial>``."""

    file: str
    link: str | None = None


@dataclass(frozen=True)
class MassProperties:
    """What moves a body, under the names of the parameters that it gives."""

    mass_kg: float
    inertia_kgm2: Inertia


def read_mass_properties(path: Path, link: str | None) -> MassProperties:
    """Mass and inertia of a link; without a name, of the only one that has an ``<inertial>``.

    Raises:
        ScenarioError: if the file cannot be read, or gives no link that can fly alone.
    """
    parts = _chosen(path.name, _inertials(path), link)
    inertial = parts["inertial"]
    for tag in ("mass", "inertia"):
        if tag not in parts:
            message = f"<{tag}> is missing"
            raise inertial.refusal(message)
    origin = parts.get("origin", Element(path.name, "origin", inertial.line, {}))
    return MassProperties(_mass_kg(parts["mass"]), _inertia(parts["inertia"], _rotation(origin)))


@dataclass(frozen=True)
class Element:
    """An element of a file, with the line in which it begins."""

    file: str
    tag: str
    line: int
    attributes: Mapping[str, str]

    def refusal(self, said: str) -> ScenarioError:
        """A sentence about the element, with its place before it."""
        return ScenarioError(f"{self.file}:{self.line}: <{self.tag}>: {said}")

    def number(self, name: str) -> float:
        """The finite number that an attribute holds."""
        if name not in self.attributes:
            message = f"{name} is missing"
            raise self.refusal(message)
        return self._numbers(name, self.attributes[name], 1, "a finite number")[0]

    def vector(self, name: str) -> Vec3:
        """The three numbers that an attribute holds; zeros without it."""
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


class _Inertials(ContentHandler):
    """Keeps of a file each link's ``<inertial>`` with what stands in it, by tag."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.by_link: dict[str, dict[str, Element]] = {}
        self._file = file
        self._open: list[str] = []
        self._link = ""
        self._place = Locator()

    def setDocumentLocator(self, locator: Locator) -> None:
        self._place = locator

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        element = Element(self._file, name, self._place.getLineNumber() or 1, dict(attrs.items()))
        if len(self._open) == MAX_DEPTH:
            message = f"lies inside {MAX_DEPTH} others; no robot is described so deeply"
            raise element.refusal(message)
        self._open.append(name)
        self._refuse_foreign(element)
        if self._open == LINK:
            self._link = element.attributes.get("name", "")
        elif self._open == INERTIAL:
            self._begin(element)
        elif self._open[:-1] == INERTIAL:
            self._add(element)

    def endElement(self, name: str) -> None:
        del name
        self._open.pop()

    def _refuse_foreign(self, element: Element) -> None:
        # files that xacro has expanded may still declare its namespace
        values = element.attributes.values()
        if element.tag.startswith("xacro:") or any("${" in v or "$(" in v for v in values):
            raise element.refusal(XACRO)
        if len(self._open) == 1 and element.tag != "robot":
            message = "a URDF file begins with <robot>"
            raise element.refusal(message)

    def _begin(self, element: Element) -> None:
        if self._link in self.by_link:
            message = f"there is another <inertial> of the link {shortened(self._link)}"
            raise element.refusal(message)
        self.by_link[self._link] = {element.tag: element}

    def _add(self, element: Element) -> None:
        parts = self.by_link[self._link]
        if element.tag in parts:
            message = f"there is another one in line {parts[element.tag].line}"
            raise element.refusal(message)
        parts[element.tag] = element


def _inertials(path: Path) -> dict[str, dict[str, Element]]:
    """By link the elements in its ``<inertial>``, and this itself, by tag."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None
    if len(content) > MAX_BYTES:
        message = f"{path.name}: larger than {MAX_BYTES // 2**20} MiB, the most that is read"
        raise ScenarioError(message)
    found = _Inertials(path.name)
    try:
        parseString(content, found, forbid_dtd=True)
    except SAXParseException as error:
        message = f"{path.name}:{error.getLineNumber()}: not XML ({error.getMessage()})"
        raise ScenarioError(message) from None
    except DTDForbidden:
        message = f"{path.name}: a document type is not allowed; take <!DOCTYPE ...> out"
        raise ScenarioError(message) from None
    except (LookupError, ValueError) as error:  # an encoding that Python or expat does not know
        message = f"{path.name}: not text that can be read ({error}); save it as UTF-8"
        raise ScenarioError(message) from None
    return found.by_link


def _chosen(
    file: str, by_link: Mapping[str, dict[str, Element]], link: str | None
) -> dict[str, Element]:
    names = list(by_link)
    if not names:
        message = f"{file}: no link has an <inertial>, which would give mass and inertia"
    elif link is None and len(names) > 1:
        message = (
            f"{file}: {len(names)} links have an <inertial>: {', '.join(names)}. None is added to "
            f"another, not even over a fixed joint; name one, as in {{file: {file}, "
            f"link: {names[0]}}}"
        )
    elif link is not None and link not in by_link:
        known = did_you_mean(link, names)
        message = f"{file}: no link {shortened(link)} has an <inertial>. {known}"
    else:
        return by_link[names[0] if link is None else link]
    raise ScenarioError(message)


def _mass_kg(mass: Element) -> float:
    mass_kg = mass.number("value")
    if not mass_kg > 0.0:
        message = f"value: {mass_kg:g} is not allowed; must be above 0"
        raise mass.refusal(message)
    return mass_kg


def _rotation(origin: Element) -> np.ndarray:
    """R of the ``<origin>``, which has to lie in the link's own."""
    for name in origin.attributes:
        if name not in ("xyz", "rpy"):
            message = f"there is no {shortened(name)}; write the place as xyz, the angles as rpy"
            raise origin.refusal(message)
    distance_m = float(origin.vector("xyz").norm())
    if distance_m > SAME_PLACE_M:
        message = (
            f"its centre of mass lies {distance_m:.6g} m from the link's origin; Kittiwake counts "
            "positions from the centre of mass: move the link's origin there"
        )
        raise origin.refusal(message)
    angles = origin.vector("rpy")
    rotation = RotationZYX.of(EulerZYX(angles.x, angles.y, angles.z))
    axes = [rotation.reference_from_body(Vec3.of(axis)) for axis in np.eye(3)]
    return np.column_stack([axis.array for axis in axes])


def _inertia(inertia: Element, rotation: np.ndarray) -> Inertia:
    xx, yy, zz, xy, xz, yz = (
        inertia.number(name) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    )
    try:
        # as the file has it first, so that the sentence tells the file's moments
        turned = rotation @ Inertia(xx, yy, zz, xy, xz, yz).matrix @ rotation.T
        places = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        return Inertia(*(float(turned[place]) for place in places))
    except ValueError as error:
        raise inertia.refusal(str(error)) from None
