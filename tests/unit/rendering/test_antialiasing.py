"""Antialiasing: steps along slanted edges become gradual, and plain areas stay."""

import numpy as np

from kittiwake.rendering.antialiasing import antialiased

SIZE = 64


def half_plane(slope):
    """A picture that is white below a slanted line."""
    rows, columns = np.mgrid[:SIZE, :SIZE]
    below = rows > 20 + slope * columns
    return np.repeat((255 * below)[..., None], 3, axis=2).astype(np.uint8)


def test_a_slanted_edge_gets_shades_between_both_colors():
    before = half_plane(0.3)
    after = antialiased(before)
    assert ((after > 40) & (after < 215)).sum() > SIZE
    # nearer to the exact coverage of the pixels, which a picture of eight times the size gives
    rows, columns = (np.mgrid[: 8 * SIZE, : 8 * SIZE] + 0.5) / 8 - 0.5
    exact = 255.0 * (rows > 20 + 0.3 * columns).reshape(SIZE, 8, SIZE, 8).mean(axis=(1, 3))
    inside = np.s_[2:-2, 2:-2]
    errors = [np.abs(one[..., 0] - exact)[inside].mean() for one in (before, after)]
    assert errors[1] < 0.7 * errors[0]


def test_plain_and_faintly_shaded_areas_are_unchanged():
    plain = np.full((SIZE, SIZE, 3), 90, np.uint8)
    plain[:, SIZE // 2 :] += 5
    assert np.array_equal(antialiased(plain), plain)


def test_a_straight_edge_along_the_pixels_stays_sharp():
    straight = half_plane(0.0)
    assert np.abs(antialiased(straight).astype(int) - straight).max() < 20
