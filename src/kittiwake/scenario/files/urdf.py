"""Mass and inertia of a body from a URDF file, in which ROS describes robots.

The ``<inertial>`` of a link gives its mass, where its center of mass lies, and its inertia about
that in axes turned by ``rpy`` about the link's fixed x, then y, then z axis:

    I_link = R I R^T,    R = Rz(yaw) Ry(pitch) Rx(roll).

Several links that fixed joints join are one body: each is moved into the axes of the link that
carries all of them, the first one on the way of fixed joints, which may be without mass as ROS's
``base_link`` often is, by the joints' own origins, and added up about the common center of mass by
the theorem of parallel axes. What is fixed to a link called ``world`` begins below that. Links on
joints that move are no part of it.

The axes are x forward, y left, z up (REP-103) and the products entries of the matrix, as here.
Source: "urdf/XML/link" and "urdf/XML/joint" of the ROS wiki. Neglected: all else in the file.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import numpy as np

from kittiwake.core.bounds import Bounds
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.mass_elements import MASS_KG, PLACE_M, MassElement, assembled
from kittiwake.scenario.files.xacro import expanded, uses_xacro
from kittiwake.scenario.files.xml_elements import Element, read_elements
from kittiwake.scenario.problems import shortened

FIXED, WORLD = "fixed", "world"
ENTRIES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
# that of the heaviest mass as far away as may be
INERTIA_KGM2 = Bounds(-MASS_KG.high * PLACE_M.high**2, MASS_KG.high * PLACE_M.high**2)
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


class UrdfSource(eqx.Module):
    """``parameters.urdf``: a file, and one link of it to take alone."""

    file: str
    link: str | None = None


@dataclass(frozen=True)
class MassProperties:
    """What moves a body, under the names of the parameters that it gives."""

    mass_kg: float
    inertia_kgm2: Inertia


@dataclass(frozen=True)
class DescribedBody:
    """What a file says of a body.

    Attributes:
        properties: about the center of mass, in the axes of the link.
        center_m: where the center of mass lies in the link's axes.
        link: the link that carries all of it.
        includes: whether the file needs others to be read.
    """

    properties: MassProperties
    center_m: Vec3
    link: str
    includes: bool


def read_mass_properties(path: Path, link: str | None) -> MassProperties:
    """Mass and inertia of a body, as ``read_body`` finds it."""
    return read_body(path, link).properties


def read_body(path: Path, link: str | None) -> DescribedBody:
    """A link's body; without a name, that of all links with an ``<inertial>``.

    Raises:
        ScenarioError: if the file cannot be read, or its links are no rigid body.
    """
    root, includes = read_elements(path, path.name), False
    if uses_xacro(root):
        root, includes = (found := expanded(root, path)).root, found.includes
    inertials = _inertials(root)
    if not inertials:
        message = f"{path.name}: no link has an <inertial>, which would give mass and inertia"
        raise ScenarioError(message)
    if link is not None and link not in inertials:
        known = did_you_mean(link, list(inertials))
        message = f"{path.name}: no link {shortened(link)} has an <inertial>. {known}"
        raise ScenarioError(message)
    carrier, poses = link or "", {link or "": STILL}
    if link is None:
        carrier, poses = _Joints(root, path.name).poses(list(inertials))
    solids = [_solid(inertials[name], pose) for name, pose in poses.items()]
    whole = solids[0] if len(solids) == 1 else assembled(*solids)
    properties = MassProperties(float(whole.mass_kg), whole.inertia_kgm2)
    return DescribedBody(properties, whole.center_body_m, carrier, includes)


@dataclass(frozen=True)
class _Pose:
    """Of a link in the axes of another."""

    rotation: np.ndarray
    place_m: np.ndarray

    def within(self, outer: "_Pose") -> "_Pose":
        """The same in the axes that the other pose is in."""
        place_m = outer.place_m + outer.rotation @ self.place_m
        return _Pose(outer.rotation @ self.rotation, place_m)


STILL = _Pose(np.eye(3), np.zeros(3))


class _End(NamedTuple):
    """The link that carries all on a way, and over how many joints it does so."""

    link: str
    depth: int


class _Joints:
    """The joints of a file, each by the link that it carries."""

    def __init__(self, root: Element, file: str) -> None:
        self._file = file
        self._to: dict[str, tuple[str, Element]] = {}
        for joint in root.children:
            if joint.tag != "joint" or "type" not in joint.attributes:
                continue
            parent, child = (_link_of(joint, tag) for tag in ("parent", "child"))
            if child in self._to:
                message = f"{shortened(child)} is the child of another joint as well"
                raise joint.refusal(message)
            self._to[child] = parent, joint

    def poses(self, links: list[str]) -> tuple[str, dict[str, _Pose]]:
        """The link that carries these, and the poses of these in its axes."""
        carrier = self._common(links)
        while carrier in self._to:
            parent, joint = self._to[carrier]
            if parent == WORLD or joint.attributes["type"] != FIXED:
                break
            carrier = parent
        found = {carrier: STILL}
        for link in links:
            way, above = list[str](), link
            while above not in found:
                way.append(above)
                above = self._to[above][0]
            for one in reversed(way):
                parent, joint = self._to[one]
                self._refuse_moving(joint, links)
                found[one] = _origin(joint).within(found[parent])
        return carrier, {link: found[link] for link in links}

    def _common(self, links: list[str]) -> str:
        """The nearest link that carries all of these."""
        ends = self._ends(links)
        below = Counter(links)
        # the deepest first, so that all that a link carries is counted before it
        for one in sorted(ends, key=lambda link: ends[link].depth, reverse=True):
            if below[one] == len(links):
                return one
            if one in self._to:
                below[self._to[one][0]] += below[one]
        apart = next(link for link in links if ends[link].link != ends[links[0]].link)
        message = (
            f"{self._file}: no joint joins {shortened(links[0])} and {shortened(apart)}, which "
            f"both have an <inertial>; {self._advice(links)}"
        )
        raise ScenarioError(message)

    def _ends(self, links: list[str]) -> dict[str, _End]:
        """Where the ways of these links end, and of all that lie on the ways."""
        ends: dict[str, _End] = {}
        for link in links:
            way: dict[str, None] = {}
            above = link
            while above not in ends and above in self._to:
                way[above] = None
                above, joint = self._to[above]
                if above in way:
                    message = f"{shortened(above)} is carried by itself"
                    raise joint.refusal(message)
            end = ends.setdefault(above, _End(above, 0))
            for more, one in enumerate(reversed(way), start=1):
                ends[one] = _End(end.link, end.depth + more)
        return ends

    def _refuse_moving(self, joint: Element, links: list[str]) -> None:
        kind = joint.attributes["type"]
        if kind != FIXED:
            named = shortened(joint.attributes.get("name", ""))
            message = (
                f"the joint {named} is {shortened(kind)}, and only links on fixed joints are "
                f"one body; {self._advice(links)}"
            )
            raise joint.refusal(message)

    def _advice(self, links: list[str]) -> str:
        return (
            "make the joint fixed, or take one link alone, as in "
            f"{{file: {self._file}, link: {links[0]}}}"
        )


def _link_of(joint: Element, tag: str) -> str:
    end = joint.required(tag)
    if "link" not in end.attributes:
        message = "link is missing"
        raise end.refusal(message)
    return end.attributes["link"]


def _inertials(root: Element) -> Mapping[str, Element]:
    """The ``<inertial>`` of each link that has one."""
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
    """A link's mass, in the axes of the link that its pose is in."""
    mass, inertia = inertial.required("mass"), inertial.required("inertia")
    own = _origin(inertial)
    turned = own if pose is STILL else own.within(pose)
    center_m = Vec3(*(float(place) for place in turned.place_m))
    return MassElement(_mass_kg(mass), _inertia(inertia, turned.rotation), center_m)


def _mass_kg(mass: Element) -> float:
    mass_kg = mass.number("value")
    if not mass_kg > 0.0:
        message = f"value: {mass_kg:g} is not allowed; must be above 0"
        raise mass.refusal(message)
    _refuse_beyond(mass, "value", mass_kg, MASS_KG)
    return mass_kg


def _refuse_beyond(element: Element, name: str, value: float, bounds: Bounds) -> None:
    if not bounds.hold(value):
        message = f"{name}: {value:g} is not allowed; must be {bounds}"
        raise element.refusal(message)


def _origin(element: Element) -> _Pose:
    """By the ``<origin>`` in an element; where that has none, at the element's own place."""
    origin = element.only("origin")
    if origin is None:
        return STILL
    for name in origin.attributes:
        if name not in ("xyz", "rpy"):
            message = f"there is no {shortened(name)}; write the place as xyz, the angles as rpy"
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
        # as the file has it first, so that the sentence tells the file's moments
        turned = rotation @ Inertia(*entries.values()).matrix @ rotation.T
        return Inertia(*(float(turned[place]) for place in PLACES))
    except ValueError as error:
        raise inertia.refusal(str(error)) from None
