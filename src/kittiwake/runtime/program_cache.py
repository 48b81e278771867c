"""Compiled programs of one structure, kept for later processes."""

import json
from collections.abc import Callable, Sequence
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
        return self._kernels(name, 1, lambda: [compiled()])[0]

    def hoisted(
        self, name: str | None, compiled: Callable[[], simd.HoistedKernels]
    ) -> simd.HoistedKernels:
        """Return two kernels that do the same as one, as ``kernel`` does."""
        return simd.HoistedKernels(*self._kernels(name, 2, compiled))

    def _kernels(
        self, name: str | None, count: int, compiled: Callable[[], Sequence[simd.Kernel]]
    ) -> Sequence[simd.Kernel]:
        if self._cache is None or name is None:
            return compiled()
        keys = [code_key(self._parts, f"{name} {number}") for number in range(count)]
        contents = [content for key in keys if (content := self._cache.get(key)) is not None]
        if len(contents) == count:
            return [simd.Kernel(simd.CompiledProgram.from_bytes(each)) for each in contents]
        kernels = compiled()
        for key, kernel in zip(keys, kernels, strict=True):
            self._cache.put(key, kernel.program.to_bytes())
        return kernels

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
