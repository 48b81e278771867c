"""Compact storage of values over time: integers on a grid, as differences, in planes of bytes.

Values of a track are rounded to a grid, which is much finer than a pixel, and replaced by their
first or second differences over time, whichever are smaller. Small differences leave most bytes
zero, so that deflate shrinks them far better than floating-point numbers. ``player.js`` decodes
them.
"""

import hashlib
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int32

# grid of attributes of nodes by name: quaternions, and vertices of water in meters
GRIDS = {"batched_wxyzs": 2.0**-13, "wxyz": 2.0**-13, "vertices": 5e-3}
# grid of the others, in meters
GRID = 2e-4
# attributes that are interpolated on the shorter arc
ROTATIONS = ("batched_wxyzs", "wxyz")
LARGEST = 2**30
BYTES = 4
ALIGNMENT = 8


class SceneTrack(NamedTuple):
    """Values of one attribute of a node at some frames.

    Attributes:
        message: the type of the viser message that sets the attribute.
        node: the name of the node.
        attribute: the name of the attribute.
        dtype: the NumPy type of an array; None for a vector.
        frames: the frames with values, ascending.
        values: the values of each frame.
    """

    message: str
    node: str
    attribute: str
    dtype: str | None
    frames: Int32[np.ndarray, " frames"]
    values: Float64[np.ndarray, "frames numbers"]


class ArrayStore:
    """Bytes of many arrays, in which equal arrays are stored once."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0
        self._offsets: dict[bytes, int] = {}

    def add(self, array: np.ndarray) -> int:
        """Store an array and return the offset of its bytes, a multiple of eight."""
        content = np.ascontiguousarray(array).tobytes()
        key = hashlib.sha256(content).digest()
        if key not in self._offsets:
            self._offsets[key] = self._length
            content += bytes(-len(content) % ALIGNMENT)
            self._parts.append(content)
            self._length += len(content)
        return self._offsets[key]

    def content(self) -> bytes:
        """Return all bytes."""
        return b"".join(self._parts)


def store_track(track: SceneTrack, store: ArrayStore, frames: int) -> dict[str, Any]:
    """Store a track and return its description for ``player.js``.

    Numbers are interpolated between frames. Whole numbers, such as colors, are kept up to the next
    frame with others.

    Args:
        track: the track.
        store: the store of its numbers.
        frames: the number of frames of the recording.
    """
    whole = track.dtype is not None and np.dtype(track.dtype).kind in "iu"
    numbers, values = track.frames, track.values
    if (values == values[0]).all():
        numbers, values = numbers[:1], values[:1]
    elif not whole:
        # viser does not send what does not change
        last = np.searchsorted(numbers, np.arange(frames), side="right") - 1
        values = values[np.maximum(last, 0)]
    grid = 1.0 if whole else GRIDS.get(track.attribute, GRID)
    return {
        "message": track.message,
        "node": track.node,
        "attribute": track.attribute,
        "dtype": track.dtype,
        "rotation": track.attribute in ROTATIONS,
        "frames": numbers.tolist() if whole else None,
        **store_numbers(values, grid, store),
    }


def store_numbers(
    values: Float64[np.ndarray, "frames numbers"], grid: float, store: ArrayStore
) -> dict[str, Any]:
    """Store numbers over time on a grid; those that are not finite keep the number before."""
    steps = np.clip(np.round(_without_gaps(values) / grid), -LARGEST, LARGEST).astype(np.int64)
    first = np.concatenate([steps[:1], np.diff(steps, axis=0)])
    second = np.concatenate([first[:1], np.diff(first, axis=0)])
    differences = [first, second]
    sizes = [float(np.log2(1.0 + np.abs(one)).sum()) for one in differences]
    order = int(np.argmin(sizes))
    chosen = differences[order].T.ravel()
    coded = np.where(chosen < 0, -2 * chosen - 1, 2 * chosen).astype("<u4")
    planes = coded.view(np.uint8).reshape(-1, BYTES).T
    used = int(np.flatnonzero(planes.any(axis=1)).max(initial=-1)) + 1
    return {
        "grid": grid,
        "rows": steps.shape[0],
        "numbers": steps.shape[1],
        "order": order + 1,
        "planes": used,
        "offset": store.add(planes[:used]),
    }


def _without_gaps(values: np.ndarray) -> np.ndarray:
    """Return values without gaps, which take the finite value before, or else the next one."""
    finite = np.isfinite(values)
    if finite.all():
        return values
    rows = np.arange(len(values))[:, None]
    before = np.maximum.accumulate(np.where(finite, rows, -1), axis=0)
    first = np.where(finite.any(axis=0), finite.argmax(axis=0), 0)
    source = np.where(before >= 0, before, first)
    return np.nan_to_num(np.take_along_axis(values, source, axis=0), posinf=0.0, neginf=0.0)
