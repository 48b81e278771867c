"""How searchers without learning find persons: lanes over the area, evidence of places, stops.

All that is believed here follows from what the searchers estimate of their motion and from their
images. An image is laid on the ground by the estimate; the evidence of a candidate, the logarithm
of how much likelier a person stands there than nobody, is the sum over all images of

    ln mean_i exp(e_i)

over the cells i near it, with e_i what the camera says of each: where among them the person would
be is not known. Beforehand a cell holds nobody by about ``exp(8)`` to one.
"""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.sensors.person_camera import PersonCamera, PersonsMeasurement
from kittiwake.sensors.view import view_of
from kittiwake.tasks.library.other_agents import rows
from kittiwake.tasks.library.pelican import MAX_SPEED_MPS
from kittiwake.tasks.library.separation import away_from_others_mps, now, whereabouts
from kittiwake.world.world import FlightArea

Places = Float[Array, "places 2"]
Cells = Float[Array, "cells 2"]

# the height of the first searcher's lanes and how much higher those of the next one are
SWEEP_M, HIGHER_M = 30.0, 3.0
# lanes: between two of them, from the limits of where persons are, how many, how far ahead of
# itself a searcher aims at one, and how near to its end it turns
APART_M, EDGE_M, LANES, AHEAD_M, TURNS_M = 19.0, 6.0, 8, 14.0, 5.0
# of each side of the area, about its middle: where persons are
PERSONS_SHARE = 0.8
# candidates that are remembered, new ones in an image, what is told of one at least, and how large
# its cell is at least: of smaller ones a person covers many
CANDIDATES, NEW, NOTICED, COARSE_M = 24, 3, 2.5, 0.5
# evidence with which a searcher comes back to look again, goes down, and gives a candidate up
LIKELY, CLEAR, DOUBTED = 6.3, 8.0, 2.0
# cells so far from a candidate tell of it, beside half of their own size
BLUR_M, RECENTERED = 0.4, 0.4
# two candidates are not nearer, and none is so near to where somebody stopped
SEPARATE_M, KNOWN_M = 2.0, 5.0
# a stop: how high, how near and below which height it begins, how long it lasts; how many are kept
BESIDE_M, STOPS_M, BELOW_M, STAYS_S, STOPS = 3.0, 2.0, 4.2, 2.5, 16
# how fast it makes up for what is missing
GAIN_PER_S, SINK_GAIN_PER_S = 0.45, 0.7


