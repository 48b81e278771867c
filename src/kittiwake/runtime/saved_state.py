"""Files of a simulation's state: NumPy archives that are read without executing anything in them.

An archive (``.npz``, readable by ``numpy.load``) has one array for each leaf of the state, by its
path, and a JSON text ``header``. It is not compressed, and read only where the state to be set has
a leaf of the same path, shape and type, so that a file can neither run code nor fill the memory.
"""

import json
import tokenize
import zipfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.analysis.output_file import output_file
from kittiwake.core.errors import StateError
from kittiwake.core.parameters import Parameters
from kittiwake.runtime.state_transfer import as_numpy, with_keys
from kittiwake.sim.state import FleetState

FORMAT = 1
HEADER, STATE, ARRAY = "header", "state", "array"
# limit of the header's text
HEADER_BYTES = 2**26
# largest header of an array in a NumPy file
ARRAY_HEADER_BYTES = 2**12
# largest array of a component in plain Python
OWN_ARRAY_BYTES = 2**30


def write_state(path: Path, state: FleetState, header: Mapping[str, Any]) -> None:
    """Write a state with a header of plain data, in which NumPy arrays may occur.

    Raises:
        LogError: if the file cannot be written.
        StateError: if the header holds something else.
    """
    arrays = {f"{STATE}{path}": leaf for path, leaf in _leaves(as_numpy(state))}
    plain = _without_arrays({"format": FORMAT, **header}, arrays)
    arrays[HEADER] = np.frombuffer(json.dumps(plain).encode(), np.uint8)
    with output_file(path) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array, order="C"), allow_pickle=False)


def read_state(path: Path, form: FleetState) -> tuple[FleetState, Parameters]:
    """Return the state in a file, and its header.

    Args:
        path: the file.
        form: shapes and types of the state.

    Raises:
        StateError: if the file is none of ``write_state``, is damaged, or holds the state of other
            vehicles or components.
    """
    with _opened(path) as archive:
        return _read(archive, form)


def read_header(path: Path) -> Parameters:
    """Return the header of a file without its arrays.

    Raises:
        StateError: if the file is none of ``write_state``, or is damaged.
    """
    with _opened(path) as archive:
        return _header(archive)


@contextmanager
def _opened(path: Path) -> Generator[zipfile.ZipFile]:
    """Open a file, and report what is wrong with it.

    Raises:
        StateError: if it cannot be read.
    """
    if not path.is_file():  # a device or a pipe may have no end
        problem = "is no regular file" if path.exists() else "does not exist"
        message = f"'{path}' {problem}; give a file that sim.save or a run has written"
        raise StateError(message)
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except StateError as error:
        message = f"'{path}' {error}"
        raise StateError(message) from None
    except OSError as error:
        message = f"'{path}' cannot be read: {error.strerror}"
        raise StateError(message) from None
    except (
        zipfile.BadZipFile,
        ValueError,
        LookupError,
        TypeError,
        EOFError,
        OverflowError,
        tokenize.TokenError,
    ) as error:
        message = (
            f"'{path}' is no file of a state, or is damaged; give a file that sim.save has written"
        )
        raise StateError(message) from error
    except (NotImplementedError, RuntimeError, RecursionError) as error:
        message = f"'{path}' is no file that this version of Kittiwake has written"
        raise StateError(message) from error


def _header(archive: zipfile.ZipFile) -> Parameters:
    header = json.loads(_array(archive, HEADER, HEADER_BYTES).astype(np.uint8).tobytes())
    if not isinstance(header, dict):
        message = "is no file of a state"
        raise StateError(message)
    version = header.get("format")
    if type(version) is not int or version != FORMAT:
        message = f"is of format {version!r}; this version of Kittiwake reads format {FORMAT}"
        raise StateError(message)
    return header


def _read(archive: zipfile.ZipFile, form: FleetState) -> tuple[FleetState, Parameters]:
    header = _header(archive)
    expected = {path: _array_form(leaf) for path, leaf in _leaves(form)}
    present = {
        name.removeprefix(STATE).removesuffix(".npy")
        for name in archive.namelist()
        if name.startswith(STATE)
    }
    for words, paths in (("lacks", expected.keys() - present), ("has", present - expected.keys())):
        if paths:
            message = (
                f"holds the state of another scenario: it {words} {min(paths).removeprefix('.')}"
            )
            raise StateError(message)
    leaves = []
    for path, like in expected.items():
        array = _array(archive, STATE + path, like.size * like.dtype.itemsize)
        if array.shape != like.shape or array.dtype != like.dtype:
            message = (
                f"holds the state of another scenario: {path.removeprefix('.')} has the shape "
                f"{array.shape} and type {array.dtype}; must be {like.shape} and {like.dtype}"
            )
            raise StateError(message)
        leaves.append(array)
    state = with_keys(jax.tree.unflatten(jax.tree.structure(form), leaves), form)
    return state, _with_arrays(header, archive, set())


def _array(archive: zipfile.ZipFile, name: str, max_bytes: int) -> np.ndarray:
    """Return an array of at most so many bytes.

    Raises:
        StateError: if it is larger, or compressed.
    """
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > max_bytes + ARRAY_HEADER_BYTES:
        message = f"holds the state of another scenario: {name} has {info.file_size} bytes"
        raise StateError(message)
    # read whole, and checked against its checksum, before NumPy allocates what its header states
    content = BytesIO(archive.read(info))
    version = np.lib.format.read_magic(content)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0}.get(version)
    if read_header is None:
        message = f"holds {name} in an unknown format"
        raise StateError(message)
    shape, fortran, dtype = read_header(content, max_header_size=ARRAY_HEADER_BYTES)
    if fortran or dtype.hasobject:
        message = f"holds {name} in an unknown format"
        raise StateError(message)
    return np.frombuffer(content.read(), dtype).reshape(shape)


def _leaves(tree: Any) -> list[tuple[str, Any]]:
    """Return the leaves of a tree with their paths."""
    return [
        (jax.tree_util.keystr(path), leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    ]


def _array_form(leaf: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
    """Return the shape and type in which a leaf is written; a random key as two words."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.ShapeDtypeStruct((*leaf.shape, 2), np.uint32)
    return leaf


def _without_arrays(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return plain data with references in place of arrays, which are added to ``arrays``.

    Raises:
        StateError: for anything else.
    """
    if isinstance(value, np.ndarray | np.generic) and not np.asarray(value).dtype.hasobject:
        name = f"{ARRAY}{len(arrays)}"
        arrays[name] = np.asarray(value)
        return {ARRAY: name}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _without_arrays(part, arrays) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(part, arrays) for part in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    message = (
        f"a file cannot hold {type(value).__name__}; must be numbers, texts, NumPy arrays, lists "
        "and dictionaries of these"
    )
    raise StateError(message)


def _with_arrays(value: Any, archive: zipfile.ZipFile, read: set[str]) -> Any:
    """Return plain data with arrays in place of references to them.

    Raises:
        StateError: if an array is referred to twice, by which a small file could fill the memory.
    """
    if isinstance(value, dict):
        if value.keys() != {ARRAY}:
            return {key: _with_arrays(part, archive, read) for key, part in value.items()}
        name = str(value[ARRAY])
        if name in read:
            message = f"refers to {name} twice"
            raise StateError(message)
        read.add(name)
        return _array(archive, name, OWN_ARRAY_BYTES).copy()
    if isinstance(value, list):
        return [_with_arrays(part, archive, read) for part in value]
    return value
