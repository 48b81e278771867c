"""Antialiasing: steps along slanted edges become gradual, and plain areas stay."""

import numpy as np
import pytest

from kittiwake.rendering.antialiasing import antialiased

SIZE = 64


def half_plane(slope):
    """A picture that is white below a slanted line."""
    rows, columns = np.mgrid[:SIZE, :SIZE]
    below = rows > 20 + slope * columns
    return np.repeat((255 * below)[..., None], 3, axis=2).astype(np.uint8)


@pytest.mark.parametrize("slope", [0.15, 0.3, 0.6, 1.0])
def test_a_slanted_edge_gets_shades_between_both_colors(slope):
    before = half_plane(slope)
    after = antialiased(before)
    assert ((after > 40) & (after < 215)).sum() > SIZE
    # the largest error against the exact coverage of the pixels, from eight times the size
    rows, columns = (np.mgrid[: 8 * SIZE, : 8 * SIZE] + 0.5) / 8 - 0.5
    covered = rows > 20 + slope * columns
    exact = 255.0 * covered.reshape(SIZE, 8, SIZE, 8).mean(axis=(1, 3))
    inside = np.s_[2:-2, 2:-2]
    errors = [np.abs(one[..., 0] - exact)[inside].max() for one in (before, after)]
    assert errors[1] < 0.8 * errors[0]


def test_plain_and_faintly_shaded_areas_are_unchanged():
    plain = np.full((SIZE, SIZE, 3), 90, np.uint8)
    plain[:, SIZE // 2 :] += 5
    assert np.array_equal(antialiased(plain), plain)


def test_a_straight_edge_along_the_pixels_stays_sharp():
    straight = half_plane(0.0)
    assert np.abs(antialiased(straight).astype(int) - straight).max() < 20
