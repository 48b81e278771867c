"""Reader of triangle meshes for obstacles: STL (binary or text) and OBJ files."""

from io import BytesIO
from pathlib import Path

import numpy as np
from jaxtyping import Float

from kittiwake.core.errors import ScenarioError
from kittiwake.core.extras import import_optional
from kittiwake.environment.obstacles.triangles import TriangleMesh

MAX_BYTES = 64 * 1024 * 1024
MAX_TRIANGLES = 200_000
# beyond this, single precision resolves less than a tenth of a meter
MAX_COORDINATE_M = 1e6
# of a binary STL file: the header, whose last four bytes are the number of triangles; a triangle
HEADER_BYTES, FACET_BYTES = 84, 50
# keywords in an OBJ file that group triangles, and beginnings of all lines that are read
GROUPS = (b"o", b"g", b"usemtl")
LINE_STARTS = {
    b"us",
    *(keyword + blank for keyword in (b"v", b"f", b"o", b"g") for blank in (b" ", b"\t")),
}
MAX_DIGITS = 20
FORMATS = {".stl": "stl", ".obj": "obj"}


def read_mesh(path: Path) -> TriangleMesh:
    """Return the triangles in a file, whose numbers are meters.

    Raises:
        ScenarioError: if the file is missing, too large, of another format, damaged or without a
            triangle.
    """
    if path.suffix.lower() not in FORMATS:
        message = f"{path.name}: a mesh is read from a file that ends in {' or '.join(FORMATS)}"
        raise ScenarioError(message)
    corners = _corners(path, _content(path))
    if len(corners) > MAX_TRIANGLES:
        message = (
            f"{path.name}: has {len(corners):,} triangles; at most {MAX_TRIANGLES:,} are allowed; "
            "write a coarser mesh"
        )
        raise ScenarioError(message)
    _refuse_bad_numbers(path, corners)
    areas = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    if not areas.any():
        message = f"{path.name}: has no triangle with an area; a mesh needs at least one"
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
    """Return the triangles of a file in its own order."""
    trimesh = import_optional("trimesh", "mesh")
    file_type = FORMATS[path.suffix.lower()]
    if file_type == "stl":
        _refuse_cut_off(path, content)
    else:
        content = _plain_obj(path, content)
    # other files that are named, such as materials, are not needed
    options = {"skip_materials": True} if file_type == "obj" else {}
    try:
        mesh = trimesh.load_mesh(BytesIO(content), file_type=file_type, process=False, **options)
        return np.asarray(mesh.triangles, dtype=np.float64).reshape(-1, 3, 3)
    # the library may raise any error for a damaged file
    except Exception as error:
        message = f"{path.name}: not a readable {file_type.upper()} file ({error})"
        raise ScenarioError(message) from None


def _refuse_cut_off(path: Path, content: bytes) -> None:
    """Refuse a binary STL file whose length does not match its number of triangles."""
    if b"\0" not in content:
        return
    triangles = int.from_bytes(content[HEADER_BYTES - 4 : HEADER_BYTES], "little")
    expected = HEADER_BYTES + triangles * FACET_BYTES
    if len(content) != expected:
        message = (
            f"{path.name}: has {len(content):,} bytes but states {triangles:,} triangles, which "
            f"take {expected:,}; it is cut off, or not an STL file"
        )
        raise ScenarioError(message)


def _plain_obj(path: Path, content: bytes) -> bytes:
    """Return an OBJ file with single spaces and checked vertex references.

    The library ignores lines with leading spaces or with tabs, resolves negative references from
    the end of the file instead of from their line, and reports no line numbers.
    """
    # most lines have this form, and counting them is fast
    _refuse_size(path, content.count(b"\nf "), content.count(b"\nv "))
    lines: list[bytes] = []
    faces: dict[int, int] = {}
    vertices = triangles = 0
    # no list of all lines, which would take as long as the rest
    ended = content if b"\n" in content else content.replace(b"\r", b"\n")
    for number, line in enumerate(BytesIO(ended), start=1):
        # skips normals, colors and comments, which may be most of a file
        if line[:2] not in LINE_STARTS and not line[:1].isspace():
            continue
        words = line.split(None, MAX_TRIANGLES + 4)
        keyword = words[0] if words else b""
        if keyword == b"v":
            vertices += 1
        elif keyword == b"f":
            triangles += max(len(words) - 3, 0)
            faces[len(lines)] = number
        elif keyword not in GROUPS:
            continue
        if triangles > MAX_TRIANGLES:
            break
        lines.append(b" ".join(words[:4] if keyword == b"v" else words))
    _refuse_size(path, triangles, vertices)
    for place, number in faces.items():
        lines[place] = _face(path, number, lines[place].split()[1:], vertices)
    return b"\n".join(lines)


def _refuse_size(path: Path, triangles: int, vertices: int) -> None:
    """Refuse too many triangles, or more vertices than the allowed triangles can have."""
    for count, most, noun in (
        (triangles, MAX_TRIANGLES, "triangles"),
        (vertices, 3 * MAX_TRIANGLES, "vertices"),
    ):
        if count > most:
            message = (
                f"{path.name}: has {count:,} {noun} or more; at most {most:,} are allowed; write a "
                "coarser mesh"
            )
            raise ScenarioError(message)


def _face(path: Path, line: int, corners: list[bytes], vertices: int) -> bytes:
    """Return a face with vertex references only, without normals and textures."""
    named = [corner.partition(b"/")[0] for corner in corners]
    for vertex in named:
        if not (vertex.isdigit() and len(vertex) <= MAX_DIGITS and 0 < int(vertex) <= vertices):
            shown = vertex[:MAX_DIGITS].decode("ascii", "replace")
            message = (
                f"{path.name}:{line}: there is no vertex {shown}; corners of a face are whole "
                f"numbers from 1 to {vertices}, the number of vertices in the file"
            )
            raise ScenarioError(message)
    return b"f " + b" ".join(named)


def _refuse_bad_numbers(path: Path, corners: Float[np.ndarray, "triangles 3 3"]) -> None:
    bad = np.flatnonzero(~(np.abs(corners) <= MAX_COORDINATE_M).all(axis=(1, 2)))
    if bad.size:
        message = (
            f"{path.name}: triangle {bad[0] + 1} has a coordinate that is not a number from "
            f"{-MAX_COORDINATE_M:,.0f} to {MAX_COORDINATE_M:,.0f}"
        )
        raise ScenarioError(message)
