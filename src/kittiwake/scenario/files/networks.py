"""Reader of trained policies from NumPy's ``.npz`` files: ``weight_0``, ``bias_0`` and so on.

Beside the layers a file has ``mean`` and ``deviation`` of the network's inputs, and optionally
``activation`` and ``task``. Objects (pickles) are never read.
"""

from lzma import LZMAError
from math import prod
from pathlib import Path
from tokenize import TokenError
from zipfile import BadZipFile, ZipFile, ZipInfo
from zlib import error as ZlibError

import numpy as np
from numpy.lib import format as npy

from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.scenario.files.network import ACTIVATIONS, Network
from kittiwake.scenario.problems import shortened

MAX_BYTES = 64 * 1024 * 1024
MAX_LAYERS = 32
WORDS = ("activation", "task")
# header readers by version of NumPy's array format
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# errors that damaged, encrypted or other files raise
UNREADABLE = (
    BadZipFile,
    ZlibError,
    LZMAError,
    EOFError,
    KeyError,
    ValueError,
    SyntaxError,
    TokenError,
    RuntimeError,
    OverflowError,
    MemoryError,
)


def read_network(path: Path) -> Network:
    """Return the network in a file.

    Raises:
        ScenarioError: if the file is missing, too large or not an archive of plain numbers, or if
            the sizes of its layers do not match.
    """
    arrays = _arrays(path)
    words = {name: _word(path, name, arrays.pop(name)) for name in WORDS if name in arrays}
    activation = words.get("activation", "tanh")
    if activation not in ACTIVATIONS:
        known = did_you_mean(activation, list(ACTIVATIONS))
        message = f"{path.name}: activation: {shortened(activation)} is not allowed. {known}"
        raise ScenarioError(message)
    count = sum(name.startswith("weight_") for name in arrays)
    layers = [f"{part}_{i}" for part in ("weight", "bias") for i in range(count)]
    required = [*layers, "mean", "deviation"]
    missing = [name for name in required if name not in arrays]
    if not count or missing:
        message = (
            f"{path.name}: {missing[0] if missing else 'weight_0'} is missing; write weight_0, "
            "bias_0 and so on for each layer, and the mean and deviation of the inputs"
        )
        raise ScenarioError(message)
    if unknown := [name for name in arrays if name not in required]:
        message = f"{path.name}: {shortened(unknown[0])} is not allowed; allowed: {required}"
        raise ScenarioError(message)
    numbers = {name: _numbers(path, name, arrays[name]) for name in required}
    _refuse_wrong_sizes(path, numbers, count)
    return Network(
        tuple(numbers[f"weight_{i}"] for i in range(count)),
        tuple(numbers[f"bias_{i}"] for i in range(count)),
        numbers["mean"],
        numbers["deviation"],
        activation,
        words.get("task", ""),
    )


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        with ZipFile(path) as archive:
            infos = archive.infolist()
            size = sum(info.file_size for info in infos)
            if size > MAX_BYTES or len(infos) > 2 * MAX_LAYERS + 4:
                message = (
                    f"{path.name}: {len(infos)} arrays of {size} bytes; at most {MAX_LAYERS} "
                    f"layers of {MAX_BYTES // 2**20} MiB are read"
                )
                raise ScenarioError(message)
            return {info.filename.removesuffix(".npy"): _array(archive, info) for info in infos}
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None
    except UNREADABLE as error:
        message = f"{path.name}: not an archive of plain arrays as numpy.savez writes it ({error})"
        raise ScenarioError(message) from None


def _array(archive: ZipFile, member: ZipInfo) -> np.ndarray:
    """Return the array in a member; refuse one that is shorter than its header states."""
    with archive.open(member) as file:
        version = npy.read_magic(file)
        if version not in HEADERS:
            message = f"{member.filename} is in format {version}"
            raise ValueError(message)
        shape, _, dtype = HEADERS[version](file)
    if prod(shape) * dtype.itemsize > member.file_size:
        message = f"{member.filename} is too short for an array of shape {shape}"
        raise ValueError(message)
    with archive.open(member) as file:
        return npy.read_array(file, allow_pickle=False)


def _word(path: Path, name: str, array: np.ndarray) -> str:
    if array.dtype.kind != "U" or array.shape:
        message = f"{path.name}: {name} must be a word"
        raise ScenarioError(message)
    return str(array)


def _numbers(path: Path, name: str, array: np.ndarray) -> np.ndarray:
    required = 2 if name.startswith("weight") else 1
    if array.dtype.kind != "f" or array.ndim != required or not array.size:
        message = (
            f"{path.name}: {name} must be an array of floating-point numbers in {required} "
            f"dimension{'s' if required > 1 else ''}; it is {array.dtype} of shape {array.shape}"
        )
        raise ScenarioError(message)
    if not (np.abs(array) <= np.finfo(np.float32).max).all():
        message = f"{path.name}: {name} holds numbers that are not finite in single precision"
        raise ScenarioError(message)
    return array


def _refuse_wrong_sizes(path: Path, numbers: dict[str, np.ndarray], count: int) -> None:
    before = len(numbers["mean"])
    least = np.finfo(np.float32).tiny
    if len(numbers["deviation"]) != before or not (numbers["deviation"] >= least).all():
        message = (
            f"{path.name}: deviation must be {before} numbers of {least:.3g} or more, as mean has "
            f"{before}"
        )
        raise ScenarioError(message)
    for i in range(count):
        outputs, inputs = numbers[f"weight_{i}"].shape
        if inputs != before or len(numbers[f"bias_{i}"]) != outputs:
            message = (
                f"{path.name}: weight_{i} is {outputs} by {inputs} and bias_{i} has "
                f"{len(numbers[f'bias_{i}'])} numbers; the layer has {before} inputs"
            )
            raise ScenarioError(message)
        before = outputs
