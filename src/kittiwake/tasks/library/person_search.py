"""Built-in policy of the search tasks: lanes over the area, evidence of candidates, stops.

The policy uses only the searchers' motion estimates and images. An image is projected onto the
ground by the estimate; the evidence of a candidate, the log-likelihood ratio of a person there to
no person, is the sum over all images of

    ln mean_i exp(e_i)

over the cells i near it, with the camera's evidence e_i of each cell: the cell of the person among
them is unknown. The prior odds of no person in a cell are about ``exp(8)`` to one.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.pytree import Module
from kittiwake.sensors.person_camera import PersonCamera, PersonsMeasurement
from kittiwake.sensors.ranging_pose import mounted_pose
from kittiwake.tasks.library.other_agents import rows
from kittiwake.tasks.library.pelican import MAX_SPEED_MPS
from kittiwake.tasks.library.separation import (
    avoidance_velocity_mps,
    compensate_delay,
    current_positions,
)
from kittiwake.world.world import FlightArea

Places = Float[Array, "places 2"]
Cells = Float[Array, "cells 2"]

# height of the first searcher's lanes, and the height of each next searcher's over them
SWEEP_M, LEVEL_STEP_M = 30.0, 3.0
# lanes: spacing, distance from the limits of the persons' area, number, look-ahead distance along a
# lane, and distance from its end at which a searcher turns
LANE_SPACING_M, EDGE_M, LANES, AHEAD_M, TURN_WITHIN_M = 19.0, 6.0, 8, 14.0, 5.0
# share of each side of the area, about its center, that contains the persons
PERSONS_SHARE = 0.8
# number of candidates, of new ones per image, lowest evidence of a new one, and lowest size of its
# cell: a person covers many smaller cells
CANDIDATES, NEW_PER_IMAGE, NEW_EVIDENCE, COARSE_M = 24, 3, 2.5, 0.5
# evidence at which a searcher looks at a candidate again, descends to it, and abandons it
REVISIT_EVIDENCE, DESCEND_EVIDENCE, ABANDON_EVIDENCE = 6.3, 8.0, 2.0
# distance beyond half of their size at which cells count for a candidate; gain of its correction
BLUR_M, RECENTERED = 0.4, 0.4
# lowest distance between two candidates, and of a candidate from an earlier stop
CANDIDATE_SPACING_M, STOP_SPACING_M = 2.0, 5.0
# stop: height, distance and height at which it begins, duration; number of stops in memory
STOP_HEIGHT_M, STOP_WITHIN_M, STOP_BELOW_M, STOP_S, STOPS = 3.0, 2.0, 4.2, 2.5, 16
# gains of horizontal and vertical position
GAIN_PER_S, SINK_GAIN_PER_S = 0.45, 0.7


class SearchBeliefs(Module):
    """Beliefs of searchers from their estimates and images.

    Attributes:
        camera: camera model that projects an image onto the ground.
        candidates_world_m: possible positions of persons.
        evidence: evidence of each candidate; minus infinity for unused entries.
        chosen: True for each candidate that a searcher shall visit.
        stops_world_m: positions of the last stops; the oldest one is replaced first.
        stops: number of stops so far.
        corners_world_m: corners of each searcher's lanes, from its start.
        leg: index of the corner that each searcher has come from.
        stood_s: time that each searcher has stood beside a candidate.
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
    def initial(
        cls, camera: PersonCamera, estimates: Kinematics, area: FlightArea
    ) -> "SearchBeliefs":
        """Return beliefs without candidates, with lanes from the searchers' estimated positions."""
        here = rows(estimates.position_world_m)[:, :2]
        count = len(here)
        corners = jnp.stack([lanes(here[i], *_searcher_area(here, i, area)) for i in range(count)])
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

    def update(
        self, estimates: Kinematics, images: PersonsMeasurement, ground_m: Real, step_s: Real
    ) -> "SearchBeliefs":
        """Return the beliefs after an image of each searcher.

        Args:
            estimates: motion estimates of the searchers, along a leading axis.
            images: image of each searcher.
            ground_m: height of the ground.
            step_s: time since the last images.
        """
        here = current_positions(estimates)
        places, sizes, evidence_of_cells = jax.vmap(self._project_image, (0, 0, None))(
            estimates, images, ground_m
        )
        gains, shifts, shown = jax.vmap(self._candidate_evidence)(places, sizes, evidence_of_cells)
        shown = shown.any(axis=0)
        evidence = self.evidence + gains.sum(axis=0)
        # candidates out of view are visited if they are likely, else forgotten
        likely = (evidence > DESCEND_EVIDENCE) | (~shown & (evidence > REVISIT_EVIDENCE))
        chosen = likely | (self.chosen & (evidence > ABANDON_EVIDENCE))
        kept = chosen | (shown & (evidence > 0.0))
        beliefs = replace(
            self,
            candidates_world_m=self.candidates_world_m + shifts.sum(axis=0),
            evidence=jnp.where(kept, evidence, -jnp.inf),
            chosen=chosen,
        )
        for i in range(len(here)):
            for _ in range(NEW_PER_IMAGE):
                beliefs = beliefs._with_new_candidate(
                    places[i],
                    jnp.where(jnp.asarray(sizes)[i] > COARSE_M, evidence_of_cells[i], 0.0),
                )
        for i in range(len(here)):
            beliefs = beliefs._with_progress(i, here, ground_m, step_s)
        return beliefs

    def target(
        self, index: Integer, here: Float[Array, "searchers 3"]
    ) -> tuple[Float[Array, "2"], Bool[Array, ""], Int[Array, ""]]:
        """Return a searcher's target, True if there is one, and its index.

        It is the nearest one of the chosen candidates to which no other searcher is nearer.
        """
        offsets = self.candidates_world_m[None] - here[:, None, :2]
        squared = jnp.where(self.chosen[None], (offsets**2).sum(axis=2), jnp.inf)
        own = jnp.where(
            jnp.argmin(squared, axis=0).astype(jnp.int32) == index, squared[index], jnp.inf
        )
        nearest = jnp.argmin(own)
        return self.candidates_world_m[nearest], jnp.isfinite(own[nearest]), nearest

    def velocity_world_mps(
        self, index: Integer, here: Float[Array, "searchers 3"], ground_m: Real
    ) -> Float[Array, "3"]:
        """Return a searcher's velocity: along its lane, to its target, or at its stop."""
        own, height = here[index], here[index, 2] - ground_m
        place, has_target, which = self.target(index, here)
        offset = place - own[:2]
        clear = self.evidence[which] > DESCEND_EVIDENCE
        sinking = jnp.where(clear, SINK_GAIN_PER_S * (STOP_HEIGHT_M - height), 0.0)
        to_target = jnp.append(GAIN_PER_S * offset, sinking)
        # the integral of the vertical loop from the descent decays within seconds
        at_stop = jnp.zeros(3, own.dtype).at[2].set(0.25 * jnp.exp(-0.5 * self.stood_s[index]))
        to_target = jnp.where(_is_stopping(offset, height), at_stop, to_target)
        level = SWEEP_M + LEVEL_STEP_M * jnp.asarray(index, own.dtype)
        along = jnp.append(self._lane_velocity(index, own[:2]), SINK_GAIN_PER_S * (level - height))
        chosen = jnp.where(has_target, to_target, along)
        return jnp.clip(chosen + avoidance_velocity_mps(index, here), -MAX_SPEED_MPS, MAX_SPEED_MPS)

    def _lane_velocity(self, index: Integer, own: Float[Array, "2"]) -> Float[Array, "2"]:
        """Return the horizontal velocity toward a point ahead on the lane."""
        corners, leg = self.corners_world_m[index], self.leg[index]
        start, end = corners[leg], corners[leg + 1]
        lane = end - start
        length = jnp.sqrt((lane**2).sum() + 1e-6)
        done = ((own - start) * lane).sum() / length
        aim = start + lane * (jnp.clip(done + AHEAD_M, 0.0, length) / length)
        offset = GAIN_PER_S * (aim - own)
        # scaled as a whole, so that the speed limit does not turn it away from the lane
        return offset * jnp.minimum(1.0, MAX_SPEED_MPS / jnp.maximum(jnp.abs(offset).max(), 1e-6))

    def _project_image(
        self, estimate: Kinematics, image: PersonsMeasurement, ground_m: Real
    ) -> tuple[Cells, Float[Array, ""], Float[Array, " cells"]]:
        """Return the ground positions of an image's cells, their size, and their evidence."""
        patches = self.camera.patches(
            mounted_pose(compensate_delay(estimate), self.camera.mount), ground_m
        )
        cells = jnp.stack([patches.x_world_m, patches.y_world_m], axis=-1).reshape(-1, 2)
        evidence_of_cells = jnp.where(patches.valid & image.valid, image.evidence, 0.0).reshape(-1)
        pixels = self.camera.width_px / self.camera.columns
        return (
            cells,
            jnp.mean(patches.range_m) * pixels / self.camera.focal_length_px,
            evidence_of_cells,
        )

    def _candidate_evidence(
        self, cells: Cells, size_m: Float[Array, ""], evidence_of_cells: Float[Array, " cells"]
    ) -> tuple[Float[Array, " places"], Places, Bool[Array, " places"]]:
        """Return an image's evidence of each candidate, its shift, and True if it is in view."""
        offsets = cells[None] - self.candidates_world_m[:, None]
        near = jnp.abs(offsets).max(axis=2) < 0.5 * size_m + BLUR_M
        shown = near.any(axis=1)
        most = jnp.max(jnp.where(near, evidence_of_cells[None], -jnp.inf), axis=1, initial=-50.0)
        likelihoods = jnp.where(near, jnp.exp(evidence_of_cells[None] - most[:, None]), 0.0)
        total = jnp.where(shown, likelihoods.sum(axis=1), 1.0)
        mean = most + jnp.log(
            total / jnp.maximum(near.sum(axis=1).astype(evidence_of_cells.dtype), 1.0)
        )
        centers = (likelihoods[..., None] * offsets).sum(axis=1) / total[:, None]
        shift = jnp.where((shown & (mean > 1.0))[:, None], RECENTERED * centers, 0.0)
        return jnp.where(shown, mean, 0.0), shift, shown

    def _with_new_candidate(
        self, cells: Cells, evidence_of_cells: Float[Array, " cells"]
    ) -> "SearchBeliefs":
        """Return beliefs with the likeliest new cell in place of the weakest candidate."""

        def near(
            places: Places, used: Bool[Array, " places"], within_m: float
        ) -> Bool[Array, " cells"]:
            offsets = jnp.abs(places[:, None] - cells[None]).max(axis=2)
            return ((offsets < within_m) & used[:, None]).any(axis=0)

        known = near(self.candidates_world_m, jnp.isfinite(self.evidence), CANDIDATE_SPACING_M)
        known = known | near(self.stops_world_m, jnp.ones(STOPS, bool), STOP_SPACING_M)
        fresh = jnp.where(known, -jnp.inf, evidence_of_cells)
        best, weakest = jnp.argmax(fresh), jnp.argmin(self.evidence)
        better = (fresh[best] > NEW_EVIDENCE) & (fresh[best] > self.evidence[weakest])
        place = jnp.where(better, cells[best], self.candidates_world_m[weakest])
        value = jnp.where(better, fresh[best], self.evidence[weakest])
        return replace(
            self,
            candidates_world_m=self.candidates_world_m.at[weakest].set(place),
            evidence=self.evidence.at[weakest].set(value),
            chosen=self.chosen.at[weakest].set(self.chosen[weakest] & ~better),
        )

    def _with_progress(
        self, index: int, here: Float[Array, "searchers 3"], ground_m: Real, step_s: Real
    ) -> "SearchBeliefs":
        """Return the beliefs after a searcher reaches a corner of its lanes or ends a stop."""
        own = here[index]
        place, has_target, _ = self.target(index, here)
        beside = has_target & _is_stopping(place - own[:2], own[2] - ground_m)
        stood = jnp.where(beside, self.stood_s[index] + step_s, 0.0)
        finished = stood > STOP_S
        visited = jnp.abs(self.candidates_world_m - place[None]).max(axis=1) < STOP_SPACING_M
        visited = visited & finished
        slot = self.stops % STOPS
        stop = jnp.where(finished, place, self.stops_world_m[slot])
        leg = self.leg[index]
        corner = self.corners_world_m[index, leg + 1]
        turns = ~has_target & (jnp.abs(corner - own[:2]).max() < TURN_WITHIN_M)
        last = self.corners_world_m.shape[1] - 2
        return replace(
            self,
            evidence=jnp.where(visited, -jnp.inf, self.evidence),
            chosen=self.chosen & ~visited,
            stops_world_m=self.stops_world_m.at[slot].set(stop),
            stops=self.stops + finished.astype(jnp.int32),
            leg=self.leg.at[index].set(jnp.minimum(leg + turns.astype(jnp.int32), last)),
            stood_s=self.stood_s.at[index].set(jnp.where(finished, 0.0, stood)),
        )


