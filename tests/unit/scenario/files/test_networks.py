"""Trained policies from files: outputs, and error messages."""

import pickle
import zipfile

import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.files import networks
from kittiwake.scenario.files.networks import read_network

LAYERS = {
    "weight_0": np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]),
    "bias_0": np.array([0.0, 0.1, -0.1]),
    "weight_1": np.array([[0.5, -0.5, 1.0]]),
    "bias_1": np.array([0.2]),
    "mean": np.array([1.0, -1.0]),
    "deviation": np.array([2.0, 0.5]),
}


def written(folder, **arrays):
    path = folder / "policy.npz"
    np.savez(path, **{**LAYERS, **arrays})
    return path


def refusal(path):
    with pytest.raises(ScenarioError) as refused:
        read_network(path)
    return str(refused.value)


def test_output_follows_from_the_layers(tmp_path):
    network = read_network(written(tmp_path, task="hover"))
    given = np.array([2.0, -1.2])
    scaled = (given - LAYERS["mean"]) / LAYERS["deviation"]
    hidden = np.tanh(LAYERS["weight_0"] @ scaled + LAYERS["bias_0"])
    wanted = LAYERS["weight_1"] @ hidden + LAYERS["bias_1"]
    np.testing.assert_allclose(network(jnp.asarray(given)), wanted, rtol=1e-12)
    assert (network.inputs, network.outputs, network.task) == (2, 1, "hover")


def test_between_layers_it_may_have_another_activation(tmp_path):
    network = read_network(written(tmp_path, activation="relu"))
    scaled = np.array([-10.0, 10.0])  # as much as counts
    hidden = np.maximum(LAYERS["weight_0"] @ scaled + LAYERS["bias_0"], 0.0)
    wanted = LAYERS["weight_1"] @ hidden + LAYERS["bias_1"]
    np.testing.assert_allclose(network(jnp.asarray([-1e6, 1e6])), wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"bias_1": np.array([0.2, 0.3])}, "weight_1 is 1 by 3 and bias_1 has 2 numbers"),
        ({"weight_0": np.ones((3, 4))}, "weight_0 is 3 by 4"),
        ({"deviation": np.array([2.0, 0.0])}, "deviation must be 2 numbers of 1.18e-38 or more"),
        ({"deviation": np.array([2.0, 1e-60])}, "deviation must be 2 numbers of 1.18e-38 or more"),
        ({"bias_1": np.array([1e300])}, "bias_1 holds numbers that are not finite in single"),
        ({"mean": np.array([np.nan, 0.0])}, "mean holds numbers that are not finite"),
        ({"mean": np.array([1, 2])}, "mean must be an array of floating-point numbers"),
        ({"weight_2": np.ones((1, 1))}, "bias_2 is missing"),
        ({"extra": np.ones(1)}, "'extra' is not allowed"),
        ({"activation": "softplus"}, "tanh"),
        ({"task": np.ones(2)}, "task must be a word"),
    ],
)
def test_file_that_is_not_a_network_is_refused(arrays, expected, tmp_path):
    assert expected in refusal(written(tmp_path, **arrays))


def test_objects_are_never_read(tmp_path):
    path = tmp_path / "policy.npz"
    np.savez(path, weight_0=np.array([print], dtype=object))
    assert "not an archive of plain arrays" in refusal(path)
    path.write_bytes(pickle.dumps(LAYERS))
    assert "not an archive of plain arrays" in refusal(path)


def header(shape):
    return (b"{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + b"}").ljust(117) + b"\n"


@pytest.mark.parametrize(
    "member",
    [
        b"weights",
        b"\x93NUMPY\x01\x00" + len(header(b"")).to_bytes(2, "little") + header(b"(10000000000, 2)"),
        b"\x93NUMPY\x01\x00" + len(header(b"")).to_bytes(2, "little") + header(b"(" * 60),
        b"\x93NUMPY\x01\x00"
        + len(header(b"")).to_bytes(2, "little")
        + header(b"(0, 1" + b"0" * 25 + b")"),
        b"\x93NUMPY\x01\x00" + (9000).to_bytes(2, "little") + b"-" * 8999 + b"1",
        b"\x93NUMPY\x09\x00",
        b"\x93NUMPY\x01\x00\xff",
    ],
)
def test_a_member_that_is_no_array_or_promises_more_than_it_has_is_refused(member, tmp_path):
    path = tmp_path / "policy.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weight_0.npy", member)
    assert "policy.npz: not an archive of plain arrays" in refusal(path)


@pytest.mark.parametrize("kind", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_an_archive_that_is_damaged_or_encrypted_is_refused(kind, tmp_path):
    path = tmp_path / "policy.npz"
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("weight_0.npy", bytes(range(256)) * 8)
    whole = path.read_bytes()
    name_ends = whole.index(b"weight_0.npy") + len(b"weight_0.npy")
    path.write_bytes(whole[:name_ends] + b"\xff" * 20 + whole[name_ends + 20 :])
    message = refusal(path)
    assert "not an archive of plain arrays" in message or "Invalid data stream" in message
    flags = whole.index(b"PK\x01\x02") + 8
    path.write_bytes(whole[:6] + b"\x01" + whole[7:flags] + b"\x01" + whole[flags + 1 :])
    assert "not an archive of plain arrays" in refusal(path)


def test_file_beyond_the_memory_limit_is_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "policy.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weight_0.npy", bytes(2**20))
    monkeypatch.setattr(networks, "MAX_BYTES", 2**19)
    assert "1 arrays of 1048576 bytes" in refusal(path)


def test_missing_file_is_reported(tmp_path):
    assert "cannot read" in refusal(tmp_path / "none.npz")