class Beliefs(eqx.Module):
    """What searchers have made of their estimates and images.

    Attributes:
        camera: by which an image is laid on the ground.
        candidates_world_m: places that may be a person's.
        evidence: of each; minus infinity where there is none.
        chosen: those that are gone to.
        stops_world_m: where searchers have stopped; the oldest is forgotten first.
        stops: how many times.
        corners_world_m: of each searcher's lanes, from where it began.
        leg: the corner that each has come from.
        stood_s: for how long each has stood beside a candidate.
    """

    camera: PersonCamera
    candidates_world_m: Places
    evidence: Float[Array, " places"]
    chosen: Bool[Array, " places"]
    stops_world_m: Float[Array, "stops 2"]
    stops: Int[Array, ""]
    corners_world_m: Float[Array, "searchers corners 2"]
    leg: Int[Array, " searchers"]
    stood_s: Float[Array, " searchers"]

    @classmethod
    def begun(cls, camera: PersonCamera, estimates: Kinematics, area: FlightArea) -> "Beliefs":
        """Nothing seen, and lanes from where the searchers believe to be."""
        here = rows(estimates.position_world_m)[:, :2]
        count = len(here)
        corners = jnp.stack([lanes(here[i], *_strip(here, i, area)) for i in range(count)])
        far_away = jnp.full((STOPS, 2), jnp.inf, here.dtype)
        return cls(
            camera=camera,
            candidates_world_m=jnp.zeros((CANDIDATES, 2), here.dtype),
            evidence=jnp.full(CANDIDATES, -jnp.inf, here.dtype),
            chosen=jnp.zeros(CANDIDATES, bool),
            stops_world_m=far_away,
            stops=jnp.zeros((), jnp.int32),
            corners_world_m=corners,
            leg=jnp.zeros(count, jnp.int32),
            stood_s=jnp.zeros(count, here.dtype),
        )

    def after(
        self, estimates: Kinematics, images: PersonsMeasurement, ground_m: Real, step_s: Real
    ) -> "Beliefs":
        """With an image of each searcher, which is at a place by now.

        Args:
            estimates: of the searchers, along a leading axis.
            images: of each.
            ground_m: the height of the ground.
            step_s: how long ago the last images were.
        """
        here = whereabouts(estimates)
        places, sizes, told = jax.vmap(self._laid, (0, 0, None))(estimates, images, ground_m)
        news, shifts, seen = jax.vmap(self._told_of_candidates)(places, sizes, told)
        seen = seen.any(axis=0)
        evidence = self.evidence + news.sum(axis=0)
        # what is left behind is worth a second look, or else forgotten
        likely = (evidence > CLEAR) | (~seen & (evidence > LIKELY))
        chosen = likely | (self.chosen & (evidence > DOUBTED))
        kept = chosen | (seen & (evidence > 0.0))
        beliefs = replace(
            self,
            candidates_world_m=self.candidates_world_m + shifts.sum(axis=0),
            evidence=jnp.where(kept, evidence, -jnp.inf),
            chosen=chosen,
        )
        for i in range(len(here)):
            for _ in range(NEW):
                beliefs = beliefs._noticed(
                    places[i], jnp.where(jnp.asarray(sizes)[i] > COARSE_M, told[i], 0.0)
                )
        for i in range(len(here)):
            beliefs = beliefs._moved(i, here, ground_m, step_s)
        return beliefs

    def target(
        self, number: Any, here: Float[Array, "searchers 3"]
    ) -> tuple[Float[Array, "2"], Bool[Array, ""], Any]:
        """The chosen candidate that a searcher goes to, whether there is one, and which it is.

        It is the nearest one of those to which no other searcher is nearer.
        """
        ways = self.candidates_world_m[None] - here[:, None, :2]
        away = jnp.where(self.chosen[None], (ways**2).sum(axis=2), jnp.inf)
        own = jnp.where(jnp.argmin(away, axis=0).astype(jnp.int32) == number, away[number], jnp.inf)
        nearest = jnp.argmin(own)
        return self.candidates_world_m[nearest], jnp.isfinite(own[nearest]), nearest

    def velocity_world_mps(
        self, number: Any, here: Float[Array, "searchers 3"], ground_m: Real
    ) -> Float[Array, "3"]:
        """What a searcher asks for: along its lane, to its target and down, or to stand there."""
        own, height = here[number], here[number, 2] - ground_m
        place, goes, which = self.target(number, here)
        way = place - own[:2]
        clear = self.evidence[which] > CLEAR
        sinking = jnp.where(clear, SINK_GAIN_PER_S * (BESIDE_M - height), 0.0)
        to_target = jnp.append(GAIN_PER_S * way, sinking)
        # what the vertical loop has summed up while it sank it forgets within seconds
        still = jnp.zeros(3, own.dtype).at[2].set(0.25 * jnp.exp(-0.5 * self.stood_s[number]))
        to_target = jnp.where(_beside(way, height), still, to_target)
        level = SWEEP_M + HIGHER_M * jnp.asarray(number, own.dtype)
        along = jnp.append(self._along(number, own[:2]), SINK_GAIN_PER_S * (level - height))
        asked = jnp.where(goes, to_target, along)
        return jnp.clip(asked + away_from_others_mps(number, here), -MAX_SPEED_MPS, MAX_SPEED_MPS)

    def _along(self, number: Any, own: Float[Array, "2"]) -> Float[Array, "2"]:
        """To a point ahead on the lane."""
        corners, leg = self.corners_world_m[number], self.leg[number]
        start, end = corners[leg], corners[leg + 1]
        lane = end - start
        length = jnp.sqrt((lane**2).sum() + 1e-6)
        done = ((own - start) * lane).sum() / length
        aim = start + lane * (jnp.clip(done + AHEAD_M, 0.0, length) / length)
        way = GAIN_PER_S * (aim - own)
        # so that it keeps to the lane where it is faster than possible
        return way * jnp.minimum(1.0, MAX_SPEED_MPS / jnp.maximum(jnp.abs(way).max(), 1e-6))

    def _laid(
        self, estimate: Kinematics, image: PersonsMeasurement, ground_m: Real
    ) -> tuple[Cells, Float[Array, ""], Float[Array, " cells"]]:
        """Where on the ground the cells of an image are, how large, and what it says of each."""
        patches = self.camera.patches(view_of(now(estimate), self.camera.mount), ground_m)
        cells = jnp.stack([patches.x_world_m, patches.y_world_m], axis=-1).reshape(-1, 2)
        told = jnp.where(patches.valid & image.valid, image.evidence, 0.0).reshape(-1)
        pixels = self.camera.width_px / self.camera.columns
        return cells, jnp.mean(patches.range_m) * pixels / self.camera.focal_length_px, told

    def _told_of_candidates(
        self, cells: Cells, size_m: Float[Array, ""], told: Float[Array, " cells"]
    ) -> tuple[Float[Array, " places"], Places, Bool[Array, " places"]]:
        """What an image says of each candidate, by how much that moves it, whether it shows it."""
        ways = cells[None] - self.candidates_world_m[:, None]
        near = jnp.abs(ways).max(axis=2) < 0.5 * size_m + BLUR_M
        shown = near.any(axis=1)
        most = jnp.max(jnp.where(near, told[None], -jnp.inf), axis=1, initial=-50.0)
        likelihoods = jnp.where(near, jnp.exp(told[None] - most[:, None]), 0.0)
        total = jnp.where(shown, likelihoods.sum(axis=1), 1.0)
        mean = most + jnp.log(total / jnp.maximum(near.sum(axis=1).astype(told.dtype), 1.0))
        centers = (likelihoods[..., None] * ways).sum(axis=1) / total[:, None]
        shift = jnp.where((shown & (mean > 1.0))[:, None], RECENTERED * centers, 0.0)
        return jnp.where(shown, mean, 0.0), shift, shown

    def _noticed(self, cells: Cells, told: Float[Array, " cells"]) -> "Beliefs":
        """With the likeliest cell that is near no candidate and no stop in place of the weakest."""

        def near(places: Places, there: Any, within_m: float) -> Bool[Array, " cells"]:
            ways = jnp.abs(places[:, None] - cells[None]).max(axis=2)
            return ((ways < within_m) & there[:, None]).any(axis=0)

        known = near(self.candidates_world_m, jnp.isfinite(self.evidence), SEPARATE_M)
        known = known | near(self.stops_world_m, jnp.ones(STOPS, bool), KNOWN_M)
        fresh = jnp.where(known, -jnp.inf, told)
        best, weakest = jnp.argmax(fresh), jnp.argmin(self.evidence)
        better = (fresh[best] > NOTICED) & (fresh[best] > self.evidence[weakest])
        place = jnp.where(better, cells[best], self.candidates_world_m[weakest])
        value = jnp.where(better, fresh[best], self.evidence[weakest])
        return replace(
            self,
            candidates_world_m=self.candidates_world_m.at[weakest].set(place),
            evidence=self.evidence.at[weakest].set(value),
            chosen=self.chosen.at[weakest].set(self.chosen[weakest] & ~better),
        )

    def _moved(
        self, number: int, here: Float[Array, "searchers 3"], ground_m: Real, step_s: Real
    ) -> "Beliefs":
        """With the corner that a searcher has come to, or with its stop, if that is over."""
        own = here[number]
        place, goes, _ = self.target(number, here)
        beside = goes & _beside(place - own[:2], own[2] - ground_m)
        stood = jnp.where(beside, self.stood_s[number] + step_s, 0.0)
        over = stood > STAYS_S
        gone = jnp.abs(self.candidates_world_m - place[None]).max(axis=1) < KNOWN_M
        gone = gone & over
        slot = self.stops % STOPS
        stop = jnp.where(over, place, self.stops_world_m[slot])
        leg = self.leg[number]
        corner = self.corners_world_m[number, leg + 1]
        turns = ~goes & (jnp.abs(corner - own[:2]).max() < TURNS_M)
        last = self.corners_world_m.shape[1] - 2
        return replace(
            self,
            evidence=jnp.where(gone, -jnp.inf, self.evidence),
            chosen=self.chosen & ~gone,
            stops_world_m=self.stops_world_m.at[slot].set(stop),
            stops=self.stops + over.astype(jnp.int32),
            leg=self.leg.at[number].set(jnp.minimum(leg + turns.astype(jnp.int32), last)),
            stood_s=self.stood_s.at[number].set(jnp.where(over, 0.0, stood)),
        )


