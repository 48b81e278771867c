"""Mass and inertia of a body from a URDF file, the robot description format of ROS.

The ``<inertial>`` of a link gives its mass, the position of its center of mass, and its inertia
about that point in axes rotated by ``rpy`` about the link's fixed x, then y, then z axis:

    I_link = R I R^T,    R = Rz(yaw) Ry(pitch) Rx(roll).

Links with fixed joints between them are one body. The joints' origins transform each link into the
axes of the root, the first link of the chain of fixed joints, which may have no mass, as ROS's
``base_link`` often does. The parallel-axis theorem adds the links about the common center of mass.
A link named ``world`` is not part of the chain, nor are links on joints that move.

The axes are x forward, y left, z up (REP-103), and the products are entries of the inertia matrix.
Source: "urdf/XML/link" and "urdf/XML/joint" of the ROS wiki. All else in the file is neglected.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kittiwake.core.bounds import Bounds
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.mass_elements import MASS_KG, PLACE_M, MassElement, combine_masses
from kittiwake.pytree import Module
from kittiwake.scenario.files.xacro import expanded, uses_xacro
from kittiwake.scenario.files.xml_elements import Element, parse_elements, read_elements
from kittiwake.scenario.problems import shortened

FIXED, WORLD = "fixed", "world"
ENTRIES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
# bounded by the largest mass at the largest distance
INERTIA_KGM2 = Bounds(-MASS_KG.high * PLACE_M.high**2, MASS_KG.high * PLACE_M.high**2)
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


class UrdfSource(Module):
    """``parameters.urdf``: a file, and optionally a single link of it."""

    file: str
    link: str | None = None


@dataclass(frozen=True)
class MassProperties:
    """Mass and inertia of a body, with the names of the parameters that they give."""

    mass_kg: float
    inertia_kgm2: Inertia


@dataclass(frozen=True)
class DescribedBody:
    """Description of a body in a file.

    Attributes:
        properties: mass and inertia about the center of mass, in the axes of the link.
        center_m: the position of the center of mass in the link's axes.
        link: the root link of the body.
        includes: whether the file includes other files.
    """

    properties: MassProperties
    center_m: Vec3
    link: str
    includes: bool


def read_mass_properties(path: Path, link: str | None) -> MassProperties:
    """Return mass and inertia of a body, as ``read_body`` does."""
    return read_body(path, link).properties


def read_body(path: Path, link: str | None) -> DescribedBody:
    """Return the body of a link; without a name, of all links with an ``<inertial>``.

    Raises:
        ScenarioError: if the file cannot be read, or its links are not one rigid body.
    """
    root, includes = read_elements(path, path.name), False
    if uses_xacro(root):
        root, includes = (found := expanded(root, path)).root, found.includes
    return _body(root, path.name, link, includes=includes)


def mass_properties_of(text: str, name: str) -> MassProperties:
    """Return mass and inertia of the body in a URDF text, from which no file is read.

    Raises:
        ScenarioError: if the text is not URDF, uses xacro, or its links are not one rigid body.
    """
    root = parse_elements(text.encode(errors="replace"), name)
    if uses_xacro(root):
        message = f"{name}: uses xacro, which may read files; expand it first: xacro FILE"
        raise ScenarioError(message)
    return _body(root, name, None, includes=False).properties


def _body(root: Element, file: str, link: str | None, *, includes: bool) -> DescribedBody:
    """Return the body of a link, or of all links with an ``<inertial>``."""
    inertials = _inertials(root)
    if not inertials:
        message = f"{file}: no link has an <inertial> with mass and inertia"
        raise ScenarioError(message)
    if link is not None and link not in inertials:
        known = did_you_mean(link, list(inertials))
        message = f"{file}: no link {shortened(link)} has an <inertial>. {known}"
        raise ScenarioError(message)
    carrier, poses = link or "", {link or "": IDENTITY}
    if link is None:
        carrier, poses = _Joints(root, file).poses(list(inertials))
    solids = [_solid(inertials[name], pose) for name, pose in poses.items()]
    whole = solids[0] if len(solids) == 1 else combine_masses(*solids)
    properties = MassProperties(float(whole.mass_kg), whole.inertia_kgm2)
    return DescribedBody(properties, whole.center_body_m, carrier, includes)


@dataclass(frozen=True)
class _Pose:
    """Pose of a link in the axes of another."""

    rotation: np.ndarray
    position_m: np.ndarray

    def within(self, outer: "_Pose") -> "_Pose":
        """Return the pose in the axes that the outer pose refers to."""
        position_m = outer.position_m + outer.rotation @ self.position_m
        return _Pose(outer.rotation @ self.rotation, position_m)


IDENTITY = _Pose(np.eye(3), np.zeros(3))


class _Root(NamedTuple):
    """Root link of a chain of joints, and the number of joints from it."""

    link: str
    depth: int


class _Joints:
    """Joints of a file by their child link."""

    def __init__(self, root: Element, file: str) -> None:
        self._file = file
        self._parents: dict[str, tuple[str, Element]] = {}
        for joint in root.children:
            if joint.tag != "joint" or "type" not in joint.attributes:
                continue
            parent, child = (_link_of(joint, tag) for tag in ("parent", "child"))
            if child in self._parents:
                message = f"{shortened(child)} is the child of another joint as well"
                raise joint.refusal(message)
            self._parents[child] = parent, joint

    def poses(self, links: list[str]) -> tuple[str, dict[str, _Pose]]:
        """Return the common root of links, and their poses in its axes."""
        carrier = self._common_ancestor(links)
        while carrier in self._parents:
            parent, joint = self._parents[carrier]
            if parent == WORLD or joint.attributes["type"] != FIXED:
                break
            carrier = parent
        found = {carrier: IDENTITY}
        for link in links:
            chain, above = list[str](), link
            while above not in found:
                chain.append(above)
                above = self._parents[above][0]
            for one in reversed(chain):
                parent, joint = self._parents[one]
                self._refuse_moving(joint, links)
                found[one] = _origin(joint).within(found[parent])
        return carrier, {link: found[link] for link in links}

    def _common_ancestor(self, links: list[str]) -> str:
        """Return the nearest common ancestor of links."""
        roots = self._roots(links)
        below = Counter(links)
        # deepest first, so that all descendants of a link are counted before it
        for one in sorted(roots, key=lambda link: roots[link].depth, reverse=True):
            if below[one] == len(links):
                return one
            if one in self._parents:
                below[self._parents[one][0]] += below[one]
        other = next(link for link in links if roots[link].link != roots[links[0]].link)
        message = (
            f"{self._file}: no joint connects {shortened(links[0])} and {shortened(other)}, which "
            f"both have an <inertial>; {self._advice(links)}"
        )
        raise ScenarioError(message)

    def _roots(self, links: list[str]) -> dict[str, _Root]:
        """Return root and depth of these links and of all links on their chains."""
        roots: dict[str, _Root] = {}
        for link in links:
            chain: dict[str, None] = {}
            above = link
            while above not in roots and above in self._parents:
                chain[above] = None
                above, joint = self._parents[above]
                if above in chain:
                    message = f"{shortened(above)} is its own ancestor"
                    raise joint.refusal(message)
            end = roots.setdefault(above, _Root(above, 0))
            for more, one in enumerate(reversed(chain), start=1):
                roots[one] = _Root(end.link, end.depth + more)
        return roots

    def _refuse_moving(self, joint: Element, links: list[str]) -> None:
        joint_type = joint.attributes["type"]
        if joint_type != FIXED:
            named = shortened(joint.attributes.get("name", ""))
            message = (
                f"the joint {named} is {shortened(joint_type)}, but only links on fixed joints are "
                f"one body; {self._advice(links)}"
            )
            raise joint.refusal(message)

    def _advice(self, links: list[str]) -> str:
        return (
            "make the joint fixed, or name a single link, as in "
            f"{{file: {self._file}, link: {links[0]}}}"
        )


def _link_of(joint: Element, tag: str) -> str:
    end = joint.required(tag)
    if "link" not in end.attributes:
        message = "link is missing"
        raise end.refusal(message)
    return end.attributes["link"]


def _inertials(root: Element) -> Mapping[str, Element]:
    """Return the ``<inertial>`` of each link that has one."""
    found: dict[str, Element] = {}
    for link in root.children:
        if link.tag != "link":
            continue
        name = link.attributes.get("name", "")
        for inertial in link.children:
            if inertial.tag != "inertial":
                continue
            if name in found:
                message = f"there is another <inertial> of the link {shortened(name)}"
                raise inertial.refusal(message)
            found[name] = inertial
    return found


def _solid(inertial: Element, pose: _Pose) -> MassElement:
    """Return a link's mass element in the axes that its pose refers to."""
    mass, inertia = inertial.required("mass"), inertial.required("inertia")
    own = _origin(inertial)
    turned = own if pose is IDENTITY else own.within(pose)
    center_m = Vec3(*(float(axis) for axis in turned.position_m))
    return MassElement(_mass_kg(mass), _inertia(inertia, turned.rotation), center_m)


