"""Cache of compiled programs on disk, in the user's own cache folder.

Machine code is loaded from it, so it trusts no one else: the folder and its files belong to the
user alone, and each file begins with the checksum of its contents.
"""

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import jax

from kittiwake import simd

# of all files, beyond which those that were not used for longest go
MAX_BYTES = 512 * 2**20
MAX_FILE_BYTES = 64 * 2**20
CHECKSUM_BYTES = hashlib.sha256().digest_size
SUFFIX = ".code"
# where the cache is; `off` for none
FOLDER_VARIABLE = "KITTIWAKE_CODE_CACHE"
# the package, whose sources decide what is traced
SOURCES = Path(__file__).parents[1]
# what programs are traced and compiled by
LIBRARIES = ("jax", "jaxlib", "numpy", "llvmlite")


class CodeCache:
    """Folder of files, each under its key; without access to it nothing is kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> bytes | None:
        """Return the contents of a file; None if there is none that can be trusted."""
        path = self._folder / (key + SUFFIX)
        try:
            if not _is_private(self._folder.lstat(), stat.S_ISDIR):
                return None
            with open(path, "rb", opener=_open_itself) as file:
                status = os.fstat(file.fileno())
                if not _is_private(status, stat.S_ISREG) or status.st_size > MAX_FILE_BYTES:
                    return None
                whole = file.read()
            checksum, content = whole[:CHECKSUM_BYTES], whole[CHECKSUM_BYTES:]
            if hashlib.sha256(content).digest() != checksum:
                path.unlink()
                return None
            # as last used
            os.utime(path)
        except OSError:
            return None
        return content

    def put(self, key: str, content: bytes) -> None:
        """Keep contents under a key."""
        if len(content) + CHECKSUM_BYTES > MAX_FILE_BYTES:
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(self._folder.lstat(), stat.S_ISDIR):
                return
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                try:
                    file.write(hashlib.sha256(content).digest() + content)
                    file.close()
                    os.replace(file.name, self._folder / (key + SUFFIX))
                except OSError:
                    os.unlink(file.name)
                    raise
            self._remove_oldest()

    def _remove_oldest(self) -> None:
        found = [(path.stat(), path) for path in self._folder.glob("*" + SUFFIX)]
        total = sum(status.st_size for status, _ in found)
        for status, path in sorted(found, key=lambda one: one[0].st_mtime):
            if total <= MAX_BYTES:
                return
            path.unlink(missing_ok=True)
            total -= status.st_size


def user_code_cache() -> CodeCache | None:
    """Return the cache of the user; None if it is switched off."""
    given = os.environ.get(FOLDER_VARIABLE)
    if given == "off":
        return None
    if given:
        return CodeCache(Path(given))
    base = os.environ.get("XDG_CACHE_HOME")
    return CodeCache((Path(base) if base else Path.home() / ".cache") / "kittiwake" / "code")


def code_key(*parts: str) -> str:
    """Return the key of code that is compiled for these parts, by the present versions, here."""
    digest = hashlib.sha256()
    for part in (_environment(), _settings(), *parts):
        digest.update(f"{len(part)} {part}\n".encode())
    return digest.hexdigest()


@cache
def _environment() -> str:
    """Return a description of the sources, of the libraries and of the processor."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.py")):
        digest.update(f"{path.relative_to(SOURCES)}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    versions = [f"{name} {version(name)}" for name in LIBRARIES]
    return "\n".join((digest.hexdigest(), *versions, simd.target_description()))


def _settings() -> str:
    """Return those settings of JAX that a program may depend on."""
    return "\n".join(
        f"{name} {value}"
        for name, value in sorted(jax.config.values.items())
        if not any(part in name for part in ("cache", "log", "dump", "trac", "profil"))
    )


def _is_private(status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """Return True for a folder or file of the user that no other can write."""
    own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return is_kind(status.st_mode) and own and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _open_itself(path: str, flags: int) -> int:
    """Open a file, unless it is a link."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
