"""Tests of the cache of compiled programs."""

import os
import stat

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake import simd
from kittiwake.runtime import code_cache
from kittiwake.runtime.code_cache import CodeCache, code_key, user_code_cache


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache" / "code"


@pytest.fixture
def cache(folder):
    return CodeCache(folder)


def only_file(folder):
    (found,) = folder.iterdir()
    return found


def test_contents_come_back(cache, folder):
    assert cache.get("key") is None
    cache.put("key", b"content")
    cache.put("other", b"other")
    assert cache.get("key") == b"content"
    cache.put("key", b"new")
    assert cache.get("key") == b"new"
    assert len([*folder.iterdir()]) == 2


def test_the_folder_belongs_to_the_user_alone(cache, folder):
    cache.put("key", b"content")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(folder).stat().st_mode) == 0o600


@pytest.mark.parametrize("others", [0o770, 0o702, 0o777])
def test_a_folder_that_others_can_write_is_not_used(cache, folder, others):
    cache.put("key", b"content")
    folder.chmod(others)
    assert cache.get("key") is None
    cache.put("key", b"new")
    folder.chmod(0o700)
    assert cache.get("key") == b"content"


def test_a_file_that_others_can_write_is_not_read(cache, folder):
    cache.put("key", b"content")
    only_file(folder).chmod(0o666)
    assert cache.get("key") is None


def test_a_file_of_another_owner_is_not_read(cache, folder, monkeypatch):
    cache.put("key", b"content")
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert cache.get("key") is None


def test_links_are_not_followed(cache, folder, tmp_path):
    cache.put("key", b"content")
    moved = only_file(folder).rename(tmp_path / "elsewhere")
    (folder / f"key{code_cache.SUFFIX}").symlink_to(moved)
    assert cache.get("key") is None
    (folder / f"key{code_cache.SUFFIX}").unlink()
    real = folder.rename(tmp_path / "real")
    folder.symlink_to(real)
    assert cache.get("key") is None


@pytest.mark.parametrize(
    "damage", [lambda c: c[:-1], lambda c: c + b"x", lambda _: b"", bytes.swapcase]
)
def test_damaged_contents_are_removed(cache, folder, damage):
    cache.put("key", b"Content")
    path = only_file(folder)
    whole = path.read_bytes()
    path.write_bytes(whole[:32] + damage(whole[32:]))
    assert cache.get("key") is None
    assert not path.exists()


def test_files_that_were_not_used_for_longest_go_first(cache, folder, monkeypatch):
    monkeypatch.setattr(code_cache, "MAX_BYTES", 3 * (32 + 100))
    for number, key in enumerate("abc"):
        cache.put(key, bytes(100))
        os.utime(folder / f"{key}{code_cache.SUFFIX}", (number, number))
    assert cache.get("a") == bytes(100)
    cache.put("d", bytes(100))
    assert [cache.get(key) is None for key in "abcd"] == [False, True, False, False]


def test_too_large_contents_are_not_kept(cache, monkeypatch):
    monkeypatch.setattr(code_cache, "MAX_FILE_BYTES", 100)
    cache.put("key", bytes(100))
    assert cache.get("key") is None


def test_without_access_nothing_is_kept(tmp_path):
    (tmp_path / "file").write_text("no folder")
    cache = CodeCache(tmp_path / "file" / "code")
    cache.put("key", b"content")
    assert cache.get("key") is None


def test_the_user_may_choose_the_folder_or_none(monkeypatch, tmp_path):
    monkeypatch.setenv(code_cache.FOLDER_VARIABLE, "off")
    assert user_code_cache() is None
    monkeypatch.setenv(code_cache.FOLDER_VARIABLE, str(tmp_path / "mine"))
    user_code_cache().put("key", b"content")
    assert only_file(tmp_path / "mine").name == "key.code"
    monkeypatch.delenv(code_cache.FOLDER_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "base"))
    user_code_cache().put("key", b"content")
    assert only_file(tmp_path / "base" / "kittiwake" / "code").name == "key.code"


def test_a_key_tells_parts_and_settings_apart():
    keys = {code_key("a", "b"), code_key("ab"), code_key("a"), code_key("a", "b", ""), code_key()}
    assert len(keys) == 5
    assert code_key("a") in keys
    with jax.threefry_partitionable(not jax.config.jax_threefry_partitionable):
        assert code_key("a") not in keys


def test_an_edited_source_has_another_key(monkeypatch, tmp_path):
    sources = tmp_path / "kittiwake"
    (sources / "physics").mkdir(parents=True)
    (sources / "__init__.py").touch()
    model = sources / "physics" / "model.py"
    monkeypatch.setattr(code_cache, "SOURCES", sources)
    found = set()
    for text in ("x = 1\n", "x = 2\n", "x = 1\n"):
        model.write_text(text)
        code_cache._environment.cache_clear()
        found.add(code_key("a"))
    code_cache._environment.cache_clear()
    assert len(found) == 2


def test_a_program_is_called_by_another_kernel_after_it_was_kept(cache):
    closed = jax.make_jaxpr(lambda x, n: (jnp.sin(x) * 2.0, n + 1))(np.ones(5), np.int32(3))
    kernel = simd.compile_jaxpr(closed)
    cache.put("key", kernel.program.to_bytes())
    loaded = simd.Kernel(simd.CompiledProgram.from_bytes(cache.get("key")))
    assert (loaded.inputs, loaded.outputs) == (kernel.inputs, kernel.outputs)
    given = np.linspace(-1.0, 1.0, 5).astype(kernel.inputs[0].dtype), np.int32(7)
    for one, other in zip(kernel(*given), loaded(*given), strict=True):
        np.testing.assert_array_equal(one, other)