def lanes(
    start_m: Float[Array, "2"], low_m: Float[Array, "2"], high_m: Float[Array, "2"]
) -> Float[Array, "corners 2"]:
    """Return corners of parallel lanes over a rectangle, at 45 degrees to its sides.

    At this angle a velocity that is limited along each axis is the fastest, and an image is the
    widest. The first lane leads from the start to its farther end, the next ones follow on the
    side with the larger part of the rectangle.
    """
    middle, half = 0.5 * (low_m + high_m), 0.5 * (high_m - low_m)
    own = jnp.clip(start_m - middle, -half, half)
    # the diagonal along which the lanes are longer
    mirrored = jnp.abs(own[0] - own[1]) > jnp.abs(own[0] + own[1])
    flip = jnp.stack([jnp.where(mirrored, -1.0, 1.0), jnp.ones(())]).astype(own.dtype)
    x, y = own * flip
    spacing = jnp.where(x - y > 0.0, -1.0, 1.0) * LANE_SPACING_M * jnp.sqrt(2.0)
    across = (x - y) + spacing * jnp.arange(LANES, dtype=own.dtype)
    # range of x - y in the rectangle
    across = jnp.clip(across, -half.sum(), half.sum())
    ends = jnp.stack(
        [jnp.maximum(-half[0], across - half[1]), jnp.minimum(half[0], across + half[1])], axis=1
    )
    up_first = ends[0, 1] - x > x - ends[0, 0]
    odd = (jnp.arange(LANES, dtype=jnp.int32) % 2 == 1)[:, None]
    # orders the ends of each lane in the direction of flight
    ends = jnp.where(odd == up_first, ends[:, ::-1], ends)
    corners = jnp.stack([ends, ends - across[:, None]], axis=2)
    corners = corners.at[0, 0].set(jnp.stack([x, y]))
    return middle[None] + corners.reshape(-1, 2) * flip[None]


def _searcher_area(
    here: Float[Array, "searchers 2"], index: int, area: FlightArea
) -> tuple[Float[Array, "2"], Float[Array, "2"]]:
    """Return a searcher's part of the persons' area, which is divided from west to east."""
    low, high = jnp.asarray([area.x_m, area.y_m], here.dtype).T
    middle, half = 0.5 * (low + high), 0.5 * PERSONS_SHARE * (high - low) - EDGE_M
    width = 2.0 * half[0] / float(len(here))
    rank = jnp.argsort(jnp.argsort(here[:, 0]))[index].astype(here.dtype)
    west = middle[0] - half[0] + rank * width
    south, north = middle[1] - half[1], middle[1] + half[1]
    return jnp.stack([west, south]), jnp.stack([west + width, north])


def _is_stopping(offset: Float[Array, "2"], height: Real) -> Bool[Array, ""]:
    """Return True if a searcher is at its stop."""
    return (jnp.abs(offset).max() < STOP_WITHIN_M) & (height < STOP_BELOW_M)
