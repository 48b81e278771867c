"""Meshes of vessels: hulls and deck with the dimensions of the model.

Chosen: the shape of the hulls, the frame below the deck, and the draft of a model without one.
Propellers are drawn at the stern, independently of the thrust positions of the model.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kittiwake.contact.deck import Deck
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import Shape, box, lofted, merge, revolved, ring, rod

HULL_RGB, BOW_RGB, DECK_RGB, MARK_RGB = (
    (226, 230, 234),
    (246, 128, 40),
    (82, 92, 106),
    (245, 245, 240),
)
FRAME_RGB, BLADE_RGB = (120, 128, 138), (40, 42, 48)
# size of a model without one
DEFAULT_SIZE_M = (2.0, 1.0, 0.6)
DRAFT_SHARE = 0.06
PONTOON_SHARE = 0.24
# start of the bow, which has its own color, relative to the length from the stern
BOW_START = 0.86
DECK_THICKNESS_M, MARK_ABOVE_M = 0.05, 0.004
# propeller radius relative to the draft
PROPELLER = 0.75


class Vessel(NamedTuple):
    """Geometry of a vessel; equal vessels have the same mesh.

    ``deck_m`` is the center of the upper side, length and width; ``rudder_x_m`` is the position of
    the rudder along x.
    """

    length_m: float
    beam_m: float
    draft_m: float
    freeboard_m: float
    hulls: int
    deck_m: tuple[float, float, float, float, float] | None
    rudder_x_m: float | None
    propellers_y_m: tuple[float, ...]

    @property
    def stern_m(self) -> tuple[float, float]:
        """Propeller position at the stern: x and z."""
        return -0.47 * self.length_m, -0.6 * self.draft_m


def vessel_of(dynamics: AbstractDynamics) -> Vessel:
    """Return the vessel of a model; the water surface is at z = 0 of its axes."""
    size = dynamics.size_body_m
    length, beam, height = float(size.x), float(size.y), float(size.z)
    if not (length and beam):
        length, beam, height = DEFAULT_SIZE_M
    cross_flow = getattr(dynamics, "cross_flow", None)
    draft = DRAFT_SHARE * length if cross_flow is None else float(cross_flow.draft_m)
    deck, rudder = dynamics.deck, getattr(dynamics, "rudder", None)
    propellers = [getattr(dynamics, f"{side}_propeller", None) for side in ("left", "right")]
    top = 0.5 * height if deck is None else float(deck.center_body_m.z)
    return Vessel(
        length_m=length,
        beam_m=beam,
        draft_m=draft,
        freeboard_m=max(0.45 * top, 0.5 * draft),
        # models with six degrees of freedom are catamarans with two propellers
        hulls=int(getattr(dynamics, "hulls", 2)),
        deck_m=None if deck is None else _deck_numbers(deck),
        rudder_x_m=None if rudder is None else float(rudder.x_body_m),
        propellers_y_m=tuple(float(p.place_body_m.y) for p in propellers if p is not None),
    )


@lru_cache(maxsize=64)
def vessel_meshes(vessel: Vessel) -> tuple[tuple[str, ColoredMesh], ...]:
    """Return the meshes of hulls, bows, frame and deck, by name."""
    sides = _hull_centers(vessel)
    bow = -0.5 * vessel.length_m + BOW_START * vessel.length_m
    hulls = [_pontoon(vessel, -0.5 * vessel.length_m, bow).at((0.0, y, 0.0)) for y in sides]
    bows = [_pontoon(vessel, bow, 0.5 * vessel.length_m).at((0.0, y, 0.0)) for y in sides]
    meshes = [
        ("hulls", merge(*hulls).colored(HULL_RGB)),
        ("bows", merge(*bows).colored(BOW_RGB)),
        ("frame", merge(*_frame(vessel, sides)).colored(FRAME_RGB)),
    ]
    if vessel.deck_m is not None:
        x, y, z, length, width = vessel.deck_m
        plate = box((length, width, DECK_THICKNESS_M), (x, y, z - 0.5 * DECK_THICKNESS_M))
        across = min(length, width)
        mark = ring(0.34 * across, 0.4 * across).at((x, y, z + MARK_ABOVE_M))
        meshes += [("deck", plate.colored(DECK_RGB)), ("deck mark", mark.colored(MARK_RGB))]
    return tuple(meshes)


@lru_cache(maxsize=64)
def rudder_mesh(vessel: Vessel) -> ColoredMesh:
    """Return a rudder blade that turns about z and extends astern."""
    depth = vessel.draft_m
    blade = box((0.09 * vessel.length_m, 0.012 * vessel.length_m, 2.2 * depth))
    return blade.at((-0.03 * vessel.length_m, 0.0, -0.6 * depth)).colored(BLADE_RGB)


@lru_cache(maxsize=64)
def propeller_mesh(vessel: Vessel) -> ColoredMesh:
    """Return three blades that turn about x."""
    radius = PROPELLER * vessel.draft_m
    blades = []
    for turn in np.arange(3) * (2.0 * np.pi / 3.0):
        half = 0.5 * turn
        q = np.array([np.cos(half), np.sin(half), 0.0, 0.0])
        blade = box((0.15 * radius, 0.4 * radius, 0.85 * radius), (0.0, 0.0, 0.55 * radius))
        blades.append(blade.at((0.0, 0.0, 0.0), q))
    hub = revolved(np.array([(0.0, -1.0), (1.0, -0.8), (1.0, 0.8), (0.0, 1.0)]) * 0.2 * radius, 10)
    hub = Shape(hub.vertices_m[:, [2, 0, 1]] * [2.0, 1.0, 1.0], hub.faces)
    return merge(hub, *blades).colored(BLADE_RGB)


def _deck_numbers(deck: Deck) -> tuple[float, float, float, float, float]:
    center = deck.center_body_m
    place = float(center.x), float(center.y), float(center.z)
    return (*place, float(deck.length_m), float(deck.width_m))


def _width_m(vessel: Vessel) -> float:
    return vessel.beam_m * (1.0 if vessel.hulls == 1 else PONTOON_SHARE)


def _hull_centers(vessel: Vessel) -> list[float]:
    """Return the centers of the hulls, from left to right."""
    outer = 0.5 * (vessel.beam_m - _width_m(vessel))
    return np.linspace(outer, -outer, vessel.hulls).tolist()


def _pontoon(vessel: Vessel, from_m: float, to_m: float) -> Shape:
    """Return a section of a hull between two positions along x; the bow is sharp and raised."""
    length, half = vessel.length_m, 0.5 * _width_m(vessel)
    shares = np.array([0.0, 0.06, 0.3, 0.6, 0.75, BOW_START, 0.93, 1.0])
    width = np.array([0.75, 0.92, 1.0, 1.0, 0.95, 0.75, 0.48, 0.06])
    depth = np.array([0.7, 0.92, 1.0, 1.0, 1.0, 0.9, 0.6, -0.35])
    low, high = from_m / length + 0.5, to_m / length + 0.5
    inside = shares[(shares > low + 1e-9) & (shares < high - 1e-9)]
    sections = []
    for share in [low, *inside.tolist(), high]:
        y = half * float(np.interp(share, shares, width))
        keel = -vessel.draft_m * float(np.interp(share, shares, depth))
        top = vessel.freeboard_m * (1.0 + 0.25 * max(0.0, share - 0.7) / 0.3)
        chine = keel + 0.35 * (top - keel)
        outline = [
            (0.45 * y, keel),
            (y, chine),
            (y, top),
            (-y, top),
            (-y, chine),
            (-0.45 * y, keel),
        ]
        x = (share - 0.5) * length
        sections.append([(x, side, up) for side, up in outline])
    return lofted(np.array(sections))


def _frame(vessel: Vessel, sides: list[float]) -> list[Shape]:
    """Return beams across the hulls and posts below the deck."""
    thick = 0.014 * vessel.length_m
    top = vessel.freeboard_m
    under = top if vessel.deck_m is None else vessel.deck_m[2] - DECK_THICKNESS_M
    along = [-0.26 * vessel.length_m, 0.26 * vessel.length_m]
    if vessel.deck_m is not None:
        along = [vessel.deck_m[0] + share * vessel.deck_m[3] for share in (-0.35, 0.35)]
    parts: list[Shape] = []
    for x in along:
        if len(sides) > 1:
            parts.append(rod((x, sides[0], top), (x, sides[-1], top), thick))
        if under > top:
            inner = [y * 0.8 for y in sides]
            parts += [
                rod((x, y, top), (x, i, under), thick) for y, i in zip(sides, inner, strict=True)
            ]
    return parts or [box((0.3 * vessel.length_m, 0.5 * vessel.beam_m, top), (0.0, 0.0, top))]