def _mass_kg(mass: Element) -> float:
    mass_kg = mass.number("value")
    if not mass_kg > 0.0:
        message = f"value: {mass_kg:g} is not allowed; must be above 0"
        raise mass.refusal(message)
    _refuse_beyond(mass, "value", mass_kg, MASS_KG)
    return mass_kg


def _refuse_beyond(element: Element, name: str, value: float, bounds: Bounds) -> None:
    if not bounds.contains(value):
        message = f"{name}: {value:g} is not allowed; must be {bounds}"
        raise element.refusal(message)


def _origin(element: Element) -> _Pose:
    """Return the pose of the ``<origin>`` in an element; identity without one."""
    origin = element.only("origin")
    if origin is None:
        return IDENTITY
    for name in origin.attributes:
        if name not in ("xyz", "rpy"):
            message = f"there is no {shortened(name)}; write the position as xyz, the angles as rpy"
            raise origin.refusal(message)
    place, angles = origin.vector("xyz"), origin.vector("rpy")
    for part in _numbers(place):
        _refuse_beyond(origin, "xyz", part, PLACE_M)
    rotation = RotationZYX.of(EulerZYX(angles.x, angles.y, angles.z))
    axes = [np.array(_numbers(rotation.reference_from_body(Vec3.of(axis)))) for axis in np.eye(3)]
    return _Pose(np.column_stack(axes), np.array(_numbers(place)))


def _numbers(vector: Vec3) -> tuple[float, float, float]:
    return float(vector.x), float(vector.y), float(vector.z)


def _inertia(inertia: Element, rotation: np.ndarray) -> Inertia:
    entries = {name: inertia.number(name) for name in ENTRIES}
    for name, entry in entries.items():
        _refuse_beyond(inertia, name, entry, INERTIA_KGM2)
    try:
        # before the rotation, so that a message reports the moments in the file
        turned = rotation @ Inertia(*entries.values()).matrix @ rotation.T
        return Inertia(*(float(turned[place]) for place in PLACES))
    except ValueError as error:
        raise inertia.refusal(str(error)) from None
