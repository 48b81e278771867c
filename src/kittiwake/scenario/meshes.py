"""Files of triangles, STL (binary or text) and OBJ, as obstacles take them."""

from io import BytesIO
from pathlib import Path

import numpy as np
from jaxtyping import Float

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.obstacles.triangles import TriangleMesh

MAX_BYTES = 64 * 1024 * 1024
MAX_TRIANGLES = 200_000
# beyond, single precision shows less than a tenth of a metre
MAX_COORDINATE_M = 1e6
# of a binary STL file: before the triangles, where the last four tell their number; and of each
HEADER_BYTES, FACET_BYTES = 84, 50
FORMATS = {".stl": "stl", ".obj": "obj"}


def read_mesh(path: Path) -> TriangleMesh:
    """The triangles in a file, with its numbers taken for metres.

    Raises:
        ScenarioError: if the file is missing, too large, of another kind, broken or without a
            triangle.
    """
    if path.suffix.lower() not in FORMATS:
        message = f"{path.name}: a mesh is read from a file that ends in {' or '.join(FORMATS)}"
        raise ScenarioError(message)
    corners = _corners(path, _content(path))
    if len(corners) > MAX_TRIANGLES:
        message = (
            f"{path.name}: holds {len(corners):,} triangles, {MAX_TRIANGLES:,} are allowed; "
            "write a coarser mesh"
        )
        raise ScenarioError(message)
    _refuse_bad_numbers(path, corners)
    areas = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    if not areas.any():
        message = f"{path.name}: holds no triangle that has an area; a mesh needs one at least"
        raise ScenarioError(message)
    return TriangleMesh.of(corners[areas > 0.0], path.name)


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            message = f"{path.name}: larger than {MAX_BYTES // 2**20} MiB, the most that is read"
            raise ScenarioError(message)
        return path.read_bytes()
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None


def _corners(path: Path, content: bytes) -> Float[np.ndarray, "triangles 3 3"]:
    """The triangles as they stand in a file."""
    # takes half a second, which scenarios without a mesh need not wait for
    import trimesh

    kind = FORMATS[path.suffix.lower()]
    if kind == "stl":
        _refuse_cut_off(path, content)
    else:
        content = _plain_obj(path, content)
    # what a file names besides, such as colours, is neither needed nor looked for
    options = {"skip_materials": True} if kind == "obj" else {}
    try:
        mesh = trimesh.load_mesh(BytesIO(content), file_type=kind, process=False, **options)
        return np.asarray(mesh.triangles, dtype=np.float64).reshape(-1, 3, 3)
    # a broken file fails wherever its reader comes upon it, with any error
    except Exception as error:
        message = f"{path.name}: no {kind.upper()} file that can be read ({error})"
        raise ScenarioError(message) from None


def _refuse_cut_off(path: Path, content: bytes) -> None:
    """Refuses a binary STL file of another length than its number of triangles takes."""
    if b"\0" not in content:
        return
    triangles = int.from_bytes(content[HEADER_BYTES - 4 : HEADER_BYTES], "little")
    expected = HEADER_BYTES + triangles * FACET_BYTES
    if len(content) != expected:
        message = (
            f"{path.name}: has {len(content):,} bytes and announces {triangles:,} triangles, which "
            f"take {expected:,}; it was cut off, or is no STL file"
        )
        raise ScenarioError(message)


def _plain_obj(path: Path, content: bytes) -> bytes:
    """An OBJ file with single spaces, whose faces name vertices that there are.

    The library passes over lines that are indented or divided by tabs, counts references backwards
    from the end of the file instead of from their line, and has no lines in its errors.
    """
    lines = [b" ".join(line.split()) for line in content.splitlines()]
    vertices = sum(line.startswith(b"v ") for line in lines)
    for number, line in enumerate(lines, start=1):
        for corner in line.split()[1:] if line.startswith(b"f ") else ():
            vertex = corner.partition(b"/")[0].decode("ascii", "replace")
            if not (vertex.isdecimal() and 1 <= int(vertex) <= vertices):
                message = (
                    f"{path.name}:{number}: there is no vertex {vertex}; corners of a face are "
                    f"whole numbers from 1 to {vertices}, the number of vertices in the file"
                )
                raise ScenarioError(message)
    return b"\n".join(lines)


def _refuse_bad_numbers(path: Path, corners: Float[np.ndarray, "triangles 3 3"]) -> None:
    bad = np.flatnonzero(~(np.abs(corners) <= MAX_COORDINATE_M).all(axis=(1, 2)))
    if bad.size:
        message = (
            f"{path.name}: triangle {bad[0] + 1} has a coordinate that is no number from "
            f"{-MAX_COORDINATE_M:,.0f} to {MAX_COORDINATE_M:,.0f}"
        )
        raise ScenarioError(message)