def lanes(
    start_m: Float[Array, "2"], low_m: Float[Array, "2"], high_m: Float[Array, "2"]
) -> Float[Array, "corners 2"]:
    """Corners of parallel lanes over a rectangle, at 45 degrees to its sides, from a place on.

    At this angle a velocity that is limited along each axis is the fastest, and an image the
    widest. The first lane goes from the place to the farther end, the next ones lie beside it where
    more of the rectangle is.
    """
    middle, half = 0.5 * (low_m + high_m), 0.5 * (high_m - low_m)
    own = jnp.clip(start_m - middle, -half, half)
    # of the two diagonals the one along which the lanes are longer
    mirrored = jnp.abs(own[0] - own[1]) > jnp.abs(own[0] + own[1])
    flip = jnp.stack([jnp.where(mirrored, -1.0, 1.0), jnp.ones(())]).astype(own.dtype)
    x, y = own * flip
    beside = jnp.where(x - y > 0.0, -1.0, 1.0) * APART_M * jnp.sqrt(2.0)
    across = (x - y) + beside * jnp.arange(LANES, dtype=own.dtype)
    # x - y of what lies in the rectangle
    across = jnp.clip(across, -half.sum(), half.sum())
    ends = jnp.stack(
        [jnp.maximum(-half[0], across - half[1]), jnp.minimum(half[0], across + half[1])], axis=1
    )
    up_first = ends[0, 1] - x > x - ends[0, 0]
    odd = (jnp.arange(LANES, dtype=jnp.int32) % 2 == 1)[:, None]
    # each lane from where it begins to where it ends
    ends = jnp.where(odd == up_first, ends[:, ::-1], ends)
    corners = jnp.stack([ends, ends - across[:, None]], axis=2)
    corners = corners.at[0, 0].set(jnp.stack([x, y]))
    return middle[None] + corners.reshape(-1, 2) * flip[None]


def _strip(
    here: Float[Array, "searchers 2"], number: int, area: FlightArea
) -> tuple[Float[Array, "2"], Float[Array, "2"]]:
    """A searcher's part of where persons are: the searchers share it out from west to east."""
    low, high = jnp.asarray([area.x_m, area.y_m], here.dtype).T
    middle, half = 0.5 * (low + high), 0.5 * PERSONS_SHARE * (high - low) - EDGE_M
    width = 2.0 * half[0] / float(len(here))
    rank = jnp.argsort(jnp.argsort(here[:, 0]))[number].astype(here.dtype)
    west = middle[0] - half[0] + rank * width
    south, north = middle[1] - half[1], middle[1] + half[1]
    return jnp.stack([west, south]), jnp.stack([west + width, north])


def _beside(way: Float[Array, "2"], height: Real) -> Bool[Array, ""]:
    """Whether a searcher is where it stops."""
    return (jnp.abs(way).max() < STOPS_M) & (height < BELOW_M)
