"""Compiled programs of one structure, kept for later processes."""

import json
from collections.abc import Callable
from typing import Any

from typing_extensions import TypeVar

from kittiwake import simd
from kittiwake.core.description import IndescribableError, description
from kittiwake.runtime.code_cache import code_key, user_code_cache

PACKAGE = "kittiwake"
Data = TypeVar("Data")


class ProgramCache:
    """Programs that are made of certain parts, by name, in the cache of the user.

    Nothing is kept of parts that cannot be described, such as classes of the user's own.
    """

    def __init__(self, *parts: Any) -> None:
        try:
            self._parts = description(parts, PACKAGE)
        except IndescribableError:
            self._cache = None
        else:
            self._cache = user_code_cache()

    def kernel(self, name: str | None, compiled: Callable[[], simd.Kernel]) -> simd.Kernel:
        """Return a kernel, compiled if it is not kept; one without a name never is."""
        if self._cache is None or name is None:
            return compiled()
        key = code_key(self._parts, name)
        content = self._cache.get(key)
        if content is not None:
            return simd.Kernel(simd.CompiledProgram.from_bytes(content))
        kernel = compiled()
        self._cache.put(key, kernel.program.to_bytes())
        return kernel

    def data(self, name: str, found: Callable[[], Data]) -> Data:
        """Return plain data of a program, of which lists and no tuples are part."""
        if self._cache is None:
            return found()
        key = code_key(self._parts, name)
        content = self._cache.get(key)
        if content is not None:
            return json.loads(content)
        data = found()
        self._cache.put(key, json.dumps(data).encode())
        return data
