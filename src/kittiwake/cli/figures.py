"""Figures of flights and benchmarks."""

from typing import Any, TypeAlias

# numbers, texts and nested figures by name, as in JSON
Figures: TypeAlias = dict[str, Any]
